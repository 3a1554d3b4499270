//! Heavy stars sink as fast as in a solution of the isotropic Fokker-Planck equation, which has no noise. It is from Agama's PhaseFlow, by
//! `benches/fokker_planck.py`.

mod common;

use common::PROGRAM;
use serde_json::Value;

/// Records nearer to a time than this, in initial half-mass relaxation times, count for it.
const WINDOW: f64 = 0.01;

/// Mean of a column over the records about a time, and over seeds.
fn mean(runs: &[Value], column: &str, time: f64) -> f64 {
    let number = |value: &Value| value.as_f64().unwrap();
    let near = |record: &&Value| (number(&record["t"]) - time).abs() < WINDOW;
    let means = runs.iter().map(|run| {
        let records = run["records"].as_array().unwrap();
        let near: Vec<f64> = records
            .iter()
            .filter(near)
            .map(|record| number(&record[column]))
            .collect();
        near.iter().sum::<f64>() / near.len() as f64
    });
    means.sum::<f64>() / runs.len() as f64
}

/// Runs of 10^5 stars with these options, up to the time and a little more.
fn runs(name: &str, seeds: u32, time: f64, options: &[&str]) -> Vec<Value> {
    let end = (time + WINDOW).to_string();
    let run = |seed: u32| {
        let seed = seed.to_string();
        let model = ["--n", "100000", "--seed", &seed, "--core-stars", "0"];
        let records = ["--every", "0.002", "--t-end", &end];
        PROGRAM.figures(name, &[&model[..], &records, options].concat())
    };
    (1..=seeds).map(run).collect()
}

/// A fifth of the mass is in stars of 10 or of 3 times the mass of the others. The radius that holds half of them scatters by 1 % between
/// clusters. With one encounter a step, of at most a right angle, it would be 0.597 and 0.437 for 10 : 1.
#[test]
fn two_components_segregate_as_by_the_fokker_planck_equation() {
    for (ratio, expected) in [("10", [0.5621, 0.4038]), ("3", [0.7184, 0.6705])] {
        let options = ["--mass-ratio", ratio, "--mass-fraction", "0.2"];
        let runs = runs(&format!("mc-segregation-{ratio}"), 3, 0.4, &options);
        for (time, expected) in [0.2, 0.4].into_iter().zip(expected) {
            let found = mean(&runs, "heavy_50", time);
            println!("{ratio} : 1 at {time}: {found}, {expected}");
            assert!((found / expected - 1.0).abs() < 0.02, "{found}");
        }
    }
}

/// Salpeter's masses from 0.2 to 120, of which the heaviest collapse at 0.046 (Gurkan et al. 2004). Before that the radius of 5 % of the mass falls
/// from 0.233 to 0.186. With one encounter a step and no term for friction in the time step it would be 0.208. Smaller radii suffer from the noise of few
/// heavy stars.
#[test]
fn many_masses_segregate_as_by_the_fokker_planck_equation() {
    let options = ["--mass-function", "2.35,0.2,120", "--theta-max", "2"];
    let runs = runs("mc-segregation-salpeter", 4, 0.036, &options);
    let found = mean(&runs, "lagrangian_05", 0.036);
    println!("{found}");
    assert!((found / 0.186 - 1.0).abs() < 0.05, "{found}");
}
