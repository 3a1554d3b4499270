//! Particles sorted in Morton order.

pub use kirin_core::tree::morton::{Cube, Extent, LEVELS};
use rayon::prelude::*;

use crate::particle::Particle;

/// Particles that one task takes at least.
const GRAIN: usize = 1024;

/// The box around `particles`.
pub fn extent(particles: &[Particle]) -> Extent {
    particles
        .par_chunks(GRAIN)
        .map(|some| Extent::of(some.iter().map(|p| p.x)))
        .reduce(|| Extent::NOTHING, Extent::join)
}

/// A key, and whose it is.
#[derive(Clone, Copy, Debug, Default)]
struct KeyedPlace {
    key: u64,
    order: u32,
    at: u32,
}

/// The memory in which particles are sorted, kept from step to step.
#[derive(Debug, Default)]
pub struct Sorter {
    entries: Vec<KeyedPlace>,
    sorted: Vec<Particle>,
}

impl Sorter {
    /// Sorts `particles` along the curve through `cube` and writes their keys.
    ///
    /// Particles with the same key are sorted by their number (`order`), so the result does not depend on the order of
    /// the array.
    pub fn sort(&mut self, cube: &Cube, particles: &mut Vec<Particle>, keys: &mut Vec<u64>) {
        particles
            .par_iter()
            .with_min_len(GRAIN)
            .enumerate()
            .map(|(at, p)| KeyedPlace {
                key: cube.key(&p.x),
                order: p.order,
                at: at as u32,
            })
            .collect_into_vec(&mut self.entries);
        self.entries.par_sort_unstable_by_key(|e| (e.key, e.order));
        self.entries
            .par_iter()
            .with_min_len(GRAIN)
            .map(|e| particles[e.at as usize])
            .collect_into_vec(&mut self.sorted);
        std::mem::swap(particles, &mut self.sorted);
        self.entries
            .par_iter()
            .with_min_len(GRAIN)
            .map(|e| e.key)
            .collect_into_vec(keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octants_come_in_order() {
        let corner = |o: u32| [o >> 2, o >> 1 & 1, o & 1].map(f64::from);
        let mut particles: Vec<Particle> = (0..8)
            .map(|order| Particle {
                x: corner(7 - order),
                order,
                ..Particle::default()
            })
            .collect();
        let cube = Cube::of(extent(&particles)).unwrap();
        let mut keys = Vec::new();
        Sorter::default().sort(&cube, &mut particles, &mut keys);
        assert!(keys.is_sorted());
        let order: Vec<u32> = particles.iter().map(|p| p.order).collect();
        assert_eq!(order, (0..8).rev().collect::<Vec<_>>());
    }
}
