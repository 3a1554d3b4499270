//! The table `benches/results/small-blocks.md`: what a small block costs, from the fake driver's log.

use std::fmt::Write;

use ffi_tests::generate::repository;
use kirin_core::gpu::cuda::{Conditions, LaunchPlan};
use kirin_core::process::settings::Precision;

use crate::steps::{DriverCall, WIDE, last_step, steps};

/// Microseconds on an H100 in a virtual machine. Each kernel or copy takes `OPERATION`, and begins when the one before
/// has ended. The way to the device and back takes `ROUND_TRIP`.
const OPERATION: f64 = 3.9;
const ROUND_TRIP: f64 = 5.4;
/// `CLOCKS` is the number of clocks in a microsecond, `ADVANCE` the number of clocks that a prediction takes. In a
/// prediction each multiprocessor has at most one thread block of 512 j-particles, which waits for memory a few times.
const CLOCKS: f64 = 1980.0;
const ADVANCE: f64 = 8000.0;

/// i-particles of a block.
const SIZES: [usize; 4] = [1, 8, 32, 256];

const HEAD: &str = "\
# What a small block costs

Counted from the log of the fake driver (`ffi-tests/cuda/tests/cuda/small_blocks.rs`, which keeps this file true: `cargo test -p
cuda-tests --test cuda small_blocks`, with `KIRIN_WRITE_RESULTS=1` to write it). N = 16384, `mixed`, with jerk, 132
multiprocessors; each step moves the i-particles and sets a new time. The microseconds are predicted. The time of the force kernel
follows from counted instructions (`kirin info --plan`). The other times were measured on an H100 in a virtual machine: 4 us for the
prediction, 3.9 us for each kernel or copy, 5.4 us for the way to the device and back. Whole steps measured there are in
`gpu-h100/small-blocks.txt`.

| i-particles | nearest | launches | copies | waits | bytes up | bytes down | force kernel, us | predicted, us |
|---|---|---|---|---|---|---|---|---|
";

fn bytes(calls: &[DriverCall], name: &str) -> usize {
    let copies = calls.iter().filter(|c| c.name == name);
    copies
        .map(|c| c.about.parse::<usize>().expect("bytes"))
        .sum()
}

fn predicted(operations: usize, force: f64) -> f64 {
    operations as f64 * OPERATION + ROUND_TRIP + ADVANCE / CLOCKS + force
}

/// The table; `None` where there is no compiler.
fn table() -> Option<String> {
    let mut text = HEAD.to_owned();
    let h200 = Conditions {
        multiprocessors: 132,
        capability: (9, 0),
        precision: Precision::Mixed,
        split: true,
    };
    for ni in SIZES {
        for nearest in [0, 1] {
            let arguments = format!("16384 {ni} 3 {nearest} 0");
            let calls = last_step(&steps(&arguments, &WIDE)?);
            // Kernels that can read and write host memory transfer what is copied where they cannot.
            let copied = [&WIDE[..], &[("FAKE_CUDA_MAPS", "0")]].concat();
            let copied = last_step(&steps(&arguments, &copied)?);
            let (up, down) = (
                bytes(&copied, "cuMemcpyHtoDAsync_v2"),
                bytes(&copied, "cuMemcpyDtoHAsync_v2"),
            );
            let count = |part: &str| calls.iter().filter(|c| c.name.contains(part)).count();
            let is_wanted = ["no", "yes"][nearest];
            let plan = LaunchPlan::new(ni, 32, &h200);
            // If the host joins, the sums of all parts are fetched; 16 bytes more say how many leaves were summed again.
            let on_host = down > ni * (7 * 8 + 12) + 16;
            let force = (plan.clocks - if on_host { plan.join } else { 0.0 }) / CLOCKS;
            let (launches, copies) = (count("Launch"), count("Memcpy"));
            let _ = writeln!(
                text,
                "| {ni} | {is_wanted} | {launches} | {copies} | {} | {up} | {down} | {force:.1} | {:.0} |",
                count("StreamQuery"),
                predicted(launches + copies, force)
            );
        }
    }
    text.push_str(TAIL);
    Some(text)
}

const TAIL: &str = "
Blocks of 1 and of 8 i-particles are sent as arguments of the kernel that predicts and sums, 3800 bytes. These are not among the bytes up, which are
those of copies on a device that does not see memory of the host. The prediction in this kernel is taken to last as long as one in a kernel of its own.
The device joins the sums of 32 and of 256 i-particles, and the column of the force kernel includes the time for that. The time for deciding
the nearest neighbours is left out. Nothing is allocated in any of these blocks.
";

#[test]
fn the_table_of_small_blocks_is_true() {
    let Some(text) = table() else {
        return;
    };
    let path = repository().join("benches/results/small-blocks.md");
    if std::env::var_os("KIRIN_WRITE_RESULTS").is_some() {
        std::fs::write(&path, &text).expect("the checkout is writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "{} should say\n{text}", path.display());
}
