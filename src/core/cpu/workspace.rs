//! The memory of a task: its i-particles, their unfinished sums, and scratch space.

use super::coincident::{Hash, MayCoincide};
use super::grid::Grid;
use super::kernel::LeafScratch;
use super::nearest::NearestCandidates;
use super::resum::Resum;
use super::simd::{Real, Sums};
use super::target::ScaledParticle;
use super::tile::Tile;
use crate::error::Result;
use crate::force::scaling::Scaling;
use crate::process::allocation;
use crate::process::lock::Lock;
use crate::sources::particle::{Force, IParticle, Nearest};
use crate::sources::sum_tree::{Joiner, Steps};

/// What the memory is for, in messages.
pub const PURPOSE: &str = "the sums of a block";

/// One i-particle of a task.
pub struct TaskParticle<T> {
    /// The i-particle in the units and on the grid of the present page, first in the client's units.
    pub target: ScaledParticle<T>,
    /// The candidates for its nearest neighbour.
    pub candidates: NearestCandidates,
}

/// The i-particles of a task and their sums over a run of leaves.
pub struct Totals<T> {
    /// One for each i-particle, and unused ones behind them.
    progress: Vec<TaskParticle<T>>,
    /// The units of the i-particles, and their grid.
    units: Scaling,
    grid: Grid,
    /// The join schedule of the leaves.
    pub steps: Steps,
    /// For each i-particle a stack of sums, as high as the schedule needs.
    sums: Vec<Sums>,
    joiner: Joiner<Sums>,
}

impl<T: Real> Totals<T> {
    /// Begins with `particles` and the present schedule. `slack` gives the absolute error of an i-particle's
    /// squared distances.
    ///
    /// # Errors
    ///
    /// There is no memory.
    // Compiled with the vector instructions of the function around it.
    #[inline(always)]
    pub fn restart<const SPLIT: bool>(
        &mut self,
        particles: &[IParticle],
        slack: impl Fn(&IParticle) -> f64,
    ) -> Result<()> {
        let grid = self.grid;
        allocation::lengthen(&mut self.progress, particles.len(), PURPOSE, || {
            TaskParticle {
                target: ScaledParticle::new::<SPLIT>(&IParticle::default(), &Scaling::PLAIN, grid),
                candidates: NearestCandidates::default(),
            }
        })?;
        self.units = Scaling::PLAIN;
        for (i, progress) in particles.iter().zip(&mut self.progress) {
            progress.target = ScaledParticle::new::<SPLIT>(i, &Scaling::PLAIN, grid);
            progress.candidates.restart(slack(i));
        }
        // Old contents are never read: each place is written before it is read.
        self.joiner.reserve()?;
        let count = particles.len() * self.steps.depth;
        allocation::lengthen(&mut self.sums, count, PURPOSE, Sums::default)
    }

    /// Gives the i-particles the units and the grid of a tile.
    #[inline(always)]
    pub fn aim<const SPLIT: bool>(&mut self, particles: &[IParticle], tile: &Tile<T>) {
        let each = particles.iter().zip(&mut self.progress);
        if self.units != tile.units {
            for (i, progress) in each {
                progress.target = ScaledParticle::new::<SPLIT>(i, &tile.units, tile.grid);
            }
        } else if SPLIT && self.grid != tile.grid {
            for (i, progress) in each {
                progress
                    .target
                    .split_anew::<SPLIT>(i, &tile.units, tile.grid);
            }
        }
        (self.units, self.grid) = (tile.units, tile.grid);
    }

    /// The order of additions, the first `ni` i-particles, and their stacks.
    #[inline(always)]
    pub fn of(&mut self, ni: usize) -> (&Steps, &mut [TaskParticle<T>], &mut [Sums]) {
        let stacks = &mut self.sums[..ni * self.steps.depth];
        (&self.steps, &mut self.progress[..ni], stacks)
    }

    /// Joins these sums and candidates with those of `others`, for the same `ni` i-particles. The pages of `others`
    /// follow the pages of this task, in order. The total of each i-particle is then at the bottom of its stack.
    pub fn join(&mut self, others: &mut [Lock<Workspace<T>>], ni: usize) {
        for k in 0..ni {
            self.joiner.restart(0);
            self.steps.leave(&self.sums, k, &mut self.joiner);
            for other in &mut *others {
                let other = &other.get_mut().totals;
                other.steps.leave(&other.sums, k, &mut self.joiner);
                let candidates = &other.progress[k].candidates;
                self.progress[k].candidates.append(candidates);
            }
            self.sums[k * self.steps.depth] = self.joiner.total().unwrap_or_default();
        }
    }
}

/// The memory of a task, kept for the next task.
pub struct Workspace<T> {
    /// The sums.
    pub totals: Totals<T>,
    /// The hashes of the i-particles' positions, where they are looked up. They lie together: each is read for each leaf.
    pub hashes: Vec<Hash>,
    /// Which i-particles may coincide with a particle of the present page.
    pub may_coincide: MayCoincide,
    /// The results, if the task sums over all pages.
    pub forces: Vec<Force>,
    /// The nearest neighbours, if the task sums over all pages and they are wanted.
    pub nearest: Vec<Option<Nearest>>,
    /// A tile that is used once.
    pub scratch: Option<Box<Tile<T>>>,
    /// Memory for leaves that are summed again.
    pub again: Resum,
    /// Room for the pairs of a leaf.
    pub halfway: Option<Box<LeafScratch<T>>>,
}

impl<T> Default for Workspace<T> {
    fn default() -> Self {
        Self {
            totals: Totals {
                progress: Vec::new(),
                units: Scaling::PLAIN,
                grid: Grid::USUAL,
                steps: Steps::default(),
                sums: Vec::new(),
                joiner: Joiner::new(0),
            },
            hashes: Vec::new(),
            may_coincide: MayCoincide::default(),
            forces: Vec::new(),
            nearest: Vec::new(),
            scratch: None,
            again: Resum::default(),
            halfway: None,
        }
    }
}
