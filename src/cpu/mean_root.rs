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

/// The mean of [`Simd::refine`]'s result times the root; 1 if it were exact.
///
/// A Newton step from a 12-bit estimate is too small by half an ulp on average, an error that does not
/// cancel in sums over r^-3. Processors differ in their estimates, so the mean is measured.
pub struct MeanRoot<S>(pub S);

impl<S: Simd> Work for MeanRoot<S> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let s = self.0;
        let mut sum = 0.0;
        for first in (0..SAMPLES).step_by(PAGE) {
            let x = samples::<S::T>(first);
            let mut y = x;
            let mut at = 0;
            while at < PAGE {
                // SAFETY: `at` is a multiple of the lanes below PAGE, which they divide.
                unsafe {
                    let x = s.load(&x, at);
                    s.store(&mut y, at, s.refine(x, s.estimate(x)));
                }
                at += S::LANES;
            }
            sum += products(&x, &y);
        }
        // Double precision has no such bias; the measured mean would only add its rounding error.
        const DIGITS: f64 = (1u64 << 40) as f64;
        (sum / SAMPLES as f64 * DIGITS).round() / DIGITS
    }
}
