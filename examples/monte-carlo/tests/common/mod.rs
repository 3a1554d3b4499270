//! Shared by the tests: the program.

use kirin_testing::Program;

/// The program.
pub const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_monte-carlo"),
    environment: &[],
};

/// Runs of 200 stars with these options are refused in these words.
#[allow(dead_code, reason = "not every test program needs it")]
pub fn assert_refused(cases: &[(&[&str], &str)]) {
    for (options, words) in cases {
        let refusal = PROGRAM.fail(&[&["--n", "200"], *options].concat());
        assert!(refusal.contains(words), "{options:?}: {refusal}");
    }
}
