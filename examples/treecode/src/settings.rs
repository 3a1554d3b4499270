//! The settings that determine an integration, besides its initial conditions.

use clap::Args;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::number::{count, number};
use kirin_kit::settings::Given;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What determines an integration, besides its initial conditions. A state has the words of these fields, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Args, Serialize, Deserialize)]
pub struct Settings {
    /// There is none: it tells the units of the bodies, where they are known.
    #[arg(skip)]
    #[serde(skip)]
    pub galaxy: Galaxy,
    /// Softening length, whose option may have a unit of the bodies.
    #[arg(skip = 1.0 / 64.0)]
    pub eps: f64,
    /// Opening angle; 0 sums all pairs
    // A cell of edge l at the distance d is accepted as a whole where l / d < theta.
    #[arg(long, default_value = "0.75", value_parser = number)]
    pub theta: f64,
    /// Step of everybody
    #[arg(long, default_value = "1/64", value_parser = number)]
    pub dt: f64,
    /// Largest group of particles with one interaction list
    #[arg(long, default_value = "2048", value_parser = size)]
    pub n_crit: usize,
    /// Give cells quadrupoles
    #[arg(long)]
    pub quadrupoles: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Given::default().all
    }
}

fn size(text: &str) -> Result<usize, String> {
    Ok(usize::try_from(count(text)?).unwrap_or(usize::MAX))
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
        // A cell that has particles of the group is always opened. From 1 / sqrt(3) on one may be accepted for a particle just outside that is
        // nearer to the cell's far corner than to its centre of mass.
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
