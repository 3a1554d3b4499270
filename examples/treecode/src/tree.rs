//! The octree over the particles of this rank: built by the library's code on this program's threads.

use std::collections::TryReserveError;

pub use kirin_core::tree::octree::{ABSENT, Cell, LEAF, Octree as Tree};
use kirin_core::tree::workers::Workers;
use rayon::prelude::*;

use crate::error::Error;
use crate::particle::Particle;

/// The threads of this program.
struct Threads;

impl Workers for Threads {
    fn each<T: Send>(
        &self,
        items: &mut [T],
        grain: usize,
        act: impl Fn(usize, &mut T) + Sync,
    ) -> Result<(), TryReserveError> {
        let items = items.par_iter_mut().with_min_len(grain).enumerate();
        items.for_each(|(k, item)| act(k, item));
        Ok(())
    }

    fn each_pair<T: Send, U: Send>(
        &self,
        first: &mut [T],
        second: &mut [U],
        grain: usize,
        act: impl Fn(&mut T, &mut U) + Sync,
    ) -> Result<(), TryReserveError> {
        let pairs = first.par_iter_mut().zip(second).with_min_len(grain);
        pairs.for_each(|(a, b)| act(a, b));
        Ok(())
    }

    fn join(&self, one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
        rayon::join(one, other);
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
