//! The pending block of a cluster, from `firsthalf` to `lasthalf`.
//!
//! `firsthalf` fixes the j-particles and the time of a block. Later writes and times count from the next `firsthalf`
//! on. (A `lasthalf` without a `firsthalf` begins a block, too.) So all results of a block (forces, nearest neighbours,
//! lists) belong to one state of the j-particles.

use std::ops::Range;
use std::sync::Once;

use super::Cluster;
use crate::error::{Error, Result};
use crate::force::{Deliver, ForceRequest, Results};
use crate::observe::audit::Computed;
use crate::observe::pipelines::{Cost, State};
use crate::observe::statistics;
use crate::process::long_work::LongWork;
use crate::process::settings::Destination;
use crate::process::{allocation, log};
use crate::sources::particle::{Force, IParticle, Nearest};

/// What the memory is for, in messages.
pub(super) const I_PARTICLES: &str = "i-particles";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
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

impl Cluster {
    /// Computes everything that may still be asked about the block, so that writes can take effect.
    pub(super) fn settle(&mut self) {
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
    /// were never fetched is dropped; [`Cluster::lost`] tells its `lasthalf`.
    ///
    /// # Errors
    ///
    /// The backend cannot compute it.
    pub fn firsthalf(
        &mut self,
        nj: usize,
        particles: impl ExactSizeIterator<Item = IParticle>,
    ) -> Result<()> {
        let overtakes = self.owed
            && self.block.nj == nj
            && self.block.ti.to_bits() == self.ti.to_bits()
            && self.written_before == self.memory.written()
            && self.memory.appended().len() == 0;
        self.drop_block();
        self.overtook = overtakes;
        let begun = self.begin(nj, particles);
        if let Err(error) = &begun {
            self.give_up(error);
        }
        begun
    }

    /// Forgets the block, if there is one; the writes since then take effect.
    pub(super) fn drop_block(&mut self) {
        if self.phase == Phase::Pending
            && let Some(backend) = self.arithmetic.last()
        {
            backend.cancel();
        }
        self.phase = Phase::Free;
        self.memory.take_in();
        self.refused = None;
        self.owed = false;
        self.overtook = false;
        self.has_nearest = false;
        self.lists = None;
        self.outcome = Ok(());
    }

    /// Notes why a `firsthalf` was refused. The next `lasthalf` returns the same error, and the one after it computes its own
    /// block. Neighbour lists are refused until then. Otherwise a client that ignores the status of `firsthalf` would get
    /// the results and the lists of the block before.
    pub fn note_refusal(&mut self, error: Error) {
        self.drop_block();
        self.give_up(&error);
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
        self.written_before = self.memory.written();

        self.look_at_noise();
        let backend = self
            .arithmetic
            .next(&self.settings, self.stored, nj, &mut self.memory);
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

    /// Whether the user wants checks.
    pub fn is_checked(&self) -> bool {
        self.check.is_some()
    }

    /// How the arguments of a `lasthalf` differ from those that `firsthalf` brought, in words; tells it once.
    pub fn difference(
        &mut self,
        nj: usize,
        particles: impl Iterator<Item = IParticle>,
    ) -> Option<String> {
        self.check.as_mut()?.difference(&self.block, nj, particles)
    }

    /// Whether a block waits for its `lasthalf`.
    pub fn owes_results(&self) -> bool {
        self.owed
    }

    /// Whether the pending block is of other i-particles than these, whose own block was dropped. Labels and positions tell. Some clients call
    /// `firsthalf` for all parts of their block, and after that `lasthalf` for each part; each part's forces are then computed by its `lasthalf`.
    pub fn lost(&self, particles: impl ExactSizeIterator<Item = IParticle>) -> bool {
        let is_of_block = |(given, begun): (IParticle, &IParticle)| {
            given.index == begun.index && given.x.map(f64::to_bits) == begun.x.map(f64::to_bits)
        };
        particles.len() > self.block.particles.len()
            || !particles.zip(&self.block.particles).all(is_of_block)
    }

    /// Whether a block may have been dropped that its client still wants, so that [`Cluster::lost`] must be asked.
    #[inline(always)]
    pub fn overtook(&self) -> bool {
        self.overtook
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
                && let Some((cost, share)) =
                    stats.very_costly_pipelines(self.settings.npipes as usize)
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
            if let Some(found) = check.not_finite(&self.block, &self.results) {
                log::error("KIRIN_CHECK", found);
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

    /// As [`Cluster::lasthalf`]. Also passes the results to `deliver` in runs of i-particles, each with the number of
    /// its first. A GPU's results are passed on while it computes others. If there is no error, each result is passed
    /// on at least once; with an error some may have been.
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
}
