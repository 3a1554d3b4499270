//! Input that cannot be integrated is refused, with a reason.

mod common;

use common::grape;
use hermite::counts::Counts;
use hermite::error::Error;
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use hermite::sources::Library;
use kirin_kit::snapshot::State;
use kirin_kit::{Body, models};

fn start(settings: Settings, time: f64, bodies: Vec<Body>) -> Result<(), Error> {
    let (_turn, grape) = grape();
    let mut run = Integrator::start(&grape, settings, time, bodies)?;
    (0..100).try_for_each(|_| run.step())
}

#[test]
fn senseless_settings() {
    let default = Settings::default();
    let cases = [
        Settings {
            eps: -1.0,
            ..default
        },
        Settings {
            eps: f64::NAN,
            ..default
        },
        Settings {
            eta: 0.0,
            ..default
        },
        Settings {
            eta_start: f64::INFINITY,
            ..default
        },
        Settings {
            dt_max: 0.1,
            ..default
        },
        Settings {
            dt_max: 2.0,
            ..default
        },
        Settings {
            dt_min: 0.1,
            ..default
        },
        Settings {
            dt_min: 0.25,
            ..default
        },
    ];
    for settings in cases {
        let result = start(settings, 0.0, models::plummer(8, 1));
        assert!(matches!(result, Err(Error::Refused(_))), "{settings:?}");
    }
    assert_eq!(start(default, 0.0, models::plummer(8, 1)), Ok(()));
}

#[test]
fn times_between_steps() {
    let bodies = models::plummer(8, 1);
    let odd = start(Settings::default(), 0.1, bodies.clone()).unwrap_err();
    assert!(odd.to_string().contains("0.1"), "{odd}");
    assert_eq!(start(Settings::default(), -0.25, bodies), Ok(()));
}

#[test]
fn two_bodies_of_one_name() {
    let mut bodies = models::plummer(8, 1);
    bodies[5].index = bodies[2].index;
    let error = start(Settings::default(), 0.0, bodies).unwrap_err();
    assert!(error.to_string().contains("index 2"), "{error}");
}

/// A head-on collision without softening has no step that is small enough.
#[test]
fn steps_that_vanish() {
    let star = |index, x| Body {
        index,
        mass: 0.5,
        x: [x, 0.0, 0.0],
        v: [0.0; 3],
    };
    let settings = Settings {
        eps: 0.0,
        eta: 1e-5,
        eta_start: 1e-5,
        ..Settings::default()
    };
    let (_turn, grape) = grape();
    let bodies = vec![star(11, -1e-8), star(12, 1e-8)];
    let mut result = Integrator::start(&grape, settings, 0.0, bodies);
    let error = loop {
        match result.as_mut().map(Integrator::step) {
            Ok(Ok(())) => {}
            Ok(Err(e)) => break e,
            Err(_) => break result.err().unwrap(),
        }
    };
    assert!(matches!(error, Error::StepTooSmall { .. }), "{error}");
    // The last digit of times up to the largest step, 1/8.
    assert!(error.to_string().contains("2^-55"), "{error}");
}

#[test]
fn states_that_no_run_can_have() {
    let (_turn, grape) = grape();
    let bodies = models::plummer(4, 1);
    let resume = |t: f64, dt: f64| {
        let state = State {
            t,
            dt,
            ..State::default()
        };
        let states = vec![state; bodies.len()];
        let settings = Settings::default();
        let counts = Counts::default();
        Integrator::resume(
            Library::open(&grape)?,
            settings,
            0.5,
            bodies.clone(),
            states,
            counts,
        )
        .map(|_| ())
    };
    assert_eq!(resume(0.5, 0.125), Ok(()));
    for (t, dt) in [
        (0.5, 0.1),
        (0.5, 0.25),
        (0.5, 0.0),
        (0.375, 0.125),
        (0.625, 0.125),
    ] {
        let error = resume(t, dt).unwrap_err();
        assert!(error.to_string().contains("particle 0"), "{error}");
    }
}
