//! Compares the galaxies with galpy and gala, by the script that made the published table. It takes minutes, most of them in
//! galpy and gala.

mod common;

use std::process::Command;

use common::PROGRAM;
use kirin_testing::skipped;

#[test]
fn orbits_over_10_gyr_are_those_of_galpy_and_gala() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/galaxies.py");
    let python = std::env::var("KIRIN_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let mut command = Command::new(python);
    let Ok(output) = command.args([script, "--program", PROGRAM.path]).output() else {
        return skipped("there is no Python");
    };
    let told = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(77) {
        return skipped(told.trim().trim_start_matches("SKIPPED: "));
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{errors}");
    let mut compared = 0;
    for line in told.lines().skip(2) {
        // The last column is one of the others off the other.
        for cell in line.trim_matches('|').split('|').skip(1).take(2) {
            let Ok(off) = cell.trim().parse::<f64>() else {
                assert_eq!(cell.trim(), "-", "{line}");
                continue;
            };
            assert!(off < 1e-6, "{line}");
            compared += 1;
        }
    }
    assert_eq!(compared, 8, "{told}");
}
