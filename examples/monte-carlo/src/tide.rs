//! The tidal boundary. A galaxy takes the stars of a cluster that come, or could come, beyond the tidal radius. The tidal radius follows the mass that is
//! left: r_t^3 / M is constant on a circular orbit of the cluster.

use kirin_kit::settings::choice;
use serde::{Deserialize, Serialize};

use crate::orbit::{self, Star};
use crate::partition::BIN;
use crate::potential::Potential;
use crate::stars::Share;

/// Which stars a tidal field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Criterion {
    /// Apocentre beyond the tidal radius (Joshi, Rasio and Portegies Zwart 2000)
    Apocentre,
    /// Energy above that of the tidal radius, and a little more for the time that an escape takes (Giersz, Heggie and Hurley 2008)
    Energy,
}

impl Criterion {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apocentre => "apocentre",
            Self::Energy => "energy",
        }
    }
}

/// A tidal field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tide {
    /// Which stars leave.
    #[serde(with = "choice")]
    pub criterion: Criterion,
    /// Tidal radius of a cluster of the mass `mass`.
    pub radius: f64,
    /// Mass of the cluster at the start.
    pub mass: f64,
}

impl Tide {
    /// Tidal radius of a cluster of this mass.
    pub fn radius_of(&self, mass: f64) -> f64 {
        self.radius * (mass / self.mass).cbrt()
    }

    /// The boundary of `n` stars of this mass, for which ln(gamma N) is `coulomb`.
    pub fn boundary(&self, mass: f64, n: usize, coulomb: f64) -> Boundary {
        let radius = self.radius_of(mass);
        match self.criterion {
            Criterion::Apocentre => Boundary::Radius(radius),
            Criterion::Energy => {
                let xi = 1.5 - 3.0 * (coulomb / n as f64).powf(0.25);
                Boundary::Energy(-xi * mass / radius)
            }
        }
    }
}

/// What stars must not exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Boundary {
    /// Largest apocentre.
    Radius(f64),
    /// Largest specific energy. Giersz, Heggie and Hurley have -xi G M / r_t with xi = 1.5 - 3 (ln(gamma N) / N)^(1/4).
    /// This is above -1.5 G M / r_t, the energy of the tidal radius. Stars between the two energies need some time to
    /// find the way out, and encounters bring some of them back.
    Energy(f64),
}

impl Boundary {
    /// Whether `star` leaves.
    pub fn is_left_by(&self, potential: &Potential, radii: &[f64], star: &Star) -> bool {
        match *self {
            // The star can be at the tidal radius, or is farther out on all its orbit.
            Self::Radius(radius) => {
                let u = 1.0 / radius;
                let felt = star.felt(potential, potential.star_inside(radii, radius));
                star.u < u || star.q(&felt, u) > 0.0
            }
            Self::Energy(energy) => star.energy > energy,
        }
    }
}

/// Removes the stars of a group that are beyond the boundary: their radii become infinite. To be called before the
/// stars move. Also stores the mass that each bin loses.
pub fn of_group(potential: &Potential, radii: &[f64], boundary: &Boundary, group: &mut Share<'_>) {
    for bin in 0..group.streams.len() {
        let begin = bin * BIN;
        let mut mass = 0.0;
        for k in begin..(begin + BIN).min(group.r.len()) {
            if group.m[k] == 0.0 || group.r[k].is_infinite() {
                continue;
            }
            let velocity = [group.vr[k], group.vt[k]];
            let star = Star::new(potential, group.first + k + 1, group.m[k], velocity);
            if boundary.is_left_by(potential, radii, &star) {
                mass += star.mass;
                orbit::leave(group, k, star.phi);
            }
        }
        group.told[bin] = mass;
    }
}
