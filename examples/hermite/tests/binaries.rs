//! Close binaries: periods of a billionth of the cluster's unit of time.

mod common;

use std::f64::consts::TAU;

use common::{fail, grape, succeed};
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use kirin_kit::diagnostics::Energy;
use kirin_kit::few_body::kepler::Orbit;
use kirin_kit::vector::{Vec3, add_scaled, dot, norm, sub};
use kirin_kit::{Body, Snapshot, models};
use kirin_testing::Folder;

/// Semi-major axis of the binaries.
const AXIS: f64 = 1e-7;

/// A small cluster in which the first star is a binary of this eccentricity, at its pericentre; its
/// two stars come first.
fn cluster(eccentricity: f64) -> Vec<Body> {
    let mut stars = models::plummer(32, 4);
    let star = stars.remove(0);
    let distance = AXIS * (1.0 - eccentricity);
    let speed = (star.mass * (1.0 + eccentricity) / distance).sqrt();
    let (x, v): (Vec3, Vec3) = ([0.0, distance, 0.0], [0.0, 0.0, speed]);
    let half = |index: i32, side: f64| {
        let mut half = Body { index, ..star };
        half.mass = 0.5 * star.mass;
        add_scaled(&mut half.x, side, &x);
        add_scaled(&mut half.v, side, &v);
        half
    };
    let mut bodies = vec![half(100, 0.5), half(101, -0.5)];
    bodies.extend(stars);
    bodies
}

/// Position and velocity of the first star from the second.
fn relative(bodies: &[Body]) -> (Vec3, Vec3) {
    (
        sub(&bodies[0].x, &bodies[1].x),
        sub(&bodies[0].v, &bodies[1].v),
    )
}

/// Energy for a unit of reduced mass: -M / 2a.
fn binding((x, v): &(Vec3, Vec3), mass: f64) -> f64 {
    0.5 * dot(v, v) - mass / norm(x)
}

/// A circular and an eccentric binary return to their starting points after ten periods, and keep their energy and
/// that of the cluster. The run begins at t = 1, where the last digit of a time is 2^-52.
#[test]
fn a_binary_of_separation_1e_7_keeps_its_orbit() {
    let settings = Settings {
        eps: 0.0,
        eta: 0.001,
        eta_start: 0.00025,
        ..Settings::default()
    };
    for eccentricity in [0.0, 0.5] {
        let bodies = cluster(eccentricity);
        let mass = bodies[0].mass + bodies[1].mass;
        let period = TAU * (AXIS.powi(3) / mass).sqrt();
        let before = relative(&bodies);
        let energy0 = Energy::of(&bodies, 0.0).total();
        let (_turn, grape) = grape();
        let mut run = Integrator::start(&grape, settings, 1.0, bodies).unwrap();
        let mut reach = |t: f64| {
            while run.next_time().unwrap() <= t {
                run.step().unwrap();
            }
            run.synchronised(t).unwrap()
        };
        // Half a period later it is on the other side: something moved.
        let side = dot(&relative(&reach(1.0 + 0.5 * period)).0, &before.0);
        assert!(side < 0.0, "{side}");
        let bodies = reach(1.0 + 10.0 * period);
        let after = relative(&bodies);
        let error = Energy::of(&bodies, 0.0).error(energy0);
        assert!(error < 1e-6, "e = {eccentricity}: {error:e}");
        let binding_error = binding(&after, mass) / binding(&before, mass) - 1.0;
        assert!(
            binding_error.abs() < 1e-6,
            "e = {eccentricity}: {binding_error:e}"
        );
        let missed = norm(&sub(&after.0, &before.0)) / AXIS;
        assert!(missed < 1e-3, "e = {eccentricity}: {missed:e}");
    }
}

/// A run that ends because it needs a smaller step than allowed keeps its state. Continued with a smaller limit, it
/// ends like a run that had no limit.
#[test]
fn a_run_below_its_smallest_step_can_be_resumed() {
    let folder = Folder::new("smallest-step");
    let [pair, cut, resumed, whole] =
        ["pair", "cut", "resumed", "whole"].map(|name| folder.file(name));
    // Apocentre of an ellipse with a = 0.01 and e = 0.9: at the pericentre steps are 2^-7 of these.
    let speed = (1.0_f64 * (1.0 - 0.9) / 0.019).sqrt();
    let text = format!(
        "kirin-snapshot 1\nn 2\ncolumns mass x y z vx vy vz\n\
         0.5 0.0095 0 0 0 {0} 0\n0.5 -0.0095 0 0 0 -{0} 0\nend\n",
        speed / 2.0
    );
    std::fs::write(&pair, text).unwrap();
    let run = ["--t-end", "1/64", "--eps", "0"];
    let refusal = fail(
        &[
            &run[..],
            &["--input", &pair, "--dt-min", "2^-16", "--output", &cut],
        ]
        .concat(),
    );
    for words in ["2^-16", "--dt-min", "--eps", "is in", "cut"] {
        assert!(refusal.contains(words), "{words}: {refusal}");
    }
    let time = Snapshot::load(cut.as_ref()).unwrap().time;
    assert!(time > 0.0 && time < 1.0 / 64.0, "{time}");
    let finer = ["--dt-min", "2^-40", "--output"];
    succeed(&[&run[..], &["--input", &cut], &finer, &[&resumed]].concat());
    succeed(&[&run[..], &["--input", &pair], &finer, &[&whole]].concat());
    let [resumed, whole] = [resumed, whole].map(|path| Snapshot::load(path.as_ref()).unwrap());
    assert!(resumed.bodies == whole.bodies && resumed.states == whole.states);
    assert_eq!(
        resumed.value("hermite.counts"),
        whole.value("hermite.counts")
    );
}

/// Half of the systems are binaries: with 48 stars 16, whose stars come first and are bound to each other.
#[test]
fn primordial_binaries_are_made() {
    let folder = Folder::new("primordial");
    let output = folder.file("run.txt");
    let stars = ["--n", "48", "--eps", "0", "--t-end", "1/256"];
    let binaries = ["--binary-fraction", "0.5", "--output", &output];
    let said = succeed(&[&stars[..], &binaries].concat()).stderr;
    assert!(said.is_empty());
    let softened = ["--n", "48", "--t-end", "1/256", "--binary-fraction", "0.5"];
    let said = String::from_utf8(succeed(&softened).stderr).unwrap();
    assert!(said.contains("--eps 0 --regularize keeps them"), "{said}");
    let bodies = Snapshot::load(output.as_ref()).unwrap().bodies;
    assert_eq!(bodies.len(), 48);
    let axis = |pair: &[Body]| {
        let (x, v) = relative(pair);
        Orbit::of(&x, &v, pair[0].mass + pair[1].mass).axis * 48.0
    };
    let (pairs, singles) = bodies.split_at(32);
    for pair in pairs.chunks_exact(2) {
        assert!((0.009..1.1).contains(&axis(pair)), "{}", axis(pair));
    }
    assert!(
        singles
            .chunks_exact(2)
            .all(|pair| !(0.0..1.1).contains(&axis(pair)))
    );
    for (wrong, words) in [
        (&["--binary-periods", "opik"][..], "--binary-fraction"),
        (
            &["--binary-fraction", "0.5", "--binary-periods", "kroupa1995"],
            "--units",
        ),
        (&["--binary-fraction", "0.01"], "less than half a binary"),
        (&["--binary-fraction", "1.5"], "not from 0 to 1"),
        (&["--binary-fraction", "-0.5"], "--binary-fraction"),
        (
            &[
                "--binary-fraction",
                "0.5",
                "--mass-ratio",
                "2",
                "--mass-fraction",
                "0.1",
            ],
            "cannot be used with",
        ),
    ] {
        let said = fail(&[&stars[..], wrong].concat());
        assert!(said.contains(words), "{wrong:?}: {said}");
    }
}
