//! An encounter of a binary with a single star, by the few-body integrator of the kit.

use std::f64::consts::TAU;

use kirin_kit::Body;
use kirin_kit::few_body::hierarchy::{Kind, is_dissolved, nodes};
use kirin_kit::few_body::kepler::drift;
use kirin_kit::few_body::{Alone, System};
use kirin_kit::vector::{Vec3, cross, dot, norm, sub};

use crate::random::Stream;

/// Distance at which the encounter begins, in semi-major axes; before that the star moves as past a point mass.
const FAR: f64 = 40.0;
/// Distance at which the star and the binary have parted, in sizes of the binary.
const APART: f64 = 20.0;
/// Time between two looks, and time after which the encounter is given up, in units of (a^3 / G M)^(1/2) of the binary.
const INTERVAL: f64 = 20.0;
const PATIENCE: f64 = 5000.0;
/// Tolerance of the integrator's steps.
const TOLERANCE: f64 = 1e-10;

/// What a binary and a star have become. Lengths are in units of the semi-major axis before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The stars of the binary: 0 and 1 were in it before, 2 is the third star.
    pub members: [usize; 2],
    /// Semi-major axis.
    pub axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Cosine of the angle by which the velocity of the single star relative to the binary has turned.
    pub cos: f64,
}

/// Follows the encounter of a binary with a single star. The binary's semi-major axis and mass are 1, and its stars
/// have the masses `masses[..2]`. The third star comes with the given speed and impact parameter; phase and
/// orientation are random. `None` if the binary is dissolved, or if the three stars are still together when the
/// time limit is reached.
pub fn scatter(
    masses: [f64; 3],
    eccentricity: f64,
    impact: f64,
    speed: f64,
    stream: &mut Stream,
) -> Option<Outcome> {
    let bodies = begin(masses, eccentricity, impact, speed, stream);
    let incoming = sub(&bodies[2].v, &centre(&bodies[..2], |b| b.v));
    let mut system = System::new(&bodies).with_tolerance(TOLERANCE);
    let mut t = 0.0;
    while t < PATIENCE {
        system.advance(INTERVAL, &mut Alone).ok()?;
        t += INTERVAL;
        let state = system.bodies().into_iter().zip(masses);
        let bodies: Vec<Body> = state
            .map(|((x, v), mass)| Body {
                mass,
                x,
                v,
                ..Body::default()
            })
            .collect();
        let nodes = nodes(&bodies);
        if nodes.len() < 2 || !is_dissolved(&nodes, APART) {
            continue;
        }
        let binary = nodes.iter().find(|n| matches!(n.kind, Kind::Binary(..)))?;
        let single = nodes.iter().find(|n| matches!(n.kind, Kind::Single(_)))?;
        let (members, orbit) = (binary.members(), binary.orbit()?);
        let outgoing = sub(&single.v, &binary.v);
        return Some(Outcome {
            members: [members[0], members[1]],
            axis: orbit.axis,
            eccentricity: orbit.eccentricity,
            cos: dot(&incoming, &outgoing) / (norm(&incoming) * norm(&outgoing)),
        });
    }
    None
}

fn centre(bodies: &[Body], part: fn(&Body) -> Vec3) -> Vec3 {
    let mass: f64 = bodies.iter().map(|b| b.mass).sum();
    std::array::from_fn(|c| bodies.iter().map(|b| b.mass * part(b)[c]).sum::<f64>() / mass)
}

/// A random direction.
fn direction(stream: &mut Stream) -> Vec3 {
    let cos = 2.0 * stream.uniform() - 1.0;
    let sin = (1.0 - cos * cos).sqrt();
    let (x, y) = stream.angle();
    [sin * x, sin * y, cos]
}

/// The binary at a random phase, and the third star on its way from far away.
fn begin(
    [m1, m2, m3]: [f64; 3],
    e: f64,
    impact: f64,
    speed: f64,
    stream: &mut Stream,
) -> [Body; 3] {
    let mass = m1 + m2;
    let towards = direction(stream);
    let across = loop {
        let across = cross(&towards, &direction(stream));
        let length = norm(&across);
        if length > 0.01 {
            break across.map(|c| c / length);
        }
    };
    // At the pericentre, and then a part of the period later.
    let fastest = (mass * (1.0 + e) / (1.0 - e)).sqrt();
    let (x, v) = (towards.map(|c| c * (1.0 - e)), across.map(|c| c * fastest));
    let period = TAU / mass.sqrt();
    let (x, v) = drift(&x, &v, mass, period * stream.uniform());
    let around = impact * speed / FAR;
    let inward = (speed * speed + 2.0 * (mass + m3) / FAR - around * around)
        .max(0.0)
        .sqrt();
    let body = |mass: f64, x: Vec3, v: Vec3| Body {
        mass,
        x,
        v,
        ..Body::default()
    };
    let star = |mass: f64, part: f64| body(mass, x.map(|c| c * part), v.map(|c| c * part));
    [
        star(m1, m2 / mass),
        star(m2, -m1 / mass),
        body(m3, [FAR, 0.0, 0.0], [-inward, around, 0.0]),
    ]
}

#[cfg(test)]
mod tests {
    use kirin_kit::few_body::kepler::Orbit;

    use super::*;

    /// The binary has its axis and eccentricity at any phase, and the third star its energy and angular momentum.
    #[test]
    fn an_encounter_begins_as_it_should() {
        let mut stream = Stream::of_seed(3);
        for e in [0.0, 0.5, 0.95] {
            let bodies = begin([0.4, 0.6, 0.7], e, 5.0, 0.3, &mut stream);
            let (x, v) = (
                sub(&bodies[1].x, &bodies[0].x),
                sub(&bodies[1].v, &bodies[0].v),
            );
            let orbit = Orbit::of(&x, &v, 1.0);
            assert!((orbit.axis - 1.0).abs() < 1e-9, "{orbit:?}");
            assert!((orbit.eccentricity - e).abs() < 1e-9, "{orbit:?}");
            let (x, v) = (bodies[2].x, bodies[2].v);
            assert!((norm(&cross(&x, &v)) - 5.0 * 0.3).abs() < 1e-12);
            let energy = 0.5 * dot(&v, &v) - 1.7 / norm(&x);
            assert!((energy - 0.5 * 0.09).abs() < 1e-12);
        }
    }

    /// Hard binaries of equal masses get harder, by a fifth to a half in close encounters (Heggie 1975, Spitzer 1987).
    #[test]
    fn hard_binaries_get_harder() {
        let mut stream = Stream::of_seed(5);
        let (mut sum, mut count, mut exchanges) = (0.0, 0, 0);
        let speed = 0.1;
        for _ in 0..150 {
            // Pericentres uniform up to 1, as focussing makes them.
            let pericentre: f64 = stream.uniform();
            let impact = (pericentre * pericentre + 3.0 * pericentre / (speed * speed)).sqrt();
            if let Some(outcome) = scatter([0.5, 0.5, 0.5], 0.6, impact, speed, &mut stream) {
                sum += 1.0 / outcome.axis - 1.0;
                count += 1;
                exchanges += u32::from(outcome.members[1] == 2);
                assert!((-1.0..=1.0).contains(&outcome.cos));
            }
        }
        let mean = sum / f64::from(count);
        assert!(
            count > 130 && exchanges > 30 && exchanges < 100,
            "{count} {exchanges}"
        );
        assert!((0.2..0.8).contains(&mean), "{mean}");
    }
}
