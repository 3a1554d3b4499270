//! The scale of a cluster, from which the distances of its regularized systems follow in any units.

use kirin_kit::Body;
use kirin_kit::few_body::kepler::Orbit;
use kirin_kit::vector::{dot, norm, sub};

use super::membership::MOST;

/// Most neighbours of a star in its binary, triple or quadruple.
const NEAREST: usize = 3;

/// They are left out if they are closer than this part of the distance of the next neighbour.
const CLOSE: f64 = 0.2;

/// Number of stars whose neighbours are looked at.
const SAMPLE: usize = 256;

/// Virial radius of a cluster divided by its mass: 1 in standard units. With G = 1 it is 1 / (2 sigma^2), where sigma is the velocity
/// dispersion in virial equilibrium. The result is the nearest power of two, so that small changes of the bodies do not
/// change it.
pub(super) fn scale(bodies: &[Body]) -> f64 {
    let mass: f64 = bodies.iter().map(|b| b.mass).sum();
    let radius = match bodies.len() <= MOST {
        true => extent(bodies),
        false => virial_radius(bodies),
    };
    let power = (radius / mass).log2().round();
    match power.is_finite() {
        true => power.exp2(),
        false => 1.0,
    }
}

/// M^2 / 2|W|, where close neighbours of each star are left out.
fn virial_radius(bodies: &[Body]) -> f64 {
    // Bodies without mass count for nothing.
    let heavy = bodies.iter().filter(|star| star.mass > 0.0).count();
    let every = heavy.div_ceil(SAMPLE).max(1);
    let (mut masses, mut energies) = (0.0, 0.0);
    let mut others: Vec<(f64, f64)> = Vec::new();
    let with_mass = bodies
        .iter()
        .enumerate()
        .filter(|(_, star)| star.mass > 0.0);
    for (i, star) in with_mass.step_by(every) {
        let others_of = bodies.iter().enumerate().filter(|(j, _)| *j != i);
        let distance = |(_, other): (usize, &Body)| {
            let x = sub(&other.x, &star.x);
            (dot(&x, &x), other.mass)
        };
        others.clear();
        others.extend(others_of.map(distance));
        others.select_nth_unstable_by(NEAREST, |a, b| a.0.total_cmp(&b.0));
        let close2 = CLOSE * CLOSE * others[NEAREST].0;
        for (r2, mass) in others.iter().filter(|(r2, _)| *r2 > close2) {
            masses += star.mass * mass;
            energies += star.mass * mass / r2.sqrt();
        }
    }
    masses / energies
}

/// The largest distance of two stars; of only two, also that on their orbit.
fn extent(bodies: &[Body]) -> f64 {
    let mut extent: f64 = 0.0;
    for (i, a) in bodies.iter().enumerate() {
        for b in &bodies[i + 1..] {
            extent = extent.max(norm(&sub(&b.x, &a.x)));
        }
    }
    if let [a, b] = bodies {
        let orbit = Orbit::of(&sub(&b.x, &a.x), &sub(&b.v, &a.v), a.mass + b.mass);
        if orbit.is_bound() {
            extent = extent.max(orbit.apocentre());
        }
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::models::{king, plummer};

    /// The same bodies in other units of mass and length, with G = 1.
    fn in_units(bodies: &[Body], mass: f64, length: f64) -> Vec<Body> {
        let velocity = (mass / length).sqrt();
        let other = |body: &Body| Body {
            mass: mass * body.mass,
            x: body.x.map(|c| length * c),
            v: body.v.map(|c| velocity * c),
            ..*body
        };
        bodies.iter().map(other).collect()
    }

    /// Each star of `bodies` as a binary.
    fn binaries(bodies: &[Body], axis: f64) -> Vec<Body> {
        let halves = |star: &Body| {
            let speed = (star.mass / axis).sqrt();
            [0.5, -0.5].map(|side| {
                let mut half = Body {
                    mass: 0.5 * star.mass,
                    ..*star
                };
                half.x[0] += side * axis;
                half.v[1] += side * speed;
                half
            })
        };
        bodies.iter().flat_map(halves).collect()
    }

    #[test]
    fn it_is_one_in_standard_units() {
        for seed in 1..=5 {
            for n in [30, 200, 1000] {
                assert_eq!(scale(&plummer(n, seed)), 1.0, "{n} {seed}");
            }
            assert_eq!(scale(&king(1000, 3.0, seed)), 1.0);
            assert_eq!(scale(&king(1000, 9.0, seed)), 1.0);
            for axis in [1e-5, 1e-3] {
                assert_eq!(scale(&binaries(&plummer(200, seed), axis)), 1.0);
            }
        }
    }

    /// A thousand solar masses within a parsec, and other units.
    #[test]
    fn it_follows_the_units() {
        let bodies = binaries(&plummer(300, 2), 1e-4);
        for (mass, length) in [(1000.0, 1.0), (1.0, 3000.0), (2e33, 3e18), (1e-6, 1e-6)] {
            let found = scale(&in_units(&bodies, mass, length));
            let ratio = found / (length / mass);
            assert!((0.6..1.7).contains(&ratio), "{mass} {length}: {found}");
        }
    }

    #[test]
    fn two_stars_are_as_large_as_their_orbit() {
        // At the pericentre of an orbit with a = 4 and e = 0.9: the apocentre is 7.6.
        let speed = (19.0_f64 / 4.0).sqrt();
        let star = |x: f64, v: f64| Body {
            mass: 0.5,
            x: [x, 0.0, 0.0],
            v: [0.0, v, 0.0],
            ..Body::default()
        };
        let pair = [star(0.0, 0.0), star(0.4, speed)];
        assert_eq!(scale(&pair), 8.0);
        assert_eq!(scale(&in_units(&pair, 16.0, 0.5)), 0.25);
        assert_eq!(scale(&pair[..1]), 1.0);
    }
}
