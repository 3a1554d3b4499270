//! An interrupted run that is resumed ends with the bits of one that was not.

mod common;

use std::cell::Cell;
use std::process::Stdio;
use std::time::Duration;

use common::{PROGRAM, fail, grape, succeed};
use hermite::checkpoint;
use hermite::run::Run;
use hermite::settings::Settings;
use kirin_kit::command::Ended;
use kirin_kit::trial::Folder;
use kirin_kit::{Snapshot, models};

const EVERY: Option<f64> = Some(1.0 / 32.0);

/// The text of a run to `t_end` that is interrupted after each of these numbers of blocks, goes
/// through text, and is resumed.
fn interrupted_after(blocks: &[u32], t_ends: &[f64]) -> Snapshot {
    let (_turn, grape) = grape();
    let bodies = models::plummer(100, 3);
    let mut run = Run::start(&grape, Settings::default(), 0.0, bodies).unwrap();
    for blocks in blocks {
        let left = Cell::new(*blocks);
        let stop = || left.replace(left.get().saturating_sub(1)) == 0;
        let ended = run.evolve(t_ends[0], EVERY, &stop, &|_| ()).unwrap();
        assert_eq!(ended, Ended::Interrupted);
        run = through_text(&grape, run);
    }
    for t_end in t_ends {
        let ended = run.evolve(*t_end, EVERY, &|| false, &|_| ()).unwrap();
        assert_eq!(ended, Ended::Complete);
        run = through_text(&grape, run);
    }
    checkpoint::save(&run)
}

fn through_text<'g>(grape: &'g kirin::client::Grape, run: Run<'g>) -> Run<'g> {
    let mut text = Vec::new();
    checkpoint::save(&run).write(&mut text).unwrap();
    // The library's memory goes with the run: nothing but the text is left.
    drop(run);
    checkpoint::resume(grape, Snapshot::parse(&text).unwrap()).unwrap()
}

fn assert_same(a: &Snapshot, b: &Snapshot) {
    assert_eq!(a.time.to_bits(), b.time.to_bits());
    assert!(a.bodies == b.bodies, "bodies differ");
    assert!(a.states == b.states, "states differ");
    for key in ["hermite.settings", "hermite.energy0", "hermite.block_sizes"] {
        assert!(a.value(key).is_some());
        assert_eq!(a.value(key), b.value(key));
    }
    // The last of the counts is the wall time.
    let counts = |s: &Snapshot| {
        let words = s.value("hermite.counts").unwrap().split(' ').take(3);
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(counts(a), counts(b));
}

#[test]
fn at_any_block() {
    let whole = interrupted_after(&[], &[0.5]);
    assert_eq!(whole.time, 0.5);
    for blocks in [&[1][..], &[0, 7, 1, 100], &[333]] {
        let resumed = interrupted_after(blocks, &[0.5]);
        assert_same(&resumed, &whole);
        let records = |s: &Snapshot| {
            s.values("hermite.record")
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(records(&resumed), records(&whole));
    }
}

/// An end is no different from an interruption, even where it cuts through everybody's steps.
#[test]
fn after_an_end() {
    let whole = interrupted_after(&[], &[0.5]);
    assert_same(&interrupted_after(&[], &[0.25, 0.5]), &whole);
    assert_same(&interrupted_after(&[], &[0.1, 0.2357, 0.5]), &whole);
}

#[test]
fn the_program_resumes_what_it_wrote() {
    let folder = Folder::new("resume");
    let [half, whole, resumed] = ["half.txt", "whole.txt", "resumed.txt"].map(|n| folder.file(n));
    succeed(&["--n", "128", "--t-end", "0.25", "--output", &half]);
    succeed(&["--n", "128", "--t-end", "0.5", "--output", &whole]);
    succeed(&["--input", &half, "--t-end", "0.5", "--output", &resumed]);
    let [whole, again] = ["whole.txt", "resumed.txt"]
        .map(|name| Snapshot::parse(folder.text(name).as_bytes()).unwrap());
    assert_same(&again, &whole);
    let refusal = fail(&["--input", &half, "--eta", "0.02", "--t-end", "0.5"]);
    assert!(refusal.contains("--eta"), "{refusal}");
    let refusal = fail(&["--input", &half, "--t-end", "0.25"]);
    assert!(refusal.contains("t = 0.25 already"), "{refusal}");
}

/// Ctrl-C at whatever moment it comes.
#[cfg(unix)]
#[test]
fn the_program_stops_at_ctrl_c() {
    let folder = Folder::new("ctrl-c");
    let [cut, whole, resumed] = ["cut.txt", "whole.txt", "resumed.txt"].map(|n| folder.file(n));
    let model = ["--n", "512", "--seed", "4"];
    let interrupted = |delay: Duration| {
        let child = PROGRAM
            .command(&model)
            .args(["--t-end", "1000", "--output", &cut])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(delay);
        let kill = std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
        assert!(kill.success());
        child.wait_with_output().unwrap()
    };
    // On a busy machine the signal may come before the program is ready for it.
    let output = [500, 2000, 8000]
        .map(Duration::from_millis)
        .into_iter()
        .map(interrupted)
        .find(|output| output.status.code().is_some())
        .expect("the program never got ready for the signal");
    assert_eq!(output.status.code(), Some(130));
    let summary = String::from_utf8(output.stdout).unwrap();
    assert!(
        summary.contains("interrupted on the way to 1000"),
        "{summary}"
    );

    let time = Snapshot::parse(folder.text("cut.txt").as_bytes())
        .unwrap()
        .time;
    assert!((0.0..1000.0).contains(&time));
    let end = format!("{}", time + 1.0 / 32.0);
    succeed(&[&model[..], &["--t-end", &end, "--output", &whole]].concat());
    succeed(&["--input", &cut, "--t-end", &end, "--output", &resumed]);
    let [whole, resumed] = ["whole.txt", "resumed.txt"]
        .map(|name| Snapshot::parse(folder.text(name).as_bytes()).unwrap());
    assert_same(&resumed, &whole);
}

/// However many calls a block takes, its particles see one another predicted, none corrected.
#[test]
fn pipelines_do_not_change_a_bit() {
    let folder = Folder::new("pipelines");
    let snapshots = ["2", "7", "256"].map(|npipes| {
        let file = format!("{npipes}.txt");
        let status = PROGRAM
            .command(&["--n", "96", "--t-end", "0.25"])
            .args(["--output", &folder.file(&file)])
            .env("KIRIN_NPIPES", npipes)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        Snapshot::parse(folder.text(&file).as_bytes()).unwrap()
    });
    assert_same(&snapshots[0], &snapshots[2]);
    assert_same(&snapshots[1], &snapshots[2]);
}
