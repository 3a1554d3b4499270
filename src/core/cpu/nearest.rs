//! Nearest neighbours, found by the force loop.
//!
//! The force loop does not track labels. For each leaf it stores r^2 of all pairs, in the precision of the forces,
//! and the smallest r^2 of the leaf. If this r^2 may be the smallest of all leaves, the particles with almost this
//! r^2 become candidates. The few candidates left at the end are compared in double precision, so the answer does not
//! depend on the precision of the forces.

use crate::process::allocation;
use crate::sources::jmemory::Page;
use crate::sources::neighbours;
use crate::sources::particle::{IParticle, Nearest};

/// An upper bound of the relative error of r^2 + eps^2 in the loop.
const RELATIVE: f64 = 1.0 / 16384.0;

/// A particle that may be the nearest neighbour.
#[derive(Clone, Copy, Debug)]
pub struct NearestCandidate {
    /// Position of its page.
    pub page: usize,
    /// Its slot.
    pub slot: usize,
    /// Its r^2 + eps^2 as the loop found it, or less by as much as that may err.
    pub r2: f64,
}

/// Particles that may be the nearest neighbour of one i-particle, in address order.
#[derive(Clone, Debug)]
pub struct NearestCandidates {
    /// No particle beyond this softened r^2 can be the nearest.
    bound: f64,
    /// Absolute error of r^2.
    slack: f64,
    found: Vec<NearestCandidate>,
}

impl Default for NearestCandidates {
    fn default() -> Self {
        Self {
            bound: f64::INFINITY,
            slack: 0.0,
            found: Vec::new(),
        }
    }
}

impl NearestCandidates {
    /// Begins anew, keeping the memory, for an absolute error `slack` of r^2.
    pub fn restart(&mut self, slack: f64) {
        self.bound = f64::INFINITY;
        self.slack = slack;
        self.found.clear();
    }

    /// Decides whether a leaf can hold the nearest particle; `least` is the leaf's smallest softened r^2. If so,
    /// returns the softened r^2 up to which its particles become candidates. The squared distances of the leaf err
    /// by up to `slack`.
    #[inline(always)]
    pub fn bound_with(&mut self, least: f64, slack: f64) -> Option<f64> {
        (least - slack <= self.bound).then(|| {
            let bound = least * (1.0 + RELATIVE) + self.slack + slack;
            self.bound = self.bound.min(bound);
            self.bound + slack
        })
    }

    /// Adds a particle.
    pub fn push(&mut self, candidate: NearestCandidate) {
        if self.has_room_for(1) {
            self.found.push(candidate);
        }
    }

    /// Adds the candidates of a later run of leaves.
    pub fn append(&mut self, other: &Self) {
        if self.has_room_for(other.found.len()) {
            self.found.extend_from_slice(&other.found);
        }
        self.bound = self.bound.min(other.bound);
    }

    /// Without memory for a candidate, all are dropped, and all particles will be compared.
    fn has_room_for(&mut self, more: usize) -> bool {
        let room = allocation::reserve(&mut self.found, more, "nearest neighbours");
        if room.is_err() {
            self.bound = f64::NEG_INFINITY;
        }
        room.is_ok()
    }

    /// The candidates that are left.
    pub fn remaining(&self) -> impl Iterator<Item = &NearestCandidate> {
        self.found.iter().filter(|found| found.r2 <= self.bound)
    }
}

/// Absolute error of r^2 for an i-particle at `x` whose position is rounded to `bits` bits. It matters only at small
/// distances; at larger ones the relative error [`RELATIVE`] covers it.
#[inline(always)]
pub fn slack(x: &[f64; 3], bits: i32) -> f64 {
    // With an error e of a coordinate, r^2 errs by 2 r e; RELATIVE covers that for r > 2^16 e.
    let unit = 2.0_f64.powi(1 - bits);
    let e2: f64 = x.iter().map(|c| (c * unit) * (c * unit)).sum();
    e2 * f64::from(1 << 18)
}

/// Compares slot `slot` with the best neighbour so far, in double precision.
pub fn consider(best: &mut Option<Nearest>, i: &IParticle, page: &Page, slot: usize, ti: f64) {
    let x = page.predicted_position(slot, ti).map(|x| [x]);
    neighbours::update_nearest(
        best,
        i,
        page.index()[slot],
        neighbours::distance2(&i.x, &x, 0),
    );
}

/// The absolute error of r^2 where positions have a common grid of this step, in the same sense.
pub fn slack_on(step: f64) -> f64 {
    // A rest errs by at most 2^-26 of the step, their difference by 2^-24 with both.
    let e = step * 2.0_f64.powi(-24);
    3.0 * e * e * f64::from(1 << 18)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_memory_for_some_none_remains() {
        let mut candidates = NearestCandidates::default();
        candidates.push(NearestCandidate {
            page: 0,
            slot: 1,
            r2: 1.0,
        });
        assert_eq!(candidates.remaining().count(), 1);
        assert!(!candidates.has_room_for(usize::MAX / 64));
        assert_eq!(candidates.remaining().count(), 0);
        assert_eq!(
            candidates.bound_with(0.5, 0.0),
            None,
            "and none is looked for"
        );
        let mut first = NearestCandidates::default();
        first.append(&candidates);
        assert_eq!(first.remaining().count(), 0);
    }

    /// The result would be right without them, after a detour: see `BlockContext::finish`.
    #[test]
    fn the_nearest_of_two_runs_remains() {
        let found = |r2, slot| {
            let mut candidates = NearestCandidates::default();
            candidates.restart(0.0);
            assert!(candidates.bound_with(r2, 0.0).is_some());
            candidates.push(NearestCandidate { page: 0, slot, r2 });
            candidates
        };
        for (first, second, nearest) in [(2.0, 1.0, 5), (1.0, 2.0, 3)] {
            let mut candidates = found(first, 3);
            candidates.append(&found(second, 5));
            let slots = candidates.remaining().map(|c| c.slot);
            assert_eq!(slots.collect::<Vec<_>>(), [nearest]);
            assert!(candidates.bound_with(1.5, 0.0).is_none());
        }
    }
}
