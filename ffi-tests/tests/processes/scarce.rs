//! Little memory: no failed allocation of the library ends the client, and the memory of the library does not grow
//! with the number of blocks.

use std::path::{Path, PathBuf};

use ffi_tests::compiler::{Link, clean_command, compile, run, texts};
use ffi_tests::library;

fn client() -> Option<PathBuf> {
    if !Path::new("/proc/self/status").exists() {
        println!("SKIPPED: there is no /proc here to read memory from");
        return None;
    }
    compile("scarce.c", Link::Shared)
}

/// What the small block answers: the potential of a mass 4 at a distance of 2.
const USABLE: &str = "0 0 0 -2.000000";

/// Runs the client; returns its first line and its messages. The small block must be right; with `may_be_refused` it
/// may have the code -5 instead.
fn answers(
    client: &Path,
    [nj, ni, kilobytes]: [&str; 3],
    settings: &[(&str, &str)],
    may_be_refused: bool,
) -> (String, String) {
    let output = run(clean_command(client, settings).args([nj, ni, kilobytes]));
    let (out, err) = texts(&output);
    let what = format!("{nj} {ni} {kilobytes} {settings:?}: {out}{err}");
    assert!(output.status.success(), "{}: {what}", output.status);
    let lines: Vec<&str> = out.lines().collect();
    let refused = may_be_refused && lines[1].starts_with("-5 ") | lines[1].contains(" -5 ");
    assert!(lines[1] == USABLE || refused, "{what}");
    let expected = |line: &str| line.contains("no memory") || line.contains("recording");
    assert!(err.lines().all(expected), "{what}");
    (lines[0].to_owned(), err)
}

#[test]
fn particles_beyond_the_memory_are_refused_and_the_cluster_goes_on() {
    let Some(client) = client() else { return };
    for threads in ["1", "4"] {
        for backend in ["cpu", "reference"] {
            let settings = [("KIRIN_BACKEND", backend), ("KIRIN_THREADS", threads)];
            let what = ["1000000", "64", "160000"];
            let (codes, err) = answers(&client, what, &settings, false);
            assert!(codes.starts_with("-5 0 "), "{backend}: {codes}: {err}");
            let about_loads = err.lines().filter(|l| l.contains("j-particles")).count();
            assert_eq!(about_loads, 1, "{err}");
            assert!(err.lines().count() <= 3, "{err}");
            let what = ["10000", "1500000", "300000"];
            let (codes, err) = answers(&client, what, &settings, false);
            assert!(
                codes.starts_with("0 ") && codes.ends_with(" -5 0"),
                "{backend}: {codes}: {err}"
            );
            assert!((1..=2).contains(&err.lines().count()), "{err}");
        }
    }
}

/// No limit of the memory, wherever it is met, ends the client.
#[test]
fn whatever_is_left_ends_nobody() {
    let Some(client) = client() else { return };
    let file = |name| library::workspace().join(name).display().to_string();
    let (trace, statistics) = (file("scarce-%p.trace"), file("scarce.statistics"));
    let plain = [("KIRIN_THREADS", "4")];
    let observed = [
        ("KIRIN_TRACE", trace.as_str()),
        ("KIRIN_STATS", statistics.as_str()),
        ("KIRIN_CHECK", "1"),
    ];
    let mut refused = 0;
    for settings in [&plain[..], &observed] {
        for kilobytes in (0..24_000).step_by(600) {
            let limit = format!("+{kilobytes}");
            let (codes, _) = answers(
                &client,
                ["10000", "1000", &limit],
                settings,
                kilobytes < 8000,
            );
            refused += usize::from(codes.contains("-5"));
        }
        let (codes, err) = answers(&client, ["10000", "1000", "0"], settings, false);
        assert_eq!((codes.as_str(), err.as_str()), ("0 0 0 0", ""));
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn whatever_is_left_for_a_tree_ends_nobody() {
    let Some(client) = client() else { return };
    let mut refused = 0;
    for threads in ["1", "4"] {
        for kilobytes in (0..60_000).step_by(3000) {
            let limit = format!("+{kilobytes}");
            let settings = [("KIRIN_THREADS", threads)];
            let output =
                run(clean_command(&client, &settings).args(["200000", "10", &limit, "tree"]));
            let (out, err) = texts(&output);
            let what = format!("{threads} {kilobytes}: {out}{err}");
            assert!(output.status.success(), "{}: {what}", output.status);
            let (codes, wrong) = out.split_once('\n').expect(&what);
            assert!(codes.starts_with("0 ") && wrong == "0\n", "{what}");
            let mut codes = codes.split(' ');
            assert!(codes.all(|code| code == "0" || code == "-5"), "{what}");
            assert!(err.lines().all(|line| line.contains("no memory")), "{what}");
            refused += usize::from(out.contains("-5"));
        }
    }
    assert!((5..40).contains(&refused), "{refused}");
}

/// An i-particle, its results and its nearest neighbour are 152 bytes; its sums were a kilobyte once.
#[test]
fn large_blocks_take_no_memory_for_their_sums() {
    let Some(client) = client() else { return };
    for (precision, threads) in [("mixed", "1"), ("double", "2"), ("mixed", "4")] {
        let settings = [("KIRIN_PRECISION", precision), ("KIRIN_THREADS", threads)];
        let output = run(clean_command(&client, &settings).args(["500", "100000", "0"]));
        let (out, err) = texts(&output);
        let bytes: f64 = out.lines().last().unwrap_or_default().parse().expect(&err);
        assert!(
            (100.0..200.0).contains(&bytes),
            "{settings:?}: {bytes} bytes an i-particle"
        );
    }
}
