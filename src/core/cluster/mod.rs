//! One GRAPE cluster: the order of calls, and the pending block.
//!
//! `firsthalf` fixes the j-particles and the time of a block. Later writes and times count from the next `firsthalf`
//! on. (A `lasthalf` without a `firsthalf` begins a block, too.) So all results of a block (forces, nearest neighbours,
//! lists) belong to one state of the j-particles.

mod arithmetic;
mod lists;
mod registers;
mod seat;
mod writes;

use std::ops::Range;
use std::sync::Once;

use self::arithmetic::Arithmetic;
use self::registers::Registers;
use crate::error::{Error, Result};
use crate::force::{Deliver, ForceRequest, Results};
use crate::observe::audit::{Audit, Computed};
use crate::observe::noise::Noise;
use crate::observe::pipelines::{Cost, State};
use crate::observe::report;
use crate::observe::statistics::{self, ClusterFacts, Stats};
use crate::process::long_work::LongWork;
use crate::process::settings::{
    BackendChoice, Destination, Devices, Precision, PrecisionChoice, Settings,
};
use crate::process::{allocation, log};
use crate::sources::jmemory::{JMemory, SourceKind};
use crate::sources::neighbours::NeighbourLists;
use crate::sources::particle::{Force, IParticle, Nearest};

/// What the memory is for, in messages.
const I_PARTICLES: &str = "i-particles";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No block needs the memory as it is.
    Free,
    /// `firsthalf` brought a block; its forces are not known yet.
    Pending,
    /// The forces of the block are known; its lists may still be asked for.
    Computed,
}

/// The results for a block of i-particles, arrays of one length.
#[derive(Clone, Copy, Debug)]
pub struct BlockResults<'a> {
    /// Number of leading addresses in the block.
    pub nj: usize,
    /// The i-particles, as `firsthalf` brought them.
    pub particles: &'a [IParticle],
    /// Accelerations, jerks, potentials.
    pub forces: &'a [Force],
    /// Nearest neighbours; empty if they were not asked for.
    pub nearest: &'a [Option<Nearest>],
}

/// The results of some i-particles.
fn part<'a>(
    block: &'a ForceRequest,
    results: &'a Results,
    run: Range<usize>,
    nearest: bool,
) -> BlockResults<'a> {
    BlockResults {
        nj: block.nj,
        particles: &block.particles[run.clone()],
        forces: &results.forces[run.clone()],
        nearest: match nearest {
            true => &results.nearest[run],
            false => &[],
        },
    }
}

/// Says once that the GPU would wait less if blocks came in fewer, larger calls.
fn report_few_pipelines(npipes: i32, cost: Cost, share: f64) {
    static REPORTED: Once = Once::new();
    REPORTED.call_once(|| {
        log::line(format_args!(
            "blocks in parts of {npipes} i-particles take about {:.0} % of the GPU's time: {}",
            100.0 * share,
            statistics::advice(cost)
        ));
    });
}

/// Says once that time steps are shorter than in double precision.
#[cold]
fn report_noise(remedy: &str) {
    static REPORTED: Once = Once::new();
    REPORTED.call_once(|| {
        log::line(format_args!(
            "time steps are limited by the noise of single precision: {remedy}"
        ));
    });
}

/// The state behind one cluster id.
pub struct Cluster {
    settings: Settings,
    memory: JMemory,
    arithmetic: Arithmetic,
    /// Whether j-particles were ever stored with more than a mass and a position.
    moving: bool,
    noise: Noise,
    ti: f64,
    phase: Phase,
    /// Whether the block still waits for its `lasthalf`.
    owed: bool,
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
    /// Where long work on this cluster is marked, for forks.
    work: Option<&'static LongWork>,
}

impl Cluster {
    /// A cluster of GRAPE-6 with empty memory at time 0.
    pub fn new(settings: Settings) -> Self {
        Self::of(SourceKind::Moving, settings)
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
            stats: (settings.stats != Destination::Off).then(Box::default),
            check: settings.check.then(Box::default),
            settings,
            memory: JMemory::of(sources),
            arithmetic: Arithmetic::default(),
            moving: false,
            noise: Noise::default(),
            ti: 0.0,
            phase: Phase::Free,
            owed: false,
            refused: None,
            block: ForceRequest::default(),
            has_radii: false,
            outcome: Ok(()),
            results: Results::default(),
            has_nearest: false,
            lists: None,
            registers: Registers::default(),
            work: None,
        }
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

    /// Name of the backend.
    pub fn backend_name(&mut self) -> String {
        self.arithmetic.any(&self.settings).name()
    }

    /// The precision of the last block, or else what is in force, in words.
    pub fn precision(&self) -> String {
        let is_new = self.memory.page_count() == 0;
        let may_move = self.moving || is_new && self.memory.sources() == SourceKind::Moving;
        self.arithmetic.describe(&self.settings, may_move)
    }

    /// The precision that a block with `nj` j-particles of this cluster takes, where they move.
    pub fn precision_for(&mut self, nj: usize) -> Precision {
        self.arithmetic.precision_for(&self.settings, true, nj)
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

    /// Computes everything that may still be asked about the block, so that writes can take effect.
    fn settle(&mut self) {
        if self.phase == Phase::Pending {
            self.compute(true, &mut |_, _, _| ());
        }
        if self.lists.is_none() {
            self.build_lists();
        }
        self.phase = Phase::Free;
    }

    /// Gives up a block that cannot be computed, and frees its memory.
    #[cold]
    fn give_up(&mut self, error: &Error) {
        self.block.particles = Vec::new();
        self.has_radii = false;
        self.results = Results::default();
        self.lists = Some(Err(error.clone()));
        self.outcome = Err(error.clone());
        self.phase = Phase::Free;
    }

    /// Begins a block: the forces of the addresses `0..nj` on `particles`. A block whose results
    /// were never fetched is dropped.
    ///
    /// # Errors
    ///
    /// The backend cannot compute it.
    pub fn firsthalf(
        &mut self,
        nj: usize,
        particles: impl ExactSizeIterator<Item = IParticle>,
    ) -> Result<()> {
        self.drop_block();
        let begun = self.begin(nj, particles);
        if let Err(error) = &begun {
            self.give_up(error);
        }
        begun
    }

    /// Forgets the block, if there is one; the writes since then take effect.
    fn drop_block(&mut self) {
        if self.phase == Phase::Pending
            && let Some(backend) = self.arithmetic.last()
        {
            backend.cancel();
        }
        self.phase = Phase::Free;
        self.memory.take_in();
        self.refused = None;
        self.owed = false;
        self.has_nearest = false;
        self.lists = None;
        self.outcome = Ok(());
    }

    /// Notes why a `firsthalf` was refused. The next `lasthalf` returns the same error: a client may ignore the
    /// status of `firsthalf`, and the results of the block before would be wrong for it. Nothing else changes.
    pub fn note_refusal(&mut self, error: Error) {
        self.refused = Some(error);
    }

    /// Why the last `firsthalf` was refused; tells it once.
    pub fn take_refusal(&mut self) -> Option<Error> {
        self.refused.take()
    }

    fn begin(
        &mut self,
        nj: usize,
        particles: impl ExactSizeIterator<Item = IParticle>,
    ) -> Result<()> {
        let mut has_radii = false;
        let mut particles = particles.inspect(|particle| has_radii |= particle.h2 > 0.0);
        let block = &mut self.block;
        let ni = particles.len();
        block.particles.clear();
        allocation::reserve(&mut block.particles, ni, I_PARTICLES)?;
        block.nj = nj;
        block.ti = self.ti;

        self.look_at_noise();
        let backend = self
            .arithmetic
            .next(&self.settings, self.moving, nj, &mut self.memory);
        if self.stats.is_none() && backend.on_gpu() {
            // Needed to notice that there are too few pipelines.
            self.stats = Some(Box::default());
        }
        if let Some(stats) = &mut self.stats {
            if stats.begin(ni, nj) && self.settings.stats != Destination::Off {
                backend.measure();
            }
            stats.divided(ni, self.settings.npipes, || State {
                ti: self.ti.to_bits(),
                nj,
                written: self.memory.written(),
            });
        }
        backend.start_arriving(&mut self.memory, &mut self.block, &mut particles)?;
        if let Some(stats) = &mut self.stats {
            stats.leave();
        }
        self.has_radii = has_radii;
        self.phase = Phase::Pending;
        self.owed = true;
        Ok(())
    }

    /// Takes into account what was written since the last block.
    fn look_at_noise(&mut self) {
        self.noise.digest();
        if self.noise.limits_steps() && !self.arithmetic.is_double() {
            self.noise.restart();
            let (better, follows) = self.arithmetic.raise(&self.settings);
            report_noise(&match follows {
                true => format!("{better} precision from here on (KIRIN_PRECISION=adaptive)"),
                false => format!("KIRIN_PRECISION={better}"),
            });
        }
    }

    /// Whether a block waits for its `lasthalf`.
    pub fn owes_results(&self) -> bool {
        self.owed
    }

    /// Computes the block, or gives it up.
    fn compute(&mut self, nearest: bool, deliver: &mut Deliver<'_>) {
        if let Err(error) = self.try_to_compute(nearest, deliver) {
            self.give_up(&error);
        }
    }

    fn try_to_compute(&mut self, nearest: bool, deliver: &mut Deliver<'_>) -> Result<()> {
        let is_inherited = self.arithmetic.last().is_none();
        let backend = self.arithmetic.any(&self.settings);
        if is_inherited {
            backend.start(&mut self.memory, &self.block)?;
        }
        if let Some(stats) = &mut self.stats {
            stats.enter();
        }
        let work = self.work.map(LongWork::begin);
        // A fork waits until a part is with the client.
        let mut whole = |block: &ForceRequest, run, results: &Results| {
            let _short = self.work.map(LongWork::pause);
            deliver(block, run, results);
        };
        let computed = backend.finish_delivering(
            &self.memory,
            &self.block,
            nearest,
            &mut self.results,
            &mut whole,
        );
        drop(work);
        if computed == Err(Error::ThreadsLost) {
            self.inherit();
            return self.try_to_compute(nearest, deliver);
        }
        computed?;
        if let Some(stats) = &mut self.stats {
            stats.finish(nearest, || backend.phases());
            if backend.on_gpu()
                && let Some((cost, share)) = stats.very_costly_pipelines()
            {
                report_few_pipelines(self.settings.npipes, cost, share);
            }
        }
        if let Some(check) = &mut self.check {
            let discrepancy = check.inspect(Computed {
                memory: &self.memory,
                block: &self.block,
                results: &self.results,
                nearest,
                precision: backend.precision(),
            });
            if let Some(discrepancy) = discrepancy {
                log::error("KIRIN_CHECK", discrepancy);
            }
        }
        self.phase = Phase::Computed;
        self.has_nearest = nearest;
        Ok(())
    }

    /// The forces on the first `ni` i-particles of the block that `firsthalf` began, and their
    /// nearest neighbours if `nearest` is set.
    ///
    /// # Errors
    ///
    /// The block has fewer i-particles, or the backend failed.
    pub fn lasthalf(&mut self, ni: usize, nearest: bool) -> Result<BlockResults<'_>> {
        self.lasthalf_delivering(ni, nearest, |_, _| ())
    }

    /// As [`Cluster::lasthalf`]. Also passes the results on in runs of i-particles, each with the number of its first: those
    /// of a GPU while it computes others. All have been passed on at least once if there is no error; with an error some may
    /// have been.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::lasthalf`].
    pub fn lasthalf_delivering(
        &mut self,
        ni: usize,
        nearest: bool,
        mut deliver: impl FnMut(usize, BlockResults<'_>),
    ) -> Result<BlockResults<'_>> {
        let mut pass_on = |block: &ForceRequest, run: Range<usize>, results: &Results| {
            let run = run.start.min(ni)..run.end.min(ni);
            deliver(run.start, part(block, results, run, nearest));
        };
        let present = self.block.particles.len();
        if ni > present && self.outcome.is_ok() {
            return Err(Error::BlockTooSmall { asked: ni, present });
        }
        match self.phase {
            Phase::Pending => self.compute(nearest, &mut pass_on),
            _ if self.outcome.is_ok() => pass_on(&self.block, 0..ni, &self.results),
            _ => (),
        }
        self.owed = false;
        self.outcome.clone()?;
        if self.phase == Phase::Computed && self.lists_are_empty() {
            // Nothing more can be asked about this block.
            self.settle();
        }
        debug_assert!(self.has_nearest || !nearest);
        Ok(part(&self.block, &self.results, 0..ni, nearest))
    }

    /// The forces of the j-particles at the addresses `0..nj` on a block, at once.
    ///
    /// # Errors
    ///
    /// The backend cannot compute them.
    pub fn forces_on(
        &mut self,
        nj: usize,
        particles: impl ExactSizeIterator<Item = IParticle>,
    ) -> Result<BlockResults<'_>> {
        let ni = particles.len();
        self.firsthalf(nj, particles)?;
        self.lasthalf(ni, false)
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
            backend: self.arithmetic.summary(&self.settings, self.moving),
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
