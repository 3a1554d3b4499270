//! GRAPE-5: each statement of its specification is checked against a plain double-precision sum. A treecode uses the
//! library, too.

use std::ffi::OsStr;
use std::path::Path;

use ffi_tests::compiler::{Link, clean_command, compile, run as run_process, succeed, texts};
use kirin_core::cpu;

/// The error allowed to a precision, relative to the sum of the magnitudes of the terms: docs/numbers.md.
const PRECISIONS: [(&str, &str); 4] = [
    ("mixed", "1e-6"),
    ("single", "2e-5"),
    ("double", "1e-13"),
    ("reduced", "1.2e-3"),
];

fn run(client: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> String {
    let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    succeed(client, &arguments, settings)
}

#[test]
fn every_sentence_holds_in_every_precision_and_spelling() {
    let Some(client) = compile("grape5.c", Link::Shared) else {
        return;
    };
    for set in cpu::available() {
        let set = set.to_string();
        for (precision, tolerance) in PRECISIONS {
            let run = |spelling, threads| {
                let settings = [
                    ("KIRIN_SIMD", &*set),
                    ("KIRIN_PRECISION", precision),
                    ("KIRIN_THREADS", threads),
                ];
                run(&client, &[spelling, tolerance], &settings)
            };
            let bits = run("c", "1");
            assert_eq!(bits.lines().count(), 8, "{set} {precision}: {bits}");
            // The bits agree, and no error is reported.
            assert_eq!(run("fortran", "3"), bits, "{set} {precision}");
        }
    }
    let settings = [("KIRIN_BACKEND", "reference")];
    assert_eq!(run(&client, &["c", "1e-13"], &settings).lines().count(), 8);
}

/// The cubes of these lengths are beyond the range of a double, and some of the squares are subnormal.
#[test]
fn coincident_particles_with_the_least_softening_add_to_the_potential_only() {
    let Some(client) = compile("tiny.c", Link::Shared) else {
        return;
    };
    for set in cpu::available() {
        let set = set.to_string();
        for (precision, tolerance) in PRECISIONS {
            let settings = [("KIRIN_SIMD", &*set), ("KIRIN_PRECISION", precision)];
            let found = run(&client, &["5", tolerance], &settings);
            assert_eq!(found, "0 of 12800 wrong\n", "{set} {precision}");
        }
    }
    let settings = [("KIRIN_BACKEND", "reference")];
    let found = run(&client, &["5", "1e-13"], &settings);
    assert_eq!(found, "0 of 12800 wrong\n", "reference");
}

/// Errors of `treecode5.c`: rms and greatest of accelerations, greatest of potentials, energy.
fn treecode(client: &Path, theta: &str, precision: &str) -> [f64; 4] {
    let text = run(client, &[theta], &[("KIRIN_PRECISION", precision)]);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(|word| word.parse().expect("the client prints numbers"))
        .collect();
    numbers.try_into().expect("the client prints four")
}

#[test]
fn a_treecode_is_as_exact_as_its_opening_angle() {
    let Some(client) = compile("treecode5.c", Link::Shared) else {
        return;
    };
    let [rms, worst, potential, energy] = treecode(&client, "0", "mixed");
    assert!(
        rms < 3e-7 && worst < 1e-5 && potential < 1e-6,
        "{rms} {worst} {potential}"
    );
    assert!(energy.abs() < 2e-4, "{energy}");
    let [rms, worst, potential, energy] = treecode(&client, "0.5", "single");
    // Monopoles of cells seen under half a radian.
    assert!(
        (1e-4..1e-2).contains(&rms) && worst < 0.2 && potential < 1e-2,
        "{rms} {worst} {potential}"
    );
    assert!(energy.abs() < 1e-3, "{energy}");
}

/// What a client prints on stdout and on stderr.
fn both_streams(client: &Path, arguments: &[&str], setting: &[(&str, &str)]) -> (String, String) {
    let output = run_process(clean_command(client, setting).args(arguments));
    assert!(output.status.success(), "{arguments:?}: {}", output.status);
    texts(&output)
}

/// The same names have one more argument in a Phantom-GRAPE that is built with `SYMMETRIC`.
#[test]
fn softening_of_j_particles_under_the_usual_names_is_read_or_told() {
    let Some(own) = compile("symmetric5_own.c", Link::Shared) else {
        return;
    };
    let right = ("right\n".to_owned(), String::new());
    for spelling in ["usual", "fortran"] {
        let symmetric = [("KIRIN_GRAPE5", "symmetric")];
        assert_eq!(both_streams(&own, &[spelling], &symmetric), right);
        let (out, err) = both_streams(&own, &[spelling], &[]);
        assert_eq!(out, "wrong\n");
        assert_eq!(err.matches("needs KIRIN_GRAPE5=symmetric").count(), 1);
    }
    // Programs without such an argument get the forces that they ask for.
    let (out, err) = both_streams(&own, &["plain"], &[]);
    assert_eq!((&*out, err.lines().count()), ("right\n", 1), "{err}");
    let plain = [("KIRIN_GRAPE5", "plain")];
    assert_eq!(both_streams(&own, &["plain"], &plain), right);
    // With kirin's header no setting is needed.
    let Some(with_header) = compile("symmetric5.c", Link::Shared) else {
        return;
    };
    for setting in ["auto", "plain", "symmetric"] {
        let settings = [("KIRIN_GRAPE5", setting)];
        assert_eq!(
            both_streams(&with_header, &[], &settings),
            right,
            "{setting}"
        );
    }
}

#[test]
fn a_cutoff_that_is_asked_for_is_told_once() {
    let Some(client) = compile("parts5.c", Link::Shared) else {
        return;
    };
    let told = |eta| both_streams(&client, &[eta], &[("KIRIN_BACKEND", "cpu")]).1;
    assert_eq!(told("0"), "");
    let err = told("0.5");
    assert!(
        err.lines().count() == 1 && err.contains("g5_set_eta: forces have no cutoff"),
        "{err}"
    );
}

#[test]
fn statistics_know_the_pipelines_of_grape_5() {
    let Some(client) = compile("parts5.c", Link::Shared) else {
        return;
    };
    for (npipes, pipelines, parts) in [("48", 96, 3), ("40", 40, 7)] {
        let settings = [("KIRIN_NPIPES", npipes), ("KIRIN_STATS", "1")];
        let (out, err) = both_streams(&client, &["0"], &settings);
        assert_eq!(out, format!("{parts}\n"));
        let row = format!(
            "pipelines    {pipelines}; {} blocks go on with the full one before them",
            parts - 1
        );
        assert!(err.contains(&row), "no '{row}' in\n{err}");
    }
}

/// Forks are prepared for the devices as for the clusters of GRAPE-6.
#[test]
fn a_child_of_a_fork_computes_on_every_device() {
    let Some(client) = compile("forkbusy5.c", Link::Shared) else {
        return;
    };
    for threads in ["1", "2"] {
        let found = run(&client, &[], &[("KIRIN_THREADS", threads)]);
        assert_eq!(found, "0 wrong\n");
    }
}
