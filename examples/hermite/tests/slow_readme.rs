//! What the README tells a newcomer to type, typed: it works after a clone, and the energy is kept.

mod common;

use common::PROGRAM;
use kirin_kit::trial::Folder;
use kirin_kit::trial::readme::{commands, shortened, value};

/// As they are, but that a run of hours has fewer stars and ends sooner. Those that need another library or make a
/// report have tests of their own.
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
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let more = [&words[..], &["--json", "figures.json"]].concat();
        let run = PROGRAM
            .command(&more)
            .env("KIRIN_BACKEND", "cpu")
            .current_dir(folder.file(""))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && said.is_empty(), "{words:?}: {said}");
        let figures: serde_json::Value =
            serde_json::from_str(&folder.text("figures.json")).unwrap();
        let error = figures["energy_error"].as_f64().unwrap();
        assert!(error < 1e-5, "{words:?}: {error:e}");
    }
    for file in ["cluster.png", "run.txt", "run.0002.txt", "run.csv"] {
        assert!(std::path::Path::new(&folder.file(file)).exists(), "{file}");
    }
}
