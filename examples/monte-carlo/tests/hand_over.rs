//! Bodies from one program to another: those of a run begin a direct summation by `hermite`, and a table of others begins a run.

mod common;

use common::PROGRAM;
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use kirin::client::Grape;
use kirin_kit::diagnostics::Energy;
use kirin_kit::galaxy::Units;
use kirin_kit::{Body, Snapshot, models};
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

/// A cluster in solar masses, parsecs and km/s is in equilibrium in the units to which it is brought.
#[test]
fn bodies_in_solar_masses_parsecs_and_km_s_are_brought_to_units() {
    let folder = Folder::new("mc-physical");
    let table = folder.file("stars.csv");
    let units = Units {
        mass: 5e4,
        length: 3.0,
    };
    let line = |b: &Body| {
        let numbers = [
            &[units.mass * b.mass][..],
            &b.x.map(|c| units.length * c),
            &b.v.map(|c| units.velocity() * c),
        ];
        let numbers: Vec<String> = numbers.concat().iter().map(f64::to_string).collect();
        numbers.join(",")
    };
    let lines: Vec<String> = models::plummer(1000, 1).iter().map(line).collect();
    std::fs::write(&table, format!("m,x,y,z,vx,vy,vz\n{}\n", lines.join("\n"))).unwrap();
    let given = ["--input", &table, "--physical", "--steps", "2"];
    let figures = PROGRAM.figures("mc-physical-json", &given);
    let mass = figures["units"]["solar_masses"].as_f64().unwrap();
    assert!((mass / 5e4 - 1.0).abs() < 1e-12, "{mass}");
    // -1/4 in parts of G M^2 over the virial radius, which is 1.30 half-mass radii.
    let [kinetic, potential] = ["kinetic", "potential"].map(|name| figures["last"][name].as_f64());
    let (kinetic, potential) = (kinetic.unwrap(), potential.unwrap());
    let energy = kinetic + potential;
    assert!((energy / -0.192 - 1.0).abs() < 0.1, "{energy}");
    assert!(
        (-kinetic / potential - 0.5).abs() < 0.05,
        "{kinetic} {potential}"
    );
}
