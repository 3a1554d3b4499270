//! Which pairs the kernels can resolve, and how the sums of a leaf show that they could not.
//!
//! A position is split into a leading part of 24 bits and a rest that is rounded to 24. With |x| for the
//! distance of the farther particle from the origin, the difference of two leading parts is exact or as good as single
//! precision; a rest errs by at most 2^-48 |x|, and so does the difference of two. So r errs by 3 x 2^-48 |x|
//! beside the usual rounding, the acceleration of a pair at softened distance s by twice that part of s, its jerk by
//! 4.5 times. At s = 2^-24 |x| ([`CLOSE`]) that is 3.6e-7 and 8e-7, no more than single precision
//! loses in the products. A closer pair is summed in double precision, with its leaf.
//!
//! For |x| the i-particle's distance will do: in a close pair both particles are equally far from the origin, to
//! 2^-24, and the separation of any other pair is at least the difference of the two |x|.
//!
//! Finding a close pair adds nothing to the pair loop. Where the masses of a page have one sign, each pair adds m / s
//! to the potential S of its leaf, and nothing subtracts. So S is at least m_min / s for the closest s, with the smallest
//! mass that is not zero, and a leaf with |S| < m_min / (2^-24 |x|) has no close pair. (What massless particles add is
//! zero at any distance, until 1 / r^2 overflows; then the sums are NaN.) Where the bound is not kept, a second pass
//! over the leaf, without the force terms, finds its smallest s; so it does where masses have both signs. Among stars
//! of similar mass such leaves are few; far from the origin, or among masses of 1 and 1e-9, they are many. Only s then
//! decides whether the leaf is summed in double precision, so the decision does not depend on the other masses.
//!
//! The same bound keeps s above [`CLOSEST`]: r^2 is no subnormal number, and m / s^3 does not overflow for masses
//! up to 100 times the unit. Larger masses may overflow, which shows as sums that are not finite.

use super::simd::{Real, Sums};
use super::tile::{Masses, Tile};
use crate::force::scaling::{CLOSE, CLOSEST, FARTHEST};

/// A potential, in the units of a tile, that is large enough to make the terms lost to underflow negligible.
const LEAST_POTENTIAL: f64 = 1e-9;

/// Which pairs with one i-particle single precision can resolve, in the units of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// The square of the smallest softened distance that can be resolved.
    closest2: f64,
    /// A leaf whose potential is below this times its smallest mass has no closer pair. Negative if no leaf can
    /// be summed in single precision for this i-particle.
    most: f64,
}

impl Reach {
    /// For an i-particle at `x` with squared softening length `eps2`.
    #[inline(always)]
    pub fn of<T: Real, const SPLIT: bool>(x: &[f64; 3], eps2: f64) -> Self {
        if T::IS_DOUBLE {
            return Self {
                closest2: 0.0,
                most: f64::INFINITY,
            };
        }
        let norm2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        let closest2 = if SPLIT { CLOSE * CLOSE * norm2 } else { 0.0 }.max(CLOSEST * CLOSEST);
        // False for NaN, too.
        let within = norm2 <= FARTHEST * FARTHEST && eps2 <= FARTHEST;
        Self {
            closest2,
            // A little less, to allow for rounding in the sums.
            most: if within {
                (1.0 - 1.0 / 1024.0) / closest2.sqrt()
            } else {
                -1.0
            },
        }
    }

    /// Whether every pair can be resolved. `least` finds the smallest squared softened distance.
    pub fn can_hold(&self, least: impl FnOnce() -> f64) -> bool {
        self.most > 0.0 && least() >= self.closest2
    }

    /// Whether the sums of a leaf prove that every pair was resolved and no term overflowed or vanished.
    #[inline(always)]
    pub fn vouches_for(&self, sums: &Sums, page: Bounds) -> bool {
        let potential = sums[3].abs();
        potential <= self.most * page.least_mass
            && potential >= page.least_potential
            && are_finite(sums)
    }
}

/// The bounds within which the potential of a page's leaf proves that single precision was enough.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    representable: bool,
    /// The smallest mass that is not zero; negative if the potential says nothing about distances.
    least_mass: f64,
    /// The potential that a leaf must have to outweigh the terms that may have vanished.
    least_potential: f64,
}

impl Bounds {
    /// Whether single precision has the range for these sums.
    pub fn can_hold(&self, sums: &Sums) -> bool {
        self.representable && sums[3].abs() >= self.least_potential && are_finite(sums)
    }

    /// For a tile and its masses.
    pub fn of<T: Real>(tile: &Tile<T>, masses: &Masses<T>) -> Self {
        let doubtful = tile.far || !masses.representable;
        Self {
            representable: tile.representable,
            least_mass: if tile.representable {
                masses.least
            } else {
                -1.0
            },
            least_potential: if doubtful { LEAST_POTENTIAL } else { 0.0 },
        }
    }
}

/// Whether all sums are finite numbers.
#[inline(always)]
fn are_finite(sums: &Sums) -> bool {
    // A sum of finite sums of single precision does not overflow.
    sums.iter().map(|sum| sum * 0.0).sum::<f64>() == 0.0
}
