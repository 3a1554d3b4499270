//! The fourth-order Hermite scheme for one particle: prediction and correction.

use kirin_kit::vector::Vec3;

/// Position, velocity, and the force at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Position.
    pub x: Vec3,
    /// Velocity.
    pub v: Vec3,
    /// Acceleration.
    pub acc: Vec3,
    /// Its time derivative.
    pub jerk: Vec3,
}

/// Second and third derivative of the acceleration at one end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Higher {
    /// Second derivative: snap.
    pub snap: Vec3,
    /// Third derivative: crackle, constant over the step.
    pub crackle: Vec3,
}

/// Second and third derivative of the acceleration at the start of a step, from the forces at both ends. The step
/// has the length `dt` and begins at `p`; `acc` and `jerk` are the force at its end. The acceleration is
/// interpolated by a cubic in time, so the errors are of order dt^2 and dt.
pub fn at_start(p: &Point, dt: f64, acc: &Vec3, jerk: &Vec3) -> Higher {
    let mut higher = Higher::default();
    for k in 0..3 {
        let (snap, crackle) = differences(p, dt, acc, jerk, k);
        higher.snap[k] = snap / (dt * dt);
        higher.crackle[k] = crackle / (dt * dt * dt);
    }
    higher
}

/// On the axis `k` the second and third derivative at the start of the step, times dt^2 and dt^3.
fn differences(p: &Point, dt: f64, acc: &Vec3, jerk: &Vec3, k: usize) -> (f64, f64) {
    let difference = p.acc[k] - acc[k];
    let snap = -6.0 * difference - dt * (4.0 * p.jerk[k] + 2.0 * jerk[k]);
    let crackle = 12.0 * difference + 6.0 * dt * (p.jerk[k] + jerk[k]);
    (snap, crackle)
}

/// Position and velocity after `dt`, to the order of the jerk: the same
/// polynomial by which the library predicts the j-particles.
pub fn predict(p: &Point, dt: f64) -> (Vec3, Vec3) {
    let x = std::array::from_fn(|k| {
        p.x[k] + dt * (p.v[k] + dt * (p.acc[k] / 2.0 + dt * (p.jerk[k] / 6.0)))
    });
    let v = std::array::from_fn(|k| p.v[k] + dt * (p.acc[k] + dt * (p.jerk[k] / 2.0)));
    (x, v)
}

/// The corrected point at the end of a step of length `dt` that begins at `p`. `acc` and `jerk` are the force at
/// the predicted point.
///
/// A cubic in time through both accelerations and jerks gives the higher derivatives, and with them the terms that
/// the prediction lacks.
pub fn correct(p: &Point, dt: f64, acc: Vec3, jerk: Vec3) -> (Point, Higher) {
    let (mut x, mut v) = predict(p, dt);
    let mut higher = Higher::default();
    for k in 0..3 {
        let (snap, crackle) = differences(p, dt, &acc, &jerk, k);
        x[k] += dt * dt * (snap / 24.0 + crackle / 120.0);
        v[k] += dt * (snap / 6.0 + crackle / 24.0);
        higher.snap[k] = (snap + crackle) / (dt * dt);
        higher.crackle[k] = crackle / (dt * dt * dt);
    }
    (Point { x, v, acc, jerk }, higher)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x(t) = 1 + 2t + 3t^2 + 4t^3 + 5t^4 + 6t^5 on every axis: the scheme's own order.
    fn quintic(t: f64) -> Point {
        let x = 1.0 + t * (2.0 + t * (3.0 + t * (4.0 + t * (5.0 + t * 6.0))));
        let v = 2.0 + t * (6.0 + t * (12.0 + t * (20.0 + t * 30.0)));
        let acc = 6.0 + t * (24.0 + t * (60.0 + t * 120.0));
        let jerk = 24.0 + t * (120.0 + t * 360.0);
        Point {
            x: [x; 3],
            v: [v; 3],
            acc: [acc; 3],
            jerk: [jerk; 3],
        }
    }

    #[test]
    fn a_quintic_is_followed_exactly() {
        let (start, end) = (quintic(0.25), quintic(0.75));
        let (corrected, higher) = correct(&start, 0.5, end.acc, end.jerk);
        for k in 0..3 {
            assert!((corrected.x[k] / end.x[k] - 1.0).abs() < 1e-14);
            assert!((corrected.v[k] / end.v[k] - 1.0).abs() < 1e-14);
            assert!((higher.snap[k] / (120.0 + 720.0 * 0.75) - 1.0).abs() < 1e-12);
            assert!((higher.crackle[k] / 720.0 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cubic_force_has_its_derivatives_at_the_start() {
        let (start, end) = (quintic(0.25), quintic(0.75));
        let higher = at_start(&start, 0.5, &end.acc, &end.jerk);
        for k in 0..3 {
            assert!((higher.snap[k] / (120.0 + 720.0 * 0.25) - 1.0).abs() < 1e-12);
            assert!((higher.crackle[k] / 720.0 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_prediction_lacks_the_fourth_power() {
        let (x, v) = predict(&quintic(0.0), 0.5);
        assert_eq!(x, [1.0 + 1.0 + 0.75 + 0.5; 3]);
        assert_eq!(v, [2.0 + 3.0 + 3.0; 3]);
    }

    #[test]
    fn no_time_is_no_change() {
        let p = quintic(0.3);
        assert_eq!(predict(&p, 0.0), (p.x, p.v));
    }
}
