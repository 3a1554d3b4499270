//! The mean error of the reciprocal root, measured.

use super::simd::{Real, Simd, Work};
use crate::sources::jmemory::PAGE;

/// How many numbers the error of an estimate is measured with.
pub const SAMPLES: usize = 8 * PAGE;

/// The numbers from `first` on: from 1 to 4 in all, where the estimates begin to repeat.
pub fn samples<T: Real>(first: usize) -> [T; PAGE] {
    std::array::from_fn(|l| {
        let at = (first + l) as f64 + 0.5;
        T::from_f64(4.0_f64.powf(at / SAMPLES as f64))
    })
}

/// What approximate reciprocal roots of some numbers, times the exact roots, add up to.
pub fn products<T: Real>(x: &[T], reciprocal_roots: &[T]) -> f64 {
    let product = |(x, y): (&T, &T)| y.to_f64() * x.to_f64().sqrt();
    x.iter().zip(reciprocal_roots).map(product).sum()
}

/// A power of a number that instructions approximate.
pub trait Approximation<S: Simd> {
    /// The approximate power of each element.
    fn of(&self, s: S, x: S::V) -> S::V;

    /// An approximate power `y` of `x` over the exact one.
    fn ratio(x: f64, y: f64) -> f64;
}

/// The mean of an approximation over what it stands for.
#[inline(always)]
pub fn mean_ratio<S: Simd, A: Approximation<S>>(s: S, approximation: &A) -> f64 {
    let mut sum = 0.0;
    for first in (0..SAMPLES).step_by(PAGE) {
        let x = samples::<S::T>(first);
        let mut y = x;
        let mut at = 0;
        while at < PAGE {
            // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
            unsafe { s.store(&mut y, at, approximation.of(s, s.load(&x, at))) };
            at += S::LANES;
        }
        for (x, y) in x.iter().zip(&y) {
            sum += A::ratio(x.to_f64(), y.to_f64());
        }
    }
    sum / SAMPLES as f64
}

/// The mean of [`Simd::refine`]'s result times the root; its constant if it were exact.
///
/// The result of a Newton step from a 12-bit estimate is too small by half an ulp on average. This error does not
/// cancel in sums over r^-3. Processors differ in their estimates, so the mean is measured.
pub struct MeanRoot<S, const FINE: bool>(pub S);

impl<S: Simd, const FINE: bool> Approximation<S> for MeanRoot<S, FINE> {
    #[inline(always)]
    fn of(&self, s: S, x: S::V) -> S::V {
        s.refine::<FINE>(x, s.estimate(x))
    }

    fn ratio(x: f64, y: f64) -> f64 {
        y * x.sqrt()
    }
}

impl<S: Simd, const FINE: bool> Work for MeanRoot<S, FINE> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        // Double precision has no such bias; the measured mean would only add its rounding error.
        const DIGITS: f64 = (1u64 << 40) as f64;
        (mean_ratio(self.0, &self) * DIGITS).round() / DIGITS
    }
}
