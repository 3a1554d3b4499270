//! Initial models, each in its own file, all in standard N-body units:
//! G = 1, total mass 1, total energy -1/4, centre of mass at rest in the origin.
//!
//! A model is a function of its parameters and a seed; the random numbers are
//! PCG64's, whose stream is fixed by its specification, so a seed means the
//! same cluster for ever.

mod collision;
mod components;
mod mass_function;
mod plummer;
mod random;
mod sphere;
mod units;

use crate::body::Body;

pub use collision::collision;
pub use components::{Components, light_and_heavy};
pub use mass_function::PowerLaw;
pub use plummer::plummer;
pub use random::Random;
pub use sphere::{uniform_sphere, warm_sphere};
pub use units::{EXACT_SCALING_LIMIT, set_virial_ratio, to_centre_of_mass, to_standard_units};

/// The models by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Model {
    /// A Plummer sphere in virial equilibrium
    #[default]
    Plummer,
    /// A cold uniform sphere, which collapses
    Sphere,
    /// Two Plummer spheres on their way into each other
    Collision,
}

impl Model {
    /// The model with `n` bodies.
    pub fn make(self, n: usize, seed: u64) -> Vec<Body> {
        match self {
            Self::Plummer => plummer(n, seed),
            Self::Sphere => uniform_sphere(n, seed),
            Self::Collision => collision(n, seed),
        }
    }

    /// What a figure's title calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Plummer => "Plummer sphere",
            Self::Sphere => "Cold uniform sphere",
            Self::Collision => "Collision of two Plummer spheres",
        }
    }
}
