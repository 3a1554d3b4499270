//! Epicyclic clumps in the tails of a cluster on a circular orbit (Kuepper, MacLeod and Heggie 2008; Kuepper et al. 2010).
//!
//! A star that leaves through a Lagrange point drifts along the orbit on a cycloid. It is slowest once in each
//! epicyclic period, and there the tails are densest.
//!
//! The papers' formula follows a star that starts at rest at the tidal radius x and feels only the galaxy. The distance
//! of the first clump is then 4 pi W / k (1 - 4 W^2 / k^2) x, with the angular speed W and the epicyclic frequency k.
//! At the tidal radius, however, the cluster's attraction is as strong as the tide. The cluster's attraction makes the
//! distance 1.3 times as long. This test therefore integrates the star's path from the Lagrange point.

mod common;

use common::PROGRAM;
use kirin_kit::Snapshot;
use kirin_kit::density::Core;
use kirin_kit::galaxy::flow::{Phase, follow};
use kirin_kit::galaxy::{Field, Galaxy};
use kirin_kit::vector::norm;
use kirin_testing::Folder;

/// Width of the intervals of distance, in units of the formula's.
const WIDTH: f64 = 0.1;

/// Angular speed and epicyclic frequency of a circle of radius `r`.
fn frequencies(galaxy: &Galaxy, r: f64) -> (f64, f64) {
    let squared = |r: f64| (galaxy.circular_speed(&[r, 0.0, 0.0]) / r).powi(2);
    let h = 1e-4 * r;
    let slope = (squared(r + h) - squared(r - h)) / (2.0 * h);
    (squared(r).sqrt(), (4.0 * squared(r) + r * slope).sqrt())
}

/// A star leaves the Lagrange point at rest. Returns the first three distances along the orbit at which it is slowest,
/// in units of the formula's distance. The frame rotates with the cluster. The unit of length is the tidal radius, and
/// that of time is 1 / W.
fn slowest(k: f64) -> Vec<f64> {
    let tide = 4.0 - k * k;
    let f = |_: f64, (x, v): &Phase| {
        let r3 = norm(x).powi(3);
        [
            2.0 * v[1] + tide * (x[0] - x[0] / r3),
            -2.0 * v[0] - tide * x[1] / r3,
            0.0,
        ]
    };
    let mut star: Phase = ([1.0 + 1e-4, 0.0, 0.0], [0.0; 3]);
    let formula = 4.0 * std::f64::consts::PI / k * (4.0 / (k * k) - 1.0);
    let (step, mut speeds, mut found) = (0.01, Vec::new(), Vec::new());
    while found.len() < 3 {
        star = follow(&f, &star, 0.0, step, step).unwrap();
        speeds.push((norm(&star.1), star.0[1].abs() / formula));
        if let [.., before, now, after] = speeds[..]
            && now.0 < before.0
            && now.0 < after.0
            && now.1 > 0.5
        {
            found.push(now.1);
        }
    }
    found
}

/// Counts stars by their distance from the cluster along the circle. An interval is [`WIDTH`] times the formula's
/// distance for a cluster of this mass.
fn add(counts: &mut [f64], snapshot: &Snapshot, mass: f64, r: f64, (w, k): (f64, f64)) {
    let tidal = (mass / (4.0 * w * w - k * k)).cbrt();
    let formula = 4.0 * std::f64::consts::PI * w / k * (4.0 * w * w / (k * k) - 1.0) * tidal;
    let centre = Core::of(&snapshot.bodies).centre;
    let zero = centre[1].atan2(centre[0]);
    for body in &snapshot.bodies {
        let turn = body.x[1].atan2(body.x[0]) - zero;
        let angle = turn.sin().atan2(turn.cos()).abs();
        let place = (angle * r / formula / WIDTH) as usize;
        if let Some(count) = counts.get_mut(place) {
            *count += 1.0;
        }
    }
}

#[test]
fn clumps_are_where_stars_are_slowest() {
    let folder = Folder::new("clumps");
    let model = [
        "--n",
        "2048",
        "--model",
        "king",
        "--w0",
        "3",
        "--galaxy",
        "allen-santillan",
        "--radius",
        "4",
    ];
    let run = [
        "--t-end",
        "300",
        "--dt",
        "1/64",
        "--eps",
        "0.1",
        "--every",
        "4",
        "--snapshot-every",
        "4",
    ];
    let mut counts = vec![0.0; 64];
    let mut expected = Vec::new();
    // One cluster has too few stars in its third clumps.
    for seed in ["1", "2", "3"] {
        let [output, json] = ["txt", "json"].map(|end| folder.file(&format!("run{seed}.{end}")));
        let files = ["--seed", seed, "--output", &output, "--json", &json];
        PROGRAM.succeed(&[&model[..], &run, &files].concat());
        let figures: serde_json::Value =
            serde_json::from_str(&folder.text(&format!("run{seed}.json"))).unwrap();
        let error = figures["own_energy_error"].as_f64().unwrap();
        assert!(error < 1e-4, "{error:e}");
        for number in 38..=75 {
            let name = format!("run{seed}.{number:04}.txt");
            let snapshot = Snapshot::load(folder.file(&name).as_ref()).unwrap();
            let galaxy = Galaxy::of(&snapshot).unwrap();
            let r = galaxy.units.from_kpc(4.0);
            let (w, k) = frequencies(&galaxy, r);
            if expected.is_empty() {
                expected = slowest(k / w);
            }
            let mass = figures["records"][number]["bound_mass"].as_f64().unwrap();
            add(&mut counts, &snapshot, mass, r, (w, k));
        }
    }
    for place in &expected {
        // A clump is the wider, the farther out it is.
        let half = (0.1 * place / WIDTH).round() as usize;
        let smooth = |i: usize| counts[i - half..=i + half].iter().sum::<f64>();
        let about = (place / WIDTH) as usize;
        let window = about - 6..=about + 6;
        let densest = window
            .clone()
            .max_by(|a, b| smooth(*a).total_cmp(&smooth(*b)))
            .unwrap();
        let found = (densest as f64 + 0.5) * WIDTH;
        println!("clump at {found:.2} of the formula's distance, expected {place:.2}");
        assert!(
            (found / place - 1.0).abs() < 0.1,
            "{found} {place}: {counts:?}"
        );
        // Between clumps are fewer stars.
        let least = window.map(smooth).fold(f64::INFINITY, f64::min);
        assert!(smooth(densest) > 1.2 * least, "{counts:?}");
    }
}
