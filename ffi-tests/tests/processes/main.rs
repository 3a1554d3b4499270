//! Clients in difficult processes: own C names, threads, forks, bad settings, dlclose, valgrind, little memory,
//! floating-point environments, signals, broken outputs.

mod edges;
mod floating;
mod forks;
mod hardness;
mod lost;
mod names;
mod outputs;
mod ph4;
mod precision;
mod scarce;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ffi_tests::compiler::{Link, available, clean_command, compile, run, succeed, texts};
use ffi_tests::library;
use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::{Set, cloud};
use kirin_testing::skipped;

const NOTHING: [&OsStr; 0] = [];

fn input(name: &str, set: &Set) -> PathBuf {
    let path = library::workspace().join(name);
    std::fs::write(&path, set.to_text()).expect("the target folder is writable");
    path
}

#[test]
fn ph4_defines_the_c_names_itself() {
    ph4::check(Link::Shared, "ph4-shared");
}

#[test]
fn clients_may_declare_the_calls_themselves() {
    if let Some(client) = compile("ownheader.c", Link::Shared) {
        assert_eq!(succeed(&client, &NOTHING, &[]), "-0.25 -0.5\n");
    }
}

#[test]
fn clusters_work_at_once_from_several_threads() {
    let Some(client) = compile("threads.c", Link::Shared) else {
        return;
    };
    for (precision, tolerance) in [("double", 1e-13), ("mixed", 1e-6)] {
        for backend in ["reference", "cpu"] {
            let settings = [("KIRIN_BACKEND", backend), ("KIRIN_PRECISION", precision)];
            let output = succeed(&client, &NOTHING, &settings);
            let errors: Vec<f64> = output
                .lines()
                .map(|l| l.parse().expect("a number"))
                .collect();
            assert_eq!(errors.len(), 16);
            assert!(errors.iter().all(|&e| e < tolerance), "{errors:?}");
        }
    }
}

#[test]
fn parent_and_child_go_on_after_a_fork() {
    let Some(client) = compile("fork.c", Link::Shared) else {
        return;
    };
    for backend in ["reference", "cpu"] {
        for threads in ["1", "4"] {
            let settings = [("KIRIN_BACKEND", backend), ("KIRIN_THREADS", threads)];
            assert_eq!(
                succeed(&client, &NOTHING, &settings),
                "1 0\n",
                "{settings:?}"
            );
        }
    }
}

#[test]
fn a_library_that_is_not_called_does_nothing() {
    let Some(client) = compile("idle.c", Link::Shared) else {
        return;
    };
    let output = run(&mut clean_command(&client, &[("KIRIN_NPIPES", "nonsense")]));
    assert_eq!(texts(&output), ("1\n".to_owned(), String::new()));
}

/// NBODY4 and Phantom-GRAPE's own client have arrays for 48, or not many more.
#[test]
fn a_client_with_arrays_for_48_needs_no_setting() {
    let Some(client) = compile("parts.c", Link::Shared) else {
        return;
    };
    let output = run(clean_command(&client, &[("KIRIN_STATS", "1")]).args(["300", "40"]));
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    // Sizes of 1, 30, 59, ... modulo 300, in parts of 48.
    let sizes = (0..40).map(|round| 1 + round * 29 % 300);
    let following: usize = sizes.clone().map(|size| (size - 1) / 48).sum();
    assert_eq!(out, format!("{} {following}\n", 40 + following));
    let row = format!("pipelines    48; {following} blocks go on with the full one before them");
    assert!(err.contains(&row), "no '{row}' in\n{err}");
    let more = run(clean_command(&client, &[("KIRIN_NPIPES", "49")]).args(["300", "1"]));
    assert_eq!(more.status.code(), Some(4), "the setting has no effect");
}

#[test]
fn bad_settings_are_reported_once_on_stderr_and_the_default_is_used() {
    let set = cloud(30, 72, 0.01);
    let input = input("settings", &set);
    let Some(client) = compile("forces.c", Link::Shared) else {
        return;
    };
    let usual = succeed(&client, &[input.as_os_str()], &[]);
    let bad = [
        ("KIRIN_BACKEND", "quantum"),
        ("KIRIN_PRECISION", "3"),
        ("KIRIN_NPIPES", "1"),
        ("KIRIN_THREADS", "-1"),
        ("KIRIN_SIMD", "sse"),
        ("KIRIN_SNAP", "YES!"),
        ("KIRIN_NO_NEIGHBOUR", "7"),
        ("KIRIN_NPIPE", "48"),
    ];
    let output = run(clean_command(&client, &bad).arg(&input));
    let (out, err) = texts(&output);
    assert!(output.status.success());
    assert!(out == usual, "the defaults were not used");
    for (name, _) in bad {
        let about = |line: &&str| line.split([' ', '=', ':', ';']).any(|word| word == name);
        let reports = err.lines().filter(about).count();
        assert!(reports >= 1, "{name} is not reported:\n{err}");
    }
    assert!(err.lines().all(|line| line.starts_with("kirin: ")), "{err}");
    let lines: std::collections::BTreeSet<&str> = err.lines().collect();
    assert_eq!(lines.len(), err.lines().count(), "reported twice:\n{err}");
}

#[test]
fn ordinary_use_prints_nothing_on_stderr() {
    let set = cloud(30, 73, 0.01);
    let input = input("silent", &set);
    let Some(client) = compile("forces.c", Link::Shared) else {
        return;
    };
    let settings = [("KIRIN_BACKEND", "cpu")];
    let output = run(clean_command(&client, &settings).arg(&input));
    assert_eq!(texts(&output).1, "");
}

#[test]
fn dlclose_under_running_threads() {
    let Some(client) = compile("dlopen.c", Link::None) else {
        return;
    };
    let shared = library::fresh().shared.as_os_str();
    for backend in ["reference", "cpu"] {
        let settings = [("KIRIN_BACKEND", backend), ("KIRIN_THREADS", "4")];
        succeed(&client, &[shared], &settings);
    }
}

fn numbers(output: &str) -> Vec<f64> {
    output
        .split_whitespace()
        .map(|w| w.parse().expect("a number"))
        .collect()
}

#[test]
fn opening_and_closing_does_not_leak() {
    if !Path::new("/proc/self/status").exists() {
        skipped("there is no /proc here to read memory from");
        return;
    }
    let Some(client) = compile("cycles.c", Link::Shared) else {
        return;
    };
    for backend in ["reference", "cpu"] {
        let resident = numbers(&succeed(&client, &NOTHING, &[("KIRIN_BACKEND", backend)]));
        let growth = resident[1] - resident[0];
        // A round that leaked its particles would leave 16 MB behind.
        assert!(
            growth < 8192.0,
            "{backend}: {growth} kB more after 360 rounds"
        );
    }
}

#[test]
fn a_million_particles_cost_at_most_256_bytes_each() {
    if !Path::new("/proc/self/status").exists() {
        skipped("there is no /proc here to read memory from");
        return;
    }
    let Some(client) = compile("million.c", Link::Shared) else {
        return;
    };
    for backend in ["reference", "cpu"] {
        for precision in ["double", "mixed"] {
            let settings = [("KIRIN_BACKEND", backend), ("KIRIN_PRECISION", precision)];
            let bytes = numbers(&succeed(&client, &NOTHING, &settings))[0];
            println!("{backend} {precision}: {bytes} bytes a particle");
            assert!(bytes <= 256.0, "{backend} {precision}: {bytes} bytes");
            assert!(
                bytes >= 140.0,
                "17 doubles and a label are stored: {bytes} bytes?"
            );
        }
    }
}

#[test]
fn valgrind_finds_nothing() {
    if !available("valgrind") {
        return;
    }
    let set = cloud(300, 74, 0.01);
    let input = input("valgrind", &set);
    let Some(program) = compile("forces.c", Link::Shared) else {
        return;
    };
    for backend in ["reference", "cpu"] {
        // valgrind knows no AVX-512.
        let settings = [
            ("KIRIN_BACKEND", backend),
            ("KIRIN_THREADS", "2"),
            ("KIRIN_SIMD", "portable"),
        ];
        let mut command = clean_command("valgrind", &settings);
        command
            .args(["--error-exitcode=1", "--leak-check=full", "--quiet"])
            .arg(&program)
            .arg(&input);
        let output = run(&mut command);
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{backend}:\n{err}");
        assert_eq!(err, "", "{backend}");
        report::check(&out, &set, Tolerance::MIXED, false);
    }
}
