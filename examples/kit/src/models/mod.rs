//! Initial models, each in its own file. All but [`warm_sphere`] are in standard N-body units: G = 1, total mass 1,
//! total energy -1/4, centre of mass at rest in the origin.
//!
//! A model is a function of its parameters and a seed. The random numbers are those of PCG64, whose specification
//! fixes the stream. So a seed always gives the same cluster.

mod binaries;
mod collision;
mod components;
mod king;
mod mass_function;
mod plummer;
mod power_law;
mod random;
mod sphere;
mod units;

use crate::body::Body;

pub use binaries::{BinaryOptions, Periods};
pub use collision::collision;
pub use components::{Components, light_and_heavy, two_masses};
pub use king::{DEFAULT_W0, King, W0_RANGE, central_potential, king};
pub use mass_function::MassFunction;
pub use plummer::{plummer, plummer_star};
pub use power_law::PowerLaw;
pub use random::Random;
pub use sphere::{uniform_sphere, warm_sphere};
pub use units::{EXACT_SCALING_LIMIT, set_virial_ratio, to_centre_of_mass, to_standard_units};

/// The models by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Model {
    /// A Plummer sphere in virial equilibrium, of virial radius 1
    #[default]
    Plummer,
    /// A King model of virial radius 1: an isothermal sphere with an edge (--w0)
    King,
    /// A cold uniform sphere of virial radius 2, which collapses
    Sphere,
    /// Two Plummer spheres of virial radius 1/2 on their way into each other
    Collision,
}

impl Model {
    /// The model with `n` bodies.
    pub fn make(self, n: usize, seed: u64) -> Vec<Body> {
        match self {
            Self::Plummer => plummer(n, seed),
            Self::King => king(n, DEFAULT_W0, seed),
            Self::Sphere => uniform_sphere(n, seed),
            Self::Collision => collision(n, seed),
        }
    }

    /// What a figure's title calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Plummer => "Plummer sphere",
            Self::King => "King model",
            Self::Sphere => "Cold uniform sphere",
            Self::Collision => "Collision of two Plummer spheres",
        }
    }
}

/// Bodies of mass 1/n in random directions, with the radii and speeds that `star` draws in standard units. Up to
/// [`EXACT_SCALING_LIMIT`] bodies are scaled so that these units hold exactly.
fn sphere_of_stars(n: usize, seed: u64, star: impl Fn(&mut Random) -> (f64, f64)) -> Vec<Body> {
    let mut random = Random::new(seed);
    let mass = 1.0 / n as f64;
    let mut bodies: Vec<Body> = (0..n)
        .map(|i| {
            let (r, speed) = star(&mut random);
            Body {
                index: i32::try_from(i).expect("labels are 32-bit integers"),
                mass,
                x: random.direction(r),
                v: random.direction(speed),
            }
        })
        .collect();
    if n > 1 {
        to_centre_of_mass(&mut bodies);
    }
    if n <= EXACT_SCALING_LIMIT {
        to_standard_units(&mut bodies);
    }
    bodies
}
