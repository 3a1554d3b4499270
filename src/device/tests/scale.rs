//! The example in the README, on the driver that interprets PTX, and on machines without one.

use std::path::{Path, PathBuf};

use fake_cuda::Run;

fn run(driver: &Path, settings: &[(&str, &str)]) -> Run {
    fake_cuda::run(
        driver,
        Path::new(env!("CARGO_BIN_EXE_scale")),
        &[],
        settings,
    )
}

#[test]
fn numbers_are_scaled_and_memory_is_freed() {
    let Some(driver) = fake_cuda::driver() else {
        return;
    };
    for order in ["forward", "reverse", "1"] {
        let run = run(driver, &[("FAKE_CUDA_ORDER", order)]);
        assert!(run.success && run.err.is_empty(), "{run:?}");
        assert_eq!(run.out, "[2.0, 5.0, -8.0]\n");
        assert_eq!(run.log.complaints, [""; 0]);
        assert_eq!(run.log.left(), [""; 0]);
        assert_eq!(run.log.count("kernel:scale"), 1);
    }
}

#[test]
fn the_device_is_that_of_the_setting() {
    let Some(driver) = fake_cuda::driver() else {
        return;
    };
    let two = ("FAKE_CUDA_DEVICES", "2");
    // The second device fails, so nothing runs on it unnoticed; without the setting a device that fails is passed over.
    let fails = ("FAKE_CUDA_FAIL", "cuDeviceGet#2:101");
    for (setting, why) in [
        (("KIRIN_DEVICES", "0"), None),
        (
            ("KIRIN_DEVICES", "1"),
            Some("scale: device 1 (unknown): cuDeviceGet: FAKE_ERROR_101"),
        ),
        (
            ("KIRIN_DEVICES", "7"),
            Some("scale: device 7 is asked for, but there are 2"),
        ),
        (("KIRIN_DEVICES", "auto"), None),
    ] {
        let run = run(driver, &[two, fails, setting]);
        match why {
            None => assert!(run.success, "{setting:?}: {run:?}"),
            Some(why) => assert!(
                !run.success && run.err.starts_with(why),
                "{setting:?}: {run:?}"
            ),
        }
    }
}

#[test]
fn what_fails_is_an_error_that_names_the_operation() {
    let Some(driver) = fake_cuda::driver() else {
        return;
    };
    for (setting, why) in [
        (("FAKE_CUDA_DEVICES", "0"), "libcuda.so.1: cuInit: "),
        (
            ("FAKE_CUDA_CAPABILITY", "5.2"),
            "its compute capability 5.2 is below 6.0",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuStreamCreate:2"),
            "cuStreamCreate: FAKE_ERROR_2",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:218"),
            "cuModuleLoadDataEx: FAKE_ERROR_218",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuModuleGetFunction:500"),
            "scale: cuModuleGetFunction: ",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuMemHostAlloc:2"),
            "cuMemHostAlloc: FAKE_ERROR_2",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuMemAlloc_v2:2"),
            "cuMemAlloc_v2: FAKE_ERROR_2",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuMemcpyHtoDAsync_v2:700:device"),
            "cuMemcpyHtoDAsync: ",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuLaunchKernel:700:device"),
            "cuLaunchKernel: FAKE_ERROR_700",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuMemcpyDtoHAsync_v2:700:device"),
            "cuMemcpyDtoHAsync: ",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuStreamQuery:719:device"),
            "cuStreamQuery: FAKE_ERROR_719",
        ),
        // It is given up, and nothing waits for it again.
        (("FAKE_CUDA_HANG", "1"), "no answer for "),
    ] {
        let run = run(driver, &[setting, ("KIRIN_GPU_TIMEOUT", "1")]);
        assert!(!run.success && run.out.is_empty(), "{setting:?}: {run:?}");
        let named = run.err.starts_with("scale: ") && run.err.contains(why);
        assert!(named, "{setting:?}: {}", run.err);
    }
}

#[test]
fn without_a_driver_there_is_an_error_and_no_panic() {
    let folder = kirin_testing::Folder::new("no-driver");
    let here = folder.file("");
    let mut drivers = vec![(PathBuf::from(here), "there is no CUDA driver")];
    drivers.extend(fake_cuda::empty_driver().map(|driver| (driver.to_owned(), "it lacks cu")));
    drivers.extend(
        fake_cuda::stub().map(|driver| (driver.to_owned(), "a stub out of a CUDA toolkit")),
    );
    for (driver, why) in drivers {
        let run = run(&driver, &[]);
        assert!(!run.success, "{run:?}");
        assert!(
            run.err.starts_with("scale: ") && run.err.contains(why),
            "{}",
            run.err
        );
    }
}
