//! 2,000 random scenes in scales from 1e-30 to 1e30 on every instruction set of the processor: the errors of `mixed`, and
//! the same bits on 1, 2 and 4 threads and in repeated calls.

use kirin_core::cpu;
use kirin_core::force::{Backend, ForceRequest, Results};
use kirin_core::process::settings::Precision;
use kirin_core::random::Random;
use kirin_core::sources::jmemory::JMemory;
use kirin_core::sources::particle::{Force, IParticle, JParticle};

use self::scenes::{Scene, errors, exact, scene};

#[path = "../../src/core/cpu/tests/binary.rs"]
#[allow(dead_code, reason = "the scenes need some of it")]
mod binary;
#[path = "../../src/core/cpu/tests/scenes.rs"]
mod scenes;

const SCENES: u64 = 2000;

/// Writes a scene over another and computes its forces.
fn results(backend: &mut dyn Backend, memory: &mut JMemory, scene: &Scene) -> Results {
    for (address, star) in &scene.everywhere() {
        memory.write(*address, star).expect("there is memory");
    }
    let block = ForceRequest {
        nj: usize::MAX,
        ti: 0.0,
        particles: scene.probes.clone(),
    };
    let mut results = Results::default();
    let done = backend.finish(memory, &block, true, &mut results);
    done.expect("the CPU computes any block");
    results
}

fn bits(results: &Results) -> Vec<u64> {
    let numbers = results.forces.iter().flat_map(|f| {
        let [x, y, z] = f.acc;
        let [jx, jy, jz] = f.jerk;
        [x, y, z, f.pot, jx, jy, jz]
    });
    numbers.map(f64::to_bits).collect()
}

#[test]
fn errors_and_bits() {
    for set in cpu::available() {
        let mut used = [1, 2, 4].map(|threads| {
            let backend = cpu::build(set, Precision::Mixed, threads, true);
            (backend.expect("the processor has it"), JMemory::default())
        });
        let mut worst = [0.0_f64; 3];
        for seed in 1..=SCENES {
            let scene = scene(seed);
            let mut all = || {
                used.each_mut()
                    .map(|(backend, memory)| results(&mut **backend, memory, &scene))
            };
            let (found, again) = (all(), all());
            let fresh = cpu::build(set, Precision::Mixed, 1, true);
            let mut fresh = fresh.expect("the processor has it");
            let first = results(&mut *fresh, &mut JMemory::default(), &scene);
            for other in found.iter().chain(&again) {
                assert!(bits(other) == bits(&first), "scene {seed}, {set}");
                assert_eq!(other.nearest, first.nearest, "scene {seed}, {set}");
            }
            for (i, force) in scene.probes.iter().zip(&found[0].forces) {
                let exact = exact(&scene, i);
                let now = errors(force, &exact);
                let within = now.iter().all(|&e| e <= 1.0);
                assert!(within, "scene {seed}, {set}: {now:?}\n{force:?}\n{exact:?}");
                worst = [0, 1, 2].map(|k| worst[k].max(now[k]));
            }
        }
        println!("{set}: errors up to {worst:.2?} of what is promised");
    }
}
