//! The program under an MPI launcher: the bits of one rank, and the end of a run in which a rank dies.
//!
//! Where MPI and libclang are installed, builds the program with its feature `mpi` into a folder of its own.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use common::program::{checksum_by_hermite, checksum_of, fail, hermite_checksum, succeed, threads};
use kirin_testing::Folder;
use kirin_testing::mpi::{self, build};

/// The folder of the program with MPI, or nothing where it cannot be had.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let kit = ["-p", "kirin-kit", "--example", "communicator"];
    let built = PROGRAM.get_or_init(|| build("parallel", env!("CARGO_BIN_EXE_parallel"), &kit));
    built.as_deref()
}

fn mpirun(ranks: usize, program: &Path, arguments: &[&str]) -> Command {
    let mut command = mpi::mpirun(ranks, program, arguments);
    command.env("KIRIN_BACKEND", "cpu");
    command
}

/// Every operation against its definition, as among threads.
#[test]
fn the_communicator_is_mpi_s() {
    let Some(folder) = program() else { return };
    for ranks in [1, 2, 3, 4] {
        let checked = mpirun(ranks, &folder.join("examples/communicator"), &[]);
        let output = succeed(checked);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.matches("every operation").count(), ranks, "{text}");
    }
}

#[test]
fn any_grid_ends_with_the_file_of_hermite() {
    let Some(folder) = program() else { return };
    let expected = hermite_checksum(1000, 1.0);
    let files = Folder::new("mpi-grids");
    let out = files.file("out.txt");
    for (ranks, grid) in [(1, "1x1"), (2, "2x1"), (2, "1x2"), (4, "2x2"), (16, "4x4")] {
        let run = ["--n", "1000", "--grid", grid, "--output", &out, "--force"];
        succeed(mpirun(ranks, &folder.join("parallel"), &run));
        assert_eq!(checksum_of(&out), expected, "{grid}");
    }
}

/// The ranks exchange neighbour lists, too.
#[test]
fn regularized_systems_are_those_of_hermite() {
    let Some(folder) = program() else { return };
    let of_run = [
        "--n",
        "700",
        "--binary-fraction",
        "0.3",
        "--eps",
        "0",
        "--regularize",
        "40",
    ];
    let expected = checksum_by_hermite(&of_run, 0.03125);
    let files = Folder::new("mpi-systems");
    let out = files.file("out.txt");
    for (ranks, grid) in [(2, "1x2"), (4, "2x2")] {
        let more = ["--t-end", "1/32", "--grid", grid, "--output", &out];
        let run = [&of_run[..], &more, &["--force"]].concat();
        succeed(mpirun(ranks, &folder.join("parallel"), &run));
        assert_eq!(checksum_of(&out), expected, "{grid}");
    }
}

#[test]
fn sums_by_mpi_and_the_ring_run_too() {
    let Some(folder) = program() else { return };
    let files = Folder::new("mpi-sums");
    let json = files.file("out.json");
    for more in [["--sums", "mpi"], ["--algorithm", "ring"]] {
        let run = ["--n", "1100", "--t-end", "1/16", "--json", &json];
        let run = [&run[..], &more].concat();
        succeed(mpirun(3, &folder.join("parallel"), &run));
        let figures: serde_json::Value = serde_json::from_str(&files.text("out.json")).unwrap();
        assert!(figures["energy_error"].as_f64().unwrap() < 1e-5);
        assert_eq!(figures["ranks"], 3);
    }
}

/// A long run that has written its first checkpoint.
fn under_way(ranks: usize, program: &Path, grid: &str, out: &str, more: &[&str]) -> Child {
    let run = [
        "--n",
        "600",
        "--t-end",
        "1000",
        "--grid",
        grid,
        "--output",
        out,
        "--checkpoint-every",
        "1/64",
    ];
    let child = mpirun(ranks, program, &[&run[..], more].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !Path::new(out).exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "no checkpoint");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Process numbers of the ranks of `mpirun`.
fn ranks_of(run: &Child) -> Vec<String> {
    let children = Command::new("pgrep")
        .args(["-P", &run.id().to_string()])
        .output()
        .expect("pgrep");
    let text = String::from_utf8(children.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn signal(name: &str, process: &str) {
    let told = Command::new("kill").args([name, process]).status();
    assert!(told.unwrap().success());
}

/// `kill -9` of one of four ranks: all end within seconds, and the last checkpoint is whole. A run that continues from
/// it on another grid ends with the same bits as an undisturbed one.
#[test]
fn a_rank_that_dies_costs_only_the_time_since_the_checkpoint() {
    let Some(folder) = program() else { return };
    let files = Folder::new("mpi-kill");
    let [out, rest, whole] = ["out.txt", "rest.txt", "whole.txt"].map(|f| files.file(f));
    let run = under_way(4, &folder.join("parallel"), "2x2", &out, &[]);
    signal("-9", &ranks_of(&run)[2]);
    let begin = Instant::now();
    let output = run.wait_with_output().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(20), "{begin:?}");
    assert!(!output.status.success());
    assert!(!output.stderr.is_empty(), "nobody says what happened");
    let last = kirin_kit::Snapshot::parse(files.text("out.txt").as_bytes()).unwrap();
    let end = (last.time + 0.0625).to_string();
    let go_on = [
        "--input", &out, "--t-end", &end, "--grid", "2x1", "--output", &rest,
    ];
    succeed(mpirun(2, &folder.join("parallel"), &go_on));
    succeed(threads(&[
        "--n", "600", "--t-end", &end, "--output", &whole,
    ]));
    assert_eq!(checksum_of(&rest), checksum_of(&whole));
}

/// A signal to a rank other than the first ends all of them in order.
#[test]
fn a_signal_to_any_rank_ends_the_run_in_order() {
    let Some(folder) = program() else { return };
    let files = Folder::new("mpi-signal");
    let out = files.file("out.txt");
    let run = under_way(3, &folder.join("parallel"), "1x3", &out, &["--parts"]);
    signal("-TERM", ranks_of(&run).last().expect("three ranks"));
    let output = run.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("interrupted on the way to 1000"), "{text}");
    assert!(kirin_kit::Snapshot::load(out.as_ref()).is_ok());
}

#[test]
fn errors_are_said_once_and_end_all() {
    let Some(folder) = program() else { return };
    for (arguments, words) in [
        (&["--grid", "3x2"][..], "there are 3"),
        (&["--input", "/no/such/file"], "/no/such/file"),
        (&["--eps", "0", "--n", "600", "--dt-min", "1/16"], "step"),
    ] {
        let refusal = fail(mpirun(3, &folder.join("parallel"), arguments));
        let ours: Vec<_> = refusal
            .lines()
            .filter(|l| l.starts_with("parallel: "))
            .collect();
        assert!(ours.iter().all(|l| l.contains(words)), "{refusal}");
        assert!(!ours.is_empty() && ours.len() <= 3, "{refusal}");
    }
}

/// A rank whose part of the state is missing ends all, though the others wait for it.
#[test]
fn an_error_of_one_rank_ends_all() {
    let Some(folder) = program() else { return };
    let files = Folder::new("mpi-part");
    let out = files.file("out.txt");
    let run = ["--n", "1200", "--grid", "1x2", "--t-end", "1/64"];
    let parts = ["--parts", "--output", &out];
    succeed(mpirun(
        2,
        &folder.join("parallel"),
        &[&run[..], &parts].concat(),
    ));
    std::fs::remove_file(files.file("out.txt.0.1")).expect("the part of the second rank");
    let on = ["--input", &out, "--grid", "1x2", "--t-end", "1/32"];
    let refusal = fail(mpirun(2, &folder.join("parallel"), &on));
    assert!(
        refusal.contains("rank 1: ") && refusal.contains("out.txt.0.1"),
        "{refusal}"
    );
}

/// A launcher that leaves no variables known to us: MPI knows the ranks.
#[test]
fn the_ranks_are_mpi_s_under_any_launcher() {
    let Some(folder) = program() else { return };
    let files = Folder::new("mpi-launcher");
    let json = files.file("out.json");
    let program = folder.join("parallel").display().to_string();
    let hidden = ["-u", "OMPI_COMM_WORLD_RANK", "-u", "OMPI_COMM_WORLD_SIZE"];
    let run = [
        &program[..],
        "--n",
        "600",
        "--t-end",
        "1/64",
        "--json",
        &json,
    ];
    succeed(mpirun(2, "env".as_ref(), &[&hidden[..], &run].concat()));
    let figures: serde_json::Value = serde_json::from_str(&files.text("out.json")).unwrap();
    assert_eq!(figures["ranks"], 2);
}

/// Processes of a launcher to which MPI has no connection would be runs of one rank that write the same files.
#[test]
fn processes_that_mpi_does_not_know_are_refused() {
    let Some(folder) = program() else { return };
    let mut run = Command::new(folder.join("parallel"));
    run.args(["--n", "600", "--t-end", "1/64"]);
    run.env("SLURM_PROCID", "0")
        .env("SLURM_STEP_NUM_TASKS", "2");
    let refusal = fail(run);
    assert!(refusal.contains("MPI knows only this one"), "{refusal}");
}

#[test]
fn a_number_of_ranks_beside_the_launcher_s_is_refused() {
    let Some(folder) = program() else { return };
    let refusal = fail(mpirun(2, &folder.join("parallel"), &["--ranks", "2"]));
    assert_eq!(refusal.matches("no --ranks").count(), 1, "{refusal}");
}

/// Two ranks, each of which is started with an environment and options of its own, or `env`'s.
fn unlike(first: &[&str], second: &[&str]) -> Command {
    let all = [first, &[":", "-n", "1", "env"], second].concat();
    mpirun(1, "env".as_ref(), &all)
}

/// What one rank does not have in common with the others is said with its number, before the run.
#[test]
fn ranks_that_differ_are_named() {
    let Some(folder) = program() else { return };
    let files = Folder::new("mpi-unlike");
    let program = folder.join("parallel").display().to_string();
    let other = files.file("parallel");
    std::fs::copy(&program, &other).unwrap();
    let mut bytes = std::fs::read(&other).unwrap();
    bytes.push(0);
    std::fs::write(&other, bytes).unwrap();
    let run = ["--n", "600", "--t-end", "1/64", "--grid", "2x1"];
    let plain = [&[&program[..]], &run[..]].concat();
    let with = |setting: &'static str| [&[setting, &program[..]], &run[..]].concat();
    let eps = [&plain[..], &["--eps", "0.01"]].concat();
    let copy = [&[&other[..]], &run[..]].concat();
    for (first, second, words) in [
        (
            &plain,
            &eps,
            &["the command line", "--eps 0.01` on rank 1"][..],
        ),
        (&plain, &copy, &["the program", "on rank 1"]),
        (
            &with("KIRIN_SIMD=portable"),
            &plain,
            &["the backend", "`cpu portable` on rank 0"],
        ),
        (
            &plain,
            &with("KIRIN_BACKEND=reference"),
            &["the backend", "reference", "on rank 1"],
        ),
        (
            &with("KIRIN_PRECISION=mixed"),
            &with("KIRIN_PRECISION=double"),
            &["the precision", "double` on rank 1"],
        ),
    ] {
        let refusal = fail(unlike(first, second));
        for word in words {
            assert!(refusal.contains(word), "{word}: {refusal}");
        }
        assert_eq!(refusal.matches("the ranks differ").count(), 1, "{refusal}");
    }
    // Wanted all the same.
    let portable = [&with("KIRIN_SIMD=portable")[..], &["--unlike-ranks"]].concat();
    let plain = [&plain[..], &["--unlike-ranks"]].concat();
    let output = succeed(unlike(&portable, &plain));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`cpu portable` on rank 0"), "{said}");
}

/// SIGTERM to `mpirun` itself, as from a batch system: the state and the figures are there.
#[test]
fn the_summary_survives_the_end_of_the_launcher() {
    let Some(folder) = program() else { return };
    let files = Folder::new("mpi-term");
    let [out, json] = ["out.txt", "out.json"].map(|f| files.file(f));
    let run = under_way(2, &folder.join("parallel"), "2x1", &out, &["--json", &json]);
    signal("-TERM", &run.id().to_string());
    let output = run.wait_with_output().unwrap();
    assert!(!output.status.success());
    let begin = Instant::now();
    while !Path::new(&json).exists() {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            begin.elapsed() < Duration::from_secs(5),
            "no summary: {said}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let figures: serde_json::Value = serde_json::from_str(&files.text("out.json")).unwrap();
    assert_eq!(figures["interrupted"], true);
    let state = kirin_kit::Snapshot::load(out.as_ref()).unwrap();
    assert_eq!(figures["time"], state.time);
}
