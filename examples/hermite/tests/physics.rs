//! Physics: order, energy, momentum, a known orbit.

mod common;

use common::{figures, grape};
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use kirin_kit::diagnostics::{Energy, angular_momentum, momentum};
use kirin_kit::vector::{norm, sub};
use kirin_kit::{Body, models};

/// With a softening so large that the step resolves every encounter, the error at the end is the
/// scheme's own: fourth order. (With less, the fifth-order errors of encounters outweigh it.)
#[test]
fn a_shared_step_shows_the_fourth_order() {
    for seed in ["1", "2", "3"] {
        let errors = ["1/32", "1/64", "1/128"].map(|h| {
            let arguments = [
                "--n",
                "64",
                "--eps",
                "1/2",
                "--seed",
                seed,
                "--shared-step",
                h,
            ];
            let figures = figures(&format!("order-{seed}"), &arguments);
            figures["energy_error"].as_f64().unwrap()
        });
        for pair in errors.windows(2) {
            let slope = (pair[0] / pair[1]).log2();
            assert!(
                (slope - 4.0).abs() < 0.3,
                "seed {seed}: {errors:?}, {slope}"
            );
        }
    }
}

#[test]
fn energy_is_conserved_with_exact_forces() {
    let mut errors = ["1", "2", "3", "4", "5"].map(|seed| {
        let arguments = ["--n", "256", "--eps", "0.00390625", "--eta", "0.01"];
        let more = ["--t-end", "1", "--seed", seed];
        let figures = figures(&format!("energy-{seed}"), &[&arguments[..], &more].concat());
        figures["energy_error"].as_f64().unwrap()
    });
    errors.sort_by(f64::total_cmp);
    assert!(errors[2] < 3e-8, "{errors:?}");
    // An error of nothing at all would mean that nothing was measured.
    assert!(errors[0] > 1e-14, "{errors:?}");
}

/// Two masses of 1/2 at the distance 1 on a circle, seen after one period of 2 pi.
#[test]
fn two_bodies_stay_on_their_circle() {
    let star = |index, side: f64| Body {
        index,
        mass: 0.5,
        x: [0.5 * side, 0.0, 0.0],
        v: [0.0, 0.5 * side, 0.0],
    };
    let settings = Settings {
        eps: 0.0,
        eta: 0.001,
        eta_start: 0.001,
        ..Settings::default()
    };
    let (_turn, grape) = grape();
    let bodies = vec![star(7, 1.0), star(3, -1.0)];
    let mut run = Integrator::start(&grape, settings, 0.0, bodies.clone()).unwrap();
    let period = std::f64::consts::TAU;
    let quarter = period / 4.0;
    let mut reach = |t: f64| {
        while run.next_time().unwrap() <= t {
            run.step().unwrap();
        }
        run.synchronised(t).unwrap()
    };
    let after_quarter = reach(quarter);
    assert!(norm(&sub(&after_quarter[0].x, &[0.0, 0.5, 0.0])) < 1e-5);
    let after_period = reach(period);
    for (end, start) in after_period.iter().zip(&bodies) {
        assert!(norm(&sub(&end.x, &start.x)) < 1e-5, "{end:?}");
        assert!(norm(&sub(&end.v, &start.v)) < 1e-5, "{end:?}");
    }
}

#[test]
fn momentum_and_angular_momentum_are_conserved() {
    let (_turn, grape) = grape();
    let bodies = models::plummer(128, 5);
    let before = angular_momentum(&bodies);
    let mut run = Integrator::start(&grape, Settings::default(), 0.0, bodies).unwrap();
    while run.next_time().unwrap() <= 0.5 {
        run.step().unwrap();
    }
    let bodies = run.synchronised(0.5).unwrap();
    // Individual steps see the two sides of a pair at different times, so neither is exact.
    assert!(norm(&momentum(&bodies)) < 1e-6, "{:?}", momentum(&bodies));
    let change = norm(&sub(&angular_momentum(&bodies), &before));
    assert!(change < 1e-6, "{change}");
}

/// A body of its own moves on a straight line, with the largest step.
#[test]
fn a_lone_body_goes_straight() {
    let (_turn, grape) = grape();
    let star = Body {
        index: -5,
        mass: 1.0,
        x: [1.0, 2.0, 3.0],
        v: [0.5, 0.0, -1.0],
    };
    let mut run = Integrator::start(&grape, Settings::default(), 0.0, vec![star]).unwrap();
    for _ in 0..8 {
        run.step().unwrap();
    }
    assert_eq!(run.time(), 1.0);
    assert_eq!(run.bodies()[0].x, [1.5, 2.0, 2.0]);
    assert_eq!(Energy::of(run.bodies(), 0.0).potential, 0.0);
}

#[test]
fn looking_changes_nothing() {
    let (_turn, grape) = grape();
    let evolve = |look: bool| {
        let bodies = models::plummer(64, 2);
        let mut run = Integrator::start(&grape, Settings::default(), 0.0, bodies).unwrap();
        while run.next_time().unwrap() <= 0.25 {
            if look {
                let between = (run.time() + run.next_time().unwrap()) / 2.0;
                run.synchronised(between).unwrap();
            }
            run.step().unwrap();
        }
        (run.bodies().to_vec(), run.states().to_vec())
    };
    assert!(evolve(true) == evolve(false));
}

#[test]
fn steps_are_of_many_lengths_and_blocks_of_many_sizes() {
    let (_turn, grape) = grape();
    let bodies = models::plummer(256, 1);
    let mut run = Integrator::start(&grape, Settings::default(), 0.0, bodies).unwrap();
    while run.next_time().unwrap() <= 0.25 {
        run.step().unwrap();
    }
    let counts = run.counts();
    assert_eq!(counts.block_sizes.iter().sum::<u64>(), counts.block_steps);
    assert_eq!(counts.pairs, counts.steps * 256);
    assert!(counts.block_sizes.iter().filter(|c| **c > 0).count() > 3);
    assert!(counts.mean_block_size() > 1.5 && counts.mean_block_size() < 128.0);
}

/// Half a radian around the Galaxy. The orbit has 10^4 times the energy of the cluster; both energies are
/// conserved, and the centre of mass stays on its circle.
#[test]
fn a_cluster_orbits_in_the_galaxy() {
    let arguments = [
        "--n",
        "128",
        "--galaxy",
        "allen-santillan",
        "--orbit",
        "circular",
        "--radius",
        "8",
        "--eps",
        "1/64",
        "--t-end",
        "4",
    ];
    let folder = kirin_testing::Folder::new("galaxy-run");
    let output = folder.file("end.txt");
    let more = ["--output", &output, "--snapshot-every", "4"];
    let figures = figures("galaxy", &[&arguments[..], &more].concat());
    let error = figures["energy_error"].as_f64().unwrap();
    assert!(error < 5e-9, "{error:e}");
    assert!(figures["initial_energy"].as_f64().unwrap() < -1e4);
    let [start, end] = ["end.0000.txt", "end.0001.txt"]
        .map(|name| kirin_kit::Snapshot::load(folder.file(name).as_ref()).unwrap());
    let [before, after] = [&start, &end].map(|s| angular_momentum(&s.bodies)[2]);
    assert!((before / (800.0 * 83.9) - 1.0).abs() < 1e-3, "{before:?}");
    assert!(
        (after / before - 1.0).abs() < 1e-8,
        "{:e}",
        after / before - 1.0
    );
    let (x, _) = kirin_kit::diagnostics::centre_of_mass(&end.bodies);
    assert!((norm(&x) - 800.0).abs() < 0.01, "{x:?}");
    // 4 / 59.9 of a revolution.
    let angle = x[1].atan2(x[0]) / std::f64::consts::TAU;
    assert!((angle * 59.9 - 4.0).abs() < 0.02, "{angle}");
    // The galaxy is a part of what a run goes on with.
    let resumed = common::PROGRAM.fail(&[
        "--input",
        &output,
        "--galaxy",
        "none",
        "--t-end",
        "5",
        "--json",
        &folder.file("a.json"),
    ]);
    assert!(resumed.contains("another galaxy"), "{resumed}");
    let on = ["--input", &output, "--t-end", "4.125"];
    let figures = common::figures("galaxy-on", &on);
    assert!(figures["energy_error"].as_f64().unwrap() < 5e-9);
}

/// The order of the energy error is nearly 5, because fourth-order errors cancel on a circle. Without the galaxy's
/// jerk it would be 3.
#[test]
fn the_order_is_not_lower_in_the_galaxy() {
    let errors = ["1/64", "1/128", "1/256"].map(|h| {
        let arguments = ["--n", "32", "--eps", "1/2", "--shared-step", h];
        let orbit = ["--galaxy", "irrgang", "--radius", "0.5"];
        let figures = figures("order-galaxy", &[&arguments[..], &orbit].concat());
        figures["energy_error"].as_f64().unwrap()
    });
    for pair in errors.windows(2) {
        let slope = (pair[0] / pair[1]).log2();
        assert!(slope > 3.7, "{errors:?}, {slope}");
    }
}

/// Two stars of mass 1/2 at the distance `d` with the relative velocity `v`, and the first step of each.
fn first_steps(d: f64, v: f64, settings: Settings) -> Vec<f64> {
    let (_turn, grape) = grape();
    let star = |index, side: f64| Body {
        index,
        mass: 0.5,
        x: [side * d / 2.0, 0.0, 0.0],
        v: [0.0, side * v / 2.0, 0.0],
    };
    let bodies = vec![star(1, 1.0), star(2, -1.0)];
    let run = Integrator::start(&grape, settings, 0.0, bodies).unwrap();
    run.states().iter().map(|state| state.dt).collect()
}

/// On a circle of radius and period 2 pi the derivatives of the acceleration are as long as it is: the step is sqrt(eta).
#[test]
fn first_steps_follow_the_criterion_of_all_steps() {
    for (eta, expected) in [(0.02, 1.0 / 8.0), (0.01, 1.0 / 16.0), (0.0005, 1.0 / 64.0)] {
        let settings = Settings {
            eps: 0.0,
            eta,
            ..Settings::default()
        };
        assert_eq!(first_steps(1.0, 1.0, settings), [expected; 2], "{eta}");
    }
}

/// Stars at rest have no jerk, which tells nothing of the time in which they fall together: pi / sqrt(8) sqrt(d^3).
#[test]
fn stars_at_rest_begin_with_steps_shorter_than_their_fall() {
    for d in [0.1, 1e-2, 1e-4] {
        let settings = Settings {
            eps: 0.0,
            ..Settings::default()
        };
        let scale = f64::powf(d, 1.5);
        for dt in first_steps(d, 0.0, settings) {
            assert!(dt < 0.2 * scale && dt > 0.01 * scale, "{d} {dt} {scale}");
        }
    }
}
