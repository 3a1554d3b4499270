//! The program in processes of its own, with threads as ranks: the same snapshot on any grid, runs continued on any
//! other grid, damaged snapshots refused.

mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::program::{
    checksum, checksum_by_hermite, checksum_by_hermite_from, checksum_of, fail, hermite_checksum,
    succeed, threads,
};
use kirin_kit::snapshot::parts::Manifest;
use kirin_testing::Folder;
use serde_json::Value;

#[test]
fn any_grid_ends_with_the_file_of_hermite() {
    let expected = hermite_checksum(1000, 1.0);
    let folder = Folder::new("grids");
    let out = folder.file("out.txt");
    for grid in ["1x1", "1x2", "2x1", "2x2", "3x2", "1x4", "4x4"] {
        succeed(threads(&[
            "--n", "1000", "--grid", grid, "--output", &out, "--force",
        ]));
        assert_eq!(checksum_of(&out), expected, "{grid}");
    }
}

#[test]
fn a_run_goes_on_on_another_grid() {
    let folder = Folder::new("resume");
    let [whole, half, rest] = ["whole.txt", "half.txt", "rest.txt"].map(|f| folder.file(f));
    let run = |grid: &str, arguments: &[&str]| {
        succeed(threads(&[&["--grid", grid], arguments].concat()));
    };
    run("1x1", &["--n", "600", "--t-end", "0.5", "--output", &whole]);
    run("2x2", &["--n", "600", "--t-end", "0.25", "--output", &half]);
    for grid in ["1x2", "3x1", "1x1"] {
        run(
            grid,
            &[
                "--input", &half, "--t-end", "0.5", "--output", &rest, "--force",
            ],
        );
        assert_eq!(checksum_of(&rest), checksum_of(&whole), "{grid}");
    }
}

/// The diagnostics are those of all particles, and looking at them changes no bit.
#[test]
fn diagnostics_do_not_depend_on_the_grid() {
    let folder = Folder::new("diagnostics");
    let mut seen = Vec::new();
    for grid in ["1x1", "2x2"] {
        let [out, csv, json] = ["out.txt", "out.csv", "out.json"].map(|f| folder.file(f));
        let run = [
            "--n", "600", "--t-end", "0.25", "--every", "1/16", "--grid", grid,
        ];
        let files = ["--output", &out, "--csv", &csv, "--json", &json, "--force"];
        succeed(threads(&[&run[..], &files].concat()));
        let figures: Value = serde_json::from_str(&folder.text("out.json")).unwrap();
        assert_eq!(figures["records"].as_array().unwrap().len(), 5);
        assert_eq!(figures["grid"], grid);
        assert!(figures["energy_error"].as_f64().unwrap() < 1e-5);
        seen.push((checksum_of(&out), folder.text("out.csv")));
    }
    assert!(seen[0] == seen[1]);
}

#[test]
fn the_summary_tells_what_the_ranks_did() {
    let folder = Folder::new("summary");
    let svg = folder.file("a.svg");
    let run = [
        "--n", "600", "--t-end", "0.0625", "--ranks", "2", "--plot", &svg,
    ];
    let output = succeed(threads(&run));
    let text = String::from_utf8(output.stdout).unwrap();
    for words in [
        "ranks",
        "2 as ",
        "two-d",
        "communication/block",
        "received/block",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(output.stderr.is_empty());
    assert!(folder.text("a.svg").contains("section 3.3"));
}

#[test]
fn damaged_checkpoints_are_refused() {
    let folder = Folder::new("damaged");
    let [good, bad] = ["good.txt", "bad.txt"].map(|f| folder.file(f));
    succeed(threads(&[
        "--n", "600", "--t-end", "0.0625", "--output", &good,
    ]));
    let text = folder.text("good.txt");
    let of_another_n = text.replacen("n 600", "n 599", 1);
    let mut flipped = text.clone().into_bytes();
    let middle = text.len() / 2 + text[text.len() / 2..].find('1').unwrap();
    flipped[middle] = b'2';
    let whole_lines = text[..text.len() / 2].rfind('\n').unwrap() + 1;
    for (damaged, words) in [
        (
            text.as_bytes()[..whole_lines].to_vec(),
            "the file ends after",
        ),
        (
            text.as_bytes()[..whole_lines + 30].to_vec(),
            "numbers where",
        ),
        (of_another_n.into_bytes(), "damaged"),
        (flipped, "damaged"),
    ] {
        fs::write(&bad, damaged).unwrap();
        for grid in ["1x1", "2x2"] {
            let refusal = fail(threads(&["--input", &bad, "--grid", grid]));
            assert!(refusal.contains(words), "{refusal}");
            assert!(refusal.contains("bad.txt"), "{refusal}");
            assert_eq!(refusal.lines().count(), 1, "every rank says it: {refusal}");
        }
    }
}

#[test]
fn bad_options_are_refused_once() {
    for (arguments, words) in [
        (&["--grid", "2x2", "--ranks", "3"][..], "there are 3"),
        (&["--grid", "2x2", "--algorithm", "ring"], "1x4"),
        (&["--ranks", "0"], "--ranks"),
        (
            &["--input", "/no/such/file", "--ranks", "3"],
            "/no/such/file",
        ),
        (&["--t-end", "0", "--ranks", "2"], "--t-end"),
        (&["--dt-max", "0.3", "--ranks", "2"], "power of two"),
        (&["--mass-ratio", "5"], "--mass-fraction"),
        (&["--parts", "--ranks", "2"], "--parts needs --output"),
        (
            &["--ranks", "2", "--t-end", "1", "--minutes", "1"],
            "--minutes needs --report",
        ),
        (&["--n", "8", "--skip", "5"], "--replay"),
        (&["--t-end", "1", "--on-ranks", "64"], "--replay"),
        (
            &["--report", "paper", "--algorithm", "ring"],
            "cannot be used with",
        ),
        (
            &["--csv", "a.csv", "--record-blocks", "a.csv"],
            "two options name this file",
        ),
    ] {
        let refusal = fail(threads(arguments));
        assert!(refusal.contains(words), "{arguments:?}: {refusal}");
        let ours = refusal.lines().filter(|l| l.starts_with("parallel: "));
        assert!(ours.count() <= 1, "{refusal}");
    }
}

/// The bodies of a snapshot keep the softening that they had, and one rank says so.
#[test]
fn a_snapshot_tells_the_softening() {
    let folder = Folder::new("parallel-softening");
    let output = folder.file("run.txt");
    let run = [
        "--n", "64", "--eps", "0.1", "--t-end", "1/8", "--grid", "1x1",
    ];
    let every = ["--snapshot-every", "1/8", "--output", &output];
    succeed(threads(&[&run[..], &every].concat()));
    let snapshot = folder.file("run.0001.txt");
    let more = ["--input", &snapshot, "--t-end", "1/4", "--grid", "1x2"];
    let output = succeed(threads(&more));
    let [said, table] = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
    assert_eq!(said, "parallel: softening 0.1, which is the input's\n");
    let row = table
        .lines()
        .find(|line| line.contains("softening"))
        .unwrap();
    assert!(row.ends_with(" 0.1000"), "{row}");
}

/// All ranks end together where the energy is lost, and say so once; the state is hermite's.
#[test]
fn the_energy_is_guarded_on_all_ranks() {
    let folder = Folder::new("guard");
    let [out, csv] = ["out.txt", "out.csv"].map(|f| folder.file(f));
    let coarse = [
        "--n", "600", "--eps", "0", "--eta", "0.5", "--t-end", "8", "--grid", "2x1",
    ];
    let limits = ["--energy-warning", "1e-9", "--energy-limit", "1e-4"];
    let files = ["--output", &out, "--csv", &csv, "--every", "1/4"];
    let output = threads(&[&coarse[..], &limits, &files].concat())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("--energy-limit)").count(), 1, "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("ended by the energy error") && table.is_ascii(),
        "{table}"
    );
    let state = kirin_kit::Snapshot::parse(folder.text("out.txt").as_bytes()).unwrap();
    assert!(state.time < 8.0 && state.states.is_some());
    assert!(folder.text("out.csv").lines().count() > 1);
    // A resumed run knows its end and its cadence, and asks before it replaces another.
    let refusal = fail(threads(&["--n", "500", "--output", &out, "--ranks", "2"]));
    assert!(refusal.contains("--force"), "{refusal}");
    let end = (state.time + 0.25).to_string();
    succeed(threads(&[
        "--input",
        &out,
        "--energy-limit",
        "none",
        "--t-end",
        &end,
        "--ranks",
        "2",
    ]));
    assert!(folder.text("out.csv").lines().count() > 3);
}

#[test]
fn misuse_is_refused_before_anything_is_made() {
    for (arguments, words) in [
        (
            &["--n", "2147483647", "--ranks", "2"][..],
            "GB; this machine has",
        ),
        (&["--w0", "4", "--ranks", "2"], "--model king"),
        (&["--cluster-mass", "9"], "--galaxy"),
        (
            &["--output", "/dev/null", "--ranks", "2"],
            "replaces its file",
        ),
        (&["--t-end", "5Myr"], "--units"),
    ] {
        let refusal = fail(threads(arguments));
        assert!(refusal.contains(words), "{arguments:?}: {refusal}");
    }
}

/// The run ends after a block, with everything written, and goes on with the same bits.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_run_in_order() {
    let folder = Folder::new("signal");
    let [out, rest, whole] = ["out.txt", "rest.txt", "whole.txt"].map(|f| folder.file(f));
    let long = [
        "--n", "600", "--t-end", "1000", "--grid", "2x2", "--output", &out,
    ];
    let checkpoint = ["--checkpoint-every", "1/32"];
    let mut run = threads(&[&long[..], &checkpoint].concat())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !std::path::Path::new(&out).exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "no checkpoint");
        std::thread::sleep(Duration::from_millis(20));
    }
    let checkpoint = fs::read(&out).unwrap();
    assert!(kirin_kit::Snapshot::parse(&checkpoint).is_ok());
    let id = run.id().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &id])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let stopped = kirin_kit::Snapshot::parse(folder.text("out.txt").as_bytes()).unwrap();
    let end = (stopped.time + 0.0625).to_string();
    let go_on = ["--input", &out, "--t-end", &end, "--output", &rest];
    succeed(threads(&[&go_on[..], &["--grid", "1x2"]].concat()));
    let at_once = ["--n", "600", "--t-end", &end, "--output", &whole];
    succeed(threads(&at_once));
    assert_eq!(checksum_of(&rest), checksum_of(&whole));
}

/// Binaries and larger systems, some of which form and divide on the way.
const SYSTEMS: [&str; 10] = [
    "--n",
    "700",
    "--seed",
    "2",
    "--mass-function",
    "kroupa",
    "--binary-fraction",
    "0.3",
    "--eps",
    "0",
];

/// Every rank makes the same of the systems, whose stars are on all columns, and the ranks share the forces and the lists of
/// neighbours.
#[test]
fn regularized_systems_are_those_of_hermite_on_any_grid() {
    let regularize = [&SYSTEMS[..], &["--regularize", "40"]].concat();
    let expected = checksum_by_hermite(&regularize, 0.03125);
    let folder = Folder::new("systems");
    let [out, json] = ["out.txt", "out.json"].map(|f| folder.file(f));
    for grid in ["1x1", "1x2", "2x1", "2x2", "3x2", "1x4"] {
        let files = ["--grid", grid, "--output", &out, "--json", &json, "--force"];
        let run = [&regularize[..], &["--t-end", "1/32"], &files].concat();
        let table = succeed(threads(&run)).stdout;
        assert_eq!(checksum_of(&out), expected, "{grid}");
        let table = String::from_utf8(table).unwrap();
        assert!(table.contains("regularized pairs"), "{table}");
        let figures: Value = serde_json::from_str(&folder.text("out.json")).unwrap();
        assert!(figures["energy_error"].as_f64().unwrap() < 1e-7);
    }
    // More than the binaries of the start, and larger systems.
    let state = kirin_kit::Snapshot::load(out.as_ref()).unwrap();
    let head = state.values("hermite.regularized").next().unwrap();
    let formed: u64 = head.split(' ').nth(1).unwrap().parse().unwrap();
    let begun = 700 * 3 / 13;
    assert!(formed > begun, "{head}");
    assert!(state.values("hermite.multiple").count() > 0);
}

/// 1400 stars are 933 particles, of which forces are in double precision.
#[test]
fn the_precision_is_that_of_the_particles() {
    let folder = Folder::new("systems-precision");
    let out = folder.file("out.txt");
    let pairs = [
        "--n",
        "1400",
        "--binary-fraction",
        "0.5",
        "--eps",
        "0",
        "--regularize",
    ];
    let expected = checksum_by_hermite(&pairs, 0.00390625);
    let files = ["--grid", "2x1", "--t-end", "1/256", "--output", &out];
    succeed(threads(&[&pairs[..], &files].concat()));
    assert_eq!(checksum_of(&out), expected);
}

/// From a state with systems, and from one without.
#[test]
fn a_regularized_run_goes_on_on_another_grid() {
    let folder = Folder::new("systems-resume");
    let [whole, half, rest] = ["whole.txt", "half.txt", "rest.txt"].map(|f| folder.file(f));
    let run = |grid: &str, arguments: &[&str]| {
        succeed(threads(&[&["--grid", grid], arguments].concat()));
    };
    let begin = |grid: &str, more: &[&str]| run(grid, &[&SYSTEMS[..], more].concat());
    let regularize = ["--regularize", "40", "--t-end"];
    begin(
        "1x1",
        &[&regularize[..], &["1/32", "--output", &whole]].concat(),
    );
    begin(
        "2x2",
        &[&regularize[..], &["1/64", "--output", &half]].concat(),
    );
    for grid in ["1x2", "3x1"] {
        let more = ["--t-end", "1/32", "--output", &rest, "--force"];
        run(grid, &[&["--input", &half][..], &more].concat());
        assert_eq!(checksum_of(&rest), checksum_of(&whole), "{grid}");
    }
    // Stars between their steps come to one time with the softening that they had.
    let softened = ["--n", "300", "--eps", "0.1", "--t-end", "0.3"];
    run(
        "2x1",
        &[&softened[..], &["--output", &half, "--force"]].concat(),
    );
    let goes_on = ["--eps", "0", "--regularize", "--t-end", "0.3125"];
    let expected = checksum_by_hermite_from(&half, &goes_on, 0.3125);
    for grid in ["1x1", "2x1", "1x2"] {
        let files = ["--input", &half, "--output", &rest, "--force"];
        run(grid, &[&goes_on[..], &files].concat());
        assert_eq!(checksum_of(&rest), expected, "{grid}");
    }
    begin("2x1", &["--t-end", "1/128", "--output", &half, "--force"]);
    let mut sums = Vec::new();
    for grid in ["1x1", "2x2"] {
        let more = ["--t-end", "1/64", "--output", &rest, "--force"];
        run(
            grid,
            &[&["--input", &half, "--regularize"][..], &more].concat(),
        );
        sums.push(checksum_of(&rest));
    }
    assert_eq!(sums[0], sums[1]);
}

#[test]
fn what_regularized_runs_cannot_do_is_refused() {
    let folder = Folder::new("systems-refused");
    let [out, parts] = ["out.txt", "parts.txt"].map(|f| folder.file(f));
    let small = ["--n", "8", "--t-end", "1/64", "--eps", "0", "--ranks", "2"];
    for (more, words) in [
        (&["--algorithm", "ring"][..], "--algorithm ring"),
        (&["--parts", "--output", &out], "--parts"),
        (&["--record-blocks", &out], "--record-blocks"),
        (&["--unlike-ranks"], "--unlike-ranks"),
    ] {
        let refusal = fail(threads(&[&small[..], &["--regularize"], more].concat()));
        assert!(
            refusal.contains("--regularize: not with") && refusal.contains(words),
            "{refusal}"
        );
    }
    succeed(threads(
        &[&small[..], &["--parts", "--output", &parts]].concat(),
    ));
    let go_on = ["--input", &parts, "--t-end", "1/32", "--regularize"];
    let refusal = fail(threads(&go_on));
    assert!(refusal.contains("a state in parts"), "{refusal}");
    assert!(!std::path::Path::new(&out).exists());
}

/// The checksum of a state, in one file or in parts.
fn checksum_of_state(path: &str) -> String {
    let mut text = Vec::new();
    let state = kirin_kit::Snapshot::load(path.as_ref()).unwrap();
    state.write(&mut text).unwrap();
    checksum(&String::from_utf8(text).unwrap())
}

/// A state in parts is the state in one file, and any grid goes on from it.
#[test]
fn a_state_in_parts_goes_on_on_another_grid() {
    let folder = Folder::new("in-parts");
    let [whole, half, rest] = ["whole.txt", "half.txt", "rest.txt"].map(|f| folder.file(f));
    let run = |arguments: &[&str]| {
        succeed(threads(arguments));
    };
    run(&["--n", "1100", "--t-end", "1/8", "--output", &whole]);
    run(&[
        "--n", "1100", "--t-end", "1/16", "--grid", "2x3", "--output", &half, "--parts",
    ]);
    let manifest = Manifest::at(half.as_ref()).unwrap();
    assert_eq!((manifest.n, manifest.parts.len()), (1100, 3));
    for grid in ["1x1", "1x2", "3x2"] {
        run(&[
            "--input", &half, "--t-end", "1/8", "--grid", grid, "--output", &rest, "--force",
        ]);
        assert!(Manifest::at(rest.as_ref()).is_some(), "it keeps to parts");
        assert_eq!(checksum_of_state(&rest), checksum_of(&whole), "{grid}");
    }
    // Another run does not replace it unasked, and a run in place does.
    let refusal = fail(threads(&["--n", "600", "--output", &half]));
    assert!(
        refusal.contains("1100 bodies") && refusal.contains("--force"),
        "{refusal}"
    );
    run(&["--input", &half, "--t-end", "1/8", "--grid", "1x2"]);
    assert_eq!(checksum_of_state(&half), checksum_of(&whole));
    for name in ["half.hdf5", "half.amuse"] {
        let name = folder.file(name);
        let refusal = fail(threads(&["--n", "600", "--parts", "--output", &name]));
        assert!(refusal.contains("--parts writes a text"), "{refusal}");
        let refusal = fail(threads(&[
            "--input", &half, "--t-end", "1", "--output", &name,
        ]));
        assert!(refusal.contains("--parts writes a text"), "{refusal}");
    }
    let part = format!("{half}.1.0");
    let mut bytes = fs::read(&part).unwrap();
    bytes[100] ^= 1;
    fs::write(&part, bytes).unwrap();
    let refusal = fail(threads(&[
        "--input", &half, "--t-end", "1/4", "--ranks", "2",
    ]));
    assert!(
        refusal.contains("half.txt.1.0: the file is damaged"),
        "{refusal}"
    );
}

/// After its time on the wall the run ends in order, with a status of its own, and goes on to the same bits.
#[test]
fn a_run_ends_when_its_time_on_the_wall_is_over() {
    let folder = Folder::new("stop-after");
    let [out, rest, whole] = ["out.txt", "rest.txt", "whole.txt"].map(|f| folder.file(f));
    let long = [
        "--n", "600", "--t-end", "1000", "--grid", "1x2", "--output", &out,
    ];
    let output = threads(&[&long[..], &["--stop-after", "500ms"]].concat())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(75), "{said}");
    assert!(said.contains(&format!("--input {out}")), "{said}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("ended by --stop-after"), "{table}");
    let stopped = kirin_kit::Snapshot::load(out.as_ref()).unwrap();
    let end = (stopped.time + 0.03125).to_string();
    let go_on = ["--input", &out, "--t-end", &end, "--output", &rest];
    succeed(threads(&[&go_on[..], &["--stop-after", "1h"]].concat()));
    succeed(threads(&[
        "--n", "600", "--t-end", &end, "--output", &whole,
    ]));
    assert_eq!(checksum_of(&rest), checksum_of(&whole));
    let refusal = fail(threads(&["--stop-after", "soon"]));
    assert!(refusal.contains("30min"), "{refusal}");
}

/// SIGUSR1 writes the state, and the run goes on; without a terminal each record is a line of the log.
#[cfg(unix)]
#[test]
fn a_signal_writes_a_checkpoint() {
    let folder = Folder::new("usr1");
    let [out, csv] = ["out.txt", "out.csv"].map(|f| folder.file(f));
    let run = [
        "--n", "600", "--t-end", "1000", "--grid", "2x1", "--output", &out, "--csv", &csv,
    ];
    let run = threads(&[&run[..], &["--every", "1/16"]].concat())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let wait_for = |path: &str| {
        let begin = Instant::now();
        while !std::path::Path::new(path).exists() {
            assert!(begin.elapsed() < Duration::from_secs(120), "no {path}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let signal = |name: &str| {
        let id = run.id().to_string();
        let told = std::process::Command::new("kill")
            .args([name, &id])
            .status();
        assert!(told.unwrap().success());
    };
    wait_for(&csv);
    assert!(!std::path::Path::new(&out).exists());
    signal("-USR1");
    wait_for(&out);
    let asked = kirin_kit::Snapshot::load(out.as_ref()).unwrap();
    signal("-TERM");
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("t = 0, energy error "), "{text}");
    let last = kirin_kit::Snapshot::load(out.as_ref()).unwrap();
    assert!(asked.time < last.time, "{} {}", asked.time, last.time);
}

/// A step that cannot be taken leaves everybody as before the block, whatever column it is in, and the output holds a
/// state that can be resumed.
#[test]
fn a_failed_step_leaves_a_state_that_can_be_resumed() {
    let folder = Folder::new("failed-step");
    let out = folder.file("run.txt");
    let model = ["--n", "256", "--eps", "0", "--dt-min", "2^-16"];
    let mut states = Vec::new();
    for grid in ["1x1", "1x2", "2x2", "1x5"] {
        let rest = [
            "--t-end", "100", "--grid", grid, "--output", &out, "--force",
        ];
        let said = fail(threads(&[&model[..], &rest].concat()));
        assert_eq!(said.matches("fell below 2^-16").count(), 1, "{said}");
        assert!(said.contains("is in "), "{said}");
        states.push(checksum_of(&out));
    }
    assert!(states.iter().all(|sum| *sum == states[0]), "{states:?}");
    let stopped = kirin_kit::Snapshot::load(out.as_ref()).unwrap().time;
    let end = (stopped + 1.0 / 64.0).to_string();
    let more = ["--input", &out, "--dt-min", "2^-40", "--t-end", &end];
    succeed(threads(&more));
}

/// A recording goes on with its run, from the last block of the state; what a killed run left behind it comes again.
#[test]
fn recorded_blocks_go_on_with_the_run() {
    let folder = Folder::new("recorded");
    let [state, whole, parts] = ["run.txt", "whole.blocks", "parts.blocks"].map(|f| folder.file(f));
    let run = ["--n", "600", "--record-blocks"];
    succeed(threads(&[&run[..], &[&whole, "--t-end", "1/8"]].concat()));
    let half = [&parts, "--t-end", "1/16", "--output", &state];
    succeed(threads(&[&run[..], &half].concat()));
    let recorded = folder.text("parts.blocks");
    fs::write(&parts, recorded.clone() + "0:1 1:1\n0:5").unwrap();
    let on = [
        "--input",
        &state,
        "--t-end",
        "1/8",
        "--record-blocks",
        &parts,
    ];
    succeed(threads(&[&on[..], &["--grid", "1x2"]].concat()));
    assert!(recorded.lines().count() > 3);
    assert_eq!(folder.text("parts.blocks"), folder.text("whole.blocks"));
    let other = [
        "--n",
        "64",
        "--t-end",
        "1/16",
        "--output",
        &folder.file("other.txt"),
    ];
    succeed(threads(&other));
    let on = [
        "--input",
        &folder.file("other.txt"),
        "--t-end",
        "1/8",
        "--record-blocks",
        &parts,
    ];
    assert!(fail(threads(&on)).contains("blocks of another run"));
}

/// A star that leaves the grid of a potential from a file ends the run of all ranks, which say where the grid ends and keep what was reached, also
/// if a record between two blocks finds it.
#[test]
fn a_star_beyond_the_grid_is_named() {
    let folder = Folder::new("beyond-grid");
    let table = folder.file("grid.txt");
    fs::write(&table, kirin_testing::small_grid()).unwrap();
    let [out, csv] = ["out.txt", "out.csv"].map(|name| folder.file(name));
    let fast = "--orbit given --position 3,0,0 --velocity 300,0,0 --t-end 20 --n 200";
    let run =
        format!("--potential {table} --grid 1x2 {fast} --every 1/1024 --csv {csv} --output {out}");
    let said = fail(threads(&run.split(' ').collect::<Vec<_>>()));
    assert!(
        said.contains("leaves the grid") && said.contains("out.txt"),
        "{said}"
    );
    assert!(kirin_kit::Snapshot::load(out.as_ref()).unwrap().time > 0.0);
    for grid in ["1x1", "1x2"] {
        let fast = "--orbit given --position 3,0,0 --velocity 300,0,0 --t-end 20 --n 200";
        let run = format!("--potential {table} --grid {grid} {fast}");
        let said = fail(threads(&run.split(' ').collect::<Vec<_>>()));
        for words in ["star ", "leaves the grid", "R = 4 kpc, |z| = 2 kpc"] {
            assert!(said.contains(words), "{grid}: {words}: {said}");
        }
    }
}
