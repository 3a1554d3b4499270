//! The pair loop: one body for every instruction set, precision and variant.
//!
//! No closure calls a vector operation here: a closure would be compiled without
//! the instruction set of its surroundings, and its operations would become calls.

use std::ops::Range;

use super::simd::{Real, Simd, Sums, Work};
use super::tile::Tile;
use crate::backend::units::Units;
use crate::jmemory::{Column, PAGE, Page};
use crate::particle::IParticle;

/// An i-particle in the numbers of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Target<T> {
    x: [T; 3],
    x_low: [T; 3],
    v: [T; 3],
    eps2: T,
    label: i32,
}

impl<T: Real> Target<T> {
    /// The i-particle in the given units.
    #[inline(always)]
    pub fn new(i: &IParticle, units: &Units) -> Self {
        let scaled = i.x.map(|x| x * units.length);
        let x = scaled.map(T::from_f64);
        Self {
            x,
            x_low: [0, 1, 2].map(|k| T::from_f64(scaled[k] - x[k].to_f64())),
            v: i.v.map(|v| T::from_f64(v * units.velocity)),
            eps2: T::from_f64(i.eps2 * (units.length * units.length)),
            label: i.index,
        }
    }

    /// Whether `T` has the range for this i-particle: far from the tile's particles, or
    /// with a softening that is lost in rounding, it has not.
    #[inline(always)]
    pub fn is_representable(&self, i: &IParticle) -> bool {
        let (least, most) = T::SAFE_RANGE;
        let eps2 = self.eps2.to_f64();
        self.x.iter().all(|x| x.to_f64().abs() <= most)
            && (i.eps2 == 0.0 || (least..=most).contains(&eps2))
    }
}

/// The j-particles of one page.
#[derive(Clone, Copy)]
pub struct Sources<'a, S: Simd> {
    /// Positions and velocities.
    pub tile: &'a Tile<S::T>,
    /// Masses.
    pub masses: &'a Column<S::T>,
    /// Labels, and which slots hold a particle.
    pub page: &'a Page,
    /// -3 / r^2 in terms of the square of what [`Simd::rsqrt`] returns.
    pub minus_three: S::T,
}

/// What [`Simd::rsqrt`] returns times the root, on average.
///
/// The Newton step from an estimate of 12 bits is too small by half an ulp on average;
/// in the sums of r^-3 of all particles that does not cancel. The processors differ in
/// their estimates, so the mean is measured.
pub struct MeanRoot<S>(pub S);

impl<S: Simd> Work for MeanRoot<S> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        const SAMPLES: usize = 8 * PAGE;
        let s = self.0;
        let mut x = [S::T::default(); PAGE];
        let mut sum = 0.0;
        for first in (0..SAMPLES).step_by(PAGE) {
            for (l, x) in x.iter_mut().enumerate() {
                // 1 to 4: the estimates repeat from there.
                let at = (first + l) as f64 + 0.5;
                *x = S::T::from_f64(4.0_f64.powf(at / SAMPLES as f64));
            }
            let mut y = x;
            let mut at = 0;
            while at < PAGE {
                // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
                unsafe { s.store(&mut y, at, s.rsqrt(s.load(&x, at))) };
                at += S::LANES;
            }
            for (x, y) in x.iter().zip(&y) {
                sum += y.to_f64() * x.to_f64().sqrt();
            }
        }
        // Double precision is right on average: no rounding error of this mean in its place.
        const DIGITS: f64 = (1u64 << 40) as f64;
        (sum / SAMPLES as f64 * DIGITS).round() / DIGITS
    }
}

/// Which terms a pass over a leaf needs.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Velocities are not all zero.
    pub jerk: bool,
    /// Some slots do not count.
    pub mask: bool,
    /// The smallest distance is wanted.
    pub nearest: bool,
}

/// Sums over the slots of `range` within one leaf, in the tile's units, and the
/// smallest softened r^2 if it is wanted.
///
/// `range` begins at a multiple of the lanes; without a mask it ends at one, too. A pair at no
/// distance without softening makes the sums infinite or not a number: whether the particles do
/// coincide is not for this precision to say.
#[inline(always)]
pub fn leaf<S: Simd, const SPLIT: bool>(
    s: S,
    variant: Variant,
    j: Sources<'_, S>,
    i: &Target<S::T>,
    range: Range<usize>,
) -> (Sums, S::T) {
    macro_rules! variants {
        ($($jerk:literal $mask:literal $nearest:literal),+) => {
            match (variant.jerk, variant.mask, variant.nearest) {
                $( ($jerk, $mask, $nearest) =>
                    pairs::<S, SPLIT, $jerk, $mask, $nearest>(s, j, i, range), )+
            }
        };
    }
    variants!(
        true false false, true false true, true true false, true true true,
        false false false, false false true, false true false, false true true
    )
}

#[inline(always)]
fn pairs<S: Simd, const SPLIT: bool, const JERK: bool, const MASK: bool, const NEAREST: bool>(
    s: S,
    j: Sources<'_, S>,
    i: &Target<S::T>,
    range: Range<usize>,
) -> (Sums, S::T) {
    let nought = s.splat(S::T::default());
    let far = s.splat(S::T::MAX);
    let minus_three = s.splat(j.minus_three);
    let tile = j.tile;
    let point = Point::<S, SPLIT>::new(s, i);
    let vi = splat3(s, &i.v);

    let mut acc = [nought; 3];
    let mut jerk = [nought; 3];
    let mut pot = nought;
    let mut least = far;
    let mut at = range.start;
    while at < range.end {
        // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
        let (r, r2) = unsafe { point.distance(s, tile, at) };
        let mut near = r2;
        let mut y = s.rsqrt(r2);
        if MASK {
            // SAFETY: as above.
            let counts = unsafe { counting(s, j.page, i.label, at, range.end) };
            y = s.select(counts, y, nought);
            near = s.select(counts, near, far);
        }
        if NEAREST {
            least = s.min(near, least);
        }
        // SAFETY: as above.
        let m_r = s.mul(unsafe { s.load(j.masses, at) }, y);
        let y2 = s.mul(y, y);
        let m_r3 = s.mul(m_r, y2);
        pot = s.add(pot, m_r);
        for k in 0..3 {
            acc[k] = s.fma(m_r3, r[k], acc[k]);
        }
        if JERK {
            let mut v = vi;
            for k in 0..3 {
                // SAFETY: as above.
                v[k] = s.sub(unsafe { s.load(&tile.v[k], at) }, vi[k]);
            }
            let rv = s.fma(r[2], v[2], s.fma(r[1], v[1], s.mul(r[0], v[0])));
            // -3 (r.v) / r^2 is formed first: m / r^5 could overflow.
            let rv = s.mul(s.mul(rv, minus_three), y2);
            for k in 0..3 {
                jerk[k] = s.fma(m_r3, s.fma(rv, r[k], v[k]), jerk[k]);
            }
        }
        at += S::LANES;
    }
    let sums = s.sums([acc[0], acc[1], acc[2], pot, jerk[0], jerk[1], jerk[2]]);
    let least = if NEAREST { s.least(least) } else { S::T::MAX };
    (sums, least)
}

/// Calls `found` for each slot of `range` with a softened r^2 of at most `bound`
/// (in the tile's units), in address order. Slots that do not count may be among them.
#[inline(always)]
pub fn slots_within<S: Simd, const SPLIT: bool>(
    s: S,
    tile: &Tile<S::T>,
    i: &Target<S::T>,
    bound: S::T,
    range: Range<usize>,
    mut found: impl FnMut(usize),
) {
    let point = Point::<S, SPLIT>::new(s, i);
    let bound = s.splat(bound);
    let mut at = range.start;
    while at < range.end {
        // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
        let (_, r2) = unsafe { point.distance(s, tile, at) };
        let mut bits = s.le_bits(r2, bound);
        while bits != 0 {
            found(at + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
        at += S::LANES;
    }
}

#[inline(always)]
fn splat3<S: Simd>(s: S, x: &[S::T; 3]) -> [S::V; 3] {
    [s.splat(x[0]), s.splat(x[1]), s.splat(x[2])]
}

/// The position of an i-particle, in every lane.
struct Point<S: Simd, const SPLIT: bool> {
    x: [S::V; 3],
    x_low: [S::V; 3],
    eps2: S::V,
}

impl<S: Simd, const SPLIT: bool> Point<S, SPLIT> {
    #[inline(always)]
    fn new(s: S, i: &Target<S::T>) -> Self {
        Self {
            x: splat3(s, &i.x),
            x_low: splat3(s, &i.x_low),
            eps2: s.splat(i.eps2),
        }
    }

    /// r = x_j - x_i for the slots from `at` on, and r^2 + eps^2.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn distance(&self, s: S, tile: &Tile<S::T>, at: usize) -> ([S::V; 3], S::V) {
        let mut r = self.x;
        for (k, r) in r.iter_mut().enumerate() {
            // SAFETY: passed on.
            *r = s.sub(unsafe { s.load(&tile.x[k], at) }, self.x[k]);
            if SPLIT {
                // SAFETY: passed on.
                let low = s.sub(unsafe { s.load(&tile.x_low[k], at) }, self.x_low[k]);
                *r = s.add(*r, low);
            }
        }
        let r2 = s.fma(r[0], r[0], self.eps2);
        let r2 = s.fma(r[1], r[1], r2);
        (r, s.fma(r[2], r[2], r2))
    }
}

/// Lanes whose slot holds a particle below the address limit `end` (a slot) with another label.
///
/// # Safety
///
/// `at + LANES <= PAGE`.
#[inline(always)]
unsafe fn counting<S: Simd>(s: S, page: &Page, label: i32, at: usize, end: usize) -> S::M {
    let mut bits = page.present()[at / 64] >> (at % 64);
    if end - at < S::LANES {
        bits &= (1 << (end - at)) - 1;
    }
    // SAFETY: passed on.
    let other = unsafe { s.label_differs(page.index(), at, label) };
    s.and(other, s.mask(bits as u32))
}

const _: () = assert!(
    PAGE.is_multiple_of(64),
    "the words of present bits hold whole vectors"
);
