//! A client that sends blocks in parts of 48 i-particles wastes a GPU's time on launches. One line on stderr says so,
//! and which `KIRIN_NPIPES` saves it.

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
    // The line needs times with little scatter, and this machine may be busy: each is given five attempts.
    let lines_of = |particles, rounds, settings, expected| {
        let runs = (0..5).map_while(|_| told(particles, rounds, settings));
        let mut last = None;
        for run in runs {
            let is_expected = run.0 == expected;
            last = Some(run);
            if is_expected {
                break;
            }
        }
        last
    };
    // A GPU on which each launch takes a millisecond, whatever its size.
    let slow: &[(&str, &str)] = &[("FAKE_CUDA_DELAY", "1")];
    let Some((lines, err)) = lines_of("400", "300", slow, 1) else {
        return;
    };
    assert_eq!((lines, err.lines().count()), (1, 1), "{err}");
    assert!(
        err.starts_with("kirin: blocks in parts of 48 i-particles take about "),
        "{err}"
    );
    assert!(err.contains("KIRIN_NPIPES=256 saves it"), "{err}");
    // A hundred blocks are too few for the line, and a GPU whose time goes into pairs needs none.
    let none = Some((0, String::new()));
    assert_eq!(lines_of("400", "100", slow, 0), none);
    assert_eq!(lines_of("1600", "80", &[], 0), none);
}
