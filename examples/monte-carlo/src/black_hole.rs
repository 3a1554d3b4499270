//! A black hole at the centre: its mass, and which stars it takes.
//!
//! The hole is a point mass that stays at the centre. It takes a star when the star comes within some radius. This is
//! a fixed radius, or the radius within which the hole's tide disrupts the star, R (M / m)^(1/3) for a star of mass m
//! and radius R (Frank and Rees 1976).

use kirin_kit::settings::choice;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Which stars a black hole takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Law {
    /// All that come within a fixed radius
    Capture,
    /// All that its tide disrupts
    Disruption,
}

/// What determines a black hole at the centre.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlackHole {
    /// Mass at the start.
    pub mass: f64,
    /// Which stars it takes.
    #[serde(with = "choice")]
    pub law: Law,
    /// For capture the radius within which a star is taken. For disruption the radius of a star of mean mass. 0: no star is taken.
    pub radius: f64,
    /// Part of a star's mass by which the hole grows. The rest leaves the cluster.
    pub accreted: f64,
}

impl BlackHole {
    /// Whether there can be such a hole.
    ///
    /// # Errors
    ///
    /// There cannot; in words.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |what: &str| Err(Error::Refused(what.to_owned()));
        if !(self.mass > 0.0 && self.mass <= 1e3) {
            return refuse("--black-hole-mass must be above 0 and at most 1000 units of mass");
        }
        if !(self.radius >= 0.0 && self.radius < 1.0) {
            return refuse(
                "--capture-radius and --tidal-disruption must be from 0 to less than 1 unit of length",
            );
        }
        if !(0.0..=1.0).contains(&self.accreted) {
            return refuse("--accreted-fraction must be from 0 to 1");
        }
        Ok(())
    }

    /// Radius within which a hole that has grown to the mass `hole` takes a star of this `mass`. The mean mass of the stars is `mean_mass`; the
    /// radius of a star on the main sequence grows about as m^0.8.
    pub fn reach(&self, hole: f64, mass: f64, mean_mass: f64) -> f64 {
        match self.law {
            Law::Capture => self.radius,
            Law::Disruption => self.radius * (mass / mean_mass).powf(0.8) * (hole / mass).cbrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_disrupted_where_the_tide_equals_its_gravity() {
        let hole = BlackHole {
            mass: 1e3,
            law: Law::Disruption,
            radius: 1e-6,
            accreted: 1.0,
        };
        // A star of mean mass: 1e-6 (1e3 / 1e-3)^(1/3).
        assert!((hole.reach(1e3, 1e-3, 1e-3) / 1e-4 - 1.0).abs() < 1e-12);
        // Of 32 times the mass the radius is 16 times as large, and the mean density 128 times as low.
        let ratio = hole.reach(8e3, 32e-3, 1e-3) / 1e-4;
        let expected = 2.0 * (32.0_f64.powf(2.4) / 32.0).cbrt();
        assert!((ratio / expected - 1.0).abs() < 1e-12);
        let capture = BlackHole {
            law: Law::Capture,
            ..hole
        };
        assert_eq!(capture.reach(8e3, 32e-3, 1e-3), 1e-6);
    }
}
