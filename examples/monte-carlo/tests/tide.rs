//! The tidal boundary: which stars leave, the mass and energy of those that stay, and the same bits on any number of
//! ranks.

mod common;

use common::{PROGRAM, assert_refused};
use kirin_kit::command::Start;
use kirin_kit::communicator::{Counted, threads};
use kirin_kit::models::BinaryOptions;
use kirin_kit::models::{King, Model};
use kirin_testing::Folder;
use monte_carlo::cluster::Cluster;
use monte_carlo::error::Error;
use monte_carlo::model;
use monte_carlo::orbit::{Star, find_apsides};
use monte_carlo::position::Orbit;
use monte_carlo::random::streams;
use monte_carlo::settings::Settings;
use monte_carlo::tide::{Boundary, Criterion, Tide};

const N: usize = 2000;

/// A King model in a tidal field, before its first step.
fn cluster(
    w0: f64,
    tide: Option<Tide>,
    theta_max: f64,
) -> Result<Cluster<threads::Threads>, Error> {
    let start = Start {
        n: Some(N as u64),
        model: Some(Model::King),
        w0: Some(w0),
        ..Start::default()
    };
    let settings = Settings {
        tide,
        theta_max,
        ..Settings::default()
    };
    let world = threads::run(1, Ok::<_, Error>)?.remove(0);
    let stars = model::draw(&world, &start, &BinaryOptions::default())?;
    let all = streams(1, N.div_ceil(20));
    let mut cluster = Cluster::new(Counted::new(world), settings, stars, &all, None)?;
    cluster.to_standard_units()?;
    Ok(cluster)
}

fn tide(criterion: Criterion, radius: f64) -> Tide {
    Tide {
        criterion,
        radius,
        mass: 1.0,
    }
}

/// Apocentres of all stars, by bisection; infinite for those that escape.
fn apocentres<C: kirin_kit::communicator::Communicator>(cluster: &Cluster<C>) -> Vec<f64> {
    let stars = &cluster.stars;
    let apocentre = |k: usize| {
        let velocity = [stars.vr[k], stars.vt[k]];
        let star = Star::new(&cluster.potential, k + 1, stars.m[k], velocity);
        if star.energy >= 0.0 {
            return f64::INFINITY;
        }
        let mut orbits = [Orbit::of(star, 0)];
        find_apsides(&cluster.potential, &mut orbits);
        orbits[0].ends[1].r
    };
    (0..stars.len()).map(apocentre).collect()
}

/// A look at the tidal radius tells what the orbits' ends do.
#[test]
fn stars_leave_by_their_apocentre() {
    let cluster = cluster(5.0, None, 1.0).unwrap();
    let (potential, stars) = (&cluster.potential, &cluster.stars);
    let apocentres = apocentres(&cluster);
    for radius in [0.3, 1.0, 2.0, 4.0] {
        let mut count = 0;
        for (k, apocentre) in apocentres.iter().enumerate() {
            let star = Star::new(potential, k + 1, stars.m[k], [stars.vr[k], stars.vt[k]]);
            let leaves = Boundary::Radius(radius).is_left_by(potential, &cluster.radii, &star);
            assert_eq!(leaves, *apocentre > radius, "{k}: {apocentre}, {radius}");
            count += usize::from(leaves);
        }
        assert!(count > 0 && count < N, "{count} beyond {radius}");
    }
}

/// Stars that leave take mass away, so the tidal radius shrinks and further stars are beyond it. There are hardly
/// any encounters, so the stars that leave in the first step follow from the orbits of the model.
#[test]
fn the_tidal_radius_shrinks_until_nobody_leaves() {
    let radius = 0.5 * King::new(3.0).tidal_radius();
    let tide = tide(Criterion::Apocentre, radius);
    let mut cluster = cluster(3.0, Some(tide), 1e-5).unwrap();
    let apocentres = apocentres(&cluster);
    let left = |limit: f64| apocentres.iter().filter(|r| **r <= limit).count();
    let (mut expected, first) = (N, left(radius));
    loop {
        let shrunk = radius * (expected as f64 / N as f64).cbrt();
        let now = left(shrunk);
        if now == expected {
            break;
        }
        expected = now;
    }
    assert!(expected + 50 < first, "{expected} {first}");
    cluster.step(f64::INFINITY).unwrap();
    assert!(
        cluster.n().abs_diff(expected) <= 2,
        "{} {expected}",
        cluster.n()
    );
    let ratio = cluster.tidal_radius().unwrap().powi(3) / cluster.potential.mass();
    assert!((ratio / radius.powi(3) - 1.0).abs() < 1e-12);
}

/// Mass and energy that leave are in the ledger, to rounding. Stars that could still come beyond the tidal radius at the next step are few.
#[test]
fn mass_and_energy_are_accounted_for() {
    for criterion in [Criterion::Apocentre, Criterion::Energy] {
        let tide = tide(criterion, King::new(3.0).tidal_radius());
        let mut cluster = cluster(3.0, Some(tide), 1.0).unwrap();
        for _ in 0..60 {
            cluster.step(f64::INFINITY).unwrap();
        }
        let ledger = cluster.past.ledger;
        assert_eq!(cluster.n() as u64 + ledger.escapers, N as u64);
        assert!((cluster.potential.mass() + ledger.escaped_mass - 1.0).abs() < 1e-12);
        assert!(ledger.escapers > 100 && ledger.escaped < 0.0, "{ledger:?}");
        let error = cluster.energy_error();
        assert!(error < 1e-12, "{criterion:?}: {error:e}");
        if criterion == Criterion::Apocentre {
            let limit = cluster.tidal_radius().unwrap();
            let beyond = apocentres(&cluster).iter().filter(|r| **r > limit).count();
            assert!(beyond < 20, "{beyond}");
        }
    }
}

/// xi = 1.5 - 3 (ln(0.1 * 10^4) / 10^4)^(1/4) = 1.0136: Giersz, Heggie and Hurley (2008).
#[test]
fn the_energy_is_that_of_giersz_heggie_and_hurley() {
    let tide = tide(Criterion::Energy, 8.0);
    let boundary = tide.boundary(0.125, 10_000, 1000.0_f64.ln());
    let Boundary::Energy(energy) = boundary else {
        panic!("{boundary:?}")
    };
    // M / r_t = (1/8) / 4.
    assert!((energy + 1.013_63 / 32.0).abs() < 1e-6, "{}", energy * 32.0);
}

#[test]
fn any_number_of_ranks_gives_the_same_bits() {
    for criterion in ["apocentre", "energy"] {
        let folder = Folder::new(&format!("mc-tide-{criterion}"));
        let [whole, half, rest] = ["whole.txt", "half.txt", "rest.txt"].map(|f| folder.file(f));
        let start = [
            "--n",
            "2000",
            "--model",
            "king",
            "--w0",
            "3",
            "--mass-function",
            "kroupa",
            "--tidal-boundary",
            criterion,
        ];
        let run = |more: &[&str]| PROGRAM.succeed(&[&start[..], more].concat());
        run(&[
            "--steps",
            "60",
            "--ranks",
            "3",
            "--threads",
            "2",
            "--output",
            &whole,
        ]);
        run(&["--steps", "30", "--output", &half]);
        for ranks in ["1", "4"] {
            PROGRAM.succeed(&[
                "--input", &half, "--steps", "30", "--ranks", ranks, "--output", &rest, "--force",
            ]);
            assert!(
                folder.text("rest.txt") == folder.text("whole.txt"),
                "{criterion}: {ranks} ranks"
            );
        }
        let other = if criterion == "energy" {
            "apocentre"
        } else {
            "energy"
        };
        let refusal = PROGRAM.fail(&["--input", &half, "--tidal-boundary", other]);
        assert!(refusal.contains("--tidal-boundary"), "{refusal}");
        let refusal = PROGRAM.fail(&["--input", &half, "--tidal-radius", "7"]);
        assert!(refusal.contains("--tidal-radius"), "{refusal}");
    }
}

/// A cluster far larger than its tidal radius is gone at once; the run ends with its files.
#[test]
fn a_cluster_dissolves() {
    let folder = Folder::new("mc-dissolves");
    let [output, json] = ["out.txt", "a.json"].map(|f| folder.file(f));
    let run = [
        "--n",
        "1000",
        "--tidal-boundary",
        "apocentre",
        "--tidal-radius",
        "0.7",
        "--output",
        &output,
        "--json",
        &json,
    ];
    for ranks in ["1", "3"] {
        PROGRAM.succeed(&[&run[..], &["--ranks", ranks]].concat());
        let figures: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
        assert_eq!(figures["ending"], "dissolved");
        assert!(figures["last"]["n"].as_f64().unwrap() >= 100.0);
        assert!(figures["worst_energy_error"].as_f64().unwrap() < 1e-12);
    }
    PROGRAM.succeed(&["--input", &output]);
    let json: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
    assert_eq!(json["ending"], "dissolved");
}

#[test]
fn senseless_boundaries_are_refused() {
    assert_refused(&[
        (&["--tidal-radius", "3"][..], "--tidal-boundary"),
        (&["--tidal-boundary", "energy"], "needs --tidal-radius"),
        (
            &["--tidal-boundary", "energy", "--tidal-radius", "0"],
            "--tidal-radius",
        ),
        (
            &["--tidal-boundary", "energy", "--tidal-radius", "-1"],
            "--tidal-radius",
        ),
    ]);
}
