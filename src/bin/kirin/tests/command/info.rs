//! `kirin info`.

use std::process::Command;

use crate::common::text;

#[test]
fn info_names_backends_sets_and_the_origin_of_settings() {
    let output = Command::new(env!("CARGO_BIN_EXE_kirin"))
        .arg("info")
        .env("KIRIN_PRECISION", "double")
        .env("KIRIN_NPIPES", "none")
        .env("KIRIN_BACKEND", "reference")
        .env_remove("KIRIN_THREADS")
        .output()
        .expect("the command runs");
    assert!(output.status.success());
    let out = text(&output.stdout);
    let line = |word: &str| {
        let found = out.lines().find(|l| l.trim_start().starts_with(word));
        found.unwrap_or_else(|| panic!("no {word} in\n{out}"))
    };
    assert!(line("kirin").contains(env!("CARGO_PKG_VERSION")));
    assert!(line("in use").contains("reference"));
    assert!(line("portable").contains("usable"));
    for setting in kirin_core::process::settings::SETTINGS {
        line(setting.name);
    }
    assert!(
        line("KIRIN_PRECISION").contains("double")
            && line("KIRIN_PRECISION").ends_with("environment")
    );
    assert!(line("KIRIN_THREADS").ends_with("default"));
    assert!(line("KIRIN_NPIPES").contains("48") && line("KIRIN_NPIPES").contains("\"none\""));
}

#[test]
fn info_names_the_rule_of_the_precision() {
    for (precision, expected) in [
        (
            "auto",
            "auto: double for up to 1280 j-particles with velocities, else mixed",
        ),
        ("mixed", "mixed"),
        ("double-single", "double (double-single is for GPUs)"),
        (
            "reduced",
            "reduced for accelerations alone, single with jerks",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_kirin"))
            .arg("info")
            .envs([("KIRIN_PRECISION", precision), ("KIRIN_BACKEND", "cpu")])
            .output()
            .expect("the command runs");
        let out = text(&output.stdout);
        let ending = format!(", precision {expected}");
        assert!(
            out.lines()
                .any(|l| l.starts_with("in use") && l.ends_with(&ending)),
            "{out}"
        );
    }
}

#[test]
fn info_shows_launches_for_any_device() {
    let output = Command::new(env!("CARGO_BIN_EXE_kirin"))
        .args([
            "info",
            "--plan",
            "--multiprocessors",
            "20",
            "--capability",
            "7.5",
        ])
        .output()
        .expect("the command runs");
    let out = text(&output.stdout);
    assert!(out.contains("20 multiprocessors"), "{out}");
    assert!(
        out.contains("capability 7.5") && out.contains("not measured"),
        "{out}"
    );
    let row = out.lines().find(|l| l.contains("1048576    65536 "));
    assert!(row.is_some_and(|r| r.ends_with("4 i a thread")), "{out}");
    let undivided = |out: &str| {
        let launches: Vec<&str> = out.lines().filter(|l| l.contains(" blocks of ")).collect();
        assert_eq!(launches.len(), 32, "{out}");
        launches.iter().all(|l| l.contains(" x 1 blocks of "))
    };
    assert!(!undivided(&out));
    let output = Command::new(env!("CARGO_BIN_EXE_kirin"))
        .args(["info", "--plan", "--multiprocessors", "20"])
        .env("KIRIN_SPLIT", "off")
        .output()
        .expect("the command runs");
    assert!(undivided(&text(&output.stdout)));
}

/// Status 1 is a verdict of `check`, 2 an error.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let kirin = kirin_testing::Program {
        path: env!("CARGO_BIN_EXE_kirin"),
        environment: &[],
    };
    kirin.assert_needs_stdout(&["info"], 2);
    kirin.assert_needs_stdout(&["check", "--n", "60"], 2);
}
