//! Tests of pairs against the few-body integrator, which follows the same motion by other means.

use super::*;
use crate::few_body::{Perturbation, System};
use crate::vector::cross;

/// A star of mass 0.5 that passes a binary of mass 1 with a = 1 on a straight line.
struct Passage {
    x: Vec3,
    v: Vec3,
}

impl Passage {
    fn at(&self, t: f64) -> Vec3 {
        std::array::from_fn(|k| self.x[k] + t * self.v[k])
    }

    /// What it pulls at a place.
    fn pull(&self, t: f64, x: &Vec3, v: &Vec3) -> Pull {
        pull(0.5, &sub(&self.at(t), x), &sub(&self.v, v))
    }

    /// The tide on `pair` at `t`, where it is predicted from `dt` before.
    fn tide(&self, pair: &Pair, t: f64, dt: f64) -> Pull {
        let (x, v) = pair.predict(dt);
        let (x, v) = (pair.about_centre(&x), pair.about_centre(&v));
        let [a, b] = [0, 1].map(|k| self.pull(t, &x[k], &v[k]));
        (sub(&b.0, &a.0), sub(&b.1, &a.1))
    }

    /// Moves `pair` by `n` steps of `dt` from the time 0.
    fn follow(&self, pair: &mut Pair, dt: f64, n: u32) {
        (pair.tide, pair.tide_rate) = self.tide(pair, 0.0, 0.0);
        for k in 0..n {
            let tide = self.tide(pair, f64::from(k + 1) * dt, dt);
            pair.advance(dt, tide);
        }
    }
}

impl Perturbation for Passage {
    fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]) {
        for (x, acc) in x.iter().zip(acc) {
            *acc = self.pull(t, x, &[0.0; 3]).0;
        }
    }
}

/// A binary of masses 0.6 and 0.4 with a = 1 at its apocentre.
fn binary(e: f64) -> [Body; 2] {
    let speed = ((1.0 - e) / (1.0 + e)).sqrt();
    let body = |index, mass, x, v| Body { index, mass, x, v };
    [
        body(7, 0.6, [0.0; 3], [0.0; 3]),
        body(9, 0.4, [1.0 + e, 0.0, 0.0], [0.0, 0.8 * speed, 0.6 * speed]),
    ]
}

/// At half the step the error, beside the same motion by the few-body integrator, is a sixteenth.
#[test]
fn a_pair_is_followed_to_fourth_order() {
    let star = || Passage {
        x: [-3.0, 5.0, 1.0],
        v: [0.8, -0.3, 0.2],
    };
    let bodies = binary(0.3);
    let mut system = System::new(&bodies).with_tolerance(1e-14);
    system.advance(8.0, &mut star()).unwrap();
    let (x, v) = system.relative(0, 1);
    let errors = [64, 128, 256].map(|n| {
        let (_, mut pair) = Pair::of(&bodies[0], &bodies[1]);
        star().follow(&mut pair, 8.0 / f64::from(n), n);
        norm(&sub(&pair.x, &x)) + norm(&sub(&pair.v, &v))
    });
    // The tide is no trifle: without it the pair would be elsewhere.
    let (_, mut alone) = Pair::of(&bodies[0], &bodies[1]);
    alone.is_perturbed = false;
    star().follow(&mut alone, 8.0, 1);
    assert!(norm(&sub(&alone.x, &x)) > 0.01);
    assert!(errors[2] < 1e-7, "{errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((3.5..4.7).contains(&order), "{order}: {errors:?}");
    }
}

/// The prediction, to which the tide is found, lacks what is of third order in the step.
#[test]
fn the_prediction_is_where_the_pair_comes() {
    let star = Passage {
        x: [0.0, 4.0, 0.0],
        v: [0.0; 3],
    };
    let bodies = binary(0.5);
    let missed = [0.2, 0.1].map(|dt| {
        let (_, mut pair) = Pair::of(&bodies[0], &bodies[1]);
        (pair.tide, pair.tide_rate) = star.tide(&pair, 0.0, 0.0);
        let (x, _) = pair.predict(dt);
        let tide = star.tide(&pair, dt, dt);
        pair.advance(dt, tide);
        norm(&sub(&pair.x, &x))
    });
    assert!(
        missed[0] < 1e-5 && missed[1] < missed[0] / 8.0,
        "{missed:?}"
    );
}

/// Over 320 periods a distant star turns the angular momentum of a binary as much as where it is slowed down eightfold.
#[test]
fn a_slowed_binary_is_turned_as_fast() {
    let star = Passage {
        x: [20.0, 0.0, 30.0],
        v: [0.0; 3],
    };
    let bodies = binary(0.5);
    let turned = [1.0, 8.0].map(|slowdown| {
        let (_, mut pair) = Pair::of(&bodies[0], &bodies[1]);
        pair.slowdown = slowdown;
        let before = cross(&pair.x, &pair.v);
        let dt = slowdown * std::f64::consts::TAU / 100.0;
        star.follow(&mut pair, dt, (32_000.0 / slowdown) as u32);
        let axis = pair.orbit().axis;
        assert!((axis - 1.0).abs() < 1e-3, "{slowdown}: {axis}");
        sub(&cross(&pair.x, &pair.v), &before)
    });
    let (way, missed) = (norm(&turned[0]), norm(&sub(&turned[0], &turned[1])));
    assert!(way > 0.01 && missed < 0.02 * way, "{turned:?}");
}

/// Centre and correction are what the two pull, at any distance; its rate is that of its change.
#[test]
fn the_correction_makes_two_stars_of_their_centre() {
    let [a, b] = binary(0.6);
    let (centre, pair) = Pair::of(&a, &b);
    let own = (pair.x, pair.v);
    let from: (Vec3, Vec3) = ([0.7, -2.0, 0.4], [0.1, 0.2, -0.3]);
    let (x, v) = (sub(&centre.x, &from.0), sub(&centre.v, &from.1));
    let (mut acc, mut jerk) = pair.correction(&own, &x, &v);
    let whole = pull(pair.mass(), &x, &v);
    add_scaled(&mut acc, 1.0, &whole.0);
    add_scaled(&mut jerk, 1.0, &whole.1);
    for star in [a, b] {
        let one = pull(star.mass, &sub(&star.x, &from.0), &sub(&star.v, &from.1));
        add_scaled(&mut acc, -1.0, &one.0);
        add_scaled(&mut jerk, -1.0, &one.1);
    }
    assert!(
        norm(&acc) < 1e-15 && norm(&jerk) < 1e-15,
        "{acc:?} {jerk:?}"
    );
    let dt = 1e-5;
    let at = |t: f64| pull(1.0, &std::array::from_fn(|k| x[k] + t * v[k]), &v);
    let (before, now, after) = (at(-dt), at(0.0), at(dt));
    for k in 0..3 {
        let rate = (after.0[k] - before.0[k]) / (2.0 * dt);
        assert!((rate - now.1[k]).abs() < 1e-9);
    }
}

/// Who becomes a pair does not part at once; a strong tide parts all but those who are closest.
#[test]
fn who_joins_stays() {
    let limits = Limits {
        radius: 2.0,
        mean: 0.5,
    };
    let [a, b] = binary(0.9);
    let (_, mut pair) = Pair::of(&a, &b);
    let mut joined = 0;
    for k in 0..2000_u32 {
        // Phases, speeds from slow to hyperbolic, and tides over eight decades.
        let (phase, speed) = (f64::from(k % 40) * 0.15, 0.5 + 0.1 * f64::from(k / 40 % 10));
        (pair.x, _) = drift(&sub(&b.x, &a.x), &sub(&b.v, &a.v), 1.0, phase);
        pair.v = sub(&b.v, &a.v).map(|c| speed * 5.0 * c);
        pair.tide = [
            10.0_f64.powi(i32::try_from(k / 400).unwrap() * 2 - 6),
            0.0,
            0.0,
        ];
        if pair.joins(&limits) {
            joined += 1;
            assert!(pair.stays(&limits), "{pair:?}");
        }
    }
    assert!((200..1800).contains(&joined), "{joined}");
    // On a circle: it takes a stronger tide to part two stars than to keep them apart.
    (pair.x, pair.v) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    for (tide, joins, stays) in [(0.1, true, true), (0.4, false, true), (1.0, false, false)] {
        pair.tide = [tide, 0.0, 0.0];
        assert_eq!(pair.joins(&limits), joins, "{tide}");
        assert_eq!(pair.stays(&limits), stays, "{tide}");
    }
    // A wide and slow passage is none.
    (pair.x, pair.tide) = ([3.0, 0.0, 0.0], [0.0; 3]);
    assert!(!pair.joins(&limits) && !pair.stays(&limits));
}
