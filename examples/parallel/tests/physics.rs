//! Physics on a grid of ranks: the energy is conserved, and heavy stars sink.

mod common;

use common::program::{succeed, threads};
use kirin_testing::Folder;
use serde_json::Value;

/// A small cluster with stars ten times heavier relaxes within a few crossing times.
#[test]
fn heavy_stars_sink_and_energy_holds() {
    let folder = Folder::new("sink");
    let json = folder.file("figures.json");
    let model = ["--n", "512", "--mass-ratio", "10", "--mass-fraction", "0.2"];
    let run = [
        "--eps", "1/128", "--t-end", "15", "--every", "1", "--ranks", "2",
    ];
    succeed(threads(&[&model[..], &run, &["--json", &json]].concat()));
    let figures: Value = serde_json::from_str(&folder.text("figures.json")).unwrap();
    assert!(figures["energy_error"].as_f64().unwrap() < 1e-5);
    let records = figures["records"].as_array().unwrap();
    let half_mass = |record: &Value, component: &str| record[component][1].as_f64().unwrap();
    let mean = |records: &[Value], component: &str| {
        let radii = records.iter().map(|r| half_mass(r, component));
        radii.sum::<f64>() / records.len() as f64
    };
    let (first, last) = (&records[..3], &records[records.len() - 3..]);
    let heavy = mean(last, "heavy_radii") / mean(first, "heavy_radii");
    let light = mean(last, "light_radii") / mean(first, "light_radii");
    assert!(heavy < 0.75 && heavy < 0.8 * light, "{heavy} {light}");
    assert!((0.8..1.4).contains(&light), "{light}");
}
