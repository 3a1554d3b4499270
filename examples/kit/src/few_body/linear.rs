//! A binary in a tide that is linear in the place, over many revolutions in one step of its centre.
//!
//! The tide is known at both ends of the step, with its time derivative; in between it is a cubic in time. The binary moves in
//! closed form from kick to kick, through equal parts of its eccentric anomaly. So the sum of the kicks over a revolution
//! is the trapezoidal rule for a periodic function, which is accurate with few of them, and the motion is the same backwards.
//!
//! Only [`advance`] is expensive in proportion to the revolutions: a kick takes a tenth of a microsecond, where a force of all stars
//! takes many.

use super::kepler::drift;
use super::pair::kick;
use super::secular::Tensor;
use crate::vector::{Vec3, dot, norm};

/// Kicks in a revolution.
const KICKS: f64 = 24.0;

/// A step of more than this part of the time that is left is as long as this time.
const LAST: f64 = 0.9;

/// Relative position and velocity of two bodies of together this `mass` after the time `dt`, in a tide that becomes `end` from
/// `begin`. The two are bound at first.
pub(super) fn advance(
    (x, v): (Vec3, Vec3),
    mass: f64,
    [begin, end]: [&Tensor; 2],
    dt: f64,
) -> (Vec3, Vec3) {
    let (mut x, mut v) = (x, v);
    let angle = dt.signum() * angle(&x, &v, mass, dt);
    let (sine, cosine) = angle.sin_cos();
    let course = Course::of([begin, end], dt);
    let mut t = 0.0;
    let mut tide = begin.pull(&x, &v);
    while t != dt {
        // Time to the next kick: the difference of Kepler's equation between two eccentric anomalies.
        let r = norm(&x);
        let axis = 1.0 / (2.0 / r - dot(&v, &v) / mass);
        let unit = (axis / mass).sqrt();
        let along = dot(&x, &v) * unit / axis;
        let step = axis * unit * (angle - (1.0 - r / axis) * sine + along * (1.0 - cosine));
        let rest = dt - t;
        // It is no number where the two are not bound any more.
        let is_whole = t + step != t && step.abs() < LAST * rest.abs();
        let h = if is_whole { step } else { rest };
        kick(&mut x, &mut v, &tide, h, -1.0);
        (x, v) = drift(&x, &v, mass, h);
        t = if is_whole { t + h } else { dt };
        tide = course.at(t).pull(&x, &v);
        kick(&mut x, &mut v, &tide, h, 1.0);
    }
    (x, v)
}

/// The part of a revolution from kick to kick, in eccentric anomaly: the time `dt` is a whole number of parts on the orbit without tide.
fn angle(x: &Vec3, v: &Vec3, mass: f64, dt: f64) -> f64 {
    let axis = 1.0 / (2.0 / norm(x) - dot(v, v) / mass);
    let unit = (axis / mass).sqrt();
    // e sin E.
    let along = |(x, v): (&Vec3, &Vec3)| dot(x, v) * unit / axis;
    let (later_x, later_v) = drift(x, v, mass, dt);
    // The difference of Kepler's equation between the two times.
    let whole = dt / (axis * unit) + along((&later_x, &later_v)) - along((x, v));
    let parts = (whole.abs() * KICKS / std::f64::consts::TAU).ceil();
    whole.abs() / parts.max(1.0)
}

/// A linear tide over a step: a cubic in time with the values and rates at both ends. Each number has its coefficients of powers of
/// the time.
#[derive(Clone, Debug)]
pub(super) struct Course([[[f64; 4]; 3]; 3]);

impl Course {
    /// From `begin` to `end` in the time `dt`.
    pub(super) fn of([begin, end]: [&Tensor; 2], dt: f64) -> Self {
        use std::array::from_fn;
        Self(from_fn(|row| {
            from_fn(|c| {
                let [value, rate] = [begin.tide[row][c], begin.rate[row][c]];
                let mean = (end.tide[row][c] - value) / dt;
                let [from, to] = [rate - mean, end.rate[row][c] - mean];
                let (second, third) = (-(2.0 * from + to) / dt, (from + to) / (dt * dt));
                [value, rate, second, third]
            })
        }))
    }

    /// The tide at the time `t` of the step.
    #[inline]
    pub(super) fn at(&self, t: f64) -> Tensor {
        let mut new = Tensor::default();
        for (row, own) in self.0.iter().enumerate() {
            for (c, [value, rate, second, third]) in own.iter().enumerate() {
                new.tide[row][c] = value + t * (rate + t * (second + t * third));
                new.rate[row][c] = rate + t * (2.0 * second + 3.0 * t * third);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use crate::few_body::kepler::Orbit;
    use crate::few_body::pair::tests::Passage;
    use crate::few_body::pair::{Pair, Pull};
    use crate::few_body::{Perturbation, System};
    use crate::vector::sub;

    /// The linear part of the tide of a star of mass 0.5 on a straight line.
    struct Linear;

    impl Linear {
        fn star(t: f64) -> (Vec3, Vec3) {
            ([-30.0 + 0.2 * t, 30.0, 5.0], [0.2, 0.0, 0.0])
        }

        fn pull(t: f64, x: &Vec3, v: &Vec3) -> Pull {
            let (s, w) = Self::star(t);
            let r2 = dot(&s, &s);
            let factor = 0.5 / (r2 * r2.sqrt());
            let (sx, sw) = (dot(&s, x) / r2, dot(&s, &w) / r2);
            let acc = |k: usize| factor * (3.0 * sx * s[k] - x[k]);
            let change = (dot(&w, x) + dot(&s, v)) / r2;
            let jerk = |k: usize| {
                let of_sum = 3.0 * (change * s[k] + sx * w[k]) - v[k];
                factor * (of_sum - 15.0 * sx * sw * s[k] + 3.0 * sw * x[k])
            };
            (std::array::from_fn(acc), std::array::from_fn(jerk))
        }
    }

    impl Perturbation for Linear {
        fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]) {
            for (x, acc) in x.iter().zip(acc) {
                *acc = Self::pull(t, x, &[0.0; 3]).0;
            }
        }
    }

    fn binary(e: f64, masses: [f64; 2]) -> [Body; 2] {
        let speed = ((1.0 - e) / (1.0 + e)).sqrt();
        let body = |index, mass, x, v| Body { index, mass, x, v };
        [
            body(7, masses[0], [0.0; 3], [0.0; 3]),
            body(
                9,
                masses[1],
                [1.0 + e, 0.0, 0.0],
                [0.0, 0.8 * speed, 0.6 * speed],
            ),
        ]
    }

    /// Steps of several revolutions lead where the few-body integrator does.
    #[test]
    fn a_linear_tide_is_followed_over_many_revolutions() {
        for e in [0.1, 0.5] {
            let bodies = binary(e, [0.6, 0.4]);
            let mut system = System::new(&bodies).with_tolerance(1e-14);
            system.advance(300.0, &mut Linear).unwrap();
            let (x, v) = system.relative(0, 1);
            let (_, alone) = Pair::of(&bodies[0], &bodies[1]);
            let (alone, _) = alone.predict(300.0);
            // Steps for more accuracy have a lower limit.
            let (_, mut pair) = Pair::of(&bodies[0], &bodies[1]);
            let pull = |(x, v): &(Vec3, Vec3)| Linear::pull(0.0, x, v);
            pair.advance(0.0, &pair.places(0.0).iter().map(pull).collect::<Vec<_>>());
            pair.plan(f64::INFINITY, 0.0, 0.01);
            assert!(pair.linear.is_some());
            pair.plan(f64::INFINITY, 0.0, 0.001);
            assert!(pair.linear.is_none());
            let errors = [3, 6, 12, 24].map(|n| {
                let (_, mut pair) = Pair::of(&bodies[0], &bodies[1]);
                let dt = 300.0 / f64::from(n);
                for k in 0..=n {
                    let (t, dt) = (dt * f64::from(k), if k == 0 { 0.0 } else { dt });
                    let places = pair.places(dt);
                    let pull = |(x, v): &(Vec3, Vec3)| Linear::pull(t, x, v);
                    pair.advance(dt, &places.iter().map(pull).collect::<Vec<_>>());
                    assert!(pair.linear.is_some());
                }
                norm(&sub(&pair.x, &x)) + norm(&sub(&pair.v, &v))
            });
            let moved = norm(&sub(&alone, &x));
            assert!(errors[3] < 1e-2 * moved, "{e}: {errors:?}, {moved}");
            // With shorter steps what the kicks lack is left.
            let longest = if e < 0.2 { 8.0 } else { 2.0 };
            assert!(errors[0] > longest * errors[1], "{e}: {errors:?}");
        }
    }

    /// A star comes from far, passes slowly and goes. The tide acts in the mean, then by its linear part, then step by step along the
    /// orbit, and back. The orbit ends as by the few-body integrator. (Where the two masses differ, the linear part lacks more.)
    #[test]
    fn a_tide_becomes_linear_and_more_and_less_again() {
        let star = || Passage {
            x: [-100.0, 13.0, 3.0],
            v: [0.1, 0.0, 0.0],
        };
        let bodies = binary(0.3, [0.5; 2]);
        let mut system = System::new(&bodies).with_tolerance(1e-14);
        system.advance(2000.0, &mut star()).unwrap();
        let expected = system.orbit(0, 1);
        let (_, mut pair) = Pair::of(&bodies[0], &bodies[1]);
        let before = pair.orbit();
        let (mut t, mut dt) = (0.0, 0.0);
        let mut modes = Vec::new();
        let mut steps = 0;
        loop {
            t += dt;
            let places = pair.places(dt);
            let pull = |(x, v): &(Vec3, Vec3)| star().pull(t, x, v);
            pair.advance(dt, &places.iter().map(pull).collect::<Vec<_>>());
            pair.plan(f64::INFINITY, 1.0, 0.01);
            let mode = (pair.is_perturbed, pair.linear.is_some());
            if modes.last() != Some(&mode) {
                modes.push(mode);
            }
            steps += usize::from(mode == (true, true));
            if t == 2000.0 {
                break;
            }
            dt = pair.longest_step(0.01).min(8.0).min(2000.0 - t);
        }
        let [mean, linear, kicked] = [(false, false), (true, true), (true, false)];
        assert_eq!(modes, [mean, linear, kicked, linear, mean]);
        let found = pair.osculating().orbit();
        let turned = |a: &Orbit| {
            norm(&sub(&a.momentum, &expected.momentum))
                / norm(&sub(&before.momentum, &expected.momentum))
        };
        assert!(steps < 300, "{steps}");
        assert!((found.axis / expected.axis - 1.0).abs() < 1e-6);
        assert!((found.eccentricity - expected.eccentricity).abs() < 1e-5);
        assert!(turned(&found) < 1e-3);
    }
}
