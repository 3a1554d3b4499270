//! The vectors of the kernels: one trait, implemented once for each instruction set and element type.
//!
//! A value of an implementing type is a token. It exists only if the processor has the instructions, so holding one
//! makes their use sound.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod portable;
#[cfg(test)]
mod promises;

use crate::sources::jmemory::PAGE;

/// Element of a vector.
pub trait Real: Copy + Default + Send + Sync + PartialOrd + 'static {
    /// Largest finite value.
    const MAX: Self;
    /// Whether it is double precision, which holds all that clients send.
    const IS_DOUBLE: bool;
    /// The bits of double precision that hold sign, exponent and as many leading digits as an element.
    const LEADING: u64;
    /// A small number, the square of whose reciprocal root is still in range, but not its cube.
    const ROOT_IN_RANGE: f64;
    /// Rounds to the nearest element.
    fn from_f64(x: f64) -> Self;
    /// The same number in double precision.
    fn to_f64(self) -> f64;
}

impl Real for f32 {
    const MAX: Self = Self::MAX;
    const IS_DOUBLE: bool = false;
    const LEADING: u64 = !0 << (f64::MANTISSA_DIGITS - Self::MANTISSA_DIGITS);
    const ROOT_IN_RANGE: f64 = 1e-36;
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    const MAX: Self = Self::MAX;
    const IS_DOUBLE: bool = true;
    const LEADING: u64 = !0;
    const ROOT_IN_RANGE: f64 = 1e-290;
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

/// A piece of work that is compiled once for each instruction set. (Not a closure, which cannot be forced to be
/// inlined into the function that has the instructions.)
pub trait Work {
    /// The result.
    type Output;
    /// The work itself; implementations are `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// Sums over one leaf: acceleration, potential, jerk, and one number for padding.
pub type Sums = [f64; 8];

/// A vector of double precision of the same instruction set.
pub type Wide<S> = <<S as Simd>::Double as Simd>::V;

/// The largest relative error of [`Simd::refine_less`]: of 12 bits, as x86-64 promises for its estimate.
pub const REDUCED_ERROR: f64 = 1.5 / 4096.0;

/// The least number for which [`Simd::series`] is right: 2^-1000.
const SERIES_FROM: f64 = f64::from_bits(23 << (f64::MANTISSA_DIGITS - 1));

/// The least mass, 2^-390, for which [`series_softening`] changes no sum unseen.
pub const SERIES_MASS: f64 = f64::from_bits(633 << (f64::MANTISSA_DIGITS - 1));

/// The eps^2 for loops with [`Simd::SERIES`]: [`SERIES_FROM`] if it is less, so that no r^2 + eps^2 is below that.
///
/// This changes r^2 + eps^2 only where r^2 is below 2^-946. There m / r^3 overflows for every mass of at least
/// [`SERIES_MASS`], with this softening or without, and the leaf is summed again. A series of a negative number would
/// not be NaN, as its root is, so a negative eps^2 becomes NaN.
#[inline(always)]
pub fn series_softening(eps2: f64) -> f64 {
    match eps2 {
        SERIES_FROM.. => eps2,
        0.0.. => SERIES_FROM,
        _ => f64::NAN,
    }
}

/// A vector instruction set for one element type.
pub trait Simd: Copy + Send + Sync + 'static {
    /// Element.
    type T: Real;
    /// Vector of [`Simd::LANES`] elements.
    type V: Copy;
    /// One truth value for each lane.
    type M: Copy;
    /// The same instruction set for double precision.
    type Double: Rows;

    /// Elements of a vector; divides 32.
    const LANES: usize;
    /// Whether there are 32 registers, or 16.
    const MANY_REGISTERS: bool;
    /// Vectors of double precision that hold as many elements: 1 or 2.
    const PARTS: usize;
    /// Whether some roots are better made by [`Simd::series`], while the processor's own root is at work for others.
    const SERIES: bool = false;

    /// Runs `work` compiled for this instruction set.
    fn vectorize<W: Work>(self, work: W) -> W::Output;

    /// The same element in each lane.
    fn splat(self, x: Self::T) -> Self::V;
    /// The elements at `at..at + LANES`.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    unsafe fn load(self, from: &[Self::T; PAGE], at: usize) -> Self::V;
    /// Puts the elements at `at..at + LANES`.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    unsafe fn store(self, to: &mut [Self::T; PAGE], at: usize, a: Self::V);
    /// The token for double precision.
    fn double(self) -> Self::Double;
    /// Rounds double precision: all [`Simd::PARTS`] vectors, low lanes first.
    fn narrow(self, parts: [Wide<Self>; 2]) -> Self::V;
    /// The leading bits of double precision, as many as an element holds.
    fn leading(self, a: Wide<Self>) -> Wide<Self>;
    /// a + b
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a - b
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// a b
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// a b + c, fused where the instruction set can.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// c - a b, fused where the instruction set can.
    fn fnma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// The smaller of a and b in each lane; b where a is NaN.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// The larger of |a| and b in each lane, for b >= 0; b where a is NaN.
    fn greater_magnitude(self, a: Self::V, b: Self::V) -> Self::V;
    /// A rough 1 / sqrt(x).
    fn estimate(self, x: Self::V) -> Self::V;
    /// Changes neither vector. Where it gains speed, the compiler places whatever uses `second` after the computation of `first`.
    #[inline(always)]
    fn order(self, first: &mut Self::V, second: &mut Self::V) {
        let _ = (first, second);
    }
    /// A Newton step for 1 / sqrt(x), which doubles the correct digits of y. (y (3 - x y^2), twice the root, takes one
    /// operation less but is rounded once more.)
    // aarch64 has an instruction for it.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    #[inline(always)]
    fn newton(self, x: Self::V, y: Self::V) -> Self::V {
        let (one, half) = (Self::T::from_f64(1.0), Self::T::from_f64(0.5));
        let e = self.fnma(self.mul(x, y), y, self.splat(one));
        self.fma(self.mul(y, self.splat(half)), e, y)
    }
    /// A constant over sqrt(x), correct to about an ulp, from the [`Simd::estimate`] `y`; see
    /// [`super::mean_root::MeanRoot`]. `FINE` says that positions have more digits than one element holds.
    fn refine<const FINE: bool>(self, x: Self::V, y: Self::V) -> Self::V;
    /// A constant over sqrt(x) for `reduced` precision, whose error is at most [`REDUCED_ERROR`], from the
    /// [`Simd::estimate`] `y`.
    #[inline(always)]
    fn refine_less(self, x: Self::V, y: Self::V) -> Self::V {
        self.refine::<false>(x, y)
    }
    /// 1 / sqrt(x) as a series, correct to an ulp for x from 2^-1000 on, where [`Simd::SERIES`] says so.
    #[inline(always)]
    fn series(self, x: Self::V) -> Self::V {
        self.refine::<true>(x, self.estimate(x))
    }
    /// [`Simd::refine`] for subnormal x, too.
    #[inline(always)]
    fn refine_any(self, x: Self::V, y: Self::V) -> Self::V {
        self.refine::<true>(x, y)
    }

    /// A constant times m / r^3, from r^2 and from `y`, the [`Simd::estimate`] of 1 / r; see [`super::attraction`].
    /// If `m` is `None`, all masses are 1. `FINE` says that positions have more digits than one element holds.
    #[inline(always)]
    fn attraction<const FINE: bool>(self, m: Option<Self::V>, r2: Self::V, y: Self::V) -> Self::V {
        let y = self.refine::<FINE>(r2, y);
        self.mul(self.times(m, y), self.mul(y, y))
    }

    /// [`Simd::attraction`] for `reduced` precision, and a constant times m / r.
    #[inline(always)]
    fn attraction_less(self, m: Option<Self::V>, r2: Self::V, y: Self::V) -> (Self::V, Self::V) {
        let y = self.refine_less(r2, y);
        let m_r = self.times(m, y);
        (self.mul(m_r, self.mul(y, y)), m_r)
    }

    /// 2/3 m / r^3 in one step from an estimate y = (1 + d) / r: (5/3 - r^2 y^2) m y^3. Apart from rounding its
    /// relative error is 7.5 d^2. Some instruction sets, whose estimates are accurate enough, use it as
    /// [`Simd::attraction`].
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn attraction_in_one(self, m: Option<Self::V>, r2: Self::V, y: Self::V) -> Self::V {
        let y2 = self.mul(y, y);
        let step = self.fnma(r2, y2, self.splat(Self::T::from_f64(5.0 / 3.0)));
        self.mul(self.mul(self.times(m, y), y2), step)
    }

    /// m y, or y where m is 1.
    #[inline(always)]
    fn times(self, m: Option<Self::V>, y: Self::V) -> Self::V {
        match m {
            Some(m) => self.mul(m, y),
            None => y,
        }
    }

    /// Lanes that are not zero.
    fn nonzero(self, a: Self::V) -> Self::M;
    /// Lanes whose bit (from the lowest) is set.
    fn mask(self, bits: u32) -> Self::M;
    /// Lanes whose label at `at..at + LANES` differs from `label`.
    ///
    /// # Safety
    ///
    /// `at + LANES <= PAGE`.
    unsafe fn label_differs(self, labels: &[i32; PAGE], at: usize, label: i32) -> Self::M;
    /// The lanes of both masks.
    fn and(self, a: Self::M, b: Self::M) -> Self::M;
    /// `a` in the lanes of the mask, `b` in the others.
    fn select(self, m: Self::M, a: Self::V, b: Self::V) -> Self::V;
    /// Lanes with a <= b.
    fn le(self, a: Self::V, b: Self::V) -> Self::M;
    /// The lanes of a mask, from the lowest bit.
    fn bits(self, m: Self::M) -> u32;
    /// [`Simd::bits`] of the lanes with a <= b.
    #[inline(always)]
    fn le_bits(self, a: Self::V, b: Self::V) -> u32 {
        self.bits(self.le(a, b))
    }

    /// The smallest lane.
    fn least(self, a: Self::V) -> Self::T;
    /// The largest lane.
    fn greatest(self, a: Self::V) -> Self::T;
    /// The sum over the lanes of each vector, in double precision: lane l with lane
    /// l + LANES/2 first (single precision only), then neighbours, pairwise.
    // By reference, because the vectors are in memory where this matters: half a vector is converted while it is loaded.
    fn sums(self, a: [&Self::V; 7]) -> Sums;
    /// The same of four vectors.
    #[inline(always)]
    fn sums_of_four(self, [a, b, c, d]: [&Self::V; 4]) -> [f64; 4] {
        let [a, b, c, d, ..] = self.sums([a, b, c, d, d, d, d]);
        [a, b, c, d]
    }
    /// Whether all sums are finite numbers.
    #[inline(always)]
    fn are_finite(self, sums: &Sums) -> bool {
        // Zero for each finite number. By halves these are operations on vectors, and few of them wait for each other.
        let zeros = sums.map(|sum| sum * 0.0);
        let four: [f64; 4] = std::array::from_fn(|k| zeros[k] + zeros[k + 4]);
        (four[0] + four[2]) + (four[1] + four[3]) == 0.0
    }
}

/// Vectors of double precision, and what is in memory row by row.
pub trait Rows: Simd<T = f64> {
    /// Columns of as many rows as there are lanes, a row in each lane.
    fn columns(self, rows: &[[f64; 8]]) -> [Self::V; 8];

    /// Evaluates four cubics and their derivatives: c0 + s (c1 + s (c2 + s c3)) and c1 + 2 s (c2 + 1.5 s c3). Each
    /// cubic is a column of the coefficients. The fourth column is constant: its value is c0, and its derivative is
    /// undefined.
    #[inline(always)]
    fn cubics(self, c: &[[f64; 4]; 4], s: f64, to: &mut [f64; 8]) {
        for k in 0..4 {
            let c3 = s * c[3][k];
            to[k] = c[0][k] + s * (c[1][k] + s * (c[2][k] + c3));
            to[4 + k] = c[1][k] + 2.0 * s * (c[2][k] + 1.5 * c3);
        }
        to[3] = c[0][3];
    }

    /// [`Rows::cubics`] at the time t, for the coefficients of each lane. The last number of the second row is the time at which the cubic begins: s is the time since then.
    #[inline(always)]
    fn cubics_at<'a>(self, c: impl Fn(usize) -> &'a [[f64; 4]; 4], t: f64) -> [Self::V; 8] {
        let mut rows = [[0.0; 8]; 8];
        for (lane, row) in rows[..Self::LANES].iter_mut().enumerate() {
            let c = c(lane);
            self.cubics(c, t - c[1][3], row);
        }
        self.columns(&rows[..Self::LANES])
    }

    /// 1 / sqrt(x), as [`Simd::refine`] makes it or to an ulp in fewer steps.
    #[inline(always)]
    fn root(self, x: Self::V) -> Self::V {
        self.refine_any(x, self.estimate(x))
    }

    /// Has the processor fetch what is at an address, which need not be one.
    #[inline(always)]
    fn prefetch<T>(self, _: *const T) {}
}

/// [`Simd::leading`] of one number.
#[inline(always)]
pub fn leading<T: Real>(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & T::LEADING)
}

/// Lanes of double precision added pairwise: the order that [`Simd::sums`] promises.
#[inline(always)]
pub fn pairwise<const N: usize>(mut lanes: [f64; N]) -> f64 {
    let mut n = N;
    while n > 1 {
        n /= 2;
        for k in 0..n {
            lanes[k] = lanes[2 * k] + lanes[2 * k + 1];
        }
    }
    lanes[0]
}
