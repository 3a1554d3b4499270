//! Small blocks, which take one launch where i-particles and changed j-particles are few.

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::Run;

use crate::steps::{WIDE, steps};
use crate::{driver, input, run, set, try_forces};

const ROUNDS: &str = "60";

/// Launches of the kernels whose name begins so.
fn launches(run: &Run, name: &str) -> u64 {
    let kernels = run.log.kernels().filter(|k| k.starts_with(name));
    kernels.map(|k| run.log.count(&format!("kernel:{k}"))).sum()
}

/// The bits are those of blocks that are predicted on the host, where no kernel does more than one thing.
#[test]
fn one_launch_gives_the_bits_of_several() {
    let Some(client) = compile("few.c", Link::Shared) else {
        return;
    };
    let of = |settings: &[(&str, &str)]| {
        let run = run(&client, &[ROUNDS.as_ref()], settings)?;
        assert!(run.success && run.err.is_empty(), "{settings:?}: {run:?}");
        assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
        assert_eq!(run.log.left(), [""; 0], "{settings:?}");
        Some(run)
    };
    for precision in ["mixed", "double", "single", "double-single"] {
        let precision = ("KIRIN_PRECISION", precision);
        let Some(by_host) = of(&[precision, ("KIRIN_PREDICTOR", "host")]) else {
            return;
        };
        assert_eq!(launches(&by_host, "step_"), 0);
        for settings in [
            &[][..],
            &[("FAKE_CUDA_MAPS", "0"), ("KIRIN_JOIN", "device")],
            &[
                ("FAKE_CUDA_EXECUTION", "immediate"),
                ("FAKE_CUDA_ORDER", "5"),
            ],
            &[("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "all")],
        ] {
            let Some(run) = of(&[&[precision], settings].concat()) else {
                return;
            };
            let (few, many) = (launches(&run, "step_"), launches(&run, "force_"));
            assert!(few >= 25 && many >= 10, "{settings:?}: {few}, {many}");
            // The number of addresses changes often; the schedules take the same memory again.
            let allocations = run.log.count("cuMemAlloc_v2");
            assert!(allocations < 60, "{settings:?}: {allocations}");
            for (line, expected) in run.out.lines().zip(by_host.out.lines()) {
                assert_eq!(line, expected, "{precision:?} {settings:?}");
            }
        }
    }
}

/// A device that ends long kernels gets short ones.
#[test]
fn a_watched_device_predicts_apart() {
    let Some(watched) = steps("3000 5 3 0 0", &[("FAKE_CUDA_WATCHDOG", "1")]) else {
        return;
    };
    assert_eq!(launches(&watched, "step_"), 0);
}

/// The last kernel of a block tells the host that the results are there, so the driver is not asked. The driver that
/// executes at once has done everything before the host looks.
#[test]
fn the_device_tells_that_it_is_done() {
    let at_once = [WIDE[0], WIDE[1], ("FAKE_CUDA_EXECUTION", "immediate")];
    for (settings, asks) in [
        (&at_once[..], 0),
        (&[&at_once[..], &[("FAKE_CUDA_MAPS", "0")]].concat(), 1),
    ] {
        // The first block with nearest neighbours, which nobody has expected, is queued anew behind a wait.
        for (arguments, last, more) in [
            ("16384 8 5 0 0", "step_mixed", 0),
            ("16384 8 5 1 0", "nearest_neighbours", 1),
            ("16384 32 5 0 0", "join_sums", 0),
            ("16384 100 5 1 0", "nearest_neighbours", 1),
        ] {
            let Some(run) = steps(arguments, settings) else {
                return;
            };
            let launched =
                |line: &&str| line.starts_with("call ") && line.contains("cuLaunchKernel");
            let kernel = run.log.text.lines().rfind(launched);
            assert!(
                kernel.is_some_and(|k| k.contains(&format!(" {last} "))),
                "{arguments}: {kernel:?}"
            );
            // One of the others is for the roots at opening, one at the end.
            let waits = run.log.count("cuStreamQuery");
            let expected = 2 + more + 5 * asks;
            assert_eq!(waits, expected, "{arguments} {settings:?}");
        }
    }
}

/// Half the particles are so far away that no unit suits all: the CPU computes, and the device is given nothing to do.
#[test]
fn nothing_is_queued_where_no_unit_suits() {
    let mut set = set(600, 20, 1e-4);
    for source in set.sources.iter_mut().skip(300) {
        source.x = source.x.map(|x| 1e60 * x);
    }
    let Some(run) = driver().and_then(|driver| try_forces(driver, &input(&set), &[])) else {
        return;
    };
    assert!(run.success && run.err.is_empty(), "{run:?}");
    assert_eq!((launches(&run, "force"), launches(&run, "step")), (0, 0));
}
