//! A hierarchical triple through Kozai's cycles: the inner pair is regularized, the third star is a star.

mod common;

use std::f64::consts::TAU;

use common::grape;
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use kirin_kit::Body;
use kirin_kit::few_body::kepler::Orbit;
use kirin_kit::vector::sub;

/// The triple of the kit's few-body test: a_out / a_in = 12, e from 0.1 to 0.96 and back.
fn triple() -> Vec<Body> {
    [
        (
            1.0,
            [0.32250903580043155, -3.634623490080835, -0.14837712705341383],
            [0.3609220463315663, -0.03989778009712321, -0.2063195598687512],
        ),
        (
            0.3,
            [0.9566018025795114, -3.5212509631962274, 0.49459042351137955],
            [-0.4949744623628557, 0.11774760846482074, 0.6877318662291708],
        ),
        (
            0.7,
            [-0.8706993951061216, 6.701426827199577, 0.0],
            [-0.3034710108895853, 0.006533567939538555, 0.0],
        ),
    ]
    .into_iter()
    .zip(1..)
    .map(|((mass, x, v), index)| Body { index, mass, x, v })
    .collect()
}

/// Times and eccentricities of the first and third maximum are those of REBOUND's IAS15 (see the kit's test of the same triple)
/// within 1 %, and the period is the secular one within 5 %.
#[test]
fn a_triple_goes_through_kozai_cycles() {
    let (_turn, grape) = grape();
    let settings = Settings {
        eps: 0.0,
        dt_max: 1.0,
        regularize: 4.0,
        ..Settings::default()
    };
    let mut run = Integrator::start(&grape, settings, 0.0, triple()).unwrap();
    let interval = TAU * (12.0_f64.powi(3) / 2.0).sqrt() / 4.0;
    let mut track = Vec::new();
    while (track.len() as f64) * interval < 30_000.0 {
        let t = (track.len() + 1) as f64 * interval;
        while run.next_time().unwrap() <= t {
            run.step().unwrap();
        }
        let stars = run.synchronised(t).unwrap();
        let (dx, dv) = (sub(&stars[1].x, &stars[0].x), sub(&stars[1].v, &stars[0].v));
        track.push(Orbit::of(&dx, &dv, 1.3).eccentricity);
    }
    assert!(run.regularized().formed > 0);
    let greatest = |from: f64, to: f64| {
        let inside = |k: &usize| (from..to).contains(&(*k as f64 * interval));
        let all = (0..track.len()).filter(inside);
        let k = all.max_by(|a, b| track[*a].total_cmp(&track[*b])).unwrap();
        ((k + 1) as f64 * interval, track[k])
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
    eprintln!("{first:?} {third:?} {period}");
}
