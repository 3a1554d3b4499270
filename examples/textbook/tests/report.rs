//! The report: the chapter's figures as printed, this machine's beside them, and the reasons for missing ones.

mod common;

use common::PROGRAM;
use kirin_testing::Folder;
use serde_json::Value;

/// Whether there was no time for a cell.
fn is_left_out(cell: &Value) -> bool {
    let why = cell["not_run"].as_str();
    why.is_some_and(|why| why.starts_with("about "))
}

#[test]
fn the_chapter_stands_beside_this_machine() {
    let folder = Folder::new("report");
    let (text, json) = (folder.file("report.md"), folder.file("report.json"));
    let arguments = ["--report", "chapter", "--steps", "5", "--minutes", "0.05"];
    PROGRAM.succeed(&[&arguments[..], &["--output", &text, "--json", &json]].concat());
    let text = folder.text("report.md");
    for words in [
        "# The chapter's run times and this machine\n",
        "* time steps: 5, where the chapter has 1000\n",
        "## One worker and none\n",
        "below 1 %",
        "## Table 7.3\n",
        "## Table 7.5\n",
        "## Table 7.6\n",
        "## Table 7.7\n",
        // Table 7.7, 1024 particles.
        "0.07010",
        "Speed-up over one (efficiency):",
        "critical section here",
        "locks here",
        // The reduced solver on 16 nodes.
        "11.13 (0.70)",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let figures: Value = serde_json::from_str(&folder.text("report.json")).expect("it is JSON");
    let ones = figures["one_worker"].as_array().expect("rows");
    let expected = [
        ("7.1.7", 400, "basic"),
        ("7.1.7", 400, "reduced"),
        ("7.1.11", 800, "basic"),
        ("7.1.11", 800, "reduced"),
    ];
    assert_eq!(ones.len(), expected.len());
    for (row, (section, particles, solver)) in ones.iter().zip(expected) {
        assert_eq!(row["section"], section);
        assert_eq!(
            (&row["particles"], &row["solver"]),
            (&particles.into(), &solver.into())
        );
        // A busy machine has time for the first row only.
        if is_left_out(&row["serial"]) && particles != 400 {
            continue;
        }
        let [serial, one] = ["serial", "one"].map(|which| row[which]["median"].as_f64());
        let difference = 100.0 * (one.expect("it ran") / serial.expect("it ran") - 1.0);
        let told = row["percent"].as_f64().expect("a difference");
        assert!((told - difference).abs() < 1e-9, "{row}");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for table in figures["tables"].as_array().expect("tables") {
        let rows = table["rows"].as_array().expect("rows");
        for (number, row) in rows.iter().enumerate() {
            let here = row["here"].as_array().expect("cells");
            let published = row["published"].as_array().expect("cells").len();
            let others = table["others"].as_array().expect("names").len();
            assert_eq!(others, if table["table"] == "7.3" { 3 } else { 1 });
            assert_eq!(here.len(), published + others);
            let workers = ["threads", "processes", "workers"]
                .iter()
                .find_map(|by| row[by].as_u64());
            for (column, cell) in here.iter().enumerate() {
                let seconds = cell["median"].as_f64();
                let why = cell["not_run"].as_str();
                if is_left_out(cell) {
                    continue;
                }
                // The worker that computed longest is known for every number of workers, but for the library's.
                let longest = cell["longest_worker"]["median"].as_f64();
                let of_workers = workers.is_some() && column + 1 < here.len();
                assert_eq!(longest.is_some_and(|s| s > 0.0), of_workers, "{cell}");
                assert!(seconds.is_some_and(|s| s > 0.0) != why.is_some(), "{cell}");
                match workers {
                    Some(p) if p as usize > cores => {
                        assert_eq!(why, Some(format!("{cores} cores here").as_str()));
                    }
                    Some(1) => assert!(seconds.is_some(), "{cell}"),
                    _ => {}
                }
            }
            if table["table"] == "7.7" && number == 0 {
                for cell in [&here[0], &here[2]] {
                    assert!(cell["median"].is_number() || is_left_out(cell), "{cell}");
                }
            }
        }
    }
}

#[test]
fn senseless_reports_are_refused() {
    for (arguments, why) in [
        (&["--report", "x"][..], "chapter"),
        (
            &["--report", "chapter", "basic", "1", "1", "1"],
            "cannot be used with",
        ),
        (&["--minutes", "1"], "--report"),
        (
            &[
                "--report",
                "chapter",
                "--minutes",
                "0",
                "--steps",
                "1",
                "--output",
                "/no/such/file",
            ],
            "/no/such/file",
        ),
    ] {
        let told = PROGRAM.fail(arguments);
        assert!(told.contains(why), "{arguments:?}: {told}");
    }
}

/// Only the first row is made in any case. What cannot be written leaves out nothing else.
#[test]
fn without_time_there_is_one_row() {
    let folder = Folder::new("report-without-time");
    let (text, json) = (folder.file("report.md"), folder.file("report.json"));
    let arguments = ["--report", "chapter", "--steps", "1", "--minutes", "0"];
    PROGRAM.succeed(&[&arguments[..], &["--json", &json]].concat());
    let figures: Value = serde_json::from_str(&folder.text("report.json")).expect("it is JSON");
    for row in figures["one_worker"].as_array().expect("rows") {
        for cell in [&row["serial"], &row["one"]] {
            assert_eq!(cell["median"].is_number(), row["particles"] == 400, "{row}");
            assert_eq!(is_left_out(cell), row["particles"] == 800, "{row}");
        }
    }
    for table in figures["tables"].as_array().expect("tables") {
        for row in table["rows"].as_array().expect("rows") {
            for cell in row["here"].as_array().expect("cells") {
                assert!(cell["not_run"].is_string(), "{cell}");
            }
        }
    }
    if cfg!(target_os = "linux") {
        let told =
            PROGRAM.fail(&[&arguments[..], &["--output", &text, "--json", "/dev/full"]].concat());
        assert!(told.contains("/dev/full"), "{told}");
        assert!(folder.text("report.md").contains("## Table 7.7\n"));
    }
}

/// What cannot be written is said at once, not after the runs.
#[test]
fn a_report_that_cannot_be_written_is_refused_at_once() {
    let folder = Folder::new("report-refused");
    let nowhere = folder.file("none/report.md");
    // A report of an hour.
    let arguments = ["--report", "chapter", "--steps", "5", "--minutes", "60"];
    for option in ["--output", "--json"] {
        let refusal = PROGRAM.fail(&[&arguments[..], &[option, &nowhere]].concat());
        assert!(refusal.contains("no such folder"), "{refusal}");
    }
    let state = folder.file("state.txt");
    let text = "kirin-snapshot 1\nn 1\ncolumns mass x y z vx vy vz\n1 0 0 0 0 0 0\nend\n";
    std::fs::write(&state, text).unwrap();
    for option in ["--output", "--json"] {
        let refusal = PROGRAM.fail(&[&arguments[..], &[option, &state]].concat());
        assert!(refusal.contains("holds a snapshot"), "{refusal}");
    }
    let one = folder.file("one.txt");
    let refusal = PROGRAM.fail(&[&arguments[..], &["--output", &one, "--json", &one]].concat());
    assert!(refusal.contains("two options name this file"), "{refusal}");
    assert_eq!(folder.text("state.txt"), text);
}
