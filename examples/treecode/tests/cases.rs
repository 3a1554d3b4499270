//! Special distributions of particles that are difficult for a tree.

mod common;

use common::{direct, forces, grape, rms};
use kirin_kit::vector::{Vec3, norm};
use kirin_kit::{Body, models};
use treecode::error::Error;
use treecode::forces::Engine;
use treecode::integrator::Integrator;
use treecode::settings::Settings;

fn bodies(positions: impl IntoIterator<Item = Vec3>) -> Vec<Body> {
    let positions: Vec<Vec3> = positions.into_iter().collect();
    let mass = 1.0 / positions.len() as f64;
    let body = |(index, x)| Body {
        index,
        mass,
        x,
        v: [0.0; 3],
    };
    (0..).zip(positions).map(body).collect()
}

/// The forces by both engines must be finite, and as near to the exact ones as `bound`.
fn check(bodies: &[Body], settings: &Settings, bound: f64) {
    let exact = direct(bodies, settings.eps);
    let (_turn, grape) = grape();
    for (name, engine) in [("library", Engine::Library(&grape)), ("host", Engine::Host)] {
        let found = forces(engine, settings, bodies);
        for ((a, phi), (b, psi)) in exact.iter().zip(&found) {
            let scale = exact.iter().map(|e| norm(&e.0)).fold(0.0, f64::max);
            let difference = (0..3).map(|k| (a[k] - b[k]).abs()).fold(0.0, f64::max);
            assert!(difference <= bound * scale, "{name}: {a:?} {b:?}");
            assert!(
                (phi - psi).abs() <= bound * phi.abs(),
                "{name}: {phi} {psi}"
            );
        }
    }
}

#[test]
fn nobody_one_and_two() {
    let (_turn, grape) = grape();
    for n in [0, 1] {
        let all = bodies((0..n).map(|_| [1.0, 2.0, 3.0]));
        let engine = Engine::Library(&grape);
        let mut run = Integrator::start(engine, Settings::default(), 0.0, &all).unwrap();
        run.step(1.0).unwrap();
        assert_eq!(
            run.bodies().unwrap(),
            all,
            "nothing acts on a particle by itself"
        );
        assert!(run.particles().iter().all(|p| p.pot == 0.0));
    }
    drop((_turn, grape));
    for eps in [0.0, 0.125] {
        let settings = Settings {
            eps,
            ..Settings::default()
        };
        check(&bodies([[0.0; 3], [1.0, 0.0, 0.0]]), &settings, 1e-6);
    }
}

#[test]
fn coincident_particles() {
    let heap = |n| std::iter::repeat_n([0.3, 0.1, -0.2], n);
    let field = models::plummer(300, 4);
    let all = bodies(field.iter().map(|b| b.x).chain(heap(50)));
    for (eps, n_crit) in [(0.0, 16), (0.01, 16), (0.01, 1000), (0.0, 1)] {
        let settings = Settings {
            eps,
            n_crit,
            theta: 0.5,
            ..Settings::default()
        };
        check(&all, &settings, 2e-2);
    }
    // Nothing but one place.
    for eps in [0.0, 0.5] {
        let settings = Settings {
            eps,
            n_crit: 7,
            ..Settings::default()
        };
        check(&bodies(heap(40)), &settings, 1e-6);
    }
}

#[test]
fn all_on_a_line() {
    for axis in 0..3 {
        let line = (0..2000).map(|k| {
            let mut x = [0.25; 3];
            x[axis] = f64::from(k) / 2000.0;
            x
        });
        for quadrupoles in [false, true] {
            let settings = Settings {
                n_crit: 64,
                theta: 0.5,
                quadrupoles,
                ..Settings::default()
            };
            check(&bodies(line.clone()), &settings, 2e-2);
        }
    }
}

/// 256 pipelines take a group of thousands in parts, with the same bits as any other number of them.
#[test]
fn groups_larger_than_the_pipelines() {
    let all = models::plummer(3000, 5);
    let settings = Settings {
        n_crit: 3000,
        ..Settings::default()
    };
    assert!(grape().1.npipes() < 3000);
    let exact = direct(&all, settings.eps);
    let (_turn, grape) = grape();
    let found = forces(Engine::Library(&grape), &settings, &all);
    assert!(rms(&exact, &found) < 1e-6, "one group is direct summation");
}

#[test]
fn a_scale_far_from_one() {
    for scale in [1e-12, 1e15] {
        let mut all = models::plummer(500, 6);
        for b in &mut all {
            b.x = b.x.map(|c| c * scale);
        }
        let settings = Settings {
            eps: scale / 64.0,
            theta: 0.5,
            n_crit: 32,
            ..Settings::default()
        };
        check(&all, &settings, 1e-2);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let start = |settings, bodies: &[Body]| {
        Integrator::start(Engine::Host, settings, 0.0, bodies).map(|_| ())
    };
    let default = Settings::default();
    let plummer = models::plummer(20, 1);
    assert_eq!(start(default, &plummer), Ok(()));
    for settings in [
        Settings {
            eps: -1.0,
            ..default
        },
        Settings {
            theta: f64::NAN,
            ..default
        },
        Settings {
            theta: 1.6,
            ..default
        },
        Settings { dt: 0.0, ..default },
        Settings {
            n_crit: 0,
            ..default
        },
    ] {
        let result = start(settings, &plummer);
        assert!(matches!(result, Err(Error::Refused(_))), "{settings:?}");
    }
    let mut lost = plummer.clone();
    lost[7].x[1] = f64::NAN;
    assert_eq!(start(default, &lost), Err(Error::Position { index: 7 }));
    lost[7].x[1] = 0.0;
    lost[9].mass = f64::INFINITY;
    assert!(matches!(start(default, &lost), Err(Error::Force { .. })));
}
