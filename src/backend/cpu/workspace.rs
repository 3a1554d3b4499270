//! What a task knows of its i-particles while their sums grow, and the memory it works in.

use super::kernel::Target;
use super::nearest::Candidates;
use super::simd::{Real, Sums};
use super::tile::Tile;
use crate::backend::units::Units;
use crate::particle::{Force, IParticle, Nearest};
use crate::reduce::Joiner;

/// What is known of one i-particle.
pub struct Progress<T> {
    /// The i-particle in the client's units.
    plain: Target<T>,
    /// Its sums.
    pub joiner: Joiner<Sums>,
    /// Leaves that may hold its nearest neighbour.
    pub candidates: Candidates,
    /// Some tile could not be computed in the kernel's precision.
    pub unsafe_range: bool,
}

impl<T: Real> Progress<T> {
    fn new() -> Self {
        Self {
            plain: Target::new(&IParticle::default(), &Units::PLAIN),
            joiner: Joiner::new(0),
            candidates: Candidates::default(),
            unsafe_range: false,
        }
    }

    fn restart(&mut self, i: &IParticle, first_leaf: u32) {
        self.plain = Target::new(i, &Units::PLAIN);
        self.joiner.restart(first_leaf);
        self.candidates.clear();
        self.unsafe_range = false;
    }

    /// The i-particle in the units of a tile.
    #[inline(always)]
    pub fn target(&self, i: &IParticle, units: &Units) -> Target<T> {
        if units.are_plain() {
            self.plain
        } else {
            Target::new(i, units)
        }
    }
}

/// The memory of one task, kept from block to block.
pub struct Workspace<T> {
    /// One for each i-particle of the task, and unused ones.
    pub progress: Vec<Progress<T>>,
    /// Results, where the task sees all pages.
    pub forces: Vec<Force>,
    /// Nearest neighbours, where the task sees all pages and they are wanted.
    pub nearest: Vec<Option<Nearest>>,
    /// A tile that is used once.
    pub scratch: Option<Box<Tile<T>>>,
}

impl<T> Default for Workspace<T> {
    fn default() -> Self {
        Self {
            progress: Vec::new(),
            forces: Vec::new(),
            nearest: Vec::new(),
            scratch: None,
        }
    }
}

impl<T: Real> Workspace<T> {
    /// Begins with `particles` and a run of leaves.
    pub fn restart(&mut self, particles: &[IParticle], first_leaf: u32) {
        if self.progress.len() < particles.len() {
            self.progress.resize_with(particles.len(), Progress::new);
        }
        for (i, progress) in particles.iter().zip(&mut self.progress) {
            progress.restart(i, first_leaf);
        }
    }

    /// Takes over what a task on a later run of pages found for the same `ni` i-particles.
    pub fn append(&mut self, other: &Self, ni: usize) {
        for (mine, others) in self.progress[..ni].iter_mut().zip(&other.progress) {
            for &(leaf, sum) in others.joiner.parts() {
                mine.joiner.push(leaf, sum);
            }
            mine.candidates.append(&others.candidates);
            mine.unsafe_range |= others.unsafe_range;
        }
    }
}
