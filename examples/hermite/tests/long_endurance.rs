//! A hard binary over a million orbits with `--regularize`, and over 1e5 orbits with a third star about it: minutes.

mod common;

use std::f64::consts::TAU;

use common::grape;
use common::systems::{binary, reach, settings};
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use kirin_kit::Body;
use kirin_kit::few_body::kepler::Orbit;
use kirin_kit::few_body::subsystem::Subsystem;
use kirin_kit::few_body::{Alone, System};
use kirin_kit::vector::sub;

/// Semi-major axis of the binary, and the masses of its stars.
const AXIS: f64 = 1e-3;
const MASSES: [f64; 2] = [0.42, 0.28];

/// Looks at the axis, over whose mean it is compared, and the orbits between two looks: never the same phase.
const LOOKS: u32 = 1000;
const BETWEEN: f64 = 1.618_033_988_749;

fn period() -> f64 {
    TAU * (AXIS.powi(3) / (MASSES[0] + MASSES[1])).sqrt()
}

/// Relative change over so many `orbits` of the mean of the `axis` over many looks. `axis` is asked for one time after
/// another.
fn drift(orbits: f64, mut axis: impl FnMut(f64) -> f64) -> f64 {
    let mut mean_from = |begin: f64| {
        let look = |k: u32| axis((begin + BETWEEN * f64::from(k)) * period());
        (1..=LOOKS).map(look).sum::<f64>() / f64::from(LOOKS)
    };
    let before = mean_from(0.0);
    mean_from(orbits) / before - 1.0
}

/// [`drift`] of the binary by `hermite`. All stars are one system. Two stars move in closed form, three along their orbits.
fn drift_by_hermite(orbits: f64, bodies: &[Body]) -> f64 {
    let settings = Settings {
        dt_max: 1.0 / 512.0,
        ..settings(0.01)
    };
    let (_turn, grape) = grape();
    let mut run = Integrator::start(&grape, settings, 0.0, bodies.to_vec()).unwrap();
    drift(orbits, |t| {
        let stars = reach(&mut run, t);
        let held: Vec<Subsystem> = run.regularized().systems().into_values().collect();
        assert_eq!((held.len(), held[0].labels().len()), (1, bodies.len()));
        if let Subsystem::Multiple(multiple) = &held[0] {
            assert!(multiple.inner().is_empty(), "each revolution is integrated");
        }
        let (x, v) = (sub(&stars[1].x, &stars[0].x), sub(&stars[1].v, &stars[0].v));
        Orbit::of(&x, &v, MASSES[0] + MASSES[1]).axis
    })
}

/// The same by the few-body integrator alone.
fn drift_by_few_body(orbits: f64, bodies: &[Body]) -> f64 {
    let mut system = System::new(bodies)
        .with_tolerance(1e-14)
        .without_analytic_steps();
    let mut now = 0.0;
    drift(orbits, |t| {
        system.advance(t - now, &mut Alone).unwrap();
        now = t;
        system.orbit(0, 1).axis
    })
}

#[test]
fn a_binary_keeps_its_axis_over_a_million_orbits() {
    let bodies = binary(1, MASSES, AXIS, 0.5, ([0.0; 3], [0.0; 3]));
    let drift = drift_by_hermite(1e6, &bodies);
    assert!(drift.abs() < 1e-9, "{drift:e}");
}

/// A third star is on an orbit 40 times as wide. So the three are one system, in which neither the closed form nor the mean
/// of the tide is used. The third star itself changes the mean axis, by 1.4e-8 in 1e5 orbits. So the axis is compared with that
/// of an integration in one piece, with a tenth of the tolerance. The two differ by 3.0e-11, in proportion to the orbits.
#[test]
fn a_binary_with_a_third_star_has_the_axis_of_an_integration_in_one_piece() {
    let mass = MASSES[0] + MASSES[1];
    let [inner, third] = binary(2, [mass, 0.3], 40.0 * AXIS, 0.1, ([0.0; 3], [0.0; 3]));
    let mut bodies = binary(1, MASSES, AXIS, 0.5, (inner.x, inner.v)).to_vec();
    bodies.push(third);
    let by_hermite = drift_by_hermite(1e5, &bodies);
    let by_few_body = drift_by_few_body(1e5, &bodies);
    assert!(
        (by_hermite - by_few_body).abs() < 1e-10,
        "{by_hermite:e} {by_few_body:e}"
    );
}
