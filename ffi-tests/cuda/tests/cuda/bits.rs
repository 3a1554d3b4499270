//! The results have the same bits however the work is divided, ordered and distributed over devices.

use ffi_tests::sets::Set;

use crate::{PRECISIONS, forces, input, set};

fn same(variants: &[&[(&str, &str)]]) {
    same_of(&set(2300, 330, 1e-4), variants);
}

pub fn same_of(set: &Set, variants: &[&[(&str, &str)]]) {
    let input = input(set);
    for precision in PRECISIONS {
        let of = |settings: &[(&str, &str)]| {
            let all = [&[("KIRIN_PRECISION", precision)], settings].concat();
            forces(&input, &all)
        };
        let Some(expected) = of(&[]) else {
            return;
        };
        for settings in variants {
            assert!(
                of(settings).is_some_and(|found| found == expected),
                "{precision}: other digits with {settings:?}"
            );
        }
    }
}

#[test]
fn on_one_to_four_devices() {
    for (predictor, join) in [("auto", "auto"), ("host", "device")] {
        for devices in ["2", "3", "4"] {
            same(&[&[
                ("FAKE_CUDA_DEVICES", devices),
                ("KIRIN_DEVICES", "all"),
                ("KIRIN_PREDICTOR", predictor),
                ("KIRIN_JOIN", join),
            ]]);
        }
    }
}

#[test]
fn predicted_and_joined_on_host_or_device() {
    let places = ["host", "device"];
    for predictor in places {
        for join in places {
            same(&[&[("KIRIN_PREDICTOR", predictor), ("KIRIN_JOIN", join)]]);
        }
    }
}

/// The j-particles in one part, and in as many parts as fill the device.
#[test]
fn with_and_without_split_blocks() {
    let off = ("KIRIN_SPLIT", "off");
    same(&[
        &[off],
        &[off, ("KIRIN_NPIPES", "49")],
        &[off, ("KIRIN_JOIN", "device")],
        &[
            off,
            ("FAKE_CUDA_MULTIPROCESSORS", "132"),
            ("FAKE_CUDA_DEVICES", "3"),
            ("KIRIN_DEVICES", "all"),
        ],
    ]);
}

#[test]
fn through_memory_of_the_host_and_by_copies() {
    for join in ["host", "device"] {
        same(&[&[("FAKE_CUDA_MAPS", "0"), ("KIRIN_JOIN", join)]]);
    }
}

#[test]
fn in_blocks_of_any_size() {
    same(&[
        &[("KIRIN_NPIPES", "49")],
        &[("KIRIN_NPIPES", "64")],
        &[("KIRIN_NPIPES", "129")],
        &[("KIRIN_NPIPES", "16384")],
    ]);
}

#[test]
fn on_small_and_large_devices() {
    same(&[
        &[("FAKE_CUDA_MULTIPROCESSORS", "1")],
        &[
            ("FAKE_CUDA_MULTIPROCESSORS", "2"),
            ("KIRIN_NPIPES", "16384"),
        ],
        &[("FAKE_CUDA_MULTIPROCESSORS", "132")],
        &[
            ("FAKE_CUDA_MULTIPROCESSORS", "132"),
            ("KIRIN_JOIN", "device"),
        ],
    ]);
}

/// Shows a barrier that is missing in a kernel, and a buffer that is used too early.
#[test]
fn in_any_order_of_execution() {
    same(&[
        &[("FAKE_CUDA_ORDER", "reverse")],
        &[("FAKE_CUDA_ORDER", "1"), ("KIRIN_JOIN", "device")],
        // About one thread block for each multiprocessor, and many.
        &[
            ("FAKE_CUDA_ORDER", "3"),
            ("KIRIN_JOIN", "device"),
            ("FAKE_CUDA_MULTIPROCESSORS", "1"),
        ],
        &[
            ("FAKE_CUDA_ORDER", "4"),
            ("KIRIN_JOIN", "device"),
            ("FAKE_CUDA_MULTIPROCESSORS", "132"),
        ],
        &[("FAKE_CUDA_ORDER", "2"), ("KIRIN_NPIPES", "16384")],
        &[("FAKE_CUDA_EXECUTION", "immediate")],
        &[("FAKE_CUDA_FILL", "0")],
        &[("FAKE_CUDA_FILL", "127")],
    ]);
}
