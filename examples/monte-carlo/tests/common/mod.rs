//! What the tests share: the program.

use kirin_testing::Program;

/// The program.
pub const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_monte-carlo"),
    environment: &[],
};
