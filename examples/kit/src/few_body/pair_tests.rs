//! Tests of pairs against the few-body integrator, which follows the same motion by other means.

use super::*;
use crate::few_body::subsystem::{Felt, Subsystem};
use crate::few_body::{Perturbation, System};

/// A star of mass 0.5 that passes a binary of mass 1 with a = 1 on a straight line.
pub struct Passage {
    /// Where it is at t = 0.
    pub x: Vec3,
    /// Its velocity.
    pub v: Vec3,
}

impl Passage {
    fn at(&self, t: f64) -> Vec3 {
        std::array::from_fn(|k| self.x[k] + t * self.v[k])
    }

    /// What it pulls at a place.
    pub fn pull(&self, t: f64, x: &Vec3, v: &Vec3) -> Pull {
        pull(0.5, &sub(&self.at(t), x), &sub(&self.v, v))
    }

    /// What it pulls at `t` at the places of `pair`, which are predicted from `dt` before.
    fn pulls(&self, pair: &Pair, t: f64, dt: f64) -> Vec<Pull> {
        let places = pair.places(dt);
        places.iter().map(|(x, v)| self.pull(t, x, v)).collect()
    }

    /// Moves `pair` by `n` steps of `dt` from the time 0.
    fn follow(&self, pair: &mut Pair, dt: f64, n: u32) {
        pair.advance(0.0, &self.pulls(pair, 0.0, 0.0));
        for k in 0..n {
            let pulls = self.pulls(pair, f64::from(k + 1) * dt, dt);
            pair.advance(dt, &pulls);
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
    let (_, alone) = Pair::of(&bodies[0], &bodies[1]);
    assert!(norm(&sub(&alone.predict(8.0).0, &x)) > 0.01);
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
        pair.advance(0.0, &star.pulls(&pair, 0.0, 0.0));
        let (x, _) = pair.predict(dt);
        let pulls = star.pulls(&pair, dt, dt);
        pair.advance(dt, &pulls);
        norm(&sub(&pair.x, &x))
    });
    assert!(
        missed[0] < 1e-5 && missed[1] < missed[0] / 8.0,
        "{missed:?}"
    );
}

/// A star at rest changes the orbit of a binary over 320 periods. The mean tide, in steps of several periods,
/// changes it by the same amount, and leaves the semi-major axis alone.
#[test]
fn the_mean_of_the_tide_is_that_along_the_orbit() {
    let star = Passage {
        x: [70.0, 0.0, 100.0],
        v: [0.0; 3],
    };
    for e in [0.0, 0.5, 0.9] {
        let bodies = binary(e);
        let period = std::f64::consts::TAU;
        let ends = [(0.01 * period, 32_000), (5.0 * period, 64)].map(|(dt, n)| {
            let (_, mut pair) = Pair::of(&bodies[0], &bodies[1]);
            pair.is_perturbed = dt < 1.0;
            let before = pair.orbit().momentum;
            star.follow(&mut pair, dt, n);
            assert_eq!(pair.is_perturbed, dt < 1.0);
            let orbit = pair.orbit();
            let kept = if dt < 1.0 { 1e-4 } else { 1e-13 };
            assert!((orbit.axis - 1.0).abs() < kept, "{orbit:?}");
            (sub(&orbit.momentum, &before), orbit.eccentricity)
        });
        let missed = norm(&sub(&ends[0].0, &ends[1].0));
        let way = norm(&ends[0].0);
        assert!(way > 5e-5 && missed < 0.02 * way, "{e}: {ends:?}");
        let missed = (ends[0].1 - ends[1].1).abs();
        let way = (ends[0].1 - e).abs();
        assert!(missed < 0.02 * way + 4e-6, "{e}: {ends:?}");
    }
}

/// When a pair changes to the mean tide and back, the sum of orbital and tidal energy stays the same, and so does
/// the shape of the orbit.
#[test]
fn the_energy_with_that_of_the_tide_is_continuous() {
    let star = Passage {
        x: [150.0, 12.0, 75.0],
        v: [0.0; 3],
    };
    let bodies = binary(0.7);
    let (_, mut pair) = Pair::of(&bodies[0], &bodies[1]);
    star.follow(&mut pair, 0.05, 40);
    let tidal = |pair: &Pair| {
        let x = pair.about_centre(&pair.x);
        let [a, b] = [0, 1].map(|k| pair.masses[k] * 0.5 / norm(&sub(&star.x, &x[k])));
        let at_centre = pair.mass() * 0.5 / norm(&star.x);
        at_centre - a - b
    };
    let before = (pair.energy() + tidal(&pair), pair.orbit().eccentricity);
    assert!(tidal(&pair).abs() > 1e-8);
    let own = pair.energy();
    // With short steps it would begin and end in turn.
    let mut short = pair;
    short.plan(1e6, 0.01 * pair.orbit().period(), 0.01);
    assert!(short.is_perturbed);
    pair.plan(1e6, 0.05 * pair.orbit().period(), 0.01);
    assert!(!pair.is_perturbed);
    // The stored orbit has the energy in the tide less its mean.
    let octupole = 0.05 * tidal(&pair).abs();
    let mean = mean_energy(&pair, &star);
    assert!(mean.abs() > 2.0 * octupole);
    assert!((pair.energy() - before.0 + mean).abs() < octupole);
    assert!((pair.orbit().eccentricity - before.1).abs() < 1e-12);
    let osculating = pair.osculating().energy();
    // There and back the tide is that of an orbit which is larger by its own energy: an error of second order.
    let second = tidal(&pair).powi(2) / before.0.abs();
    let missed = (osculating - own).abs();
    assert!(missed < 10.0 * second, "{missed:e} {second:e}");
    assert!(second < 1e-5 * tidal(&pair).abs());
    // The star is suddenly near.
    let near = Passage {
        x: [50.0, 4.0, 25.0],
        ..star
    };
    let pulls = near.pulls(&pair, 0.0, 0.0);
    let before = pair.energy();
    pair.advance(0.0, &pulls);
    assert!(pair.is_perturbed);
    let gained = pair.energy() - before;
    let tide = -0.5 * 0.24 * dot(&pair.x, &pair.tide) - mean_energy(&pair, &near);
    assert!(
        (gained + tide).abs() < 3e-3 * tide.abs(),
        "{gained:e} {tide:e}"
    );
}

/// Mean of a function of time over a revolution of `pair`, at `n` times.
fn mean_over(pair: &Pair, n: u32, mut f: impl FnMut(f64) -> Vec3) -> Vec3 {
    let mut mean = [0.0; 3];
    for k in 0..n {
        let t = f64::from(k) / f64::from(n) * pair.orbit().period();
        add_scaled(&mut mean, 1.0 / f64::from(n), &f(t));
    }
    mean
}

/// Mean energy of the two in the tide of `star`, to the order of the quadrupole.
fn mean_energy(pair: &Pair, star: &Passage) -> f64 {
    let r = norm(&star.x);
    let energy = mean_over(pair, 4000, |t| {
        let x = drift(&pair.x, &pair.v, pair.mass(), t).0;
        let along = dot(&x, &star.x) / r;
        [
            -0.5 * 0.5 / r.powi(3) * (3.0 * along * along - dot(&x, &x)),
            0.0,
            0.0,
        ]
    });
    0.24 * energy[0]
}

/// A star feels the quadrupole of a pair's mean orbit, which is its force in the mean over a revolution. The centre of the
/// pair feels the opposite force.
#[test]
fn the_quadrupole_acts_as_the_two_stars_do_in_the_mean() {
    for e in [0.0, 0.6, 0.95] {
        let [a, b] = binary(e);
        let (_, mut pair) = Pair::of(&a, &b);
        pair.is_perturbed = false;
        let r = 60.0;
        let star = Passage {
            x: [0.48, -0.6, 0.64].map(|c| r * c),
            v: [0.3, 0.2, -0.1],
        };
        let (x, v) = (star.x.map(|c| -c), star.v.map(|c| -c));
        let system = Subsystem::Pair(pair);
        let around = system.surroundings(system.size());
        let quadrupole = around.quadrupole(&x, &v);
        // Half the difference on opposite sides: the octupole of the mean orbit is the same on both.
        let mean = mean_over(&pair, 20_000, |t| {
            let members = pair.members(t);
            let [there, opposite] = [1.0, -1.0].map(|sign| {
                let (x, v) = (x.map(|c| sign * c), v.map(|c| sign * c));
                system.correction(&members, &x, &v).0
            });
            sub(&there, &opposite).map(|c| 0.5 * c)
        });
        let missed = norm(&sub(&quadrupole.0, &mean)) / norm(&mean);
        assert!(missed < 10.0 / (r * r), "{e}: {missed:e}");
        assert!(norm(&mean) > 0.3 * 0.24 / r.powi(4), "{mean:?}");
        let dt = 1e-3;
        let at = |t: f64| {
            around
                .quadrupole(&std::array::from_fn(|k| x[k] + t * v[k]), &v)
                .0
        };
        for k in 0..3 {
            let rate = (at(dt)[k] - at(-dt)[k]) / (2.0 * dt);
            assert!(
                (rate - quadrupole.1[k]).abs() < 1e-6 * norm(&quadrupole.1),
                "{e} {k}"
            );
        }

        let on_centre = sub(
            &pair.mean(&star.pulls(&pair, 0.0, 0.0)).0,
            &star.pull(0.0, &[0.0; 3], &[0.0; 3]).0,
        );
        let mut whole = quadrupole.0.map(|c| 0.5 * c);
        add_scaled(&mut whole, pair.mass(), &on_centre);
        assert!(
            norm(&whole) < 5e-3 * norm(&on_centre),
            "{e}: {whole:?} {on_centre:?}"
        );
    }
}

/// Every star near a pair feels its stars, however light it is and whether the tide acts in the mean or not. Further out it
/// feels the quadrupole, as long as that is a part of its whole acceleration.
#[test]
fn light_stars_feel_what_changes_their_motion() {
    let [a, b] = binary(0.2);
    let (_, mut pair) = Pair::of(&a, &b);
    for is_perturbed in [true, false] {
        pair.is_perturbed = is_perturbed;
        let system = Subsystem::Pair(pair);
        let around = system.surroundings(system.size());
        let felt = |r: f64, mass, others: f64| around.felt(r * r, mass, others / (r * r));
        for mass in [0.0, 1e-6, 0.5] {
            assert_eq!(felt(15.0, mass, 1.0), Felt::Members);
            assert_eq!(felt(1e4, mass, 1.0), Felt::Centre);
        }
        assert_eq!(felt(100.0, 1e-6, 1.0), Felt::Quadrupole);
        // Its acceleration by others is much larger.
        assert_eq!(felt(100.0, 1e-6, 1e3), Felt::Centre);
        let heavy = match is_perturbed {
            true => Felt::Members,
            false => Felt::Quadrupole,
        };
        assert_eq!(felt(100.0, 0.5, 1.0), heavy);
    }
}

/// Centre and correction are what the two pull, at any distance; its rate is that of its change.
#[test]
fn the_correction_makes_two_stars_of_their_centre() {
    let [a, b] = binary(0.6);
    let (centre, pair) = Pair::of(&a, &b);
    let from: (Vec3, Vec3) = ([0.7, -2.0, 0.4], [0.1, 0.2, -0.3]);
    let (x, v) = (sub(&centre.x, &from.0), sub(&centre.v, &from.1));
    let (mut acc, mut jerk) = Subsystem::Pair(pair).correction(&pair.members(0.0), &x, &v);
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
