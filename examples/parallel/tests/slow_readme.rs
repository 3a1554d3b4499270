//! The commands of the README: they work after a clone, and the energy is conserved.

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
        if value(&arguments, "--replay").is_some() {
            let here = format!("{}/", env!("CARGO_MANIFEST_DIR"));
            let is_ours = |a: &String| a.replace("examples/parallel/", &here);
            let arguments: Vec<String> = arguments.iter().map(is_ours).collect();
            let text = typed(&PROGRAM, &folder, &arguments, false).text;
            assert!(
                text.contains("N = 1 000") && text.contains("4 096"),
                "{text}"
            );
            continue;
        }
        let arguments = shortened(&arguments, &[("--n", "1000")]);
        let ranks = value(&arguments, "--ranks").unwrap_or("1").to_owned();
        let ran = typed(&PROGRAM, &folder, &arguments, true);
        assert_eq!(ran.figures["ranks"].to_string(), ranks);
        let error = ran.number("energy_error");
        assert!(error < 1e-5, "{arguments:?}: {error:e}");
    }
    assert_eq!(typed_ones, 6);
    assert!(folder.text("run.blocks").starts_with("kirin-blocks 1"));
    assert!(folder.text("run.svg").starts_with("<svg"));
}
