//! The cluster in its own frame: who is bound to it, its half-mass radius, and its tidal radius.

use kirin_kit::Body;
use kirin_kit::diagnostics::{angular_momentum, centre_of_mass, lagrangian_radii, mass};
use kirin_kit::galaxy::{Field, Galaxy};
use kirin_kit::vector::{Vec3, dot, norm, sub};

use crate::torque::Balance;

/// What a run records of the cluster: see [`numbers`].
pub const COLUMNS: [&str; 15] = [
    "bound_mass",
    "half_mass_radius",
    "tidal_radius",
    "x",
    "y",
    "z",
    "vx",
    "vy",
    "vz",
    "lx",
    "ly",
    "lz",
    "torque_x",
    "torque_y",
    "torque_z",
];

/// Rounds in which the bound part is sought: it settles after a handful.
const ROUNDS: usize = 50;

/// Part of the bodies that is taken for the cluster at first: those in the deepest potential.
const DEEPEST: usize = 10;

/// The part of the bodies that is bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bound {
    /// Its mass.
    pub mass: f64,
    /// Number of its bodies.
    pub count: usize,
    /// Position of its centre of mass.
    pub x: Vec3,
    /// Velocity of its centre of mass.
    pub v: Vec3,
    /// Radius about its centre that holds half of its mass; NaN where nobody is bound.
    pub half_mass_radius: f64,
}

/// Those of `bodies` whose energy with respect to the others is negative in the frame of those that are
/// bound: found by turns, from the deepest tenth on. `potentials` are by all others, which overrates the
/// cluster's by what the stars in the tails add, a per cent of theirs.
pub fn bound(bodies: &[Body], potentials: &[f64]) -> Bound {
    let mut deepest: Vec<usize> = (0..bodies.len()).collect();
    deepest.sort_by(|a, b| potentials[*a].total_cmp(&potentials[*b]));
    deepest.truncate(bodies.len().div_ceil(DEEPEST));
    deepest.sort_unstable();
    let mut members = deepest;
    for _ in 0..ROUNDS {
        let chosen: Vec<Body> = members.iter().map(|&i| bodies[i]).collect();
        let (_, v) = centre_of_mass(&chosen);
        let is_bound = |&i: &usize| {
            let motion = sub(&bodies[i].v, &v);
            0.5 * dot(&motion, &motion) + potentials[i] < 0.0
        };
        let next: Vec<usize> = (0..bodies.len()).filter(is_bound).collect();
        if next == members {
            break;
        }
        members = next;
    }
    let members: Vec<Body> = members.iter().map(|&i| bodies[i]).collect();
    let (x, v) = centre_of_mass(&members);
    Bound {
        mass: mass(&members),
        count: members.len(),
        x,
        v,
        half_mass_radius: lagrangian_radii(&members, &[0.5])[0],
    }
}

/// A number for each of the [`COLUMNS`]: the bound part, its half-mass and tidal radius, position and velocity;
/// angular momentum of everybody about the galaxy's centre, and the time integral of the torque on them.
pub fn numbers(bound: &Bound, galaxy: &Galaxy, balance: &Balance, bodies: &[Body]) -> Vec<f64> {
    let tidal_radius = galaxy.tidal_radius(bound.mass, &bound.x, &bound.v);
    let [momentum, torque] = [
        angular_momentum(bodies),
        balance.impulse.map(|sum| sum.value()),
    ];
    let scalars = [bound.mass, bound.half_mass_radius, tidal_radius];
    [scalars, bound.x, bound.v, momentum, torque].concat()
}

/// The parts of `bodies` ahead of the cluster and behind it: unbound ones beyond `radius` whose distance
/// along the orbit is positive or negative. Their numbers, for two tails.
pub fn tails(bodies: &[Body], bound: &Bound, radius: f64) -> [usize; 2] {
    let mut tails = [0; 2];
    for body in bodies {
        let offset = sub(&body.x, &bound.x);
        if norm(&offset) > radius {
            tails[usize::from(dot(&offset, &bound.v) < 0.0)] += 1;
        }
    }
    tails
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::models;

    fn potentials(bodies: &[Body]) -> Vec<f64> {
        let of = |b: &Body| -> f64 {
            let others = bodies.iter().filter(|c| c.index != b.index);
            -others.map(|c| c.mass / norm(&sub(&c.x, &b.x))).sum::<f64>()
        };
        bodies.iter().map(of).collect()
    }

    /// A Plummer sphere on its way, with stars that fly by.
    #[test]
    fn those_who_fly_by_are_not_bound() {
        let mut bodies = models::plummer(300, 1);
        for body in &mut bodies {
            body.x[0] += 800.0;
            body.v[1] += 84.0;
        }
        for (k, body) in bodies.iter_mut().enumerate().take(30) {
            body.v[2] += 5.0;
            body.x[1] += if k < 20 { 30.0 } else { -30.0 };
        }
        let bound = bound(&bodies, &potentials(&bodies));
        assert!((265..=270).contains(&bound.count), "{}", bound.count);
        assert!((bound.mass - bound.count as f64 / 300.0).abs() < 1e-12);
        assert!((bound.x[0] - 800.0).abs() < 0.1 && (bound.v[1] - 84.0).abs() < 0.1);
        assert!((0.6..1.0).contains(&bound.half_mass_radius));
        assert_eq!(tails(&bodies, &bound, 20.0), [20, 10]);
    }

    #[test]
    fn nobody_is_bound_in_an_exploded_cluster() {
        let mut bodies = models::plummer(100, 1);
        bodies.iter_mut().for_each(|b| b.v = b.x.map(|c| 100.0 * c));
        let bound = bound(&bodies, &potentials(&bodies));
        assert!(bound.count <= 1, "{bound:?}");
        assert!(super::bound(&[], &[]).half_mass_radius.is_nan());
    }
}
