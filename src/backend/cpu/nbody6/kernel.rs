//! The pair loops of NBODY6's regular force and potential: one body for every instruction set and precision.
//!
//! A loop leaves out what may be a neighbour, or is so close that its force needs more digits, and tells the
//! slots of these. They are few, and are looked at one by one in double precision. So lists do not depend on the
//! precision of the loop.
//!
//! No closure calls a vector operation here: it would be compiled without the instruction set of its surroundings.

use std::ops::Range;

use super::super::kernel::{reread, splat3};
use super::super::simd::{Real, Simd, Sums, leading};
use super::tile::Tile;
use crate::backend::regular::{Criterion, Target};
use crate::backend::scaling::FARTHEST;
use crate::grape::jmemory::{PAGE, PageArray};

/// Slots of a tile, a bit each.
pub type Slots = [u64; PAGE / 64];

/// Neighbours in the loop are those with s below (1 + `DOUBT`) h2 + `ABSOLUTE` e^2, where e is the absolute error of a
/// distance: sqrt(h2) + e squared is less, by 2 e sqrt(h2) <= t h2 + e^2 / t with t = 1 / 4096 and another
/// t for what is rounded relative to s.
const DOUBT: f64 = 1.0 / 2048.0;
const ABSOLUTE: f64 = 4200.0;

/// What an element type loses.
struct Errors {
    /// Absolute error of a coordinate of r, for each unit of the target's distance from the origin.
    position: f64,
    /// The same of dtr v, for each unit of dtr and of the greatest velocity.
    ahead: f64,
    /// Pairs at less than this part of the target's distance from the origin need more digits.
    close: f64,
    /// Pairs closer than this may overflow r^-3.
    closest: f64,
}

impl Errors {
    /// With room for factors of a few: three coordinates, two particles.
    const fn of<T: Real, const SPLIT: bool>() -> Self {
        const fn power(n: i32) -> f64 {
            f64::from_bits(((1023 + n) as u64) << 52)
        }
        match (T::IS_DOUBLE, SPLIT) {
            (true, _) => Self {
                position: power(-49),
                ahead: power(-48),
                close: 0.0,
                closest: 1e-100,
            },
            (false, true) => Self {
                position: power(-45),
                ahead: power(-19),
                close: power(-20),
                closest: 1e-8,
            },
            (false, false) => Self {
                position: power(-21),
                ahead: power(-19),
                close: 0.0,
                closest: 1e-8,
            },
        }
    }
}

/// A target in the numbers of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Scaled<T> {
    x: [T; 3],
    x_low: [T; 3],
    v: [T; 3],
    dtr: T,
    h2: f64,
    /// Absolute error of a distance from it, at rest, and for each unit of the greatest velocity.
    errors: [f64; 2],
    speed: f64,
    closest2: f64,
    /// Whether `T` has the range for it, and the neighbour test is one.
    pub representable: bool,
}

impl<T: Real> Scaled<T> {
    /// The target in elements of the loop.
    #[inline(always)]
    pub fn new<const SPLIT: bool>(target: &Target) -> Self {
        let errors = const { Errors::of::<T, SPLIT>() };
        let Target { x, v, h2, dtr } = target;
        let high = if SPLIT { x.map(leading::<T>) } else { *x };
        let norm = (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
        let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
        let close = errors.close * norm;
        Self {
            x: high.map(T::from_f64),
            x_low: [0, 1, 2].map(|k| T::from_f64(x[k] - high[k])),
            v: v.map(T::from_f64),
            dtr: T::from_f64(*dtr),
            h2: *h2,
            errors: [errors.position * norm, errors.ahead * dtr.abs()],
            speed,
            closest2: close * close + errors.closest * errors.closest,
            representable: (T::IS_DOUBLE || norm <= FARTHEST && speed <= FARTHEST)
                && !(h2.is_nan() || dtr.is_nan()),
        }
    }

    /// Beyond which s a source of a tile is no neighbour and not close, and below which it is one for certain: each a
    /// factor of h2 and mass, or 1, and a constant.
    #[inline(always)]
    fn bounds(&self, tile: &Tile<T>, criterion: Criterion) -> [(f64, f64); 2] {
        let error = self.errors[0] + self.errors[1] * (self.speed + tile.fastest);
        let absolute = ABSOLUTE * error * error;
        let h2 = match criterion {
            Criterion::Radius => self.h2,
            Criterion::MassAndRadius => self.h2 * tile.unit,
        };
        [
            (h2 * (1.0 + DOUBT), absolute + self.closest2),
            (h2 * (1.0 - DOUBT), -absolute),
        ]
    }
}

/// Sums over the sources of one leaf that cannot be neighbours.
pub struct Leaf {
    /// Acceleration, positive potential and jerk, in the tile's unit of mass and [`super::super::kernel::MeanRoot`].
    pub sums: Sums,
    /// Whether any slot was left out.
    pub left_out: bool,
}

/// What a pass over a leaf tells of each slot.
pub struct Notes<T> {
    /// Those that were left out. Only the words of the leaf are written.
    pub left_out: Slots,
    /// The smaller of the squares of their distances, now and a step ahead.
    least: PageArray<T>,
    /// What is a neighbour for certain.
    certain: (f64, f64),
}

impl<T: Copy + Default> Default for Notes<T> {
    fn default() -> Self {
        Self {
            left_out: Slots::default(),
            least: PageArray::default(),
            certain: (0.0, 0.0),
        }
    }
}

impl<T: Real> Notes<T> {
    /// Whether the source in a slot that was left out is a neighbour for certain.
    #[inline(always)]
    pub fn is_certain(&self, tile: &Tile<T>, criterion: Criterion, slot: usize) -> bool {
        let (h2, constant) = self.certain;
        let m = match criterion {
            Criterion::Radius => 1.0,
            Criterion::MassAndRadius => tile.m[slot].to_f64(),
        };
        self.least[slot].to_f64() < m * h2 + constant
    }
}

/// One pass over a leaf for the regular force. `range` begins and ends at multiples of 32 vectors.
#[inline(always)]
pub fn regular<S: Simd, const SPLIT: bool>(
    s: S,
    minus_three: S::T,
    tile: &Tile<S::T>,
    target: &Scaled<S::T>,
    criterion: Criterion,
    range: Range<usize>,
    notes: &mut Notes<S::T>,
) -> Leaf {
    let [(h2, constant), certain] = target.bounds(tile, criterion);
    notes.certain = certain;
    let zero = s.splat(S::T::default());
    let spread = Spread::<S, SPLIT> {
        x: splat3(s, &target.x),
        x_low: splat3(s, &target.x_low),
        v: splat3(s, &target.v),
        dtr: s.splat(target.dtr),
        h2: s.splat(S::T::from_f64(h2)),
        // Rounding must not make the bound less.
        constant: s.splat(S::T::from_f64(match criterion {
            Criterion::Radius => h2 + constant,
            Criterion::MassAndRadius => constant,
        })),
        minus_three: s.splat(minus_three),
    };
    let mut pass = Pass::<S, SPLIT> {
        s,
        tile,
        notes,
        acc: [zero; 3],
        pot: zero,
        jerk: [zero; 3],
        any: 0,
    };
    match criterion {
        Criterion::Radius => pass.over::<false>(&spread, range),
        Criterion::MassAndRadius => pass.over::<true>(&spread, range),
    }
    let [x, y, z] = pass.acc;
    let [jx, jy, jz] = pass.jerk;
    Leaf {
        sums: s.sums([x, y, z, pass.pot, jx, jy, jz]),
        left_out: pass.any != 0,
    }
}

/// A target, in every lane.
struct Spread<S: Simd, const SPLIT: bool> {
    x: [S::V; 3],
    x_low: [S::V; 3],
    v: [S::V; 3],
    dtr: S::V,
    h2: S::V,
    constant: S::V,
    minus_three: S::V,
}

impl<S: Simd, const SPLIT: bool> Spread<S, SPLIT> {
    /// x_j - x_i, and its square, for the slots from `at` on.
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
        (r, square(s, &r))
    }
}

#[inline(always)]
fn square<S: Simd>(s: S, r: &[S::V; 3]) -> S::V {
    s.fma(r[2], r[2], s.fma(r[1], r[1], s.mul(r[0], r[0])))
}

/// One target's way through a leaf.
struct Pass<'a, S: Simd, const SPLIT: bool> {
    s: S,
    tile: &'a Tile<S::T>,
    notes: &'a mut Notes<S::T>,
    acc: [S::V; 3],
    pot: S::V,
    jerk: [S::V; 3],
    any: u64,
}

impl<S: Simd, const SPLIT: bool> Pass<'_, S, SPLIT> {
    #[inline(always)]
    fn over<const BY_MASS: bool>(&mut self, target: &Spread<S, SPLIT>, range: Range<usize>) {
        assert!(
            range.end <= PAGE && range.start.is_multiple_of(64) && range.end.is_multiple_of(64)
        );
        for word in range.start / 64..range.end / 64 {
            let mut left_out = 0;
            let mut lane = 0;
            while lane < 64 {
                let at = word * 64 + lane;
                let target = match S::MANY_REGISTERS {
                    true => target,
                    // Sums and terms take all registers; the target comes from memory.
                    false => reread(target),
                };
                // SAFETY: the lanes divide 64, and the words the tile.
                let bits = unsafe { self.add::<BY_MASS>(target, at) };
                left_out |= u64::from(bits) << lane;
                lane += S::LANES;
            }
            self.notes.left_out[word] = left_out;
            self.any |= left_out;
        }
    }

    /// Adds the slots from `at` on, and tells which were left out.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    #[inline(always)]
    unsafe fn add<const BY_MASS: bool>(&mut self, target: &Spread<S, SPLIT>, at: usize) -> u32 {
        let s = self.s;
        // SAFETY: passed on.
        let (r, r2) = unsafe { target.distance(s, self.tile, at) };
        let estimate = s.estimate(r2);
        let mut v = target.v;
        let mut ahead = r;
        for k in 0..3 {
            // SAFETY: passed on.
            v[k] = s.sub(unsafe { s.load(&self.tile.v[k], at) }, v[k]);
            ahead[k] = s.fma(target.dtr, v[k], r[k]);
        }
        let least = s.min(square(s, &ahead), r2);
        // SAFETY: passed on.
        let m = unsafe { s.load(&self.tile.m, at) };
        let bound = match BY_MASS {
            true => s.fma(m, target.h2, target.constant),
            false => target.constant,
        };
        let near = s.le(least, bound);
        // SAFETY: passed on.
        unsafe { s.store(&mut self.notes.least, at, least) };
        let y = s.select(near, s.splat(S::T::default()), s.refine(r2, estimate));
        let m_r = s.mul(m, y);
        let y2 = s.mul(y, y);
        let m_r3 = s.mul(m_r, y2);
        self.pot = s.add(self.pot, m_r);
        let rv = s.fma(r[2], v[2], s.fma(r[1], v[1], s.mul(r[0], v[0])));
        // -3 (r.v) / r^2 is formed first: m / r^5 could overflow.
        let rv = s.mul(s.mul(rv, target.minus_three), y2);
        for k in 0..3 {
            self.acc[k] = s.fma(m_r3, r[k], self.acc[k]);
            self.jerk[k] = s.fma(m_r3, s.fma(rv, r[k], v[k]), self.jerk[k]);
        }
        s.bits(near)
    }
}

/// One pass over a leaf for the potential: the sum over the sources that are not close. `range` is as that of
/// [`regular`].
#[inline(always)]
pub fn potential<S: Simd, const SPLIT: bool>(
    s: S,
    tile: &Tile<S::T>,
    target: &Scaled<S::T>,
    range: Range<usize>,
    left_out: &mut Slots,
) -> Leaf {
    let [(_, closest2), _] = target.bounds(tile, Criterion::Radius);
    let zero = s.splat(S::T::default());
    let spread = Spread::<S, SPLIT> {
        x: splat3(s, &target.x),
        x_low: splat3(s, &target.x_low),
        v: [zero; 3],
        dtr: zero,
        h2: zero,
        constant: s.splat(S::T::from_f64(closest2)),
        minus_three: zero,
    };
    assert!(range.end <= PAGE && range.start.is_multiple_of(64) && range.end.is_multiple_of(64));
    let (mut pot, mut any) = (zero, 0);
    let words = range.start / 64..range.end / 64;
    for (word, left_out) in words.clone().zip(&mut left_out[words]) {
        let mut bits = 0;
        let mut lane = 0;
        while lane < 64 {
            let at = word * 64 + lane;
            // SAFETY: the lanes divide 64, and the words the tile.
            let ((_, r2), m) = unsafe { (spread.distance(s, tile, at), s.load(&tile.m, at)) };
            let near = s.le(r2, spread.constant);
            let y = s.select(near, zero, s.refine(r2, s.estimate(r2)));
            pot = s.fma(m, y, pot);
            bits |= u64::from(s.bits(near)) << lane;
            lane += S::LANES;
        }
        *left_out = bits;
        any |= bits;
    }
    Leaf {
        sums: s.sums([zero, zero, zero, pot, zero, zero, zero]),
        left_out: any != 0,
    }
}
