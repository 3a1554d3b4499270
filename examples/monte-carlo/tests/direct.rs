//! A small cluster by direct summation and by this method: one relaxation time, and radii that agree.

mod common;

use common::PROGRAM;

#[test]
fn lagrangian_radii_are_those_of_direct_summation() {
    let figures = PROGRAM.figures(
        "mc-direct",
        &["--cross-check", "--n", "512", "--t-end", "1"],
    );
    let worst = figures["worst"].as_array().unwrap();
    // What 51, 256 and 461 of 512 stars scatter by.
    for (worst, limit) in worst.iter().zip([0.2, 0.1, 0.15]) {
        assert!(
            worst.as_f64().unwrap() < limit,
            "{worst} > {limit}: {figures}"
        );
    }
    let errors = figures["energy_errors"].as_array().unwrap();
    assert!(errors[0].as_f64().unwrap() < 1e-4 && errors[1].as_f64().unwrap() < 1e-9);
}
