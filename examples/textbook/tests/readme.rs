//! What the README tells a newcomer to type, typed.

mod common;

use common::PROGRAM;
use kirin_testing::readme::{commands, value};

/// Every command between backticks, and those of the blocks.
#[test]
fn the_commands_of_the_readme_run() {
    let text = include_str!("../README.md");
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let quoted = text
        .split('`')
        .filter_map(|part| part.strip_prefix("textbook "));
    let mut all = commands(text, "textbook");
    all.extend(quoted.map(words));
    all.retain(|arguments| {
        !arguments
            .iter()
            .any(|word| word.starts_with("--h") || word == "PROGRAM")
    });
    assert!(all.len() > 13, "{all:?}");
    let mut energies = 0;
    for arguments in all {
        let program = arguments[0].as_str();
        // The report has a test of its own.
        if value(&arguments, "--report").is_some() {
            continue;
        }
        let typed: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = PROGRAM.command(&typed).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if program.ends_with("-gpu") && !output.status.success() {
            assert_eq!(said.lines().count(), 1, "{typed:?}: {said}");
            continue;
        }
        assert!(output.status.success(), "{typed:?}: {said}");
        if program == "tables" {
            assert!(
                text.contains("Table 7.4") && text.contains("-f01 + f12"),
                "{text}"
            );
        } else if typed.contains(&"--no-output") {
            assert_eq!(text, "", "{typed:?}");
        } else {
            // The time, and a line for each particle; 400 of them after 1000 steps of 1000 s.
            energies += 1;
            assert!(text.starts_with("1e6\n"), "{typed:?}: {}", &text[..40]);
            assert_eq!(text.lines().count(), 401, "{typed:?}");
        }
    }
    assert!(energies >= 7);
}
