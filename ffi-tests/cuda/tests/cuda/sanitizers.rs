//! The kernels' C++ sources under the sanitizers for addresses, undefined behaviour and threads.

use std::path::Path;
use std::process::Command;

use ffi_tests::fake_cuda::{self, Sanitizer, driver_from_source};
use ffi_tests::report::{self, Tolerance};

use crate::{PRECISIONS, input, regular_client, set, try_forces};

/// A driver with a sanitizer, and the sanitizer's library, which a client has to load first.
fn sanitized(sanitizer: Sanitizer, library: &str) -> Option<(&'static Path, String)> {
    let driver = driver_from_source(sanitizer)?;
    let asked = Command::new("g++")
        .arg(format!("-print-file-name={library}"))
        .output();
    let path = asked.expect("g++ was here a moment ago").stdout;
    Some((driver, String::from_utf8_lossy(&path).trim().to_owned()))
}

/// Runs a block under a sanitizer.
fn check(sanitizer: Sanitizer, library: &str, (nj, ni): (usize, usize), settings: &[(&str, &str)]) {
    let Some((driver, path)) = sanitized(sanitizer, library) else {
        return;
    };
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

/// Blocks of these sizes, predicted and joined on host or device.
fn check_addresses(sizes: &[(usize, usize)]) {
    for &size in sizes {
        for (predictor, join) in [("host", "device"), ("device", "host")] {
            let settings = [
                ("KIRIN_PREDICTOR", predictor),
                ("KIRIN_JOIN", join),
                ("KIRIN_NPIPES", "16384"),
                ("FAKE_CUDA_MULTIPROCESSORS", "1"),
            ];
            check(Sanitizer::Address, "libasan.so", size, &settings);
        }
    }
}

#[test]
#[ignore = "takes a minute: .ci/long runs it"]
fn addresses_and_undefined_behaviour() {
    check_addresses(&[(1, 1), (65, 17), (513, 33)]);
}

#[test]
#[ignore = "takes a minute: .ci/long runs it"]
fn addresses_in_many_thread_blocks() {
    check_addresses(&[(1100, 130)]);
}

/// NBODY6's regular force.
#[test]
#[ignore = "takes a minute: .ci/long runs it"]
fn regular_forces() {
    for (sanitizer, library, cases) in [
        (
            Sanitizer::Address,
            "libasan.so",
            &[["1100", "130"], ["513", "33"]][..],
        ),
        (Sanitizer::Thread, "libtsan.so", &[["600", "20"]]),
    ] {
        let (Some((driver, path)), Some(client)) =
            (sanitized(sanitizer, library), regular_client::client())
        else {
            return;
        };
        for &[n, ni] in cases {
            let case = [n, ni, "0", "edge", ni, n];
            let settings = [
                ("LD_PRELOAD", path.as_str()),
                ("ASAN_OPTIONS", "detect_leaks=0"),
                ("KIRIN_THREADS", "1"),
                ("FAKE_CUDA_MULTIPROCESSORS", "1"),
            ];
            let arguments = regular_client::arguments(&case);
            let run = fake_cuda::run(driver, client, &arguments, &settings);
            assert!(run.success && run.err.is_empty(), "{case:?}\n{}", run.err);
            assert_eq!(run.log.complaints, [""; 0], "{case:?}");
            let expected = regular_client::expected(&case).expect("a compiler");
            regular_client::check(&run.out, &expected, 1e-6, library);
        }
    }
}

#[test]
#[ignore = "takes a minute: .ci/long runs it"]
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
