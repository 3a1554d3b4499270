//! The predictor, and when it is applied.

use ffi_tests::direct::Source;
use ffi_tests::script::{Call, Script};
use ffi_tests::sets::cloud;
use ffi_tests::trial::{Settings, everywhere, under};

use super::{at, probe};

/// A particle whose whole motion lies in one derivative.
fn moving(derivative: usize) -> Source {
    let mut s = at(1, 8.0);
    let fields = [&mut s.v, &mut s.aby2, &mut s.a1by6, &mut s.a2by18];
    fields.into_iter().nth(derivative).expect("there are four")[0] = 4.0;
    s
}

#[test]
fn each_derivative_has_the_coefficient_of_grape6() {
    let positions = [8.0 + 2.0, 8.0 + 1.0, 8.0 + 0.5, 8.0 + 0.1875];
    let velocities = [4.0, 4.0, 3.0, 1.5];
    for derivative in 0..4 {
        let mut script = Script::new();
        script.load(&[moving(derivative)]).time(0.5);
        script.call(Call::Predicted(0, 1));
        script.block(1, &[probe(9, 0.0, 0.0)], 0.0);
        let Some(answers) = everywhere(&script) else {
            return;
        };
        let predicted = &answers[2];
        assert_eq!(predicted[1], positions[derivative]);
        assert_eq!(predicted[4], velocities[derivative]);
        // Status, then the attraction of a unit mass at that place.
        assert!((answers[4][1] * positions[derivative].powi(2) - 1.0).abs() < 1e-14);
    }
}

#[test]
fn all_derivatives_together_forwards_and_backwards() {
    let set = cloud(50, 11, 0.01);
    let mut script = Script::new();
    script.load(&set.sources);
    for ti in [set.ti, 0.0, -3.0, 1.5, set.ti] {
        script.time(ti).block(50, &set.probes, set.eps2);
    }
    everywhere(&script);
}

#[test]
fn the_snap_can_be_ignored() {
    let mut script = Script::new();
    script
        .load(&[moving(3)])
        .time(1.0)
        .block(1, &[probe(9, 0.0, 0.0)], 0.0);
    let settings = Settings {
        snap: false,
        ..Default::default()
    };
    if let Some(answers) = under(&script, &settings) {
        assert_eq!(answers[3][1], 1.0 / 64.0);
    }
}

#[test]
fn zero_step_takes_the_stored_values_whatever_the_derivatives() {
    let mut s = at(1, 2.0);
    s.t = 0.75;
    s.aby2 = [f64::INFINITY, f64::NAN, 0.0];
    s.a1by6 = [f64::NAN; 3];
    s.a2by18 = [f64::NEG_INFINITY; 3];
    let mut script = Script::new();
    script
        .load(&[s])
        .time(0.75)
        .block(1, &[probe(9, 0.0, 0.0)], 0.0);
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[3][1], 0.25);
    }
}

#[test]
fn the_time_may_come_before_the_particles() {
    let mut script = Script::new();
    script
        .time(2.0)
        .load(&[moving(0)])
        .block(1, &[probe(9, 0.0, 0.0)], 0.0);
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[3][1], 1.0 / 256.0);
    }
}

#[test]
fn particles_sent_after_a_block_are_predicted_in_the_next_without_another_time() {
    let mut script = Script::new();
    script
        .load(&[moving(0)])
        .time(0.5)
        .block(1, &[probe(9, 0.0, 0.0)], 0.0);
    let mut other = moving(0);
    other.x[0] = 6.0;
    script.load(&[other]).block(1, &[probe(9, 0.0, 0.0)], 0.0);
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[6][1], 1.0 / 64.0);
    }
}

#[test]
fn before_any_time_it_is_zero() {
    let mut s = moving(0);
    s.t = -1.0;
    let mut script = Script::new();
    script.load(&[s]).block(1, &[probe(9, 0.0, 0.0)], 0.0);
    if let Some(answers) = everywhere(&script) {
        assert_eq!(answers[2][1], 1.0 / 144.0);
    }
}
