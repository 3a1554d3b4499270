//! The bodies of a run are the beginning of a direct summation by `hermite`.

mod common;

use common::PROGRAM;
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use kirin::client::Grape;
use kirin_kit::diagnostics::Energy;
use kirin_kit::{Body, Snapshot};
use kirin_testing::Folder;

const N: f64 = 1500.0;

/// The radius about the origin that holds half of the mass of the heavy stars.
fn heavy_radius(bodies: &[Body]) -> f64 {
    let largest = bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
    let radius = |b: &&Body| b.mass > 0.99 * largest;
    let heavy = bodies.iter().filter(radius);
    let mut radii: Vec<f64> = heavy.map(|b| kirin_kit::vector::norm(&b.x)).collect();
    radii.sort_by(f64::total_cmp);
    radii[(radii.len() - 1) / 2]
}

#[test]
fn a_direct_summation_goes_on_with_the_bodies() {
    let folder = Folder::new("mc-hand-over");
    let bodies = folder.file("bodies.txt");
    let model = ["--n", "1500", "--mass-ratio", "5", "--mass-fraction", "0.2"];
    let run = [&model[..], &["--t-end", "0.4", "--bodies", &bodies]].concat();
    let figures = PROGRAM.figures("mc-hand-over-json", &run);
    let snapshot = Snapshot::load(std::path::Path::new(&bodies)).unwrap();
    // The file has the time in units of the bodies.
    let time = 0.4 * figures["relaxation_time0"].as_f64().unwrap();
    assert!(
        (snapshot.time / time - 1.0).abs() < 1e-9,
        "{}",
        snapshot.time
    );
    let settings = Settings {
        eps: 4.0 / N,
        ..Settings::default()
    };
    // As `hermite --t-start` would say.
    let begin = (time / settings.dt_max).round() * settings.dt_max;
    // In equilibrium, and with the energy of standard units, but for few escapers and the softening.
    let energy = Energy::of(&snapshot.bodies, settings.eps * settings.eps);
    let ratio = -energy.kinetic / energy.potential;
    assert!((ratio - 0.5).abs() < 0.02, "{energy:?}");
    assert!((energy.total() + 0.25).abs() < 0.01, "{energy:?}");
    let radius = heavy_radius(&snapshot.bodies);
    let grape = Grape::linked();
    let mut direct = Integrator::start(&grape, settings, begin, snapshot.bodies).unwrap();
    let end = begin + 0.5;
    while direct.next_time().is_some_and(|t| t <= end) {
        direct.step().unwrap();
    }
    let after = direct.synchronised(end).unwrap();
    let error = Energy::of(&after, settings.eps * settings.eps).error(energy.total());
    assert!(error < 1e-5, "{error:e}");
    let change = heavy_radius(&after) / radius - 1.0;
    assert!(change.abs() < 0.15, "the heavy stars stay: {change}");
}
