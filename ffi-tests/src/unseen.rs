//! Targets that `cargo test` leaves out because they had nothing to test still have nothing, and it leaves out the tests that take long.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::generate::repository;

/// All Rust sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

/// Whether the documentation in `source` may have an example that rustdoc would compile.
fn may_have_example(source: &str) -> bool {
    let (mut is_inside, mut after_blank) = (false, true);
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("/**") || line.starts_with("/*!") {
            return true;
        }
        let Some(text) = ["///", "//!"]
            .iter()
            .find_map(|head| line.strip_prefix(head))
        else {
            (is_inside, after_blank) = (false, true);
            continue;
        };
        let is_indented = after_blank && text.starts_with("     ");
        after_blank = text.trim().is_empty();
        let Some(language) = text.trim_start().strip_prefix("```") else {
            if !is_inside && (is_indented || text.trim_start().starts_with("~~~")) {
                return true;
            }
            continue;
        };
        is_inside = !is_inside;
        let mut words = language.trim().split(',').map(str::trim);
        let runs = ["", "rust", "no_run", "should_panic", "compile_fail"];
        if is_inside && words.all(|word| runs.contains(&word) || word.starts_with("edition")) {
            return true;
        }
    }
    false
}

#[test]
fn what_cargo_test_leaves_out_has_no_tests() {
    let output = Command::new(env!("CARGO"))
        .args("metadata --no-deps --offline --format-version 1".split(' '))
        .current_dir(repository())
        .output()
        .expect("cargo was there a moment ago");
    let all: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = all["packages"].as_array().expect("packages");
    let mut seen = [0, 0, 0];
    for target in packages
        .iter()
        .flat_map(|p| p["targets"].as_array().expect("targets"))
    {
        let path = Path::new(target["src_path"].as_str().expect("a path"));
        match target["kind"][0].as_str() {
            Some("lib") if target["doctest"] == false => {
                seen[0] += 1;
                for path in sources(path.parent().expect("a folder")) {
                    let source = read_to_string(&path).expect("a source");
                    assert!(
                        !may_have_example(&source),
                        "{path:?} may have an example that nobody runs"
                    );
                }
            }
            Some("bin") if target["test"] == false => {
                seen[1] += 1;
                let source = read_to_string(path).expect("a source");
                let tests = ["#[test]", "\nmod "].map(|word| source.contains(word));
                assert_eq!(
                    tests, [false; 2],
                    "{path:?} may have tests that nobody runs"
                );
            }
            Some("test") => {
                let name = target["name"].as_str().expect("a name");
                let is_long = name.starts_with("slow_") || name.starts_with("long_");
                seen[2] += usize::from(is_long);
                assert!(
                    !is_long || target["test"] == false,
                    "{path:?} takes long, and `cargo test` runs it: it needs test = false"
                );
            }
            _ => {}
        }
    }
    assert!(seen[0] > 3 && seen[1] > 3 && seen[2] > 20, "{seen:?}");
}

#[test]
fn examples_are_found() {
    for example in [
        "/// ```\n/// let x = 1;\n/// ```\n",
        "//! ```text\n//! a\n//! ```\n//! ```no_run\n//! b();\n//! ```\n",
        "/// ```text\n/// never closed\nfn f() {}\n/// ```rust,should_panic\n/// g();\n",
        "/// ~~~\n/// f();\n/// ~~~\n",
        "/// Indented:\n///\n///     f();\n",
        "/** ```\nf();\n``` */\n",
    ] {
        assert!(may_have_example(example), "{example}");
    }
    for text in [
        "/// ```text\n/// a table\n///     of two lines\n/// ```\nfn f() {}\n",
        "//! ```fortran\n//! end\n//! ```\n",
    ] {
        assert!(!may_have_example(text), "{text}");
    }
}
