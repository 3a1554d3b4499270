//! A black hole at the centre: its mass, and which stars it takes.
//!
//! The hole is a point mass that stays at the centre. It takes a star when the star comes within some radius. This is
//! a fixed radius, or the radius within which the hole's tide disrupts the star, R (M / m)^(1/3) for a star of mass m
//! and radius R (Frank and Rees 1976).

use kirin_kit::galaxy::{Galaxy, SOLAR_RADIUS, Units};
use kirin_kit::number::number;
use kirin_kit::quantity::{self, Quantity};
use kirin_kit::settings::{choice, contradiction};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::evolution::remnant_radius;
use crate::options::of_bodies;

/// Largest mass of a black hole at the start, in masses of all stars.
const LARGEST_MASS: f64 = 1e3;

/// Speed of light in km/s.
const LIGHT: f64 = 299_792.458;

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
    /// For capture the radius within which a star is taken. For disruption the radius of a star of the mean mass at the start. 0: no star is taken.
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
        if !(self.mass > 0.0 && self.mass.is_finite()) {
            return refuse("--black-hole-mass must be above 0");
        }
        if !(self.radius >= 0.0 && self.radius.is_finite()) {
            return refuse("--capture-radius and --tidal-disruption must be 0 or more");
        }
        if !(0.0..=1.0).contains(&self.accreted) {
            return refuse("--accreted-fraction must be from 0 to 1");
        }
        Ok(())
    }

    /// Whether the hole fits stars of the total mass `mass`, the virial radius of which is `length`.
    ///
    /// # Errors
    ///
    /// It does not; in words.
    pub fn validate_among(&self, mass: f64, length: f64) -> Result<(), Error> {
        if self.mass > LARGEST_MASS * mass {
            return Err(Error::Refused(format!(
                "--black-hole-mass must be at most {LARGEST_MASS} times the mass of all stars, which is {mass}"
            )));
        }
        match self.radius < length {
            true => Ok(()),
            false => Err(Error::Refused(format!(
                "--capture-radius and --tidal-disruption must be less than the virial radius of the stars, which is {length}"
            ))),
        }
    }

    /// Radius within which a hole that has grown to the mass `hole` takes a star of this `mass`. The mean mass of the stars at the start is `mean_mass`; the
    /// radius of a star on the main sequence grows about as m^0.8.
    pub fn reach(&self, hole: f64, mass: f64, mean_mass: f64) -> f64 {
        match self.law {
            Law::Capture => self.radius,
            Law::Disruption => self.radius * (mass / mean_mass).powf(0.8) * (hole / mass).cbrt(),
        }
    }

    /// The same for a white dwarf, a neutron star or a black hole of this `mass`, in these `units`. The tide disrupts a white dwarf. A hole that does not rotate swallows what has less
    /// angular momentum than 4 G M / c; by Newton's laws this is the pericentre 8 G M / c^2 of a parabola.
    pub fn reach_of_remnant(&self, units: &Units, hole: f64, mass: f64) -> f64 {
        let c = units.from_km_s(LIGHT);
        let radius = remnant_radius(mass * units.mass) * SOLAR_RADIUS / units.length;
        match self.law {
            Law::Capture => self.radius,
            Law::Disruption => (radius * (hole / mass).cbrt()).max(8.0 * hole / (c * c)),
        }
    }
}

/// The options of the black hole.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct HoleOptions {
    /// Put a black hole of this mass at the centre, in the unit of the stars' masses or with units as in 1000Msun. It grows in the model
    /// before the run begins, slowly enough to leave it in equilibrium
    #[arg(long, value_name = "M", value_parser = quantity::mass)]
    #[arg(conflicts_with_all = ["cross_check", "report"])]
    pub black_hole_mass: Option<Quantity>,
    /// Let the black hole take every star that comes within this radius, also with units as in 1e-6pc [default: 0, none]
    #[arg(long, value_name = "R", value_parser = quantity::length)]
    #[arg(conflicts_with_all = ["tidal_disruption", "cross_check", "report"])]
    pub capture_radius: Option<Quantity>,
    /// Let the black hole take stars that its tide disrupts: those of the mass m and the radius r within r (M / m)^(1/3).
    /// R is the radius of a star of the mean mass at the start, also with units as in 1Rsun
    #[arg(long, value_name = "R", value_parser = quantity::length, conflicts_with_all = ["cross_check", "report"])]
    pub tidal_disruption: Option<Quantity>,
    /// Part of a taken star's mass by which the black hole grows; the rest leaves the cluster [default: 1]
    #[arg(long, value_name = "PART", value_parser = number, conflicts_with_all = ["cross_check", "report"])]
    pub accreted_fraction: Option<f64>,
}

impl HoleOptions {
    /// The black hole of a new run whose stars have the units of `galaxy`.
    ///
    /// # Errors
    ///
    /// Options without a hole, or a unit that the stars do not have.
    pub fn hole(&self, galaxy: &Galaxy) -> Result<Option<BlackHole>, Error> {
        let Some(mass) = of_bodies(self.black_hole_mass, galaxy)? else {
            for (given, option) in [
                (self.capture_radius.is_some(), "--capture-radius"),
                (self.tidal_disruption.is_some(), "--tidal-disruption"),
                (self.accreted_fraction.is_some(), "--accreted-fraction"),
            ] {
                if given {
                    let why = format!("{option} goes with --black-hole-mass");
                    return Err(Error::Refused(why));
                }
            }
            return Ok(None);
        };
        let (law, radius) = self.taking(galaxy)?.unwrap_or((Law::Capture, 0.0));
        if self.accreted_fraction.is_some() && radius == 0.0 {
            return Err(Error::Refused(
                "--accreted-fraction needs --capture-radius or --tidal-disruption above 0: this black hole takes no stars"
                    .to_owned(),
            ));
        }
        Ok(Some(BlackHole {
            mass,
            law,
            radius,
            accreted: self.accreted_fraction.unwrap_or(1.0),
        }))
    }

    /// Which stars the black hole is to take, and the radius of this law.
    fn taking(&self, galaxy: &Galaxy) -> Result<Option<(Law, f64)>, Error> {
        let capture = of_bodies(self.capture_radius, galaxy)?;
        let disruption = of_bodies(self.tidal_disruption, galaxy)?;
        Ok(capture
            .map(|radius| (Law::Capture, radius))
            .or(disruption.map(|radius| (Law::Disruption, radius))))
    }

    /// Checks that the options, as far as given, are those of the saved run.
    ///
    /// # Errors
    ///
    /// A contradiction, or a unit that the stars do not have.
    pub fn check(&self, saved: Option<BlackHole>, galaxy: &Galaxy) -> Result<(), Error> {
        let none = BlackHole {
            mass: 0.0,
            law: Law::Capture,
            radius: 0.0,
            accreted: 1.0,
        };
        let saved = saved.unwrap_or(none);
        let of_law = |law: Law| if saved.law == law { saved.radius } else { 0.0 };
        for (name, given, saved) in [
            (
                "black_hole_mass",
                of_bodies(self.black_hole_mass, galaxy)?,
                saved.mass,
            ),
            (
                "capture_radius",
                of_bodies(self.capture_radius, galaxy)?,
                of_law(Law::Capture),
            ),
            (
                "tidal_disruption",
                of_bodies(self.tidal_disruption, galaxy)?,
                of_law(Law::Disruption),
            ),
            ("accreted_fraction", self.accreted_fraction, saved.accreted),
        ] {
            if given.is_some_and(|value| value != saved) {
                return Err(Error::Refused(contradiction(name, saved, &[])));
            }
        }
        Ok(())
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
