//! One GRAPE cluster: the rules of call order, the pending block and what is
//! staged behind it.
//!
//! `firsthalf` freezes the j-particle memory and the time. From then on writes
//! and times are staged, until the next `firsthalf` (or a `lasthalf` without
//! one) lets them take effect: a pending block and the questions that follow it
//! (forces, nearest neighbours, lists) all see one state.

use std::collections::HashMap;
use std::sync::Once;
use std::time::Instant;

use crate::backend::{self, Backend, ForceRequest, Results};
use crate::error::{Error, Result};
use crate::grape::grape5::Board;
use crate::grape::jmemory::{self, AtRest, JMemory, Sources};
use crate::grape::neighbours::{self, ListRules, NeighbourLists};
use crate::grape::particle::{Force, IParticle, JParticle, Nearest};
use crate::grape::work::Work;
use crate::observe::audit::{Audit, Computed};
use crate::observe::pipelines::{Cost, State};
use crate::observe::statistics::{self, Facts, Stats};
use crate::process::settings::{BackendChoice, Destination, Devices, Precision, Settings};
use crate::process::{allocation, floating, log};

/// Writes that may wait for the next block before the present one is settled
/// to make way for them.
const STAGED_AT_MOST: usize = 8192;

/// What memory is for, in messages.
const I_PARTICLES: &str = "i-particles";

/// Bound on the registers of the low-level interface, of which GRAPE-6 had 48.
const REGISTERS_AT_MOST: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing depends on the memory as it is.
    Free,
    /// `firsthalf` brought a block whose forces are not known yet.
    Pending,
    /// The forces of the block are known; nearest neighbours and lists may still be asked for.
    Computed,
}

/// The results for a block of i-particles, arrays of one length.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Number of leading addresses in the block.
    pub nj: usize,
    /// The i-particles, as `firsthalf` brought them.
    pub particles: &'a [IParticle],
    /// Accelerations, jerks, potentials.
    pub forces: &'a [Force],
    /// Nearest neighbours; empty if they were not asked for.
    pub nearest: &'a [Option<Nearest>],
}

/// Registers of the low-level calls (`g6_set_nip` and so on).
#[derive(Default)]
struct LowLevel {
    nip: usize,
    njp: usize,
    particles: Vec<IParticle>,
}

/// The backend, chosen at the first need of one.
fn ready<'a>(
    backend: &'a mut Option<Box<dyn Backend>>,
    settings: &Settings,
) -> &'a mut dyn Backend {
    &mut **backend.get_or_insert_with(|| backend::choose(settings))
}

/// Says once that a GPU waits for calls that more pipelines would spare.
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

/// The state behind one cluster id.
pub struct Cluster {
    settings: Settings,
    memory: JMemory,
    backend: Option<Box<dyn Backend>>,
    ti: f64,
    staged: Vec<(i32, JParticle)>,
    phase: Phase,
    /// Whether the block's results still wait for their `lasthalf`.
    owed: bool,
    block: ForceRequest,
    /// Why the block was given up, if it was.
    outcome: Result<()>,
    results: Results,
    /// Whether `results` hold the nearest neighbours of the block.
    has_nearest: bool,
    /// The lists of the block, or why there are none.
    lists: Option<Result<NeighbourLists>>,
    low_level: LowLevel,
    /// What GRAPE-5 keeps beside the memory.
    pub board: Board,
    stats: Option<Box<Stats>>,
    check: Option<Box<Audit>>,
    /// What a fork is told of the work on it.
    work: Option<&'static Work>,
}

impl Cluster {
    /// A cluster of GRAPE-6 with empty memory at time 0.
    pub fn new(settings: Settings) -> Self {
        Self::of(Sources::Moving, settings)
    }

    /// A cluster with empty memory at time 0, for such j-particles.
    pub fn of(sources: Sources, mut settings: Settings) -> Self {
        let on_gpu = [BackendChoice::Auto, BackendChoice::Cuda].contains(&settings.backend);
        if sources == Sources::Softened && on_gpu {
            // No kernel for GPUs knows of them.
            settings.backend = BackendChoice::Cpu;
        }
        Self {
            stats: (settings.stats != Destination::Off).then(Box::default),
            check: settings.check.then(Box::default),
            settings,
            memory: JMemory::of(sources),
            backend: None,
            ti: 0.0,
            staged: Vec::new(),
            phase: Phase::Free,
            owed: false,
            block: ForceRequest::default(),
            outcome: Ok(()),
            results: Results::default(),
            has_nearest: false,
            lists: None,
            low_level: LowLevel::default(),
            board: Board::default(),
            work: None,
        }
    }

    /// Has `work` tell forks when the cluster is at work that changes neither its j-particles nor
    /// its block.
    pub fn watched(self, work: &'static Work) -> Self {
        Self {
            work: Some(work),
            ..self
        }
    }

    /// In a child of a fork: the cluster as it was while a thread of the parent was at such work.
    pub fn inherit(&mut self) {
        // Half-changed, so that they cannot even be dropped.
        std::mem::forget(self.backend.take());
        std::mem::forget(std::mem::take(&mut self.results));
        if self.phase == Phase::Computed {
            self.phase = Phase::Pending;
        }
    }

    /// Names the GPUs to use, unless the user did or the backend has been chosen already.
    pub fn prefer_devices(&mut self, devices: Devices) {
        if self.settings.devices == Devices::Auto {
            self.settings.devices = devices;
        }
    }

    /// Name of the backend.
    pub fn backend_name(&mut self) -> String {
        self.backend().name()
    }

    /// Arithmetic of the backend.
    pub fn precision(&mut self) -> Precision {
        self.backend().precision()
    }

    /// Puts a backend in the place of the one that the settings ask for.
    #[cfg(test)]
    pub fn set_backend(&mut self, backend: Box<dyn Backend>) {
        self.backend = Some(backend);
    }

    /// i-particles that were checked, and how many were wrong.
    #[cfg(test)]
    pub fn check_counts(&self) -> Option<(u64, u64)> {
        self.check.as_ref().map(|c| c.counts())
    }

    fn backend(&mut self) -> &mut dyn Backend {
        ready(&mut self.backend, &self.settings)
    }

    /// Sets the time to which the j-particles are predicted from the next block on.
    pub fn set_ti(&mut self, ti: f64) {
        self.ti = ti;
    }

    /// Stores a j-particle for the next block.
    ///
    /// # Errors
    ///
    /// A negative address, or no memory. Nothing changes then.
    #[inline]
    pub fn set_j_particle(&mut self, address: i32, particle: &JParticle) -> Result<()> {
        let without;
        let particle = if self.settings.snap {
            particle
        } else {
            without = JParticle {
                a2by18: [0.0; 3],
                ..*particle
            };
            &without
        };
        if self.phase == Phase::Free {
            self.memory.write(address, particle)
        } else {
            self.stage(address, particle)
        }
    }

    /// Stores a j-particle of this mass at this position, at rest, for the next block.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::set_j_particle`].
    #[inline(always)]
    pub fn set_mass_position(
        &mut self,
        address: i32,
        index: i32,
        mass: f64,
        x: &[f64; 3],
    ) -> Result<()> {
        if self.phase == Phase::Free {
            return self.memory.write_at_rest(address, index, mass, x);
        }
        self.stage_at_rest(address, index, mass, x)
    }

    /// [`JMemory::fill`], between blocks.
    ///
    /// # Errors
    ///
    /// Those of [`JMemory::fill`].
    #[inline]
    pub fn fill(
        &mut self,
        address: i32,
        count: usize,
        make: impl FnMut(usize, AtRest) -> AtRest,
    ) -> Result<()> {
        debug_assert!(self.phase == Phase::Free, "GRAPE-5 leaves no block behind");
        self.memory.fill(address, count, make)
    }

    #[cold]
    fn stage_at_rest(&mut self, address: i32, index: i32, mass: f64, x: &[f64; 3]) -> Result<()> {
        let particle = JParticle {
            index,
            mass,
            x: *x,
            ..JParticle::default()
        };
        self.stage(address, &particle)
    }

    /// Keeps a write for the next block.
    #[inline(never)]
    fn stage(&mut self, address: i32, particle: &JParticle) -> Result<()> {
        // A page that cannot be had is refused now, not at the next block.
        self.memory.reserve(address)?;
        if self.staged.len() == STAGED_AT_MOST {
            floating::standard(|| self.settle());
            return self.memory.write(address, particle);
        }
        allocation::push(&mut self.staged, (address, *particle), jmemory::PURPOSE)
    }

    /// Finishes everything that depends on the frozen memory, then lets the staged writes in.
    fn settle(&mut self) {
        if self.phase == Phase::Pending {
            self.compute(true);
        }
        if self.lists.is_none() {
            self.build_lists();
        }
        self.release();
    }

    /// Gives up a block that cannot be computed, and its memory with it.
    #[cold]
    fn give_up(&mut self, error: &Error) {
        self.block.particles = Vec::new();
        self.results = Results::default();
        self.lists = Some(Err(error.clone()));
        self.outcome = Err(error.clone());
        self.release();
    }

    /// Lets the staged writes into the memory.
    fn release(&mut self) {
        self.phase = Phase::Free;
        for (address, particle) in self.staged.drain(..) {
            // The page was reserved when the write was staged.
            let written = self.memory.write(address, &particle);
            debug_assert!(written.is_ok());
        }
    }

    /// Begins a block on the addresses `0..nj`. A block whose results were
    /// never fetched is given up.
    ///
    /// # Errors
    ///
    /// The backend cannot compute it.
    pub fn firsthalf(
        &mut self,
        nj: usize,
        particles: impl ExactSizeIterator<Item = IParticle>,
    ) -> Result<()> {
        if self.phase == Phase::Pending
            && let Some(backend) = &mut self.backend
        {
            backend.cancel();
        }
        self.release();
        self.owed = false;
        self.has_nearest = false;
        self.lists = None;
        self.outcome = Ok(());
        let begun = self.begin(nj, particles);
        if let Err(error) = &begun {
            self.give_up(error);
        }
        begun
    }

    fn begin(
        &mut self,
        nj: usize,
        particles: impl ExactSizeIterator<Item = IParticle>,
    ) -> Result<()> {
        let block = &mut self.block;
        block.particles.clear();
        allocation::reserve(&mut block.particles, particles.len(), I_PARTICLES)?;
        block.particles.extend(particles);
        block.nj = nj;
        block.ti = self.ti;

        let backend = ready(&mut self.backend, &self.settings);
        if self.stats.is_none() && backend.on_gpu() {
            // They tell of too few pipelines.
            self.stats = Some(Box::default());
        }
        if let Some(stats) = &mut self.stats {
            let ni = self.block.particles.len();
            if stats.begin(ni, nj) && self.settings.stats != Destination::Off {
                backend.measure();
            }
            stats.divided(ni, self.settings.npipes, || State {
                ti: self.ti.to_bits(),
                nj,
                written: self.memory.written(),
            });
        }
        backend.start(&mut self.memory, &self.block)?;
        if let Some(stats) = &mut self.stats {
            stats.leave();
        }
        self.phase = Phase::Pending;
        self.owed = true;
        Ok(())
    }

    /// Whether a block waits for its `lasthalf`.
    pub fn owes_results(&self) -> bool {
        self.owed
    }

    /// Computes the block, or gives it up.
    fn compute(&mut self, nearest: bool) {
        if let Err(error) = self.try_to_compute(nearest) {
            self.give_up(&error);
        }
    }

    fn try_to_compute(&mut self, nearest: bool) -> Result<()> {
        let is_inherited = self.backend.is_none();
        let backend = ready(&mut self.backend, &self.settings);
        if is_inherited {
            backend.start(&mut self.memory, &self.block)?;
        }
        if let Some(stats) = &mut self.stats {
            stats.enter();
        }
        let work = self.work.map(Work::begin);
        let computed = backend.finish(&self.memory, &self.block, nearest, &mut self.results);
        drop(work);
        if computed == Err(Error::ThreadsLost) {
            self.inherit();
            return self.try_to_compute(nearest);
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

    /// The forces on the first `ni` i-particles of the block that `firsthalf`
    /// began, with nearest neighbours if `nearest` is set.
    ///
    /// # Errors
    ///
    /// The block has fewer i-particles, or the backend failed.
    pub fn lasthalf(&mut self, ni: usize, nearest: bool) -> Result<Answer<'_>> {
        let present = self.block.particles.len();
        if ni > present && self.outcome.is_ok() {
            return Err(Error::BlockTooSmall { asked: ni, present });
        }
        if self.phase == Phase::Pending {
            self.compute(nearest);
        }
        self.owed = false;
        self.outcome.clone()?;
        if self.phase == Phase::Computed && self.lists_are_empty() {
            // Nothing is left to ask that depends on the memory as it is.
            self.settle();
        }
        debug_assert!(self.has_nearest || !nearest);
        Ok(Answer {
            nj: self.block.nj,
            particles: &self.block.particles[..ni],
            forces: &self.results.forces[..ni],
            nearest: if nearest {
                &self.results.nearest[..ni]
            } else {
                &[]
            },
        })
    }

    fn lists_are_empty(&self) -> bool {
        !self.block.particles.iter().any(|i| i.h2 > 0.0)
    }

    fn build_lists(&mut self) {
        if self.lists_are_empty() {
            self.lists = Some(Ok(NeighbourLists::default()));
            return;
        }
        let rules = ListRules {
            include_self: self.settings.lists_include_self(),
            sorted: neighbours::sort_mode() != 0,
            at_most: neighbours::LABELS_AT_MOST,
        };
        let backend = ready(&mut self.backend, &self.settings);
        let begin = self.stats.is_some().then(Instant::now);
        let work = self.work.map(Work::begin);
        let lists = backend.neighbour_lists(&self.memory, &self.block, rules);
        drop(work);
        if let Err(Error::ThreadsLost) = lists {
            std::mem::forget(self.backend.take());
            return self.build_lists();
        }
        if let (Some(stats), Some(begin)) = (&mut self.stats, begin) {
            stats.add_lists(begin.elapsed());
        }
        if let Err(error) = &lists {
            log::error("g6_read_neighbour_list", error);
        }
        self.lists = Some(lists);
    }

    /// The neighbour lists of the last block; built here if nobody asked before.
    ///
    /// # Errors
    ///
    /// They are too long, or do not fit into memory.
    pub fn neighbour_lists(&mut self) -> Result<&NeighbourLists> {
        if self.lists.is_none() {
            self.build_lists();
        }
        match &self.lists {
            Some(Ok(lists)) => Ok(lists),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::OutOfMemory {
                purpose: "neighbour lists",
            }),
        }
    }

    /// Writes the statistics of this cluster, if they are wanted, under this name, and forgets them.
    pub fn report(&mut self, name: &str) {
        let Some(stats) = self.stats.take() else {
            return;
        };
        if self.settings.stats == Destination::Off {
            return;
        }
        let (backend, recoveries, leaves_again) = match &self.backend {
            Some(b) => (
                format!("{}, precision {}", b.name(), b.precision()),
                b.recoveries(),
                b.leaves_again(),
            ),
            None => ("none".to_owned(), 0, 0),
        };
        let text = stats.text(&Facts {
            name: name.to_owned(),
            backend,
            npipes: self.settings.npipes,
            present: self.memory.present(),
            written: self.memory.written(),
            recoveries,
            leaves_again,
            checked: self.check.as_ref().map(|c| c.counts()),
        });
        if let Some(text) = text {
            statistics::write(&self.settings.stats, &text);
        }
    }

    /// Predicted positions and velocities at the addresses `0..nj`, as the next
    /// block will see them; `None` where no particle was ever stored.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn predicted(
        &self,
        nj: usize,
    ) -> Result<impl ExactSizeIterator<Item = Option<([f64; 3], [f64; 3])>>> {
        let mut staged = HashMap::new();
        let room = staged.try_reserve(self.staged.len());
        room.map_err(|_| Error::OutOfMemory {
            purpose: jmemory::PURPOSE,
        })?;
        staged.extend(self.staged.iter().map(|(a, p)| (*a, p)));
        Ok(
            (0..i32::try_from(nj).unwrap_or(i32::MAX)).map(move |address| {
                let p = match staged.get(&address) {
                    Some(&p) => *p,
                    None => self.memory.read(address)?,
                };
                Some(p.predicted(self.ti))
            }),
        )
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
    ) -> Result<Answer<'_>> {
        let ni = particles.len();
        self.firsthalf(nj, particles)?;
        self.lasthalf(ni, false)
    }

    /// Number of i-particles for the low-level force call.
    pub fn set_nip(&mut self, nip: usize) {
        self.low_level.nip = nip;
    }

    /// Number of leading addresses for the low-level force call.
    pub fn set_njp(&mut self, njp: usize) {
        self.low_level.njp = njp;
    }

    /// Loads one i-particle register of the low-level interface.
    ///
    /// # Errors
    ///
    /// A negative address, or no memory.
    pub fn set_i_particle(&mut self, address: i32, particle: IParticle) -> Result<()> {
        let address = jmemory::check_address(address)?;
        if address >= REGISTERS_AT_MOST {
            return Err(Error::OutOfRange {
                argument: "address",
                value: address as i64,
                legal: "there are 1048576 i-particle registers",
            });
        }
        let registers = &mut self.low_level.particles;
        if registers.len() <= address {
            allocation::lengthen(registers, address + 1, I_PARTICLES, IParticle::default)?;
        }
        registers[address] = particle;
        Ok(())
    }

    /// The forces on the i-particle registers `0..nip`.
    ///
    /// # Errors
    ///
    /// The backend failed, or fewer registers were loaded than `nip`.
    pub fn low_level_forces(&mut self, nearest: bool) -> Result<Answer<'_>> {
        let LowLevel {
            nip,
            njp,
            particles,
        } = &mut self.low_level;
        let (nip, njp) = (*nip, *njp);
        if nip > particles.len() {
            return Err(Error::BlockTooSmall {
                asked: nip,
                present: particles.len(),
            });
        }
        let registers = std::mem::take(particles);
        let begun = self.firsthalf(njp, registers[..nip].iter().copied());
        self.low_level.particles = registers;
        begun?;
        self.lasthalf(nip, nearest)
    }
}

#[cfg(test)]
mod tests;
