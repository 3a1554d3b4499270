//! An interrupted and continued run ends with the same bits as a run without interruption.

mod common;

use std::cell::Cell;
use std::process::Stdio;
use std::time::Duration;

use common::{BINARIES, PROGRAM, fail, grape, succeed, through_text};
use hermite::checkpoint;
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use kirin_kit::command::Ended;
use kirin_kit::run::{Log, Run, RunOutputs};
use kirin_kit::{Snapshot, models};
use kirin_testing::Folder;

fn plan() -> RunOutputs {
    RunOutputs {
        records: Some(1.0 / 32.0),
        ..RunOutputs::default()
    }
}

/// Runs a cluster, interrupted after each number of blocks in `blocks`. After each interruption the run is written as
/// text, read again and continued. Returns its state at the last of `t_ends`.
fn interrupted_after(blocks: &[u32], t_ends: &[f64]) -> Snapshot {
    let (_turn, grape) = grape();
    let bodies = models::plummer(100, 3);
    let integrator = Integrator::start(&grape, Settings::default(), 0.0, bodies).unwrap();
    let mut run = Run::new(integrator, Log::default()).unwrap();
    for blocks in blocks {
        let left = Cell::new(*blocks);
        let stop = || left.replace(left.get().saturating_sub(1)) == 0;
        let ended = run.evolve(t_ends[0], &plan(), &stop, &|_| ()).unwrap();
        assert_eq!(ended, Ended::Interrupted);
        run = through_text(&grape, run);
    }
    for t_end in t_ends {
        let ended = run.evolve(*t_end, &plan(), &|| false, &|_| ()).unwrap();
        assert_eq!(ended, Ended::Complete);
        run = through_text(&grape, run);
    }
    run.save().unwrap()
}

fn assert_same(a: &Snapshot, b: &Snapshot) {
    assert_eq!(a.time.to_bits(), b.time.to_bits());
    assert!(a.bodies == b.bodies, "bodies differ");
    assert!(a.states == b.states, "states differ");
    for key in [
        "hermite.settings",
        "hermite.counts",
        "hermite.block_sizes",
        "run.energy0",
    ] {
        assert!(a.value(key).is_some());
        assert_eq!(a.value(key), b.value(key));
    }
}

/// The last block is before the end, so the state may be continued again, but the table has the record of the end.
#[test]
fn a_finished_run_adds_no_record() {
    let folder = Folder::new("finished");
    let [output, csv] = ["run.txt", "run.csv"].map(|name| folder.file(name));
    succeed(&[
        "--n", "16", "--t-end", "0.3", "--output", &output, "--csv", &csv,
    ]);
    let records = folder.text("run.csv");
    for _ in 0..2 {
        succeed(&["--input", &output]);
        assert_eq!(folder.text("run.csv"), records);
    }
}

#[test]
fn at_any_block() {
    let whole = interrupted_after(&[], &[0.5]);
    assert_eq!(whole.time, 0.5);
    for blocks in [&[1][..], &[0, 7, 1, 100], &[333]] {
        let resumed = interrupted_after(blocks, &[0.5]);
        assert_same(&resumed, &whole);
        let records = |s: &Snapshot| {
            s.values("run.record")
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
    let refusal = fail(&["--input", &half, "--eps", "1/8", "--t-end", "0.5"]);
    assert!(refusal.contains("--eps"), "{refusal}");
    let refusal = fail(&["--input", &half, "--t-end", "0.25"]);
    assert!(refusal.contains("t = 0.25 already"), "{refusal}");
}

/// Starts an endless run of 512 stars that writes its state to `output`, and sends it all `signals` (options of `kill`)
/// at once at an arbitrary moment. Returns what the run prints. If the program was not ready for signals yet, tries
/// again with a longer delay.
#[cfg(unix)]
fn signalled(signals: &[&str], arguments: &[&str], output: &str) -> std::process::Output {
    let run = |delay: Duration| {
        let child = PROGRAM
            .command(&MODEL)
            .args(["--t-end", "1000", "--output", output])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(delay);
        for signal in signals {
            let kill = std::process::Command::new("kill")
                .args([*signal, &child.id().to_string()])
                .status()
                .unwrap();
            assert!(kill.success());
        }
        child.wait_with_output().unwrap()
    };
    [500, 2000, 8000]
        .map(Duration::from_millis)
        .into_iter()
        .map(run)
        .find(|_| std::path::Path::new(output).exists())
        .expect("the program never got ready for the signal")
}

#[cfg(unix)]
const MODEL: [&str; 4] = ["--n", "512", "--seed", "4"];

/// What `cut` holds goes on with the bits of a run that nobody disturbed.
#[cfg(unix)]
fn assert_resumes(folder: &Folder, cut: &str) {
    let [whole, resumed] = ["whole.txt", "resumed.txt"].map(|name| folder.file(name));
    let time = Snapshot::load(cut.as_ref()).unwrap().time;
    assert!((0.0..1000.0).contains(&time));
    let end = format!("{}", time + 1.0 / 32.0);
    // An earlier call may have left a later state in these files.
    succeed(
        &[
            &MODEL[..],
            &["--t-end", &end, "--output", &whole, "--force"],
        ]
        .concat(),
    );
    succeed(&[
        "--input", cut, "--t-end", &end, "--output", &resumed, "--force",
    ]);
    let [whole, resumed] = [whole, resumed].map(|path| Snapshot::load(path.as_ref()).unwrap());
    assert_same(&resumed, &whole);
}

/// SIGTERM is what batch systems send. Two signals at once, as some launchers send them, are one.
#[cfg(unix)]
#[test]
fn signals_end_a_run_in_order() {
    let folder = Folder::new("signals");
    let cut = folder.file("cut.txt");
    for signals in [
        &["-INT"][..],
        &["-TERM"],
        &["-INT", "-INT"],
        &["-TERM", "-INT"],
    ] {
        let _ = std::fs::remove_file(&cut);
        let output = signalled(signals, &[], &cut);
        assert_eq!(output.status.code(), Some(130), "{signals:?}");
        let summary = String::from_utf8(output.stdout).unwrap();
        let words = "interrupted on the way to 1000";
        assert!(summary.contains(words), "{signals:?}: {summary}");
    }
    assert_resumes(&folder, &cut);
}

/// Under `nohup` a run outlives its terminal: it comes to its end.
#[cfg(unix)]
#[test]
fn a_detached_run_goes_on() {
    let folder = Folder::new("nohup");
    let [output, csv] = ["run.txt", "run.csv"].map(|name| folder.file(name));
    let program = PROGRAM.command(&[]).get_program().to_owned();
    let mut child = std::process::Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(program)
        .args(["--n", "256", "--t-end", "0.5", "--output", &output])
        .args(["--csv", &csv, "--every", "1/256"])
        .env("KIRIN_BACKEND", "reference")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The file is made when signals are caught already.
    while !std::path::Path::new(&csv).exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let kill = std::process::Command::new("kill")
        .args(["-HUP", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(kill.success());
    assert!(child.wait().unwrap().success());
    assert_eq!(Snapshot::load(output.as_ref()).unwrap().time, 0.5);
}

/// Nothing can be done at SIGKILL: the last checkpoint is whole.
#[cfg(unix)]
#[test]
fn a_killed_run_leaves_its_last_checkpoint() {
    let folder = Folder::new("killed");
    for interval in ["1/256", "10ms"] {
        let cut = folder.file(&interval.replace('/', "-"));
        let output = signalled(&["-KILL"], &["--checkpoint-every", interval], &cut);
        assert_eq!(output.status.code(), None);
        assert_resumes(&folder, &cut);
    }
}

/// A resumed run may be more careful from then on.
#[test]
fn eta_may_change() {
    let folder = Folder::new("eta");
    let [half, rough, fine] = ["half", "rough", "fine"].map(|name| folder.file(name));
    succeed(&["--n", "64", "--t-end", "0.25", "--output", &half]);
    let resume = ["--input", &half, "--t-end", "0.5", "--output"];
    succeed(&[&resume[..], &[&rough]].concat());
    succeed(&[&resume[..], &[&fine, "--eta", "0.0025"]].concat());
    let [half, rough, fine] = [half, rough, fine].map(|path| {
        let snapshot = Snapshot::load(path.as_ref()).unwrap();
        let steps = snapshot.value("hermite.counts").unwrap().split(' ').next();
        let steps: f64 = steps.unwrap().parse().unwrap();
        (checkpoint::settings(&snapshot).unwrap().unwrap().eta, steps)
    });
    assert_eq!((half.0, rough.0, fine.0), (0.01, 0.01, 0.0025));
    // Steps go with the root of eta.
    let ratio = (fine.1 - half.1) / (rough.1 - half.1);
    assert!((1.5..2.5).contains(&ratio), "{ratio}");
}

/// The number of calls for a block changes no bit: every particle of the block sees the predicted positions of the
/// others, and never corrected ones.
#[test]
fn pipelines_do_not_change_a_bit() {
    bits_with_pipelines(
        "single",
        &["--n", "96", "--t-end", "0.25"],
        ["2", "7", "256"],
    );
    // As many pairs as begin at once, in several calls and in one.
    let arguments = [&BINARIES[..], &["--t-end", "1/16"]].concat();
    bits_with_pipelines("pairs", &arguments, ["16", "20", "256"]);
}

fn bits_with_pipelines(name: &str, arguments: &[&str], pipelines: [&str; 3]) {
    let folder = Folder::new(&format!("pipelines-{name}"));
    let snapshots = pipelines.map(|npipes| {
        let file = format!("{npipes}.txt");
        let status = PROGRAM
            .command(arguments)
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

/// A continued run uses the library of the run before, unless an option names another one. `kirin` is the linked one.
#[test]
fn the_library_is_kept() {
    let folder = Folder::new("library");
    let out = folder.file("run.txt");
    succeed(&["--n", "16", "--t-end", "1/16", "--output", &out]);
    let mut state = Snapshot::load(out.as_ref()).unwrap();
    let line = ("run.told", "library /nowhere/libg6.so");
    state.run.push((line.0.to_owned(), line.1.to_owned()));
    state.save(out.as_ref()).unwrap();
    let more = ["--input", &out, "--t-end", "1/8"];
    let said = fail(&more);
    assert!(said.contains("/nowhere/libg6.so"), "{said}");
    succeed(&[&more[..], &["--library", "kirin"]].concat());
    assert!(folder.text("run.txt").contains("run.told library kirin\n"));
    let said = fail(
        &[
            &more[..2],
            &["--library", "/elsewhere/libg6.so", "--t-end", "1/4"],
        ]
        .concat(),
    );
    assert!(said.contains("/elsewhere/libg6.so"), "{said}");
}
