//! What the tests share.

use kirin_kit::Snapshot;
use kirin_kit::vector::{norm, sub};
use kirin_testing::{Folder, Program};

pub const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_symplectic"),
    environment: &[],
};

/// The snapshot that a run with these arguments ends with.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn end_of(folder: &Folder, name: &str, arguments: &[&str]) -> Snapshot {
    let path = folder.file(name);
    PROGRAM.succeed(&[arguments, &["--output", &path]].concat());
    Snapshot::load(path.as_ref()).expect("it was written")
}

/// Largest distance between the places of a body in two snapshots.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn distance(a: &Snapshot, b: &Snapshot) -> f64 {
    let pairs = a.bodies.iter().zip(&b.bodies);
    pairs
        .map(|(a, b)| norm(&sub(&a.x, &b.x)))
        .fold(0.0, f64::max)
}

/// A cluster of this softening on a narrow circle.
#[allow(dead_code, reason = "not every test program needs it")]
pub const fn circling(eps: &'static str) -> [&'static str; 16] {
    [
        "--n",
        "32",
        "--eps",
        eps,
        "--galaxy",
        "allen-santillan",
        "--radius",
        "0.3",
        "--t-end",
        "1",
        "--precision",
        "double",
        "--virial",
        "1",
        "--seed",
        "1",
    ]
}
