//! Tests of inner binaries that move in the mean, against the integration of all orbits.

use super::*;
use crate::Body;
use crate::few_body::multiple::Multiple;
use crate::few_body::pair::Pull;
use crate::vector::cross;

/// A binary of masses 0.5 and 0.2 with this semi-major axis, at its apocentre, and a star of mass 0.3 at the distance 1
/// that moves with this velocity.
fn triple(axis: f64, v: Vec3) -> Vec<Body> {
    let speed = (0.7 / axis * 0.7 / 1.3_f64).sqrt();
    let body = |index, mass, x, v| Body { index, mass, x, v };
    let inner = 1.3 * axis;
    vec![
        body(
            1,
            0.5,
            [-2.0 / 7.0 * inner, 0.0, 0.0],
            [0.0, -2.0 / 7.0 * speed, 0.0],
        ),
        body(
            2,
            0.2,
            [5.0 / 7.0 * inner, 0.0, 0.0],
            [0.0, 5.0 / 7.0 * speed, 0.0],
        ),
        body(3, 0.3, [0.8, 0.6, 0.0], v),
    ]
}

/// The triple as a system of a cluster without other stars.
fn planned(bodies: &[Body]) -> Multiple {
    let (_, mut multiple) = Multiple::of(bodies);
    multiple.plan(0.01);
    multiple
}

fn step(multiple: &mut Multiple, dt: f64) {
    multiple.advance(dt, &[Pull::default(); 3]).unwrap();
    multiple.plan(0.01);
}

/// Eccentricity vector and angular momentum of the inner binary, with the unit of Milankovitch's equations.
fn shape((x, v): Place) -> [Vec3; 2] {
    let orbit = Orbit::of(&x, &v, 0.7);
    let j = orbit.momentum.map(|c| c / (0.7 * orbit.axis).sqrt());
    let mut e = cross(&v, &orbit.momentum).map(|c| c / 0.7);
    add_scaled(&mut e, -1.0 / norm(&x), &x);
    [e, j]
}

/// The binary turns as it does if all of its 1400 revolutions are integrated, and the energy of the three is kept,
/// whether the binary moves in the mean or not.
#[test]
fn a_tight_binary_turns_as_if_each_revolution_were_followed() {
    let bodies = triple(0.006, [-0.3, 0.4, 0.7]);
    let mut multiple = planned(&bodies);
    assert_eq!(multiple.inner(), [[0, 1]]);
    let mut all = System::new(&bodies);
    let (energy, before) = (all.energy(), shape(all.relative(0, 1)));
    let end = 5.0;
    all.advance(end, &mut Alone).unwrap();
    let binding = 0.5 * 0.1 / 0.006;
    for k in 0..20 {
        let error = multiple.clone().osculating().energy() - energy;
        assert!(error.abs() < 1e-12 * binding, "{k}: {error:e}");
        step(&mut multiple, end / 20.0);
        assert_eq!(multiple.inner(), [[0, 1]]);
    }
    // The stored orbit has the energy in the tide, too.
    let tidal = multiple.energy() - energy;
    assert!(tidal.abs() > 1e-9 * binding, "{tidal:e}");
    let (expected, found) = (shape(all.relative(0, 1)), shape(multiple.relative(0, 1)));
    for k in 0..2 {
        let turned = norm(&sub(&expected[k], &before[k]));
        let missed = norm(&sub(&expected[k], &found[k]));
        assert!(
            turned > 1e-4 && missed < 0.01 * turned,
            "{k}: {missed:e} of {turned:e}"
        );
    }
    let axis = |(x, v): Place| Orbit::of(&x, &v, 0.7).axis;
    let change = axis(multiple.relative(0, 1)) / axis(all.relative(0, 1)) - 1.0;
    assert!(change.abs() < 1e-5, "{change:e}");
    // Around the centre of the two the third star is where it is without the quadrupole of the two.
    let outer = |inner: Place, third: Place| {
        let from_centre =
            |third: &Vec3, inner: &Vec3| [0, 1, 2].map(|c| third[c] - 2.0 / 7.0 * inner[c]);
        let (x, v) = (
            from_centre(&third.0, &inner.0),
            from_centre(&third.1, &inner.1),
        );
        Orbit::of(&x, &v, 1.0).axis
    };
    let found = outer(multiple.relative(0, 1), multiple.relative(0, 2));
    let change = found / outer(all.relative(0, 1), all.relative(0, 2)) - 1.0;
    assert!(change.abs() < 1e-4, "{change:e}");
}

/// A third star that will come near ends the mean motion while it is still far, by the same measure that would not have let
/// it begin. The energy is kept.
#[test]
fn the_mean_motion_ends_before_a_star_comes_near() {
    let bodies = triple(0.004, [-1.3, -0.9, 0.02]);
    let (_, multiple) = Multiple::of(&bodies);
    let energy = multiple.energy();
    assert!(planned(&bodies).inner().is_empty());
    let (order, links) = multiple.links();
    let mut forced = Multiple::from_parts(
        multiple.labels.clone(),
        multiple.masses.clone(),
        order.to_vec(),
        links.collect(),
        vec![[order[0], order[1]]],
        multiple.tides.clone(),
    )
    .unwrap();
    let start = forced.clone().osculating().energy();
    forced.advance(0.1, &[Pull::default(); 3]).unwrap();
    assert!(forced.inner().is_empty());
    forced.advance(0.8, &[Pull::default(); 3]).unwrap();
    let binding = 0.5 * 0.1 / 0.004;
    assert!((start - energy).abs() < 1e-6 * binding);
    let error = forced.energy() - start;
    assert!(error.abs() < 1e-11 * binding, "{error:e}");
}

/// Stars outside the system whose tide grows end the mean motion, which begins again when they have gone.
#[test]
fn a_tide_from_outside_ends_the_mean_motion() {
    let mut multiple = planned(&triple(0.006, [-0.3, 0.4, 0.7]));
    for (tide, count) in [(0.0, 1), (0.1, 1), (10.0, 0), (10.0, 0), (0.0, 1)] {
        let pull = |place: Place| ([tide * place.0[0], 0.0, 0.0], [0.0; 3]);
        let pulls: Vec<Pull> = multiple
            .predict(1e-4, 1e-4)
            .unwrap()
            .into_iter()
            .map(pull)
            .collect();
        multiple.advance(1e-4, &pulls).unwrap();
        multiple.plan(0.01);
        assert_eq!(multiple.inner().len(), count, "{tide}");
    }
}

/// A tide from outside ends the mean motion. The binary's two stars had one common tide until then, so a step of 30 periods
/// follows. At its end there is no kick along the binary's orbit, since there was none at its beginning: the axis changes by
/// the energy in the tides, 1e-6, and not by 1e-4. Later steps follow the orbit.
#[test]
fn no_kick_follows_the_end_of_the_mean_motion() {
    let mut multiple = planned(&triple(0.006, [-0.3, 0.4, 0.7]));
    assert_eq!(multiple.inner().len(), 1);
    let period = std::f64::consts::TAU * (0.006_f64.powi(3) / 0.7).sqrt();
    let tide = |x: Vec3| [2.0 * x[0], 0.0, 0.0];
    for periods in [1e-3, 30.3] {
        let dt = periods * period;
        let places = multiple.predict(dt, dt).unwrap();
        let pulls: Vec<Pull> = places.iter().map(|(x, v)| (tide(*x), tide(*v))).collect();
        multiple.advance(dt, &pulls).unwrap();
        multiple.plan(0.01);
        assert!(multiple.inner().is_empty());
    }
    let (x, v) = multiple.relative(0, 1);
    let change = Orbit::of(&x, &v, 0.7).axis / 0.006 - 1.0;
    assert!(change.abs() < 5e-6, "{change:e}");
    assert!(multiple.longest_step(0.01) < 0.1 * period);
}

/// A star that has passed and goes away for good does not keep the mean motion from beginning: what counts is the least
/// distance to come.
#[test]
fn a_star_that_has_passed_allows_a_mean_motion() {
    let [coming, gone] = [-1.0, 1.0].map(|sign| triple(0.004, [1.3, 0.9, 0.02].map(|v| sign * v)));
    assert!(planned(&coming).inner().is_empty());
    assert_eq!(planned(&gone).inner(), [[0, 1]]);
}

/// A tide that is too strong, or others outside that perturb the two: no mean motion.
#[test]
fn only_a_weak_tide_is_taken_in_the_mean() {
    assert!(planned(&triple(0.02, [-0.3, 0.4, 0.7])).inner().is_empty());
    let (_, mut multiple) = Multiple::of(&triple(0.006, [-0.3, 0.4, 0.7]));
    multiple.tides[1].0 = [1e-1, 0.0, 0.0];
    multiple.plan(0.01);
    assert!(multiple.inner().is_empty());
}
