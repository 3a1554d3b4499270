//! Mergers in a Plummer sphere of identical stars: by the theory, at the rate n S w with gravitational focusing, and in this method's first step.

use std::f64::consts::PI;
use std::sync::Mutex;

use kirin_kit::command::Start;
use kirin_kit::communicator::{Counted, threads};
use kirin_kit::models::BinaryOptions;
use monte_carlo::cluster::Cluster;
use monte_carlo::error::Error;
use monte_carlo::model;
use monte_carlo::random::streams;
use monte_carlo::settings::Settings;

/// Mergers in the unit of time of a Plummer sphere (G = M = 1, E = -1/4) of `n` stars of the radius `radius`.
///
/// A pair collides at the rate n S w with S = pi (2 R)^2 (1 + 2 G (2 m) / (2 R w^2)), so the whole rate is the integral over the volume of
/// n^2 / 2 times 4 pi R^2 (<w> + 2 m / R <1/w>).
pub fn mergers_per_time(n: f64, radius: f64) -> f64 {
    let a = 3.0 * PI / 16.0;
    let [mean, inverse] = relative_speeds();
    // Simpson's rule in x, where r = a tan(x).
    let steps = 1000;
    let h = 0.5 * PI / f64::from(steps);
    let mut sum = 0.0;
    for k in 1..steps {
        let x = f64::from(k) * h;
        let (r, slope) = (a * x.tan(), a / x.cos().powi(2));
        let squared = r * r + a * a;
        let density = n * 3.0 * a * a / (4.0 * PI) * squared.powf(-2.5);
        let escape = (2.0 / squared.sqrt()).sqrt();
        let swept = mean * escape + 2.0 / n / radius * inverse / escape;
        let weight = if k % 2 == 1 { 4.0 } else { 2.0 };
        let shell = 4.0 * PI * r * r * slope;
        sum += weight * shell * 0.5 * density * density * 4.0 * PI * radius * radius * swept;
    }
    sum * h / 3.0
}

/// <w> and <1/w> of two stars at one place, for an escape velocity of 1. The speeds v have the density v^2 (1 - v^2)^(7/2). Averaged over all
/// directions, w is max + min^2 / (3 max), and 1/w is 1/max.
fn relative_speeds() -> [f64; 2] {
    let cells = 400;
    let speeds: Vec<[f64; 2]> = (0..cells)
        .map(|k| (f64::from(k) + 0.5) / f64::from(cells))
        .map(|v| [v, v * v * (1.0 - v * v).powf(3.5)])
        .collect();
    let [mut all, mut mean, mut inverse] = [0.0; 3];
    for [v1, f1] in &speeds {
        for [v2, f2] in &speeds {
            let (least, most) = (v1.min(*v2), v1.max(*v2));
            all += f1 * f2;
            mean += f1 * f2 * (most + least * least / (3.0 * most));
            inverse += f1 * f2 / most;
        }
    }
    [mean / all, inverse / all]
}

/// Brings a new cluster with collisions to `then`.
pub fn with_cluster(
    start: &Start,
    radius: f64,
    then: impl Fn(&mut Cluster<threads::Threads>) -> Result<(), Error> + Sync,
) {
    let done = threads::run(1, |world| {
        let world = Counted::new(world);
        let settings = Settings {
            radius,
            seed: start.seed(),
            ..Settings::default()
        };
        let stars = model::draw(&world, start, &BinaryOptions::default())?;
        let all = streams(settings.seed, stars.len().div_ceil(20));
        let mut cluster = Cluster::new(world, settings, stars, &all, None)?;
        cluster.to_standard_units()?;
        then(&mut cluster)
    });
    done.unwrap();
}

/// Mergers in clusters of `n` stars in their first step, which ends at `t_end` at the latest, and the time at its end.
pub fn mergers(n: u64, radius: f64, t_end: f64, clusters: u64) -> (f64, f64) {
    let found = Mutex::new((0.0, 0.0));
    for seed in 1..=clusters {
        let start = Start {
            n: Some(n),
            seed: Some(seed),
            ..Start::default()
        };
        with_cluster(&start, radius, |cluster| {
            cluster.step(t_end)?;
            let mut found = found.lock().unwrap();
            *found = (found.0 + cluster.mergers() as f64, cluster.past.time);
            Ok(())
        });
    }
    found.into_inner().unwrap()
}

/// The mergers of so many clusters in a first step in which the theory has 35 in each, over those of the theory.
pub fn over_theory(radius: f64, clusters: u64) -> f64 {
    let n = 100_000;
    let dt = 35.0 / mergers_per_time(n as f64, radius);
    let expected = 35.0 * clusters as f64;
    let (merged, time) = mergers(n, radius, dt, clusters);
    println!("radius {radius:e}: {merged} mergers, {expected} expected");
    // Nothing else has made the steps shorter.
    assert_eq!(time, dt);
    merged / expected
}
