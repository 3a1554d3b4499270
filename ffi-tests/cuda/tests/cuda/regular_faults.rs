//! NBODY6's regular force where the device fails, is missing, or belongs to the parent of a forked process. The CPU
//! then gives the right numbers, and the process writes one line to stderr.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::{self, Run};

use crate::driver;
use crate::regular_client::{Case, arguments, check, client, expected};

const CASE: Case<'_> = ["700", "40", "0", "cloud", "25", "700"];

fn try_regular(settings: &[(&str, &str)]) -> Option<Run> {
    Some(fake_cuda::run(
        driver()?,
        client()?,
        &arguments(&CASE),
        settings,
    ))
}

/// Right numbers, so many lines on stderr, and a device that was used rightly.
fn right(run: &Run, lines: usize, case: &str) {
    assert!(run.success, "{case}: {run:?}");
    let expected = expected(&CASE).expect("the compiler was here");
    check(&run.out, &expected, 1e-6, case);
    let found = run.err.lines();
    let is_ours = found.clone().all(|line| line.starts_with("kirin: "));
    assert!(found.count() == lines && is_ours, "{case}: {}", run.err);
    assert_eq!(run.log.complaints, [""; 0], "{case}");
}

#[test]
fn the_cpu_answers_for_a_device_that_is_not_there() {
    for (name, value) in [
        ("FAKE_CUDA_DEVICES", "0"),
        ("FAKE_CUDA_CAPABILITY", "5.2"),
        ("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:222"),
        ("FAKE_CUDA_MEMORY", "1000"),
    ] {
        if let Some(run) = try_regular(&[(name, value)]) {
            right(&run, 1, value);
        }
    }
}

/// Each call of the driver, once or with the loss of the device, for want of memory, or with the whole driver.
#[test]
fn the_cpu_answers_for_a_device_that_fails() {
    let Some(whole) = try_regular(&[]) else {
        return;
    };
    right(&whole, 0, "nothing fails");
    assert_eq!(whole.log.left(), [""; 0]);
    for number in 1..=whole.log.total {
        let how = ["719:once", "700:device", "2:once", "999:all"][number as usize % 4];
        let fail = format!("{number}:{how}");
        let run = try_regular(&[("FAKE_CUDA_FAIL", &fail)]).expect("the compiler was here");
        // What fails after the last block, or is tried again with success, may pass in silence.
        let least = usize::from(run.out != whole.out);
        right(&run, run.err.lines().count().clamp(least, 1), &fail);
    }
}

#[test]
fn a_fork_leaves_the_device_to_the_parent() {
    let (Some(driver), Some(client)) = (driver(), compile("nbody6fork.c", Link::Shared)) else {
        return;
    };
    let arguments: [&OsStr; 0] = [];
    let run = fake_cuda::run(driver, &client, &arguments, &[("KIRIN_THREADS", "2")]);
    assert!(run.success && run.out == "0 wrong\n", "{run:?}");
    // A child tells that the device is not its own.
    let told = run.err.lines().filter(|line| line.contains("forked from"));
    assert_eq!(
        (told.count(), run.err.lines().count()),
        (20, 20),
        "{}",
        run.err
    );
}

#[test]
fn the_calls_of_every_variant_are_right_on_a_device() {
    let (Some(driver), Some(client)) = (driver(), compile("nbody6.c", Link::Shared)) else {
        return;
    };
    for variant in ["6++", "amuse", "6"] {
        let arguments = [OsStr::new(variant)];
        let settings = [("KIRIN_NBODY6", variant)];
        let run = fake_cuda::run(driver, &client, &arguments, &settings);
        assert!(run.success && run.out == "0 wrong\n", "{variant}: {run:?}");
        assert_eq!(run.log.complaints, [""; 0], "{variant}");
        assert!(
            run.log.kernels().any(|name| name == "list_regular"),
            "{variant}"
        );
    }
}
