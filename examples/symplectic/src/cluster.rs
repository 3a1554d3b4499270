//! The cluster in its galaxy: its half-mass and tidal radius, its orbit, its tails.

use kirin_kit::Body;
use kirin_kit::bound::BoundPart;
use kirin_kit::diagnostics::angular_momentum;
use kirin_kit::galaxy::{Field, Moment};
use kirin_kit::vector::{dot, norm, sub};

use crate::torque::Balance;

/// What a run records of the cluster: see [`numbers`].
pub const COLUMNS: [&str; 14] = [
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

/// Whether a column is about the galaxy, and without one is always 0 or missing.
pub fn of_galaxy(name: &str) -> bool {
    name == "tidal_radius" || name.starts_with("torque_")
}

/// A number for each of the [`COLUMNS`]. Of the bound part: half-mass radius, tidal radius, position and velocity.
/// Of all stars: the angular momentum about the galaxy's centre, and the time integral of the torque.
pub fn numbers(bound: &BoundPart, galaxy: &Moment, balance: &Balance, bodies: &[Body]) -> Vec<f64> {
    let tidal_radius = galaxy.tidal_radius(bound.mass, &bound.x, &bound.v);
    let [momentum, torque] = [
        angular_momentum(bodies),
        balance.impulse.map(|sum| sum.value()),
    ];
    let mut numbers = vec![bound.half_mass_radius(), tidal_radius];
    for vector in [bound.x, bound.v, momentum, torque] {
        numbers.extend(vector);
    }
    numbers
}

/// Numbers of stars in the leading and in the trailing tail. A star is in a tail if it is farther than `radius` from
/// the bound stars' centre. The velocity of the centre says which tail: the leading one lies ahead.
pub fn tails(bodies: &[Body], bound: &BoundPart, radius: f64) -> [usize; 2] {
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

    #[test]
    fn tails_lie_ahead_and_behind() {
        let body = |y: f64| Body {
            x: [800.0, y, 0.0],
            ..Body::default()
        };
        let bodies = [0.0, 30.0, 30.0, -30.0, 10.0].map(body);
        let bound = BoundPart {
            x: [800.0, 0.0, 0.0],
            v: [0.0, 84.0, 0.0],
            ..BoundPart::default()
        };
        assert_eq!(tails(&bodies, &bound, 20.0), [2, 1]);
    }
}
