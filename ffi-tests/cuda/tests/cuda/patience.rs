//! Devices that do not answer, and devices that limit the time of a kernel.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::Run;
use ffi_tests::report::{self, Tolerance};

use crate::{driver, input, run, set, try_forces};

const TWO: [(&str, &str); 2] = [("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "all")];

fn reopen(client: &Path, settings: &[(&str, &str)]) -> Option<Run> {
    let run = run(client, &["4", "0"].map(OsStr::new), settings)?;
    assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
    Some(run)
}

#[test]
fn a_device_that_hangs_is_given_up_if_asked_for() {
    let Some(client) = compile("reopen.c", Link::Shared) else {
        return;
    };
    for (devices, launch, heir) in [
        (&[][..], "5", "the CPU computes"),
        (&TWO, "2", "the other devices compute"),
        (&TWO, "8", "the other devices compute"),
    ] {
        let hangs = [("FAKE_CUDA_HANG", launch), ("KIRIN_GPU_TIMEOUT", "1")];
        let begin = Instant::now();
        let Some(run) = reopen(&client, &[devices, &hangs].concat()) else {
            return;
        };
        // On the CPU the last bits differ, which the client's status tells.
        let status = if devices.is_empty() {
            !run.success
        } else {
            run.success
        };
        assert!(status, "{run:?}");
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        assert!(
            run.err.contains("no answer for 1.") && run.err.contains(heir),
            "{}",
            run.err
        );
        let seconds = begin.elapsed().as_secs_f64();
        assert!((1.0..20.0).contains(&seconds), "{seconds} s");
    }
}

/// Nothing is freed on a device that does not answer, whoever was the first to see that: each of these calls would wait for ever.
#[test]
fn nobody_waits_at_the_end_for_a_device_that_hangs() {
    let Some(client) = compile("hang.c", Link::Shared) else {
        return;
    };
    let mut lines = 0;
    for (mode, launch) in [
        ("0", "2"),
        ("0", "3"),
        ("0", "4"),
        ("1", "3"),
        ("1", "5"),
        ("1", "6"),
        ("1", "7"),
    ] {
        let hangs = [("FAKE_CUDA_HANG", launch), ("KIRIN_GPU_TIMEOUT", "1")];
        let begin = Instant::now();
        let Some(run) = run(&client, &[OsStr::new(mode)], &hangs) else {
            return;
        };
        assert!(run.success, "{mode}, {launch}: {run:?}");
        assert!(run.err.lines().count() <= 2, "{}", run.err);
        lines += run.err.lines().count();
        let seconds = begin.elapsed().as_secs_f64();
        assert!(seconds < 20.0, "{mode}, {launch}: {seconds} s");
    }
    assert!(lines > 3, "no device hung");
}

/// A device whose properties cannot be read is left out; the others keep their numbers.
#[test]
fn a_broken_device_does_not_take_the_others_along() {
    let Some(client) = compile("reopen.c", Link::Shared) else {
        return;
    };
    let broken = ("FAKE_CUDA_FAIL", "cuDeviceTotalMem_v2#1:999");
    for (devices, lines) in [("auto", 0), ("1", 0), ("all", 1)] {
        let settings = [
            broken,
            ("FAKE_CUDA_DEVICES", "2"),
            ("KIRIN_DEVICES", devices),
        ];
        let traced = [&settings[..], &[("FAKE_CUDA_TRACE", "1")]].concat();
        let Some(run) = reopen(&client, &traced) else {
            return;
        };
        assert!(
            run.success && run.err.lines().count() == lines,
            "{devices}: {run:?}"
        );
        let launches = |device| {
            run.log
                .text
                .matches(&format!("cuLaunchKernel {device} "))
                .count()
        };
        // The first launch measures the roots.
        assert_eq!((launches(0), launches(1)), (0, 1 + 8), "{devices}");
    }
}

/// On a device with a display, so slow that a small set takes long, there are more launches and the bits are the same.
#[test]
fn launches_under_a_watchdog_are_short() {
    let Some(driver) = driver() else {
        return;
    };
    let set = set(1500, 300, 1e-4);
    let input = input(&set);
    for precision in ["double", "mixed"] {
        let of = |watched| {
            let settings = [
                ("KIRIN_PRECISION", precision),
                ("KIRIN_NPIPES", "16384"),
                ("FAKE_CUDA_CAPABILITY", "8.6"),
                (
                    "FAKE_CUDA_CLOCK",
                    if precision == "double" { "1000" } else { "20" },
                ),
                ("FAKE_CUDA_WATCHDOG", watched),
            ];
            let run = try_forces(driver, &input, &settings).expect("a compiler");
            assert!(run.success && run.err.is_empty(), "{run:?}");
            assert_eq!(run.log.complaints, [""; 0]);
            let count = |part: &str| -> u64 {
                let kernels = run.log.kernels().filter(|k| k.contains(part));
                kernels.map(|k| run.log.count(&format!("kernel:{k}"))).sum()
            };
            (
                count("force"),
                count("advance"),
                count("count_neigh"),
                run.out,
            )
        };
        let (free, watched) = (of("0"), of("1"));
        println!(
            "{precision}: {:?}, {:?}",
            (free.0, free.1, free.2),
            (watched.0, watched.1, watched.2)
        );
        report::check(&free.3, &set, Tolerance::of(precision), true);
        assert!(free.3 == watched.3, "{precision}: other digits");
        assert!(watched.0 > 2 * free.0 && watched.2 > free.2, "{precision}");
    }
}
