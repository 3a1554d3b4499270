//! Nearest neighbours beside the force loop.
//!
//! The loop keeps no labels: for each leaf it returns the smallest r^2 only, in
//! the precision of the forces. The few leaves that can hold the nearest particle
//! are looked at again afterwards, and the few particles in them that can be it are
//! compared in double precision, so the answer does not depend on the precision.

use std::ops::Range;

use crate::jmemory::Page;
use crate::neighbours;
use crate::particle::{IParticle, Nearest};

/// Relative error of r^2 + eps^2 that a leaf's minimum may have, generously.
const RELATIVE: f64 = 1.0 / 16384.0;

/// Leaves that may hold the nearest neighbour of one i-particle.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// No particle beyond this softened r^2 can be the nearest.
    bound: Option<f64>,
    /// Leaves with the smallest softened r^2 found in them.
    leaves: Vec<(u32, f64)>,
}

impl Candidates {
    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.bound = None;
        self.leaves.clear();
    }

    /// Adds a leaf whose smallest r^2 + eps^2 is `least`, with an absolute error of at most `slack`.
    #[inline(always)]
    pub fn add(&mut self, leaf: u32, least: f64, slack: f64) {
        if self.bound.is_none_or(|bound| least <= bound) {
            self.leaves.push((leaf, least));
            let bound = least * (1.0 + RELATIVE) + slack;
            self.bound = Some(self.bound.map_or(bound, |b| b.min(bound)));
        }
    }

    /// Adds the candidates of a run of higher leaves.
    pub fn append(&mut self, other: &Self) {
        self.leaves.extend_from_slice(&other.leaves);
        self.bound = match (self.bound, other.bound) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, another) => one.or(another),
        };
    }

    /// The bound and the leaves that remain, in address order.
    pub fn remaining(&self) -> Option<(f64, impl Iterator<Item = u32>)> {
        let bound = self.bound?;
        let leaves = self.leaves.iter().filter(move |l| l.1 <= bound);
        Some((bound, leaves.map(|l| l.0)))
    }
}

/// Absolute error of r^2 for an i-particle at `x`, from the rounding of positions to `bits` bits
/// where the distance is so small that [`RELATIVE`] does not cover it.
pub fn slack(x: &[f64; 3], bits: i32) -> f64 {
    // With an error e of a coordinate, r^2 errs by 2 r e; RELATIVE covers that for r > 2^16 e.
    let e2: f64 = x.iter().map(|c| (c * 2.0_f64.powi(1 - bits)).powi(2)).sum();
    e2 * f64::from(1 << 18)
}

/// Compares slot `slot` with the best neighbour so far, in double precision, if it counts.
pub fn consider(
    best: &mut Option<Nearest>,
    i: &IParticle,
    page: &Page,
    slot: usize,
    valid: &Range<usize>,
    ti: f64,
) {
    if !valid.contains(&slot) || page.present()[slot / 64] >> (slot % 64) & 1 == 0 {
        return;
    }
    let p = page.particle(slot);
    let xj = p.predicted(ti).0.map(|x| [x]);
    neighbours::update_nearest(best, i, p.index, neighbours::distance2(&i.x, &xj, 0));
}
