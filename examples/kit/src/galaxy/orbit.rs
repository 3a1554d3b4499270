//! The initial position and velocity of a cluster in its galaxy.

use super::{Field, Galaxy};
use crate::body::Body;
use crate::models::to_centre_of_mass;
use crate::vector::{Vec3, add_scaled};

/// Part of the circular speed with which a quasi-radial orbit begins.
pub const SIDEWAYS: f64 = 0.001;

/// The orbit of a cluster's centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Orbit {
    /// None: it stays at rest at the origin.
    Rest,
    /// Begins at `(r, 0, 0)` with the circular speed, in the plane and counterclockwise; a length of the cluster's.
    Circular(f64),
    /// Begins at `(r, 0, 0)` nearly at rest: with a thousandth of the circular speed.
    Radial(f64),
    /// Begins at this position with this velocity, in the cluster's units.
    Given(Vec3, Vec3),
}

impl Orbit {
    /// Position and velocity at the beginning, in the cluster's units.
    pub fn start(&self, galaxy: &Galaxy) -> (Vec3, Vec3) {
        let beside = |r: f64, part: f64| {
            let x = [r, 0.0, 0.0];
            (x, [0.0, part * galaxy.circular_speed(&x), 0.0])
        };
        match *self {
            Self::Rest => ([0.0; 3], [0.0; 3]),
            Self::Circular(r) => beside(r, 1.0),
            Self::Radial(r) => beside(r, SIDEWAYS),
            Self::Given(x, v) => (x, v),
        }
    }

    /// Puts the centre of mass of `bodies` at the beginning of the orbit.
    pub fn place(&self, galaxy: &Galaxy, bodies: &mut [Body]) {
        if *self == Self::Rest {
            return;
        }
        let (x, v) = self.start(galaxy);
        to_centre_of_mass(bodies);
        for body in bodies {
            add_scaled(&mut body.x, 1.0, &x);
            add_scaled(&mut body.v, 1.0, &v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::centre_of_mass;
    use crate::galaxy::MilkyWay;
    use crate::models;
    use crate::vector::{norm, sub};

    #[test]
    fn the_centre_of_mass_is_on_the_orbit() {
        let galaxy = Galaxy {
            model: MilkyWay::Irrgang,
            ..Galaxy::default()
        };
        let r = galaxy.units.from_kpc(8.4);
        for (orbit, speed) in [(Orbit::Circular(r), 242.0), (Orbit::Radial(r), 0.242)] {
            let mut bodies = models::plummer(100, 1);
            orbit.place(&galaxy, &mut bodies);
            let (x, v) = centre_of_mass(&bodies);
            assert!(norm(&sub(&x, &[r, 0.0, 0.0])) < 1e-9 * r);
            let km_s = norm(&v) * galaxy.units.velocity();
            assert!((km_s / speed - 1.0).abs() < 1e-3, "{km_s}");
            assert!(v[1] > 0.0);
        }
    }
}
