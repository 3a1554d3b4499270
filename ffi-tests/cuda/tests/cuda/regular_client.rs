//! The client that prints NBODY6's regular forces, lists and potentials, and the expected values.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ffi_tests::compiler::{self, Link, compile};

/// The client that prints them.
pub fn client() -> Option<&'static Path> {
    static CLIENT: LazyLock<Option<PathBuf>> = LazyLock::new(|| compile("regular.c", Link::Shared));
    CLIENT.as_deref()
}

/// N, NI, BY_MASS, SCENE, BLOCK and LONGEST of the client.
pub type Case<'a> = [&'a str; 6];

pub fn arguments<'a>(case: &Case<'a>) -> Vec<&'a OsStr> {
    case.iter().map(|&word| OsStr::new(word)).collect()
}

/// What the plain loops say.
pub fn expected(case: &Case<'_>) -> Option<String> {
    let settings = [("KIRIN_BACKEND", "reference")];
    Some(compiler::succeed(client()?, &arguments(case), &settings))
}

/// Whether the lists are the same, and sums and potentials to a part of their terms.
pub fn check(found: &str, expected: &str, tolerance: f64, case: &str) {
    assert_eq!(found.lines().count(), expected.lines().count(), "{case}");
    for (n, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        let numbers = |line: &str| -> Vec<f64> {
            line.split(' ')
                .map(|w| w.parse().expect("a number"))
                .collect()
        };
        let (a, b) = (numbers(found), numbers(expected));
        if let [a] = a[..] {
            let b = b[0];
            assert!(
                (a - b).abs() <= tolerance * b.abs(),
                "{case}: potential {n}: {a}, not {b}"
            );
            continue;
        }
        assert_eq!(a[9..], b[9..], "{case}: list of {n}");
        for k in 0..7 {
            let scale = match k {
                0..3 => b[7],
                3..6 => b[8],
                _ => b[6].abs(),
            };
            let differ = (a[k] - b[k]).abs();
            let is_same = differ <= tolerance * scale || !a[k].is_finite() && !b[k].is_finite();
            assert!(is_same, "{case}: sum {k} of {n}: {}, not {}", a[k], b[k]);
        }
    }
}

/// What a precision may err, as a part of the terms.
pub fn tolerance(precision: &str) -> f64 {
    match precision {
        "double" | "double-single" => 1e-13,
        "mixed" => 1e-6,
        _ => 1e-5,
    }
}
