//! The client's floating-point environment: it changes no result, traps do not end the client, and the library leaves
//! no exception flags behind.

use ffi_tests::compiler::{Link, available, clean_command, compile, run, succeed, texts};
use ffi_tests::library;

/// Settings under which different code computes.
const WAYS: [[(&str, &str); 3]; 7] = [
    [
        ("KIRIN_BACKEND", "reference"),
        ("KIRIN_PRECISION", "double"),
        ("KIRIN_THREADS", "1"),
    ],
    [
        ("KIRIN_SIMD", "portable"),
        ("KIRIN_PRECISION", "mixed"),
        ("KIRIN_THREADS", "4"),
    ],
    [
        ("KIRIN_SIMD", "auto"),
        ("KIRIN_PRECISION", "mixed"),
        ("KIRIN_THREADS", "1"),
    ],
    [
        ("KIRIN_SIMD", "auto"),
        ("KIRIN_PRECISION", "mixed"),
        ("KIRIN_THREADS", "4"),
    ],
    [
        ("KIRIN_SIMD", "auto"),
        ("KIRIN_PRECISION", "single"),
        ("KIRIN_THREADS", "4"),
    ],
    [
        ("KIRIN_SIMD", "auto"),
        ("KIRIN_PRECISION", "double"),
        ("KIRIN_THREADS", "4"),
    ],
    [
        ("KIRIN_SIMD", "avx2"),
        ("KIRIN_PRECISION", "mixed"),
        ("KIRIN_THREADS", "4"),
    ],
];

fn in_every_way(what: &str, expected: &str) {
    let Some(client) = compile("environment.c", Link::Shared) else {
        return;
    };
    for settings in WAYS {
        let output = succeed(&client, &[what.as_ref()], &settings);
        assert_eq!(output, expected, "{settings:?}");
    }
}

#[test]
fn traps_end_nobody() {
    in_every_way("traps", "1\n");
}

#[test]
fn flags_are_the_clients_own() {
    in_every_way("flags", "0 1\n");
}

#[test]
fn modes_change_no_bit_and_stay() {
    in_every_way("rounding", "11 11 11 11 11\n");
}

/// Reports, checks and traces compute too.
#[test]
fn traps_do_not_reach_what_observes() {
    let Some(client) = compile("environment.c", Link::Shared) else {
        return;
    };
    let place = |name| library::workspace().join(name).display().to_string();
    let (statistics, trace) = (place("trapped.statistics"), place("trapped.trace"));
    let settings = [
        ("KIRIN_STATS", statistics.as_str()),
        ("KIRIN_TRACE", trace.as_str()),
        ("KIRIN_CHECK", "1"),
    ];
    for (what, expected) in [("traps", "1\n"), ("flags", "0 1\n")] {
        assert_eq!(succeed(&client, &[what.as_ref()], &settings), expected);
    }
}

#[test]
fn fortrans_stop_has_no_flag_to_report() {
    if !available("gfortran") {
        return;
    }
    let Some(client) = compile("stop.f90", Link::Shared) else {
        return;
    };
    let output = run(&mut clean_command(&client, &[]));
    assert_eq!(texts(&output), (String::new(), String::new()));
}
