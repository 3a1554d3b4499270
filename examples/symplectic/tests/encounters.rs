//! Close encounters under the step: the order, the way back, the black hole.

mod common;

use common::{PROGRAM, distance, end_of};
use kirin_kit::Snapshot;
use kirin_testing::Folder;

/// Pairs pass each other at the softening length, which the longer steps of this test do not resolve. Every star
/// has others within the changeover radius.
const CIRCLING: [&str; 16] = common::circling("0.1");

/// Halving the step divides the error by 2^order, so the near part is smooth enough for the sixth order. Errors are
/// differences from a run with short steps and without changeover.
#[test]
fn the_changeover_keeps_the_order() {
    let folder = Folder::new("changeover-orders");
    let end = |changeover: &str, scheme: &str, dt: &str| {
        let more = ["--changeover", changeover, "--scheme", scheme, "--dt", dt];
        end_of(&folder, "end", &[&CIRCLING[..], &more].concat())
    };
    let exact = end("none", "blanes-moan", "1/4096");
    for (scheme, order, steps) in [
        ("leapfrog", 2.0, ["1/128", "1/256", "1/512"]),
        ("forest-ruth", 4.0, ["1/64", "1/128", "1/256"]),
        ("si6a", 6.0, ["1/48", "1/96", "1/192"]),
    ] {
        let errors = steps.map(|dt| distance(&end("0.8", scheme, dt), &exact));
        for pair in errors.windows(2) {
            let slope = (pair[0] / pair[1]).log2();
            assert!((slope - order).abs() < 0.2, "{scheme}: {errors:?}, {slope}");
        }
    }
    let [with, without] =
        ["0.8", "none"].map(|changeover| distance(&end(changeover, "si6a", "1/64"), &exact));
    assert!(with < 0.02 * without, "{with:e} {without:e}");
}

/// 1000 steps forward and 1000 back, through encounters that the step does not resolve, end at the start. Without
/// the changeover they would end at a distance of 0.07 from it.
#[test]
fn encounters_are_undone() {
    let folder = Folder::new("changeover-back");
    let model = [
        "--n",
        "128",
        "--seed",
        "2",
        "--galaxy",
        "allen-santillan",
        "--precision",
        "double",
        "--scheme",
        "si6a",
        "--eps",
        "0.001",
        "--dt",
        "1/2000",
    ];
    let run = |name: &str, start: &[&str], t_end: &str| {
        let more = ["--t-end", t_end, "--energy-limit", "none"];
        end_of(&folder, name, &[start, &more].concat())
    };
    let start = run("start", &model, "1e-14");
    let there = run("there", &model, "1/2");
    let input = folder.file("there");
    let reverse = ["--input", &input, "--reverse", "--precision", "double"];
    let back = run("back", &reverse, "1");
    assert!(there.value("symplectic.changeover").is_some());
    assert!(distance(&start, &there) > 1.0);
    let distance = distance(&start, &back);
    assert!(distance < 1e-8, "{distance:e}");
}

/// Table 8, last row: a fall into an unsoftened black hole of 1e5 cluster masses, with the paper's step. The
/// paper's error is 5.63e-3. Without the changeover this program's error would exceed 1e6.
#[test]
fn a_plunge_through_a_bare_black_hole() {
    let options = [
        "--n",
        "16",
        "--galaxy",
        "allen-santillan",
        "--orbit",
        "radial",
        "--black-hole",
        "1e5",
        "--eps",
        "0.002",
        "--dt",
        "1e-4",
        "--t-end",
        "4",
        "--energy-limit",
        "none",
    ];
    let figures = PROGRAM.figures("plunge", &options);
    let error = figures["energy_error"].as_f64().unwrap();
    assert!(error < 1e-4, "{error:e}");
    let rest = figures["unexplained_part"].as_f64().unwrap();
    assert!(rest < 1e-8, "{rest:e}");
}

/// Two bare stars fall straight into each other: the run ends, says which, and leaves its state before that.
#[test]
fn a_fall_that_no_step_resolves_ends_the_run() {
    let folder = Folder::new("changeover-fall");
    let [input, output] = ["fall.txt", "end.txt"].map(|name| folder.file(name));
    let columns = "columns index mass x y z vx vy vz";
    let stars = "7 0.5 0.1 0 0 0 0 0\n9 0.5 -0.1 0 0 0 0 0";
    let text = format!("kirin-snapshot 1\nn 2\n{columns}\n{stars}\nend\n");
    std::fs::write(&input, text).unwrap();
    let run = ["--eps", "0", "--dt", "1/64", "--changeover", "0.5"];
    let run = [&["--input", &input], &run[..]].concat();
    let said = PROGRAM.fail(&[&run[..], &["--output", &output]].concat());
    assert!(said.contains("star 7 falls into another star"), "{said}");
    let saved = Snapshot::load(output.as_ref()).unwrap();
    // From rest at a distance of 0.2 it takes pi / 2 (0.2^3 / 2)^(1/2) = 0.099.
    assert_eq!(saved.time, 6.0 / 64.0);
    let before = end_of(
        &folder,
        "before",
        &[&run[..], &["--t-end", "6/64"]].concat(),
    );
    assert!(saved.bodies == before.bodies);
}
