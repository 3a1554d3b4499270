//! The predictor polynomial of GRAPE-6, in double precision.
//!
//! With s = t_i - t_j:
//!
//! ```text
//! x_p = x + v s + (a/2) s^2 + (j/6) s^3 + 0.75 (k/18) s^4
//! v_p = v + 2 (a/2) s + 3 (j/6) s^2 + 3 (k/18) s^3
//!     = v + 2s ((a/2) + 1.5s ((j/6) + s (k/18)))
//! ```
//!
//! Every backend and instruction set does these multiplications and additions in this order, none of them fused, so
//! that all get the same numbers. If s = 0, the stored values are returned unchanged, even if higher derivatives are
//! not finite.

/// Double-precision arithmetic on one number or on a vector of them.
pub trait Arithmetic: Copy {
    /// A number, or several.
    type N: Copy;
    /// A constant.
    fn constant(self, x: f64) -> Self::N;
    /// a + b, rounded.
    fn sum(self, a: Self::N, b: Self::N) -> Self::N;
    /// a b, rounded.
    fn product(self, a: Self::N, b: Self::N) -> Self::N;
    /// `stored` where s is zero, else `moved`.
    fn stored_at_zero(self, s: Self::N, stored: Self::N, moved: Self::N) -> Self::N;
}

/// One number.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

impl Arithmetic for Scalar {
    type N = f64;
    #[inline(always)]
    fn constant(self, x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn sum(self, a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn product(self, a: f64, b: f64) -> f64 {
        a * b
    }
    #[inline(always)]
    fn stored_at_zero(self, s: f64, stored: f64, moved: f64) -> f64 {
        if s == 0.0 { stored } else { moved }
    }
}

/// One coordinate of a particle: position, velocity and the higher derivatives as
/// the interface has them. Without `a2by18` that derivative is zero.
#[derive(Clone, Copy, Debug)]
pub struct Coordinate<N> {
    /// Position.
    pub x: N,
    /// Velocity.
    pub v: N,
    /// Half the acceleration.
    pub aby2: N,
    /// A sixth of the jerk.
    pub a1by6: N,
    /// An eighteenth of the snap.
    pub a2by18: Option<N>,
}

impl<N: Copy> Coordinate<N> {
    /// The same with each entry replaced.
    #[inline(always)]
    pub fn map<M>(self, f: impl Fn(N) -> M) -> Coordinate<M> {
        Coordinate {
            x: f(self.x),
            v: f(self.v),
            aby2: f(self.aby2),
            a1by6: f(self.a1by6),
            a2by18: self.a2by18.map(&f),
        }
    }

    /// The predicted position.
    #[inline(always)]
    pub fn position<A: Arithmetic<N = N>>(&self, a: A, s: N) -> N {
        let mut p = self.a1by6;
        if let Some(a2by18) = self.a2by18 {
            p = a.sum(p, a.product(a.product(a.constant(0.75), s), a2by18));
        }
        p = a.sum(self.aby2, a.product(s, p));
        p = a.sum(self.v, a.product(s, p));
        p = a.sum(self.x, a.product(s, p));
        a.stored_at_zero(s, self.x, p)
    }

    /// The predicted velocity.
    #[inline(always)]
    pub fn velocity<A: Arithmetic<N = N>>(&self, a: A, s: N) -> N {
        // The multiples of s are the same for all coordinates: the compiler computes them once.
        let mut p = self.a1by6;
        if let Some(a2by18) = self.a2by18 {
            p = a.sum(p, a.product(s, a2by18));
        }
        p = a.sum(self.aby2, a.product(a.product(a.constant(1.5), s), p));
        p = a.sum(self.v, a.product(a.product(a.constant(2.0), s), p));
        a.stored_at_zero(s, self.v, p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn follows_the_taylor_series() {
        let (x, v, a, j, k) = (1.0, -0.5, 0.25, 2.0, -3.0);
        let s: f64 = 0.125;
        let c = Coordinate {
            x,
            v,
            aby2: a / 2.0,
            a1by6: j / 6.0,
            a2by18: Some(k / 18.0),
        };
        let xp = x + v * s + a * s.powi(2) / 2.0 + j * s.powi(3) / 6.0 + k * s.powi(4) / 24.0;
        let vp = v + a * s + j * s.powi(2) / 2.0 + k * s.powi(3) / 6.0;
        assert_relative_eq!(c.position(Scalar, s), xp, max_relative = 1e-15);
        assert_relative_eq!(c.velocity(Scalar, s), vp, max_relative = 1e-15);
        let without = Coordinate { a2by18: None, ..c };
        let zero = Coordinate {
            a2by18: Some(0.0),
            ..c
        };
        assert_eq!(without.position(Scalar, s), zero.position(Scalar, s));
        assert_eq!(without.velocity(Scalar, s), zero.velocity(Scalar, s));
    }

    #[test]
    fn zero_step_returns_the_stored_bits_whatever_the_derivatives() {
        let c = Coordinate {
            x: -0.0,
            v: 1.5,
            aby2: f64::NAN,
            a1by6: f64::INFINITY,
            a2by18: Some(f64::NAN),
        };
        for s in [0.0, -0.0] {
            assert_eq!(c.position(Scalar, s).to_bits(), (-0.0_f64).to_bits());
            assert_eq!(c.velocity(Scalar, s).to_bits(), 1.5_f64.to_bits());
        }
    }
}
