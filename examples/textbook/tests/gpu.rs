//! The programs for a GPU, on a driver that interprets their PTX. Their results are those of the programs for a CPU,
//! bit for bit, in any order of blocks and threads. No memory stays allocated on the device.

mod common;

use std::path::Path;

use common::PROGRAM;
use fake_cuda::Run;

/// A run with the fake driver; nothing where there is no compiler for it.
fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Option<Run> {
    fake_cuda::run_program(Path::new(PROGRAM.path), arguments, settings)
}

/// What a run prints that goes well.
fn out(arguments: &[&str], settings: &[(&str, &str)]) -> Option<String> {
    let run = run(arguments, settings)?;
    let what = format!("{arguments:?} {settings:?}");
    assert!(run.success, "{what}: {} {:?}", run.err, run.log.complaints);
    assert_eq!(run.log.complaints, [""; 0], "{what}");
    assert_eq!(run.log.left(), [""; 0], "{what}");
    Some(run.out)
}

/// What a program for the CPU prints.
fn on_cpu(arguments: &[&str]) -> String {
    String::from_utf8(PROGRAM.succeed(arguments).stdout).expect("UTF-8")
}

const ORDERS: [&str; 4] = ["forward", "reverse", "1", "2"];

#[test]
fn the_solvers_have_the_bits_of_the_serial_one() {
    // One alone, less than a block, whole blocks, and a rest.
    for n in ["1", "7", "64", "150"] {
        for scheme in [&["--every", "2"][..], &["--leapfrog"]] {
            let problem = [&[n, "3", "2000"], scheme].concat();
            let expected = on_cpu(&[&["basic"], &problem[..]].concat());
            for program in ["basic-gpu", "shared-gpu"] {
                for order in ORDERS {
                    let arguments = [&[program], &problem[..], &["--block", "64"]].concat();
                    let Some(found) = out(&arguments, &[("FAKE_CUDA_ORDER", order)]) else {
                        return;
                    };
                    assert_eq!(found, expected, "{arguments:?}, {order}");
                }
            }
        }
    }
}

/// A step of each kernel, once for all particles.
#[test]
fn the_kernels_are_the_chapters() {
    for (program, kernel) in [
        ("basic-gpu", "compute_force"),
        ("shared-gpu", "compute_force_shared"),
    ] {
        let Some(run) = run(&[program, "1500", "2", "1", "--no-output"], &[]) else {
            return;
        };
        let count = |what: &str| run.log.count(what);
        assert!(run.success, "{run:?}");
        assert_eq!(count(&format!("kernel:{kernel}")), 2);
        assert_eq!(count("kernel:update_pos_vel"), 2);
        // 1024 threads a block.
        assert_eq!(count("blocks"), 2 * 2 * 2);
    }
}

/// Launches behind a device that does not answer would at some time not return.
#[test]
fn the_host_waits_for_each_step() {
    let waits = |steps| {
        let run = run(&["basic-gpu", "3", steps, "1", "--no-output"], &[])?;
        assert!(run.success, "{run:?}");
        Some(run.log.count("cuStreamQuery"))
    };
    if let (Some(few), Some(many)) = (waits("2"), waits("7")) {
        assert!(many >= few + 5, "{few}, {many}");
    }
}

#[test]
fn single_precision_has_its_own_accuracy() {
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace()
            .map(|w| w.parse().expect("a number"))
            .collect()
    };
    for n in ["1", "50"] {
        let expected = numbers(&on_cpu(&["basic", n, "5", "2000"]));
        for program in ["basic-gpu", "shared-gpu"] {
            let arguments = [program, n, "5", "2000", "--float", "--block", "32"];
            let Some(found) = out(&arguments, &[]) else {
                return;
            };
            let found = numbers(&found);
            assert_eq!(found.len(), expected.len());
            let largest = |k: usize| {
                let column = expected[1..].iter().skip(k).step_by(5);
                column.fold(0.0_f64, |m, x| m.max(x.abs()))
            };
            let mut differs = false;
            for (i, (a, b)) in found[1..].iter().zip(&expected[1..]).enumerate() {
                assert!(
                    (a - b).abs() <= 1e-6 * largest(i % 5),
                    "{program} {n}: {a:e} {b:e}"
                );
                differs |= a != b;
            }
            assert_eq!(differs, n != "1", "{program} is in single precision");
        }
    }
}

/// The keys that `list` asks for are sorted on the GPU as on the CPU, in any order of execution.
fn sorted_as_on_the_cpu(list: &[&str]) {
    let expected = on_cpu(&[&["sort", "3"], list].concat());
    for (order, block) in [("forward", "256"), ("reverse", "64"), ("1", "96")] {
        let arguments = [&["sort-gpu", "--block", block], list].concat();
        let Some(found) = out(&arguments, &[("FAKE_CUDA_ORDER", order)]) else {
            return;
        };
        assert!(found == expected, "{arguments:?}, {order}");
    }
}

#[test]
fn the_sort_is_a_plain_one() {
    // Nothing, less than a warp, a block in shared memory, several buckets, one in global memory; with 70000 keys
    // more counts than one round adds up.
    for (keys, sizes) in [
        (
            "random",
            &["0", "1", "31", "33", "1000", "9999", "70000"][..],
        ),
        ("sorted", &["5", "9999"]),
        ("reversed", &["2100"]),
        ("equal", &["1", "64", "5000"]),
    ] {
        for n in sizes {
            let list = [n, "--keys", keys];
            sorted_as_on_the_cpu(&list);
        }
    }
}

#[test]
fn a_bucket_of_different_keys_is_sorted_in_global_memory() {
    // The sample has 16 keys for each of the five buckets, at equal distances, and here the smallest of all: so the
    // others lie in one bucket.
    let (n, sample) = (5000, 80);
    let mut state = 7_u32;
    let mut keys: Vec<u32> = (0..n)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 1
        })
        .collect();
    for k in 0..sample {
        keys[(2 * k + 1) * n / (2 * sample)] = 0;
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-bucket.txt");
    let text: Vec<String> = keys.iter().map(u32::to_string).collect();
    std::fs::write(&file, text.join("\n")).expect("the target folder is writable");
    let list = ["5000", "--input", file.to_str().expect("UTF-8")];
    sorted_as_on_the_cpu(&list);
}

#[test]
fn what_fails_is_told() {
    for (settings, why) in [
        (
            &[("FAKE_CUDA_DEVICES", "0")][..],
            "textbook: libcuda.so.1: cuInit: FAKE_ERROR_100 (no GPU is visible to this process)",
        ),
        (
            &[("FAKE_CUDA_FAIL", "cuDeviceGet:101")],
            "textbook: device 0 (unknown): cuDeviceGet: FAKE_ERROR_101",
        ),
        (
            &[("FAKE_CUDA_FAIL", "cuMemAlloc_v2#3:2")],
            "textbook: cuMemAlloc_v2: FAKE_ERROR_2",
        ),
        (
            &[("FAKE_CUDA_FAIL", "cuLaunchKernel#2:700:device")],
            "textbook: cuLaunchKernel: FAKE_ERROR_700",
        ),
        (
            &[("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:222")],
            "textbook: cuModuleLoadDataEx: FAKE_ERROR_222 (the driver is older than the kernels)",
        ),
        (
            &[("FAKE_CUDA_DRIVER", "12000")],
            "textbook: libcuda.so.1: the driver knows CUDA 12.0, kirin's kernels need 12.1",
        ),
        // A kernel that never ends.
        (
            &[("FAKE_CUDA_HANG", "1"), ("KIRIN_GPU_TIMEOUT", "1")],
            "textbook: cuStreamQuery: FAKE_ERROR_600: no answer for ",
        ),
    ] {
        for program in [&["basic-gpu", "4", "2", "1"][..], &["sort-gpu", "100"]] {
            let Some(run) = run(program, settings) else {
                return;
            };
            assert!(!run.success && run.out.is_empty(), "{settings:?}: {run:?}");
            assert!(run.err.starts_with(why), "{settings:?}: {}", run.err);
        }
    }
    for (arguments, why) in [
        (
            &["sort-gpu", "10", "--block", "33"][..],
            "33 is not a multiple of 32",
        ),
        (&["sort-gpu"], "required arguments"),
        (&["basic-gpu", "4", "1"], "required arguments"),
        (
            &["shared-gpu", "4", "1", "1", "1"],
            "unexpected argument '1'",
        ),
        (
            &["shared-gpu", "4", "1", "1", "--block", "1025"],
            "above 1024",
        ),
    ] {
        let told = PROGRAM.fail(arguments);
        assert!(told.contains(why), "{told}");
    }
}
