//! The commands of the README: they work after a clone, and the energy is conserved.

mod common;

use common::PROGRAM;
use kirin_testing::Folder;
use kirin_testing::readme::{commands, shortened, typed, value};

/// As they are, but of fewer bodies. The report has a test of its own.
#[test]
fn the_commands_of_the_readme_run() {
    let folder = Folder::new("tree-readme");
    let all = commands(include_str!("../README.md"), "treecode");
    assert_eq!(all.len(), 5, "{all:?}");
    for arguments in all {
        if value(&arguments, "--report").is_some() {
            continue;
        }
        let arguments = shortened(&arguments, &[("--n", "4096")]);
        let ran = typed(&PROGRAM, &folder, &arguments, true);
        assert_eq!(ran.figures["n"], 4096);
        let error = ran.number("own_energy_error");
        assert!(error < 1e-3, "{arguments:?}: {error:e}");
    }
    for file in ["collision.png", "run.txt", "run.0010.txt"] {
        assert!(std::path::Path::new(&folder.file(file)).exists(), "{file}");
    }
    assert!(folder.text("run.csv").lines().count() > 64);
}
