//! Clients in C, C++, Fortran 77, Fortran 90 and Rust: right numbers, and the same digits.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ffi_tests::compiler::{Link, compile, succeed};
use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::{Set, cloud};
use ffi_tests::{direct, library};

const CLIENTS: [&str; 4] = ["forces.c", "forces.cc", "forces.f", "forces.f90"];

fn input(name: &str, set: &Set) -> PathBuf {
    let path = library::workspace().join(name);
    std::fs::write(&path, set.to_text()).expect("the target folder is writable");
    path
}

fn output(program: &Path, input: &Path, settings: &[(&str, &str)]) -> String {
    succeed(program, &[input.as_os_str()], settings)
}

#[test]
fn every_language_gets_the_plain_sum_and_prints_the_same_digits() {
    let set = cloud(300, 1, 1.0 / 256.0);
    let input = input("languages", &set);
    let rust = Path::new(env!("CARGO_BIN_EXE_forces"));
    let clients: Vec<PathBuf> = CLIENTS
        .iter()
        .filter_map(|name| compile(name, Link::Shared))
        .collect();
    for backend in ["reference", "cpu"] {
        for precision in ["double", "mixed"] {
            for npipes in ["256", "48"] {
                let settings = [
                    ("KIRIN_BACKEND", backend),
                    ("KIRIN_PRECISION", precision),
                    ("KIRIN_NPIPES", npipes),
                ];
                let expected = output(rust, &input, &settings);
                report::check(&expected, &set, Tolerance::of(precision), npipes == "256");
                for client in &clients {
                    assert!(
                        output(client, &input, &settings) == expected,
                        "{} prints other digits with {settings:?}",
                        client.display()
                    );
                }
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_digit() {
    let set = cloud(3000, 4, 1e-4);
    let input = input("threads", &set);
    let Some(client) = compile("forces.c", Link::Shared) else {
        return;
    };
    for precision in ["double", "mixed"] {
        let of = |threads, npipes| {
            let settings = [
                ("KIRIN_BACKEND", "cpu"),
                ("KIRIN_PRECISION", precision),
                ("KIRIN_THREADS", threads),
                ("KIRIN_NPIPES", npipes),
            ];
            output(&client, &input, &settings)
        };
        let expected = of("1", "256");
        report::check(&expected, &set, Tolerance::of(precision), true);
        for (threads, npipes) in [("2", "256"), ("5", "256"), ("3", "16384"), ("2", "50")] {
            assert!(
                of(threads, npipes) == expected,
                "{precision}: {threads} threads, {npipes} pipelines"
            );
        }
    }
}

#[test]
fn unsoftened_forces_too() {
    let set = cloud(200, 2, 0.0);
    let input = input("unsoftened", &set);
    let Some(client) = compile("forces.c", Link::Shared) else {
        return;
    };
    for precision in ["double", "mixed"] {
        let found = output(&client, &input, &[("KIRIN_PRECISION", precision)]);
        report::check(&found, &set, Tolerance::of(precision), false);
    }
}

#[test]
fn phigrape_calls_integer_functions_and_reuses_its_arrays() {
    let mut set = cloud(100, 3, 1e-4);
    let input = input("phigrape", &set);
    let Some(client) = compile("phigrape.f", Link::Shared) else {
        return;
    };
    set.probes[99].index = -1;
    for precision in ["double", "mixed"] {
        let lines = report::parse(&output(&client, &input, &[("KIRIN_PRECISION", precision)]));
        assert_eq!(lines.len(), 100);
        for (line, probe) in lines.iter().zip(&set.probes) {
            let sum = direct::force(probe, set.sources.iter(), set.ti, set.eps2);
            let tolerance = Tolerance::of(precision);
            assert!(
                tolerance.allows(line.acc, line.jerk, line.pot, &sum),
                "{line:?} {sum:?}"
            );
            let nearest = direct::nearest(probe, set.sources.iter(), set.ti);
            assert_eq!(Some(line.nearest), nearest.map(|n| n.0));
        }
        // The probe without a label feels the particle at its own place: -m/eps.
        assert!(lines[99].pot < -set.sources[99].mass / 1e-2);
    }
}

#[test]
fn clients_load_the_fresh_library() {
    let Some(client) = compile("which.c", Link::Shared) else {
        return;
    };
    let none: [&OsStr; 0] = [];
    let path = succeed(&client, &none, &[]);
    let loaded = Path::new(path.trim()).canonicalize().expect("a file");
    assert_eq!(loaded, library::fresh().shared);
}
