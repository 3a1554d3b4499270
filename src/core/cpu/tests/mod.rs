//! Every instruction set, precision and width against the reference.

mod binary;
mod bits;
mod close;
mod extremes;
mod lists;
mod nearest;
mod noise;
mod reduced;
mod scenes;
mod softened;

use super::engine::Cpu;
use super::simd::portable::Portable;
use super::{available, build};
use crate::force::{Backend, ForceRequest, Results, reference};
use crate::process::settings::{InstructionSet, Precision};
use crate::random::Random;
use crate::sources::jmemory::{JMemory, PAGE, SourceKind};
use crate::sources::particle::{Force, IParticle, JParticle};

/// `n` particles around the origin, labels and addresses equal, moving.
fn cluster(n: i32, scale: f64) -> (JMemory, Vec<JParticle>) {
    let mut numbers = Random::new(7);
    let mut memory = JMemory::default();
    let particles: Vec<JParticle> = (0..n)
        .map(|index| JParticle {
            index,
            t: numbers.signed() / 16.0,
            mass: (1.5 + numbers.signed()) / f64::from(n),
            x: numbers.vector(scale),
            v: numbers.vector(1.0),
            aby2: numbers.vector(1.0),
            a1by6: numbers.vector(1.0),
            a2by18: numbers.vector(1.0),
        })
        .collect();
    for (address, p) in (0..).zip(&particles) {
        memory.write(address, p).unwrap();
    }
    (memory, particles)
}

/// The same particle without motion.
fn at_rest(star: &JParticle) -> JParticle {
    JParticle {
        index: star.index,
        mass: star.mass,
        x: star.x,
        ..JParticle::default()
    }
}

fn i_particles(from: &[JParticle], eps2: f64) -> Vec<IParticle> {
    from.iter()
        .map(|p| IParticle {
            index: p.index,
            x: p.x,
            v: p.v,
            eps2,
            h2: 0.0,
        })
        .collect()
}

/// Every backend that can run here, emulated widths too, with its name.
fn backends(precision: Precision, threads: usize) -> Vec<(String, Box<dyn Backend>)> {
    with_split(precision, threads, true)
}

fn with_split(
    precision: Precision,
    threads: usize,
    split: bool,
) -> Vec<(String, Box<dyn Backend>)> {
    let set = InstructionSet::Portable;
    let mut all: Vec<(String, Box<dyn Backend>)> = available()
        .into_iter()
        .map(|set| {
            let backend = build(set, precision, threads, split).unwrap();
            (set.to_string(), backend)
        })
        .collect();
    for absent in [
        InstructionSet::Avx512,
        InstructionSet::Avx2,
        InstructionSet::Neon,
    ] {
        if !available().contains(&absent) {
            println!("SKIPPED: this processor has no {absent}; its lanes are emulated");
        }
    }
    /// Emulations of the wider sets.
    macro_rules! emulated {
        ($($single:literal $double:literal),+) => {$(
            all.push((format!("emulated {}", $single), match precision {
                Precision::Mixed => Cpu::<Portable<f32, $single>, true>::boxed(Portable::default(), set, precision, threads, split),
                Precision::Single | Precision::Reduced => Cpu::<Portable<f32, $single>, false>::boxed(Portable::default(), set, precision, threads, split),
                Precision::Double | Precision::DoubleSingle => Cpu::<Portable<f64, $double>, false>::boxed(Portable::default(), set, precision, threads, split),
            }));
        )+};
    }
    emulated!(8 4, 16 8);
    all
}

fn results(backend: &mut dyn Backend, memory: &JMemory, block: &ForceRequest) -> Results {
    let mut results = Results::default();
    backend
        .finish(memory, block, true, &mut results)
        .expect("the CPU computes any block");
    results
}

/// Largest error of acceleration, jerk and potential, relative to the sums of the magnitudes of their terms.
fn errors(memory: &JMemory, block: &ForceRequest, found: &[Force]) -> [f64; 3] {
    let mut worst = [0.0_f64; 3];
    for (i, f) in block.particles.iter().zip(found) {
        let mut sum = Force::default();
        let mut magnitude = Force::default();
        for page in memory.pages(block.nj) {
            let mut x = [[0.0; PAGE]; 3];
            let mut v = [[0.0; PAGE]; 3];
            page.predict_positions(block.ti, &mut x);
            page.predict_velocities(block.ti, &mut v);
            for slot in page.slots(block.nj) {
                if page.index()[slot] == i.index {
                    continue;
                }
                let mut one = Force::default();
                let at = |c: &[[f64; PAGE]; 3]| [c[0][slot], c[1][slot], c[2][slot]];
                reference::add_pair(&mut one, i, page.mass()[slot], at(&x), at(&v));
                let norm = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
                magnitude.acc[0] += norm(one.acc);
                magnitude.jerk[0] += norm(one.jerk);
                magnitude.pot += one.pot.abs();
                for k in 0..3 {
                    sum.acc[k] += one.acc[k];
                    sum.jerk[k] += one.jerk[k];
                }
                sum.pot += one.pot;
            }
        }
        let difference = |a: [f64; 3], b: [f64; 3]| {
            [0, 1, 2]
                .map(|k| (a[k] - b[k]).powi(2))
                .iter()
                .sum::<f64>()
                .sqrt()
        };
        let relative = |d: f64, m: f64| if d == 0.0 { 0.0 } else { d / m };
        let now = [
            relative(difference(f.acc, sum.acc), magnitude.acc[0]),
            relative(difference(f.jerk, sum.jerk), magnitude.jerk[0]),
            relative((f.pot - sum.pot).abs(), magnitude.pot),
        ];
        for (w, e) in worst.iter_mut().zip(now) {
            assert!(e.is_finite(), "{f:?} for {i:?}");
            *w = w.max(e);
        }
    }
    worst
}

fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Mixed => 1e-6,
        Precision::Double | Precision::DoubleSingle => 1e-14,
        Precision::Single => 3e-4,
        // Thrice the error of a root, and once more for positions.
        Precision::Reduced => 1.5e-3,
    }
}

const PRECISIONS: [Precision; 3] = [Precision::Mixed, Precision::Double, Precision::Single];

fn assert_agrees(memory: &JMemory, block: &ForceRequest, precision: Precision) {
    let expected = results(&mut reference::Reference, memory, block);
    for (name, mut backend) in backends(precision, 2) {
        let found = results(&mut *backend, memory, block);
        let errors = errors(memory, block, &found.forces);
        assert!(
            errors.iter().all(|&e| e <= tolerance(precision)),
            "{name} {precision} nj = {}: {errors:?}",
            block.nj
        );
        assert_eq!(found.nearest, expected.nearest, "{name} {precision}");
    }
}

#[test]
fn sizes_around_every_boundary() {
    let (memory, particles) = cluster(1100, 1.0);
    let mut still = JMemory::default();
    for (address, p) in (0..).zip(&particles) {
        still.write(address, &at_rest(p)).unwrap();
    }
    for precision in PRECISIONS {
        for nj in [
            1, 2, 15, 16, 17, 127, 128, 129, 255, 257, 511, 512, 513, 1024, 1100, 5000,
        ] {
            for (first, ni) in [(0, 1), (500, 33)] {
                let mut block = ForceRequest {
                    nj,
                    ti: 0.03,
                    particles: i_particles(&particles[first..first + ni], 1e-4),
                };
                assert_agrees(&memory, &block, precision);
                for i in &mut block.particles {
                    i.v = [0.0; 3];
                    // Near the origin, where the numbers of absent particles are.
                    if i.index % 2 == 1 {
                        i.x = i.x.map(|x| x * 1e-3);
                    }
                }
                assert_agrees(&still, &block, precision);
            }
        }
    }
}

#[test]
fn no_softening_with_coincident_particles() {
    // Far out, what the low parts of positions lose is no small distance.
    for scale in [1.0, 1e5] {
        let (mut memory, mut particles) = cluster(300, scale);
        for pair in [(11, 210), (14, 220), (17, 200)] {
            particles[pair.0].x = particles[pair.1].x;
            let mut at_rest = particles[pair.0];
            at_rest.t = 0.0;
            memory.write(pair.0 as i32, &at_rest).unwrap();
            at_rest.index = pair.1 as i32;
            memory.write(at_rest.index, &at_rest).unwrap();
        }
        for precision in PRECISIONS {
            let block = ForceRequest {
                nj: 300,
                ti: 0.0,
                particles: i_particles(&particles[10..20], 0.0),
            };
            assert_agrees(&memory, &block, precision);
        }
    }
}

#[test]
fn holes_in_the_memory_and_labels_of_any_kind() {
    let mut numbers = Random::new(3);
    let mut memory = JMemory::default();
    let labels = [i32::MIN, -1, 0, 16_777_217, 16_777_216, i32::MAX];
    let mut particles = Vec::new();
    for (k, address) in (0..2600).step_by(7).enumerate() {
        let p = JParticle {
            index: labels[k % labels.len()],
            mass: 1.0,
            x: numbers.vector(1.0),
            ..Default::default()
        };
        memory.write(address, &p).unwrap();
        particles.push(p);
    }
    for precision in PRECISIONS {
        let block = ForceRequest {
            nj: 2000,
            ti: 1.0,
            particles: i_particles(&particles[..labels.len()], 0.0),
        };
        assert_agrees(&memory, &block, precision);
    }
}

/// Labels between those of the particles, and labels of two particles in one page or in two, all of whose slots are in use.
#[test]
fn labels_of_none_and_of_several() {
    let (_, mut particles) = cluster(1024, 1.0);
    for (k, p) in particles.iter_mut().enumerate() {
        p.index = match k {
            // As 150.
            300 => 300,
            // As 200 and later ones.
            512.. => 2 * (k as i32 - 312),
            _ => 2 * k as i32,
        };
    }
    let mut memory = JMemory::default();
    for (address, p) in (0..).zip(&particles) {
        memory.write(address, p).unwrap();
    }
    for precision in PRECISIONS {
        let mut block = ForceRequest {
            nj: 1024,
            ti: 0.03,
            particles: [140..160, 290..310, 700..710]
                .into_iter()
                .flat_map(|some| i_particles(&particles[some], 1e-4))
                .collect(),
        };
        for (k, i) in block.particles.iter_mut().enumerate() {
            i.index += i32::from(k % 5 == 0);
        }
        assert_agrees(&memory, &block, precision);
    }
}

#[test]
fn no_jerk_is_computed_at_rest_and_none_is_missed() {
    let (mut memory, particles) = cluster(600, 1.0);
    let mut resting = particles.clone();
    for (address, p) in (0..).zip(&mut resting) {
        *p = at_rest(p);
        memory.write(address, p).unwrap();
    }
    let mut still = JMemory::default();
    for (address, p) in (0..).zip(&resting) {
        still.write(address, p).unwrap();
    }
    for precision in PRECISIONS {
        for ti in [0.0, 2.0] {
            let mut block = ForceRequest {
                nj: 600,
                ti,
                particles: i_particles(&resting[..9], 1e-2),
            };
            block.particles[4].v = [0.0, 1.0, 0.0];
            for (_, mut backend) in backends(precision, 1) {
                let found = results(&mut *backend, &still, &block);
                assert!(found.forces[3].jerk.iter().all(|&j| j == 0.0));
                assert!(found.forces[4].jerk.iter().all(|&j| j != 0.0));
                // A page that once moved gives the same bits.
                let long = results(&mut *backend, &memory, &block);
                assert_eq!(long.forces, found.forces);
            }
            assert_agrees(&still, &block, precision);
        }
    }
}

#[test]
fn lengths_and_masses_in_any_units() {
    for (scale, mass) in [(1e18, 2e33), (1e-12, 1e-30), (3e9, 1e-3), (1e30, 1e40)] {
        let (_, mut particles) = cluster(700, scale);
        let mut memory = JMemory::default();
        for (address, p) in (0..).zip(&mut particles) {
            p.mass *= mass;
            p.v = p.v.map(|v| v * 1e5);
            p.aby2 = [0.0; 3];
            p.a1by6 = [0.0; 3];
            p.a2by18 = [0.0; 3];
            memory.write(address, p).unwrap();
        }
        for precision in PRECISIONS {
            for eps2 in [0.0, 1e-6 * scale * scale] {
                let block = ForceRequest {
                    nj: 700,
                    ti: 0.0,
                    particles: i_particles(&particles[..20], eps2),
                };
                assert_agrees(&memory, &block, precision);
            }
        }
    }
}

#[test]
fn stale_particles_beyond_nj_have_no_influence() {
    let (mut memory, particles) = cluster(300, 1.0);
    let block = ForceRequest {
        nj: 200,
        ti: 0.0,
        particles: i_particles(&particles[..30], 0.0),
    };
    for precision in PRECISIONS {
        for (name, mut backend) in backends(precision, 1) {
            let before = results(&mut *backend, &memory, &block);
            for value in [1e90, 1e-90, 1e13, f64::NAN, 0.7] {
                let mut stale = particles[250];
                stale.mass = value;
                stale.x = [value; 3];
                memory.write(250, &stale).unwrap();
                let after = results(&mut *backend, &memory, &block);
                if value == 1e13 || value == 0.7 {
                    assert_eq!(after.forces, before.forces, "{name} {precision}");
                }
                let errors = errors(&memory, &block, &after.forces);
                assert!(
                    errors.iter().all(|&e| e <= tolerance(precision)),
                    "{name}: {errors:?}"
                );
            }
        }
    }
}

#[test]
fn escapers_and_particles_of_two_scales() {
    for (far, count) in [(1e9, 1), (1e13, 3), (1e20, 2), (1e25, 150), (1e40, 60)] {
        let (mut memory, mut particles) = cluster(300, 1.0);
        for (address, p) in (0..).zip(&mut particles).skip(20).step_by(2).take(count) {
            p.x[1] *= far;
            memory.write(address, p).unwrap();
        }
        let block = ForceRequest {
            nj: 300,
            ti: 0.0,
            particles: i_particles(&particles[10..30], 0.0),
        };
        for precision in PRECISIONS {
            assert_agrees(&memory, &block, precision);
        }
    }
}

#[test]
fn particles_that_single_precision_cannot_tell_apart() {
    for (separation, x) in [
        (9.99e-16, 0.70000002),
        (3.3e-16, 0.7),
        (2.3e-16, 0.9),
        (1e-25, 0.0),
    ] {
        let (mut memory, mut particles) = cluster(40, 1.0);
        for index in [3, 4] {
            particles[index] = JParticle {
                index: index as i32,
                mass: 1.0,
                x: [x, 0.1, -0.2].map(|c| if x == 0.0 { 0.0 } else { c }),
                v: [0.5, -0.5, 1.0].map(|v| v * index as f64),
                ..Default::default()
            };
        }
        particles[4].x[0] += separation;
        memory.write(3, &particles[3]).unwrap();
        memory.write(4, &particles[4]).unwrap();
        let block = ForceRequest {
            nj: 40,
            ti: 0.0,
            particles: i_particles(&particles[3..5], 0.0),
        };
        for precision in PRECISIONS {
            assert_agrees(&memory, &block, precision);
        }
    }
}

#[test]
fn far_masses_pull_where_nothing_else_does() {
    for far in [1e9, 1e14, 1e15, 1e16, 1e19, 1e25] {
        let mut numbers = Random::new(11);
        let mut memory = JMemory::default();
        let mut particles = Vec::new();
        for index in 0..20 {
            let mut p = JParticle {
                index,
                x: numbers.vector(1.0),
                v: numbers.vector(1.0),
                ..Default::default()
            };
            if index % 10 == 1 {
                p.mass = 1.0;
                p.x[2] = far;
            }
            memory.write(index, &p).unwrap();
            particles.push(p);
        }
        for nj in [2, 20] {
            let block = ForceRequest {
                nj,
                ti: 0.0,
                particles: i_particles(&particles[..6], 0.0),
            };
            for precision in PRECISIONS {
                assert_agrees(&memory, &block, precision);
            }
        }
    }
}

#[test]
fn close_pairs_and_far_points_fall_back_to_double_precision() {
    let (mut memory, mut particles) = cluster(40, 1.0);
    particles[1] = particles[0];
    particles[1].index = 1;
    particles[1].x[0] += 1e-15;
    memory.write(1, &particles[1]).unwrap();
    let mut block = ForceRequest {
        nj: 40,
        ti: particles[0].t,
        particles: i_particles(&particles[..2], 0.0),
    };
    block.particles[0].x = [1e12, -1e13, 0.0];
    for (name, mut backend) in backends(Precision::Mixed, 1) {
        let found = results(&mut *backend, &memory, &block);
        let [acc, jerk, pot] = errors(&memory, &block, &found.forces);
        assert!(acc < 1e-14 && jerk < 1e-14 && pot < 1e-14, "{name}");
    }
}

#[test]
fn numbers_that_are_none_stay_where_they_belong() {
    let (mut memory, particles) = cluster(100, 1.0);
    let mut spoilt = particles[60];
    spoilt.x[1] = f64::NAN;
    memory.write(60, &spoilt).unwrap();
    for precision in PRECISIONS {
        for (name, mut backend) in backends(precision, 1) {
            let mut block = ForceRequest {
                nj: 100,
                ti: 0.0,
                particles: i_particles(&particles[58..62], 1e-4),
            };
            let all = results(&mut *backend, &memory, &block);
            assert!(
                !all.forces[0].is_finite(),
                "{name}: in the sum of the others"
            );
            assert!(all.forces[2].is_finite(), "{name}: not in its own");
            assert!(all.nearest.iter().all(|n| n.is_some_and(|n| n.index != 60)));
            block.nj = 60;
            let below = results(&mut *backend, &memory, &block);
            assert!(
                below.forces.iter().all(Force::is_finite),
                "{name}: beyond nj"
            );
            let mut resting = particles[..60].to_vec();
            resting.iter_mut().for_each(|star| *star = at_rest(star));
            resting[7].v[2] = f64::NAN;
            let mut still = JMemory::default();
            for (address, star) in (0..).zip(&resting) {
                still.write(address, star).unwrap();
            }
            let mut at_ease = block.clone();
            at_ease.particles.iter_mut().for_each(|i| i.v = [0.0; 3]);
            let among = results(&mut *backend, &still, &at_ease);
            assert!(
                among.forces.iter().all(|force| !force.is_finite()),
                "{name}: a velocity that is no number is none of zero"
            );
            block.particles[1].v[0] = f64::INFINITY;
            let spoilt = results(&mut *backend, &memory, &block);
            assert_eq!(
                spoilt.forces[0], below.forces[0],
                "{name}: other i-particles"
            );
        }
    }
}
