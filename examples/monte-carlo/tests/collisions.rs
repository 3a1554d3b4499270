//! Collisions against the theory: a Plummer sphere of identical stars merges at the rate n S w, with gravitational focusing.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Mutex;

use kirin_kit::command::Start;
use kirin_kit::communicator::{Counted, threads};
use kirin_kit::models::{BinaryOptions, MassFunction};
use monte_carlo::cluster::Cluster;
use monte_carlo::collision::Merged;
use monte_carlo::error::Error;
use monte_carlo::model;
use monte_carlo::random::streams;
use monte_carlo::settings::Settings;

/// Mergers in the unit of time of a Plummer sphere (G = M = 1, E = -1/4) of `n` stars of the radius `radius`.
///
/// A pair collides at the rate n S w with S = pi (2 R)^2 (1 + 2 G (2 m) / (2 R w^2)), so the whole rate is the integral over the volume of
/// n^2 / 2 times 4 pi R^2 (<w> + 2 m / R <1/w>).
fn mergers_per_time(n: f64, radius: f64) -> f64 {
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
fn with_cluster(
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
fn mergers(n: u64, radius: f64, t_end: f64, clusters: u64) -> (f64, f64) {
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

/// Stars that touch, and stars that gravity brings together: the standard errors are 3 %.
#[test]
fn stars_of_a_plummer_sphere_merge_at_the_rate_of_the_theory() {
    let (n, clusters) = (100_000, 30);
    for radius in [1e-3, 1e-6] {
        let rate = mergers_per_time(n as f64, radius);
        // 35 mergers a cluster.
        let dt = 35.0 / rate;
        let expected = 35.0 * clusters as f64;
        let (merged, time) = mergers(n, radius, dt, clusters);
        println!("radius {radius:e}: {merged} mergers, {expected} expected");
        // Nothing else has made the steps shorter.
        assert_eq!(time, dt);
        assert!((merged / expected - 1.0).abs() < 0.09);
    }
}

/// A star has at most one merger in a step. So a step is short enough that hardly any star in the centre would have two.
#[test]
fn few_stars_collide_in_a_step() {
    let (n, radius) = (20_000, 1e-3);
    let (merged, time) = mergers(n, radius, f64::INFINITY, 1);
    // A merger has two stars. In the centre the rate of a star is some four times the mean.
    let of_mean_star = 2.0 * mergers_per_time(n as f64, radius) * time / n as f64;
    println!("{merged} mergers, {of_mean_star} of each star");
    assert!((5e-4..2e-3).contains(&of_mean_star), "{of_mean_star}");
    assert!(merged < 0.002 * n as f64, "{merged}");
}

/// A star that grows keeps its label, also where the lighter one is the outer one, and brings its earlier mergers along. Seen from outside: who is
/// gone after a step, and whose mass is larger by that much?
#[test]
fn the_largest_merged_star_is_named() {
    let start = Start {
        n: Some(1000),
        mass_function: Some(MassFunction::Kroupa),
        ..Start::default()
    };
    let masses = |cluster: &Cluster<_>| -> BTreeMap<u64, f64> {
        let stars = &cluster.stars;
        stars
            .id
            .iter()
            .copied()
            .zip(stars.m.iter().copied())
            .collect()
    };
    with_cluster(&start, 4e-3, |cluster| {
        let (mut expected, mut all) = (BTreeMap::<u64, u64>::new(), 0);
        for _ in 0..150 {
            let before = masses(cluster);
            cluster.step(f64::INFINITY)?;
            let after = masses(cluster);
            let gone = || before.iter().filter(|(id, _)| !after.contains_key(id));
            for (id, mass) in after.iter().filter(|(id, mass)| before[id] != **mass) {
                let by = mass - before[id];
                let closest =
                    gone().min_by(|(_, a), (_, b)| (*a - by).abs().total_cmp(&(*b - by).abs()));
                let (other, lighter) = closest.unwrap();
                assert!((lighter / by - 1.0).abs() < 1e-9, "{lighter} {by}");
                assert!(
                    before[id] >= *lighter,
                    "the label is that of the heavier one"
                );
                let earlier = expected.remove(other).unwrap_or_default();
                *expected.entry(*id).or_default() += 1 + earlier;
                all += 1;
            }
            expected.retain(|id, _| after.contains_key(id));
            let of = |(&id, &mergers): (&u64, &u64)| Merged {
                id,
                mass: after[&id],
                mergers,
            };
            let expected: Vec<Merged> = expected.iter().map(of).collect();
            assert_eq!(cluster.past.merged, expected);
            assert_eq!(cluster.mergers(), all);
        }
        let largest = cluster.largest_merged().unwrap();
        println!("{all} mergers, {largest:?}");
        assert!(all > 100 && largest.mergers > 5);
        assert_eq!(
            largest.mass,
            cluster
                .past
                .merged
                .iter()
                .map(|star| star.mass)
                .fold(0.0, f64::max)
        );
        Ok(())
    });
}
