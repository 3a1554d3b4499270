//! Random scenes in scales from 1e-30 to 1e30. The errors of `mixed` and `double-single` are within their limits. The
//! bits of a scene do not depend on which scenes were computed before.

use ffi_tests::direct::{Probe, Source};
use ffi_tests::report::{self, Line};
use ffi_tests::sets::Set;
use kirin_core::random::Random;
use kirin_core::sources::particle::{Force, IParticle, JParticle};

use self::scenes::{Scene, errors, exact, scene};
use crate::inputs::write;
use crate::{PRECISIONS, forces};

#[path = "../../../../src/core/cpu/tests/binary.rs"]
#[allow(dead_code, reason = "the scenes need some of it")]
mod binary;
#[path = "../../../../src/core/cpu/tests/scenes.rs"]
#[allow(dead_code, reason = "its sets have addresses of their own")]
mod scenes;

/// Addresses of a set, all of which are written.
const SOURCES: i32 = 1536;

/// Scenes whose sources fit, with massless stars at all other addresses and one softening length.
fn fitting(seeds: impl Iterator<Item = u64>) -> Vec<Scene> {
    let mut fitting: Vec<Scene> = seeds.map(scene).collect();
    fitting.retain(|s| s.stars.iter().all(|(address, _)| *address < SOURCES));
    for scene in &mut fitting {
        let taken: Vec<i32> = scene.stars.iter().map(|s| s.0).collect();
        let at = scene.stars[0].1;
        let free = (0..SOURCES).filter(|address| !taken.contains(address));
        let fill = free.map(|address| {
            let star = JParticle {
                index: 1_000_000 + address,
                mass: 0.0,
                ..at
            };
            (address, star)
        });
        let fill: Vec<_> = fill.collect();
        scene.stars.extend(fill);
        scene.stars.sort_by_key(|s| s.0);
    }
    fitting
}

fn set_of(scene: &Scene) -> Set {
    let source = |(_, star): &(i32, JParticle)| Source {
        index: star.index,
        mass: star.mass,
        x: star.x,
        v: star.v,
        ..Source::default()
    };
    let probe = |i: &IParticle| Probe {
        index: i.index,
        x: i.x,
        v: i.v,
        h2: 0.0,
    };
    Set {
        ti: 0.0,
        eps2: scene.probes[0].eps2,
        sources: scene.stars.iter().map(source).collect(),
        probes: scene.probes.iter().map(probe).collect(),
    }
}

fn force(line: &Line) -> Force {
    Force {
        acc: line.acc,
        pot: line.pot,
        jerk: line.jerk,
    }
}

/// Scenes, each of them twice, the second time in reverse order.
pub fn check_scenes(seeds: impl Iterator<Item = u64>) {
    let scenes = fitting(seeds);
    let mut sets: Vec<Set> = scenes.iter().map(set_of).collect();
    sets.extend(sets.clone().into_iter().rev());
    let input = write(&sets);
    for precision in PRECISIONS {
        let run = |settings: &[(&str, &str)]| {
            let lines = forces(
                &input,
                &[&[("KIRIN_PRECISION", precision)], settings].concat(),
            )?;
            Some(report::parse(&lines))
        };
        let Some(first) = run(&[]) else {
            return;
        };
        let per_set = scenes[0].probes.len();
        let blocks: Vec<&[Line]> = first.chunks(per_set).collect();
        assert_eq!(blocks.len(), sets.len());
        let same = |a: &[Line], b: &[Line]| format!("{a:?}") == format!("{b:?}");
        for (k, scene) in scenes.iter().enumerate() {
            let (lines, again) = (blocks[k], blocks[sets.len() - 1 - k]);
            assert!(
                same(lines, again),
                "{precision}, scene {k}: other bits the second time"
            );
            // Of what is promised for `mixed`: of an acceleration, a jerk and a potential.
            let limits = match precision {
                "mixed" => Some([1.0; 3]),
                "double-single" => Some([1e-5, 1.0, 1e-5]),
                _ => None,
            };
            if let Some(limits) = limits {
                for (line, i) in lines.iter().zip(&scene.probes) {
                    let exact = exact(scene, i);
                    let errors = errors(&force(line), &exact);
                    let within = errors.iter().zip(limits).all(|(&e, most)| e <= most);
                    assert!(
                        within,
                        "{precision}, scene {k}: {errors:?}\n{line:?}\n{exact:?}"
                    );
                }
            }
        }
        for settings in [
            &[("FAKE_CUDA_MULTIPROCESSORS", "132"), ("KIRIN_NPIPES", "49")][..],
            &[("FAKE_CUDA_DEVICES", "3"), ("KIRIN_DEVICES", "all")],
            &[("KIRIN_PREDICTOR", "host"), ("KIRIN_SPLIT", "off")],
        ] {
            let found = run(settings).unwrap_or_default();
            assert!(
                same(&found, &first),
                "{precision}: other bits with {settings:?}"
            );
        }
    }
}

#[test]
fn random_scenes_of_any_scale() {
    check_scenes(1..=9);
}
