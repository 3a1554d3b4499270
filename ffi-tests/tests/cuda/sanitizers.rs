//! The kernels' C++ sources under the sanitizers for addresses, undefined behaviour and threads.

use std::process::Command;

use ffi_tests::fake_cuda::{Sanitizer, driver_from_source};
use ffi_tests::report::{self, Tolerance};

use crate::{PRECISIONS, input, set, try_forces};

/// Runs a block under a sanitizer whose library the client has to load first.
fn check(sanitizer: Sanitizer, library: &str, (nj, ni): (usize, usize), settings: &[(&str, &str)]) {
    let Some(driver) = driver_from_source(sanitizer) else {
        return;
    };
    let asked = Command::new("g++")
        .arg(format!("-print-file-name={library}"))
        .output();
    let path = asked.expect("g++ was here a moment ago").stdout;
    let path = String::from_utf8_lossy(&path).trim().to_owned();
    let set = set(nj, ni, 1e-4);
    let input = input(&set);
    for precision in PRECISIONS {
        let common = [
            ("LD_PRELOAD", path.as_str()),
            // Memory that the client never frees is not what is looked for.
            ("ASAN_OPTIONS", "detect_leaks=0"),
            ("KIRIN_THREADS", "1"),
            ("KIRIN_PRECISION", precision),
        ];
        let all = [&common[..], settings].concat();
        let run = try_forces(driver, &input, &all).expect("the compiler was here a moment ago");
        assert!(run.success && run.err.is_empty(), "{all:?}\n{}", run.err);
        assert!(
            run.log.complaints.is_empty(),
            "{all:?}: {:?}",
            run.log.complaints
        );
        report::check(&run.out, &set, Tolerance::of(precision), true);
    }
}

#[test]
fn addresses_and_undefined_behaviour() {
    for (nj, ni) in [(1, 1), (65, 17), (513, 33), (1100, 130)] {
        for (predictor, join) in [("host", "device"), ("device", "host")] {
            let settings = [
                ("KIRIN_PREDICTOR", predictor),
                ("KIRIN_JOIN", join),
                ("KIRIN_NPIPES", "16384"),
                ("FAKE_CUDA_MULTIPROCESSORS", "1"),
            ];
            check(Sanitizer::Address, "libasan.so", (nj, ni), &settings);
        }
    }
}

#[test]
fn races() {
    for (predictor, join) in [("host", "device"), ("device", "host")] {
        let settings = [
            ("KIRIN_PREDICTOR", predictor),
            ("KIRIN_JOIN", join),
            ("FAKE_CUDA_MULTIPROCESSORS", "1"),
        ];
        check(Sanitizer::Thread, "libtsan.so", (600, 20), &settings);
    }
}
