//! Files, pipes and settings that cannot be used: the client continues, and one line says what is wrong.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ffi_tests::compiler::{Link, clean_command, compile, run, succeed, texts};
use ffi_tests::library;
use kirin_testing::skipped;

use super::NOTHING;

fn client() -> Option<PathBuf> {
    compile("outputs.c", Link::Shared)
}

fn place(name: &str) -> PathBuf {
    library::workspace().join(name)
}

fn fifo(name: &str) -> PathBuf {
    let path = place(name);
    let _ = std::fs::remove_file(&path);
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.is_ok_and(|s| s.success()), "{}", path.display());
    path
}

#[test]
fn a_file_that_may_not_grow_ends_nobody() {
    let Some(client) = client() else { return };
    for setting in ["KIRIN_STATS", "KIRIN_TRACE"] {
        let mut command = clean_command(&client, &[]);
        command.env(setting, place(&format!("limited.{setting}")));
        let output = run(command.arg("limit"));
        assert!(output.status.success(), "{setting}: {}", output.status);
        assert_eq!(texts(&output).0, "through", "{setting}");
    }
}

#[test]
fn a_broken_stderr_ends_nobody_but_who_writes_there_himself() {
    let Some(client) = client() else { return };
    let output = run(clean_command(&client, &[]).arg("pipe"));
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(texts(&output).0, "through");
    let output = run(clean_command(&client, &[]).args(["pipe", "own"]));
    assert_eq!(output.status.signal(), Some(13), "{}", output.status);
}

#[test]
fn a_pipe_that_nobody_reads_is_refused() {
    let Some(client) = client() else { return };
    for setting in ["KIRIN_STATS", "KIRIN_TRACE"] {
        let pipe = fifo(&format!("unread.{setting}"));
        let output = run(clean_command(&client, &[]).env(setting, &pipe));
        let (out, err) = texts(&output);
        assert!(output.status.success() && out == "through", "{err}");
        let about: Vec<&str> = err.lines().filter(|l| l.contains("unread")).collect();
        assert_eq!(about.len(), 1, "{err}");
        assert!(about[0].contains("nobody reads this pipe"), "{err}");
    }
}

#[test]
fn a_pipe_with_a_reader_gets_everything() {
    let Some(client) = client() else { return };
    for (setting, begin) in [
        ("KIRIN_STATS", "statistics of cluster 0"),
        ("KIRIN_TRACE", "kirin trace"),
    ] {
        let pipe = fifo(&format!("read.{setting}"));
        let reader = Command::new("cat")
            .arg(&pipe)
            .stdout(Stdio::piped())
            .spawn();
        let reader = reader.expect("cat is everywhere");
        // The reader must be there first.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let output = run(clean_command(&client, &[]).env(setting, &pipe));
        assert!(!texts(&output).1.contains("read."), "{}", texts(&output).1);
        let read = reader
            .wait_with_output()
            .expect("the pipe was closed")
            .stdout;
        assert!(read.starts_with(begin.as_bytes()), "{setting}");
    }
}

#[test]
fn a_name_need_not_be_text_but_other_values_must() {
    let Some(client) = client() else { return };
    let mut name = library::workspace().as_os_str().to_owned();
    name.push(OsStr::from_bytes(b"/\xff-%p-\xfe"));
    let settings = [
        ("KIRIN_STATS", name.as_os_str()),
        ("KIRIN_PRECISION", OsStr::from_bytes(b"\xff")),
    ];
    let output = run(clean_command(&client, &[]).envs(settings));
    let err = texts(&output).1;
    let files = std::fs::read_dir(library::workspace()).expect("a folder of our own");
    let written = files.flatten().any(|f| {
        let name = f.file_name();
        name.as_bytes().starts_with(b"\xff-") && name.as_bytes().ends_with(b"-\xfe")
    });
    assert!(written, "{err}");
    let reports = err.lines().filter(|l| l.contains("KIRIN_PRECISION="));
    assert_eq!(reports.count(), 1, "{err}");
}

#[test]
fn a_long_value_is_not_repeated_at_length() {
    let Some(client) = client() else { return };
    let long = "x".repeat(100_000);
    for setting in [
        "KIRIN_PRECISION",
        "KIRIN_STATS",
        "KIRIN_NO_SUCH_SETTING_OF_OURS",
    ] {
        let output = run(clean_command(&client, &[]).env(setting, &long));
        let err = texts(&output).1;
        assert!(err.contains(setting), "{err}");
        assert!(
            err.lines().all(|l| l.len() < 400),
            "{setting}: {} bytes",
            err.len()
        );
    }
}

#[test]
fn a_hundred_thousand_clusters_take_no_longer_each_than_a_few() {
    let Some(client) = compile("ids.c", Link::Shared) else {
        return;
    };
    let seconds = |count: &str| {
        let output = succeed(&client, &[count.as_ref()], &[]);
        output.trim().parse::<f64>().expect("a number")
    };
    // Ten times as many: 100 times as long if each looked at all others. The best of three, as others
    // may be at work here.
    let best = |count| (0..3).map(|_| seconds(count)).fold(f64::INFINITY, f64::min);
    let (few, many) = (best("10000"), best("100000"));
    assert!(many < 40.0 * few, "{few} s, {many} s");
}

fn lines_about_gpus(client: &Path, settings: &[(&str, &str)]) -> usize {
    let output = run(clean_command(client, settings).args(NOTHING));
    let err = texts(&output).1;
    err.lines().filter(|l| l.contains("no GPU is used")).count()
}

#[test]
fn a_missing_gpu_is_told_once_and_only_where_one_was_asked_for() {
    let Some(client) = client() else { return };
    if !kirin_core::gpu::cuda::devices().is_err_and(|reason| reason.contains("no CUDA driver")) {
        skipped("this machine has a CUDA driver");
        return;
    }
    let auto = ("KIRIN_BACKEND", "auto");
    let cuda = ("KIRIN_BACKEND", "cuda");
    let rank = |rank| {
        [
            ("OMPI_COMM_WORLD_LOCAL_RANK", rank),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
        ]
    };
    assert_eq!(lines_about_gpus(&client, &[auto]), 0);
    assert_eq!(lines_about_gpus(&client, &[cuda]), 1);
    assert_eq!(
        lines_about_gpus(&client, &[auto, ("KIRIN_DEVICES", "0")]),
        1
    );
    for (number, lines) in [("0", 1), ("1", 0), ("3", 0)] {
        let [rank, size] = rank(number);
        assert_eq!(
            lines_about_gpus(&client, &[cuda, rank, size]),
            lines,
            "rank {number}"
        );
    }
}
