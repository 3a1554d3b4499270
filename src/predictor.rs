//! The predictor polynomial of GRAPE-6, in double precision.
//!
//! With s = t_i - t_j:
//!
//! ```text
//! x_p = x + v s + (a/2) s^2 + (j/6) s^3 + 0.75 (k/18) s^4
//! v_p = v + 2 (a/2) s + 3 (j/6) s^2 + 3 (k/18) s^3
//! ```
//!
//! There is one predictor in kirin: these multiplications and additions in this
//! order, none of them fused, in every backend and instruction set, so that all
//! of them see the same bits. s = 0 returns the stored values untouched, also
//! where higher derivatives are not finite.

/// One coordinate of the predicted position.
#[inline(always)]
pub fn position(s: f64, x: f64, v: f64, aby2: f64, a1by6: f64, a2by18: f64) -> f64 {
    let moved = x + s * (v + s * (aby2 + s * (a1by6 + s * (0.75 * a2by18))));
    if s == 0.0 { x } else { moved }
}

/// One coordinate of the predicted velocity.
#[inline(always)]
pub fn velocity(s: f64, v: f64, aby2: f64, a1by6: f64, a2by18: f64) -> f64 {
    let moved = v + s * (2.0 * aby2 + s * (3.0 * a1by6 + s * (3.0 * a2by18)));
    if s == 0.0 { v } else { moved }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn follows_the_taylor_series() {
        let (x, v, a, j, k) = (1.0, -0.5, 0.25, 2.0, -3.0);
        let s: f64 = 0.125;
        let xp = x + v * s + a * s.powi(2) / 2.0 + j * s.powi(3) / 6.0 + k * s.powi(4) / 24.0;
        let vp = v + a * s + j * s.powi(2) / 2.0 + k * s.powi(3) / 6.0;
        assert_relative_eq!(
            position(s, x, v, a / 2.0, j / 6.0, k / 18.0),
            xp,
            max_relative = 1e-15
        );
        assert_relative_eq!(
            velocity(s, v, a / 2.0, j / 6.0, k / 18.0),
            vp,
            max_relative = 1e-15
        );
    }

    #[test]
    fn zero_step_returns_the_stored_bits_whatever_the_derivatives() {
        for s in [0.0, -0.0] {
            let x = position(s, -0.0, f64::INFINITY, f64::NAN, f64::INFINITY, f64::NAN);
            assert_eq!(x.to_bits(), (-0.0_f64).to_bits());
            let v = velocity(s, 1.5, f64::NAN, f64::INFINITY, f64::NAN);
            assert_eq!(v.to_bits(), 1.5_f64.to_bits());
        }
    }
}
