//! Unusual clients: they cancel threads, fork in their first call, have little memory or small stacks, trap every
//! exception, have closed their streams, or run as setuid programs.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use ffi_tests::compiler::{Link, clean_command, compile, run, succeed, texts};
use ffi_tests::library;
use kirin_testing::skipped;

use super::lost::{INTERFACES, nothing_lost};

const THREADS: [(&str, &str); 1] = [("KIRIN_THREADS", "2")];

#[test]
fn a_fork_during_the_first_call_leaves_the_child_a_library() {
    nothing_lost("forkfirst.c", 40, &THREADS);
}

#[test]
fn a_cancelled_thread_ends_alone() {
    nothing_lost("cancel.c", 20, &THREADS);
    let file = |name| library::workspace().join(name).display().to_string();
    let (trace, statistics) = (file("cancelled-%p.trace"), file("cancelled.statistics"));
    let settings = [("KIRIN_TRACE", &*trace), ("KIRIN_STATS", &*statistics)];
    nothing_lost("cancel.c", 10, &settings);
}

#[test]
fn a_limit_of_the_memory_ends_no_client() {
    nothing_lost("limits.c", 12, &THREADS);
}

/// What a client prints, asked in this way through every interface.
fn each(how: &[&str], settings: &[(&str, &str)], expected: &str) {
    let Some(client) = compile("hardness.c", Link::Shared) else {
        return;
    };
    for (number, name) in INTERFACES {
        let words: Vec<_> = [&[number], how].concat();
        let words: Vec<_> = words.iter().map(AsRef::as_ref).collect();
        let output = succeed(&client, &words, settings);
        assert_eq!(output, expected, "{name}, {how:?}, {settings:?}");
    }
}

#[test]
fn no_first_call_of_any_interface_raises_a_flag() {
    for backend in ["cpu", "reference"] {
        let settings = [("KIRIN_BACKEND", backend)];
        each(&["traps"], &settings, "through\n");
        each(&["flags"], &settings, "0\n");
    }
}

/// The smallest stack that docs/process.md promises to be enough.
#[test]
fn a_thread_with_a_small_stack_can_call() {
    for precision in ["mixed", "double", "single"] {
        for simd in ["auto", "portable"] {
            let settings = [("KIRIN_PRECISION", precision), ("KIRIN_SIMD", simd)];
            each(&["stack", "128"], &settings, "1\n");
        }
    }
    each(&["stack", "128"], &[("KIRIN_BACKEND", "reference")], "1\n");
}

#[test]
fn no_file_takes_the_place_of_a_closed_stream() {
    let trace = library::workspace().join("streams-%p.trace");
    each(
        &["streams"],
        &[("KIRIN_TRACE", &trace.to_string_lossy())],
        "1 6\n",
    );
}

/// A client that is started with other rights than its user's; `None` where this user cannot make one.
fn privileged() -> Option<PathBuf> {
    let client = compile("secure.c", Link::Shared)?;
    // The superuser gives it to somebody else. Others have no second user.
    let given = std::os::unix::fs::chown(&client, Some(1), None);
    let mode = std::fs::Permissions::from_mode(0o4755);
    if given.is_err() || std::fs::set_permissions(&client, mode).is_err() {
        skipped("only the superuser can make a setuid program of another user");
        return None;
    }
    let output = run(&mut clean_command(&client, &[]));
    if texts(&output).0 != "1 48\n" {
        skipped(format!(
            "a setuid program has no other rights here: {output:?}"
        ));
        return None;
    }
    Some(client)
}

#[test]
fn a_program_with_other_rights_than_its_users_reads_no_setting() {
    let Some(client) = privileged() else { return };
    // A folder that the program's rights suffice for.
    let folder = library::workspace().join("rights");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&folder, open).expect("our own");
    let mut command = clean_command(&client, &[("KIRIN_NPIPES", "64")]);
    for setting in ["KIRIN_TRACE", "KIRIN_STATS"] {
        command.env(setting, folder.join(setting));
    }
    let (out, err) = texts(&run(&mut command));
    assert_eq!(out, "1 48\n");
    assert_eq!(folder.read_dir().expect("our own").count(), 0);
    assert_eq!(
        err.matches("no setting KIRIN_* is read").count(),
        1,
        "{err}"
    );
    assert_eq!(err.lines().count(), 1, "{err}");
}
