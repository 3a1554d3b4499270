//! The cluster in its galaxy: its half-mass and tidal radius, its orbit, its tails.

use kirin_kit::Body;
use kirin_kit::bound::BoundPart;
use kirin_kit::diagnostics::angular_momentum;
use kirin_kit::galaxy::{Field, Moment};
use kirin_kit::vector::{Vec3, dot, norm, sub};

use crate::torque::Balance;

kirin_kit::record! {
    /// What a run records of the cluster in its galaxy.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Motion {
        /// Half-mass radius of the bound part.
        half_mass_radius: f64 = Length ["half_mass_radius"],
        /// Its tidal radius.
        tidal_radius: f64 = Length ["tidal_radius"],
        /// Its centre of mass.
        x: Vec3 = Position ["x", "y", "z"],
        /// The velocity of the centre.
        v: Vec3 = Velocity ["vx", "vy", "vz"],
        /// Angular momentum of all stars about the galaxy's centre.
        angular_momentum: Vec3 = Plain ["lx", "ly", "lz"],
        /// Time integral of the torque on all stars.
        torque: Vec3 = Plain ["torque_x", "torque_y", "torque_z"],
    }
}

impl Motion {
    /// Of these `bodies`, and the `bound` part of them.
    pub fn of(bound: &BoundPart, galaxy: &Moment, balance: &Balance, bodies: &[Body]) -> Self {
        Self {
            half_mass_radius: bound.half_mass_radius(),
            tidal_radius: galaxy.tidal_radius(bound.mass, &bound.x, &bound.v),
            x: bound.x,
            v: bound.v,
            angular_momentum: angular_momentum(bodies),
            torque: balance.impulse.map(|sum| sum.value()),
        }
    }
}

/// Whether a column is about the galaxy, and without one is always 0 or missing.
pub fn of_galaxy(name: &str) -> bool {
    name == "tidal_radius" || name.starts_with("torque_")
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
