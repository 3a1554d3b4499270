//! The clients of every language, and those with threads, forks and dlclose, on the device.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, clean_command, compile, texts};
use ffi_tests::library;
use ffi_tests::report::{self, Tolerance};

use crate::{driver, forces, input, run, set, succeed};

const NOTHING: [&OsStr; 0] = [];
const TWO: [(&str, &str); 2] = [("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "all")];

#[test]
fn every_language_gets_the_same_digits() {
    let set = set(300, 300, 1.0 / 256.0);
    let input = input(&set);
    for precision in ["double", "mixed"] {
        for npipes in ["256", "48"] {
            let settings = [("KIRIN_PRECISION", precision), ("KIRIN_NPIPES", npipes)];
            let Some(expected) = forces(&input, &settings) else {
                return;
            };
            report::check(&expected, &set, Tolerance::of(precision), npipes == "256");
            for name in ["forces.cc", "forces.f", "forces.f90"] {
                let Some(client) = compile(name, Link::Shared) else {
                    continue;
                };
                let found = succeed(&client, &[input.as_os_str()], &settings);
                assert!(
                    found.is_some_and(|found| found == expected),
                    "{name} prints other digits with {settings:?}"
                );
            }
        }
    }
}

/// What a client without arguments prints.
fn output(name: &str, settings: &[(&str, &str)]) -> Option<String> {
    let client = compile(name, Link::Shared)?;
    succeed(&client, &NOTHING, settings)
}

fn numbers(text: &str) -> Vec<f64> {
    let words = text.split_whitespace();
    words.map(|w| w.parse().expect("a number")).collect()
}

#[test]
fn clusters_work_at_once_from_several_threads() {
    for (precision, tolerance) in [("double", 1e-13), ("mixed", 1e-6)] {
        let settings = [&TWO[..], &[("KIRIN_PRECISION", precision)]].concat();
        let Some(output) = output("threads.c", &settings) else {
            return;
        };
        let errors = numbers(&output);
        assert_eq!(errors.len(), 16);
        assert!(errors.iter().all(|&e| e < tolerance), "{errors:?}");
    }
}

#[test]
fn a_forked_child_goes_on_without_the_device() {
    let Some(client) = compile("fork.c", Link::Shared) else {
        return;
    };
    for settings in [&[][..], &TWO] {
        let Some(run) = run(&client, &NOTHING, settings) else {
            return;
        };
        // The child computes on the CPU; its last bits may differ, which the second number tells.
        assert!(
            run.success && ["1 0\n", "1 1\n"].contains(&run.out.as_str()),
            "{run:?}"
        );
        assert!(run.log.complaints.is_empty(), "{:?}", run.log.complaints);
    }
}

#[test]
fn a_client_chooses_its_device() {
    let Some(client) = compile("special.c", Link::Shared) else {
        return;
    };
    for (settings, expected) in [
        (&[("FAKE_CUDA_DEVICES", "2")][..], "cuda 1 "),
        (&TWO[..], "cuda 0,1 "),
    ] {
        let Some(run) = run(&client, &NOTHING, settings) else {
            return;
        };
        // On a machine with one GPU there is no device 1: a line says so, and the CPU computes.
        let is_absent = run.err.contains("device 1 is asked for") || run.out.starts_with("cuda 0 ");
        assert!(
            run.success && (run.out.starts_with(expected) || is_absent),
            "{run:?}"
        );
    }
}

#[test]
fn dlclose_while_the_device_works() {
    if let Some(client) = compile("dlopen.c", Link::None) {
        let shared = library::fresh().shared.as_os_str();
        succeed(&client, &[shared], &[]);
    }
}

/// The energy error of a small cluster.
fn energy_error(backend: &str, driver: &str) -> f64 {
    let json = library::workspace().join(format!("hermite-{backend}.json"));
    let settings = [("KIRIN_BACKEND", backend), ("LD_LIBRARY_PATH", driver)];
    let mut command = clean_command(library::hermite(), &settings);
    command.args(["--n", "256", "--t-end", "0.5", "--json"]);
    let output = command.arg(&json).output().expect("it was just built");
    let (_, err) = texts(&output);
    assert!(
        output.status.success() && err.is_empty(),
        "{backend}: {err}"
    );
    let text = std::fs::read_to_string(&json).expect("hermite wrote it");
    let figures: serde_json::Value = serde_json::from_str(&text).expect("hermite writes JSON");
    let used = figures["backend"].as_str().unwrap_or("").to_owned();
    assert!(used.starts_with(backend), "{used}");
    figures["energy_error"].as_f64().expect("a number").abs()
}

#[test]
fn a_cluster_conserves_its_energy_as_on_the_cpu() {
    let Some(driver) = driver() else {
        return;
    };
    let cpu = energy_error("cpu", "");
    let cuda = energy_error("cuda", driver.to_str().expect("a path in UTF-8"));
    println!("energy errors: cpu {cpu:.2e}, cuda {cuda:.2e}");
    assert!(cuda < 2.0 * cpu + 1e-8, "cpu {cpu:e}, cuda {cuda:e}");
}
