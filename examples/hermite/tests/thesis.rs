//! The report as a user sees it: tables, published columns, figures of this device.

mod common;

use common::{PROGRAM, fail, succeed};
use kirin_testing::Folder;
use serde_json::Value;

const REPORT: [&str; 6] = ["--report", "thesis", "--largest", "512", "--t-end", "1/32"];

/// The cells of the table below a heading, without its headings.
fn table<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, below) = text.split_once(heading).expect("a heading");
    let lines = below.lines().skip_while(|line| !line.starts_with('|'));
    let rows = lines.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn every_table_stands_beside_the_published_one() {
    let folder = Folder::new("report");
    let [json, plot] = ["a.json", "a.svg"].map(|name| folder.file(name));
    let output = succeed(
        &[
            &REPORT[..],
            &["--minutes", "60", "--json", &json, "--plot", &plot],
        ]
        .concat(),
    );
    assert!(output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "* command: ",
        "* set: `KIRIN_PRECISION=double`",
        "* date: 20",
        "* machine: ",
        "* forces: reference, double precision: kirin (linked)",
        "* pipelines: 16384",
        "GeForce 8800GTX",
        "Xeon of 3.4 GHz",
        "eta = 0.03, eta_start = 0.01",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let all = table(&text, "## Table 4.1");
    assert_eq!(all.len(), 2);
    let published = ["512", "0.00051", "30.84", "0.000134", "117.7", "1.96 G"];
    assert_eq!(all[1][1..7], published);
    let runs = table(&text, "## Table 4.2");
    assert_eq!(runs.len(), 2);
    let published = ["256", "0.07098", "0.136", "0.107", "2.708", "0.1325"];
    assert_eq!(runs[0][1..7], published);
    // Seconds of this device, without and with splitting.
    for row in all.iter().chain(&runs) {
        for cell in [row[7], row[10]] {
            assert!(cell.parse::<f64>().unwrap() > 0.0, "{row:?}");
        }
    }
    assert!(table(&text, "## Figure 4.2").is_empty() && text.contains("--largest"));
    let smallest = table(&text, "## Figure 4.3");
    assert_eq!(smallest.len(), 2);
    assert_eq!(smallest[1][1..3], ["512", "128"]);

    let figures: Value = serde_json::from_str(&folder.text("a.json")).unwrap();
    let row = &figures["table_4_2"][1];
    assert_eq!(row["published_seconds"]["improved"], 0.217);
    for column in ["whole", "split"] {
        assert!(row["seconds"][column]["median"].as_f64().unwrap() > 0.0);
    }
    assert!(row["steps"].as_f64() > row["block_steps"].as_f64());
    assert!(row["energy_error"].as_f64().unwrap() < 1e-3);
    assert_eq!(figures["circumstances"]["precision"], "double");
    let processes = &figures["processes"];
    assert_eq!(processes["split"]["split"], true);
    assert_eq!(processes["whole"]["split"], false);
    for words in ["Figure 4.2", "improved", "split", "GRAPE"] {
        assert!(folder.text("a.svg").contains(words), "{words}");
    }
}

#[test]
fn blocks_of_every_size_are_measured() {
    let folder = Folder::new("report-blocks");
    let output = folder.file("a.md");
    let largest = [
        "--report",
        "thesis",
        "--largest",
        "1024",
        "--minutes",
        "60",
        "--t-end",
        "1/256",
    ];
    let run = succeed(&[&largest[..], &["--output", &output]].concat());
    assert!(run.stdout.is_empty());
    let text = folder.text("a.md");
    let blocks = table(&text, "## Figure 4.2");
    let sizes: Vec<&str> = blocks.iter().map(|row| row[2]).collect();
    assert_eq!(sizes, ["128", "256", "512", "1024"]);
    assert_eq!(blocks[3][3..6], ["66.23", "187.25", "3.12 G"]);
    let seconds = |row: &Vec<&str>| row[6].parse::<f64>().unwrap();
    assert!(blocks.iter().all(|row| seconds(row) > 0.0));
}

/// Only the first row of each table is made when there is no time.
#[test]
fn time_ends_the_report() {
    let output = succeed(&[&REPORT[..], &["--minutes", "0", "--eta", "0.02"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    for heading in ["## Table 4.1", "## Figure 4.3", "## Table 4.2"] {
        assert_eq!(table(&text, heading).len(), 1, "{heading}\n{text}");
    }
    assert!(text.contains("eta = 0.02,"));
}

#[test]
fn bad_reports_are_refused() {
    let report = ["--report", "thesis"];
    for (arguments, words) in [
        (&["--n", "9"][..], "--n"),
        (&["--input", "a.txt"], "--input"),
        (&["--shared-step", "1/8"], "--shared-step"),
        (&["--minutes", "-1"], "--minutes"),
        (&["--largest", "many"], "--largest"),
        (&["--plot", "a.pdf"], ".svg or .png"),
        (&["--output", "/no/such/folder/a.md"], "no such folder"),
        (&["--eta", "0"], "accuracy parameter"),
        (&["--t-end", "0"], "--t-end"),
        (&["--library", "/no/such/libg6.so"], "libg6.so"),
        (&["--binary-periods", "opik"], "needs --binary-fraction"),
        (&["--t-start", "1"], "needs --input"),
    ] {
        let refusal = fail(&[&report[..], arguments].concat());
        assert!(refusal.contains(words), "{arguments:?}: {refusal}");
    }
    assert!(fail(&["--report", "paper"]).contains("thesis"));
    assert!(fail(&["--minutes", "1"]).contains("--report"));
}

#[test]
fn pipelines_may_be_set() {
    let arguments = [&REPORT[..], &["--minutes", "0"]].concat();
    let mut command = PROGRAM.command(&arguments);
    command.env("KIRIN_NPIPES", "48").env("KIRIN_SPLIT", "off");
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("* pipelines: 48\n"), "{text}");
}
