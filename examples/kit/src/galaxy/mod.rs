//! The field of a galaxy around a cluster (potential, acceleration and jerk), the conversion of the cluster's units to
//! physical ones, and the cluster's orbit.
//!
//! * [`Field`]: the trait of a smooth field: potential, acceleration, jerk
//! * [`component`], [`spheres`], [`bar`], [`multipole`]: the parts of a field: Plummer, Hernquist and NFW spheres, Miyamoto-Nagai
//!   disc, halo, bar, multipoles of a density
//! * [`MilkyWay`]: published models, in their own units
//! * [`additions`]: parts of the galaxy that options add: a potential from a file ([`table`]), a bar, growth,
//!   satellites ([`satellite`]) and what slows them ([`friction`])
//! * [`Moment`]: the field of model and additions at one time
//! * [`words`]: model and additions for a GPU
//! * [`flow`]: orbits of single bodies
//! * [`sky`]: positions and velocities as observed from the Sun
//! * [`Units`]: a cluster's units (G = M = R = 1) in solar masses, parsecs, Myr and km/s
//! * [`Galaxy`]: one of the models with a black hole, in a cluster's units
//! * [`Orbit`]: the initial position and velocity of the cluster
//! * [`GalaxyOptions`]: the options for all of these on the command line

pub mod additions;
pub mod bar;
pub mod component;
pub mod flow;
pub mod friction;
mod host;
mod mcmillan;
mod milky_way;
mod moment;
pub mod multipole;
mod options;
mod orbit;
mod placement;
pub mod satellite;
pub mod sky;
pub mod spheres;
pub mod table;
pub(crate) mod units;
pub mod words;

pub use host::Galaxy;
pub use milky_way::MilkyWay;
pub use moment::Moment;
pub use options::{GalaxyOptions, UnitOptions};
pub use orbit::{Orbit, way};
pub use placement::bound_of_input;
pub use units::{SOLAR_RADIUS, Units};

use crate::vector::{Vec3, dot, norm};

/// Part of the distance from the origin between the places of a difference quotient.
const DIFFERENCE: f64 = 1e-3;

/// A field at one time. Units are the implementer's, with G = 1.
pub trait Field {
    /// Potential at `x`.
    fn potential(&self, x: &Vec3) -> f64;

    /// Acceleration at `x`: minus the gradient of the potential.
    fn acceleration(&self, x: &Vec3) -> Vec3;

    /// Jerk of a body at `x` with the velocity `v` in a field that does not change: the time derivative of its
    /// acceleration. Linear in `v`. Fields without a formula take a difference quotient of fourth order.
    fn jerk(&self, x: &Vec3, v: &Vec3) -> Vec3 {
        let speed = norm(v);
        if speed == 0.0 {
            return [0.0; 3];
        }
        let h = DIFFERENCE * norm(x).max(DIFFERENCE) / speed;
        let at = |h: f64| self.acceleration(&std::array::from_fn(|k| x[k] + h * v[k]));
        let ([a, b], [c, d]) = ([at(h), at(-h)], [at(2.0 * h), at(-2.0 * h)]);
        std::array::from_fn(|k| (8.0 * (a[k] - b[k]) - (c[k] - d[k])) / (12.0 * h))
    }

    /// Time derivative of the potential at a place at rest: 0 in a field that does not change.
    fn potential_change(&self, _x: &Vec3) -> f64 {
        0.0
    }

    /// Density at `x`, by Poisson's equation.
    fn density(&self, x: &Vec3) -> f64 {
        let along = |k: usize| {
            let mut unit = [0.0; 3];
            unit[k] = 1.0;
            self.jerk(x, &unit)[k]
        };
        -(along(0) + along(1) + along(2)) / (4.0 * std::f64::consts::PI)
    }

    /// Speed of a circular orbit through `x`: sqrt(-x a), 0 where nothing attracts to the centre.
    fn circular_speed(&self, x: &Vec3) -> f64 {
        (-dot(x, &self.acceleration(x))).max(0.0).sqrt()
    }

    /// Escape speed at `x`, where the potential vanishes at infinity.
    fn escape_speed(&self, x: &Vec3) -> f64 {
        (-2.0 * self.potential(x)).max(0.0).sqrt()
    }

    /// King's tidal radius of a cluster of mass `m` at `x` with the velocity `v`: the distance from the cluster's
    /// centre at which the tide of the field is as strong as the cluster's attraction. It is (G m / (W^2 - d2 Phi /
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
