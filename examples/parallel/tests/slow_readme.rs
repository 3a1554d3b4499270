//! What the README tells a newcomer to type, typed: it works after a clone, and the energy is kept.

use kirin_testing::readme::{commands, commands_of_mpi, shortened, typed, value};
use kirin_testing::{Folder, Program};

const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_parallel"),
    environment: &[],
};

/// As they are, but of fewer stars. Those under MPI are left out: `slow_mpi` runs others like them.
#[test]
fn the_commands_of_the_readme_run() {
    let text = include_str!("../README.md");
    let folder = Folder::new("parallel-readme");
    let under_mpi: Vec<_> = commands_of_mpi(text, "parallel");
    let mut typed_ones = 0;
    for arguments in commands(text, "parallel") {
        if under_mpi.iter().any(|(_, other)| *other == arguments) {
            continue;
        }
        typed_ones += 1;
        let is_report = value(&arguments, "--report").is_some();
        if is_report {
            // What it measures does not matter here: the table of the paper stands beside it.
            let short = [&arguments[..], &["--minutes".into(), "0.05".into()]].concat();
            let text = typed(&PROGRAM, &folder, &short, false).text;
            assert!(text.contains("| ") && text.contains("Figure 4"), "{text}");
            continue;
        }
        let arguments = shortened(&arguments, &[("--n", "1500")]);
        let ran = typed(&PROGRAM, &folder, &arguments, true);
        assert_eq!(ran.figures["ranks"], 4);
        let error = ran.number("energy_error");
        assert!(error < 1e-5, "{arguments:?}: {error:e}");
    }
    assert_eq!(typed_ones, 3);
    assert!(folder.text("run.svg").starts_with("<svg"));
}
