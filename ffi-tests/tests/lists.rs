//! Neighbour lists for which there is no memory.

use ffi_tests::compiler::{Link, clean_command, compile, run, texts};

/// The client is told that its lists overflow, in one line and by the calls; with smaller radii it goes on.
#[test]
fn lists_beyond_the_memory_overflow_and_the_next_ones_do_not() {
    let Some(client) = compile("lists.c", Link::Shared) else {
        return;
    };
    let threads = [("KIRIN_THREADS", "1"), ("KIRIN_BACKEND", "cpu")];
    // 8192 lists of 8192 labels are 256 MiB.
    for (limit, first) in [("unlimited", "0 0 0 8192"), ("200000", "0 1 1 8192")] {
        let mut shell = clean_command("sh", &threads);
        shell.args(["-c", &format!("ulimit -v {limit}; exec \"$0\" 8192")]);
        let output = run(shell.arg(&client).env("KIRIN_NPIPES", "256"));
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{limit}: {} {err}", output.status);
        assert_eq!(out, format!("{first}\n0 0 0 2\n"), "{limit}: {err}");
        let refused = first.starts_with("0 1");
        assert_eq!(err.lines().count(), usize::from(refused), "{limit}: {err}");
        assert!(
            !refused || err.contains("no memory for neighbour lists"),
            "{err}"
        );
    }
}
