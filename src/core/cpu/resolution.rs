//! Decides whether single precision holds the sums of a leaf: whether all pairs can be resolved, and whether no term
//! that counts has underflowed. `kernels/resolution.cuh` does the same on a GPU; a test compares the two for every
//! combination of some values of each input.
//!
//! # Close pairs
//!
//! A position is split into a leading part of 24 bits and a rest that is rounded to 24 bits. Let |x| be the distance
//! of the farther particle from the origin. The difference of two leading parts is exact, or as good as single
//! precision. A rest errs by at most 2^-48 |x|, and so does the difference of two rests. So r errs by 3 x 2^-48 |x|
//! beside the usual rounding.
//!
//! Let s be the softened distance of a pair. The relative error of its acceleration is twice that of r, 6 x 2^-48 |x|
//! / s; the relative error of its jerk is 4.5 times that of r. At s = 2^-24 |x| ([`CLOSE`]) these errors are 3.6e-7
//! and 8e-7, no more than single precision loses in the products. A closer pair is summed in double precision, with
//! its leaf.
//!
//! On a CPU leading parts are multiples of one step (`grid.rs`). A rest is at most half a step and is rounded by at
//! most 2^-26 of a step, and the difference of two rests by 2^-25 of a step. Together r errs by at most 2^-24 of a
//! step. If s is half a step, the acceleration of a pair errs by 2.4e-7, less than above. So [`Resolution::closest`] is
//! half a step if that is more than 2^-24 |x|.
//!
//! The distance of the i-particle from the origin is used as |x|, even if the j-particle is farther out. In a close
//! pair the two distances from the origin differ by a fraction of 2^-24 only. If they differ by more, the separation is
//! at least their difference, and the pair is not close.
//!
//! Finding a close pair adds nothing to the pair loop. If the masses of a page have one sign, each pair adds m / s to
//! the potential S of its leaf, and nothing subtracts. Let m_min be the smallest mass that is not zero. Then S is at
//! least m_min / s for the smallest s of the leaf. So a leaf with S < m_min / (2^-24 |x|) has no close pair.
//! (Massless particles add zero at any distance, until 1 / r^2 overflows; then the sums are NaN.)
//!
//! If S exceeds this bound, or masses have both signs, a second pass over the leaf, without the force terms, finds
//! its smallest s. Only s then decides whether the leaf is summed in double precision, so the decision does not
//! depend on the other masses.
//!
//! A pair closer than [`CLOSEST`] counts as close, too. So s is at least [`CLOSEST`] in all other pairs: r^2 is not
//! subnormal, and m / s^3 does not overflow for masses up to 100 times the unit. Larger masses may overflow; then the
//! sums are not finite.
//!
//! # Underflow
//!
//! The sums do not show an underflow. A GPU flushes numbers below 2^-126 to zero, so m / s^3 has an absolute error of
//! up to 2^-126 ([`LOST`]) beside its relative error; a CPU loses less. For terms of at least [`TERM`] this error is at
//! most 2^-27 of the term. Let D be the greatest distance of a pair. Let v be the speed of the i-particle or, if it
//! rests, the least speed of the others. No term of an acceleration underflows if m_min / D^3 is at least [`TERM`]. No
//! term of a jerk underflows if m_min v / D^3, v / D and v times the closest distance are at least [`TERM`], too. Usual
//! particles satisfy this. If some do not, the sums may still show that the loss is negligible: the sum of all m / s^2
//! is at least S / D, and at most N [`LOST`] D of it are lost.

use super::simd::REDUCED_ERROR;
use crate::force::scaling::{CLOSE, CLOSEST, FARTHEST};

/// Sums over a leaf: acceleration, potential, jerk, and one number for padding.
type Sums = [f64; 8];

/// A little less than 1, to allow for rounding in the sums.
pub const ROUNDING: f64 = 1.0 - 1.0 / 1024.0;
/// The absolute error of m / s^3 by underflow, and the least mass with all its digits: 2^-126.
pub const LOST: f64 = power_of_two(-126);
/// The least m / s^3, and the least part of a jerk, of which [`LOST`] is negligible: 2^-99.
pub const TERM: f64 = power_of_two(-99);
/// The ratio of the two.
const NEGLIGIBLE: f64 = LOST / TERM;
/// The most pairs of a leaf.
const PAIRS: f64 = 512.0;
/// The greatest distance whose square is in range, beyond which a pair would vanish: 2^60.
const HORIZON: f64 = power_of_two(60);

const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// What is known of the particles of a leaf, in the units of their tile: bounds, which need not be sharp.
#[derive(Clone, Copy, Debug)]
pub struct LeafBounds {
    /// Whether single precision has the range for the particles.
    pub representable: bool,
    /// Whether no two masses have different signs.
    pub one_sign: bool,
    /// The smallest magnitude of a mass that is not zero; infinite where there is none.
    pub least_mass: f64,
    /// No particle with a mass is farther from the origin, its softening length added.
    pub radius: f64,
    /// No component of a velocity is greater.
    pub fastest: f64,
    /// No component of a velocity that is not zero is less; zero where that is not known.
    pub slowest: f64,
}

/// Which pairs with one i-particle single precision can resolve, in the units of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Resolution {
    /// Whether single precision has the range for the i-particle.
    pub in_range: bool,
    /// The smallest softened distance that can be resolved, or a little more.
    pub closest: f64,
    /// The square of the smallest softened distance that can be resolved.
    pub closest2: f64,
    /// No less than the distance from the origin, the softening length added.
    pub distance: f64,
    /// The greatest component of the velocity.
    pub speed: f64,
}

impl LeafBounds {
    /// In double precision everything holds that is a finite number.
    pub const DOUBLE: Self = Self {
        representable: true,
        one_sign: true,
        least_mass: f64::INFINITY,
        radius: 0.0,
        fastest: 0.0,
        slowest: f64::INFINITY,
    };
}

impl LeafBounds {
    /// The same for `reduced` precision, whose potentials err by three times a root at most.
    #[inline(always)]
    pub fn reduced(self) -> Self {
        Self {
            least_mass: self.least_mass * (1.0 - 4.0 * REDUCED_ERROR),
            ..self
        }
    }
}

impl Resolution {
    /// In double precision every pair can be resolved.
    pub const DOUBLE: Self = Self {
        in_range: true,
        closest: CLOSEST,
        closest2: 0.0,
        distance: 0.0,
        speed: f64::INFINITY,
    };

    /// For an i-particle at `x` with velocity `v` and squared softening length `eps2`; `split` where positions
    /// have a low part.
    #[inline(always)]
    pub fn of(x: &[f64; 3], v: &[f64; 3], eps2: f64, split: bool) -> Self {
        let (norm, norm2) = norms(x);
        let (closest, closest2) = resolved(norm, norm2, if split { CLOSE } else { 0.0 });
        Self {
            // False for NaN, too.
            in_range: norm2 <= FARTHEST * FARTHEST && eps2 <= FARTHEST * FARTHEST,
            closest,
            closest2,
            distance: norm + eps2.max(0.0).sqrt(),
            speed: v[0].abs().max(v[1].abs()).max(v[2].abs()),
        }
    }

    /// That of the i-particle, which is at `x`, before [`on`](Self::on).
    #[inline(always)]
    pub fn at(self, x: &[f64; 3]) -> Self {
        let (norm, norm2) = norms(x);
        let (closest, closest2) = resolved(norm, norm2, CLOSE);
        Self {
            closest,
            closest2,
            ..self
        }
    }

    /// The same where positions are split on a grid of this step, if that has fewer digits.
    #[inline(always)]
    pub fn on(self, step: f64) -> Self {
        let told = step * 0.5;
        Self {
            closest: self.closest.max(told),
            closest2: self.closest2.max(told * told),
            ..self
        }
    }

    /// Whether the sums of a leaf stay in the range of single precision and lost no term that counts. `jerk` says
    /// that some velocity is not zero.
    #[inline(always)]
    pub fn holds(&self, sums: &Sums, bounds: &LeafBounds, jerk: bool) -> bool {
        self.in_range
            && bounds.representable
            && sums.iter().all(|sum| sum.is_finite())
            && (self.loses_nothing(bounds, jerk) || self.loses_little(sums, bounds, jerk))
    }

    /// Whether the potential of a leaf proves that it has no close pair.
    #[inline(always)]
    pub fn are_apart(&self, sums: &Sums, bounds: &LeafBounds) -> bool {
        bounds.one_sign && sums[3].abs() * self.closest <= bounds.least_mass * ROUNDING
    }

    /// Whether pairs can be resolved whose smallest squared softened distance this is.
    #[inline(always)]
    pub fn resolves(&self, least: f64) -> bool {
        least >= self.closest2
    }

    /// The greatest distance of a pair, or 1 if that is more.
    #[inline(always)]
    fn greatest_distance(&self, bounds: &LeafBounds) -> f64 {
        (self.distance + bounds.radius).max(1.0)
    }

    /// Whether no term can underflow.
    #[inline(always)]
    pub fn loses_nothing(&self, bounds: &LeafBounds, jerk: bool) -> bool {
        let d = self.greatest_distance(bounds);
        let least = TERM * d * d * d;
        let v = match self.speed == 0.0 {
            true => bounds.slowest,
            false => self.speed,
        };
        d <= HORIZON
            && least <= bounds.least_mass
            && (!jerk
                || least <= v * bounds.least_mass && TERM <= v * self.closest && TERM * d <= v)
    }

    /// Whether only a close pair or an overflow can spoil the sums of a leaf of one sign of masses.
    #[inline(always)]
    pub fn holds_unless_close(&self, bounds: &LeafBounds, jerk: bool) -> bool {
        self.in_range && bounds.representable && bounds.one_sign && self.loses_nothing(bounds, jerk)
    }

    /// What is true of both i-particles. If one moves and the other rests, jerks may always lose something.
    #[inline(always)]
    pub fn and(self, other: &Self) -> Self {
        Self {
            in_range: self.in_range & other.in_range,
            closest: self.closest.min(other.closest),
            closest2: self.closest2.min(other.closest2),
            distance: self.distance.max(other.distance),
            speed: match (self.speed == 0.0) == (other.speed == 0.0) {
                true => self.speed.min(other.speed),
                false => -1.0,
            },
        }
    }

    /// Whether the sums of a leaf show that what underflowed is negligible.
    #[cold]
    #[inline(never)]
    pub fn loses_little(&self, sums: &Sums, bounds: &LeafBounds, jerk: bool) -> bool {
        if bounds.least_mass == f64::INFINITY {
            return true; // nothing exerts a force
        }
        let d = self.greatest_distance(bounds);
        if d.is_nan() || d > HORIZON {
            return false;
        }
        let potential = sums[3].abs();
        let no_mass_lost = TERM * d * d * d <= bounds.least_mass;
        // Without a potential there is no mass but the i-particle's own.
        if no_mass_lost && potential == 0.0 {
            return true;
        }
        let mut closest = self.closest;
        if bounds.one_sign {
            closest = closest.max(bounds.least_mass * ROUNDING / potential);
        }
        let inverse = 1.0 / (closest * closest * closest);
        // A mass itself loses digits; at a small distance that counts more.
        let per_pair = match bounds.least_mass < LOST {
            true => PAIRS * LOST * inverse.max(1.0),
            false => PAIRS * LOST,
        };
        let acc = no_mass_lost || per_pair * d * d <= NEGLIGIBLE * potential;
        let v = self.speed + bounds.fastest;
        if !jerk || v == 0.0 {
            return acc;
        }
        // Of m (v - 3 (r.v) r / r^2) / r^3: of the factor, of the product, and of r.v.
        let lost = per_pair * (4.0 * v + 1.0) + 3.0 * LOST * potential * inverse;
        let found = sums[4..7].iter().fold(0.0_f64, |m, j| m.max(j.abs()));
        acc && lost <= NEGLIGIBLE * found
    }
}

/// At least the distance from the origin, and its square.
#[inline(always)]
fn norms(x: &[f64; 3]) -> (f64, f64) {
    let norm = x[0].abs() + x[1].abs() + x[2].abs();
    (norm, x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
}

/// The separation from which on pairs are resolved, and its square, where it is this part of the distance.
#[inline(always)]
fn resolved(norm: f64, norm2: f64, part: f64) -> (f64, f64) {
    let (closest, closest2) = (part * norm, part * part * norm2);
    (closest.max(CLOSEST), closest2.max(CLOSEST * CLOSEST))
}
