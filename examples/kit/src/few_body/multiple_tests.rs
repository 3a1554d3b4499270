//! Tests of systems of three and more stars against the few-body integrator under the same perturbation.

use super::*;
use crate::few_body::Alone;
use crate::few_body::pair::Pair;
use crate::few_body::pair::tests::Passage;
use crate::few_body::subsystem::Subsystem;

fn body(index: i32, mass: f64, x: Vec3, v: Vec3) -> Body {
    Body { index, mass, x, v }
}

/// A binary of masses 0.5 and 0.2 and size 0.2, and a star of mass 0.3 about it at the distance 1.
pub(in crate::few_body) fn triple() -> [Body; 3] {
    let inner = (0.7_f64 / 0.2).sqrt();
    [
        body(1, 0.5, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        body(2, 0.2, [0.2, 0.0, 0.0], [0.0, 0.9 * inner, 0.0]),
        body(3, 0.3, [0.0, 0.8, 0.6], [-0.9, 0.0, 0.0]),
    ]
}

/// At half the step the error is a sixteenth.
#[test]
fn a_triple_is_followed_to_fourth_order() {
    let star = || Passage {
        x: [-3.0, 2.5, 1.0],
        v: [1.5, -0.3, 0.2],
    };
    let mut system = System::new(&triple()).with_tolerance(1e-14);
    system.advance(2.0, &mut star()).unwrap();
    let mut alone = System::new(&triple());
    alone.advance(2.0, &mut Alone).unwrap();
    let x = |system: &System| system.relative(0, 2).0;
    assert!(norm(&sub(&x(&alone), &x(&system))) > 0.01);
    let errors = [64, 128, 256].map(|n| {
        let (_, mut multiple) = Multiple::of(&triple());
        let dt = 2.0 / f64::from(n);
        let pulls = |multiple: &Multiple, t: f64, dt: f64| -> Vec<Pull> {
            let places = multiple.predict(dt, dt).unwrap();
            let pull = |(x, v): &Place| star().pull(t, x, v);
            places.iter().map(pull).collect()
        };
        let first = pulls(&multiple, 0.0, 0.0);
        multiple.advance(0.0, &first).unwrap();
        for k in 1..=n {
            let pulls = pulls(&multiple, f64::from(k) * dt, dt);
            multiple.advance(dt, &pulls).unwrap();
        }
        norm(&sub(&multiple.relative(0, 2).0, &x(&system)))
    });
    assert!(errors[2] < 1e-6, "{errors:?}");
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((3.5..4.7).contains(&order), "{order}: {errors:?}");
    }
}

/// A third star on an orbit that hardly is one has a mean square distance that nobody near the system feels.
#[test]
fn the_moment_of_a_caught_star_is_that_of_its_place() {
    let trace = |stars: &[Body]| {
        let moment = Multiple::of(stars).1.moment();
        (0..3).map(|k| moment[k][k]).sum::<f64>()
    };
    let stars = triple();
    // The binary: semi-axis a and e by hand, <x^2> = a^2 (1 + 3/2 e^2).
    let inner = Orbit::of(&stars[1].x, &stars[1].v, 0.7);
    let of_inner = 0.5 * 0.2 / 0.7 * inner.axis.powi(2) * (1.0 + 1.5 * inner.eccentricity.powi(2));
    let centre = [0.2 * 0.2 / 0.7, 0.0, 0.0];
    let from = sub(&stars[2].x, &centre);
    let drift = 0.2 / 0.7 * stars[1].v[1];
    let part = 0.3 * 0.7;
    for speed in [0.999_99, 0.9999] {
        let escape = (2.0 / norm(&from)).sqrt();
        let mut caught = stars;
        caught[2].v = from.map(|c| speed * escape * c / norm(&from));
        caught[2].v[1] += drift;
        let expected = part * dot(&from, &from) + of_inner;
        assert!((trace(&caught) / expected - 1.0).abs() < 1e-9, "{speed}");
    }
    // A wide round orbit, which lasts.
    let mut lasting = stars;
    lasting[2].x = [0.0, 0.0, 3.0];
    lasting[2].v = [0.9 * (1.0 / 3.0_f64).sqrt(), drift, 0.0];
    let (x, v) = (sub(&lasting[2].x, &centre), [lasting[2].v[0], 0.0, 0.0]);
    let outer = Orbit::of(&x, &v, 1.0);
    let of_outer = part * outer.axis.powi(2) * (1.0 + 1.5 * outer.eccentricity.powi(2));
    let expected = of_outer + of_inner;
    assert!((trace(&lasting) / expected - 1.0).abs() < 1e-9);
}

/// A tide that perturbs a triple by 2e-9, over steps of 16 revolutions of its third star: it neither gains nor loses
/// energy. Kicks at the ends of these steps would change it by 1e-6, since they meet the orbits at any phase.
#[test]
fn a_triple_in_a_faint_tide_keeps_its_energy_over_long_steps() {
    let (_, mut multiple) = Multiple::of(&triple());
    let before = multiple.energy();
    let tide = |x: &Vec3| [1e-9 * x[0], -2e-9 * x[1], 1e-9 * x[2]];
    for _ in 0..10 {
        let dt = 100.0;
        assert!(multiple.longest_step(0.01) > dt);
        let places = multiple.predict(dt, dt).unwrap();
        let pulls: Vec<Pull> = places.iter().map(|(x, v)| (tide(x), tide(v))).collect();
        multiple.advance(dt, &pulls).unwrap();
        let error = (multiple.energy() / before - 1.0).abs();
        assert!(error < 1e-9, "{error:e}");
    }
}

/// Those around a hierarchy in a linear tide feel it where its orbits bring it alone: after two revolutions of the outer one, less than a
/// hundredth of an orbit from where it is. Otherwise they feel it where it is.
#[test]
fn a_hierarchy_in_a_linear_tide_is_felt_on_its_orbits() {
    let mut stars = triple();
    stars[2].x = stars[2].x.map(|c| 4.0 * c);
    stars[2].v = stars[2].v.map(|c| 0.5 * c);
    let (_, mut multiple) = Multiple::of(&stars);
    let (_, outer) = multiple.orbits().pop().unwrap();
    let step = 2.0 * outer.period();
    let predicted = multiple.predict(step, step).unwrap();
    assert_eq!(multiple.felt(step, step).unwrap(), predicted);
    let part = InTide {
        stars: vec![0, 1, 2],
        tensor: secular::Tensor::default(),
    };
    multiple.add_linear(part).unwrap();
    let felt = multiple.felt(step, step).unwrap();
    let third = norm(&sub(&felt[2].0, &predicted[2].0)) / outer.axis;
    assert!((1e-6..1e-2).contains(&third), "{third:e}");
    // Whatever was asked for before.
    assert_eq!(multiple.predict(step, step).unwrap(), predicted);
}

/// A third star far from a binary feels a tide that the binary itself does not: steps follow its orbit about the binary, and
/// not that of the binary.
#[test]
fn steps_follow_the_parts_that_the_tide_perturbs() {
    let speed = (2.0_f64 / 1e-3).sqrt();
    let stars = [
        body(1, 1.0, [0.0; 3], [0.0, -0.5 * speed, 0.0]),
        body(2, 1.0, [1e-3, 0.0, 0.0], [0.0, 0.5 * speed, 0.0]),
        body(3, 1.0, [1.0, 0.0, 0.0], [0.0, 1.5, 0.0]),
    ];
    let (_, mut multiple) = Multiple::of(&stars);
    let pulls: Vec<Pull> = multiple
        .predict(0.0, 0.0)
        .unwrap()
        .iter()
        .map(|(x, v)| (x.map(|c| 1e-3 * c), v.map(|c| 1e-3 * c)))
        .collect();
    multiple.advance(0.0, &pulls).unwrap();
    let step = multiple.longest_step(0.01);
    assert!((0.01..1.0).contains(&step), "{step}");
    let parts = multiple.parts();
    let mut stars: Vec<Vec<usize>> = parts.into_iter().map(|part| part.stars).collect();
    stars.iter_mut().for_each(|part| part.sort_unstable());
    stars.sort_unstable();
    assert_eq!(stars, [vec![0, 1], vec![2]]);
}

/// A star with two planets, and another star at a distance of 25: the tide is followed by steps of the planets' orbits about their star.
/// Two planets hardly attract each other, so the tide between them says nothing.
#[test]
fn steps_of_planets_do_not_depend_on_their_masses() {
    let steps = [1e-3, 3e-6, 1e-12, 0.0].map(|mass| {
        let planet = |index, r: f64, phase: f64| {
            let (sin, cos) = phase.sin_cos();
            let speed = r.sqrt().recip();
            let (x, v) = ([r * cos, r * sin, 0.0], [-speed * sin, speed * cos, 0.0]);
            body(index, mass, x, v)
        };
        let star = body(1, 1.0, [0.0; 3], [0.0; 3]);
        let (_, mut multiple) = Multiple::of(&[star, planet(2, 1.0, 0.3), planet(3, 4.0, 2.0)]);
        let passing = Passage {
            x: [-24.0, 7.0, 0.0],
            v: [0.3, 0.0, 0.0],
        };
        let places = multiple.predict(0.0, 0.0).unwrap();
        let pulls: Vec<Pull> = places
            .iter()
            .map(|(x, v)| passing.pull(0.0, x, v))
            .collect();
        multiple.advance(0.0, &pulls).unwrap();
        (
            multiple.longest_step(0.01),
            multiple.greatest_perturbation(),
        )
    });
    for (step, perturbation) in &steps {
        assert!((step / steps[0].0 - 1.0).abs() < 0.01, "{steps:?}");
        assert!((perturbation / steps[0].1 - 1.0).abs() < 0.01, "{steps:?}");
    }
}

/// Without a tide, the step of a triple is four periods of its binary, or 128 if its orbits perturb each other little.
#[test]
fn a_step_has_few_periods_of_the_closest_two() {
    let [a, b, c] = triple();
    let (_, inner) = Pair::of(&a, &b);
    let mut close = [a, b, c];
    close[2].x = close[2].x.map(|c| 0.6 * c);
    let (_, close) = Subsystem::of(&close);
    let periods = close.longest_step(0.01) / inner.orbit().period();
    assert!((periods - 4.0).abs() < 1e-12, "{periods}");
    // A wide third star makes a hierarchy whose revolutions cost little.
    let mut wide = [a, b, c];
    wide[2].x = wide[2].x.map(|c| 4.0 * c);
    wide[2].v = wide[2].v.map(|c| 0.5 * c);
    let (_, wide) = Subsystem::of(&wide);
    let periods = wide.longest_step(0.01) / inner.orbit().period();
    assert!((periods - 128.0).abs() < 1e-12, "{periods}");
    // Two stars that pass each other at 1e-9 need no step as short as that.
    let passing = [
        body(1, 1.0, [0.0; 3], [0.0; 3]),
        body(2, 1.0, [1e-9, 0.0, 0.0], [0.0, 1e5, 0.0]),
        body(3, 1.0, [1.0, 0.0, 0.0], [0.0; 3]),
    ];
    let (_, passing) = Subsystem::of(&passing);
    assert!(passing.longest_step(0.01) > 1e-3);
}

/// Two stars at a pericentre of 1e-9, in a system of size 1 whose centre is far from the origin: their relative
/// position and velocity keep all digits, and the energy is kept over a step.
#[test]
fn a_close_binary_keeps_its_digits_in_a_large_system() {
    let (r, mass) = (1e-9, 0.02_f64);
    let speed = (2.0 * mass / r * (1.0 - 1e-6)).sqrt();
    let stars = [
        body(1, 0.01, [0.3, 0.1, 0.0], [0.0, -0.5 * speed, 0.0]),
        body(2, 0.01, [0.3 + r, 0.1, 0.0], [0.0, 0.5 * speed, 0.0]),
        body(3, 0.01, [1.3, 0.1, 0.0], [0.0, 0.1, 0.0]),
    ];
    let relative = ([r, 0.0, 0.0], [0.0, speed, 0.0]);
    let (_, mut pair) = Subsystem::of(&stars[..2]);
    if let Subsystem::Pair(pair) = &mut pair {
        (pair.x, pair.v) = relative;
    }
    let (_, plain) = Subsystem::of(&stars);
    let mut known = plain.clone();
    known.refine(&pair);
    assert_eq!(known.relative(0, 1), relative);
    assert_eq!(known.relative(1, 0).0, relative.0.map(|c| -c));
    let own = 1e-4 * (0.5 * speed * speed / mass - 1.0 / r);
    let error = |system: &Subsystem| (system.energy() / own - 1.0).abs();
    // The third star has 1e-3 of the energy.
    assert!(error(&known) < 5e-3, "{:e}", error(&known));
    assert!(error(&plain) > 1e-2, "{:e}", error(&plain));
    let before = known.energy();
    known.advance(1e-5, &[Pull::default(); 3]).unwrap();
    assert!((known.energy() - before).abs() < 1e-6 * before.abs());
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let of_pair = |(i, j): (usize, usize)| {
        known.masses()[i] * known.masses()[j] / norm(&known.relative(i, j).0)
    };
    let potential = -pairs.map(of_pair).iter().sum::<f64>();
    assert!((known.potential() / potential - 1.0).abs() < 1e-12);
}

/// The longest link of the tree that connects four stars is between the two pairs.
#[test]
fn the_halves_of_a_quadruple_are_its_pairs() {
    let at = |index, x| body(index, 1.0, [x, 0.0, 0.0], [0.0; 3]);
    let (_, four) = Multiple::of(&[at(1, 0.0), at(2, 5.0), at(3, 0.5), at(4, 5.2)]);
    assert_eq!(four.halves(), [vec![0, 2], vec![1, 3]]);
    assert_eq!(four.size(), 5.2);
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let link = ([1.0, 0.0, 0.0], [0.0; 3]);
    let parts = |labels: Vec<i32>, order: Vec<usize>, links: Vec<Place>| {
        let masses = vec![1.0; labels.len()];
        let tides = vec![Pull::default(); labels.len()];
        Multiple::from_parts(labels, masses, order, links, Vec::new(), tides)
    };
    assert!(parts(vec![1, 2, 3], vec![2, 0, 1], vec![link; 2]).is_some());
    assert!(parts(vec![1, 2], vec![0, 1], vec![link]).is_none());
    assert!(parts(vec![1, 2, 3], vec![0, 0, 1], vec![link; 2]).is_none());
    assert!(parts(vec![1, 2, 3], vec![0, 1, 2], vec![link]).is_none());
    let same = ([0.0; 3], [1.0; 3]);
    assert!(parts(vec![1, 2, 3], vec![0, 1, 2], vec![link, same]).is_none());
}
