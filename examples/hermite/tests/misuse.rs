//! Mistakes of a new user, and the messages about them; settings that a continued run keeps.

mod common;

use std::process::Stdio;

use common::{PROGRAM, fail, figures, succeed};
use kirin_kit::Snapshot;
use kirin_testing::Folder;

fn stderr(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = PROGRAM.command(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Steps far too long: the run warns once, ends where the energy is lost, and keeps state, table and figures.
#[test]
fn the_energy_is_guarded() {
    let folder = Folder::new("guard");
    let [output, json] = ["run.txt", "run.json"].map(|name| folder.file(name));
    let coarse = ["--n", "64", "--eps", "0", "--eta", "0.5", "--t-end", "8"];
    let limits = ["--energy-warning", "1e-5", "--energy-limit", "1e-3"];
    let files = ["--output", &output, "--json", &json];
    let (status, table, said) = stderr(&[&coarse[..], &limits, &files].concat());
    assert_eq!(status, Some(1));
    assert!(table.contains("ended by the energy error"), "{table}");
    for words in ["of the cluster's T + W", "--energy-limit", "goes on"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let ended: serde_json::Value = serde_json::from_str(&folder.text("run.json")).unwrap();
    assert_eq!(ended["ended_by_energy_error"], true);
    let state = Snapshot::load(output.as_ref()).unwrap();
    assert!(state.states.is_some() && state.time < 8.0);
    // By the option the run goes on, and warns only.
    let end = state.time + 0.5;
    let on = [
        "--energy-limit",
        "none",
        "--eta",
        "0.01",
        "--t-end",
        &end.to_string(),
    ];
    let (status, _, said) = stderr(&[&["--input", &output], &on[..]].concat());
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("of the cluster's T + W").count(), 1, "{said}");
    assert!(Snapshot::load(output.as_ref()).unwrap().time > state.time);
    // A good run says nothing.
    let (status, _, said) = stderr(&["--n", "64", "--t-end", "1"]);
    assert_eq!((status, said.as_str()), (Some(0), ""));
}

/// A binary of which the steps are a thousandth of everybody else's: it is named, with what helps.
#[test]
fn a_close_pair_is_named() {
    let folder = Folder::new("pair");
    let mut bodies = kirin_kit::models::plummer(48, 1);
    let (axis, speed) = (1e-3, (2.0_f64 / 48.0 / 1e-3).sqrt());
    bodies[9].x = bodies[5].x;
    bodies[9].x[0] += axis;
    bodies[9].v = bodies[5].v;
    bodies[9].v[1] += speed;
    let input = folder.file("pair.txt");
    let start = Snapshot {
        bodies,
        ..Snapshot::default()
    };
    start.save_as(input.as_ref()).unwrap();
    let (status, _, said) = stderr(&["--input", &input, "--eps", "0", "--t-end", "1"]);
    assert_eq!(status, Some(0));
    assert_eq!(
        said.matches("stars 5 and 9 are a close pair").count(),
        1,
        "{said}"
    );
    assert!(
        said.contains("--eps") && said.contains("--eta 0.0025") && said.contains("--regularize"),
        "{said}"
    );
}

/// While a run writes its output, a second one with the same output is refused, and says who writes it.
#[cfg(unix)]
#[test]
fn two_runs_do_not_share_an_output() {
    let folder = Folder::new("lock");
    let [output, csv] = ["run.txt", "run.csv"].map(|name| folder.file(name));
    let mut first = PROGRAM
        .command(&[
            "--n", "512", "--t-end", "1000", "--output", &output, "--csv", &csv,
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !std::path::Path::new(&csv).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let refusal = fail(&["--n", "64", "--output", &output]);
    assert!(
        refusal.contains(&format!("process {}", first.id())),
        "{refusal}"
    );
    let other = folder.file("other.txt");
    let refusal = fail(&["--n", "64", "--output", &other, "--csv", &csv]);
    assert!(refusal.contains("run.csv"), "{refusal}");
    first.kill().unwrap();
    first.wait().unwrap();
    // What was killed holds nothing.
    succeed(&["--n", "16", "--t-end", "1/64", "--output", &output]);
    let refusal = fail(&["--n", "17", "--t-end", "1/64", "--output", &output]);
    assert!(
        refusal.contains("--force") && refusal.contains("16 bodies"),
        "{refusal}"
    );
    succeed(&[
        "--n", "17", "--t-end", "1/64", "--output", &output, "--force",
    ]);
}

/// A resumed run needs nothing but its state: end, files and cadence are those that it was told.
#[cfg(unix)]
#[test]
fn a_resumed_run_keeps_what_it_was_told() {
    let folder = Folder::new("told");
    let [whole, cut] = ["whole.txt", "cut.txt"].map(|name| folder.file(name));
    let files = |name: &str| {
        let [csv, plot] = ["csv", "svg"].map(|e| folder.file(&format!("{name}.{e}")));
        ["--csv".to_owned(), csv, "--plot".to_owned(), plot]
    };
    let run = |output: &str, name: &str, more: &[&str]| {
        let files = files(name);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let model = [
            "--n", "256", "--seed", "2", "--t-end", "2", "--output", output,
        ];
        let mut command = PROGRAM.command(&[&model[..], &files, more].concat());
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    assert!(run(&whole, "whole", &[]).wait().unwrap().success());
    let mut child = run(&cut, "cut", &["--checkpoint-every", "1/8"]);
    while !std::path::Path::new(&cut).exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(folder.file("cut.csv")).unwrap();
    succeed(&["--input", &cut]);
    let ends = [&whole, &cut].map(|path| Snapshot::load(path.as_ref()).unwrap());
    assert_eq!((ends[0].time, ends[1].time), (2.0, 2.0));
    assert!(ends[0].bodies == ends[1].bodies);
    // Recorded every 1/32, before and after.
    assert_eq!(folder.text("whole.csv"), folder.text("cut.csv"));
    assert_eq!(folder.text("cut.csv").lines().count(), 66);
    assert!(folder.text("cut.svg").starts_with("<svg"));
    let refusal = fail(&["--input", &cut]);
    assert!(refusal.contains("--t-end must be later"), "{refusal}");
}

/// The forces at the start take minutes for large clusters: an end that is past is refused before.
#[test]
fn an_end_that_is_past_is_refused_before_any_force() {
    let watched = kirin_testing::Program {
        path: env!("CARGO_BIN_EXE_hermite"),
        environment: &[("KIRIN_STATS", "1")],
    };
    let folder = Folder::new("past");
    let state = folder.file("state.txt");
    let small = ["--n", "16", "--t-end", "1/8", "--output", &state];
    let ran = watched.command(&small).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("kirin:   blocks"), "{said}");
    for arguments in [&["--n", "16", "--t-end", "0"][..], &["--input", &state]] {
        let refusal = watched.fail(arguments);
        assert!(refusal.contains("--t-end must be later"), "{refusal}");
        assert!(!refusal.contains("kirin:   blocks"), "{refusal}");
    }
}

/// Times and lengths may have units where a galaxy or `--units` gives them a meaning.
#[test]
fn units_are_read_and_written() {
    let folder = Folder::new("units");
    let csv = folder.file("run.csv");
    let model = ["--n", "32", "--units", "1000,1", "--eps", "0.01pc"];
    let times = ["--t-end", "0.1Myr", "--every", "0.02Myr", "--csv", &csv];
    let figures = figures("units-json", &[&model[..], &times].concat());
    assert_eq!(figures["eps"], 0.01);
    let text = folder.text("run.csv");
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = names.iter().position(|name| *name == "time_myr").unwrap();
    let last = text.lines().last().unwrap().split(',').nth(place).unwrap();
    assert!((last.parse::<f64>().unwrap() - 0.1).abs() < 1e-12, "{last}");
    assert_eq!(text.lines().count(), 7);
    assert!(names.contains(&"lagrangian_50_pc"));
    let (_, table, _) = stderr(&[&model[..], &["--t-end", "0.1Myr"]].concat());
    assert!(
        table.contains("(0.1000 Myr)") && table.contains(" pc)"),
        "{table}"
    );
    let refusal = fail(&["--n", "32", "--t-end", "500Myr"]);
    assert!(refusal.contains("--units"), "{refusal}");
}

/// A Plummer sphere of 1e4 solar masses with the virial radius R = 3 pc. Its crossing time, 2 sqrt(2) sqrt(R^3 / G
/// M) (Heggie and Mathieu 1986), is 2.1913 Myr, and its half-mass radius 0.7686 R. All output files agree on this,
/// and so does a continued run.
#[test]
fn a_cluster_has_its_crossing_time_in_myr() {
    let folder = Folder::new("crossing");
    let [output, csv, plot, json] =
        ["run.txt", "run.csv", "run.svg", "run.json"].map(|name| folder.file(name));
    let crossing = 8.0_f64.sqrt() * (27.0_f64 / (4.300_917_27e-3 * 1e4)).sqrt() * 0.977_792_221_68;
    assert!((crossing - 2.191_3).abs() < 1e-4, "{crossing}");
    let model = ["--n", "512", "--units", "1e4Msun,3pc", "--t-end", "0.01Myr"];
    let files = [
        "--output",
        &output,
        "--csv",
        &csv,
        "--plot",
        &plot,
        "--snapshot-every",
        "0.01Myr",
    ];
    succeed(&[&model[..], &files, &["--every", "0.01Myr", "--json", &json]].concat());
    let figures: serde_json::Value = serde_json::from_str(&folder.text("run.json")).unwrap();
    let myr = figures["units"]["myr"].as_f64().unwrap();
    assert!(
        (8.0_f64.sqrt() * myr / crossing - 1.0).abs() < 1e-9,
        "{myr}"
    );
    let text = folder.text("run.csv");
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let number = |line: &str, name: &str| -> f64 {
        let place = names.iter().position(|n| *n == name).expect(name);
        line.split(',').nth(place).unwrap().parse().unwrap()
    };
    let first = text.lines().nth(1).unwrap();
    let half = number(first, "lagrangian_50_pc");
    assert!((half / (3.0 * 0.7686) - 1.0).abs() < 0.1, "{half} pc");
    let (_, table, _) = stderr(&["--input", &output, "--t-end", "0.02Myr"]);
    assert!(table.contains("10000 solar masses, 3 pc, 0.77"), "{table}");
    assert!(table.contains("(0.0200 Myr)"), "{table}");
    let last = folder.text("run.csv");
    let last = last.lines().last().unwrap();
    assert!((number(last, "time_myr") - 0.02).abs() < 1e-12, "{last}");
    assert!(
        folder.text("run.svg").contains("time in Myr")
            && folder.text("run.svg").contains("radius in pc")
    );
    let snapshot = Snapshot::load(folder.file("run.0001.txt").as_ref()).unwrap();
    assert_eq!(
        snapshot.value("galaxy.field"),
        Some("none 10000.0 3.0 0.0 0.0")
    );
}

#[test]
fn options_without_effect_and_senseless_ones_are_refused() {
    let folder = Folder::new("senseless");
    let pair = folder.file("pair.txt");
    let text = "kirin-snapshot 1\nn 2\ncolumns index mass x y z vx vy vz\n\
                3 0.5 0 0 0 0 0.5 0\n7 0.5 -0.0 0 0 0 -0.5 0\nend\n";
    std::fs::write(&pair, text).unwrap();
    let directory = folder.file("");
    let edited = folder.file("edited.txt");
    std::fs::write(&edited, text.replace("end", "end 12345678")).unwrap();
    let [short, light, empty] = ["short.txt", "light.txt", "empty.txt"].map(|n| folder.file(n));
    std::fs::write(&short, text.replace("n 2", "n 3")).unwrap();
    std::fs::write(&light, text.replace(" 0.5 ", " 0 ")).unwrap();
    std::fs::write(&empty, "m x y z vx vy vz\n").unwrap();
    for (arguments, words) in [
        (&["--w0", "4"][..], "--model king"),
        (&["--n", "8", "--t-start", "1"], "--t-start needs --input"),
        (&["--n", "8", "--largest", "9"], "--largest needs --report"),
        (
            &["--input", &pair, "--binary-periods", "opik"],
            "--binary-periods needs --binary-fraction",
        ),
        (
            &["--mass-function", "kroupa", "--mass-fraction", "0.1"],
            "--mass-fraction needs --mass-ratio",
        ),
        (&["--cluster-mass", "100"], "--galaxy"),
        (&["--black-hole-eps", "0.1"], "--black-hole"),
        (&["--every", "1/8"], "--csv"),
        (&["--frame-every", "1/8"], "--frames"),
        (&["--eta", "0"], "--eta"),
        (&["--n", "2147483647"], "GB; this machine has"),
        (&["--input", &pair, "--eps", "0"], "3 and 7"),
        (&["--input", &edited], "`end` alone"),
        (&["--input", &short], "ends after 2 of 3 bodies"),
        (&["--input", &light], "all masses are 0"),
        (&["--input", &empty], "no bodies"),
        (
            &["--mass-ratio", "10", "--mass-fraction", "1e-4"],
            "--mass-fraction",
        ),
        (&["--json", &directory], "directory"),
        (&["--output", "/dev/null"], "replaces its file"),
        (&["--csv", "a.csv", "--json", "a.csv"], "two options"),
        (&["--csv", "a.csv", "--json", "./a.csv"], "two options"),
        (&["--energy-limit", "much"], "--energy-limit"),
    ] {
        let refusal = fail(arguments);
        assert!(refusal.contains(words), "{arguments:?}: {refusal}");
        assert!(!refusal.contains("panicked"), "{refusal}");
    }
}

/// One star has neither virial ratio nor energy, and no table says -inf or NaN; all of it is ASCII.
#[test]
fn a_lone_star_and_a_plain_terminal() {
    let folder = Folder::new("lone");
    let csv = folder.file("run.csv");
    for more in [&[][..], &["--galaxy", "irrgang"]] {
        let arguments = ["--n", "1", "--t-end", "1", "--csv", &csv];
        let (status, table, said) = stderr(&[&arguments[..], more].concat());
        assert_eq!(status, Some(0), "{said}");
        for text in [&table, &folder.text("run.csv")] {
            assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
            assert!(text.is_ascii(), "{text}");
        }
    }
    // Nor does that of particles without mass in a galaxy.
    let light = folder.file("light.txt");
    std::fs::write(
        &light,
        "m x y z vx vy vz\n0 800 0 0 0 80 0\n0 801 0 0 0 80 0\n",
    )
    .unwrap();
    let run = ["--galaxy", "irrgang", "--t-end", "1/8"];
    let (status, table, said) = stderr(&[&["--input", &light], &run[..]].concat());
    assert_eq!(status, Some(0), "{said}");
    assert!(!table.contains("inf") && !table.contains("NaN"), "{table}");
    let (_, help, _) = stderr(&["--help"]);
    assert!(help.is_ascii());
}

/// A star that leaves the grid of a potential from a file ends the run, which says where the grid ends.
#[test]
fn a_star_beyond_the_grid_is_named() {
    let folder = Folder::new("beyond-grid");
    let [table, out] = ["grid.txt", "run.txt"].map(|name| folder.file(name));
    std::fs::write(&table, kirin_testing::small_grid()).unwrap();
    let fast = "--orbit given --position 3,0,0 --velocity 300,0,0";
    let run = format!("--n 16 --potential {table} --t-end 20 --output {out}");
    let all: Vec<&str> = run.split(' ').chain(fast.split(' ')).collect();
    let said = fail(&all);
    for words in ["star ", "leaves the grid", "R = 4 kpc, |z| = 2 kpc"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// With fewer pipelines than a system has places no block would ever be complete.
#[test]
fn too_few_pipelines_for_systems_are_refused() {
    let run = |pipelines: &str| {
        let arguments = "--n 16 --binary-fraction 1 --eps 0 --regularize --t-end 1/256";
        let mut command = PROGRAM.command(&arguments.split(' ').collect::<Vec<_>>());
        let output = command.env("KIRIN_NPIPES", pipelines).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), said)
    };
    let (is_taken, said) = run("15");
    assert!(!is_taken && said.contains("KIRIN_NPIPES"), "{said}");
    let (is_taken, said) = run("16");
    assert!(is_taken, "{said}");
}
