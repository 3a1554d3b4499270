//! The library of NBODY6++, NBODY6 and AMUSE's nbody6xx: each call against a plain double-precision sum, and a small
//! Ahmad-Cohen integrator.

use std::ffi::OsStr;
use std::path::Path;

use ffi_tests::compiler::{Link, clean_command, compile, run, succeed, texts};

/// Runs a client that says how many answers are wrong.
fn none_wrong(client: &Path, arguments: &[&str], settings: &[(&str, &str)]) {
    let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    assert_eq!(succeed(client, &arguments, settings), "0 wrong\n");
}

#[test]
fn every_call_is_the_plain_sum() {
    let Some(client) = compile("nbody6.c", Link::Shared) else {
        return;
    };
    for variant in ["6++", "amuse", "6", "6-radius", "6-2009"] {
        for backend in ["cpu", "reference", "cuda"] {
            none_wrong(
                &client,
                &[variant],
                &[("KIRIN_NBODY6", variant), ("KIRIN_BACKEND", backend)],
            );
        }
    }
    for simd in ["auto", "portable"] {
        for (precision, tolerance) in [("mixed", "1e-6"), ("double", "1e-13")] {
            for threads in ["1", "3"] {
                let settings = [
                    ("KIRIN_SIMD", simd),
                    ("KIRIN_PRECISION", precision),
                    ("KIRIN_THREADS", threads),
                ];
                none_wrong(&client, &["6++", tolerance, "traps"], &settings);
            }
        }
    }
}

/// Their callers are subroutines and see no code.
#[test]
fn refused_calls_leave_no_old_numbers() {
    if let Some(client) = compile("nbody6refused.c", Link::Shared) {
        for backend in ["cpu", "reference"] {
            none_wrong(
                &client,
                &[],
                &[("KIRIN_NBODY6", "6++"), ("KIRIN_BACKEND", backend)],
            );
        }
    }
}

/// What NBODY6 is linked with tells it from NBODY6++; the setting does where it says another.
#[test]
fn nbody6_needs_no_setting() {
    let Some(client) = compile("nbody6.f", Link::Shared) else {
        return;
    };
    none_wrong(&client, &[], &[]);
    none_wrong(&client, &[], &[("KIRIN_NBODY6", "auto")]);
    // It refuses what it takes for AMUSE's gpupot_, and compares with radii.
    let output = run(&mut clean_command(&client, &[("KIRIN_NBODY6", "amuse")]));
    let (out, err) = texts(&output);
    assert!(out != "0 wrong\n" && err.contains("istart"), "{out}{err}");
}

/// What a client with the arguments of `variant` writes to stdout and stderr.
fn answer(client: &Path, variant: &str, setting: &str) -> (String, String) {
    let mut command = clean_command(client, &[("KIRIN_NBODY6", setting)]);
    texts(&run(command.arg(variant)))
}

/// nbody6tt, NBODY6df and nbody6mp pass RS**2 and are not told from NBODY6 by their imports: lists would be nearly empty.
#[test]
fn neighbours_that_only_a_plain_radius_has_are_told() {
    let Some(client) = compile("nbody6.c", Link::Shared) else {
        return;
    };
    let told = |variant, setting| {
        let (out, err) = answer(&client, variant, setting);
        assert_eq!(out == "0 wrong\n", variant == setting, "{out}{err}");
        err.matches("KIRIN_NBODY6=6-radius").count()
    };
    assert_eq!(told("6-radius", "6"), 1);
    assert_eq!(told("6-radius", "6-radius"), 0);
    assert_eq!(told("6", "6"), 0);
}

/// NBODY6+P3T has NBODY6's names and a changeover radius behind the arguments.
#[test]
fn nbody6_with_a_changeover_radius_is_refused() {
    let Some(client) = compile("nbody6p3t.f", Link::Shared) else {
        return;
    };
    let (out, err) = texts(&run(&mut clean_command(&client, &[])));
    assert_eq!(out, "0 wrong\n", "{err}");
    // By the two calls that open, and by the regular force.
    assert_eq!(err.matches("NBODY6+P3T").count(), 3, "{err}");
}

/// mtrenti/NBODY6 passes ten arguments: its first list stands where others pass `nbmax`. The other arrays are not where they
/// are looked for, so none is written to.
#[test]
fn ten_arguments_are_told_and_no_array_is_overrun() {
    let Some(client) = compile("nbody6.c", Link::Shared) else {
        return;
    };
    let told = |variant, setting| {
        let (_, err) = answer(&client, variant, setting);
        assert!(!err.contains("beyond"), "{err}");
        err.matches("KIRIN_NBODY6=6-2009").count()
    };
    // One line a call. This client imports what makes it NBODY6++ if nothing is set.
    for setting in ["6", "6-radius", "amuse", "6++", "auto"] {
        assert_eq!(told("6-2009", setting), 2);
    }
    assert_eq!(told("6-radius", "6-radius"), 0);
}

#[test]
fn a_fork_leaves_the_sources_to_the_child() {
    if let Some(client) = compile("nbody6fork.c", Link::Shared) {
        none_wrong(&client, &[], &[("KIRIN_THREADS", "3")]);
    }
}

#[test]
fn an_ahmad_cohen_integrator_is_of_fourth_order() {
    let Some(client) = compile("ahmadcohen.f90", Link::Shared) else {
        return;
    };
    let output = |settings: &[(&str, &str)]| {
        let output = run(&mut clean_command(&client, settings));
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{settings:?}: {out}{err}");
        // Two runs, each with a line on either force.
        assert_eq!(
            err.matches("regular forces (rank 0)").count(),
            2 * 2,
            "{err}"
        );
        out
    };
    let with = |threads, precision| {
        output(&[
            ("KIRIN_THREADS", threads),
            ("KIRIN_PRECISION", precision),
            ("OMP_NUM_THREADS", "4"),
        ])
    };
    let out = with("1", "mixed");
    let errors: Vec<f64> = out
        .lines()
        .filter_map(|line| line.strip_prefix("energy error")?.trim().parse().ok())
        .collect();
    let [step, half] = errors[..] else {
        panic!("{out}");
    };
    // 16 in the limit.
    assert!(
        step < 1e-4 && (10.0..25.0).contains(&(step / half)),
        "{out}"
    );
    assert_eq!(with("3", "mixed"), out, "threads change digits");
    assert_ne!(with("1", "double"), out, "another precision does not");
}
