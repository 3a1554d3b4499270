//! `reduced` precision: its error, its bits, and what it leaves to `single`.

use super::super::simd::REDUCED_ERROR;
use super::*;
use crate::sources::jmemory::tests::AtRest;

/// The greatest error of a sum, relative to the sum of the magnitudes of its terms. It is three times the error of a
/// root, plus the error from rounding positions to single precision.
const MOST: f64 = 3.0 * REDUCED_ERROR + 3e-5;

/// How masses are given.
type MassOf = fn(usize) -> f64;

const MASSES: [MassOf; 3] = [
    |_| 0.25,
    |k| 1.0 + k as f64 / 700.0,
    |k| if k.is_multiple_of(3) { -1.0 } else { 0.5 },
];

/// Sources at rest, without labels or with labels that are the addresses.
fn sources(n: usize, labelled: bool, mass: MassOf) -> (JMemory, Vec<IParticle>) {
    let mut numbers = Random::new(3);
    let at: Vec<[f64; 3]> = (0..n).map(|_| numbers.vector(1.0)).collect();
    let mut memory = JMemory::of(match labelled {
        true => SourceKind::Moving,
        false => SourceKind::AtRest,
    });
    match labelled {
        true => {
            for (k, &x) in at.iter().enumerate() {
                let star = JParticle {
                    index: k as i32,
                    mass: mass(k),
                    x,
                    ..JParticle::default()
                };
                memory.write(k as i32, &star).unwrap();
            }
        }
        false => {
            let make = |k: usize| AtRest {
                mass: mass(k),
                x: at[k],
                eps2: 0.0,
            };
            let stars: Vec<_> = (0..n).map(make).collect();
            memory.fill_with(0, &stars).unwrap();
        }
    }
    let target = |(k, &x): (usize, _)| IParticle {
        index: if labelled { k as i32 } else { -1 },
        x,
        ..IParticle::default()
    };
    (memory, at.iter().enumerate().map(target).collect())
}

fn forces(backend: &mut dyn Backend, memory: &JMemory, block: &ForceRequest) -> Vec<Force> {
    let mut results = Results::default();
    backend.finish(memory, block, false, &mut results).unwrap();
    results.forces
}

/// Median over the particles of the error of the acceleration, relative to the sum of the magnitudes of its terms.
fn median_error(memory: &JMemory, block: &ForceRequest, found: &[Force]) -> f64 {
    let of = |(i, found): (&IParticle, &Force)| {
        let one = ForceRequest {
            particles: vec![*i],
            ..*block
        };
        errors(memory, &one, std::slice::from_ref(found))[0]
    };
    let mut all: Vec<f64> = block.particles.iter().zip(found).map(of).collect();
    let (_, median, _) = all.select_nth_unstable_by(block.particles.len() / 2, f64::total_cmp);
    *median
}

#[test]
fn no_pair_errs_by_more_than_a_thousandth() {
    for labelled in [false, true] {
        for mass in MASSES {
            for n in [1, 2, 9, 257, 700] {
                let (memory, mut particles) = sources(n, labelled, mass);
                particles.truncate(90);
                for eps2 in [0.0, 1e-4] {
                    particles.iter_mut().for_each(|i| i.eps2 = eps2);
                    let block = ForceRequest {
                        nj: n,
                        ti: 0.0,
                        particles: particles.clone(),
                    };
                    for (name, mut backend) in backends(Precision::Reduced, 2) {
                        let found = forces(&mut *backend, &memory, &block);
                        let [acc, _, pot] = errors(&memory, &block, &found);
                        let what = format!("{name}, {n}, labels {labelled}, softening {eps2}");
                        assert!(acc < MOST && pot < MOST, "{what}: {acc:e} {pot:e}");
                        // It is not `single` under another name.
                        let coarse = acc > 1e-6 || n < 257 || !matches!(&*name, "avx2" | "avx512");
                        assert!(coarse, "{what}: {acc:e}");
                        // Errors of pairs cancel, because the mean of the roots is right. The median leaves out particles
                        // whose nearest neighbour gives most of the force.
                        if n >= 257 {
                            let acc = median_error(&memory, &block, &found);
                            assert!(acc < 0.15 * MOST, "{what}: {acc:e}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn its_bits_depend_on_the_particle_and_the_sources_alone() {
    for labelled in [false, true] {
        for mass in MASSES {
            let (memory, mut particles) = sources(1100, labelled, mass);
            particles.truncate(300);
            let block = |particles: &[IParticle]| ForceRequest {
                nj: 1100,
                ti: 0.0,
                particles: particles.to_vec(),
            };
            for ((name, mut one), (_, mut many)) in backends(Precision::Reduced, 1)
                .into_iter()
                .zip(backends(Precision::Reduced, 5))
            {
                let all = forces(&mut *one, &memory, &block(&particles));
                let what = format!("{name}, labels {labelled}");
                let threads = forces(&mut *many, &memory, &block(&particles));
                assert_eq!(threads, all, "{what}");
                for run in [0..1, 100..140, 200..300] {
                    let found = forces(&mut *many, &memory, &block(&particles[run.clone()]));
                    assert_eq!(found, all[run], "{what}");
                }
            }
        }
    }
}

/// A particle with a velocity, or sources with velocities, have the forces and jerks of `single`.
#[test]
fn jerks_are_computed_in_single_precision() {
    let (moving, stars) = cluster(600, 1.0);
    let (resting, mut particles) = sources(600, true, MASSES[0]);
    particles[..300].iter_mut().for_each(|i| i.v = [1.0; 3]);
    let single = backends(Precision::Single, 1).into_iter();
    for ((name, mut reduced), (_, mut single)) in
        backends(Precision::Reduced, 1).into_iter().zip(single)
    {
        for (memory, particles, with_jerks) in [
            (&moving, i_particles(&stars, 0.0), 600),
            (&resting, particles.clone(), 300),
        ] {
            let block = ForceRequest {
                nj: 600,
                ti: 0.0,
                particles,
            };
            let [a, b] = [&mut reduced, &mut single].map(|b| forces(&mut **b, memory, &block));
            assert_eq!(a[..with_jerks], b[..with_jerks], "{name}");
        }
    }
}
