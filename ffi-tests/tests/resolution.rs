//! CPU and GPU decide by the same condition whether single precision holds the sums of a leaf. The test compares
//! kernels/resolution.cuh with src/core/cpu/resolution.rs, for every combination of some values of each input.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use ffi_tests::compiler::source;
use ffi_tests::fake_cuda::{Product, Sanitizer, build, with_shim};
use ffi_tests::generate::repository;
use kirin_core::cpu::resolution::{LeafBounds, Resolution};

/// The spheres of `Sources::far`, and its bit for slow particles.
const SPHERES: [f64; 3] = [1024.0, 131_072.0, 16_777_216.0];
const IS_SLOW: u32 = 4;
const SLOW: f64 = 9.094947017729282e-13;

struct State {
    x: [f64; 3],
    v: [f64; 3],
    eps2: f64,
    split: bool,
    jerk: bool,
    far: u32,
    bounds: LeafBounds,
    sums: [f64; 8],
}

fn states() -> Vec<State> {
    let mut all = Vec::new();
    let bools = [false, true];
    for x in [0.0, 0.3, 7e4, 5e7, 3e9] {
        for v in [0.0, 1e-300, 1e-25, 2e-13, 1.0] {
            for eps2 in [0.0, 1e-4, 3e4, 1e9, 1e13, 3e16] {
                for (outside, radius) in [(0, 1.0), (1, 2e5), (2, 3e6), (3, 1e9), (3, 1e25)] {
                    for least_mass in [0.0, 1e-300, 1e-35, 1e-18, 1e-6, 1.0, f64::INFINITY] {
                        for one_sign in bools {
                            for (split, jerk, slow) in [
                                (true, true, false),
                                (true, true, true),
                                (true, false, false),
                                (false, true, false),
                            ] {
                                for potential in [0.0, 1e-20, 0.5, 1e3, f64::INFINITY, f64::NAN] {
                                    for found in [0.0, 1e-12, 1.0] {
                                        all.push(State {
                                            x: [x, -0.7 * x, 0.1 * x],
                                            v: [0.0, v, -0.5 * v],
                                            eps2,
                                            split,
                                            jerk,
                                            far: outside | if slow { IS_SLOW } else { 0 },
                                            bounds: LeafBounds {
                                                representable: true,
                                                one_sign,
                                                least_mass,
                                                radius,
                                                fastest: 3.0,
                                                slowest: if slow { 0.0 } else { SLOW },
                                            },
                                            sums: [0.1, 0.2, 0.3, -potential, found, 0.0, 0.0, 0.0],
                                        });
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    all
}

/// A number as C reads it exactly.
fn exact(x: f64) -> String {
    match x {
        x if x.is_nan() => "nan".to_owned(),
        x if x.is_infinite() => "inf".to_owned(),
        x => format!("{x:e}"),
    }
}

#[test]
fn cpu_and_gpu_resolve_the_same_sums() {
    let sources = with_shim(&[source("resolution.cc")]);
    let kernels = repository().join("kernels");
    let Some(folder) = build(Product::Program, Sanitizer::None, &sources, &[&kernels]) else {
        return;
    };
    let states = states();
    let mut text = String::new();
    for s in &states {
        for number in s.x.iter().chain(&s.v).chain([&s.eps2]) {
            let _ = write!(text, "{} ", exact(*number));
        }
        let flags = [
            s.split.into(),
            s.jerk.into(),
            s.far,
            s.bounds.one_sign.into(),
        ];
        let _ = write!(text, "{} {} {} {}", flags[0], flags[1], flags[2], flags[3]);
        let LeafBounds {
            least_mass,
            radius,
            fastest,
            slowest,
            ..
        } = s.bounds;
        for number in [least_mass, radius, fastest, slowest]
            .iter()
            .chain(&s.sums[..7])
        {
            let _ = write!(text, " {}", exact(*number));
        }
        text.push('\n');
    }
    let mut child = Command::new(folder.join("program"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads all");
    let lines = String::from_utf8(output.stdout).expect("text");
    assert_eq!(lines.lines().count(), states.len());
    let mut passed = 0;
    for (line, s) in lines.lines().zip(&states) {
        let found: Vec<f64> = line
            .split(' ')
            .map(|w| w.parse().expect("a number"))
            .collect();
        let truth = |b: bool| f64::from(u8::from(b));
        let reach = Resolution::of(&s.x, &s.v, s.eps2, s.split);
        let little = reach.loses_little(&s.sums, &s.bounds, s.jerk);
        let nothing = reach.loses_nothing(&s.bounds, s.jerk);
        let finite = s.sums.iter().all(|sum| sum.is_finite());
        let expected = [
            truth(reach.in_range),
            reach.closest,
            reach.closest2,
            reach.distance,
            reach.speed,
            truth(nothing),
            truth(little),
            truth(finite),
        ];
        let what = format!("{:?}\n{reach:?}\n{:?}", s.bounds, s.sums);
        assert_eq!(found[..8], expected, "{what}");
        // The trigger knows the page by the spheres only. What it lets pass stands.
        let sphere = SPHERES.get((s.far & 3) as usize);
        let page = LeafBounds {
            radius: sphere.map_or(f64::INFINITY, |r| 1.75 * r),
            ..s.bounds
        };
        if found[8] == 1.0 {
            passed += 1;
            let massless = s.bounds.least_mass == f64::INFINITY;
            let stands = reach.holds(&s.sums, &page, s.jerk)
                && (reach.loses_nothing(&page, s.jerk) || massless);
            assert!(stands && reach.are_apart(&s.sums, &page), "{what}");
        }
    }
    assert!(passed * 100 > states.len(), "{passed} of {}", states.len());
}
