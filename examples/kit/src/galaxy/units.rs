//! A cluster's units, in which G = M = R = 1, in solar masses, parsecs, Myr and km/s.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The gravitational constant in pc (km/s)^2 per solar mass (CODATA and IAU 2015).
pub(super) const G: f64 = 4.300_917_27e-3;

/// Time in Myr that a parsec takes at one km/s.
pub(super) const MYR: f64 = 0.977_792_221_68;

/// The astronomical unit in pc (IAU 2012).
pub(crate) const ASTRONOMICAL_UNIT: f64 = std::f64::consts::PI / 648_000.0;

/// The radius of the Sun in pc: 6.957e8 m (IAU 2015), where an astronomical unit is 149597870700 m.
pub const SOLAR_RADIUS: f64 = ASTRONOMICAL_UNIT * (6.957e8 / 149_597_870_700.0);

/// Units in which G = 1, given by those of mass and length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// Unit of mass in solar masses.
    pub mass: f64,
    /// Unit of length in pc.
    pub length: f64,
}

impl Default for Units {
    /// Units in which 60 units of time are one revolution at 8 kpc, as in the paper of NBSymple. The paper gives no
    /// mass.
    fn default() -> Self {
        Self {
            mass: 16000.0,
            length: 10.0,
        }
    }
}

impl Units {
    /// Whether these are the `others`, but for the constants by which files convert units.
    /// Checks that an `option` with these units does not contradict those that an input tells: it would not convert
    /// the bodies.
    ///
    /// # Errors
    ///
    /// It does; in words.
    pub(super) fn check_told(&self, told: &Self, option: &str) -> Result<(), String> {
        let Self { mass, length } = told;
        match self.are_about(told) {
            true => Ok(()),
            false => Err(format!(
                "{option} contradicts the input, whose units are {mass:?}Msun,{length:?}pc"
            )),
        }
    }

    pub(super) fn are_about(&self, others: &Self) -> bool {
        let is_about = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
        is_about(self.mass, others.mass) && is_about(self.length, others.length)
    }

    /// Unit of velocity in km/s.
    pub fn velocity(&self) -> f64 {
        (G * self.mass / self.length).sqrt()
    }

    /// Unit of time in Myr.
    pub fn time(&self) -> f64 {
        MYR * self.length / self.velocity()
    }

    /// Unit of density in solar masses per cubic parsec.
    pub fn density(&self) -> f64 {
        self.mass / self.length.powi(3)
    }

    /// The units of mass, length, time and velocity, for programs.
    pub fn json(&self) -> Value {
        json!({
            "solar_masses": self.mass,
            "pc": self.length,
            "myr": self.time(),
            "km_s": self.velocity(),
        })
    }

    /// Units of the same mass in which a number of these units' times is 1: for programs that count time in it.
    ///
    /// With G = 1 the time is (length^3 / mass)^(1/2).
    #[must_use]
    pub fn with_time(&self, number: f64) -> Self {
        Self {
            mass: self.mass,
            length: self.length * number.cbrt().powi(2),
        }
    }

    /// Kiloparsecs as a length.
    pub fn from_kpc(&self, kpc: f64) -> f64 {
        1000.0 * kpc / self.length
    }

    /// A length in kiloparsecs.
    pub fn to_kpc(&self, length: f64) -> f64 {
        length * self.length / 1000.0
    }

    /// Kilometres per second as a velocity.
    pub fn from_km_s(&self, km_s: f64) -> f64 {
        km_s / self.velocity()
    }
}

impl std::fmt::Display for Units {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} solar masses, {} pc, {:.4} Myr, {:.4} km/s",
            self.mass,
            self.length,
            self.time(),
            self.velocity()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Earth's year: a solar mass and an astronomical unit have the time 1 yr / 2 pi and 29.78 km/s.
    #[test]
    fn the_earth_takes_a_year() {
        let units = Units {
            mass: 1.0,
            length: std::f64::consts::PI / 648_000.0,
        };
        let year = 1e6 * units.time() * std::f64::consts::TAU;
        assert!((year - 1.0).abs() < 1e-4, "{year}");
        assert!((units.velocity() - 29.785).abs() < 1e-3);
    }

    #[test]
    fn another_unit_of_time() {
        let units = Units::default();
        let slower = units.with_time(20.0);
        assert!((slower.time() / units.time() - 20.0).abs() < 1e-12);
        assert_eq!(slower.mass, units.mass);
    }

    /// In units of kpc and 100 (km/s)^2 the mass is 2.325e7 solar masses.
    #[test]
    fn a_galaxys_units() {
        let units = Units {
            mass: 2.325e7,
            length: 1000.0,
        };
        assert!((units.velocity() - 10.0).abs() < 1e-3);
        assert_eq!(units.from_kpc(8.0), 8.0);
        assert_eq!(units.to_kpc(units.from_kpc(3.0)), 3.0);
    }
}
