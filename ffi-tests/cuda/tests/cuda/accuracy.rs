//! Errors of sums of 4096 terms, with the least accurate reciprocal roots that the PTX manual allows a GPU.

use ffi_tests::direct::{self, Source, Sum};
use ffi_tests::report::{self, Line};
use ffi_tests::sets::{Set, probe};
use kirin_kit::models::plummer;
use kirin_kit::vector::{norm, sub};
use kirin_report::repeat::Spread;

use crate::{forces, input};

const N: usize = 4096;

/// A Plummer sphere, and every second of its stars as an i-particle.
fn sphere() -> Set {
    let bodies = plummer(N, 3);
    let sources: Vec<Source> = (1..)
        .zip(&bodies)
        .map(|(index, body)| Source {
            index,
            mass: body.mass,
            x: body.x,
            v: body.v,
            ..Source::default()
        })
        .collect();
    let probes = sources.iter().step_by(2);
    let probes = probes.map(|star| probe(star, 0.0, 1e-6)).collect();
    Set {
        sources,
        probes,
        ..Set::default()
    }
}

/// Relative errors of acceleration, jerk and potential.
fn relative_errors(line: &Line, sum: &Sum) -> [f64; 3] {
    [
        norm(&sub(&line.acc, &sum.acc)) / norm(&sum.acc),
        norm(&sub(&line.jerk, &sum.jerk)) / norm(&sum.jerk),
        (line.pot - sum.pot).abs() / -sum.pot,
    ]
}

/// Medians of the relative errors of acceleration, jerk and potential.
fn medians(set: &Set, settings: &[(&str, &str)]) -> Option<[f64; 3]> {
    let exact = set.probes.iter();
    let exact = exact.map(|p| direct::force(p, set.sources.iter(), set.ti, set.eps2));
    let lines = report::parse(&forces(&input(set), settings)?);
    assert_eq!(lines.len(), set.probes.len());
    let mut errors = [const { Vec::new() }; 3];
    for (line, sum) in lines.iter().zip(exact) {
        for (errors, error) in errors.iter_mut().zip(relative_errors(line, &sum)) {
            errors.push(error);
        }
    }
    Some(errors.map(|errors| Spread::of(errors).expect("there are probes").median))
}

/// In pairs of singles, whatever the hardware's roots.
#[test]
fn errors_of_4096_terms_in_pairs_of_singles() {
    for roots in ["exact", "high", "low", "1"] {
        let settings = [
            ("FAKE_CUDA_ROOTS", roots),
            ("KIRIN_NPIPES", "4096"),
            ("KIRIN_PRECISION", "double-single"),
        ];
        let Some(medians) = medians(&sphere(), &settings) else {
            return;
        };
        println!("{roots}: {medians:?}");
        let limits = [1e-13, 2e-7, 1e-13];
        let is_within = medians.iter().zip(&limits).all(|(m, limit)| m < limit);
        assert!(is_within, "{roots}: {medians:?}, limits {limits:?}");
    }
}

/// Limits of the median relative errors of acceleration, jerk and potential. With one sum for each leaf the errors
/// would be 2.9e-8, 1.5e-7 and 1.4e-8. Without the correction for the mean error of the roots they would be 2.1e-7,
/// 3e-7 and 7e-8.
#[test]
fn errors_of_4096_terms() {
    let set = sphere();
    for (roots, limits) in [
        ("exact", [2.55e-8, 1.6e-7, 8.3e-9]),
        ("high", [2.55e-8, 1.6e-7, 8.3e-9]),
        ("low", [2.55e-8, 1.6e-7, 8.3e-9]),
        ("1", [2.8e-8, 1.9e-7, 8.5e-9]),
    ] {
        let settings = [("FAKE_CUDA_ROOTS", roots), ("KIRIN_NPIPES", "4096")];
        let Some(medians) = medians(&set, &settings) else {
            return;
        };
        let told = format!("{roots}: {medians:?}, limits {limits:?}");
        let is_within = medians.iter().zip(&limits).all(|(m, limit)| m < limit);
        println!("{told}");
        assert!(is_within, "{told}");
    }
}

/// Each star has a companion too close for single precision: the leaf is summed again in double precision, which uses no
/// approximate roots.
#[test]
fn close_pairs_feel_no_error_of_the_roots() {
    let mut set = sphere();
    set.sources.truncate(600);
    set.probes.clear();
    for pair in set.sources.chunks_exact_mut(2) {
        let [star, companion] = pair else {
            continue;
        };
        companion.x = star.x;
        companion.x[1] += 1e-10;
    }
    let probes = set.sources.iter().map(|star| probe(star, 0.0, 0.0));
    set.probes = probes.collect();
    let input = input(&set);
    for roots in ["exact", "high", "low"] {
        let Some(out) = forces(&input, &[("FAKE_CUDA_ROOTS", roots)]) else {
            return;
        };
        for (line, probe) in report::parse(&out).iter().zip(&set.probes) {
            let sum = direct::force(probe, set.sources.iter(), set.ti, set.eps2);
            let errors = relative_errors(line, &sum);
            let is_exact = errors.iter().all(|&error| error < 1e-12);
            assert!(is_exact, "{roots}: {errors:?} of {sum:?}");
        }
    }
}
