//! A hierarchical triple that goes through Kozai's cycles, and its figures by an independent program, for tests of
//! integrators.

use std::f64::consts::TAU;

use crate::Body;

/// A triple with a_out / a_in = 12. The first two bodies are the inner binary, whose eccentricity goes from 0.1 to 0.96
/// and back.
pub fn triple() -> [Body; 3] {
    let body = |index, mass, x, v| Body { index, mass, x, v };
    [
        body(
            1,
            1.0,
            [
                0.32250903580043155,
                -3.634623490080835,
                -0.14837712705341383,
            ],
            [
                0.3609220463315663,
                -0.03989778009712321,
                -0.2063195598687512,
            ],
        ),
        body(
            2,
            0.3,
            [0.9566018025795114, -3.5212509631962274, 0.49459042351137955],
            [-0.4949744623628557, 0.11774760846482074, 0.6877318662291708],
        ),
        body(
            3,
            0.7,
            [-0.8706993951061216, 6.701426827199577, 0.0],
            [-0.3034710108895853, 0.006533567939538555, 0.0],
        ),
    ]
}

/// The time between the eccentricities that [`assert_cycles`] gets: a quarter of the outer period.
pub fn interval() -> f64 {
    TAU * (12.0_f64.powi(3) / 2.0).sqrt() / 4.0
}

/// Asserts that the inner pair goes through Kozai's cycles as it should. Times and eccentricities of the first and the
/// third maximum are within 1 % of those by REBOUND 5.2.2's IAS15, whose own energy error is 2e-13. The period is
/// within 5 % of 10296, that of the double-averaged quadrupole equations. `track` has the eccentricity of the inner
/// pair after each [`interval`], up to a time of at least 30000.
///
/// # Panics
///
/// They are not.
pub fn assert_cycles(track: &[f64]) {
    let greatest = |from: f64, to: f64| {
        let inside = |k: &usize| (from..to).contains(&(*k as f64 * interval()));
        let all = (0..track.len()).filter(inside);
        let k = all.max_by(|a, b| track[*a].total_cmp(&track[*b]));
        k.map(|k| ((k + 1) as f64 * interval(), track[k]))
            .expect("the track is long enough")
    };
    let (first, third) = (greatest(0.0, 10_000.0), greatest(20_000.0, 30_000.0));
    for ((t, e), (expected_t, expected_e)) in [
        (first, (4663.351, 0.959_062)),
        (third, (25_717.689, 0.954_504)),
    ] {
        assert!((t / expected_t - 1.0).abs() < 0.01, "{t} {expected_t}");
        assert!((e / expected_e - 1.0).abs() < 0.01, "{e} {expected_e}");
    }
    let period = 0.5 * (third.0 - first.0);
    assert!((period / 10_296.3 - 1.0).abs() < 0.05, "{period}");
}
