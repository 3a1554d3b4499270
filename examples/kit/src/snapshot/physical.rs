//! Units in which other programs have written bodies.

use std::collections::HashMap;

use hdf5_pure::AttrValue;

use super::hdf5::number;
use super::line::{read, words};
use super::{EPS, Snapshot};
use crate::galaxy::{Galaxy, Units};

/// The solar mass in g: GM of the IAU (2015) by G of CODATA (2018).
const SOLAR_MASS: f64 = 1.988_409_870_698_051e33;
/// The parsec in cm (IAU 2015).
const PARSEC: f64 = 3.085_677_581_491_367_3e18;
/// A kilometre per second in cm/s.
const KM_S: f64 = 1e5;
/// Above this difference from 1 in the unit of velocity, G is not 1 in a file's units.
const TOLERANCE: f64 = 1e-6;

/// Names of the units of length, mass and velocity that are written.
pub(super) const GADGET: [&str; 3] = [
    "UnitLength_in_cm",
    "UnitMass_in_g",
    "UnitVelocity_in_cm_per_s",
];
/// The names in files of GIZMO.
const GIZMO: [&str; 3] = [
    "UnitLength_In_CGS",
    "UnitMass_In_CGS",
    "UnitVelocity_In_CGS",
];
/// The names in files of SWIFT, whose third unit is that of time.
const SWIFT: [&str; 3] = [
    "Unit length in cgs (U_L)",
    "Unit mass in cgs (U_M)",
    "Unit time in cgs (U_t)",
];

/// The units of a file in g, cm and cm/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FileUnits {
    pub(super) mass: f64,
    pub(super) length: f64,
    pub(super) velocity: f64,
}

impl FileUnits {
    /// Units in which G = 1.
    pub(super) fn of(units: &Units) -> Self {
        Self {
            mass: units.mass * SOLAR_MASS,
            length: units.length * PARSEC,
            velocity: units.velocity() * KM_S,
        }
    }

    /// Kilograms, metres and metres per second.
    pub(super) const SI: Self = Self {
        mass: 1e3,
        length: 1e2,
        velocity: 1e2,
    };

    /// The units that attributes tell; `None` if they tell none.
    ///
    /// # Errors
    ///
    /// One of them is not above 0; in words.
    pub(super) fn told(attributes: &HashMap<String, AttrValue>) -> Result<Option<Self>, String> {
        for names in [GADGET, GIZMO, SWIFT] {
            let [Some(length), Some(mass), Some(third)] =
                names.map(|name| number(attributes, name))
            else {
                continue;
            };
            for (name, value) in names.iter().zip([length, mass, third]) {
                if !(value > 0.0 && value.is_finite()) {
                    return Err(format!("{name} is {value}, and must be above 0"));
                }
            }
            let velocity = match names == SWIFT {
                true => length / third,
                false => third,
            };
            return Ok(Some(Self {
                mass,
                length,
                velocity,
            }));
        }
        Ok(None)
    }

    /// Chooses the unit of velocity such that the constant of gravity is `g` in these units, as in the run that has
    /// written the bodies: masses and lengths stay, and the motion is that of this run.
    ///
    /// # Errors
    ///
    /// It is not above 0; in words.
    pub(super) fn set_g(&mut self, g: f64) -> Result<(), String> {
        if !(g > 0.0 && g.is_finite()) {
            return Err(format!(
                "the file's constant of gravity is {g}, and must be above 0"
            ));
        }
        let units = Units {
            mass: self.mass / SOLAR_MASS,
            length: self.length / PARSEC,
        };
        self.velocity = units.velocity() * KM_S / g.sqrt();
        Ok(())
    }

    /// Converts the bodies and the time from these units to units in which G = 1, and notes the new units in the
    /// snapshot. If G is 1 in the file's own units no number changes. Otherwise the mass of all bodies and their
    /// half-mass radius become 1.
    pub(super) fn convert(&self, snapshot: &mut Snapshot) {
        let mut units = Units {
            mass: self.mass / SOLAR_MASS,
            length: self.length / PARSEC,
        };
        let ratio = self.velocity / KM_S / units.velocity();
        if (ratio - 1.0).abs() > TOLERANCE {
            let own_time = units.time() / ratio;
            for body in &mut snapshot.bodies {
                body.mass *= units.mass;
                body.x = body.x.map(|c| c * units.length);
                body.v = body.v.map(|c| c * self.velocity / KM_S);
            }
            units = Units::of_physical(&snapshot.bodies);
            units.scale(&mut snapshot.bodies);
            snapshot.time *= own_time / units.time();
        }
        snapshot.run.extend(Galaxy::of_units(Some(units)).lines());
    }
}

impl Snapshot {
    /// Brings bodies in solar masses, parsecs and km/s to units with G = 1, and notes these. They are those that `chosen` makes of the units in
    /// which the mass of all bodies and their half-mass radius are 1. The time stays as it is.
    ///
    /// # Errors
    ///
    /// The bodies have units already, or belong to the state of a run; in words.
    pub fn bring_to_units(&mut self, chosen: impl FnOnce(Units) -> Units) -> Result<(), String> {
        if self.owner().is_some() {
            return Err("--physical is for bodies, and the input is a run".to_owned());
        }
        if Units::of(self)?.is_some() {
            return Err("--physical is for bodies whose file tells no units".to_owned());
        }
        let units = chosen(Units::of_physical(&self.bodies));
        units.scale(&mut self.bodies);
        for (_, eps) in self.run.iter_mut().filter(|(key, _)| key == EPS) {
            *eps = words(&(read::<f64>(EPS, eps)? / units.length));
        }
        self.run.extend(Galaxy::of_units(Some(units)).lines());
        // Such as that G is assumed to be 1.
        self.remark = None;
        Ok(())
    }
}
