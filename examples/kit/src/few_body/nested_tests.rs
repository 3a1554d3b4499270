//! Tests of stable hierarchies against the few-body integrator.

use super::*;
use crate::body::Body;
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

/// The triple, one whose inclined orbits change their shape, two binaries, and a triple with a fourth star.
fn hierarchies() -> [Vec<Body>; 4] {
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
    ]
}

fn chain(stars: &[Body]) -> (Vec<f64>, Chain) {
    let system = System::new(stars);
    (system.masses().to_vec(), system.chain().clone())
}

fn nested(stars: &[Body], steps: f64) -> Nested {
    let (masses, chain) = chain(stars);
    let (tree, _) = Tree::of(&masses, &chain).expect("a hierarchy");
    Nested::with_steps(tree, &chain, steps, Vec::new()).expect("bound stars")
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
    let sum = |terms: &[f64]| terms.iter().sum::<f64>();
    assert!((2.0 * sum(&DRIFTS[..4]) + DRIFTS[4] - 1.0).abs() < 1e-15);
    assert!((2.0 * sum(&KICKS) - 1.0).abs() < 1e-15);
    let mut at = 0.0;
    let times = [0, 1, 2, 3, 4, 5, 6, 7].map(|k: usize| {
        at += DRIFTS[k.min(8 - k)];
        (at, KICKS[k.min(7 - k)])
    });
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
    let (masses, _) = chain(&triple());
    let mut exact = System::new(&triple()).with_tolerance(1e-14);
    let energy = exact.energy();
    exact.advance(1000.0, &mut Alone).unwrap();
    let errors = [6.0, 12.0].map(|steps| {
        let mut nested = nested(&triple(), steps);
        let found = nested.at(1000.0).unwrap();
        let missed = norm(&sub(&found.relative(0, 1).0, &exact.relative(0, 1).0));
        let energies = (1..=50).map(|k| {
            let found = nested.at(20.0 * f64::from(k)).unwrap();
            (System::along(masses.clone(), found).energy() - energy).abs()
        });
        [missed, energies.fold(0.0, f64::max)]
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
        (0..1000).for_each(|_| nested.step(length));
        let moved = nested.now.motions.iter().zip(&begin.motions);
        let far = moved
            .map(|(now, begin)| norm(&sub(&now.x, &begin.x)))
            .fold(0.0, f64::max);
        assert!(far > 0.1 && nested.now.t[0] > 100.0);
        (0..1000).for_each(|_| nested.step(-length));
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

/// What is no stable hierarchy, or has orbits that the steps do not resolve, is left to the few-body integrator.
#[test]
fn others_are_refused() {
    let is_accepted = |stars: &[Body]| {
        let (_, multiple) = Multiple::of(stars);
        let (masses, chain) = chain(&multiple.stars());
        is_nested(&masses, &chain)
    };
    for stars in hierarchies() {
        assert!(is_accepted(&stars));
    }
    let inner = binary([0.6, 0.4], 1.0, 0.4, 0.0);
    assert!(!is_accepted(&inner));
    // Close, open, and perturbed too much.
    for (axis, e) in [(3.0, 0.1), (14.0, 1.2), (14.0, 0.7)] {
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
            assert!(
                nested
                    .at(100.0)
                    .is_ok_and(|chain| chain.x[0][0].is_finite())
            );
        }
    }
}

/// Random stable triples, some of whose orbits perturb each other by up to the limit, keep their energy over 200 revolutions, whenever
/// they are looked at.
#[test]
fn random_triples_keep_their_energy() {
    let mut noise = 12_345_u64;
    let mut between = |least: f64, most: f64| {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        least + (most - least) * (noise >> 11) as f64 / 2.0_f64.powi(53)
    };
    let mut errors = Vec::new();
    while errors.len() < 100 {
        let masses = [between(0.1, 1.0), between(0.1, 1.0)];
        let inner = binary(masses, 1.0, between(0.0, 0.97), between(0.0, 3.1));
        let third = star(between(0.1, 1.5));
        let axis = 10.0_f64.powf(between(0.6, 1.2));
        let stars = orbit([&inner, &third], axis, between(0.0, 0.9), between(0.0, 3.1));
        let (masses, chain) = chain(&stars);
        let Some(mut nested) = Nested::new(&masses, &chain) else {
            continue;
        };
        let energy = |chain: Chain| System::along(masses.clone(), chain).energy();
        let (before, scale) = (energy(chain), scale(&nested));
        let times = (1..=200).map(|k| 6.5 * f64::from(k));
        let errors_then = times.map(|t| (energy(nested.at(t).unwrap()) - before).abs() / scale);
        errors.push(errors_then.fold(0.0, f64::max));
    }
    errors.sort_unstable_by(f64::total_cmp);
    let [half, most, all] = [49, 89, 99].map(|k| errors[k]);
    assert!(
        half < 3e-9 && most < 2e-8 && all < 1e-7,
        "{half:e} {most:e} {all:e}"
    );
}
