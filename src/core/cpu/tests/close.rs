//! Close pairs: the errors of `mixed` over separation and distance from the origin.

use super::binary::{MASSES, PROMISED, greater, relative_errors, stars};
use super::*;
use crate::sources::jmemory::tests::AtRest;

/// With `KIRIN_ERRORS` in the environment it prints the table of benches/results/close-pairs.md and asserts nothing.
#[test]
fn every_separation_at_every_distance_from_the_origin() {
    let table = std::env::var_os("KIRIN_ERRORS").is_some();
    for masses in MASSES {
        for distance in [0.0, 1e-3, 1.0, 30.0, 1e3, 8e3, 1e6] {
            for exponent in 0..=15 {
                let separation = 10.0_f64.powi(-exponent);
                let mut worst = [0.0; 3];
                for seed in 1..=4 {
                    let stars = stars(seed, separation, distance, masses);
                    let mut memory = JMemory::default();
                    for (address, star) in (0..).zip(&stars) {
                        memory.write(address, star).unwrap();
                    }
                    let block = ForceRequest {
                        nj: stars.len(),
                        ti: 0.0,
                        particles: i_particles(&stars[..2], 0.0),
                    };
                    let expected = results(&mut reference::Reference, &memory, &block);
                    for (name, mut backend) in backends(Precision::Mixed, 1) {
                        let found = results(&mut *backend, &memory, &block);
                        let errors = relative_errors(&found.forces, &expected.forces);
                        worst = [0, 1, 2].map(|k| greater(worst[k], errors[k]));
                        if table {
                            continue;
                        }
                        let within = errors.iter().zip(PROMISED).all(|(e, most)| *e < most);
                        let what = format!("{name}, {masses:?}, {separation:e} at {distance:e}");
                        assert!(within, "{what}, seed {seed}: {errors:?}");
                        assert_eq!(found.nearest, expected.nearest, "{what}");
                    }
                }
                if table {
                    let [acc, jerk, pot] = worst;
                    println!(
                        "{masses:?} {distance:.0e} {separation:.0e} {acc:.1e} {jerk:.1e} {pot:.1e}"
                    );
                }
            }
        }
    }
}

/// Single stars and binaries in one block: each star of a binary costs one leaf in double precision, and no other
/// star costs any. (The group "binaries" of benches/cpu.rs measures what such a leaf costs; the time of an
/// unoptimised test would not tell.)
#[test]
fn a_star_of_a_binary_costs_one_leaf() {
    for n in [512, 4096] {
        let (_, mut stars) = cluster(n, 1.0);
        let mut memory = JMemory::default();
        for index in 0..n {
            let at = index as usize;
            stars[at].t = 0.0;
            // Of four stars two are a binary.
            if index % 4 == 1 {
                stars[at] = stars[at - 1];
                stars[at].index = index;
                stars[at].x[0] += 1e-9;
            }
            memory.write(index, &stars[at]).unwrap();
        }
        let mut particles = i_particles(&stars, 0.0);
        particles.truncate(512);
        let block = ForceRequest {
            nj: stars.len(),
            ti: 0.0,
            particles,
        };
        for (name, mut backend) in backends(Precision::Mixed, 1) {
            results(&mut *backend, &memory, &block);
            assert_eq!(backend.leaves_again(), 256, "{name}, {n} stars");
        }
    }
}

/// GRAPE-5's clients ask for the force on the j-particles themselves, without softening.
#[test]
fn who_is_where_a_source_at_rest_is_costs_no_second_look() {
    let mut numbers = Random::new(3);
    let at: Vec<[f64; 3]> = (0..700).map(|_| numbers.vector(1.0)).collect();
    let mut memory = JMemory::of(SourceKind::AtRest);
    let make = |k: usize| AtRest {
        mass: 1.0 + k as f64 / 700.0,
        x: at[k],
        eps2: 0.0,
    };
    let stars: Vec<_> = (0..at.len()).map(make).collect();
    memory.fill_with(0, &stars).unwrap();
    let particles = at.iter().map(|&x| IParticle {
        index: 1,
        x,
        ..IParticle::default()
    });
    let mut block = ForceRequest {
        ti: 0.0,
        nj: at.len(),
        particles: particles.collect(),
    };
    for precision in [Precision::Mixed, Precision::Single, Precision::Double] {
        for (name, mut backend) in backends(precision, 1) {
            let forces = |backend: &mut dyn Backend, block: &ForceRequest| {
                let mut results = Results::default();
                backend.finish(&memory, block, false, &mut results).unwrap();
                results.forces
            };
            let all = forces(&mut *backend, &block);
            assert_eq!(backend.leaves_again(), 0, "{name} {precision}");
            let [acc, _, pot] = errors(&memory, &block, &all);
            assert!(
                acc < 2e-5 && pot < 2e-5,
                "{name} {precision}: {acc:e} {pot:e}"
            );
            // Few are looked for without a table. Their bits are the same.
            let whole = std::mem::take(&mut block.particles);
            block.particles = whole[..5].to_vec();
            let few = forces(&mut *backend, &block);
            assert_eq!(few[..], all[..5], "{name} {precision}");
            assert_eq!(backend.leaves_again(), 0, "{name} {precision}");
            // What is only nearly there is a close pair.
            if precision == Precision::Mixed {
                for x in &mut block.particles[0].x {
                    *x *= 1.0 + f64::EPSILON;
                }
                forces(&mut *backend, &block);
                assert_eq!(backend.leaves_again(), 1, "{name}");
            }
            block.particles = whole;
        }
    }
}

/// I-particles with softening and without, each where a source is. Beside some of these is another source that single precision
/// takes for the same place, and some are two at one place.
#[test]
fn who_is_where_a_source_is_meets_all_others() {
    let mut numbers = Random::new(4);
    let mut at: Vec<[f64; 3]> = (0..700).map(|_| numbers.vector(1.0)).collect();
    for k in (9..690).step_by(70) {
        at[k + 1] = at[k].map(|x| x * (1.0 + 1e-14));
        at[k + 5] = at[k + 4];
    }
    for equal in [false, true] {
        let make = |k: usize| AtRest {
            mass: if equal { 1.0 } else { 1.0 + k as f64 / 700.0 },
            x: at[k],
            eps2: 0.0,
        };
        let mut memory = JMemory::of(SourceKind::AtRest);
        let stars: Vec<_> = (0..at.len()).map(make).collect();
        memory.fill_with(0, &stars).unwrap();
        let particles = at.iter().enumerate().map(|(k, &x)| IParticle {
            index: -1,
            x,
            eps2: [0.0, 0.0, 1e-4][k % 3],
            ..IParticle::default()
        });
        let block = ForceRequest {
            ti: 0.0,
            nj: at.len(),
            particles: particles.collect(),
        };
        for precision in PRECISIONS {
            for (name, mut backend) in backends(precision, 1) {
                let mut results = Results::default();
                backend
                    .finish(&memory, &block, false, &mut results)
                    .unwrap();
                for (i, found) in block.particles.iter().zip(&results.forces) {
                    let one = ForceRequest {
                        particles: vec![*i],
                        ..block
                    };
                    let [acc, _, pot] = errors(&memory, &one, std::slice::from_ref(found));
                    assert!(
                        acc < 2e-5 && pot < 2e-5,
                        "{name} {precision} {equal}: {acc:e} {pot:e}, {i:?}"
                    );
                }
            }
        }
    }
}

/// Sources, and i-particles without softening at their places.
fn at_their_places(kind: SourceKind, stars: &[AtRest]) -> (JMemory, ForceRequest) {
    let mut memory = JMemory::of(kind);
    memory.fill_with(0, stars).unwrap();
    let particles = stars.iter().map(|star| IParticle {
        index: -1,
        x: star.x,
        ..IParticle::default()
    });
    let block = ForceRequest {
        ti: 0.0,
        nj: stars.len(),
        particles: particles.collect(),
    };
    (memory, block)
}

/// A tiny mass among others: the potential proves nothing, and a second look finds no close pair, without the i-particle itself.
#[test]
fn who_is_where_a_source_is_is_no_close_pair_of_a_tiny_mass() {
    let mut numbers = Random::new(5);
    let stars: Vec<AtRest> = (0..700)
        .map(|k| AtRest {
            mass: if k == 100 { 1e-8 } else { 1.0 },
            x: numbers.vector(1.0),
            eps2: 0.0,
        })
        .collect();
    let (memory, block) = at_their_places(SourceKind::AtRest, &stars);
    for (name, mut backend) in backends(Precision::Mixed, 1) {
        let mut results = Results::default();
        backend
            .finish(&memory, &block, false, &mut results)
            .unwrap();
        assert_eq!(backend.leaves_again(), 0, "{name}");
        let [acc, _, pot] = errors(&memory, &block, &results.forces);
        assert!(acc < 1e-6 && pot < 1e-6, "{name}: {acc:e} {pot:e}");
    }
}

#[test]
fn who_is_where_a_source_is_meets_sources_with_softening() {
    let mut numbers = Random::new(6);
    let stars: Vec<AtRest> = (0..700)
        .map(|k| AtRest {
            mass: 1.0 + f64::from(k % 2),
            x: numbers.vector(1.0),
            eps2: [0.0, 1e-2, 1e-4][k as usize % 3],
        })
        .collect();
    let (memory, block) = at_their_places(SourceKind::Softened, &stars);
    let mut expected = Results::default();
    let done = reference::Reference.finish(&memory, &block, false, &mut expected);
    done.expect("the reference computes any block");
    for precision in PRECISIONS {
        for (name, mut backend) in backends(precision, 1) {
            let mut results = Results::default();
            backend
                .finish(&memory, &block, false, &mut results)
                .unwrap();
            for (a, b) in results.forces.iter().zip(&expected.forces) {
                let size = b.acc.iter().fold(1e3, |most: f64, c| most.max(c.abs()));
                let near = (0..3).all(|k| (a.acc[k] - b.acc[k]).abs() < 1e-4 * size);
                assert!(
                    near && (a.pot / b.pot - 1.0).abs() < 1e-5,
                    "{name} {precision}: {a:?} {b:?}"
                );
            }
        }
    }
}

/// A slot that was never written lies at the origin, as far as its memory goes. An i-particle there meets nobody, with a table
/// and without: its bits do not depend on what was asked before.
#[test]
fn who_is_at_the_origin_does_not_meet_slots_that_hold_nothing() {
    let mut numbers = Random::new(5);
    let mut memory = JMemory::of(SourceKind::AtRest);
    let mut make = |_| AtRest {
        mass: 1.0,
        x: numbers.vector(1.0),
        eps2: 0.0,
    };
    let stars: Vec<_> = (0..300).map(&mut make).collect();
    memory.fill_with(0, &stars).unwrap();
    memory.fill_with(400, &[make(0)]).unwrap();
    let at = |x| IParticle {
        index: 1,
        x,
        ..IParticle::default()
    };
    let mut one = ForceRequest {
        ti: 0.0,
        nj: 401,
        particles: vec![at([0.0; 3])],
    };
    let many = ForceRequest {
        particles: stars.iter().map(|star| at(star.x)).collect(),
        ..one.clone()
    };
    for precision in [Precision::Mixed, Precision::Single, Precision::Double] {
        for (name, mut backend) in backends(precision, 1) {
            let mut forces = |block: &ForceRequest| {
                let mut results = Results::default();
                backend.finish(&memory, block, false, &mut results).unwrap();
                results.forces
            };
            let without = forces(&one);
            forces(&many);
            assert_eq!(forces(&one), without, "{name} {precision}");
            // Among others.
            one.particles.push(at(stars[0].x));
            assert_eq!(forces(&one)[0], without[0], "{name} {precision}");
            one.particles.truncate(1);
            let [acc, _, pot] = errors(&memory, &one, &without);
            assert!(acc < 2e-5 && pot < 2e-5, "{name} {precision}");
        }
    }
}
