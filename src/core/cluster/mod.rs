//! One GRAPE cluster: its state, how it is opened and what it reports. The modules inside have the calls.

mod arithmetic;
mod block;
mod gaps;
mod lists;
mod registers;
mod seat;
mod writes;

use self::arithmetic::{Arithmetic, Stored};
pub use self::block::BlockResults;
use self::block::Phase;
pub use self::gaps::Gap;
use self::registers::Registers;
use crate::error::{Error, Result};
use crate::force::{ForceRequest, Results};
use crate::observe::audit::Audit;
use crate::observe::noise::Noise;
use crate::observe::report;
use crate::observe::statistics::{ClusterFacts, Stats};
use crate::process::long_work::LongWork;
use crate::process::settings::{
    BackendChoice, Destination, Devices, Precision, PrecisionChoice, Settings,
};
use crate::sources::jmemory::{JMemory, SourceKind};
use crate::sources::neighbours::NeighbourLists;

/// The state behind one cluster id.
pub struct Cluster {
    /// Its id in traces, where a client knows it by an id.
    id: i32,
    settings: Settings,
    memory: JMemory,
    arithmetic: Arithmetic,
    stored: Stored,
    noise: Noise,
    ti: f64,
    phase: Phase,
    /// Whether the block still waits for its `lasthalf`.
    owed: bool,
    /// Whether the block took the place of one whose results had not been fetched, with the same j-particles and time.
    overtook: bool,
    /// Number of writes to the j-particles before the block began.
    written_before: u64,
    /// Why the last `firsthalf` was refused, until a `lasthalf` has told it.
    refused: Option<Error>,
    block: ForceRequest,
    /// Whether an i-particle of the block has a neighbour radius.
    has_radii: bool,
    /// Whether the block could be computed, and why not.
    outcome: Result<()>,
    results: Results,
    /// Whether `results` hold the nearest neighbours of the block.
    has_nearest: bool,
    /// The lists of the block, once they were built, or why there are none.
    lists: Option<Result<NeighbourLists>>,
    registers: Registers,
    stats: Option<Box<Stats>>,
    check: Option<Box<Audit>>,
    /// All addresses below this one hold particles. `usize::MAX` once there is nothing more to tell: something missing was
    /// told, the client leaves holes on purpose, or a write was refused.
    complete: usize,
    /// Where long work on this cluster is marked, for forks.
    work: Option<&'static LongWork>,
}

impl Cluster {
    /// A cluster of GRAPE-6 with empty memory at time 0.
    pub fn new(settings: Settings) -> Self {
        Self {
            arithmetic: Arithmetic::with_few_on_cpu(),
            ..Self::of(SourceKind::Moving, settings)
        }
    }

    /// A cluster with empty memory at time 0, for such j-particles.
    pub fn of(sources: SourceKind, mut settings: Settings) -> Self {
        let softened = matches!(sources, SourceKind::Softened | SourceKind::MovingSoftened);
        if softened && settings.backend.may_take_gpu() {
            // No kernel for GPUs knows of them.
            settings.backend = BackendChoice::Cpu;
        }
        if sources == SourceKind::MovingSoftened {
            settings.precision = PrecisionChoice::Always(Precision::Double);
        }
        Self {
            id: 0,
            stats: (settings.stats != Destination::Off).then(Box::default),
            check: settings.check.then(Box::default),
            settings,
            memory: JMemory::of(sources),
            arithmetic: Arithmetic::default(),
            stored: Stored::AtRest,
            noise: Noise::default(),
            ti: 0.0,
            phase: Phase::Free,
            owed: false,
            overtook: false,
            written_before: 0,
            refused: None,
            block: ForceRequest::default(),
            has_radii: false,
            outcome: Ok(()),
            results: Results::default(),
            has_nearest: false,
            lists: None,
            registers: Registers::default(),
            complete: 0,
            work: None,
        }
    }

    /// The same cluster, known by this id.
    pub fn known_as(self, id: i32) -> Self {
        Self { id, ..self }
    }

    /// Its own id. The client may have reached it by another one that stands for it.
    pub fn id(&self) -> i32 {
        self.id
    }

    /// The same cluster, with long work marked in `work`.
    pub fn watched(self, work: &'static LongWork) -> Self {
        Self {
            work: Some(work),
            ..self
        }
    }

    /// Makes the cluster usable in the child of a fork, where a thread of the parent was computing on it.
    pub fn inherit(&mut self) {
        // That thread left them half-changed: they cannot even be dropped.
        self.arithmetic.forget_backends();
        self.memory.inherit();
        std::mem::forget(std::mem::take(&mut self.results));
        if self.phase == Phase::Computed {
            self.phase = Phase::Pending;
        }
    }

    /// Names the GPUs to use, unless the user did or the backend has been chosen already.
    pub fn prefer_devices(&mut self, devices: Devices) {
        if self.settings.devices.is_auto() && !self.arithmetic.is_begun() {
            self.settings.devices = devices;
            self.arithmetic.forget_rule();
        }
    }

    /// Whether a GPU computes; makes the backend if there is none yet.
    pub fn on_gpu(&mut self) -> bool {
        self.arithmetic.any(&self.settings).on_gpu()
    }

    /// Name of the backend.
    pub fn backend_name(&mut self) -> String {
        self.arithmetic.any(&self.settings).name()
    }

    /// The precision of the last block, or else what is in force, in words.
    pub fn precision(&self) -> String {
        // Clients of GRAPE-6 store moving particles, if not all by mass and position.
        let is_new = self.memory.page_count() == 0 && self.arithmetic.is_of_grape6();
        let stored = match is_new && self.memory.sources() == SourceKind::Moving {
            true => Stored::Moving,
            false => self.stored,
        };
        self.arithmetic.describe(&self.settings, stored)
    }

    /// The precision that a block with `nj` j-particles of this cluster takes, where they move.
    pub fn precision_for(&mut self, nj: usize) -> Precision {
        (self.arithmetic).precision_for(&self.settings, Stored::Moving, nj)
    }

    /// Chooses the precision from the next block on, unless the user has.
    pub fn set_precision(&mut self, choice: PrecisionChoice) {
        self.arithmetic.choose(choice);
    }

    /// Uses `backend`, whatever the settings ask for.
    #[cfg(test)]
    pub fn set_backend(&mut self, backend: Box<dyn crate::force::Backend>) {
        self.settings.precision = PrecisionChoice::Always(backend.precision());
        self.arithmetic = Arithmetic::only(backend);
    }

    /// How many i-particles were checked, and how many of them were wrong.
    #[cfg(test)]
    pub fn check_counts(&self) -> Option<(u64, u64)> {
        self.check.as_ref().map(|c| c.counts())
    }

    /// Writes the statistics of this cluster under this name, if the user wants them, and begins new ones.
    pub fn report(&mut self, name: &str) {
        let Some(stats) = self.stats.take() else {
            return;
        };
        if self.settings.stats == Destination::Off {
            return;
        }
        self.noise.digest();
        if self.phase == Phase::Free {
            self.memory.take_in();
        }
        let text = stats.text(&ClusterFacts {
            name: name.to_owned(),
            backend: self.arithmetic.summary(&self.settings, self.stored),
            on_gpu: self.arithmetic.on_gpu(),
            npipes: self.settings.npipes,
            present: self.memory.present(),
            written: self.memory.written(),
            recoveries: self.arithmetic.sum(|b| b.recoveries()),
            leaves_again: self.arithmetic.sum(|b| b.leaves_again()),
            noise: self.noise.steps(),
            checked: self.check.as_ref().map(|c| c.counts()),
        });
        if let Some(text) = text {
            report::write(&self.settings.stats, &text);
        }
    }
}

#[cfg(test)]
mod tests;
