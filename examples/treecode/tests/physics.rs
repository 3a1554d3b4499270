//! Conserved quantities and the order of the integrator.

mod common;

use common::grape;
use kirin_kit::Body;
use kirin_kit::diagnostics::{Energy, angular_momentum, momentum};
use kirin_kit::models::Model;
use kirin_kit::vector::{norm, sub};
use treecode::forces::Engine;
use treecode::integrator::Integrator;
use treecode::settings::Settings;

fn evolve(engine: Engine<'_>, settings: Settings, bodies: &[Body], t_end: f64) -> Vec<Body> {
    let mut run = Integrator::start(engine, settings, 0.0, bodies).unwrap();
    while run.step(t_end).unwrap() {}
    assert_eq!(run.time(), t_end);
    run.bodies().unwrap()
}

#[test]
fn energy_and_momentum_of_every_model() {
    let (_turn, grape) = grape();
    for model in [Model::Plummer, Model::Sphere, Model::Collision] {
        let before = model.make(4096, 3);
        let settings = Settings {
            n_crit: 256,
            ..Settings::default()
        };
        let after = evolve(Engine::Library(&grape), settings, &before, 1.0);
        let eps2 = settings.eps * settings.eps;
        let energy0 = Energy::of(&before, eps2).total();
        let error = Energy::of(&after, eps2).error(energy0);
        assert!(error < 1e-3, "{model:?}: {error:e}");
        // Groups act on cells and cells do not act back: momentum is kept as well as forces are known.
        assert!(norm(&momentum(&after)) < 1e-3, "{model:?}");
        let turn = sub(&angular_momentum(&after), &angular_momentum(&before));
        assert!(norm(&turn) < 1e-3, "{model:?}: {turn:?}");
    }
}

/// The potentials that come with the forces give the energy of all pairs.
#[test]
fn the_energy_of_the_tree_is_that_of_the_pairs() {
    let bodies = Model::Plummer.make(8192, 2);
    let settings = Settings::default();
    let run = Integrator::start(Engine::Host, settings, 0.0, &bodies).unwrap();
    let exact = Energy::of(&bodies, settings.eps * settings.eps);
    let found = run.energy().unwrap();
    assert!((found.kinetic / exact.kinetic - 1.0).abs() < 1e-12);
    assert!((found.potential / exact.potential - 1.0).abs() < 1e-3);
}

#[test]
fn all_pairs_conserve_momentum_to_rounding() {
    let before = Model::Plummer.make(500, 8);
    let settings = Settings {
        theta: 0.0,
        ..Settings::default()
    };
    let after = evolve(Engine::Host, settings, &before, 0.5);
    assert!(norm(&momentum(&after)) < 1e-14);
}

/// A pair on a circle: half the step, a quarter of the error, and times that are no multiples of it.
#[test]
fn the_leapfrog_is_of_second_order() {
    let star = |index, side: f64| Body {
        index,
        mass: 0.5,
        x: [side, 0.0, 0.0],
        v: [0.0, side, 0.0],
    };
    let pair = [star(0, 0.5), star(1, -0.5)];
    let error = |dt: f64| {
        let settings = Settings {
            eps: 0.0,
            dt,
            ..Settings::default()
        };
        let end = evolve(Engine::Host, settings, &pair, 1.03);
        let exact = [0.5 * 1.03_f64.cos(), 0.5 * 1.03_f64.sin(), 0.0];
        norm(&sub(&end[0].x, &exact))
    };
    let (coarse, fine) = (error(1.0 / 32.0), error(1.0 / 64.0));
    assert!(coarse < 1e-4, "{coarse:e}");
    assert!((3.5..4.5).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
}
