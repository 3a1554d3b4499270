//! The commands of the README: they work after a clone, and the energy is conserved.

mod common;

use common::PROGRAM;
use kirin_kit::Snapshot;
use kirin_testing::Folder;
use kirin_testing::readme::{commands, commands_of_mpi, shortened, typed, value};

/// The README's commands with fewer stars and earlier ends. `long_collapse` follows the collapse of ten thousand stars.
/// The README's command for MPI is not run here; `slow_mpi` runs a similar one.
#[test]
fn the_commands_of_the_readme_run() {
    let text = include_str!("../README.md");
    let folder = Folder::new("mc-readme");
    let under_mpi = commands_of_mpi(text, "monte-carlo");
    let all = commands(text, "monte-carlo");
    assert_eq!((all.len(), under_mpi.len()), (11, 1), "{all:?}");
    for arguments in all {
        if under_mpi.iter().any(|(_, other)| *other == arguments) {
            continue;
        }
        let short = shortened(
            &arguments,
            &[
                ("--n", "1000"),
                ("--steps", "20"),
                ("--units", "574Msun,1pc"),
            ],
        );
        let limit = ["--t-end", "2"].map(str::to_owned);
        let short = match value(&short, "--t-end") {
            Some(_) => short,
            None => [&short[..], &limit].concat(),
        };
        let ran = typed(&PROGRAM, &folder, &short, true);
        let error = ran.number("worst_energy_error");
        assert!(error < 1e-10, "{short:?}: {error:e}");
        if arguments.iter().any(|word| word == "--profile") {
            assert!(ran.text.contains("ns/star"), "{}", ran.text);
        }
    }
    assert!(folder.text("collapse.svg").starts_with("<svg"));
    let state = Snapshot::parse(folder.text("run.txt").as_bytes()).unwrap();
    assert!(state.bodies.len() > 950);
}
