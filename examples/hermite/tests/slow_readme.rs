//! The commands of the README: they work after a clone, and the energy is conserved.

mod common;

use common::PROGRAM;
use kirin_testing::Folder;
use kirin_testing::readme::{commands, shortened, typed, value};

/// The README's commands as they are, except that runs of hours have fewer stars and end sooner. Commands that need
/// another library or make a report are left to other tests.
#[test]
fn the_commands_of_the_readme_run() {
    let folder = Folder::new("readme");
    let all = commands(include_str!("../README.md"), "hermite");
    assert!(all.len() > 5, "{all:?}");
    for arguments in all {
        if ["--library", "--report"]
            .iter()
            .any(|o| value(&arguments, o).is_some())
        {
            continue;
        }
        let arguments = match value(&arguments, "--t-end") {
            Some(_) => {
                let on = value(&arguments, "--input").is_some();
                let end = if on { "4" } else { "2" };
                shortened(&arguments, &[("--n", "200"), ("--t-end", end)])
            }
            None => arguments,
        };
        let error = typed(&PROGRAM, &folder, &arguments, true).number("energy_error");
        assert!(error < 1e-5, "{arguments:?}: {error:e}");
    }
    for file in ["cluster.png", "run.txt", "run.0002.txt", "run.csv"] {
        assert!(std::path::Path::new(&folder.file(file)).exists(), "{file}");
    }
}
