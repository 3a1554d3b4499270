//! `KIRIN_STATS`: what programs that end in every way leave behind.

use std::path::PathBuf;
use std::process::{Command, Output};

use ffi_tests::compiler::{Link, clean_command, compile, run, texts};
use ffi_tests::library;

/// Runs `endings.c`; `None` without a compiler.
fn ending(way: &str, settings: &[(&str, &str)]) -> Option<Output> {
    let client = compile("endings.c", Link::Shared)?;
    Some(run(clean_command(&client, settings).arg(way)))
}

fn place(name: &str) -> PathBuf {
    library::workspace().join(name)
}

/// The reports in a text: what stands between their first lines.
fn reports(text: &str) -> Vec<&str> {
    text.split("statistics of cluster ").skip(1).collect()
}

const SEVEN: &str = "blocks       7, 0 with nearest neighbours, 0 given up";

#[test]
fn every_ending_reports_once_on_stderr_and_changes_nothing_else() {
    for (way, status) in [("return", 0), ("exit", 5), ("close", 0), ("idle child", 0)] {
        let Some(output) = ending(way, &[("KIRIN_STATS", "1")]) else {
            return;
        };
        let (out, err) = texts(&output);
        assert_eq!(out, "done\n", "{way}");
        assert_eq!(output.status.code(), Some(status), "{way}: {err}");
        assert_eq!(reports(&err).len(), 1, "{way}: {err}");
        assert!(
            err.lines().all(|l| l.starts_with("kirin: ")),
            "{way}: {err}"
        );
        for part in [
            SEVEN,
            "13, 1.9 a block; blocks by size: 1: 3 2-3: 4\n",
            "100, written 100 times",
            "pairs        1.3000e3;",
            "GFLOP/s",
            "client",
            "recoveries   0",
        ] {
            assert!(err.contains(part), "{way}: no '{part}' in\n{err}");
        }
    }
}

#[test]
fn a_check_of_sound_results_says_nothing() {
    for (backend, precision) in [("cpu", "mixed"), ("cpu", "double"), ("reference", "double")] {
        let check = [
            ("KIRIN_CHECK", "1"),
            ("KIRIN_BACKEND", backend),
            ("KIRIN_PRECISION", precision),
        ];
        let Some(output) = ending("return", &check) else {
            return;
        };
        assert_eq!(texts(&output), ("done\n".to_owned(), String::new()));
        let with_statistics = [&check[..], &[("KIRIN_STATS", "1")]].concat();
        let Some(output) = ending("return", &with_statistics) else {
            return;
        };
        let err = texts(&output).1;
        let checked = err.split("checked ").nth(1).expect("a line");
        assert!(checked.trim().ends_with("i-particles, 0 wrong"), "{err}");
        assert!(!checked.trim().starts_with('0'), "{err}");
    }
}

#[test]
fn a_fortran_program_may_stop() {
    let Some(client) = compile("stop.f90", Link::Shared) else {
        return;
    };
    let output = run(&mut clean_command(&client, &[("KIRIN_STATS", "1")]));
    let (out, err) = texts(&output);
    assert!(output.status.success() && out.is_empty(), "{out}{err}");
    assert_eq!(reports(&err).len(), 1, "{err}");
}

#[test]
fn a_child_reports_what_it_did_itself() {
    let Some(output) = ending("busy child", &[("KIRIN_STATS", "1")]) else {
        return;
    };
    let err = texts(&output).1;
    let reports = reports(&err);
    assert_eq!(reports.len(), 2, "{err}");
    assert!(reports[0].contains("blocks       1, "), "the child: {err}");
    assert!(reports[1].contains(SEVEN), "the parent: {err}");
}

#[test]
fn calls_at_and_after_the_end_are_survived() {
    for way in ["late", "thread"] {
        for _ in 0..5 {
            let Some(output) = ending(way, &[("KIRIN_STATS", "1")]) else {
                return;
            };
            let (out, err) = texts(&output);
            assert!(output.status.success(), "{way}: {}: {err}", output.status);
            assert_eq!(out, "done\n");
            let said = reports(&err).len() + err.matches("at work at the end").count();
            assert_eq!(said, 1, "{way}: {err}");
        }
    }
}

#[test]
fn every_cluster_has_a_report() {
    let Some(output) = ending("crowd", &[("KIRIN_STATS", "1")]) else {
        return;
    };
    let err = texts(&output).1;
    let ids: Vec<&str> = reports(&err).iter().map(|r| &r[..1]).collect();
    assert_eq!(ids, ["0", "7"], "{err}");
}

#[test]
fn reports_go_to_the_end_of_a_file_and_ranks_have_their_own() {
    let file = place("stats");
    let name = file.to_str().expect("a plain path");
    for _ in 0..2 {
        let Some(output) = ending("return", &[("KIRIN_STATS", name)]) else {
            return;
        };
        assert_eq!(texts(&output), ("done\n".to_owned(), String::new()));
    }
    let text = std::fs::read_to_string(&file).expect("the statistics");
    assert_eq!(reports(&text).len(), 2, "{text}");

    let ranks = [("KIRIN_STATS", name), ("PMI_RANK", "3"), ("PMI_SIZE", "4")];
    ending("return", &ranks);
    let text = std::fs::read_to_string(place("stats.3")).expect("those of rank 3");
    assert!(text.contains("rank 3"), "{text}");
}

#[test]
fn a_file_that_cannot_be_written_costs_one_line() {
    for name in ["/no/such/folder/stats", "/dev/full"] {
        let Some(output) = ending("return", &[("KIRIN_STATS", name)]) else {
            return;
        };
        let (out, err) = texts(&output);
        assert!(output.status.success() && out == "done\n");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(err.contains(name), "{err}");
    }
}

#[test]
fn without_the_setting_nothing_is_said() {
    let Some(output) = ending("return", &[]) else {
        return;
    };
    assert_eq!(texts(&output).1, "");
}

#[test]
fn a_closed_stderr_is_survived() {
    let Some(client) = compile("endings.c", Link::Shared) else {
        return;
    };
    let mut shell = clean_command("sh", &[("KIRIN_STATS", "1")]);
    shell.arg("-c").arg("exec \"$0\" return 2>&-").arg(&client);
    let output = run(&mut shell as &mut Command);
    assert!(output.status.success(), "{}", output.status);
}
