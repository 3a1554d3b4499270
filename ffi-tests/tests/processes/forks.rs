//! Forks while other threads compute, and signal handlers that call the library.

use ffi_tests::compiler::{Link, clean_command, compile, run, texts};

use super::NOTHING;

#[test]
fn a_child_goes_on_while_the_parent_computes() {
    let Some(client) = compile("forkbusy.c", Link::Shared) else {
        return;
    };
    for backend in ["reference", "cpu"] {
        for threads in ["1", "4"] {
            let settings = [("KIRIN_BACKEND", backend), ("KIRIN_THREADS", threads)];
            let output = run(clean_command(&client, &settings).args(NOTHING));
            let expected = ("12 1 1\n".to_owned(), String::new());
            assert_eq!(texts(&output), expected, "{settings:?}");
        }
    }
}

/// 100,000 signals in two seconds interrupt every phase of loads, blocks, opens, closes and messages.
#[test]
fn a_signal_handler_is_refused_what_it_interrupts() {
    let Some(client) = compile("reentry.c", Link::Shared) else {
        return;
    };
    for backend in ["reference", "cpu"] {
        let settings = [("KIRIN_BACKEND", backend), ("KIRIN_THREADS", "2")];
        let output = run(clean_command(&client, &settings).args(NOTHING));
        let (out, err) = texts(&output);
        assert_eq!(out, "1 1 0 0\n", "{backend}: {err}");
        let refusals = err.lines().filter(|l| l.contains("call within a call"));
        assert_eq!(refusals.count(), 10, "{backend}: {err}");
        let others = err.lines().filter(|l| l.contains("address = -1"));
        assert_eq!(others.count(), 10, "{backend}: {err}");
        assert_eq!(err.lines().count(), 20, "{backend}: {err}");
    }
}

/// The client has no threads of its own. In a program with threads, a child that is forked in a signal handler may call
/// only async-signal-safe functions.
#[test]
fn a_signal_handler_forks_in_the_middle_of_a_call() {
    let Some(client) = compile("forksignal.c", Link::Shared) else {
        return;
    };
    for backend in ["reference", "cpu"] {
        for threads in ["1", "4"] {
            let settings = [("KIRIN_BACKEND", backend), ("KIRIN_THREADS", threads)];
            let output = run(clean_command(&client, &settings).args(NOTHING));
            let (out, err) = texts(&output);
            assert_eq!(out, "24 24 1 0\n", "{settings:?}: {err}");
            // What the children were refused.
            assert!(
                err.lines().all(|l| l.contains("call within a call")),
                "{err}"
            );
        }
    }
}

/// What the documentation says of a handler that leaves a call by `siglongjmp`. Other threads of kirin would go on with what
/// the call had on its stack.
#[test]
fn a_thread_that_jumped_out_of_a_call_is_refused_and_its_program_ends() {
    let Some(client) = compile("longjmp.c", Link::Shared) else {
        return;
    };
    for statistics in ["0", "1"] {
        let settings = [
            ("KIRIN_BACKEND", "cpu"),
            ("KIRIN_THREADS", "1"),
            ("KIRIN_STATS", statistics),
        ];
        let output = run(clean_command(&client, &settings).args(NOTHING));
        let (out, err) = texts(&output);
        assert_eq!(out, "-6 -6 -6\n", "{err}");
        assert!(output.status.success(), "{err}");
        assert!(err.contains("left one by siglongjmp"), "{err}");
    }
}

/// In the order of the addresses, with refused calls, another thread, a fork and a close in the middle.
#[test]
fn runs_of_writes_may_be_interrupted() {
    let Some(client) = compile("runs.c", Link::Shared) else {
        return;
    };
    for backend in ["reference", "cpu"] {
        for (precision, snap) in [("mixed", "use"), ("double", "ignore")] {
            let settings = [
                ("KIRIN_BACKEND", backend),
                ("KIRIN_PRECISION", precision),
                ("KIRIN_SNAP", snap),
            ];
            let output = run(clean_command(&client, &settings).args(NOTHING));
            let (out, err) = texts(&output);
            assert_eq!(out, "33 36\n", "{settings:?}: {err}");
            for what in [
                "a2by18 is",
                "a1by6 is",
                "aby2 is",
                " v is",
                " x is",
                "address = -600",
            ] {
                assert!(err.contains(what), "{what}: {err}");
            }
        }
    }
}
