//! Which of several devices a cluster takes where nobody names one.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};

use crate::run;

/// The devices that the clusters of a process take, the last of them for a second time, and what is on stderr.
fn devices(clusters: &[&str], settings: &[(&str, &str)]) -> Option<(String, String)> {
    let client = compile("turns.c", Link::Shared)?;
    let arguments: Vec<_> = clusters.iter().map(OsStr::new).collect();
    let run = run(&client, &arguments, settings)?;
    assert!(run.success, "{settings:?}: {run:?}");
    assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
    let names = run.out.lines().map(|name| match name.split_once(' ') {
        Some(("cuda", rest)) => rest.split(' ').next().unwrap_or(""),
        _ => "cpu",
    });
    Some((names.collect::<Vec<_>>().join(" "), run.err))
}

/// Of a process with several clusters each takes another device, and a cluster that is opened again takes its own.
#[test]
fn clusters_take_the_devices_in_turn() {
    let three = ("FAKE_CUDA_DEVICES", "3");
    let rank = [
        ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
        ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
    ];
    for (settings, expected) in [
        (&[][..], "0 0 0 0 0"),
        (&[three], "0 1 2 0 1"),
        (&[("FAKE_CUDA_DEVICES", "4"), rank[0], rank[1]], "1 3 1 3 3"),
        (&[three, ("KIRIN_DEVICES", "2")], "2 2 2 2 2"),
        (
            &[three, ("KIRIN_DEVICES", "all")],
            "0,1,2 0,1,2 0,1,2 0,1,2 0,1,2",
        ),
    ] {
        let Some((taken, err)) = devices(&["4"], settings) else {
            return;
        };
        assert_eq!(
            (taken.as_str(), err.as_str()),
            (expected, ""),
            "{settings:?}"
        );
    }
}

/// Ranks that are threads and compute at the same time: each takes another device.
#[test]
fn eight_clusters_in_eight_threads_take_eight_devices() {
    let eight = [("FAKE_CUDA_DEVICES", "8")];
    let Some((taken, err)) = devices(&["8", "in threads"], &eight) else {
        return;
    };
    let mut taken: Vec<&str> = taken.split(' ').collect();
    let again = taken.pop();
    assert_eq!(again, taken.get(1).copied(), "{taken:?}");
    taken.sort_unstable();
    assert_eq!(taken.join(" "), "0 1 2 3 4 5 6 7");
    assert_eq!(err, "");
}

/// If a device cannot be opened, the process takes the next one. If none is left, or only this device was asked for,
/// the CPU computes. One line on stderr says what happened. There is no line if another process merely has the device
/// for itself, the user did not ask for it, and another device is free.
#[test]
fn the_next_device_computes_where_one_cannot_be_opened() {
    for (code, named, expected, says) in [
        ("46", "auto", "1 1 1", ""),
        ("999", "auto", "1 1 1", "the other devices compute"),
        ("46 of all", "auto", "cpu cpu cpu", "the CPU computes"),
        ("46", "0", "cpu cpu cpu", "the CPU computes"),
        ("46", "all", "1 1 1", "the other devices compute"),
    ] {
        let fail = match code {
            "46 of all" => "cuDevicePrimaryCtxRetain:46".to_owned(),
            // Every attempt to open device 0 fails.
            _ => format!("cuDevicePrimaryCtxRetain#1:{code}:device"),
        };
        let settings = [
            ("FAKE_CUDA_DEVICES", "2"),
            ("FAKE_CUDA_FAIL", &fail),
            ("KIRIN_DEVICES", named),
        ];
        let Some((taken, err)) = devices(&["2"], &settings) else {
            return;
        };
        assert_eq!(taken, expected, "{settings:?}: {err}");
        assert_eq!(err.lines().count(), usize::from(!says.is_empty()), "{err}");
        assert!(err.contains(says), "{err}");
    }
}
