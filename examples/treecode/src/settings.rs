//! The settings that determine an integration, besides its initial conditions.

use kirin_kit::galaxy::Galaxy;

use crate::error::Error;

/// What determines an integration, besides its initial conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// There is none: it tells the units of the bodies, where they are known.
    pub galaxy: Galaxy,
    /// Softening length.
    pub eps: f64,
    /// Opening angle: a cell of edge l at the distance d is accepted as a whole where l / d < theta.
    pub theta: f64,
    /// Step of everybody.
    pub dt: f64,
    /// Largest group of particles that share an interaction list.
    pub n_crit: usize,
    /// Whether cells have quadrupoles.
    pub quadrupoles: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            galaxy: Galaxy::default(),
            eps: 1.0 / 64.0,
            theta: 0.75,
            dt: 1.0 / 64.0,
            n_crit: 2048,
            quadrupoles: false,
        }
    }
}

impl Settings {
    /// Whether an integration can be made with these.
    ///
    /// # Errors
    ///
    /// The first setting that makes no sense; in words.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |what: &str| Err(Error::Refused(what.to_owned()));
        if !(self.eps >= 0.0 && self.eps.is_finite()) {
            return refuse("--eps: the softening must be a number from 0 on");
        }
        // From this angle on a cell could be accepted for a particle that is inside it.
        if !(0.0..=1.5).contains(&self.theta) {
            return refuse("--theta: the opening angle must be a number from 0 to 1.5");
        }
        if !(self.dt > 0.0 && self.dt.is_finite()) {
            return refuse("--dt: the step must be a number above 0");
        }
        if self.n_crit == 0 {
            return refuse("--n-crit: a group has at least one particle");
        }
        Ok(())
    }
}
