//! The rules by which `auto` chooses the precision on a device, and leaves small blocks to the CPU. If blocks alternate
//! between two backends, both get what is written between the blocks.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::library;

use crate::run;

/// The precision and the bits of each block of `fewmany.c` with these arguments.
fn blocks(arguments: [&str; 3], settings: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
    let client = compile("fewmany.c", Link::Shared)?;
    let run = run(&client, &arguments.map(OsStr::new), settings)?;
    assert!(run.success && run.err.is_empty(), "{run:?}");
    let row = |line: &str| {
        let (precision, bits) = line.split_once(' ').expect("two words");
        (precision.to_owned(), bits.to_owned())
    };
    Some(run.out.lines().map(row).collect())
}

/// On devices with few units of double precision the few are computed in pairs of singles.
#[test]
fn few_and_many_take_turns_on_one_device_and_on_three() {
    let arguments = ["1024", "1025", "7"];
    for devices in ["1", "3"] {
        let of = |precision| {
            let settings = [
                ("FAKE_CUDA_CAPABILITY", "8.6"),
                ("FAKE_CUDA_DEVICES", devices),
                ("KIRIN_DEVICES", "all"),
                ("KIRIN_PRECISION", precision),
            ];
            blocks(arguments, &settings)
        };
        let (Some(auto), Some(mixed), Some(better)) =
            (of("auto"), of("mixed"), of("double-single"))
        else {
            return;
        };
        for (round, found) in auto.iter().enumerate() {
            let expected = match round % 3 {
                1 => &better[round],
                _ => &mixed[round],
            };
            assert_eq!(found, expected, "block {round} on {devices}");
            assert_ne!(mixed[round], better[round]);
        }
    }
}

/// Where a half of the lanes of single precision has double precision.
#[test]
fn devices_made_for_double_precision_take_it_for_more() {
    for (capability, precision) in [("9.0", "double"), ("7.5", "mixed")] {
        let settings = [
            ("FAKE_CUDA_CAPABILITY", capability),
            ("KIRIN_PRECISION", "auto"),
        ];
        let Some(found) = blocks(["1", "2000", "1"], &settings) else {
            return;
        };
        assert_eq!(found[0].0, precision);
    }
}

/// Of the line about noise, and of `adaptive` behind it.
#[test]
fn noise_is_answered_with_the_better_precision_of_the_device() {
    for (capability, user, named, adaptive) in [
        ("8.6", "auto", "double-single", "double-single"),
        ("8.6", "double-single", "double", "double-single"),
        ("9.0", "auto", "double", "double"),
    ] {
        let settings = [
            ("FAKE_CUDA_CAPABILITY", capability),
            ("KIRIN_PRECISION", user),
        ];
        let client = compile("precision.c", Link::Shared);
        let Some(run) = client.and_then(|client| run(&client, &["0".as_ref()], &settings)) else {
            return;
        };
        assert!(run.success, "{run:?}");
        let lines = run.err.lines().filter(|line| line.contains("noise"));
        let line = format!(
            "kirin: time steps are limited by the noise of single precision: KIRIN_PRECISION={named}"
        );
        assert_eq!(lines.collect::<Vec<_>>(), [line], "{capability}, {user}");
        let last = run.out.lines().last();
        assert_eq!(last, Some(adaptive), "{capability}, {user}");
    }
}

/// With `KIRIN_BACKEND=auto`, unless the user names the devices.
#[test]
fn few_moving_j_particles_are_the_cpus() {
    let report = library::workspace().join("few.txt");
    let report = report.to_str().expect("a path in UTF-8");
    let of = |backend, devices| {
        let settings = [
            ("FAKE_CUDA_CAPABILITY", "9.0"),
            ("KIRIN_BACKEND", backend),
            ("KIRIN_DEVICES", devices),
            ("KIRIN_STATS", report),
        ];
        let found = blocks(["512", "513", "5"], &settings)?;
        let text = std::fs::read_to_string(report).expect("the client wrote it");
        std::fs::remove_file(report).expect("it was there a moment ago");
        Some((found, text))
    };
    let all = [
        ("auto", "auto"),
        ("cpu", "auto"),
        ("cuda", "auto"),
        ("auto", "0"),
    ];
    let [Some(auto), Some(cpu), Some(cuda), Some(named)] = all.map(|(b, d)| of(b, d)) else {
        return;
    };
    for (round, found) in auto.0.iter().enumerate() {
        let expected = match round % 3 {
            1 => &cpu.0[round],
            _ => &cuda.0[round],
        };
        assert_eq!(found, expected, "block {round}");
        assert_ne!(cpu.0[round], cuda.0[round]);
    }
    assert_eq!(named.0, cuda.0);
    let said = " in 2 of 5 blocks, else cuda 0 (";
    assert!(auto.1.contains(said), "{}", auto.1);
    assert!(!named.1.contains(said), "{}", named.1);
}
