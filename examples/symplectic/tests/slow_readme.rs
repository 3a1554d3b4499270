//! The commands of the README: they work after a clone, and the figures are right.

mod common;

use std::time::Instant;

use common::PROGRAM;
use kirin_testing::Folder;
use kirin_testing::readme::{commands, shortened, typed, value};

/// The first command as it is: less than a minute, the cluster's own energy to 1e-4; the others with fewer stars.
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
        let began = Instant::now();
        let draws = value(&arguments, "--draw").is_some();
        let ran = typed(&PROGRAM, &folder, &arguments, !draws);
        if draws {
            continue;
        }
        let error = ran.number("own_energy_error");
        assert!(error < 1e-4, "{arguments:?}: {error:e}");
        if number == 0 {
            let seconds = began.elapsed().as_secs_f64();
            assert!(seconds < 60.0, "{seconds} s");
        }
    }
    assert!(std::path::Path::new(&folder.file("tails.png")).exists());
}
