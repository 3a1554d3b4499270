//! Close pairs: the errors of `mixed` over separation and distance from the origin.

use super::*;

/// Relative errors of acceleration, jerk and potential, and what is promised.
const PROMISED: [f64; 3] = [1e-6, 2e-6, 1e-6];

/// Masses of the two stars of a binary, in those of a cluster star.
const MASSES: [(f64, f64); 3] = [(1.0, 1.0), (1.0, 1e-3), (1e-6, 1e6)];

/// A cluster of 600 stars in a cube of size 2, every seventh of which has no mass, `distance` from the origin; beside it,
/// where neither accelerations nor jerks of the others cancel, the two stars of a binary of this separation on a circular orbit.
fn scene(
    seed: u64,
    separation: f64,
    distance: f64,
    (first, second): (f64, f64),
) -> (JMemory, Vec<JParticle>) {
    const N: usize = 600;
    let mut numbers = Numbers(seed);
    let centre = unit(numbers.vector(1.0)).map(|c| c * distance);
    let beside = unit(numbers.vector(1.0)).map(|c| 2.0 * c);
    let mut stars: Vec<JParticle> = (0..N)
        .map(|index| {
            let (x, v) = (numbers.vector(1.0), numbers.vector(1.0));
            JParticle {
                index: index as i32,
                mass: if index % 7 == 6 { 0.0 } else { 1.0 / N as f64 },
                x: [0, 1, 2].map(|k| centre[k] + beside[k] + x[k]),
                v,
                ..JParticle::default()
            }
        })
        .collect();
    let along = unit(numbers.vector(1.0));
    let any = numbers.vector(1.0);
    let dot = (0..3).map(|k| along[k] * any[k]).sum::<f64>();
    let across = unit([0, 1, 2].map(|k| any[k] - dot * along[k]));
    let speed = ((first + second) / N as f64 / separation).sqrt();
    stars[0].mass = first / N as f64;
    stars[1].mass = second / N as f64;
    stars[0].x = centre;
    stars[0].v = beside;
    for k in 0..3 {
        stars[1].x[k] = centre[k] + separation * along[k];
        stars[1].v[k] = stars[0].v[k] + speed * across[k];
    }
    let mut memory = JMemory::default();
    for (address, star) in (0..).zip(&stars) {
        memory.write(address, star).unwrap();
    }
    (memory, stars)
}

fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    v.map(|c| c / length)
}

/// Largest errors of acceleration, jerk and potential of single stars, relative to each.
fn relative_errors(found: &[Force], exact: &[Force]) -> [f64; 3] {
    let norm = |a: [f64; 3]| a.iter().map(|c| c * c).sum::<f64>().sqrt();
    let error = |a: [f64; 3], b: [f64; 3]| {
        norm([a[0] - b[0], a[1] - b[1], a[2] - b[2]]) / norm(b).max(f64::MIN_POSITIVE)
    };
    found.iter().zip(exact).fold([0.0; 3], |worst, (f, e)| {
        let now = [
            error(f.acc, e.acc),
            error(f.jerk, e.jerk),
            ((f.pot - e.pot) / e.pot).abs(),
        ];
        [0, 1, 2].map(|k| greater(worst[k], now[k]))
    })
}

/// What is not a number is greater than anything.
fn greater(a: f64, b: f64) -> f64 {
    if b <= a { a } else { b }
}

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
                    let (memory, stars) = scene(seed, separation, distance, masses);
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

/// A block of binaries, to within a cluster of single stars: each of their stars costs one leaf in double
/// precision and no other star any. What such a leaf costs beside another one is measured by the
/// group "binaries" of benches/cpu.rs: at optimisation level 1 and beside other tests no time tells.
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
