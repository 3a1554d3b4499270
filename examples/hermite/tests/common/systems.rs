//! Stars in binaries and clusters, and runs that regularize them.

use hermite::integrator::Integrator;
use hermite::settings::Settings;
use hermite::sources::Library;
use kirin::client::Grape;
use kirin_kit::few_body::kepler::Orbit;
use kirin_kit::run::{Integration, Log, Run};
use kirin_kit::vector::{Vec3, add_scaled, sub};
use kirin_kit::{Body, Snapshot, models};

use super::through_text;

pub fn settings(eta: f64) -> Settings {
    Settings {
        eps: 0.0,
        eta,
        eta_start: eta / 4.0,
        regularize: 2.0,
        ..Settings::default()
    }
}

/// Two stars of these masses on an orbit, at its apocentre, with their centre at `x` and `v`; labels from `index` on.
pub fn binary(index: i32, masses: [f64; 2], axis: f64, e: f64, centre: (Vec3, Vec3)) -> [Body; 2] {
    let mass = masses[0] + masses[1];
    let speed = (mass / axis * (1.0 - e) / (1.0 + e)).sqrt();
    let (x, v) = (
        [axis * (1.0 + e), 0.0, 0.0],
        [0.0, 0.8 * speed, 0.6 * speed],
    );
    [(0, -masses[1] / mass), (1, masses[0] / mass)].map(|(k, part): (usize, f64)| {
        let mut star = Body {
            index: index + k as i32,
            mass: masses[k],
            x: centre.0,
            v: centre.1,
        };
        add_scaled(&mut star.x, part, &x);
        add_scaled(&mut star.v, part, &v);
        star
    })
}

pub fn orbit(a: &Body, b: &Body) -> Orbit {
    Orbit::of(&sub(&b.x, &a.x), &sub(&b.v, &a.v), a.mass + b.mass)
}

pub fn reach(run: &mut Integrator<Library<'_>>, t: f64) -> Vec<Body> {
    while run.next_time().unwrap() <= t {
        run.step().unwrap();
    }
    run.synchronised(t).unwrap()
}

/// A small cluster whose first star is a binary.
pub fn cluster(axis: f64, e: f64) -> Vec<Body> {
    let mut stars = models::plummer(48, 4);
    let star = stars.remove(0);
    let halves = [0.6 * star.mass, 0.4 * star.mass];
    let mut bodies = binary(100, halves, axis, e, (star.x, star.v)).to_vec();
    bodies.extend(stars);
    bodies
}

/// Runs `bodies` to t = 1. Returns the state then, and how many systems were formed. After each number of blocks in
/// `interrupted`, the run is written as text and read again.
pub fn state_after(grape: &Grape, bodies: Vec<Body>, interrupted: &[u32]) -> (Snapshot, u64) {
    let start = Integrator::start(grape, settings(0.01), 0.0, bodies).unwrap();
    let mut run = Run::new(start, Log::default()).unwrap();
    for blocks in interrupted {
        for _ in 0..*blocks {
            run.integration.step().unwrap();
        }
        run = through_text(grape, run);
    }
    while run.integration.next_time().unwrap() <= 1.0 {
        run.integration.step().unwrap();
    }
    let formed = run.integration.regularized().formed;
    (run.integration.state().unwrap(), formed)
}
