//! Blocks in parts of 48 i-particles waste a GPU's time on launches: a line says so, once.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};

use crate::run;

#[test]
fn a_gpu_that_waits_for_parts_of_blocks_says_so_once() {
    let Some(client) = compile("parts.c", Link::Shared) else {
        return;
    };
    let told = |particles: &str, rounds: &str, settings: &[(&str, &str)]| {
        let arguments = [particles, rounds].map(OsStr::new);
        let run = run(&client, &arguments, settings)?;
        assert!(run.success, "{}", run.err);
        let lines = run.err.lines().filter(|l| l.contains("KIRIN_NPIPES="));
        Some((lines.count(), run.err.clone()))
    };
    // A GPU on which each launch takes a millisecond, whatever its size.
    let slow = [("FAKE_CUDA_DELAY", "1")];
    let Some(mut found) = told("400", "300", &slow) else {
        return;
    };
    // The line needs times with little scatter, and this machine may be busy.
    for _ in 0..4 {
        if found.0 > 0 {
            break;
        }
        found = told("400", "300", &slow).unwrap_or(found);
    }
    let (lines, err) = found;
    assert_eq!((lines, err.lines().count()), (1, 1), "{err}");
    assert!(
        err.starts_with("kirin: blocks in parts of 48 i-particles take about "),
        "{err}"
    );
    assert!(err.contains("KIRIN_NPIPES=256 saves it"), "{err}");
    // A hundred blocks are too few for the line, and a GPU whose time goes into pairs needs none.
    assert_eq!(told("400", "100", &slow), Some((0, String::new())));
    assert_eq!(told("1600", "80", &[]), Some((0, String::new())));
}
