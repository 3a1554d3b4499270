//! Binaries that form of three stars end a collapse.

mod common;

use common::PROGRAM;
use kirin_testing::Folder;

/// The columns of a CSV file by name, a line each.
fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let place = head.split(',').position(|n| n == name).unwrap();
    lines
        .map(|line| line.split(',').nth(place).unwrap().parse().unwrap())
        .collect()
}

/// Mean of `values` at times from `begin` to `end`.
fn mean(times: &[f64], values: &[f64], begin: f64, end: f64) -> f64 {
    let within = times
        .iter()
        .zip(values)
        .filter(|(t, _)| (begin..end).contains(*t));
    let (sum, count) = within.fold((0.0, 0), |(sum, count), (_, v)| (sum + v.ln(), count + 1));
    (sum / f64::from(count)).exp()
}

/// Without binaries such a cluster ends with fewer than 30 stars in its core. With them the core expands again, and then the whole cluster, as the energy of binaries
/// flows outwards.
#[test]
fn a_collapse_ends_in_a_bounce() {
    let folder = Folder::new("mc-bounce");
    let [csv, json] = ["a.csv", "a.json"].map(|f| folder.file(f));
    for seed in ["1", "3"] {
        let run = [
            "--n",
            "1000",
            "--three-body-binaries",
            "--t-end",
            "30",
            "--seed",
            seed,
            "--threads",
            "1",
            "--csv",
            &csv,
            "--json",
            &json,
        ];
        PROGRAM.succeed(&run);
        let text = folder.text("a.csv");
        let t = column(&text, "t");
        let core = column(&text, "core_radius");
        let deepest = (0..t.len())
            .min_by(|a, b| core[*a].total_cmp(&core[*b]))
            .unwrap();
        let collapsed = mean(&t, &core, t[deepest] - 0.05, t[deepest] + 0.05);
        assert!(
            (12.0..28.0).contains(&t[deepest]),
            "collapse at {}",
            t[deepest]
        );
        // The core may collapse again before the end.
        let begin = mean(&t, &core, 0.0, 1.0);
        let later = (0..30).map(f64::from).filter(|unit| *unit > t[deepest]);
        let expanded = later.map(|unit| mean(&t, &core, unit, unit + 1.0));
        let expanded = expanded.fold(0.0, f64::max);
        assert!(
            collapsed < 0.1 * begin && expanded > 2.0 * collapsed,
            "{begin} {collapsed} {expanded}"
        );
        let half = column(&text, "lagrangian_50");
        let formed = column(&text, "binaries")
            .iter()
            .position(|count| *count > 0.0);
        let before = half[formed.unwrap()];
        let end = mean(&t, &half, 29.0, 30.0);
        assert!(end > 1.15 * before, "{before} {end}");
        // The energy of the binaries is that which the stars, and those that have escaped, have gained.
        let parts = ["kinetic", "potential", "escaped_energy", "binary_energy"];
        let parts = parts.map(|name| column(&text, name));
        let sum = |k: usize| parts.iter().map(|part| part[k]).sum::<f64>();
        let last = t.len() - 1;
        assert!(
            (sum(last) / sum(0) - 1.0).abs() < 1e-9,
            "{} {}",
            sum(0),
            sum(last)
        );
        assert!(parts[3][last] < -0.05, "{}", parts[3][last]);
        let figures: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
        assert_eq!(figures["ending"], "time");
        assert!(figures["binaries"]["formed"].as_f64().unwrap() >= 2.0);
        assert!(figures["worst_energy_error"].as_f64().unwrap() < 1e-9);
    }
}
