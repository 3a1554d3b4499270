//! Few bodies that move close to one another: binaries, triples, close passages.
//!
//! [`System`] integrates 2 to about 10 bodies by algorithmic regularization: the leapfrog of the logarithmic
//! Hamiltonian in chain coordinates, extrapolated to vanishing steps (Mikkola and Tanikawa 1999, Mikkola and Merritt
//! 2008). Positions and velocities are relative to the system's centre of mass, in double precision. A
//! [`Perturbation`] adds accelerations that depend on time and place.
//!
//! * [`kepler`]: the two-body problem in closed form
//! * [`hierarchy`]: which bodies of a system form binaries, triples and quadruples, and which escape
//! * [`pair`]: two stars inside a cluster, perturbed by the tide of all others
//! * [`multiple`]: three or more stars inside a cluster
//! * [`subsystem`]: either of these, as an integrator of a cluster sees it
//! * [`secular`]: what a weak tide does to the orbit of a binary in the mean
//! * [`scattering`]: encounters of a binary and a star, and cross sections
//! * [`endurance`]: a hard binary over very many orbits
//! * [`kozai`]: a triple through Kozai's cycles, with figures of an independent program
//!
//! ```
//! use kirin_kit::few_body::{Alone, System};
//! use kirin_kit::Body;
//!
//! let body = |mass, x: [f64; 2]| Body { mass, x: [x[0], x[1], 0.0], ..Body::default() };
//! // Burrau's problem: bodies of masses 3, 4 and 5, at rest at the corners of a triangle with these sides.
//! let bodies = [body(3.0, [1.0, 3.0]), body(4.0, [-2.0, -1.0]), body(5.0, [1.0, -1.0])];
//! let mut system = System::new(&bodies);
//! let energy = system.energy();
//! system.advance(10.0, &mut Alone).unwrap();
//! assert!((system.energy() / energy - 1.0).abs() < 1e-11);
//! ```

mod chain;
pub mod endurance;
mod extrapolation;
mod flight;
pub mod hierarchy;
mod inner;
pub mod kepler;
pub mod kozai;
mod leapfrog;
mod linear;
pub mod multiple;
mod nested;
pub mod pair;
pub mod scattering;
pub mod secular;
pub mod subsystem;
mod system;
#[cfg(test)]
mod tests;

pub use system::{Closest, Error, System};

use crate::vector::Vec3;

/// Accelerations of the bodies of a system by everything outside it.
pub trait Perturbation {
    /// Adds the accelerations at the time `t` after the start of [`System::advance`] to `acc`, which the caller has set
    /// to zero. The bodies are at `x`, relative to the system's centre of mass. An acceleration that all bodies share
    /// only moves the centre, which the system does not follow.
    fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]);

    /// Whether there are none: two bodies then move in closed form.
    fn is_none(&self) -> bool {
        false
    }
}

/// Nothing outside.
pub struct Alone;

impl Perturbation for Alone {
    fn accelerations(&mut self, _: f64, _: &[Vec3], _: &mut [Vec3]) {}

    fn is_none(&self) -> bool {
        true
    }
}
