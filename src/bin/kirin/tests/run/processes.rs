//! Status, signals, streams, settings and time are the program's own; what cannot be run is refused.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use kirin_testing::skipped;

use super::*;

#[test]
fn status_signals_and_streams_are_the_programs_own() {
    let folder = folder("status");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    let status = |words: &[&str]| output(&mut kirin_run(&folder, words)).status;
    assert_eq!(status(&["./client", "exit", "7"]).code(), Some(7));
    assert_eq!(status(&["./client", "raise", "15"]).signal(), Some(15));
    assert_eq!(status(&["./client", "raise", "9"]).signal(), Some(9));
    assert_eq!(status(&["/no/such/program"]).code(), Some(127));
    assert_eq!(status(&["/etc/passwd"]).code(), Some(126));

    let mut child = kirin_run(&folder, &["sh", "-c", "cat; exec sleep 60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, b"through").expect("cat reads");
    drop(stdin);
    let mut text = [0; 7];
    let stdout = child.stdout.as_mut().expect("a pipe");
    std::io::Read::read_exact(stdout, &mut text).expect("cat writes");
    assert_eq!(&text, b"through");
    // The signal goes to the process that was started, and there is no other.
    child.kill().expect("it runs");
    assert_eq!(child.wait().expect("a child").signal(), Some(9));

    assert!(compile(&folder, "gcc", &["signals.c", "-o", "signals"]));
    // Both settings of SIGPIPE survive the runtime of Rust, which ignores it.
    for (trap, expected) in [("trap '' PIPE;", "1 0\n"), ("", "0 0\n")] {
        let line = format!(
            "{trap} exec {} run ./signals 2>/dev/null",
            env!("CARGO_BIN_EXE_kirin")
        );
        assert_eq!(
            printed(command(&folder, "sh").args(["-c", &line])),
            expected
        );
    }
}

#[test]
fn programs_out_of_reach_are_refused() {
    let folder = folder("reach");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    let refused = |words: &[&str], why: &str| {
        let output = output(&mut kirin_run(&folder, words));
        let (out, err) = texts(&output);
        assert_eq!(
            (output.status.code(), out.as_str()),
            (Some(125), ""),
            "{words:?}: {err}"
        );
        assert!(err.starts_with("kirin: ") && err.contains(why), "{err}");
    };
    assert!(compile(
        &folder,
        "gcc",
        &["client.c", "standin.c", "-o", "inside"]
    ));
    refused(&["./inside"], "linked into it");
    refused(&["nice", "./inside"], "./inside: kirin cannot take part");
    let words = ["record", "-o", "trace", "--", "nice", "./inside"];
    let record = output(command(&folder, env!("CARGO_BIN_EXE_kirin")).args(words));
    assert_eq!(record.status.code(), Some(125), "{record:?}");
    assert!(compile(
        &folder,
        "gcc",
        &["-static", "client.c", "standin.c", "-o", "static"]
    ));
    refused(&["./static"], "statically");
    refused(&["nice", "./static"], "statically");
    assert!(compile(
        &folder,
        "gcc",
        &["-static-pie", "client.c", "standin.c", "-o", "pie"]
    ));
    refused(&["./pie"], "statically");
    refused(&["nice", "./pie"], "statically");
    // A library in an argument is for the program to open, a static program without the interface may be started, an
    // object file is no program, and behind a program that is refused another one can be served.
    let source = "int main(void) { return 0; }";
    assert!(common::compile(&folder, "helper", source, &["-static"]).is_some());
    assert!(compile(
        &folder,
        "gcc",
        &["-c", "standin.c", "-o", "standin.o"]
    ));
    assert!(pair(&folder, "libg6.so", &[]));
    for words in ["libg6.so", "./helper", "standin.o", "./inside ./client"] {
        let words: Vec<&str> = std::iter::once("echo").chain(words.split(' ')).collect();
        let output = output(&mut kirin_run(&folder, &words));
        assert_eq!(
            (output.status.code(), texts(&output).0),
            (Some(0), format!("{}\n", words[1..].join(" ")))
        );
    }
    assert!(pair(&folder, "libpg5.so", &["-DCUTOFF"]));
    refused(&["./client"], "no forces with a cutoff");
    refused(&["env", "./client"], "no forces with a cutoff");
    assert!(pair(&folder, "libg6.so", &[]));

    let chmod = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.join("client"), permissions).expect("our own file");
    };
    chmod(0o4755);
    assert_eq!(
        printed(&mut kirin_run(&folder, &["./client"])),
        OURS,
        "setuid to ourselves"
    );
    if std::os::unix::fs::chown(folder.join("client"), Some(1), Some(1)).is_err() {
        skipped("only root can make files of others: setuid and setgid not tried");
        return;
    }
    for mode in [0o4755, 0o2755] {
        chmod(mode);
        refused(&["./client"], "setuid");
    }
    chmod(0o755);
    assert_eq!(printed(&mut kirin_run(&folder, &["./client"])), OURS);
}

#[test]
fn a_program_without_the_interface_runs_and_is_told_of() {
    let folder = folder("without");
    let output = output(&mut kirin_run(&folder, &["sh", "-c", "echo out; exit 3"]));
    let (out, err) = texts(&output);
    assert_eq!((output.status.code(), out.as_str()), (Some(3), "out\n"));
    assert!(
        err.contains("neither this program nor its libraries"),
        "{err}"
    );
}

#[test]
fn options_become_settings() {
    let folder = folder("options");
    let options = [
        ("--backend", "reference", "KIRIN_BACKEND"),
        ("--devices", "0,1", "KIRIN_DEVICES"),
        ("--precision", "double", "KIRIN_PRECISION"),
        ("--pipelines", "256", "KIRIN_NPIPES"),
        ("--threads", "3", "KIRIN_THREADS"),
    ];
    for (option, value, variable) in options {
        let echo = format!("echo \"${variable}\"");
        let output = output(&mut kirin_run(&folder, &[option, value, "sh", "-c", &echo]));
        assert_eq!(texts(&output).0, format!("{value}\n"), "{option}");
    }
    let output_of = |words: &[&str]| output(&mut kirin_run(&folder, words));
    let stats = output_of(&["--stats", "sh", "-c", "echo $KIRIN_STATS"]);
    assert_eq!(texts(&stats).0, "1\n");
    let bad = output_of(&["--precision", "doubel", "true"]);
    assert_eq!(bad.status.code(), Some(125));
    assert!(
        texts(&bad)
            .1
            .contains("mixed, double-single, double, single"),
        "{bad:?}"
    );
}

#[test]
fn starting_takes_less_than_20_ms_longer() {
    let folder = folder("start");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    let time = |command: &mut Command| {
        let start = Instant::now();
        assert!(output(command).status.success());
        start.elapsed()
    };
    let mut least = [Duration::MAX; 2];
    for _ in 0..20 {
        let ways = [
            command(&folder, "./client"),
            kirin_run(&folder, &["./client"]),
        ];
        for (least, mut command) in least.iter_mut().zip(ways) {
            // Neither measures the work of kirin's threads.
            *least = time(command.env("KIRIN_THREADS", "1")).min(*least);
        }
    }
    println!("{least:?}");
    assert!(least[1] < least[0] + Duration::from_millis(20), "{least:?}");
}

/// A static program with kirin in it needs settings only. It is recognised although it was stripped.
#[test]
fn a_program_with_kirin_linked_into_it_is_no_stranger() {
    let folder = folder("own");
    // Any file that holds the library: the command itself.
    let own = std::fs::read(env!("CARGO_BIN_EXE_kirin")).expect("the command");
    std::fs::write(folder.join("own"), own).expect("our folder");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.join("own"), mode).expect("our file");
    for words in [&["./own", "info"][..], &["sh", "-c", "./own info", "./own"]] {
        let out = printed(&mut kirin_run(
            &folder,
            &[&["--precision", "double"], words].concat(),
        ));
        assert!(out.contains("precision double"), "{out}");
    }
    // kirin is recognised by two of its settings' names. A library that such a program opens must not become kirin.
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        const char *settings[] = {"KIRIN_NO_NEIGHBOUR", "KIRIN_GPU_TIMEOUT"};
        int main(void) { return printf("%s\n", getenv("LD_PRELOAD") ? "preloaded" : "plain") < 0; }"#;
    if common::compile(&folder, "names", source, &[]).is_some() {
        let mut run = kirin_run(&folder, &["./names"]);
        assert_eq!(printed(run.env_remove("LD_PRELOAD")), "plain\n");
        let mut run = kirin_run(&folder, &["--nbody6", "./names"]);
        assert_eq!(printed(&mut run), "preloaded\n");
    }
}
