//! A driver that is absent, refuses calls, or fails at any call: the results are right. If the CPU had to compute them,
//! one line on stderr says what happened.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;

use ffi_tests::compiler::{clean_command, texts};
use ffi_tests::fake_cuda::{self, Run};
use ffi_tests::library;
use ffi_tests::report::{self, Tolerance};
use ffi_tests::sets::Set;
use kirin_testing::skipped;

use crate::{PRECISIONS, client, driver, input, set, try_forces, with_pipelines};

/// Checks that the numbers are right and that stderr has so many lines, all of them kirin's.
fn right(run: &Run, set: &Set, precision: &str, lines: RangeInclusive<usize>, case: &str) {
    assert!(run.success, "{case}: {run:?}");
    report::check(&run.out, set, Tolerance::of(precision), true);
    let found = run.err.lines();
    assert!(
        lines.contains(&found.clone().count()) && found.clone().all(|l| l.starts_with("kirin: ")),
        "{case}:\n{}",
        run.err
    );
    assert!(
        run.log.complaints.is_empty(),
        "{case}: {:?}",
        run.log.complaints
    );
}

fn right_with_one_line(run: &Run, set: &Set, precision: &str, case: &str) {
    right(run, set, precision, 1..=1, case);
}

#[test]
fn no_driver_that_works() {
    let (Some(driver), Some(client)) = (driver(), client()) else {
        return;
    };
    let empty = fake_cuda::empty_driver().expect("g++ was here a moment ago");
    let garbage = library::workspace().join("garbage");
    std::fs::create_dir_all(&garbage).expect("the target folder is writable");
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::fs::write(garbage.join(name), "no library").expect("the target folder is writable");
    }
    let set = set(150, 150, 1e-4);
    let input = input(&set);
    let codes = [34, 35, 46, 100, 802, 803, 804, 999, 4711].map(|c| format!("1:{c}:all"));
    let mut cases: Vec<(&Path, Vec<(&str, &str)>)> = vec![
        (empty, vec![]),
        (&garbage, vec![]),
        (driver, vec![("FAKE_CUDA_DEVICES", "0")]),
        (driver, vec![("FAKE_CUDA_DRIVER", "11040")]),
        (driver, vec![("FAKE_CUDA_CAPABILITY", "5.2")]),
        (
            driver,
            vec![("FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain:46")],
        ),
        (driver, vec![("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:222")]),
        (driver, vec![("FAKE_CUDA_MEMORY", "1000")]),
        (driver, vec![("KIRIN_DEVICES", "1")]),
    ];
    cases.extend(
        codes
            .iter()
            .map(|c| (driver, vec![("FAKE_CUDA_FAIL", c.as_str())])),
    );
    for precision in PRECISIONS {
        let settings = [("KIRIN_BACKEND", "cpu"), ("KIRIN_PRECISION", precision)];
        let mut command = clean_command(client, &with_pipelines(&settings));
        let (expected, _) = texts(&ffi_tests::compiler::run(command.arg(&input)));
        for (driver, settings) in &cases {
            let all = [&[("KIRIN_PRECISION", precision)], &settings[..]].concat();
            let run = try_forces(driver, &input, &all).expect("the compiler was here");
            let case = format!("{} {all:?}", driver.display());
            right_with_one_line(&run, &set, precision, &case);
            assert!(run.out == expected, "{case}: not the numbers of the CPU");
        }
    }
}

#[test]
fn a_machine_without_a_driver() {
    let Some(client) = client() else {
        return;
    };
    let set = set(100, 100, 1e-4);
    let input = input(&set);
    let settings = [("KIRIN_BACKEND", "cuda"), ("KIRIN_PRECISION", "double")];
    let output = ffi_tests::compiler::run(clean_command(client, &settings).arg(&input));
    let (out, err) = texts(&output);
    report::check(&out, &set, Tolerance::DOUBLE, false);
    match err.lines().count() {
        0 => skipped("this machine has a CUDA driver and a GPU"),
        lines => assert!(lines == 1 && err.starts_with("kirin: "), "{err}"),
    }
}

/// How a call fails: once, with the loss of its device, with that of all devices, or because memory is short.
const FAILURES: [&str; 4] = ["719:once", "700:device", "999:all", "2:once"];

/// Makes the driver's calls fail, each in a run of its own. The first call of each function fails in all ways,
/// every later call in one way; the ways take turns.
fn every_call(precision: &str, nj: usize, settings: &[(&str, &str)]) {
    let Some(driver) = driver() else {
        return;
    };
    let set = set(nj, 90, 1e-4);
    let input = input(&set);
    let common = [
        &[("KIRIN_PRECISION", precision), ("KIRIN_NPIPES", "49")],
        settings,
    ]
    .concat();
    let traced = [&common[..], &[("FAKE_CUDA_TRACE", "1")]].concat();
    let whole = try_forces(driver, &input, &traced).expect("the compiler was here");
    assert_eq!(whole.err, "");
    let mut seen = HashSet::new();
    for number in 1..=whole.log.total {
        let begin = format!("call {number} ");
        let mut calls = whole.log.text.lines();
        let call = calls.find_map(|l| l.strip_prefix(&begin)).unwrap_or("");
        let function = call.split_whitespace().next();
        let failures = match seen.insert(function) {
            true => &FAILURES[..],
            false => &FAILURES[number as usize % FAILURES.len()..][..1],
        };
        for code in failures {
            let fail = format!("{number}:{code}");
            let all = [
                &common[..],
                &[("FAKE_CUDA_FAIL", fail.as_str()), ("FAKE_CUDA_TRACE", "1")],
            ]
            .concat();
            let run = try_forces(driver, &input, &all).expect("the compiler was here");
            let call = run
                .log
                .text
                .lines()
                .find(|l| l.starts_with(&begin))
                .unwrap_or("");
            let case = format!("{all:?} {call}");
            // Different digits are the CPU's, and then a line must say so. No line is needed if the call fails after
            // the last block, succeeds when repeated, or leaves other devices.
            let least = usize::from(run.out != whole.out);
            right(&run, &set, precision, least..=1, &case);
            // Nothing can be freed on a lost device, or by a call that fails.
            let gives_back = ["Free", "Destroy", "Unload", "Release", "PushCurrent"];
            if code.ends_with(":once") && !gives_back.iter().any(|c| call.contains(c)) {
                assert_eq!(run.log.left(), [""; 0], "{case}");
            }
        }
    }
}

#[test]
fn any_call_fails_on_one_device() {
    every_call(
        "double",
        700,
        &[("KIRIN_PREDICTOR", "host"), ("KIRIN_JOIN", "device")],
    );
}

/// A device's roots are measured when it is opened, except in double precision.
#[test]
fn any_call_fails_where_roots_are_measured() {
    every_call("mixed", 70, &[]);
}

#[test]
fn any_call_fails_on_one_of_two_devices() {
    let two = [("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "all")];
    every_call("double", 700, &two);
}

/// There is memory for a first block, but not for the next.
#[test]
fn memory_runs_out_when_buffers_grow() {
    let Some(driver) = driver() else {
        return;
    };
    let set = set(3000, 700, 1e-4);
    let input = input(&set);
    let common = [
        ("KIRIN_PRECISION", "double"),
        ("KIRIN_NPIPES", "600"),
        ("KIRIN_JOIN", "device"),
    ];
    let whole = try_forces(driver, &input, &common).expect("the compiler was here");
    let most: u64 = {
        let words: Vec<&str> = whole.log.text.split_whitespace().collect();
        let at = words
            .iter()
            .position(|w| *w == "most")
            .expect("the driver says it");
        words[at + 1].parse().expect("a number")
    };
    for tenth in 1..10 {
        let memory = (most * tenth / 10).to_string();
        let all = [&common[..], &[("FAKE_CUDA_MEMORY", memory.as_str())]].concat();
        let run = try_forces(driver, &input, &all).expect("the compiler was here");
        right_with_one_line(&run, &set, "double", &memory);
    }
    let most = most.to_string();
    let enough = [&common[..], &[("FAKE_CUDA_MEMORY", most.as_str())]].concat();
    let run = try_forces(driver, &input, &enough).expect("the compiler was here");
    assert!(run.err.is_empty() && run.out == whole.out, "{}", run.err);
}
