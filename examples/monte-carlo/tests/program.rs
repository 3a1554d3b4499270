//! The program in a process of its own: the same file on any number of ranks and threads, runs continued on any
//! other number, bad input refused.

mod common;

use std::fs;
use std::process::Stdio;

use common::PROGRAM;
use kirin_kit::{Snapshot, models};
use kirin_testing::{Folder, summed};

/// Section 4.1 of the paper, with nothing left to emulate: not a byte differs. Light stars among heavy ones do not get a new position in every step.
#[test]
fn any_number_of_ranks_and_threads_gives_the_same_file() {
    let folder = Folder::new("mc-bits");
    let [out, csv] = ["out.txt", "out.csv"].map(|f| folder.file(f));
    for (n, masses) in [("10000", "equal"), ("3000", "kroupa")] {
        let mut expected = None;
        for (ranks, threads) in [("1", "1"), ("1", "2"), ("2", "1"), ("3", "1"), ("4", "2")] {
            let model = ["--n", n, "--mass-function", masses, "--steps", "50"];
            let world = ["--ranks", ranks, "--threads", threads];
            let files = ["--output", &out, "--csv", &csv, "--force"];
            PROGRAM.succeed(&[&model[..], &world, &files].concat());
            let found = (fs::read(&out).unwrap(), folder.text("out.csv"));
            let expected = expected.get_or_insert_with(|| found.clone());
            assert!(
                found == *expected,
                "{masses}, {ranks} ranks of {threads} threads"
            );
        }
    }
}

/// A run that goes on has the number of its steps, by which chance decides who gets a new position.
#[test]
fn a_run_with_many_masses_goes_on_with_the_same_bits() {
    let folder = Folder::new("mc-resume-masses");
    let [whole, half, rest] = ["whole.txt", "half.txt", "rest.txt"].map(|f| folder.file(f));
    let model = ["--n", "1000", "--mass-function", "kroupa"];
    PROGRAM.succeed(&[&model[..], &["--steps", "40", "--output", &whole]].concat());
    PROGRAM.succeed(&[&model[..], &["--steps", "15", "--output", &half]].concat());
    PROGRAM.succeed(&[
        "--input", &half, "--steps", "25", "--ranks", "2", "--output", &rest,
    ]);
    assert!(folder.text("rest.txt") == folder.text("whole.txt"));
}

/// With escapes and collisions, by which bins go from rank to rank.
#[test]
fn a_run_goes_on_on_another_number_of_ranks() {
    goes_on_on_another_number_of_ranks("0");
}

#[test]
fn a_run_with_three_encounters_a_step_goes_on_too() {
    goes_on_on_another_number_of_ranks("3");
}

fn goes_on_on_another_number_of_ranks(encounters: &str) {
    let folder = Folder::new(&format!("mc-resume-{encounters}"));
    let [whole, half, rest] = ["whole.txt", "half.txt", "rest.txt"].map(|f| folder.file(f));
    let start = [
        "--n",
        "1000",
        "--stellar-radius",
        "2e-3",
        "--mass-function",
        "kroupa",
        "--encounters",
        encounters,
        // It is not to end before.
        "--core-stars",
        "0",
    ];
    let run = |more: &[&str]| PROGRAM.succeed(&[&start[..], more].concat());
    run(&["--steps", "120", "--output", &whole]);
    run(&["--steps", "60", "--ranks", "3", "--output", &half]);
    let text = folder.text("half.txt");
    let n = Snapshot::parse(text.as_bytes()).unwrap().bodies.len();
    assert!(n < 980, "bins have gone: {n} stars");
    for ranks in ["1", "2", "5"] {
        PROGRAM.succeed(&[
            "--input", &half, "--steps", "60", "--ranks", ranks, "--output", &rest, "--force",
        ]);
        assert!(
            folder.text("rest.txt") == folder.text("whole.txt"),
            "{ranks} ranks"
        );
    }
}

/// Killed or interrupted, a run needs nothing but its state: it comes to the same end with the same files.
#[cfg(unix)]
#[test]
fn a_resumed_run_keeps_what_it_was_told() {
    let folder = Folder::new("mc-told");
    let files = |name: &str| {
        ["txt", "csv", "svg", "json", "space.txt"].map(|e| folder.file(&format!("{name}.{e}")))
    };
    let start = |name: &str, more: &[&str]| {
        let [output, csv, svg, json, bodies] = files(name);
        let model = [
            "--n", "3000", "--seed", "5", "--t-end", "3", "--every", "1/4",
        ];
        let told = [
            "--csv", &csv, "--plot", &svg, "--json", &json, "--bodies", &bodies,
        ];
        let ends = [
            "--output",
            &output,
            "--snapshot-every",
            "1",
            "--core-stars",
            "20",
        ];
        let mut command = PROGRAM.command(&[&model[..], &told, &ends, more].concat());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    assert!(start("whole", &[]).wait().unwrap().success());
    for (signal, status) in [("KILL", None), ("TERM", Some(130))] {
        let name = signal.to_lowercase();
        let [output, csv, ..] = files(&name);
        let mut child = start(&name, &["--checkpoint-every", "1/8"]);
        while !fs::exists(&output).unwrap() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let process = child.id().to_string();
        let mut kill = std::process::Command::new("kill");
        assert!(
            kill.args(["-s", signal, &process])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(child.wait().unwrap().code(), status);
        fs::remove_file(&csv).unwrap();
        let first = Snapshot::load(output.as_ref()).unwrap();
        PROGRAM.succeed(&["--input", &output]);
        let last = Snapshot::load(output.as_ref()).unwrap();
        assert!(first.time < last.time, "{signal}: it was interrupted");
        for end in ["csv", "space.txt", "0001.txt", "0003.txt"] {
            let [one, other] = [&name, "whole"].map(|name| folder.text(&format!("{name}.{end}")));
            assert!(one == other, "{signal}: {end}");
        }
        let whole = Snapshot::load(files("whole")[0].as_ref()).unwrap();
        assert!(last.bodies == whole.bodies && last.time == whole.time);
        assert!(folder.text(&format!("{name}.svg")).starts_with("<svg"));
        assert!(folder.text(&format!("{name}.json")).contains("\"seed\": 5"));
        let refusal = PROGRAM.fail(&["--input", &output]);
        assert!(refusal.contains("--t-end must be later"), "{refusal}");
    }
}

/// The number of steps is that of the whole run; a state from before what was told is kept can be read, too.
#[test]
fn an_end_by_steps_is_kept_until_it_is_reached() {
    let folder = Folder::new("mc-steps");
    let output = folder.file("run.txt");
    let steps = || {
        let state = Snapshot::load(output.as_ref()).unwrap();
        let past = state.value("monte-carlo.past").unwrap();
        past.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
    };
    PROGRAM.succeed(&["--n", "300", "--steps", "9", "--output", &output]);
    let text = folder
        .text("run.txt")
        .replacen("last-step 9", "last-step 15", 1);
    fs::write(&output, summed(&text)).unwrap();
    PROGRAM.succeed(&["--input", &output]);
    assert_eq!(steps(), 15);
    PROGRAM.succeed(&["--input", &output, "--steps", "4"]);
    assert_eq!(steps(), 19);
    let old: Vec<&str> = text
        .lines()
        .filter(|l| !l.starts_with("monte-carlo.told"))
        .collect();
    fs::write(&output, summed(&(old.join("\n") + "\n"))).unwrap();
    PROGRAM.succeed(&["--input", &output, "--steps", "2", "--output", &output]);
    assert_eq!(steps(), 11);
    let senseless = text.replacen("last-step 15", "last-step soon", 1);
    fs::write(&output, summed(&senseless)).unwrap();
    let refusal = PROGRAM.fail(&["--input", &output]);
    assert!(
        refusal.contains("monte-carlo.told") && refusal.contains("soon"),
        "{refusal}"
    );
}

#[test]
fn bad_input_is_refused_with_the_reason() {
    let folder = Folder::new("mc-refusals");
    let [good, bad] = ["good.txt", "bad.txt"].map(|f| folder.file(f));
    PROGRAM.succeed(&["--n", "200", "--steps", "3", "--output", &good]);
    let good = folder.text("good.txt");
    let end = good.rfind("end ").unwrap();
    let unsummed = format!("{}end\n", &good[..end]);
    let text = good.clone();
    let columns = text.find("\ncolumns").unwrap() + 1;
    let first = columns + text[columns..].find('\n').unwrap() + 1;
    let star = text[first..].lines().next().unwrap();
    let line = text[..first].lines().count() + 1;
    let words: Vec<&str> = star.split(' ').collect();
    let with = |place: usize, word: &str| {
        let mut words = words.clone();
        words[place] = word;
        summed(&text.replacen(star, &words.join(" "), 1))
    };
    let here = format!("line {line}: ");
    let few = "kirin-snapshot 1\nn 3\ncolumns mass x y z vx vy vz\n1 0 0 1 0 0 0\n1 0 1 0 0 0 0\n1 1 0 0 0 0 0\nend\n";
    for (input, words) in [
        (with(1, "-0.5"), vec![&*here, "the mass -0.5 is negative"]),
        (with(1, "NaN"), vec![&here, "not finite"]),
        (with(5, "NaN"), vec![&here, "not finite"]),
        (with(1, "0.0"), vec!["body 1 ", "mass"]),
        (with(2, "-1.0"), vec!["body 1 ", "no star of a run"]),
        // Finite, and their squares are not: such a run would never end.
        (with(2, "1e308"), vec!["body 1 ", "no star of a run"]),
        (with(5, "1e308"), vec!["body 1 ", "no star of a run"]),
        (with(6, "1e308"), vec!["body 1 ", "no star of a run"]),
        (
            few.replacen("1 0 0 1 0", "1 0 0 1 1e308", 1),
            vec!["body 1 ", "between"],
        ),
        (
            summed(&text.replace("monte-carlo.settings", "hermite.settings")),
            vec!["another program", "hermite.settings"],
        ),
        (
            summed(&text.replacen("monte-carlo.past ", "monte-carlo.past x", 1)),
            vec!["monte-carlo.past x"],
        ),
        (
            summed(&text.replacen("monte-carlo.streams ", "monte-carlo.streams 0", 1)),
            vec!["monte-carlo.streams 0"],
        ),
        (
            good.replacen(star, &words[1..].join(" "), 1),
            vec!["damaged"],
        ),
        (unsummed.replace("end\n", ""), vec!["without `end`"]),
        (unsummed.clone(), vec!["checksum", "missing"]),
        (
            summed(&text.replacen(" 3 200 ", " 0 200 ", 1)),
            vec!["later step"],
        ),
        (few.to_owned(), vec!["3 stars", "100 at least"]),
    ] {
        fs::write(&bad, input).unwrap();
        for ranks in ["1", "2"] {
            let refusal = PROGRAM.fail(&["--input", &bad, "--ranks", ranks]);
            assert!(
                words.iter().all(|w| refusal.contains(w)),
                "{words:?}: {refusal}"
            );
            assert!(refusal.contains("bad.txt"), "{refusal}");
            assert_eq!(refusal.lines().count(), 1, "{refusal}");
        }
    }
    // Allowed, and beyond what doubles can add: the run ends.
    fs::write(&bad, with(1, "1e15")).unwrap();
    PROGRAM.succeed(&["--input", &bad, "--steps", "2"]);
    for (arguments, words) in [
        (&["--n", "99"][..], "100 at least"),
        (&["--n", "1000", "--model", "collision"], "equilibrium"),
        (&["--n", "1000", "--theta-max", "0"], "--theta-max"),
        (&["--n", "1000", "--encounters", "1001"], "--encounters"),
        (&["--input", "/no/such/file"], "/no/such/file"),
        (&["--w0", "20", "--model", "king"], "--w0"),
        (&["--t-end", "0", "--n", "200"], "--t-end"),
        (&["--cross-check", "--t-end", "0.4"], "nothing to check"),
        (&["--n", "200", "--frames", "film"], "no film"),
        (&["--cross-check", "--frames", "film"], "no film"),
        (&["--cross-check", "--model", "sphere"], "equilibrium"),
        (
            &["--cross-check", "--stop-after", "1s"],
            "cannot be used with",
        ),
        (
            &["--cross-check", "--minutes", "1"],
            "--minutes needs --report",
        ),
        (
            &["--cross-check", "--binary-periods", "opik"],
            "--binary-periods needs --binary-fraction",
        ),
    ] {
        let refusal = PROGRAM.fail(arguments);
        assert!(refusal.contains(words), "{arguments:?}: {refusal}");
    }
}

/// A core of few stars, or a small one, would end the run before its first step.
#[test]
fn a_core_that_has_collapsed_at_the_start_is_refused() {
    let folder = Folder::new("mc-core");
    let csv = folder.file("run.csv");
    let model = ["--n", "100", "--t-end", "1", "--csv", &csv];
    let refused = |more: &[&str], words: &str| {
        let refusal = PROGRAM.fail(&[&model[..], more].concat());
        assert!(refusal.contains(words), "{refusal}");
        assert!(fs::metadata(&csv).is_err(), "{more:?}");
    };
    refused(&[], "the core has 22 stars at the start");
    refused(&["--ranks", "2"], "--core-stars");
    refused(
        &["--core-stars", "10", "--core-radius", "1"],
        "--core-radius",
    );
    PROGRAM.succeed(&[&model[..], &["--core-stars", "10", "--steps", "1"]].concat());
    // A run that goes on may find its collapse at once.
    let state = folder.file("run.txt");
    PROGRAM.succeed(&["--n", "200", "--steps", "2", "--output", &state]);
    let told = PROGRAM.succeed(&["--input", &state, "--core-stars", "1000"]);
    let table = String::from_utf8(told.stdout).unwrap();
    assert!(table.contains("core collapse"), "{table}");
}

/// Relaxation does not stop or turn round where gamma N is small.
#[test]
fn a_coulomb_logarithm_of_1_is_told() {
    let told = |gamma: &str| {
        let arguments = ["--n", "1000", "--steps", "1", "--gamma", gamma];
        let output = PROGRAM.command(&arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let line = told("1e-9");
    assert!(line.contains("ln(gamma N) is -13.82"), "{line}");
    assert_eq!(told("0.003"), "");
}

/// Stars end by their masses: those drawn from the mass function, if the unit of mass is that of all drawn stars.
#[test]
fn evolving_stars_of_other_masses_are_told() {
    let model = ["--n", "200", "--mass-function", "kroupa", "--steps", "1"];
    let evolving = [&model[..], &["--stellar-evolution", "0.02", "--units"]].concat();
    let refusal = PROGRAM.fail(&[&evolving[..], &["1e4Msun,1pc"]].concat());
    let drawn = refusal.split(" solar masses").next().unwrap();
    let drawn: f64 = drawn.split(' ').next_back().unwrap().parse().unwrap();
    let said = |mass: f64| {
        let units = format!("{mass}Msun,1pc");
        let output = PROGRAM.succeed(&[&evolving[..], &[&units]].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(said(drawn), "");
    for factor in [0.9, 1.1] {
        let remark = said(factor * drawn);
        let words = format!("have {factor:.3} times the masses drawn");
        assert!(remark.contains(&words), "{remark}");
    }
}

/// The other files are there all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_written_is_an_error() {
    let folder = Folder::new("mc-full");
    let json = folder.file("run.json");
    PROGRAM.assert_needs_stdout(&["--n", "200", "--steps", "1", "--json", &json], 1);
    assert!(folder.text("run.json").contains("\"steps\""));
}

/// An output that holds something else is kept; so is a later state of the same run.
#[test]
fn another_run_is_not_replaced() {
    let folder = Folder::new("mc-replaced");
    let output = folder.file("run.txt");
    let run = |n, seed| {
        [
            "--n",
            n,
            "--seed",
            seed,
            "--steps",
            "2",
            "--core-stars",
            "0",
            "--output",
            &output,
        ]
    };
    let at_start = [&run("160", "1")[..], &["--stop-after", "0.000001s"]].concat();
    let stopped = PROGRAM.command(&at_start).output().unwrap();
    assert_eq!(stopped.status.code(), Some(75));
    let first = folder.text("run.txt");
    for other in [run("170", "1"), run("160", "9")] {
        let refusal = PROGRAM.fail(&other);
        for part in ["run.txt", "of 160 stars, seed 1", "--force"] {
            assert!(refusal.contains(part), "{refusal}");
        }
        assert!(folder.text("run.txt") == first);
    }
    // A state at the start of the run is no later one.
    PROGRAM.succeed(&run("160", "1"));
    PROGRAM.succeed(&[&run("1000", "1")[..], &["--force"]].concat());
    let refusal = PROGRAM.fail(&run("1000", "1"));
    assert!(refusal.contains("this run at t = "), "{refusal}");
    PROGRAM.succeed(&[&run("170", "1")[..], &["--force"]].concat());
    // Bodies that a run begins with are not replaced by its state; a state is.
    let bodies = folder.file("bodies.txt");
    bodies_of_two_steps(&bodies);
    let given = folder.text("bodies.txt");
    let in_place = [
        "--input",
        &bodies,
        "--output",
        &bodies,
        "--steps",
        "2",
        "--core-stars",
        "0",
    ];
    let refusal = PROGRAM.fail(&in_place);
    assert!(refusal.contains("holds no state of a run"), "{refusal}");
    assert!(folder.text("bodies.txt") == given);
    PROGRAM.succeed(&[&in_place[..], &["--force"]].concat());
    PROGRAM.succeed(&in_place);
    fs::write(&output, "notes of somebody").unwrap();
    let refusal = PROGRAM.fail(&run("160", "1"));
    assert!(refusal.contains("no snapshot"), "{refusal}");
}

/// How the small clusters of the next tests begin, and end.
const TWO_STEPS: [&str; 6] = ["--n", "160", "--steps", "2", "--core-stars", "0"];

/// Bodies of such a cluster.
fn bodies_of_two_steps(path: &str) {
    PROGRAM.succeed(&[&TWO_STEPS[..], &["--bodies", path]].concat());
}

/// Nor are the input and the state by the --bodies, nor a run of other stars with the same seed.
#[test]
fn other_files_and_other_stars_are_not_replaced() {
    let folder = Folder::new("mc-other");
    let [input, output] = ["in.txt", "run.txt"].map(|name| folder.file(name));
    bodies_of_two_steps(&input);
    let given = folder.text("in.txt");
    let ends = &TWO_STEPS[2..];
    for (files, words) in [
        (
            ["--input", &*input, "--bodies", &*input],
            "this is the --input",
        ),
        (
            ["--output", &*output, "--bodies", &*output],
            "two options name this file",
        ),
    ] {
        let refusal = PROGRAM.fail(&[&files[..], ends].concat());
        assert!(refusal.contains(words), "{refusal}");
    }
    assert!(folder.text("in.txt") == given);
    let with_output = [&TWO_STEPS[..], &["--output", &output]].concat();
    PROGRAM.succeed(&with_output);
    let refusal = PROGRAM.fail(&[&with_output[..], &["--mass-function", "kroupa"]].concat());
    assert!(refusal.contains("whose stars began otherwise"), "{refusal}");
}

/// Bodies for every program may have lines of others and notes. They have no field, and no binaries whose stars would be shells.
#[test]
fn bodies_with_lines_of_others_are_read() {
    let folder = Folder::new("mc-lines");
    let input = folder.file("in.txt");
    bodies_of_two_steps(&input);
    let text = folder.text("in.txt");
    let begin = [&["--input", &input], &TWO_STEPS[2..]].concat();
    let with = |line: &str| {
        let text = summed(&text.replacen("columns", &format!("{line}\ncolumns"), 1));
        fs::write(&input, text).unwrap();
    };
    with("hermite.orbit 1 2 0.1\nmy.note for the paper");
    PROGRAM.succeed(&begin);
    with("hermite.binary 1 2 0.1");
    let refusal = PROGRAM.fail(&begin);
    assert!(refusal.contains("--binary-fraction"), "{refusal}");
    with("galaxy.field irrgang 16000.0 2.0 0.0 0.0");
    let refusal = PROGRAM.fail(&begin);
    assert!(refusal.contains("--tidal-boundary"), "{refusal}");
}

#[test]
fn snapshots_of_other_times_are_not_replaced() {
    let folder = Folder::new("mc-snapshots");
    let output = folder.file("run.txt");
    let begin = [
        "--n",
        "1000",
        "--core-stars",
        "0",
        "--output",
        &output,
        "--t-end",
        "0.4",
    ];
    PROGRAM.succeed(&[&begin[..], &["--snapshot-every", "0.1"]].concat());
    let third = folder.text("run.0003.txt");
    let on = ["--input", &output, "--t-end", "0.8", "--snapshot-every"];
    let refusal = PROGRAM.fail(&[&on[..], &["0.2"]].concat());
    assert!(refusal.contains("run.0003.txt"), "{refusal}");
    assert!(refusal.contains("--snapshot-every"), "{refusal}");
    PROGRAM.succeed(&[&on[..], &["0.1"]].concat());
    assert!(folder.text("run.0003.txt") == third);
    folder.text("run.0008.txt");
}

/// A state of `hermite` has each body at its own time.
#[test]
fn a_snapshot_of_hermite_is_refused() {
    let folder = Folder::new("mc-hermite");
    let input = folder.file("in.txt");
    let columns = "index mass x y z vx vy vz t dt ax ay az jx jy jz";
    let body = |k: usize| format!("{k} 0.01 {k} 1 0 0 0 0 0 0.125 0 0 0 0 0 0");
    let bodies: Vec<String> = (0..100).map(body).collect();
    let text = format!(
        "kirin-snapshot 1\nn 100\ntime 0\ncolumns {columns}\n{}\nend\n",
        bodies.join("\n")
    );
    fs::write(&input, text).unwrap();
    let refusal = PROGRAM.fail(&["--input", &input]);
    assert!(refusal.contains("another program"), "{refusal}");
}

/// Units are read, are in all files, and are kept by a run that goes on. The run's own time is the relaxation time.
#[test]
fn units_are_read_and_written() {
    let folder = Folder::new("mc-units");
    let [csv, svg, out, bodies] =
        ["a.csv", "a.svg", "a.txt", "b.txt"].map(|name| folder.file(name));
    let model = ["--n", "2000", "--units", "1e6Msun,4pc", "--t-end", "10Myr"];
    let files = [
        "--csv", &csv, "--plot", &svg, "--output", &out, "--bodies", &bodies,
    ];
    let figures = PROGRAM.figures(
        "mc-units-json",
        &[&model[..], &files, &["--every", "2Myr"]].concat(),
    );
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let (myr, last) = (number(&figures["units"]["myr"]), &figures["last"]);
    assert!((number(&last["time"]) * myr - 10.0).abs() < 1e-9, "{last}");
    assert!((number(&last["t"]) * number(&figures["relaxation_time0"]) * myr - 10.0).abs() < 1e-9);
    let text = folder.text("a.csv");
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    for name in [
        "time_myr",
        "relaxation_time_myr",
        "mass_solar",
        "core_radius_pc",
        "core_density_solar_pc3",
        "lagrangian_50_pc",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(!names.contains(&"t_myr"));
    let line = text.lines().last().unwrap().split(',');
    let line: Vec<f64> = line.map(|word| word.parse().unwrap_or(f64::NAN)).collect();
    let value = |name: &str| line[names.iter().position(|n| *n == name).unwrap()];
    assert!((value("time_myr") - 10.0).abs() < 1e-9);
    assert!((value("lagrangian_50_pc") - 4.0 * value("lagrangian_50")).abs() < 1e-12);
    // A thousandth of the mass of these 2000 stars is in two stars, and the first has more than a ten-thousandth.
    let mut radii: Vec<f64> = Snapshot::load(out.as_ref())
        .unwrap()
        .bodies
        .iter()
        .map(|body| body.x[0])
        .collect();
    radii.sort_by(f64::total_cmp);
    assert_eq!(
        [value("lagrangian_0.01"), value("lagrangian_0.1")],
        radii[..2]
    );
    assert!((value("lagrangian_0.1_pc") - 4.0 * radii[1]).abs() < 1e-12);
    for words in ["radius in pc", "(10.0000 Myr)"] {
        assert!(folder.text("a.svg").contains(words), "{words}");
    }
    let again = folder.file("again.json");
    let output = PROGRAM.succeed(&["--input", &out, "--t-end", "20Myr", "--json", &again]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("(20.0000 Myr)") && table.contains(" pc)"),
        "{table}"
    );
    // Bodies in space tell them too, and begin a run that has them.
    for input in [&out, &bodies] {
        let snapshot = Snapshot::load(input.as_ref()).unwrap();
        assert_eq!(
            snapshot.value("galaxy.field"),
            Some("none 1000000.0 4.0 0.0 0.0")
        );
    }
    let figures = PROGRAM.figures("mc-units-again", &["--input", &bodies, "--t-end", "5Myr"]);
    assert!((number(&figures["last"]["time"]) * myr - 5.0).abs() < 1e-9);
    // They may be repeated. Others would not convert the bodies.
    let repeated = ["--t-end", "25Myr", "--units", "1e6Msun,0.004kpc"];
    PROGRAM.succeed(&[&["--input", &out], &repeated[..]].concat());
    for input in [&out, &bodies] {
        let refusal = PROGRAM.fail(&[
            "--input",
            input,
            "--t-end",
            "30Myr",
            "--units",
            "1e6Msun,8pc",
        ]);
        assert!(refusal.contains("1000000.0Msun,4.0pc"), "{refusal}");
    }
    for arguments in [&["--report", "paper"][..], &["--cross-check"]] {
        let refusal = PROGRAM.fail(&[arguments, &["--units", "1e6,4"]].concat());
        assert!(refusal.contains("--units"), "{refusal}");
    }
}

/// The same radii, plain and in units, make the same run; one that goes on keeps them.
#[test]
fn radii_may_have_units() {
    let folder = Folder::new("mc-radii");
    let [plain, named] = ["plain.txt", "named.txt"].map(|name| folder.file(name));
    let tide = ["--units", "1e5Msun,0.5pc", "--tidal-boundary", "apocentre"];
    let run = |steps: &str, output: &str, radii: [&str; 3]| {
        let [tidal, stellar, core] = radii;
        let radii = [
            "--tidal-radius",
            tidal,
            "--stellar-radius",
            stellar,
            "--core-radius",
            core,
        ];
        let files = ["--n", "500", "--steps", steps, "--output", output];
        let output = PROGRAM.succeed(&[&tide[..], &radii, &files].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let table = run("20", &named, ["4pc", "0.001pc", "1e-6pc"]);
    for words in ["8.000 (4.000 pc) at the start", " Msun/pc^3)"] {
        assert!(table.contains(words), "{table}");
    }
    run("20", &plain, ["8", "0.002", "2e-6"]);
    let bodies = |name: &str| {
        Snapshot::parse(folder.text(name).as_bytes())
            .unwrap()
            .bodies
    };
    assert!(bodies("named.txt") == bodies("plain.txt"));
    assert!(bodies("named.txt").len() < 500);

    // It is kept as it was written, and ends the run that goes on.
    assert!(folder.text("named.txt").contains("core-radius 1e-6pc"));
    for (radius, ends) in [("0.5pc", true), ("1e-5pc", false)] {
        let more = [
            "--input",
            &named,
            "--core-stars",
            "1",
            "--steps",
            "2",
            "--tidal-radius",
            "4pc",
            "--core-radius",
            radius,
        ];
        let table = String::from_utf8(PROGRAM.succeed(&more).stdout).unwrap();
        assert_eq!(table.contains("core collapse"), ends, "{table}");
    }
    let refusal = PROGRAM.fail(&["--input", &named, "--tidal-radius", "5pc"]);
    assert!(refusal.contains("--tidal-radius is not the 8"), "{refusal}");

    let suns = ["--n", "200", "--steps", "1", "--stellar-radius", "1Rsun"];
    let figures = PROGRAM.figures(
        "mc-suns",
        &[&suns[..], &["--units", "1e5Msun,0.5pc"]].concat(),
    );
    let radius = figures["stellar_radius"].as_f64().unwrap();
    assert!(
        (radius / (2.0 * 6.957e8 / 3.085_677_581e16) - 1.0).abs() < 1e-9,
        "{radius}"
    );
    for radius in ["--tidal-radius", "--stellar-radius", "--core-radius"] {
        let refusal = PROGRAM.fail(&["--n", "200", radius, "1au"]);
        assert!(
            refusal.contains("1.0au") && refusal.contains("--units"),
            "{radius}: {refusal}"
        );
        let refusal = PROGRAM.fail(&[&tide[..], &[radius, "1Myr"]].concat());
        assert!(refusal.contains("Rsun"), "{radius}: {refusal}");
    }
}

/// Bodies in space, from this program and back.
#[test]
fn bodies_in_space_are_a_beginning_too() {
    let folder = Folder::new("mc-bodies");
    let [bodies, json, svg] = ["bodies.txt", "a.json", "a.svg"].map(|f| folder.file(f));
    let king = [
        "--n", "3000", "--model", "king", "--w0", "3", "--steps", "2",
    ];
    PROGRAM.succeed(&[&king[..], &["--bodies", &bodies]].concat());
    let files = ["--json", &json, "--plot", &svg, "--profile"];
    let output = PROGRAM.succeed(&[&["--input", &bodies, "--steps", "5"][..], &files].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    for words in ["new orbits", "ns/star", "energy error", "core radius"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let figures: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
    assert_eq!(figures["n0"], 3000);
    assert_eq!(figures["last"]["steps"], 5.0);
    let energy = figures["last"]["potential"].as_f64().unwrap();
    assert!((energy + 0.5).abs() < 0.02, "{energy}");
    assert!(folder.text("a.svg").contains("Figure 5"));
}

/// What cannot be written ends no run: its end comes with the state and all other files, and the shell hears of it.
#[test]
fn a_file_that_cannot_be_written_ends_no_run() {
    let folder = Folder::new("mc-unwritten");
    let [output, csv] = ["run.txt", "run.csv"].map(|name| folder.file(name));
    // A snapshot cannot take the place of a folder.
    fs::create_dir(folder.file("run.0001.txt")).unwrap();
    let run = [
        "--n",
        "300",
        "--theta-max",
        "0.3",
        "--core-stars",
        "0",
        "--t-end",
        "0.3",
        "--snapshot-every",
        "0.1",
        "--output",
        &output,
        "--csv",
        &csv,
        "--force",
    ];
    for ranks in ["1", "2"] {
        let mut command = PROGRAM.command(&[&run[..], &["--ranks", ranks]].concat());
        let ended = command.output().expect("it starts");
        let words = String::from_utf8(ended.stderr).expect("UTF-8");
        assert_eq!(ended.status.code(), Some(1), "{words}");
        assert!(!ended.stdout.is_empty(), "the summary");
        for part in ["run.0001.txt", "the run goes on", "a file was not written"] {
            assert!(words.contains(part), "{part}: {words}");
        }
        let state = Snapshot::load(output.as_ref()).unwrap();
        let table = folder.text("run.csv");
        let last = table.lines().last().unwrap().split(',').next().unwrap();
        assert!((last.parse::<f64>().unwrap() - 0.3).abs() < 1e-9, "{last}");
        assert!(state.time > 0.0);
        folder.text("run.0003.txt");
        for file in ["run.txt", "run.csv", "run.0003.txt"] {
            fs::remove_file(folder.file(file)).unwrap();
        }
    }
}

/// Bodies that are no cluster in equilibrium: the stars that are bound are taken, and what is odd is said.
#[test]
fn what_is_no_cluster_in_equilibrium_is_told() {
    let folder = Folder::new("mc-odd");
    let input = folder.file("in.txt");
    let run = |speed: fn(f64, f64) -> f64, far: usize| {
        let mut bodies = models::plummer(400, 5);
        for body in &mut bodies {
            let scale = 3.0 * std::f64::consts::PI / 16.0;
            let square = |x: &[f64; 3]| x.iter().map(|c| c * c).sum::<f64>();
            let escape = (2.0 / (square(&body.x) + scale * scale).sqrt()).sqrt();
            let v = square(&body.v).sqrt();
            body.v = body.v.map(|c| c / v * speed(v, escape));
        }
        for body in &mut bodies[..far] {
            (body.x, body.v) = ([600.0, 0.0, 0.0], [9.0, 0.0, 0.0]);
        }
        let snapshot = Snapshot {
            bodies,
            ..Snapshot::default()
        };
        snapshot.save_as(input.as_ref()).unwrap();
        let mut command = PROGRAM.command(&["--input", &input, "--steps", "1"]);
        let output = command.output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), words)
    };
    let (succeeds, words) = run(|v, _| v, 0);
    assert!(succeeds && !words.contains("2T/|W|"), "{words}");
    let (succeeds, words) = run(|v, _| v, 1);
    assert!(
        succeeds && words.contains("of 400 bodies are not bound"),
        "{words}"
    );
    let (succeeds, words) = run(|v, _| 0.5 * v, 0);
    assert!(succeeds && words.contains("2T/|W| is 0.2"), "{words}");
    // Every star is bound, and yet their energy is above 0.
    let (succeeds, words) = run(|_, escape| 0.85 * escape, 0);
    assert!(
        !succeeds && words.contains("they are no cluster"),
        "{words}"
    );
    assert_eq!(words.lines().count(), 1, "{words}");
}

/// A comparison ends where this method's cluster has dissolved.
#[test]
fn a_cross_check_ends_when_the_cluster_dissolves() {
    let output = PROGRAM.succeed(&["--cross-check", "--n", "100", "--t-end", "10"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("has dissolved at t = "), "{text}");
    let refusal = PROGRAM
        .command(&["--cross-check", "--stellar-radius", "1e-3"])
        .output();
    let words = String::from_utf8(refusal.unwrap().stderr).unwrap();
    assert!(words.contains("cannot be used with"), "{words}");
}
