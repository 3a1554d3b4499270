//! The longer rows of Table 7: 1000 steps of 0.0005 with more stars.

mod common;

use common::PROGRAM;

fn error(n: &str, precision: &str, scheme: &str) -> f64 {
    let options = [
        "--n",
        n,
        "--galaxy",
        "allen-santillan",
        "--t-end",
        "1/2",
        "--precision",
        precision,
        "--scheme",
        scheme,
    ];
    let figures = PROGRAM.figures(&format!("table-7-{n}-{precision}-{scheme}"), &options);
    figures["energy_error"].as_f64().unwrap()
}

#[test]
fn sixth_order_with_960_and_1920_stars() {
    for n in ["960", "1920"] {
        let (double, mixed) = (error(n, "double", "si6a"), error(n, "mixed", "si6a"));
        assert!(double < 5e-14, "N = {n}: {double:e}");
        assert!(mixed < 1e-10, "N = {n}: {mixed:e}");
    }
}

#[test]
fn leapfrog_with_960_to_3840_stars() {
    for n in ["960", "1920", "3840"] {
        let mixed = error(n, "mixed", "leapfrog");
        assert!(mixed < 1e-10, "N = {n}: {mixed:e}");
    }
}
