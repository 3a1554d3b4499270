//! Tests of hierarchies against the few-body integrator.

use super::*;
use crate::body::Body;
use crate::few_body::flight::Flight;
use crate::few_body::multiple::Multiple;
use crate::few_body::{Alone, System};
use crate::vector::norm;

fn body(mass: f64, x: Vec3, v: Vec3) -> Body {
    Body {
        index: 0,
        mass,
        x,
        v,
    }
}

/// Two parts at the apocentre of an orbit of this axis and eccentricity, whose plane is turned by `angle`.
pub(in crate::few_body) fn orbit(parts: [&[Body]; 2], axis: f64, e: f64, angle: f64) -> Vec<Body> {
    let mass = |part: &[Body]| part.iter().map(|star| star.mass).sum::<f64>();
    let masses = parts.map(mass);
    let whole = masses[0] + masses[1];
    let r = axis * (1.0 + e);
    let speed = (whole * (1.0 - e) / (1.0 + e) / axis).sqrt();
    let (sine, cosine) = angle.sin_cos();
    let x = [0.6 * r, 0.8 * r, 0.0];
    let v = [-0.8, 0.6, 0.0].map(|c| speed * c * cosine);
    let v = [v[0], v[1], speed * sine];
    let place = |part: usize| match part {
        0 => -masses[1] / whole,
        _ => masses[0] / whole,
    };
    let moved = |part: usize| {
        parts[part].iter().map(move |star| {
            let mut star = *star;
            add_scaled(&mut star.x, place(part), &x);
            add_scaled(&mut star.v, place(part), &v);
            star
        })
    };
    moved(0).chain(moved(1)).collect()
}

pub(in crate::few_body) fn star(mass: f64) -> [Body; 1] {
    [body(mass, [0.0; 3], [0.0; 3])]
}

pub(in crate::few_body) fn binary(masses: [f64; 2], axis: f64, e: f64, angle: f64) -> Vec<Body> {
    orbit([&star(masses[0]), &star(masses[1])], axis, e, angle)
}

/// A triple whose orbits perturb each other by 3e-3.
pub(in crate::few_body) fn triple() -> Vec<Body> {
    orbit(
        [&binary([0.6, 0.4], 1.0, 0.4, 0.0), &star(0.5)],
        14.0,
        0.3,
        0.6,
    )
}

/// The triple, one whose inclined orbits change their shape, two binaries, a triple with a fourth star, and two hierarchies that
/// move by the map: a wide triple and two binaries far apart.
pub(in crate::few_body) fn hierarchies() -> [Vec<Body>; 6] {
    let second = binary([0.3, 0.2], 1.4, 0.2, 1.0);
    [
        triple(),
        orbit(
            [&star(0.7), &binary([0.1, 0.6], 1.0, 0.7, 0.2)],
            20.0,
            0.5,
            1.7,
        ),
        orbit(
            [&binary([0.6, 0.4], 1.0, 0.3, 0.0), &second],
            20.0,
            0.2,
            0.5,
        ),
        orbit([&triple(), &star(1.5)], 300.0, 0.4, 2.0),
        orbit(
            [&binary([0.6, 0.4], 1.0, 0.4, 0.0), &star(0.5)],
            60.0,
            0.3,
            0.6,
        ),
        orbit(
            [&binary([0.6, 0.4], 1.0, 0.8, 0.7), &second],
            90.0,
            0.5,
            0.5,
        ),
    ]
}

fn chain(stars: &[Body]) -> (Vec<f64>, Chain) {
    let system = System::new(stars);
    (system.masses().to_vec(), system.chain().clone())
}

pub(super) fn nested_by(scheme: Scheme, stars: &[Body], steps: f64) -> Nested {
    let (masses, chain) = chain(stars);
    let (tree, _) = Tree::of(&masses, &chain).expect("a hierarchy");
    let steps = Steps {
        scheme,
        of_revolution: steps,
    };
    Nested::with_steps(tree, &chain, steps, Vec::new()).expect("bound stars")
}

fn nested(stars: &[Body], steps: f64) -> Nested {
    nested_by(Scheme::Composed, stars, steps)
}

/// The energy of stars that have got to the time `t` without what [`Nested::keep_energy`] does.
fn energy_at(nested: &mut Nested, t: f64) -> f64 {
    nested.fly(t).expect("steps that get on");
    let chain = nested.tree.chain(&nested.now.motions, &nested.order);
    System::along(masses_of(nested), chain).energy()
}

/// Masses in the order of the list of stars.
fn masses_of(nested: &Nested) -> Vec<f64> {
    let Tree { stars, masses, .. } = &nested.tree;
    let mut all = vec![0.0; stars.len()];
    stars
        .iter()
        .zip(masses)
        .for_each(|(&k, mass)| all[k] = *mass);
    all
}

/// Energy of the tightest orbit.
fn scale(nested: &Nested) -> f64 {
    let Tree {
        nodes, tightest, ..
    } = &nested.tree;
    let node = &nodes[*tightest];
    node.reduced * nested.motions[*tightest].energy(node.mass).abs()
}

/// Parts of a step add up to it, kicks integrate polynomials up to the ninth degree, and two kicks the products of lower degrees.
#[test]
fn the_composition_is_of_its_order() {
    let (pairs, last) = COMPOSED;
    let mut at = 0.0;
    let times: Vec<(f64, f64)> = pairs
        .iter()
        .map(|[drift, kick]| {
            at += drift;
            (at, *kick)
        })
        .collect();
    assert!((at + last - 1.0).abs() < 1e-15);
    for degree in 0..10 {
        let found: f64 = times.iter().map(|(t, b)| b * t.powi(degree)).sum();
        let expected = 1.0 / f64::from(degree + 1);
        assert!((found - expected).abs() < 1e-14, "{degree}: {found}");
    }
    // The integral of t^m u^n over 0 < u < t < 1 is 1 / (n + 1) / (m + n + 2). A kick meets itself at half of its weight.
    for m in 0..4_i32 {
        for n in (0..4).filter(|n| m + n < 4) {
            let found: f64 = (0..8)
                .map(|i| {
                    let before: f64 = times[..i].iter().map(|(u, b)| b * u.powi(n)).sum();
                    let (t, b) = times[i];
                    b * t.powi(m) * (before + 0.5 * b * t.powi(n))
                })
                .sum();
            let expected = 1.0 / f64::from((n + 1) * (m + n + 2));
            assert!((found - expected).abs() < 1e-14, "{m} {n}: {found}");
        }
    }
}

/// Over 300 revolutions of the tightest orbit, stars are where the few-body integrator has them, with their energy.
#[test]
fn hierarchies_move_as_the_few_body_integrator_moves_them() {
    for stars in hierarchies() {
        let (masses, chain) = chain(&stars);
        let mut nested = Nested::new(&masses, &chain).expect("a hierarchy");
        let mut system = System::new(&stars).with_tolerance(1e-14);
        let energy = system.energy();
        let period = std::f64::consts::TAU;
        for k in 1..=10 {
            system.advance(30.1 * period, &mut Alone).unwrap();
            let found = nested.at(30.1 * period * f64::from(k)).unwrap();
            let error = System::along(masses.clone(), found.clone()).energy() - energy;
            let error = error.abs() / scale(&nested);
            assert!(error < 1e-10, "{k}: {error:e}");
            for j in 1..stars.len() {
                let (x, _) = system.relative(0, j);
                let missed = norm(&sub(&found.relative(0, j).0, &x)) / norm(&x);
                assert!(missed < 1e-6, "{k} {j}: {missed:e}");
            }
        }
    }
}

/// Twice the steps make the errors of energy and of the phase at least 32 times smaller.
#[test]
fn errors_are_of_sixth_order() {
    let mut exact = System::new(&triple()).with_tolerance(1e-14);
    let energy = exact.energy();
    exact.advance(1000.0, &mut Alone).unwrap();
    let errors = [6.0, 12.0].map(|steps| {
        let mut nested = nested(&triple(), steps);
        let found = nested.at(1000.0).unwrap();
        let missed = norm(&sub(&found.relative(0, 1).0, &exact.relative(0, 1).0));
        let energies =
            (1..=50).map(|k| (energy_at(&mut nested, 20.0 * f64::from(k)) - energy).abs());
        [missed, energies.max_by(f64::total_cmp).unwrap()]
    });
    assert!(errors[0][0] > 1e-9 && errors[0][1] > 1e-11, "{errors:?}");
    for (coarse, fine) in errors[0].iter().zip(errors[1]) {
        assert!(coarse / fine > 32.0, "{errors:?}");
    }
}

/// Steps backwards lead to the beginning.
#[test]
fn steps_can_be_reversed() {
    for stars in hierarchies() {
        let mut nested = nested(&stars, 8.0);
        let begin = nested.now.clone();
        let length = nested.length;
        (0..1000).for_each(|_| nested.go(length, COMPOSED));
        let moved = nested.now.motions.iter().zip(&begin.motions);
        let far = moved
            .map(|(now, begin)| norm(&sub(&now.x, &begin.x)))
            .fold(0.0, f64::max);
        assert!(far > 0.1 && nested.now.t[0] > 100.0);
        (0..1000).for_each(|_| nested.go(-length, COMPOSED));
        assert!(nested.now.t[0].abs() < 1e-10, "{:e}", nested.now.t[0]);
        for (found, begin) in nested.now.motions.iter().zip(&begin.motions) {
            let missed = norm(&sub(&found.x, &begin.x));
            assert!(missed < 1e-10 * begin.r, "{missed:e}");
        }
    }
}

/// The stars are at the time that is asked for, to its last digits.
#[test]
fn a_flight_lands_at_its_time() {
    for stars in hierarchies() {
        let (masses, chain) = chain(&stars);
        let mut nested = Nested::new(&masses, &chain).expect("a hierarchy");
        assert_eq!(
            nested.at(0.0).unwrap(),
            nested
                .tree
                .chain(&nested.tree.motions(&chain), &chain.order)
        );
        for k in 1..200 {
            let t = 0.37 * f64::from(k);
            let before = nested.at(t - 1e-6).unwrap();
            let after = nested.at(t + 1e-6).unwrap();
            let now = nested.at(t).unwrap();
            assert!((nested.now.t[0] - t).abs() <= 4.0 * f64::EPSILON * t);
            for k in 0..now.x.len() {
                // The mean of two places differs by the acceleration only.
                let mean = [0, 1, 2].map(|c| 0.5 * (before.x[k][c] + after.x[k][c]));
                let speed = [0, 1, 2].map(|c| (after.x[k][c] - before.x[k][c]) / 2e-6);
                assert!(norm(&sub(&mean, &now.x[k])) < 2e-11, "{t}");
                assert!(
                    norm(&sub(&speed, &now.v[k])) < 1e-7 * norm(&now.v[k]).max(1.0),
                    "{t}"
                );
            }
        }
    }
}

/// A pair of the size 1e-9 far from the centre has the same digits after a flight of no length, and a chain through the hierarchy is
/// that through its stars.
#[test]
fn a_chain_keeps_its_digits() {
    let mut tight = orbit(
        [&binary([0.6, 0.4], 1e-9, 0.4, 0.0), &star(0.5)],
        1.0,
        0.3,
        0.6,
    );
    tight.swap(1, 2);
    let (masses, mut chain) = chain(&tight);
    let place = chain
        .order
        .windows(2)
        .position(|both| both == [0, 2] || both == [2, 0])
        .unwrap();
    chain.x[place] = [1.234_567_890_123_456e-9, 0.1e-9, 0.3e-10];
    let mut nested = Nested::new(&masses, &chain).expect("a hierarchy");
    let found = nested.at(0.0).unwrap();
    assert_eq!(
        (found.x[place], found.v[place]),
        (chain.x[place], chain.v[place])
    );
    for stars in hierarchies() {
        let (masses, chain) = self::chain(&stars);
        let (tree, _) = Tree::of(&masses, &chain).unwrap();
        let found = tree.chain(&tree.motions(&chain), &chain.order);
        assert_eq!(found.order, chain.order);
        let links = chain.x.iter().chain(&chain.v);
        for (found, link) in found.x.iter().chain(&found.v).zip(links) {
            assert!(norm(&sub(found, link)) < 1e-13 * norm(link).max(1.0));
        }
    }
}

/// What is no hierarchy, or has orbits that the steps do not resolve, is left to the few-body integrator.
#[test]
fn others_are_refused() {
    let is_accepted = |stars: &[Body]| {
        let (_, multiple) = Multiple::of(stars);
        let (masses, chain) = chain(&multiple.stars());
        is_nested(&masses, &chain, 1.0)
    };
    for stars in hierarchies() {
        assert!(is_accepted(&stars));
    }
    let inner = binary([0.6, 0.4], 1.0, 0.4, 0.0);
    assert!(!is_accepted(&inner));
    // Close, open, and perturbed too much.
    for (axis, e) in [(3.0, 0.1), (14.0, 1.2), (14.0, 0.85)] {
        assert!(
            !is_accepted(&orbit([&inner, &star(0.5)], axis, e, 0.6)),
            "{axis} {e}"
        );
    }
    // The pericentre of the wider binary is passed too fast.
    let second = binary([0.3, 0.2], 1.4, 0.9, 1.0);
    assert!(!is_accepted(&orbit([&inner, &second], 40.0, 0.2, 0.5)));
    for bad in [f64::NAN, f64::INFINITY, 0.0] {
        let mut stars = triple();
        stars[1].x = stars[1].x.map(|c| bad * c);
        let (masses, chain) = chain(&stars);
        if let Some(mut nested) = Nested::new(&masses, &chain) {
            let found = nested.at(100.0);
            assert!(found.is_none_or(|chain| chain.x[0][0].is_finite()));
        }
    }
}

/// Numbers that look like random ones, between two others.
fn noise() -> impl FnMut(f64, f64) -> f64 {
    let mut noise = 12_345_u64;
    move |least, most| {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        least + (most - least) * (noise >> 11) as f64 / 2.0_f64.powi(53)
    }
}

/// Random stable triples keep their energy, whenever they are looked at: those whose orbits perturb each other by up to the limit, and
/// those that move by the map.
#[test]
fn random_triples_keep_their_energy() {
    let mut between = noise();
    for (axes, least_maps, limits) in [
        ([0.6, 1.2], 0, [3e-9, 2e-8, 1e-7]),
        ([1.5, 2.2], 70, [3e-10, 2e-9, 3e-8]),
    ] {
        let (mut errors, mut maps) = (Vec::new(), 0);
        while errors.len() < 100 {
            let masses = [between(0.1, 1.0), between(0.1, 1.0)];
            let inner = binary(masses, 1.0, between(0.0, 0.97), between(0.0, 3.1));
            let third = star(between(0.1, 1.5));
            let axis = 10.0_f64.powf(between(axes[0], axes[1]));
            let stars = orbit([&inner, &third], axis, between(0.0, 0.9), between(0.0, 3.1));
            let (masses, chain) = chain(&stars);
            let Some(mut nested) = Nested::new(&masses, &chain) else {
                continue;
            };
            maps += usize::from(nested.scheme == Scheme::Map);
            let (before, scale) = (
                System::along(masses.clone(), chain).energy(),
                scale(&nested),
            );
            // Two revolutions of the outer orbit and more.
            let whole: f64 = masses.iter().sum();
            let span = 14.0 * (axis.powi(3) / whole).sqrt();
            let times = (1..=200).map(|k| span * f64::from(k) / 200.0);
            let errors_then = times.map(|t| (energy_at(&mut nested, t) - before).abs() / scale);
            errors.push(errors_then.max_by(f64::total_cmp).unwrap());
        }
        errors.sort_unstable_by(f64::total_cmp);
        let found = [49, 89, 99].map(|k| errors[k]);
        assert!(maps >= least_maps, "{maps}");
        let good = found
            .iter()
            .zip(limits)
            .all(|(found, limit)| *found < limit);
        assert!(good, "{found:?}");
    }
}

/// Triples whose orbits perturb each other by up to the limit, stable or not, over 128 periods of the inner one: where their energy is
/// not what it was, they have been flown along the chain.
#[test]
fn triples_whose_orbits_change_are_flown_along_the_chain() {
    let mut between = noise();
    let (mut nested_ones, mut others) = (0, 0);
    while nested_ones < 200 {
        let inner_masses = [between(0.1, 1.0), between(0.1, 1.0)];
        let (e, far, light) = (between(0.0, 0.99), between(2.0, 3.0), between(0.1, 1.5));
        let inner = binary(inner_masses, 1.0, e, between(0.0, 3.1));
        let outer_e = between(0.0, 0.97);
        let axis = far * (1.0 + e) / (1.0 - outer_e);
        let stars = orbit([&inner, &star(light)], axis, outer_e, between(0.0, 3.1));
        let (masses, chain) = chain(&stars);
        let mut flight = Flight::new(masses.clone(), chain.clone(), 1e-13);
        let Some(nested) = flight.nested.as_deref() else {
            continue;
        };
        nested_ones += 1;
        let scale = scale(nested);
        let energy = |chain: Chain| System::along(masses.clone(), chain).energy();
        let before = energy(chain);
        let period = std::f64::consts::TAU / (inner_masses[0] + inner_masses[1]).sqrt();
        for k in 1..=16 {
            let found = flight.at(8.0 * period * f64::from(k)).unwrap();
            let error = (energy(found) - before).abs() / scale;
            assert!(error < 1.01 * BAD, "{error:e}");
        }
        others += usize::from(flight.chained.is_some());
    }
    assert!((1..20).contains(&others), "{others}");
}

/// A thousand flights, each from where the one before ended, change neither the energy nor, by much, the angular momentum.
#[test]
fn flight_after_flight_keeps_the_energy() {
    for stars in [&hierarchies()[0], &hierarchies()[4]] {
        let (masses, mut chain) = chain(stars);
        let all = |chain: &Chain| {
            let system = System::along(masses.clone(), chain.clone());
            let mut momentum = [0.0; 3];
            for ((x, v), mass) in system.bodies().iter().zip(&masses) {
                add_scaled(&mut momentum, *mass, &crate::vector::cross(x, v));
            }
            (system.energy(), momentum)
        };
        let before = all(&chain);
        for k in 0..1000 {
            let mut nested = Nested::new(&masses, &chain).expect("a hierarchy");
            chain = nested.at(150.0 + 0.1 * f64::from(k)).expect("a flight");
        }
        let after = all(&chain);
        let scale = scale(&Nested::new(&masses, &chain).expect("a hierarchy"));
        let energy = (after.0 - before.0).abs() / scale;
        let momentum = norm(&sub(&after.1, &before.1)) / norm(&before.1);
        assert!(energy < 1e-11, "{energy:e}");
        assert!(momentum < 1e-9, "{momentum:e}");
    }
}
