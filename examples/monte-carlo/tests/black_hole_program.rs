//! Runs of the program with a black hole: the same files on any number of ranks, runs that dissolve, and what is refused.

mod common;

use common::{PROGRAM, assert_refused};
use kirin_kit::Snapshot;
use kirin_testing::{Folder, summed};

/// Binaries, stellar evolution, a tidal field and a mass function beside the hole: any number of ranks and threads writes the
/// same files, and a run goes on on another number.
#[test]
fn a_run_with_a_hole_has_the_same_bits() {
    let folder = Folder::new("mc-hole");
    let names = [
        "whole.txt",
        "half.txt",
        "rest.txt",
        "run.csv",
        "run.json",
        "bodies.txt",
        "others.txt",
    ];
    let [whole, half, rest, csv, json, bodies, others] = names.map(|f| folder.file(f));
    let start = [
        "--n",
        "1200",
        "--mass-function",
        "kroupa",
        "--units",
        "700Msun,0.1pc",
        "--black-hole-mass",
        "35Msun",
        "--tidal-disruption",
        "20000Rsun",
        "--accreted-fraction",
        "0.75",
        "--binary-fraction",
        "0.1",
        "--three-body-binaries",
        "--stellar-evolution",
        "0.02",
        "--tidal-boundary",
        "energy",
        "--tidal-radius",
        "1pc",
    ];
    let run = |more: &[&str]| PROGRAM.succeed(&[&start[..], more].concat());
    run(&["--steps", "60", "--output", &whole]);
    let files = ["--steps", "60", "--csv", &csv, "--json", &json, "--bodies"];
    let ran = run(&[&files[..], &[&bodies]].concat());
    let (lines, records) = (folder.text("run.csv"), records(&folder));
    run(&[&files[..], &[&others, "--ranks", "3"]].concat());
    assert!(folder.text("run.csv") == lines, "the CSV of 3 ranks");
    assert!(self::records(&folder) == records, "the JSON of 3 ranks");
    assert!(folder.text("others.txt") == folder.text("bodies.txt"));
    // For other programs the hole is one of the bodies.
    let space = Snapshot::load(bodies.as_ref()).unwrap().bodies;
    let last = space.last().unwrap();
    assert!(last.x == [0.0; 3] && last.v == [0.0; 3] && last.mass > 0.05);
    assert!(space.iter().all(|b| b.index < last.index || b == last));
    // Its index is that above all stars of the start, also if the last of them has left or is the second one of a binary.
    assert_eq!(last.index, 1200);
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(
        text.contains("black hole") && text.contains("stars taken"),
        "{text}"
    );
    let value: serde_json::Value = serde_json::from_str(&folder.text("run.json")).unwrap();
    let hole = &value["black_hole"];
    let number = |name: &str| hole[name].as_f64().unwrap();
    println!("{hole}");
    assert!((number("mass0") - 0.05).abs() < 1e-12);
    assert!(number("taken") > 5.0 && hole["law"] == "disruption");
    let grown = number("mass") - number("mass0");
    assert!((grown - 0.75 * number("taken_mass")).abs() < 1e-12);
    assert!(value["worst_energy_error"].as_f64().unwrap() < 1e-10);
    let csv = folder.text("run.csv");
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let place = names
        .iter()
        .position(|name| *name == "black_hole_mass_solar")
        .unwrap();
    let first: f64 = csv
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .nth(place)
        .unwrap()
        .parse()
        .unwrap();
    assert!((first - 35.0).abs() < 1e-9, "{first}");
    // The tidal radius counts the hole's mass.
    let last = |name: &str| value["last"][name].as_f64().unwrap();
    let left = (last("mass") + last("black_hole_mass")) / 1.05;
    let shrunk = value["tidal_radius"].as_f64().unwrap() / value["tidal_radius0"].as_f64().unwrap();
    assert!((shrunk / left.cbrt() - 1.0).abs() < 1e-9, "{shrunk} {left}");
    assert_eq!(value["tidal_radius"], value["last"]["tidal_radius"]);
    run(&["--steps", "30", "--ranks", "3", "--output", &half]);
    for (ranks, threads) in [("1", "2"), ("2", "1"), ("4", "1")] {
        let more = [
            "--ranks",
            ranks,
            "--threads",
            threads,
            "--output",
            &rest,
            "--force",
        ];
        PROGRAM.succeed(&[&["--input", &half, "--steps", "30"], &more[..]].concat());
        assert!(
            folder.text("rest.txt") == folder.text("whole.txt"),
            "{ranks} ranks"
        );
    }
    let same = &start[start
        .iter()
        .position(|word| *word == "--black-hole-mass")
        .unwrap()..][..6];
    assert_eq!(same[5], "0.75");
    let go_on = ["--input", &half, "--steps", "1", "--bodies", &others];
    PROGRAM.succeed(&[&go_on[..], &["--force"], same].concat());
    let space = Snapshot::load(others.as_ref()).unwrap().bodies;
    assert_eq!(space.last().unwrap().index, 1200);
    for (options, words) in [
        (
            ["--black-hole-mass", "36Msun"],
            "--black-hole-mass is not the 0.05",
        ),
        (
            ["--capture-radius", "1e-4"],
            "--capture-radius is not the 0 ",
        ),
        (
            ["--tidal-disruption", "1Rsun"],
            "--tidal-disruption is not the",
        ),
        (
            ["--accreted-fraction", "1"],
            "--accreted-fraction is not the 0.75",
        ),
    ] {
        let all = [&["--input", &half, "--steps", "1"], &options[..]].concat();
        let refusal = PROGRAM.fail(&all);
        assert!(refusal.contains(words), "{refusal}");
    }
    let state = folder.text("half.txt");
    let line = state.lines().find(|line| line.contains(HOLE)).unwrap();
    let (before, words) = line.split_once(HOLE).unwrap();
    let words: Vec<&str> = words.split_whitespace().collect();
    // MASS LAW RADIUS ACCRETED MASS_NOW FEEDING TAKEN TAKEN_MASS TAKEN_ENERGY MEAN_MASS INDEX
    for (place, word, refused) in [
        (0, "-0.05", "--black-hole-mass must be above 0"),
        (4, "0", HOLE),
        (4, "1e300", HOLE),
        (5, "-1", HOLE),
        (7, "-0.1", HOLE),
        (7, "NaN", HOLE),
        (8, "inf", HOLE),
        (9, "0", HOLE),
    ] {
        let mut words = words.clone();
        words[place] = word;
        let broken = format!("{before}{HOLE} {}", words.join(" "));
        std::fs::write(&rest, summed(&state.replace(line, &broken))).unwrap();
        let refusal = PROGRAM.fail(&["--input", &rest, "--steps", "1"]);
        assert!(refusal.contains(refused), "{word} in {place}: {refusal}");
    }
    // A state of an older version has no index of the hole, and one before that no mean mass at the start.
    for count in [10, 9] {
        let older = format!("{before}{HOLE} {}", words[..count].join(" "));
        std::fs::write(&rest, summed(&state.replace(line, &older))).unwrap();
        PROGRAM.succeed(&["--input", &rest, "--steps", "1"]);
    }
}

const HOLE: &str = "monte-carlo.black-hole";

/// What the JSON has besides times, ranks and memory.
fn records(folder: &Folder) -> [serde_json::Value; 3] {
    let value: serde_json::Value = serde_json::from_str(&folder.text("run.json")).unwrap();
    ["records", "last", "black_hole"].map(|name| value[name].clone())
}

/// The limits of mass and radius are those of the stars in a file, whatever its units.
#[test]
fn a_file_in_other_units_has_a_hole_too() {
    let folder = Folder::new("mc-hole-units");
    let [bodies, scaled] = ["bodies.txt", "scaled.txt"].map(|f| folder.file(f));
    PROGRAM.succeed(&["--n", "400", "--steps", "1", "--bodies", &bodies]);
    let mut snapshot = Snapshot::load(bodies.as_ref()).unwrap();
    // 10^5 solar masses and 4 pc, with G = 1.
    let (mass, length) = (1e5_f64, 4.0);
    for body in &mut snapshot.bodies {
        body.mass *= mass;
        body.x = body.x.map(|x| x * length);
        body.v = body.v.map(|v| v * (mass / length).sqrt());
    }
    snapshot.save_as(scaled.as_ref()).unwrap();
    let start = ["--input", &scaled, "--steps", "2", "--black-hole-mass"];
    PROGRAM.succeed(&[&start[..], &["5000", "--capture-radius", "1.5"]].concat());
    for (options, words) in [
        (&["2e8"][..], "at most 1000 times"),
        (&["5000", "--capture-radius", "5"], "virial radius"),
    ] {
        let refusal = PROGRAM.fail(&[&start[..], options].concat());
        assert!(refusal.contains(words), "{refusal}");
    }
}

/// A hole that outweighs the stars has no radius of influence among them.
#[test]
fn the_influence_of_a_heavy_hole_has_no_radius() {
    let folder = Folder::new("mc-heavy-hole");
    let [csv, json] = ["run.csv", "run.json"].map(|f| folder.file(f));
    let start = ["--n", "200", "--steps", "1", "--csv", &csv, "--json", &json];
    let ran = PROGRAM.succeed(&[&start[..], &["--black-hole-mass", "2"]].concat());
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(text.contains("influence beyond all stars"), "{text}");
    let csv = folder.text("run.csv");
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let place = names.iter().position(|name| *name == "influence_radius");
    assert!(lines.all(|line| line[place.unwrap()].is_empty()));
    let value: serde_json::Value = serde_json::from_str(&folder.text("run.json")).unwrap();
    assert!(value["black_hole"]["influence_radius"].is_null());
}

#[test]
fn options_that_make_no_sense_are_refused() {
    assert_refused(&[
        (
            &["--black-hole-mass", "0"],
            "--black-hole-mass must be above 0",
        ),
        (&["--black-hole-mass", "-1"], "--black-hole-mass"),
        (&["--black-hole-mass", "1e9"], "at most 1000 times"),
        (&["--black-hole-mass", "10Msun"], "--units"),
        (&["--black-hole-mass", "1pc"], "Msun"),
        (
            &["--capture-radius", "1e-3"],
            "--capture-radius goes with --black-hole-mass",
        ),
        (
            &["--tidal-disruption", "1e-3"],
            "--tidal-disruption goes with --black-hole-mass",
        ),
        (
            &["--accreted-fraction", "1"],
            "--accreted-fraction goes with --black-hole-mass",
        ),
        (
            &["--black-hole-mass", "0.1", "--capture-radius", "2"],
            "less than the virial radius",
        ),
        (
            &[
                "--black-hole-mass",
                "0.1",
                "--capture-radius",
                "1e-3",
                "--accreted-fraction",
                "1.5",
            ],
            "from 0 to 1",
        ),
        (
            &["--black-hole-mass", "0.1", "--accreted-fraction", "0.5"],
            "takes no stars",
        ),
        (
            &[
                "--black-hole-mass",
                "0.1",
                "--capture-radius",
                "0",
                "--accreted-fraction",
                "0.5",
            ],
            "takes no stars",
        ),
        (
            &[
                "--black-hole-mass",
                "0.1",
                "--capture-radius",
                "1e-3",
                "--tidal-disruption",
                "1e-5",
            ],
            "cannot be used with",
        ),
        (
            &["--black-hole-mass", "0.1", "--cross-check"],
            "cannot be used with",
        ),
        (
            &["--capture-radius", "1e-3", "--report", "paper"],
            "cannot be used with",
        ),
        (
            &["--tidal-disruption", "1e-3", "--report", "paper"],
            "cannot be used with",
        ),
        (
            &["--accreted-fraction", "0.5", "--cross-check"],
            "cannot be used with",
        ),
    ]);
}
