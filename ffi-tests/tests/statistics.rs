//! `KIRIN_STATS`: the reports of programs that end in different ways.

use std::path::PathBuf;
use std::process::{Command, Output};

use ffi_tests::compiler::{Link, clean_command, compile, run, texts};
use ffi_tests::library;

/// Runs `endings.c`; `None` without a compiler.
fn ending(way: &str, settings: &[(&str, &str)]) -> Option<Output> {
    ending_of("endings.c", way, settings)
}

fn ending_of(client: &str, way: &str, settings: &[(&str, &str)]) -> Option<Output> {
    let client = compile(client, Link::Shared)?;
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

/// The precision is that of the blocks, also where another one was chosen after them.
#[test]
fn the_precision_is_that_of_all_blocks() {
    for (way, words) in [
        ("chosen", "precision double\n"),
        (
            "chosen and used",
            "precision double in 7, mixed in 1 of 8 blocks\n",
        ),
    ] {
        let settings = [("KIRIN_STATS", "1"), ("KIRIN_BACKEND", "cpu")];
        let Some(output) = ending(way, &settings) else {
            return;
        };
        let err = texts(&output).1;
        assert!(err.contains(words), "{way}: {err}");
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

/// The reports on NBODY6's library in a text.
fn reports_on_nbody6(text: &str) -> Vec<&str> {
    text.split("statistics of NBODY6's library of ")
        .skip(1)
        .collect()
}

/// What `nbody6endings.c` does.
const NBODY6: [&str; 6] = [
    "sends        2 calls, 200 sources, 100.0 a call\n",
    "regular      7 calls, 13 targets, 1.9 a call; 1.3000e3 pairs, ",
    // 7 targets with 2 neighbours, 6 with 3, of which their rows have no room for one.
    "lists        2.5 neighbours a target, 6 of 13 lists too long; calls by targets: 1: 3 2-3: 4\n",
    "potentials   2 calls, 8 particles, 4.0 a call; 8.0000e2 pairs, ",
    "irregular    4 calls, 20 stars, 5.0 a call; 6.0000e1 pairs, ",
    "irregular 0.",
];

#[test]
fn the_library_of_nbody6_reports_once_at_the_end() {
    for (way, precision) in [
        ("return", "mixed"),
        ("close", "double"),
        ("idle child", "mixed"),
    ] {
        let settings = [
            ("KIRIN_BACKEND", "cpu"),
            ("KIRIN_PRECISION", precision),
            ("KIRIN_STATS", "1"),
        ];
        let Some(usual) = ending_of("nbody6endings.c", way, &settings[..2]) else {
            return;
        };
        let output = ending_of("nbody6endings.c", way, &settings).expect("gcc was there");
        let (out, err) = texts(&output);
        assert_eq!(texts(&usual), (out, String::new()), "{way}");
        assert!(output.status.success(), "{way}: {err}");
        let [report] = reports_on_nbody6(&err)[..] else {
            panic!("{way}: {err}");
        };
        for part in NBODY6 {
            assert!(report.contains(part), "{way}: no '{part}' in\n{err}");
        }
        assert!(report.contains("backend      cpu "), "{err}");
        assert!(report.contains(&format!("precision {precision}\n")));
        assert!(err.lines().all(|l| l.starts_with("kirin: ")), "{err}");
    }
}

#[test]
fn a_child_reports_its_own_calls_of_nbody6() {
    let settings = [("KIRIN_STATS", "1")];
    let Some(output) = ending_of("nbody6endings.c", "busy child", &settings) else {
        return;
    };
    let err = texts(&output).1;
    let [child, parent] = reports_on_nbody6(&err)[..] else {
        panic!("{err}");
    };
    for part in [
        "sends        0 calls",
        "regular      1 calls, 3 targets,",
        "lists        2.7 neighbours a target, 2 of 3 ",
        "irregular    2 calls, 10 stars, 5.0 a call; 3.0000e1 pairs, ",
    ] {
        assert!(child.contains(part), "the child: no '{part}' in\n{err}");
    }
    for part in NBODY6 {
        assert!(parent.contains(part), "the parent: no '{part}' in\n{err}");
    }
}

/// `nbody6.c` as AMUSE's nbody6xx: what it asks for stands in its text.
#[test]
fn counts_of_nbody6_are_those_of_a_whole_client() {
    let Some(client) = compile("nbody6.c", Link::Shared) else {
        return;
    };
    let star = |i: u64| match i {
        0 => 0,
        1 => 1498,
        i => 1 + i % 120,
    };
    let stars = |count: u64| (0..count).map(|i| star(i * 7 % 1500)).sum::<u64>();
    let irregular = (stars(1) + stars(40) + stars(1500)) as f64;
    for backend in ["cpu", "reference"] {
        let settings = [
            ("KIRIN_STATS", "1"),
            ("KIRIN_NBODY6", "amuse"),
            ("KIRIN_BACKEND", backend),
        ];
        let output = run(clean_command(&client, &settings).arg("amuse"));
        let err = texts(&output).1;
        for part in [
            "sends        1 calls, 1500 sources, ".to_owned(),
            format!(
                "regular      2 calls, 74 targets, 37.0 a call; {:.4e} pairs, ",
                74e0 * 1500e0
            ),
            format!(
                "potentials   2 calls, 600 particles, 300.0 a call; {:.4e} pairs, ",
                600e0 * 1500e0
            ),
            format!("irregular    3 calls, 1541 stars, 513.7 a call; {irregular:.4e} pairs, "),
            "calls by targets: 32-63: 2\n".to_owned(),
        ] {
            assert!(err.contains(&part), "{backend}: no '{part}' in\n{err}");
        }
    }
}

#[test]
fn a_device_of_grape5_has_a_report() {
    let Some(client) = compile("grape5.c", Link::Shared) else {
        return;
    };
    let settings = [("KIRIN_STATS", "1")];
    let output = run(clean_command(&client, &settings).args(["c", "1e-6"]));
    let err = texts(&output).1;
    let devices = err.matches("statistics of GRAPE-5 device ").count();
    assert!(
        devices > 1 && err.contains("j-particles with softening of "),
        "{err}"
    );
}
