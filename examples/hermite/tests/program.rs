//! The program in a process of its own: its output, and its messages about bad input.

mod common;

use std::fs;

use common::{PROGRAM, fail, figures, succeed};
use kirin_kit::Snapshot;
use kirin_kit::diagnostics::Energy;
use kirin_testing::{Folder, summed};

#[test]
fn the_summary_names_every_figure() {
    let output = succeed(&["--n", "32", "--t-end", "0.125"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for name in [
        "softening",
        "steps",
        "block steps",
        "mean block size",
        "pairs",
        "pairs/s",
        "wall time",
        "energy error",
        "virial ratio T/|W|",
    ] {
        let row = |line: &str| line.trim_start().starts_with(&format!("{name}  "));
        assert!(text.lines().any(row), "{name}\n{text}");
    }
    // No terminal, no bar.
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// It is in parts of the energy by which the run is judged, and names what else the other figure includes.
#[test]
fn the_energy_error_says_of_what_it_is_a_part() {
    let row = |more: &[&str]| {
        let output = succeed(&[&["--n", "32", "--t-end", "1/8"], more].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let row = |line: &&str| line.trim_start().starts_with("energy error");
        text.lines()
            .find(row)
            .expect("every run has one")
            .to_owned()
    };
    for more in [&[][..], &["--units", "100Msun,0.5pc"]] {
        let row = row(more);
        assert!(row.ends_with(" of the cluster's T + W"), "{row}");
    }
    let orbit = row(&["--galaxy", "irrgang"]);
    assert!(
        orbit.contains(" of the cluster's T + W, ") && orbit.ends_with("its orbit"),
        "{orbit}"
    );
    let binaries = ["--binary-fraction", "0.5", "--eps", "0", "--regularize"];
    let systems = row(&binaries);
    assert!(
        systems.contains(" of the cluster's T + W, ") && systems.ends_with("within systems"),
        "{systems}"
    );
}

#[test]
fn the_json_holds_every_figure() {
    let arguments = [
        "--n", "40", "--eps", "1/64", "--eta", "0.02", "--t-end", "0.125",
    ];
    let figures = figures("json", &arguments);
    assert_eq!(figures["regularize"], 0.0);
    assert_eq!(figures["n"], 40);
    assert_eq!(figures["eps"], 1.0 / 64.0);
    assert_eq!(figures["eta"], 0.02);
    assert_eq!(figures["t_end"], 0.125);
    assert_eq!(figures["seed"], 1);
    let number = |key: &str| figures[key].as_f64().unwrap_or_else(|| panic!("{key}"));
    assert_eq!(number("pairs"), 40.0 * number("steps"));
    assert!(number("block_steps") > 1.0 && number("block_steps") < number("steps"));
    assert!((number("pairs") / number("seconds") / number("pairs_per_second") - 1.0).abs() < 1e-9);
    assert!(number("energy_error") < 1e-4);
    assert!((number("virial_ratio") - 0.5).abs() < 0.2);
    for key in ["backend", "precision", "library"] {
        assert!(
            figures[key].as_str().is_some_and(|s| !s.is_empty()),
            "{key}"
        );
    }
}

#[test]
fn plots_and_snapshots_are_written() {
    let folder = Folder::new("plots");
    let [svg, png, out] = ["a.svg", "a.png", "a.txt"].map(|name| folder.file(name));
    let run = ["--n", "64", "--t-end", "0.25", "--plot"];
    succeed(&[&run[..], &[&svg, "--output", &out]].concat());
    succeed(&[&run[..], &[&png]].concat());
    for words in [
        "Energy error",
        "Virial ratio",
        "Lagrangian radii",
        "90 %",
        "core",
        "Number of blocks",
        "ε = 1/256",
        "x–y plane at t = 0",
        "x–y plane at t = 1/4",
    ] {
        assert!(folder.text("a.svg").contains(words), "{words}");
    }
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    let snapshot = Snapshot::parse(folder.text("a.txt").as_bytes()).unwrap();
    assert_eq!((snapshot.time, snapshot.bodies.len()), (0.25, 64));
    assert!(snapshot.states.is_some());
    // Every 1/256 for the plot, both ends included.
    assert_eq!(snapshot.values("run.record").count(), 65);
}

/// All bodies of a snapshot are at its time, so the snapshot has the energy of the start. A run can begin with it.
#[test]
fn snapshots_come_at_intervals() {
    let folder = Folder::new("snapshots");
    let [run, csv, again] = ["run.txt", "run.csv", "again.txt"].map(|name| folder.file(name));
    let model = ["--n", "1e2", "--t-end", "0.5", "--output", &run];
    let files = ["--snapshot-every", "0.125", "--csv", &csv, "--every", "1/8"];
    succeed(&[&model[..], &files].concat());
    let eps2 = 1.0 / 65536.0;
    let energies = (0..5).map(|k| {
        let text = folder.text(&format!("run.{k:04}.txt"));
        let snapshot = Snapshot::parse(text.as_bytes()).unwrap();
        assert_eq!(snapshot.bodies.len(), 100);
        assert_eq!(snapshot.time, f64::from(k) * 0.125);
        assert!(snapshot.states.is_none());
        Energy::of(&snapshot.bodies, eps2).total()
    });
    let energies: Vec<f64> = energies.collect();
    assert!(!std::path::Path::new(&folder.file("run.0005.txt")).exists());
    // The same figures stand in the file of comma-separated values.
    let csv = folder.text("run.csv");
    assert_eq!(csv.lines().count(), 6);
    for (line, energy) in csv.lines().skip(1).zip(&energies) {
        let number = |column| line.split(',').nth(column).unwrap().parse::<f64>().unwrap();
        assert!((number(1) / energy - 1.0).abs() < 1e-14, "{line}");
        assert!((energy / energies[0] - 1.0).abs() < 1e-6, "{energies:?}");
        let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let column = |name: &str| number(names.iter().position(|n| *n == name).unwrap());
        // The angular momentum stays that of the start, the centre of mass at rest in the origin.
        let first = csv.lines().nth(1).unwrap().split(',');
        let lz0: f64 = first
            .clone()
            .nth(names.iter().position(|n| *n == "lz").unwrap())
            .unwrap()
            .parse()
            .unwrap();
        assert!(lz0 != 0.0 && (column("lz") - lz0).abs() < 1e-6 && column("x").abs() < 1e-6);
    }
    let first = folder.file("run.0001.txt");
    succeed(&["--input", &first, "--t-end", "0.25", "--output", &again]);
    assert!(fail(&["--snapshot-every", "1/8"]).contains("--output"));
}

/// Where `--t-end` cuts through the steps the figures are those of that very time.
#[test]
fn any_end_will_do() {
    let figures = figures(
        "any-end",
        &["--n", "64", "--t-end", "0.3", "--every", "0.07"],
    );
    assert_eq!(figures["time"], 0.3);
    let times: Vec<f64> = figures["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["t"].as_f64().unwrap())
        .collect();
    assert_eq!(times.len(), 6);
    assert_eq!((times[0], times[5]), (0.0, 0.3));
    assert!(figures["energy_error"].as_f64().unwrap() < 1e-6);
}

#[test]
fn a_model_written_by_hand_is_run() {
    let folder = Folder::new("by-hand");
    let pair = "kirin-snapshot 1\nn 2\ncolumns mass x y z vx vy vz\n\
                0.5 0.5 0 0 0 0.5 0\n0.5 -0.5 0 0 0 -0.5 0\nend\n";
    fs::write(folder.file("pair.txt"), pair).unwrap();
    let out = folder.file("out.txt");
    succeed(&["--input", &folder.file("pair.txt"), "--output", &out]);
    let bodies = Snapshot::parse(folder.text("out.txt").as_bytes())
        .unwrap()
        .bodies;
    // After the time 1 the pair has turned by one radian, on a circle of radius 1/2.
    assert!(
        (bodies[0].x[0] - 0.5 * 1.0_f64.cos()).abs() < 1e-4,
        "{bodies:?}"
    );
    assert!(
        (bodies[1].x[1] + 0.5 * 1.0_f64.sin()).abs() < 1e-4,
        "{bodies:?}"
    );
}

#[test]
fn bad_files_are_refused_by_the_line() {
    let folder = Folder::new("bad-files");
    let path = folder.file("bad.txt");
    let cases = [
        (
            "kirin-snapshot 1\nn 1\ncolumns mass x y z vx vy vz\n1 0 0 zero 0 0 0\nend\n",
            "line 4:",
        ),
        ("kirin-snapshot 1\nn 1\ncolumns mass x y\n", "line 3:"),
        ("something else\n", "line 1:"),
        (
            "kirin-snapshot 1\nn 1\ncolumns mass x y z vx vy vz t dt ax ay az jx jy jz\n\
             1 0 0 0 0 0 0 0 0.125 0 0 0 0 0 0\nend\n",
            "hermite.settings",
        ),
        (
            &summed(
                "kirin-snapshot 1\nn 1\nhermite.settings 0 0.01 x 0.125 false\n\
                 columns mass x y z vx vy vz t dt ax ay az jx jy jz\n\
                 1 0 0 0 0 0 0 0 0.125 0 0 0 0 0 0\nend\n",
            ),
            "hermite.settings 0 0.01 x",
        ),
    ];
    for (text, words) in cases {
        fs::write(&path, text).unwrap();
        let refusal = fail(&["--input", &path]);
        assert!(
            refusal.contains(words) && refusal.contains("bad.txt"),
            "{refusal}"
        );
    }
    let refusal = fail(&["--input", &folder.file("none.txt")]);
    assert!(refusal.contains("none.txt"), "{refusal}");
}

#[test]
fn bad_options_are_refused_before_the_run() {
    for (arguments, words) in [
        (&["--plot", "a.pdf"][..], ".svg or .png"),
        (&["--output", "/no/such/folder/a.txt"], "no such folder"),
        (&["--eps", "-1"], "--eps"),
        (&["--n", "0"], "--n"),
        (&["--n", "1.5"], "whole number"),
        (&["--dt-min", "0.3"], "power of two"),
        (&["--dt-min", "1/4"], "above the largest"),
        (&["--checkpoint-every", "often", "--output", "a"], "30min"),
        (&["--checkpoint-every", "1/8"], "--output"),
        (&["--csv", "/no/such/folder/a.csv"], "no such folder"),
        (&["--n", "9", "--input", "a.txt"], "--input"),
        (&["--dt-max", "0.3"], "--dt-max"),
        (&["--shared-step", "0.01"], "--shared-step"),
        (&["--library", "/no/such/libg6.so"], "libg6.so"),
        (&["--t-end", "0"], "--t-end"),
    ] {
        let refusal = fail(arguments);
        assert!(refusal.contains(words), "{arguments:?}: {refusal}");
    }
}

/// The bodies of a snapshot keep the softening that they had, also if they had none, and the program says so.
#[test]
fn a_snapshot_tells_the_softening() {
    let folder = Folder::new("hermite-softening");
    let row = |text: &[u8], name: &str| {
        let text = String::from_utf8_lossy(text).into_owned();
        let line = text.lines().find(|l| l.trim_start().starts_with(name));
        line.unwrap().split_whitespace().last().unwrap().to_owned()
    };
    for (eps, shown) in [("0.1", "0.1000"), ("0", "0"), ("1e-5", "1.000e-5")] {
        let output = folder.file(&format!("{eps}.txt"));
        let run = ["--n", "32", "--eps", eps, "--t-end", "1/8"];
        let every = ["--snapshot-every", "1/8", "--output", &output];
        let made = succeed(&[&run[..], &every].concat());
        assert_eq!(row(&made.stdout, "softening"), shown);
        let snapshot = folder.file(&format!("{eps}.0001.txt"));
        let more = ["--input", &snapshot, "--t-end", "1/4"];
        let goes_on = succeed(&more);
        assert_eq!(row(&goes_on.stdout, "softening"), shown);
        let said = String::from_utf8_lossy(&goes_on.stderr);
        let number: f64 = eps.parse().unwrap();
        let words = format!("hermite: softening {number}, which is the input's");
        assert!(said.contains(&words), "{said}");
        let other = succeed(&[&more[..], &["--eps", "1/64"]].concat());
        assert_eq!(row(&other.stdout, "softening"), "0.0156");
        assert!(other.stderr.is_empty());
    }
}

/// Bodies of another program may have any time. Their run begins at the one that --t-start gives.
#[test]
fn bodies_of_any_time_begin_when_they_are_told() {
    let folder = Folder::new("t-start");
    let [input, output] = ["in.txt", "out.txt"].map(|name| folder.file(name));
    let bodies = Snapshot {
        time: 0.2837,
        bodies: kirin_kit::models::plummer(32, 1),
        ..Snapshot::default()
    };
    bodies.save_as(input.as_ref()).unwrap();
    let said = fail(&["--input", &input, "--t-end", "1"]);
    assert!(said.contains("--t-start 0"), "{said}");
    let run = ["--t-start", "0", "--t-end", "1/8", "--output", &output];
    succeed(&[&["--input", &input][..], &run].concat());
    assert_eq!(Snapshot::load(output.as_ref()).unwrap().time, 0.125);
    let said = fail(&["--input", &output, "--t-start", "0", "--t-end", "1"]);
    assert!(said.contains("the state of one"), "{said}");
    let placed = ["--t-start", "0", "--galaxy", "irrgang", "--radius", "8"];
    let said = fail(&[&["--input", &input][..], &placed].concat());
    assert!(said.contains("stay where they are"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_written_is_an_error() {
    PROGRAM.assert_needs_stdout(&["--n", "32", "--t-end", "1/64"], 1);
}
