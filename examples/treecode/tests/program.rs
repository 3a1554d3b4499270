//! The program in a process of its own: its output, and its messages about bad input.

mod common;

use std::fs;

use common::PROGRAM;
use kirin_kit::Snapshot;
use kirin_kit::communicator::checkpoint::save;
use kirin_kit::communicator::{Communicator, threads};
use kirin_kit::snapshot::parts::Manifest;
use kirin_testing::Folder;

#[test]
fn the_summary_names_every_figure() {
    let output = PROGRAM.succeed(&["--n", "500", "--t-end", "0.125", "--direct-energy"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for name in [
        "particles",
        "forces",
        "steps",
        "group, list",
        "pairs per step",
        "pairs/s",
        "wall time",
        "time spent",
        "energy error",
        "over all pairs",
        "virial ratio T/|W|",
    ] {
        let row = |line: &str| line.trim_start().starts_with(&format!("{name}  "));
        assert!(text.lines().any(row), "{name}\n{text}");
    }
    for part in ["tree ", "walk ", "transfer ", "force "] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // No terminal, no bar.
    assert!(output.stderr.is_empty());
}

/// Monopole cells lose more of the energy than the steps do.
#[test]
fn the_warning_names_what_helps() {
    let run = "--model collision --n 400 --n-crit 32 --t-end 0.25 --energy-warning 1e-9";
    let run: Vec<_> = run.split(' ').collect();
    for (more, helps) in [
        (&[][..], "--quadrupoles or"),
        (&["--quadrupoles"], "a smaller --theta helps"),
    ] {
        let said = PROGRAM.succeed(&[&run, more].concat()).stderr;
        let said = String::from_utf8(said).unwrap();
        assert!(
            said.contains("of the cluster's T + W") && said.contains(helps),
            "{said}"
        );
    }
    // By default one group has all 400 bodies.
    for direct in [
        &[][..],
        &["--theta", "0"],
        &["--theta", "0", "--quadrupoles"],
        &["--theta", "0", "--ranks", "2"],
    ] {
        let run = "--model collision --n 400 --t-end 0.5 --dt 1/16 --eps 0 --energy-warning 1e-12 --energy-limit none";
        let run: Vec<_> = run.split(' ').collect();
        let said = PROGRAM.succeed(&[&run, direct].concat()).stderr;
        let said = String::from_utf8(said).unwrap();
        assert!(
            said.contains("smaller steps or more softening help"),
            "{said}"
        );
        assert!(!said.contains("theta"), "{said}");
    }
}

/// The bodies of a snapshot keep the softening that they had.
#[test]
fn a_snapshot_tells_the_softening() {
    let folder = Folder::new("treecode-softening");
    let output = folder.file("run.txt");
    let run = ["--n", "100", "--eps", "0.07", "--t-end", "1/8"];
    PROGRAM.succeed(&[&run[..], &["--snapshot-every", "1/8", "--output", &output]].concat());
    let snapshot = folder.file("run.0001.txt");
    for ranks in ["1", "2"] {
        let more = ["--input", &snapshot, "--t-end", "1/4", "--ranks", ranks];
        let output = PROGRAM.succeed(&more);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, "treecode: softening 0.07, which is the input's\n");
        assert!(String::from_utf8_lossy(&output.stdout).contains("0.0700"));
    }
    // The state of a run has its own.
    assert!(
        PROGRAM
            .succeed(&["--input", &output, "--t-end", "1/4"])
            .stderr
            .is_empty()
    );
}

#[test]
fn the_json_holds_every_figure() {
    let run = [
        "--n", "600", "--t-end", "0.25", "--n-crit", "64", "--dt", "1/32",
    ];
    for engine in [&[][..], &["--host"], &["--quadrupoles"]] {
        let figures = PROGRAM.figures("tree-json", &[&run[..], engine].concat());
        let number = |key: &str| figures[key].as_f64().unwrap_or_else(|| panic!("{key}"));
        assert_eq!(
            (number("n"), number("n_crit"), number("steps")),
            (600.0, 64.0, 8.0)
        );
        assert_eq!(number("dt"), 1.0 / 32.0);
        assert_eq!(number("evaluations"), 9.0);
        assert!(number("groups") >= 9.0 * 600.0 / 64.0);
        assert!(number("pairs") > 600.0 * 9.0 * 64.0 && number("pairs") < 600.0 * 9.0 * 1800.0);
        assert!(number("energy_error") < 1e-3);
        let split = figures["time_split"].as_object().unwrap();
        assert_eq!(split.len(), 4);
        let transfer = figures["time_split"]["transfer"].as_f64().unwrap();
        assert_eq!(transfer == 0.0, engine == ["--host"]);
        for key in ["backend", "precision", "library", "model"] {
            assert!(
                figures[key].as_str().is_some_and(|s| !s.is_empty()),
                "{key}"
            );
        }
    }
}

#[test]
fn plots_and_snapshots_are_written() {
    let folder = Folder::new("tree-plots");
    let [svg, png, out] = ["a.svg", "a.png", "a.txt"].map(|name| folder.file(name));
    let run = [
        "--model", "sphere", "--n", "300", "--t-end", "0.25", "--plot",
    ];
    PROGRAM.succeed(&[&run[..], &[&svg, "--output", &out]].concat());
    PROGRAM.succeed(&[&run[..], &[&png, "--every", "0.1"]].concat());
    for words in [
        "Cold uniform sphere",
        "Energy error",
        "90 %",
        "Milliseconds",
        "transfer",
    ] {
        assert!(folder.text("a.svg").contains(words), "{words}");
    }
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    let snapshot = Snapshot::parse(folder.text("a.txt").as_bytes()).unwrap();
    assert_eq!((snapshot.time, snapshot.bodies.len()), (0.25, 300));
    assert!(
        (0..)
            .zip(&snapshot.bodies)
            .all(|(index, b)| b.index == index)
    );
}

/// The mass of all is the unit of mass, and half the distance of the two that of length.
#[test]
fn a_table_in_solar_masses_parsecs_and_km_s_is_brought_to_units() {
    let folder = Folder::new("tree-physical");
    let table = folder.file("pair.csv");
    let text = "m,x,y,z,vx,vy,vz\n500,-2,0,0,0,0,0\n500,2,0,0,0,0,0\n";
    fs::write(&table, text).unwrap();
    let input = ["--input", &table, "--physical"];
    let run = ["--eps", "0.01pc", "--t-end", "1/1024"];
    let figures = PROGRAM.figures("tree-physical-json", &[&input[..], &run].concat());
    let units = &figures["units"];
    assert_eq!(
        (&units["solar_masses"], &units["pc"]),
        (&1000.0.into(), &2.0.into())
    );
    assert_eq!(figures["eps"], 0.005);
}

/// Units are read, are in all files, and are kept by a run that goes on.
#[test]
fn units_are_read_and_written() {
    let folder = Folder::new("tree-units");
    let [csv, svg, out, json] = ["a.csv", "a.svg", "a.txt", "a.json"].map(|name| folder.file(name));
    let model = ["--n", "64", "--units", "1000Msun,1pc", "--eps", "0.01pc"];
    let files = ["--csv", &csv, "--plot", &svg, "--output", &out];
    let times = [
        "--t-end",
        "0.1Myr",
        "--every",
        "0.02Myr",
        "--snapshot-every",
        "0.1Myr",
    ];
    let figures = PROGRAM.figures("tree-units-json", &[&model[..], &files, &times].concat());
    assert_eq!(figures["eps"], 0.01);
    let myr = figures["units"]["myr"].as_f64().unwrap();
    assert!((figures["time"].as_f64().unwrap() * myr - 0.1).abs() < 1e-12);
    let text = folder.text("a.csv");
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = names.iter().position(|name| *name == "time_myr").unwrap();
    let last = text.lines().last().unwrap().split(',').nth(place).unwrap();
    assert!((last.parse::<f64>().unwrap() - 0.1).abs() < 1e-12, "{last}");
    assert!(names.contains(&"lagrangian_50_pc"));
    for words in ["time in Myr", "x in pc"] {
        assert!(folder.text("a.svg").contains(words), "{words}");
    }
    // The snapshot's units mean something to a run that goes on, and to another program.
    let goes_on = ["--input", &out, "--t-end", "0.2Myr", "--json", &json];
    let output = PROGRAM.succeed(&goes_on);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("(0.2000 Myr)") && table.contains(" pc)"),
        "{table}"
    );
    for name in ["a.txt", "a.0001.txt"] {
        let snapshot = Snapshot::parse(folder.text(name).as_bytes()).unwrap();
        assert_eq!(
            snapshot.value("galaxy.field"),
            Some("none 1000.0 1.0 0.0 0.0")
        );
    }
}

/// Bodies of a run in a galaxy or around a black hole, whose field this program does not have.
#[test]
fn bodies_in_a_field_are_refused() {
    let folder = Folder::new("tree-field");
    let path = folder.file("in.txt");
    for (field, is_refused) in [
        ("irrgang 16000.0 2.0 0.0 0.0", true),
        ("none 1000.0 1.0 1.0 0.0", true),
        ("none 1000.0 1.0 0.0 0.0", false),
    ] {
        let text = format!(
            "kirin-snapshot 1\nn 2\ntime 0\nrun.eps 0.1\ngalaxy.field {field}\ncolumns index mass x y z vx vy vz\n0 0.5 1 0 0 0 0 0\n1 0.5 -1 0 0 0 0 0\nend\n"
        );
        fs::write(&path, text).unwrap();
        let command = ["--input", &path, "--t-end", "0.25", "--dt", "0.125"];
        if is_refused {
            let refusal = PROGRAM.fail(&command);
            assert!(
                refusal.contains("hermite, parallel and symplectic do"),
                "{refusal}"
            );
        } else {
            PROGRAM.succeed(&command);
        }
    }
}

#[test]
fn a_run_in_two_parts_has_the_bits_of_one() {
    let folder = Folder::new("tree-resume");
    let [half, again, whole] = ["half", "again", "whole"].map(|name| folder.file(name));
    // A step whose multiples are rounded; a resumed run knows its settings.
    let settings = ["--n-crit", "32", "--theta", "0.6", "--dt", "0.01"];
    let model = [&["--model", "collision", "--n", "400"], &settings[..]].concat();
    let run = |more: &[&str]| PROGRAM.succeed(more);
    run(&[&model[..], &["--t-end", "0.5", "--output", &whole]].concat());
    run(&[&model[..], &["--t-end", "0.23", "--output", &half]].concat());
    let second = ["--t-end", "0.5", "--output", &again, "--direct-energy"];
    let said = run(&[&["--input", &half], &second[..]].concat()).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("(energy error since t = 0.23)"), "{said}");
    let [whole, again] =
        ["whole", "again"].map(|name| Snapshot::parse(folder.text(name).as_bytes()).unwrap());
    assert_eq!(whole.time.to_bits(), again.time.to_bits());
    assert!(whole.bodies == again.bodies);
    for key in [
        "treecode.settings",
        "treecode.grid",
        "run.energy0",
        "run.model",
    ] {
        assert!(whole.value(key).is_some(), "{key}");
        assert_eq!(whole.value(key), again.value(key));
    }
    assert_eq!(whole.value("treecode.grid"), Some("0.0 50"));
}

/// A run on two ranks, and its second half on other numbers of them.
#[test]
fn any_number_of_ranks_has_the_bits_of_one() {
    let folder = Folder::new("tree-ranks");
    let [one, half, end] = ["one", "half", "end"].map(|name| folder.file(name));
    let model = "--model collision --n 700 --n-crit 32 --quadrupoles";
    let model: Vec<_> = model.split(' ').collect();
    let run = |more: &[&str]| PROGRAM.succeed(more);
    run(&[&model[..], &["--t-end", "0.5", "--output", &one]].concat());
    let whole = Snapshot::parse(folder.text("one").as_bytes()).unwrap();
    let two = ["--ranks", "2", "--t-end", "0.25", "--output", &half];
    let output = run(&[&model[..], &two].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    for name in ["ranks  ", "of a rank  ", "received  ", "balance  "] {
        let is_row = |line: &str| line.trim_start().starts_with(name);
        assert!(text.lines().any(is_row), "{name}\n{text}");
    }
    assert!(text.contains("exchange "), "{text}");
    for ranks in ["1", "2", "3"] {
        run(&[
            "--input", &half, "--ranks", ranks, "--t-end", "0.5", "--output", &end, "--force",
        ]);
        let again = Snapshot::parse(folder.text("end").as_bytes()).unwrap();
        assert_eq!(again.time, 0.5);
        assert!(again.bodies == whole.bodies, "{ranks} ranks");
    }
}

/// Each rank writes its share of the state, and any number of ranks goes on from it with the bits of one.
#[test]
fn a_state_in_parts_goes_on_with_the_bits_of_one_rank() {
    let folder = Folder::new("tree-parts");
    let [one, half, end] = ["one", "half", "end"].map(|name| folder.file(name));
    let model: Vec<_> = "--model collision --n 700 --n-crit 32".split(' ').collect();
    let run = |more: &[&str]| PROGRAM.succeed(more);
    run(&[&model[..], &["--t-end", "0.5", "--output", &one]].concat());
    let whole = Snapshot::load(one.as_ref()).unwrap();
    for ranks in 1..=8 {
        let (ranks, others) = (ranks.to_string(), (9 - ranks).to_string());
        let first = [
            "--parts", "--ranks", &ranks, "--t-end", "0.25", "--output", &half, "--force",
        ];
        run(&[&model[..], &first].concat());
        let manifest = Manifest::at(half.as_ref()).unwrap();
        assert_eq!((manifest.n, manifest.parts.len().to_string()), (700, ranks));
        // Then on another number of ranks, in place, to the end.
        run(&["--input", &half, "--ranks", &others, "--t-end", "0.375"]);
        run(&[
            "--input", &half, "--ranks", "3", "--t-end", "0.5", "--output", &end,
        ]);
        let manifest = Manifest::at(end.as_ref()).unwrap();
        assert_eq!(manifest.parts.len(), 3, "it keeps to parts");
        let again = Snapshot::load(end.as_ref()).unwrap();
        assert!(again.bodies == whole.bodies, "{others} ranks");
        for path in [&half, &end] {
            Manifest::at(path.as_ref()).unwrap().remove(path.as_ref());
            fs::remove_file(path).unwrap();
        }
        // No state that was replaced has left a file.
        assert_eq!(fs::read_dir(folder.file("")).unwrap().count(), 1);
    }
    let run = [
        "--parts", "--ranks", "2", "--t-end", "0.25", "--output", &half,
    ];
    PROGRAM.succeed(&[&model[..], &run].concat());
    let two = ["--ranks", "2", "--t-end", "0.5"];
    let input = ["--input", &half];
    let said = PROGRAM.fail(&[&input[..], &two, &["--eps", "0"]].concat());
    assert_eq!(said.matches("--eps 0").count(), 1, "{said}");
    // A body of the second part at another time: all ranks find it, and it is told once.
    let moved = folder.file("moved");
    let manifest = Manifest::at(half.as_ref()).unwrap();
    let (bodies, mut states) = manifest.read(half.as_ref(), 0..700).unwrap();
    states[500].t = 0.125;
    let head = Snapshot::parse(folder.text("half").as_bytes()).unwrap();
    let head = Snapshot {
        run: head
            .run
            .into_iter()
            .filter(|(key, _)| !key.starts_with("parts."))
            .collect(),
        ..head
    };
    let saved = threads::run(2, |world| {
        let own = [0..350, 350..700][world.rank()].clone();
        save(
            &world,
            moved.as_ref(),
            head.clone(),
            (&bodies[own.clone()], &states[own]),
        )
    });
    assert!(saved.unwrap().iter().all(Result::is_ok));
    let said = PROGRAM.fail(&[&["--input", &moved][..], &two].concat());
    assert_eq!(
        said.matches("rank 1: the bodies are at times of their own")
            .count(),
        1,
        "{said}"
    );
    let lost = format!("{half}.0.1");
    fs::remove_file(&lost).unwrap();
    let said = PROGRAM.fail(&["--input", &half, "--ranks", "3", "--t-end", "0.5"]);
    assert_eq!(said.matches(&lost).count(), 1, "{said}");
}

#[test]
fn the_json_holds_what_ranks_exchange() {
    let run = "--n 2000 --n-crit 64 --t-end 1/8 --ranks 3 --direct-energy";
    let run: Vec<_> = run.split(' ').collect();
    for engine in [&[][..], &["--host"]] {
        let figures = PROGRAM.figures("tree-ranks-json", &[&run[..], engine].concat());
        assert_eq!(
            (&figures["n"], &figures["ranks"]),
            (&2000.into(), &3.into())
        );
        let most = |key: &str| figures["most_of_a_rank"][key].as_f64().unwrap();
        assert!((667.0..1500.0).contains(&most("particles")));
        assert!(most("foreign_particles") < 1334.0);
        assert!(most("bytes_received_per_step") > 1e4);
        assert!(most("least_pairs") <= 1.0 && most("most_pairs") >= 1.0);
        assert!(figures["energy_error"].as_f64().unwrap() < 1e-3);
        assert!(figures["direct_energy_error"].as_f64().unwrap() < 1e-3);
        assert!(figures["time_split"]["exchange"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn the_table_of_two_machines_has_a_row_for_each_published_one() {
    let folder = Folder::new("tree-machines");
    let json = folder.file("table.json");
    let table = "--report thesis --ranks 2 --largest 512 --t-end 1/16 --json";
    let table: Vec<_> = table.split(' ').chain([&*json]).collect();
    let text = String::from_utf8(PROGRAM.succeed(&table).stdout).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(" | ")).collect();
    assert_eq!(rows.len(), 3, "{text}");
    let cells: Vec<&str> = rows[2].split('|').map(str::trim).collect();
    assert_eq!(cells[1..5], ["512", "0.55", "0.62", "0.89"]);
    assert_eq!(cells[13], "same", "{text}");
    let json: serde_json::Value = serde_json::from_str(&folder.text("table.json")).unwrap();
    assert_eq!(json["rows"][1]["n"], 512);
    assert_eq!(json["rows"][1]["same_bits"], true);
    assert!(json["rows"][1]["all"]["wall"].as_f64().unwrap() > 0.0);
}

/// Groups of any size in parts of any size: no bit depends on the pipelines or the threads.
#[test]
fn pipelines_and_threads_change_no_bit() {
    let folder = Folder::new("tree-bits");
    let run = [
        "--n", "1500", "--n-crit", "700", "--t-end", "0.0625", "--output",
    ];
    let mut texts = Vec::new();
    for (npipes, threads) in [("2", "1"), ("48", "2"), ("16384", "3")] {
        let name = format!("{npipes}.txt");
        let status = PROGRAM
            .command(&[&run[..], &[&folder.file(&name)]].concat())
            .envs([("KIRIN_NPIPES", npipes), ("KIRIN_THREADS", threads)])
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap()
            .status;
        assert!(status.success());
        // The bodies; the lines before them hold seconds, and the last one a checksum of all.
        let text = folder.text(&name);
        let bodies = text.find("columns").unwrap()..text.rfind("end").unwrap();
        texts.push(text[bodies].to_owned());
    }
    assert!(texts[0] == texts[1] && texts[1] == texts[2]);
}

#[test]
fn the_thesis_table_has_a_row_for_each_published_one() {
    let folder = Folder::new("tree-thesis");
    let json = folder.file("table.json");
    let table = [
        "--report",
        "thesis",
        "--largest",
        "512",
        "--t-end",
        "1/16",
        "--json",
        &json,
    ];
    let [output, plot] = ["table.md", "table.svg"].map(|name| folder.file(name));
    for more in [&[][..], &["--host", "--output", &output, "--plot", &plot]] {
        let stdout = PROGRAM.succeed(&[&table[..], more].concat()).stdout;
        let text = match more {
            [] => String::from_utf8(stdout).unwrap(),
            _ => folder.text("table.md"),
        };
        let rows: Vec<&str> = text.lines().filter(|line| line.contains(" | ")).collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert!(rows[0].contains("GRAPE-6Af") && rows[0].contains("pairs/step"));
        let cells: Vec<&str> = rows[2].split('|').map(str::trim).collect();
        assert_eq!(cells[1..6], ["512", "1.25", "0.47", "0.46", "0.78"]);
        assert!(cells[6].parse::<f64>().unwrap() > 0.0);
        let json: serde_json::Value = serde_json::from_str(&folder.text("table.json")).unwrap();
        assert_eq!(json["rows"][1]["n"], 512);
        assert!(json["rows"][1]["seconds"]["median"].as_f64().unwrap() > 0.0);
    }
    assert!(folder.text("table.svg").contains("GRAPE"));
}

#[test]
fn bad_input_is_refused_before_the_run() {
    let folder = Folder::new("tree-bad");
    let bodies = "kirin-snapshot 1\nn 1\ncolumns mass x y z vx vy vz";
    let moving =
        format!("{bodies} t dt ax ay az jx jy jz\n1 0 0 0 0 0 0 0.5 0.125 0 0 0 0 0 0\nend\n");
    let energy = bodies.replace("columns", "run.energy0 x\ncolumns") + "\n1 0 0 0 0 0 0\nend\n";
    fs::write(folder.file("moving.txt"), moving).unwrap();
    fs::write(folder.file("energy.txt"), energy).unwrap();
    let [moving, energy, csv] = ["moving.txt", "energy.txt", "a.csv"].map(|name| folder.file(name));
    for (arguments, words) in [
        (&["--plot", "a.pdf"][..], ".svg or .png"),
        (&["--output", "/no/such/folder/a.txt"], "no such folder"),
        (&["--theta", "2"], "opening angle"),
        (&["--dt", "0"], "step"),
        (&["--n-crit", "0"], "at least one"),
        (&["--ranks", "0"], "--ranks"),
        // Each of several ranks finds it, and it is told once.
        (&["--ranks", "2", "--theta", "2"], "opening angle"),
        (&["--ranks", "2", "--t-end", "0"], "--t-end"),
        (&["--ranks", "2", "--input", &energy], "run.energy0 x"),
        (&["--model", "disc"], "--model"),
        (&["--host", "--library", "a.so"], "--library"),
        (&["--library", "/no/such/libg6.so"], "libg6.so"),
        (&["--t-end", "0"], "--t-end"),
        // Units have no meaning without an option that gives them one.
        (&["--t-end", "500Myr"], "Myr is a part; --units"),
        (&["--every", "10Myr", "--csv", &csv], "--units"),
        (&["--eps", "0.01pc"], "--units"),
        (&["--units", "1000"], "1e4Msun,3pc"),
        (&["--report", "thesis", "--units", "1000,1"], "--units"),
        (
            &["--parts", "--output", "a.hdf5"],
            "a.hdf5: --parts writes a text",
        ),
        (&["--parts"], "--parts needs --output"),
        (&["--report", "thesis", "--parts"], "--parts"),
        (&["--report", "thesis", "--n", "9"], "--n"),
        (&["--report", "thesis", "--n-crit", "9"], "--n-crit"),
        (&["--report", "thesis", "--plot", "a.pdf"], ".svg or .png"),
        (&["--report", "thesis", "--theta", "2"], "opening angle"),
        (&["--largest", "9"], "--report"),
        (&["--input", &moving], "times of their own"),
        (&["--input", &energy], "run.energy0 x"),
    ] {
        let refusal = PROGRAM.fail(arguments);
        assert!(refusal.contains(words), "{arguments:?}: {refusal}");
    }
}

/// After 17 steps a fast particle has no finite position any more: what was reached before is kept.
#[test]
fn a_run_that_fails_keeps_what_it_has_reached() {
    let folder = Folder::new("tree-fails");
    let [table, out] = ["table", "out"].map(|name| folder.file(name));
    let mut text = "m x y z vx vy vz\n1 0 0 0 0 0 0\n1e-300 1 0 0 1e154 0 0\n".to_owned();
    for k in 0..40 {
        text += &format!("0 {} {} 3 0 0 0\n", k % 7, 5 + k);
    }
    fs::write(&table, text).unwrap();
    for ranks in ["1", "2", "3"] {
        let run = "--eps 0.01 --dt 1e153 --n-crit 8 --t-end 1e155 --force --energy-limit 1e300";
        let mut arguments: Vec<_> = run.split(' ').collect();
        arguments.extend(["--ranks", ranks, "--input", &table, "--output", &out]);
        let said = PROGRAM.fail(&arguments);
        assert_eq!(
            said.matches("the position of particle 1 is not a finite number")
                .count(),
            1,
            "{ranks} ranks: {said}"
        );
        assert!(said.contains("the run up to t = "), "{said}");
        let kept = Snapshot::parse(folder.text("out").as_bytes()).unwrap();
        assert!(kept.time > 0.0 && kept.bodies.len() == 42, "{}", kept.time);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_written_is_an_error() {
    PROGRAM.assert_needs_stdout(&["--n", "32", "--t-end", "1/64"], 1);
}
