//! What determines an integration, besides its initial conditions.

use kirin_kit::galaxy::Galaxy;

use crate::error::Error;
use crate::phase_space::Bits;
use crate::scheme::Scheme;

/// The softening is this part of the mean distance R / N^(1/3): section 2 of the paper.
const EPS: f64 = 0.005;

/// What determines an integration, besides its initial conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Softening length.
    pub eps: f64,
    /// Step of everybody.
    pub dt: f64,
    /// The scheme.
    pub scheme: Scheme,
    /// The numbers of positions and velocities.
    pub bits: Bits,
    /// What there is around the cluster.
    pub galaxy: Galaxy,
    /// Whether the library gets positions as they are, not with respect to the centre of mass.
    pub uncentred: bool,
}

impl Settings {
    /// The defaults for `n` particles: those of the paper.
    pub fn for_particles(n: usize) -> Self {
        Self {
            eps: EPS / (n.max(1) as f64).cbrt(),
            dt: 5e-4,
            scheme: Scheme::default(),
            bits: Bits::default(),
            galaxy: Galaxy::default(),
            uncentred: false,
        }
    }

    /// Whether an integration can be made with these.
    ///
    /// # Errors
    ///
    /// The first setting that makes no sense; in words.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |what: &str| Err(Error::Refused(what.to_owned()));
        if !(self.eps >= 0.0 && self.eps.is_finite()) {
            return refuse("the softening must be a number from 0 on");
        }
        if !(self.dt > 0.0 && self.dt.is_finite()) {
            return refuse("the step must be a number above 0");
        }
        Ok(())
    }
}
