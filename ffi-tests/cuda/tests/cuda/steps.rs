//! The driver calls of a block step, from the fake driver's log, and the time that they leave the host for other
//! work.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::LazyLock;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::Run;

use crate::run;

/// As wide as an H200.
pub const WIDE: [(&str, &str); 2] = [
    ("FAKE_CUDA_MULTIPROCESSORS", "132"),
    ("FAKE_CUDA_TRACE", "1"),
];

/// A run of `steps.c` with these arguments.
pub fn steps(arguments: &str, settings: &[(&str, &str)]) -> Option<Run> {
    static CLIENT: LazyLock<Option<PathBuf>> = LazyLock::new(|| compile("steps.c", Link::Shared));
    let arguments: Vec<&OsStr> = arguments.split(' ').map(OsStr::new).collect();
    let run = run(CLIENT.as_deref()?, &arguments, settings)?;
    assert!(run.success && run.err.is_empty(), "{run:?}");
    let complaints = &run.log.complaints;
    assert!(complaints.is_empty(), "{settings:?}: {complaints:?}");
    Some(run)
}

/// A call of the driver.
#[derive(Debug, PartialEq)]
pub struct DriverCall {
    /// The function.
    pub name: String,
    device: String,
    /// Bytes of a copy, or the kernel of a launch.
    pub about: String,
}

/// The calls of the last step, without those that close the cluster.
pub fn last_step(run: &Run) -> Vec<DriverCall> {
    let calls = run.log.text.lines().filter_map(|line| {
        let words: Vec<&str> = line.strip_prefix("call ")?.split(' ').collect();
        Some(DriverCall {
            name: words[1].to_owned(),
            device: words[2].to_owned(),
            about: words.get(4).copied().unwrap_or("").to_owned(),
        })
    });
    let calls: Vec<DriverCall> = calls.collect();
    // The last two waits are for the device's end, the one before is the last step's: whatever precedes it is of earlier steps.
    let is_wait = |c: &DriverCall| c.name == "cuStreamQuery";
    let devices = calls.iter().filter(|c| c.name == "cuStreamCreate").count();
    let waits: Vec<usize> = (0..calls.len()).filter(|&n| is_wait(&calls[n])).collect();
    let own = waits.len() - devices;
    let (begin, end) = (waits[own - devices - 1] + 1, waits[own - 1]);
    let is_work = |c: &DriverCall| !c.name.starts_with("cuCtx");
    calls
        .into_iter()
        .take(end + 1)
        .skip(begin)
        .filter(is_work)
        .collect()
}

fn names(calls: &[DriverCall]) -> Vec<&str> {
    let is_launch = |c: &DriverCall| c.name == "cuLaunchKernel";
    calls
        .iter()
        .map(|c| {
            if is_launch(c) {
                &c.about[..]
            } else {
                &c.name[..]
            }
        })
        .collect()
}

#[test]
fn a_small_block_is_a_few_launches_and_one_wait() {
    let step = [&["step_mixed"][..], &["step_mixed_nearest"]];
    let apart = [
        &["advance_mixed", "force_mixed_jerk_1"][..],
        &["advance_mixed", "force_mixed_jerk_nearest_1"],
    ];
    for (ni, force, join) in [
        (1, step, None),
        (8, step, None),
        (32, apart, Some("join_sums")),
        (256, apart, Some("join_sums")),
    ] {
        for (nearest, decide) in [(0, None), (1, Some("nearest_neighbours"))] {
            let arguments = format!("16384 {ni} 3 {nearest} 0");
            let Some(run) = steps(&arguments, &WIDE) else {
                return;
            };
            let mut expected = force[nearest].to_vec();
            expected.extend(join.into_iter().chain(decide));
            expected.push("cuStreamQuery");
            assert_eq!(names(&last_step(&run)), expected, "{arguments}");
        }
    }
}

/// The last copy fetches the number of leaves that were summed again.
#[test]
fn a_device_that_does_not_see_the_host_costs_some_copies_more() {
    let settings = [&WIDE[..], &[("FAKE_CUDA_MAPS", "0")]].concat();
    let results = [
        "nearest_neighbours",
        "cuMemcpyDtoHAsync_v2",
        "cuMemcpyDtoHAsync_v2",
        "cuStreamQuery",
    ];
    for (arguments, force) in [
        ("16384 8 3 1 0", &["step_mixed_nearest"][..]),
        (
            "16384 17 3 1 0",
            &[
                "cuMemcpyHtoDAsync_v2",
                "advance_mixed",
                "force_mixed_jerk_nearest_1",
            ],
        ),
    ] {
        let Some(run) = steps(arguments, &settings) else {
            return;
        };
        let expected = [force, &results].concat();
        assert_eq!(names(&last_step(&run)), expected, "{arguments}");
    }
}

#[test]
fn all_devices_work_before_one_is_waited_for() {
    let devices = [
        ("FAKE_CUDA_DEVICES", "3"),
        ("KIRIN_DEVICES", "all"),
        ("FAKE_CUDA_TRACE", "1"),
    ];
    let Some(run) = steps("4096 20 3 1 0", &devices) else {
        return;
    };
    let calls = last_step(&run);
    let wait = calls.iter().position(|c| c.name == "cuStreamQuery");
    let (before, after) = calls.split_at(wait.expect("somebody waits"));
    for device in ["0", "1", "2"] {
        let count = |calls: &[DriverCall], name: &str| {
            let is_it = |c: &&DriverCall| c.name == name && c.device == device;
            calls.iter().filter(is_it).count()
        };
        assert_eq!(count(before, "cuLaunchKernel"), 3, "{calls:?}");
        assert_eq!(count(after, "cuStreamQuery"), 1, "{calls:?}");
    }
    assert_eq!(after.len(), 3, "{calls:?}");
}

/// Every kernel, of which such a block needs two, takes 120 ms, in which the fake device sleeps and needs no processor.
#[test]
fn the_client_works_while_the_device_does() {
    for devices in ["1", "2"] {
        let settings = [
            ("FAKE_CUDA_DELAY", "120"),
            ("FAKE_CUDA_DEVICES", devices),
            ("KIRIN_DEVICES", "all"),
        ];
        let (force, work) = (0.240, 0.200);
        let Some(run) = steps("1500 20 5 0 200", &settings) else {
            return;
        };
        // The best of several rounds, because this machine may be busy.
        let mut best = [f64::INFINITY; 2];
        for line in run.out.lines() {
            for (best, word) in best.iter_mut().zip(line.split(' ')) {
                *best = best.min(word.parse().expect("seconds"));
            }
        }
        let [queued, whole] = best;
        println!("{devices} devices: firsthalf {queued:.4} s, with work and lasthalf {whole:.4} s");
        assert!(queued < 0.1 * force, "firsthalf takes {queued} s");
        assert!(whole >= force, "the device takes {force} s, not {whole}");
        let sum = force + work;
        assert!(whole < 0.8 * sum, "{whole} s of a sum of {sum}");
    }
}

/// The sums of the bits of all steps.
fn bits(run: &Run) -> Vec<String> {
    let last = |line: &str| line.rsplit(' ').next().unwrap_or("").to_owned();
    run.out.lines().map(last).collect()
}

/// Steps of small blocks, which are planned differently from the first block.
#[test]
fn steps_have_the_same_bits_whichever_way_they_go() {
    for (precision, arguments) in [
        ("mixed", "3000 20 4 1 0"),
        ("mixed", "3000 1 4 0 0"),
        ("double", "1500 130 4 1 0"),
        ("single", "1500 5 4 1 0"),
    ] {
        let of = |settings: &[(&str, &str)]| {
            let all = [&[("KIRIN_PRECISION", precision)], settings].concat();
            steps(arguments, &all).map(|run| bits(&run))
        };
        let Some(expected) = of(&[]) else {
            return;
        };
        assert!(expected.len() == 4 && expected[2] != expected[3]);
        for settings in [
            &[("FAKE_CUDA_MAPS", "0")][..],
            &[("FAKE_CUDA_MAPS", "0"), ("KIRIN_JOIN", "device")],
            &[("KIRIN_JOIN", "device")],
            &[("KIRIN_JOIN", "device"), ("FAKE_CUDA_ORDER", "reverse")],
            &[("KIRIN_JOIN", "device"), ("FAKE_CUDA_ORDER", "1")],
            &[("KIRIN_JOIN", "host"), ("FAKE_CUDA_EXECUTION", "immediate")],
            &[("KIRIN_JOIN", "host"), ("FAKE_CUDA_MULTIPROCESSORS", "1")],
            &[("KIRIN_PREDICTOR", "host")],
            &[("FAKE_CUDA_DEVICES", "3"), ("KIRIN_DEVICES", "all")],
        ] {
            let found = of(settings);
            assert!(
                found.as_ref() == Some(&expected),
                "{precision} {arguments} {settings:?}: {found:?}, not {expected:?}"
            );
        }
    }
}

#[test]
fn nothing_is_left_on_the_device() {
    for settings in [
        &[][..],
        &[("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "all")],
        &[("KIRIN_JOIN", "device"), ("FAKE_CUDA_MAPS", "0")],
    ] {
        let Some(run) = steps("3000 40 3 1 0", settings) else {
            return;
        };
        assert_eq!(run.log.left(), [""; 0], "{settings:?}");
    }
}
