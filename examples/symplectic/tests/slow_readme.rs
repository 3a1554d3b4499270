//! The commands of the README: they work after a clone, and the figures are right.

mod common;

use common::PROGRAM;
use kirin_report::company::seconds_of_children;
use kirin_testing::Folder;
use kirin_testing::readme::{commands, shortened, typed, value};

/// The README says that the first command takes less than a minute on two cores: this is their processor time, which says the
/// same on a busy machine. Without `--release` the command takes about twice as long.
const MINUTE_ON_TWO_CORES: f64 = if cfg!(debug_assertions) { 240.0 } else { 120.0 };

/// The first command as it is, the cluster's own energy to 1e-4; the others with fewer stars.
#[test]
fn the_commands_of_the_readme_run() {
    let folder = Folder::new("readme");
    let all = commands(include_str!("../README.md"), "symplectic");
    assert_eq!(all.len(), 9, "{all:?}");
    for (number, arguments) in all.iter().enumerate() {
        let arguments = match number {
            0 => arguments.clone(),
            _ => shortened(arguments, &[("--n", "512"), ("--back", "200Myr")]),
        };
        let began = seconds_of_children();
        let draws = value(&arguments, "--draw").is_some();
        let ran = typed(&PROGRAM, &folder, &arguments, !draws);
        if draws {
            continue;
        }
        let error = ran.number("own_energy_error");
        assert!(error < 1e-4, "{arguments:?}: {error:e}");
        if number == 0 {
            let seconds = seconds_of_children() - began;
            assert!(seconds < MINUTE_ON_TWO_CORES, "{seconds} s");
        }
    }
    assert!(std::path::Path::new(&folder.file("tails.png")).exists());
}
