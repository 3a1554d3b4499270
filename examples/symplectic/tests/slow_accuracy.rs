//! The longer rows of Table 7: 1000 steps of 0.0005 with more stars. The softening is 4 times the paper's, so that the
//! step resolves every encounter.

mod common;

use common::PROGRAM;

fn error(n: u32, precision: &str, scheme: &str) -> f64 {
    let eps = (0.02 / f64::from(n).cbrt()).to_string();
    let count = n.to_string();
    let options = [
        ["--n", count.as_str()],
        ["--eps", eps.as_str()],
        ["--dt", "0.0005"],
        ["--scheme", scheme],
        ["--precision", precision],
        ["--galaxy", "allen-santillan"],
        ["--t-end", "1/2"],
    ];
    let test = format!("table-7-{n}-{precision}-{scheme}");
    let figures = PROGRAM.figures(&test, &options.concat());
    figures["energy_error"].as_f64().unwrap()
}

#[test]
fn sixth_order_with_960_and_1920_stars() {
    for n in [960, 1920] {
        let (double, mixed) = (error(n, "double", "si6a"), error(n, "mixed", "si6a"));
        assert!(double < 5e-14, "N = {n}: {double:e}");
        assert!(mixed < 1e-10, "N = {n}: {mixed:e}");
    }
}

/// The published column of leapfrog in double-single has 2.7e-13 to 6.7e-10.
#[test]
fn leapfrog_with_960_and_1920_stars() {
    for n in [960, 1920] {
        let mixed = error(n, "mixed", "leapfrog");
        assert!(mixed < 1e-10, "N = {n}: {mixed:e}");
    }
}
