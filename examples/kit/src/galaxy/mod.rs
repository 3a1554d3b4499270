//! The field of a galaxy around a cluster: potential, acceleration and jerk, the units that join both, and
//! the cluster's orbit.
//!
//! * [`Field`]: what a smooth field is asked for
//! * [`component`]: its parts: Plummer sphere, Miyamoto-Nagai disc, halo
//! * [`MilkyWay`]: published models, in their own units
//! * [`Units`]: a cluster's units (G = M = R = 1) in solar masses, parsecs, Myr and km/s
//! * [`Galaxy`]: one of the models with a black hole, in a cluster's units
//! * [`Orbit`]: the initial position and velocity of the cluster
//! * [`GalaxyOptions`]: all of it on the command line

pub mod component;
mod host;
mod milky_way;
mod options;
mod orbit;
mod units;

pub use host::Galaxy;
pub use milky_way::MilkyWay;
pub use options::GalaxyOptions;
pub use orbit::Orbit;
pub use units::Units;

use crate::vector::{Vec3, dot};

/// A field that does not depend on time. Units are the implementer's, with G = 1.
pub trait Field {
    /// Potential at `x`.
    fn potential(&self, x: &Vec3) -> f64;

    /// Acceleration at `x`: minus the gradient of the potential.
    fn acceleration(&self, x: &Vec3) -> Vec3;

    /// Jerk of a body at `x` with the velocity `v`: the time derivative of its acceleration. Linear in `v`.
    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3;

    /// Speed of a circular orbit through `x`: sqrt(-x a), 0 where nothing attracts to the centre.
    fn circular_speed(&self, x: &Vec3) -> f64 {
        (-dot(x, &self.acceleration(x))).max(0.0).sqrt()
    }

    /// Escape speed at `x`, where the potential vanishes at infinity.
    fn escape_speed(&self, x: &Vec3) -> f64 {
        (-2.0 * self.potential(x)).max(0.0).sqrt()
    }

    /// Tidal radius of a cluster of mass `m` at `x` with the velocity `v`: the distance from its centre at
    /// which the field's tide is as strong as its own attraction, King's (G m / (W^2 - d2 Phi /
    /// dr2))^(1/3), W being the angular speed. Infinite where the tide compresses.
    fn tidal_radius(&self, m: f64, x: &Vec3, v: &Vec3) -> f64 {
        let r2 = dot(x, x);
        if r2 == 0.0 {
            return f64::INFINITY;
        }
        let along = x.map(|c| c / r2.sqrt());
        let momentum = crate::vector::cross(x, v);
        let angular_speed2 = dot(&momentum, &momentum) / (r2 * r2);
        // The acceleration's derivative along the unit vector is minus the potential's second one.
        let tide = angular_speed2 + dot(&along, &self.jerk(x, &along));
        if tide > 0.0 {
            (m / tide).cbrt()
        } else {
            f64::INFINITY
        }
    }
}
