//! The octree over the particles of this rank: the library's, built by this program's threads.

pub use kirin_core::tree::octree::{ABSENT, Cell, LEAF, Octree as Tree};
use kirin_core::tree::workers::Workers;
use rayon::prelude::*;

use crate::error::Error;
use crate::particle::Particle;

/// The threads of this program.
struct Threads;

impl Workers for Threads {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).into_par_iter().for_each(task);
    }
}

/// Builds the cells over `particles`, whose keys the tree has already: see [`Tree::grow`].
///
/// # Errors
///
/// There is no memory.
pub fn grow(
    tree: &mut Tree,
    particles: &[Particle],
    branches: (usize, &[(u8, u32)]),
    accuracy: (f64, bool),
) -> Result<(), Error> {
    let point = |k: usize| {
        let Particle { x, mass, .. } = &particles[k];
        [x[0], x[1], x[2], *mass]
    };
    tree.grow(&Threads, point, branches, accuracy)
        .map_err(|_| Error::Memory)
}
