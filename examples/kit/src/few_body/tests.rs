//! Tests of the few-body integrator against published and independent figures.

use super::hierarchy::{Kind, is_dissolved, nodes};
use super::*;
use crate::Body;
use crate::vector::{norm, sub};

fn body(mass: f64, x: Vec3, v: Vec3) -> Body {
    Body {
        mass,
        x,
        v,
        ..Body::default()
    }
}

/// A binary of mass 1 with a = 1 at its apocentre.
fn binary(e: f64) -> [Body; 2] {
    let speed = ((1.0 - e) / (1.0 + e)).sqrt();
    [
        body(0.6, [1.0 + e, 0.0, 0.0], [0.0, speed, 0.0]),
        body(0.4, [0.0; 3], [0.0; 3]),
    ]
}

/// Burrau's problem: bodies of masses 3, 4 and 5, at rest at the corners of a triangle with these sides.
fn pythagorean() -> System {
    let at = |mass, x, y| body(mass, [x, y, 0.0], [0.0; 3]);
    System::new(&[at(3.0, 1.0, 3.0), at(4.0, -2.0, -1.0), at(5.0, 1.0, -1.0)])
}

/// The figures at t = 70 of a run with Taylor series of 36 terms in arithmetic of 38 digits (mpmath 1.3), which
/// keeps the energy to 4e-30. The closest passage is at t = 15.8299.
#[test]
fn the_pythagorean_problem_ends_as_it_does_with_30_digits() {
    let mut system = pythagorean();
    let energy = system.energy();
    assert!((energy + 769.0 / 60.0).abs() < 1e-14);
    system.advance(70.0, &mut Alone).unwrap();
    assert!((system.energy() / energy - 1.0).abs() < 1e-12);
    let nodes = nodes(&system.stars());
    assert!(is_dissolved(&nodes, 5.0) && nodes.len() == 2);
    // The lightest escapes.
    assert_eq!(nodes[0].kind, Kind::Single(0));
    let orbit = nodes[1].orbit().unwrap();
    assert!(
        (orbit.axis / 0.552_496_439_163_689 - 1.0).abs() < 1e-5,
        "{orbit:?}"
    );
    assert!(
        (orbit.eccentricity - 0.988_699_076_000_575).abs() < 1e-6,
        "{orbit:?}"
    );
    let escaper: Vec3 = [6.933_463_599_011_887, 20.261_804_305_951_714, 0.0];
    let missed = norm(&sub(&system.bodies()[0].0, &escaper));
    assert!(missed < 1e-3, "{missed:e}");
    let closest = system.closest().unwrap();
    assert_eq!(closest.pair, [1, 2]);
    assert!(
        (closest.distance / 4.138_248e-4 - 1.0).abs() < 1e-5,
        "{closest:?}"
    );
}

#[test]
fn the_pythagorean_problem_comes_back() {
    let mut system = pythagorean();
    let start = system.bodies();
    system.advance(60.0, &mut Alone).unwrap();
    system.advance(-60.0, &mut Alone).unwrap();
    for ((x, v), (x0, v0)) in system.bodies().iter().zip(&start) {
        let missed = norm(&sub(x, x0)) + norm(&sub(v, v0));
        assert!(missed < 1e-6, "{missed:e}");
    }
}

/// At the end REBOUND's IAS15 has e = 0.60194597.
#[test]
fn a_triple_goes_through_kozai_cycles() {
    let mut system = System::new(&kozai::triple()).with_tolerance(1e-11);
    let mut track = Vec::new();
    while (track.len() as f64) * kozai::interval() < 35_000.0 {
        system.advance(kozai::interval(), &mut Alone).unwrap();
        track.push(system.orbit(0, 1).eccentricity);
    }
    kozai::assert_cycles(&track);
    let last = track[track.len() - 1];
    assert!((last - 0.601_945_970).abs() < 1e-4, "{last}");
}

/// Of the integrated orbit of a hard binary; `examples/few_body.rs` does a million.
#[test]
fn a_binary_keeps_its_axis_over_thousands_of_orbits() {
    let third = body(
        0.5,
        [0.0, 800.0, 600.0],
        [(1.5_f64 / 1000.0).sqrt(), 0.0, 0.0],
    );
    for e in [0.1, 0.99] {
        let [a, b] = binary(e);
        for bodies in [&[a, b][..], &[a, b, third]] {
            let mut system = System::new(bodies).without_analytic_steps();
            let before = system.orbit(0, 1);
            let count = 2000.0;
            system.advance(count * before.period(), &mut Alone).unwrap();
            let drift = system.orbit(0, 1).axis / before.axis - 1.0;
            // The third star's tide is 1e-9 at once; 1e-9 in a million orbits is 2e-12 here.
            let tide = if bodies.len() > 2 { 3e-9 } else { 0.0 };
            assert!(
                drift.abs() < 4e-11 + tide,
                "{e} {}: {drift:e}",
                bodies.len()
            );
            assert!(system.steps() as f64 > 50.0 * count);
        }
    }
}

/// Steps of less than a revolution, from before and behind the apocentre (at 0 and 2 pi) and the pericentre (at pi and 3 pi).
#[test]
fn a_pericentre_within_a_step_is_seen() {
    for (from, to, closest) in [
        (0.3, 6.4, 0.5),
        (6.0, 11.0, 0.5),
        (3.4, 9.5, 0.5),
        (2.9, 9.1, 0.5),
        (6.27, 6.29, 1.5),
    ] {
        let mut system = System::new(&binary(0.5));
        system.advance(from, &mut Alone).unwrap();
        system.forget_closest();
        system.advance(to - from, &mut Alone).unwrap();
        let found = system.closest().unwrap().distance;
        assert!((found / closest - 1.0).abs() < 1e-4, "{from}: {found}");
    }
}

/// Two bodies alone in closed form, and integrated.
#[test]
fn the_analytic_step_is_the_integrated_one() {
    for e in [0.0, 0.5, 0.999] {
        let mut analytic = System::new(&binary(e));
        let mut integrated = analytic.clone().without_analytic_steps();
        for dt in [0.3, 3.0, 30.0, -1.0] {
            analytic.advance(dt, &mut Alone).unwrap();
            integrated.advance(dt, &mut Alone).unwrap();
            let ((x, v), (y, w)) = (analytic.relative(0, 1), integrated.relative(0, 1));
            let missed = norm(&sub(&x, &y)) + norm(&sub(&v, &w)) / (1.0 + norm(&v));
            assert!(missed < 1e-10, "{e} {dt}: {missed:e}");
        }
        assert_eq!(analytic.steps(), 0);
        let closest = [&analytic, &integrated].map(|system| system.closest().unwrap().distance);
        let q = 1.0 - e;
        assert!(
            closest.iter().all(|c| (c / q - 1.0).abs() < 1e-9),
            "{closest:?}"
        );
    }
}

/// A star that moves through: the binary perturbed by it along its known path is the binary in a system of three.
#[test]
fn a_perturbed_binary_is_a_part_of_a_triple() {
    /// A mass on its orbit about the centre of mass of two light bodies.
    struct Passing {
        mass: f64,
        x: Vec3,
        v: Vec3,
    }
    impl Perturbation for Passing {
        fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]) {
            let (place, _) = kepler::drift(&self.x, &self.v, self.mass + 2e-9, t);
            for (x, acc) in x.iter().zip(acc) {
                let d = sub(&place, x);
                crate::vector::add_scaled(acc, self.mass / norm(&d).powi(3), &d);
            }
        }
    }
    // Binding by each other exceeds the tide of the mass by far.
    let light = |x: f64, v: f64| body(1e-9, [x, 0.0, 0.0], [0.0, v, 0.0]);
    let speed = (2e-9_f64 / 1e-3).sqrt();
    let pair = [light(0.5e-3, 0.5 * speed), light(-0.5e-3, -0.5 * speed)];
    let (x, v) = ([3.0, 0.5, 0.0], [0.0, 0.3, 0.4]);
    let mut passing = Passing { mass: 1.0, x, v };
    let mut whole = System::new(&[pair[0], pair[1], body(1.0, x, v)]).with_tolerance(1e-11);
    let mut part = System::new(&pair);
    let before = part.orbit(0, 1);
    part.advance(4.0, &mut passing).unwrap();
    whole.advance(4.0, &mut Alone).unwrap();
    let (a, b) = (part.orbit(0, 1), whole.orbit(0, 1));
    assert!(
        (a.axis / before.axis - 1.0).abs() > 1e-4,
        "{a:?} {before:?}"
    );
    // The pair moves the mass by 1e-9, and its centre is not on a Kepler orbit: tides of second order, 1e-7.
    let missed = norm(&sub(&part.relative(0, 1).0, &whole.relative(0, 1).0)) / before.axis;
    assert!(missed < 1e-5, "{missed:e}: {a:?} {b:?}");
}

/// A third star on a wide circle, inclined by 75 degrees, makes the binary's orbit eccentric. If the binary is slowed
/// down four times, it reaches the same eccentricities with less than a third of the steps.
#[test]
fn a_slowed_binary_has_the_secular_motion() {
    struct Circle;
    impl Perturbation for Circle {
        fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]) {
            let angle = t * (2.0_f64 / 8000.0).sqrt();
            let (sine, cosine) = 75.0_f64.to_radians().sin_cos();
            let (y, z) = (20.0 * angle.sin() * cosine, 20.0 * angle.sin() * sine);
            let place = [20.0 * angle.cos(), y, z];
            for (x, acc) in x.iter().zip(acc) {
                let d = sub(&place, x);
                crate::vector::add_scaled(acc, 1.0 / norm(&d).powi(3), &d);
            }
        }
    }
    /// The circle, from a later time on.
    struct From(f64);
    impl Perturbation for From {
        fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]) {
            Circle.accelerations(self.0 + t, x, acc);
        }
    }
    let mut integrated = System::new(&binary(0.1)).with_tolerance(1e-11);
    let mut slowed = integrated.clone();
    let mut greatest: f64 = 0.0;
    for k in 0..40 {
        let mut by = From(300.0 * f64::from(k));
        integrated.advance(300.0, &mut by).unwrap();
        slowed.advance_slowed(300.0, 4.0, &mut by).unwrap();
        let [a, b] = [&integrated, &slowed].map(|system| system.orbit(0, 1));
        assert!(
            (a.eccentricity - b.eccentricity).abs() < 0.02,
            "{k}: {a:?} {b:?}"
        );
        assert!((a.axis / b.axis - 1.0).abs() < 0.01, "{k}: {a:?} {b:?}");
        greatest = greatest.max(a.eccentricity);
    }
    assert!(greatest > 0.5, "{greatest}");
    let steps = slowed.steps() as f64 / integrated.steps() as f64;
    assert!(steps < 0.33, "{steps}");
}

/// An acceleration that all bodies share moves only their centre: a star and very light planets take the steps, and
/// have the orbits, that they have alone.
#[test]
fn a_common_acceleration_changes_no_orbit() {
    struct Common;
    impl Perturbation for Common {
        fn accelerations(&mut self, _: f64, _: &[Vec3], acc: &mut [Vec3]) {
            acc.fill([0.3, 0.5, 0.8]);
        }
    }
    for mass in [3e-6, 1e-9, 1e-15] {
        let planet = |r: f64| body(mass, [r, 0.0, 0.0], [0.0, r.sqrt().recip(), 0.0]);
        let star = body(1.0, [0.0; 3], [0.0; 3]);
        let bodies = [star, planet(1.0), planet(4.0)];
        let (mut alone, mut moved) = (System::new(&bodies), System::new(&bodies));
        alone.advance(100.0, &mut Alone).unwrap();
        moved.advance(100.0, &mut Common).unwrap();
        for planet in [1, 2] {
            let places = [&alone, &moved].map(|system| system.relative(0, planet).0);
            let missed = norm(&sub(&places[1], &places[0]));
            assert!(missed < 1e-9, "{mass:e}: {missed:e}");
        }
        assert!(
            moved.steps() < 2 * alone.steps(),
            "{mass:e}: {}",
            moved.steps()
        );
    }
}

/// The error of the basic step, for three bodies, is that of the second order.
#[test]
fn the_basic_step_is_of_second_order() {
    let system = pythagorean();
    let mut errors = Vec::new();
    let run = |n: usize| {
        let mut system = system.clone();
        system.run_basic_steps(10.0, n);
        system.bodies()
    };
    let exact = run(12_800);
    for n in [200, 400] {
        let far = run(n)
            .iter()
            .zip(&exact)
            .map(|(a, b)| norm(&sub(&a.0, &b.0)))
            .sum::<f64>();
        errors.push(far);
    }
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.1, "{errors:?}");
}

/// Advances in many parts and at once are the same motion, to the digits.
#[test]
fn output_times_do_not_disturb() {
    let (mut whole, mut parts) = (pythagorean(), pythagorean());
    whole.advance(8.0, &mut Alone).unwrap();
    for _ in 0..800 {
        parts.advance(0.01, &mut Alone).unwrap();
    }
    for ((x, _), (y, _)) in whole.bodies().iter().zip(parts.bodies()) {
        assert!(norm(&sub(x, &y)) < 1e-10, "{x:?} {y:?}");
    }
}

/// Two bodies at one place cannot be integrated: an error, not a loop without end.
#[test]
fn bodies_at_one_place_are_an_error() {
    let at = |x: f64| body(1.0, [x, 0.0, 0.0], [0.0; 3]);
    let mut system = System::new(&[at(0.0), at(0.0), at(1.0)]);
    let error = system.advance(1.0, &mut Alone).unwrap_err();
    assert!(error.to_string().contains("one place"), "{error}");
    assert!(System::new(&[at(0.0)]).advance(1.0, &mut Alone).is_ok());
}
