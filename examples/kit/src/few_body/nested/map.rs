//! Steps of one drift and one kick, for orbits that perturb each other little.
//!
//! Such a step is the map of Wisdom and Holman (1991, AJ 102, 1528). Its stars differ from those that it stands for by terms in
//! proportion to the perturbation, which return after each revolution. A symplectic corrector (Wisdom, Holman and Touma 1996, Fields
//! Inst. Commun. 10, 217) leads from the stars into the map, and back where they are looked at. What is left is of the second order in
//! the perturbation, so a revolution needs no more kicks than the harmonics of the perturbation ask for.
//!
//! The corrector is made of drifts and kicks, too: to the first order, a kick b after a drift a and one of -b after a drift -a change a
//! harmonic whose phase advances by q in a step by 2 b sin(a q).

use super::{Moves, Nested};

/// Drifts of the corrector are multiples of this part of a step.
const SPACING: f64 = 0.42;

/// Its kicks, in parts of a step. The sum of 2 b sin(a q) is (1 - (q / 2) / sin(q / 2)) / q, what the map lacks, for q up to 2.4 within
/// 1.5e-6, and up to 3.2 within 6e-6: the third harmonic with seven kicks a revolution has q = 2.7.
const KICKS: [f64; 6] = [
    -0.185_886_152_405,
    0.129_967_321_291,
    -0.063_435_412_868,
    0.022_117_441_275,
    -0.005_061_592_995,
    0.000_583_106_999,
];

const PAIRS: usize = 2 * KICKS.len();
const LAST: f64 = SPACING * KICKS.len() as f64;

/// From the stars to where the first kick of the map has just been: half a step later.
const INTO: [[f64; 2]; PAIRS + 1] = into();

/// From a kick to half a step later, and to the stars there.
const OUT_OF: [[f64; 2]; PAIRS] = out_of();

const fn into() -> [[f64; 2]; PAIRS + 1] {
    let mut all = [[LAST + 0.5, 1.0]; PAIRS + 1];
    let (mut before, mut k) = (0.0, 0);
    while k < KICKS.len() {
        let a = SPACING * (k + 1) as f64;
        all[2 * k] = [before + a, KICKS[k]];
        all[2 * k + 1] = [-2.0 * a, -KICKS[k]];
        (before, k) = (a, k + 1);
    }
    all
}

const fn out_of() -> [[f64; 2]; PAIRS] {
    let mut all = [[0.5 - LAST, 0.0]; PAIRS];
    let mut k = 0;
    while k < PAIRS {
        // Backwards, each kick comes after the drift that followed it.
        all[k][1] = -INTO[PAIRS - 1 - k][1];
        if k > 0 {
            all[k][0] = -INTO[PAIRS - k][0];
        }
        k += 1;
    }
    all
}

/// Steps of the map after each of which it is kept. Copies would take a third of the time if it were kept after each step.
const KEPT: usize = 8;

const STEP: Moves = (&[[1.0, 1.0]], 0.0);
const STEPS: Moves = (&[[1.0, 1.0]; KEPT], 0.0);

impl Nested {
    /// Takes the stars to within half a step of the time `t`. `None` if steps get nowhere.
    pub(super) fn leave_map(&mut self, t: f64) -> Option<()> {
        while self.last_time() <= t {
            // What is kept first are the stars themselves, and then the map.
            let moves = match self.times.len() {
                1 => (&INTO[..], 0.0),
                _ => STEPS,
            };
            self.extend(moves)?;
        }
        let k = self.times.partition_point(|(time, _)| time[0] <= t) - 1;
        self.load(k);
        if k > 0 {
            self.find_kick(t);
            self.go(self.length, (&OUT_OF, -SPACING));
        }
        Some(())
    }

    /// Goes on within the map to the last kick before the time `t`, which is before what is kept next.
    fn find_kick(&mut self, t: f64) {
        let mut last = self.now.clone();
        for _ in 0..KEPT {
            self.go(self.length, STEP);
            if self.now.t[0] > t {
                break;
            }
            last.set(&self.now);
        }
        self.now = last;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{hierarchies, nested_by};
    use super::super::tree::Scheme;
    use super::*;
    use crate::vector::{norm, sub};

    /// What a harmonic lacks in the map, if its phase advances by q in a step.
    fn difference(q: f64) -> f64 {
        (1.0 - 0.5 * q / (0.5 * q).sin()) / q
    }

    #[test]
    fn the_corrector_is_the_difference_of_the_map() {
        for (most, error) in [(2.4, 1.5e-6), (3.2, 6.1e-6)] {
            for k in 1..=1000 {
                let q = most * f64::from(k) / 1000.0;
                let terms = KICKS.iter().zip(1..);
                let sum: f64 = terms
                    .map(|(b, k)| 2.0 * b * (f64::from(k) * SPACING * q).sin())
                    .sum();
                let missed = sum - difference(q);
                assert!(missed.abs() < error, "{q}: {missed:e}");
            }
        }
    }

    /// Out of the map is back to the stars.
    #[test]
    fn what_goes_into_the_map_comes_out_again() {
        for stars in hierarchies() {
            let mut nested = nested_by(Scheme::Map, &stars, 10.0);
            let (begin, h) = (nested.now.clone(), nested.length);
            nested.go(h, (&INTO[..PAIRS], LAST));
            let inside = nested.now.clone();
            nested.go(h, (&[], -0.5));
            nested.go(h, (&OUT_OF, -SPACING));
            let far = |a: &super::super::State| {
                let pairs = a.motions.iter().zip(&begin.motions);
                let parts = pairs.map(|(a, b)| norm(&sub(&a.x, &b.x)) / b.r);
                parts.fold((a.t[0] - begin.t[0]).abs(), f64::max)
            };
            assert!(far(&inside) > 1e-9, "{:e}", far(&inside));
            assert!(far(&nested.now) < 1e-13, "{:e}", far(&nested.now));
        }
    }
}
