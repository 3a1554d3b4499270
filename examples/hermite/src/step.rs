//! The length of a particle's step.
//!
//! Steps are powers of two, and the time of a particle is always a multiple of its step. So all particles with the
//! same step are due together.

use crate::scheme::{Higher, Point};
use kirin_kit::vector::norm;

/// Aarseth's criterion: `sqrt(eta (|a||a2| + |j|^2) / (|j||a3| + |a2|^2))`, all at the end of the
/// last step.
///
/// Infinite where the force does not change.
pub fn aarseth(eta: f64, p: &Point, higher: &Higher) -> f64 {
    let (a, j) = (norm(&p.acc), norm(&p.jerk));
    let (snap, crackle) = (norm(&higher.snap), norm(&higher.crackle));
    let (above, below) = (a * snap + j * j, j * crackle + snap * snap);
    if below > 0.0 {
        (eta * above / below).sqrt()
    } else {
        f64::INFINITY
    }
}

/// A step without the higher derivatives: `eta_start |a| / |j|`.
///
/// Infinite where the force does not change.
pub fn first(eta_start: f64, p: &Point) -> f64 {
    let j = norm(&p.jerk);
    if j > 0.0 {
        eta_start * norm(&p.acc) / j
    } else {
        f64::INFINITY
    }
}

/// Whether `value` is a power of two.
pub fn is_power_of_two(value: f64) -> bool {
    value > 0.0 && value.is_normal() && value == power_of_two_below(value)
}

/// The largest power of two that is not above `value`, which is positive, finite and normal.
pub fn power_of_two_below(value: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    f64::from_bits(value.to_bits() & EXPONENT)
}

/// Whether `t` is a multiple of `dt`, a power of two. Exact.
pub fn is_multiple(t: f64, dt: f64) -> bool {
    (t / dt).fract() == 0.0
}

/// The largest power of two that `t` is a multiple of, but at most `largest`, which is a power of two.
pub fn largest_at(t: f64, largest: f64) -> f64 {
    let mut dt = largest;
    while !is_multiple(t, dt) {
        dt *= 0.5;
    }
    dt
}

/// The step that follows one of length `dt` that ended at `t`, where the criterion allows `wanted`.
///
/// Halved as often as is needed; doubled once at most, and only where `t` is
/// a multiple of the doubled step.
pub fn next(t: f64, dt: f64, wanted: f64, largest: f64) -> f64 {
    let doubled = 2.0 * dt;
    if wanted >= doubled && doubled <= largest && is_multiple(t, doubled) {
        return doubled;
    }
    let step = dt.min(largest);
    if wanted < step {
        power_of_two_below(wanted.max(f64::MIN_POSITIVE))
    } else {
        step
    }
}

/// The smallest step that a time of `t` can hold: the distance to the next larger number.
pub fn resolution(t: f64) -> f64 {
    t.abs().next_up() - t.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_double_only_where_time_allows() {
        assert_eq!(next(0.25, 0.125, 1.0, 1.0), 0.25);
        assert_eq!(next(0.375, 0.125, 1.0, 1.0), 0.125);
        assert_eq!(next(0.25, 0.125, 1.0, 0.125), 0.125);
        assert_eq!(next(0.25, 0.125, 0.2499, 1.0), 0.125);
    }

    #[test]
    fn a_step_that_begins_at_any_time_divides_it() {
        assert_eq!(largest_at(0.0, 0.125), 0.125);
        assert_eq!(largest_at(-3.25, 0.125), 0.125);
        assert_eq!(largest_at(3.25 + 1.0 / 64.0, 0.125), 1.0 / 64.0);
        let t = 1.5 + f64::EPSILON;
        assert_eq!(largest_at(t, 1.0), f64::EPSILON);
    }

    #[test]
    fn steps_are_halved_as_often_as_needed() {
        assert_eq!(next(0.25, 0.125, 0.125, 1.0), 0.125);
        assert_eq!(next(0.25, 0.125, 0.0313, 1.0), 0.03125);
        assert_eq!(next(0.25, 0.125, 2.0_f64.powi(-60), 1.0), 2.0_f64.powi(-60));
        assert!(next(0.25, 0.125, 0.0, 1.0) < 1e-300);
        assert!(next(0.25, 0.125, f64::NAN, 1.0) == 0.125);
    }

    #[test]
    fn powers_of_two() {
        assert_eq!(power_of_two_below(0.3), 0.25);
        assert_eq!(power_of_two_below(0.25), 0.25);
        assert!(is_power_of_two(1.0 / 1024.0) && is_power_of_two(4.0));
        assert!(!is_power_of_two(0.3) && !is_power_of_two(0.0) && !is_power_of_two(-1.0));
        assert!(!is_power_of_two(f64::INFINITY) && !is_power_of_two(f64::NAN));
    }

    #[test]
    fn a_time_holds_steps_of_its_last_digit() {
        assert_eq!(resolution(1.0), f64::EPSILON);
        assert_eq!(resolution(-1.5), f64::EPSILON);
        assert_eq!(resolution(0.75), f64::EPSILON / 2.0);
        let t = 1000.5;
        assert!(t + resolution(t) > t && t + resolution(t) / 2.0 == t);
    }

    #[test]
    fn criteria_by_hand() {
        let p = Point {
            acc: [3.0, 4.0, 0.0],
            jerk: [0.0, 0.0, 2.0],
            ..Point::default()
        };
        let higher = Higher {
            snap: [0.0, 6.0, 8.0],
            crackle: [1.0, 0.0, 0.0],
        };
        assert_eq!(aarseth(0.04, &p, &higher), (0.04_f64 * 54.0 / 102.0).sqrt());
        assert_eq!(first(0.01, &p), 0.025);
        assert_eq!(aarseth(0.01, &p, &Higher::default()), f64::INFINITY);
        assert_eq!(first(0.01, &Point::default()), f64::INFINITY);
    }
}
