//! What a task knows of its i-particles while their sums grow, and the memory it works in.

use super::again::Again;
use super::kernel::ScaledParticle;
use super::nearest::Candidates;
use super::simd::{Real, Sums};
use super::tile::Tile;
use crate::backend::scaling::Units;
use crate::error::Result;
use crate::grape::particle::{Force, IParticle, Nearest};
use crate::grape::sum_tree::{Joiner, Steps};
use crate::process::allocation;
use crate::process::lock::Lock;

/// What the memory is for, in messages.
pub const PURPOSE: &str = "the sums of a block";

/// What is known of one i-particle.
pub struct Progress<T> {
    /// The i-particle in the client's units.
    pub plain: ScaledParticle<T>,
    /// Particles that may be its nearest neighbour.
    pub candidates: Candidates,
}

/// The i-particles of a task and their sums over a run of leaves.
pub struct Totals<T> {
    /// One for each i-particle, and unused ones.
    progress: Vec<Progress<T>>,
    /// How the sums over the leaves are joined.
    pub steps: Steps,
    /// For each i-particle a stack of as many sums as the steps need.
    sums: Vec<Sums>,
    joiner: Joiner<Sums>,
}

impl<T: Real> Totals<T> {
    /// Begins with `particles`, with `SPLIT` in two parts, and the steps as they are now. Their squared
    /// distances have an absolute error of `slack`.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn restart<const SPLIT: bool>(
        &mut self,
        particles: &[IParticle],
        slack: fn(&IParticle) -> f64,
    ) -> Result<()> {
        allocation::lengthen(&mut self.progress, particles.len(), PURPOSE, || Progress {
            plain: ScaledParticle::new::<SPLIT>(&IParticle::default(), &Units::PLAIN),
            candidates: Candidates::default(),
        })?;
        for (i, progress) in particles.iter().zip(&mut self.progress) {
            progress.plain = ScaledParticle::new::<SPLIT>(i, &Units::PLAIN);
            progress.candidates.restart(slack(i));
        }
        // What is there from before is never read: each place is written to first.
        self.joiner.reserve()?;
        let count = particles.len() * self.steps.depth;
        allocation::lengthen(&mut self.sums, count, PURPOSE, Sums::default)
    }

    /// What is known of each i-particle, and its stack.
    #[inline(always)]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&mut Progress<T>, &mut [Sums])> {
        let stacks = self.sums.chunks_exact_mut(self.steps.depth);
        self.progress.iter_mut().zip(stacks)
    }

    /// Takes over what tasks on the following runs of pages found for the same `ni` i-particles. The
    /// sum of everything is then at the bottom of each stack.
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

/// The memory in which a task works, kept for the next one.
pub struct Workspace<T> {
    /// The sums.
    pub totals: Totals<T>,
    /// Results, where the task sees all pages.
    pub forces: Vec<Force>,
    /// Nearest neighbours, where the task sees all pages and they are wanted.
    pub nearest: Vec<Option<Nearest>>,
    /// A tile that is used once.
    pub scratch: Option<Box<Tile<T>>>,
    /// For leaves that are summed again.
    pub again: Again,
}

impl<T> Default for Workspace<T> {
    fn default() -> Self {
        Self {
            totals: Totals {
                progress: Vec::new(),
                steps: Steps::default(),
                sums: Vec::new(),
                joiner: Joiner::new(0),
            },
            forces: Vec::new(),
            nearest: Vec::new(),
            scratch: None,
            again: Again::default(),
        }
    }
}
