//! What the tests share.

use kirin_kit::Snapshot;
use kirin_kit::vector::{norm, sub};
use kirin_testing::{Folder, Program, skipped};

pub const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_symplectic"),
    environment: &[],
};

/// The snapshot that a run with these arguments ends with. It may replace that of an earlier call.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn end_of(folder: &Folder, name: &str, arguments: &[&str]) -> Snapshot {
    let path = folder.file(name);
    PROGRAM.succeed(&[arguments, &["--output", &path, "--force"]].concat());
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

/// The largest energy error of 1000 steps of 0.0005 with the softening of the paper's Table 7.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn table_7(n: u32, seed: u32, precision: &str, scheme: &str) -> f64 {
    let eps = (0.005 / f64::from(n).cbrt()).to_string();
    let [count, seed] = [n, seed].map(|number| number.to_string());
    let options = [
        ["--n", count.as_str()],
        ["--seed", seed.as_str()],
        ["--eps", eps.as_str()],
        ["--dt", "0.0005"],
        ["--scheme", scheme],
        ["--precision", precision],
        ["--galaxy", "allen-santillan"],
        ["--t-end", "1/2"],
    ];
    let test = format!("table-7-{n}-{seed}-{precision}-{scheme}");
    let figures = PROGRAM.figures(&test, &options.concat());
    figures["energy_error"].as_f64().unwrap()
}

/// Runs a script of `benches/` that compares this program with others, and returns what it prints. If there is no
/// Python, or the others are not installed, the test counts as skipped and the result is `None`. KIRIN_TEST_PYTHON
/// names the Python to use.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn compared_by(script: &str) -> Option<String> {
    let python = std::env::var("KIRIN_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let script = format!("{}/benches/{script}", env!("CARGO_MANIFEST_DIR"));
    let output = std::process::Command::new(python)
        .args([&script, "--program", PROGRAM.path])
        .output();
    let Ok(output) = output else {
        skipped("there is no Python");
        return None;
    };
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() == Some(77) {
        skipped(told.trim().trim_start_matches("SKIPPED: "));
        return None;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{errors}");
    Some(told)
}
