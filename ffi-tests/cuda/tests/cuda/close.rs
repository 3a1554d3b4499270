//! Leaves that single precision cannot sum are summed again in double precision on the device, and no others are.

use std::fs;

use ffi_tests::direct;
use ffi_tests::library;
use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::{Set, cloud, probe};
use kirin_core::random::Random;
use kirin_core::sources::particle::{Force, JParticle};

use self::binary::{MASSES, PROMISED, relative_errors, stars};
use crate::bits::same_of;
use crate::inputs::{PRECISIONS, set, still, write};
use crate::{forces, input};

#[path = "../../../../src/core/cpu/tests/binary.rs"]
mod binary;

/// How often a client's first block is computed: a second time when nearest neighbours are asked for.
const TWICE: u64 = 2;

/// What a client prints about some sets, how many leaves were summed again, and how many seconds that took.
fn redone(sets: &[Set], settings: &[(&str, &str)]) -> Option<(String, u64, f64)> {
    let input = write(sets);
    let report = library::workspace().join(format!(
        "{}-stats",
        input.file_name().expect("a file").display()
    ));
    let path = report.to_str().expect("a path of letters");
    let out = forces(&input, &[&[("KIRIN_STATS", path)], settings].concat())?;
    let text = fs::read_to_string(&report).expect("the statistics");
    let line = text.lines().find_map(|l| l.trim().strip_prefix("redone "));
    let words: Vec<&str> = line.expect("a line").split_whitespace().collect();
    let leaves = words[0].parse().expect("how many leaves");
    Some((out, leaves, words[5].parse().expect("how long")))
}

/// The forces of a set as the plain sum has them, in a backend's form.
fn exact(set: &Set) -> Vec<Force> {
    let sums = set
        .probes
        .iter()
        .map(|p| direct::force(p, set.sources.iter(), set.ti, set.eps2));
    sums.map(|s| Force {
        acc: s.acc,
        pot: s.pot,
        jerk: s.jerk,
    })
    .collect()
}

fn of_particle(p: &JParticle) -> direct::Source {
    direct::Source {
        index: p.index,
        t: p.t,
        mass: p.mass,
        a2by18: p.a2by18,
        a1by6: p.a1by6,
        aby2: p.aby2,
        v: p.v,
        x: p.x,
    }
}

/// A set whose first `probes` sources are probes too.
fn without_softening(stars: &[JParticle], probes: usize) -> Set {
    let sources: Vec<_> = stars.iter().map(of_particle).collect();
    let probes = sources[..probes]
        .iter()
        .map(|s| probe(s, 0.0, 0.0))
        .collect();
    Set {
        ti: 0.0,
        eps2: 0.0,
        sources,
        probes,
    }
}

#[test]
fn every_separation_at_every_distance_from_the_origin() {
    every_separation("mixed", PROMISED, 1);
}

/// In double-single precision a leaf is summed again if a pair is closer than 2^-9 of the distance from the origin.
/// At the distance 1e6 this holds for all other stars.
#[test]
fn every_separation_in_pairs_of_singles() {
    every_separation("double-single", [1e-11, PROMISED[1], 1e-11], 6);
}

/// The errors of both stars of a binary are as promised. For each star at most `times` leaves are summed again. If
/// `times` is 1, this is the leaf of its companion.
fn every_separation(precision: &str, promised: [f64; 3], times: u64) {
    for (seed, masses) in (1..).zip(MASSES) {
        let mut sets = Vec::new();
        let mut names = Vec::new();
        for distance in [0.0, 1.0, 1e3, 1e6] {
            for exponent in 0..=15 {
                let separation = 10.0_f64.powi(-exponent);
                let stars = stars(seed, separation, distance, masses);
                sets.push(without_softening(&stars, 2));
                names.push(format!("{masses:?}, {separation:e} at {distance:e}"));
            }
        }
        let settings = [("KIRIN_PRECISION", precision)];
        let Some((out, leaves, seconds)) = redone(&sets, &settings) else {
            return;
        };
        let lines = report::parse(&out);
        assert_eq!(lines.len(), 2 * sets.len());
        for ((set, lines), what) in sets.iter().zip(lines.chunks(2)).zip(&names) {
            let found: Vec<Force> = lines
                .iter()
                .map(|l| Force {
                    acc: l.acc,
                    pot: l.pot,
                    jerk: l.jerk,
                })
                .collect();
            let errors = relative_errors(&found, &exact(set));
            let within = errors.iter().zip(promised).all(|(e, most)| *e < most);
            assert!(within, "{what}: {errors:?}");
            for (line, probe) in lines.iter().zip(&set.probes) {
                let nearest = direct::nearest(probe, set.sources.iter(), set.ti);
                assert_eq!(Some(line.nearest), nearest.map(|n| n.0), "{what}");
            }
        }
        // For each of the two stars, at most the leaf of its companion.
        let most = 2 * times * (sets.len() as u64 + 1);
        assert!((most / 4..=most).contains(&leaves), "{leaves} of {most}");
        assert!(seconds > 0.0);
    }
}

/// Every second star has a companion, in its own leaf or in another, too close for single and for split coordinates.
fn binaries(nj: usize, ni: usize) -> Set {
    let mut set = set(nj, ni, 0.0);
    set.sources.iter_mut().for_each(|s| s.t = set.ti);
    let mut random = Random::new(11);
    for first in (0..nj / 2).step_by(2) {
        let second = if first % 4 == 0 {
            first + 1
        } else {
            nj - 1 - first
        };
        let shift = random.vector(1e-8);
        let (one, other) = (set.sources[first], &mut set.sources[second]);
        *other = direct::Source {
            index: other.index,
            mass: other.mass,
            v: random.vector(1.0),
            ..one
        };
        other.x = [0, 1, 2].map(|k| one.x[k] + shift[k]);
    }
    for source in &mut set.sources {
        source.x[0] += 30.0;
    }
    for (place, source) in set.probes.iter_mut().zip(&set.sources) {
        *place = probe(source, set.ti, 0.2);
    }
    set
}

#[test]
fn the_same_bits_wherever_leaves_are_summed_again() {
    let set = binaries(2300, 330);
    let (off, many) = (("KIRIN_SPLIT", "off"), ("FAKE_CUDA_MULTIPROCESSORS", "132"));
    let all = ("KIRIN_DEVICES", "all");
    same_of(
        &set,
        &[
            &[("FAKE_CUDA_DEVICES", "3"), all, ("KIRIN_JOIN", "host")],
            &[("KIRIN_PREDICTOR", "host"), ("KIRIN_JOIN", "device")],
            &[off, ("KIRIN_NPIPES", "49")],
            &[
                ("KIRIN_NPIPES", "16384"),
                ("FAKE_CUDA_MULTIPROCESSORS", "2"),
            ],
            &[
                ("KIRIN_NPIPES", "16384"),
                ("FAKE_CUDA_MULTIPROCESSORS", "1"),
            ],
            &[many, ("KIRIN_NPIPES", "49")],
            &[("FAKE_CUDA_ORDER", "3"), ("FAKE_CUDA_MAPS", "0")],
        ],
    );
}

/// The number of leaves that are summed again does not depend on how the work is divided. Nor does it depend on whether
/// the count is in the memory of the host or of the device. The stars are at rest, or move.
#[test]
fn as_many_leaves_however_the_work_is_divided() {
    let moving = binaries(1500, 300);
    for set in [still(moving.clone()), moving] {
        let set = [set];
        for settings in [
            &[("FAKE_CUDA_MULTIPROCESSORS", "132")][..],
            &[("FAKE_CUDA_MULTIPROCESSORS", "1")],
            &[("FAKE_CUDA_MAPS", "0"), ("KIRIN_SPLIT", "off")],
            &[("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "all")],
        ] {
            let settings = [&[("KIRIN_NPIPES", "1000")], settings].concat();
            let Some((out, leaves, _)) = redone(&set, &settings) else {
                return;
            };
            report::check(&out, &set[0], Tolerance::MIXED, true);
            // Three quarters of the stars have a companion.
            assert_eq!(leaves, TWICE * 300 * 3 / 4, "{settings:?}");
        }
    }
}

/// The first thread of a block adds up the counts of all threads, so it must wait until they have finished counting. A
/// single page is the critical case, because no further barrier follows it. Threads have 1, 2 and 4 i-particles.
#[test]
fn leaves_of_a_last_page_are_counted() {
    let moving = binaries(500, 500);
    for set in [still(moving.clone()), moving] {
        for (ni, multiprocessors) in [(500, "4"), (500, "1"), (2048, "1")] {
            let mut set = set.clone();
            set.probes = set.probes.iter().copied().cycle().take(ni).collect();
            let settings = [
                ("KIRIN_NPIPES", "2048"),
                ("FAKE_CUDA_MULTIPROCESSORS", multiprocessors),
            ];
            let Some((out, leaves, _)) = redone(std::slice::from_ref(&set), &settings) else {
                return;
            };
            report::check(&out, &set, Tolerance::MIXED, true);
            assert!(leaves >= ni as u64, "{leaves} leaves, {settings:?}");
        }
    }
}

/// Particles without mass exert no force: at any distance, nothing is summed again.
#[test]
fn massless_stars_and_the_least_softening_send_no_leaf_there() {
    let mut set = set(1200, 100, 1e-30);
    for n in (0..1200).step_by(3) {
        set.sources[n + 1] = direct::Source {
            index: set.sources[n + 1].index,
            mass: 0.0,
            ..set.sources[n]
        };
        for x in &mut set.sources[n + 1].x {
            *x *= 1.0 + 1e-9;
        }
    }
    set.probes = set.sources[..100]
        .iter()
        .map(|s| probe(s, set.ti, 0.2))
        .collect();
    set.probes.retain(|p| (p.index - 100) / 3 % 3 != 1);
    let set = [set];
    if let Some((out, leaves, _)) = redone(&set, &[]) {
        assert_eq!(leaves, 0);
        report::check(&out, &set[0], Tolerance::MIXED, true);
    }
}

/// One source that is not finite makes every sum not finite; only its own leaf is summed again for each i-particle.
#[test]
fn a_particle_that_is_nowhere_spoils_one_leaf() {
    let mut spoilt = set(1000, 60, 1e-4);
    spoilt.sources[700].x[1] = f64::NAN;
    for precision in PRECISIONS {
        let settings = [("KIRIN_PRECISION", precision)];
        let Some((out, leaves, _)) = redone(&[spoilt.clone()], &settings) else {
            return;
        };
        let lines = report::parse(&out);
        assert_eq!(
            (lines.len() as u64, leaves),
            (60, TWICE * 60),
            "{precision}"
        );
        for (line, probe) in lines.iter().zip(&spoilt.probes) {
            assert!(line.pot.is_nan() && line.acc[0].is_nan(), "{line:?}");
            let nearest = direct::nearest(probe, spoilt.sources.iter(), spoilt.ti);
            assert_eq!(Some(line.nearest), nearest.map(|n| n.0), "{precision}");
        }
    }
}

/// Pairs that coincide, that are far from the origin, and whose softening exceeds single precision's range.
#[test]
fn what_single_precision_cannot_hold() {
    let mut coincident = set(700, 200, 0.0);
    coincident
        .sources
        .iter_mut()
        .for_each(|s| s.t = coincident.ti);
    for n in (0..700).step_by(5) {
        coincident.sources[n] = direct::Source {
            index: coincident.sources[n].index,
            ..coincident.sources[699 - n]
        };
    }
    coincident.probes = (coincident.sources[..200].iter())
        .map(|s| probe(s, coincident.ti, 0.2))
        .collect();
    let mut far = cloud(600, 5, 1e-4);
    far.probes.truncate(40);
    for (n, at) in far.probes.iter_mut().enumerate() {
        at.x = [0, 1, 2].map(|k| at.x[k] * 10.0_f64.powi(n as i32));
    }
    let mut unequal = cloud(600, 6, 1e-4);
    for source in unequal.sources.iter_mut().skip(1) {
        source.mass *= if source.index % 2 == 0 { 1e-28 } else { 1e-30 };
    }
    unequal.probes.truncate(40);
    let mut signs = binaries(600, 40);
    signs
        .sources
        .iter_mut()
        .step_by(3)
        .for_each(|s| s.mass = -s.mass);
    let soft = cloud(600, 7, 1e10);
    for (set, what) in [
        (coincident, "coincident"),
        (far, "far"),
        (unequal, "unequal masses"),
        (signs, "masses of both signs"),
        (soft, "softened"),
    ] {
        let input = input(&set);
        for precision in ["double", "mixed", "double-single"] {
            if let Some(out) = forces(&input, &[("KIRIN_PRECISION", precision)]) {
                println!("{what} {precision}");
                report::check(&out, &set, Tolerance::of(precision), true);
            }
        }
    }
}
