//! The settings that determine an integration, besides its initial conditions.

use clap::Args;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::number::number;
use kirin_kit::settings::Given;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::step;

/// What determines an integration, besides its initial conditions. A state has the words of these fields, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Args, Serialize, Deserialize)]
pub struct Settings {
    /// Softening length, whose option may have a unit of the bodies.
    #[arg(skip = 1.0 / 256.0)]
    pub eps: f64,
    /// Accuracy parameter of the time steps; may change when a run is resumed
    #[arg(long, default_value = "0.01", value_parser = number)]
    pub eta: f64,
    /// Accuracy parameter of the first step, which is then this times |a| / |a1|. 0: the formula of all other steps,
    /// with derivatives from a trial step
    #[arg(long, default_value = "0", value_parser = number)]
    pub eta_start: f64,
    /// Largest time step, a power of two up to 1
    #[arg(long, default_value = "1/8", value_parser = number)]
    pub dt_max: f64,
    /// End the run where a step below this power of two is needed; may change when a run is resumed [default: no limit
    /// but the digits of the time]
    #[arg(long, default_value = "0", hide_default_value = true, value_parser = number)]
    pub dt_min: f64,
    /// Whether everybody takes the largest step always.
    #[arg(skip)]
    pub shared: bool,
    /// Move close stars as regularized systems: two stars by their two-body motion, perturbed by the tide of all
    /// others, three and more by a few-body integrator; needs --eps 0. With R = FACTOR sqrt(M m) in standard units, and
    /// the same in others, two bound stars may become a pair if their apocentre is below 1.5 R, two passing ones at
    /// distances below R/4: M is the mass of the two, m the mean mass of all stars. A run that was made without systems may
    /// begin with them when it is resumed [default: 2]
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = "2", value_parser = number)]
    #[arg(default_value = "0", hide_default_value = true)]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub regularize: f64,
    /// What there is around the cluster.
    #[arg(skip)]
    #[serde(skip)]
    pub galaxy: Galaxy,
}

/// The settings that a resumed run may change.
pub const MAY_CHANGE: [&str; 2] = ["eta", "dt_min"];

impl Default for Settings {
    fn default() -> Self {
        Given::default().all
    }
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// In regularized runs, `eta` of a star near another star or pair, as a fraction of the `eta` of all others.
const CROWDED: f64 = 0.2;
/// Default accuracy parameter of the first step of a star that begins anew in the midst of a run, in parts of that of other steps.
const ANEW: f64 = 0.25;

impl Settings {
    /// Whether the first steps of the run come from trial steps.
    pub fn has_trial_steps(&self) -> bool {
        self.eta_start == 0.0 && !self.shared
    }

    /// Accuracy parameter of the first step of a star that begins anew in the midst of a run.
    pub fn eta_anew(&self) -> f64 {
        match self.eta_start {
            0.0 => ANEW * self.eta,
            given => given,
        }
    }

    /// These settings with shorter steps, for a star near another star or pair. With them the encounter of a pair
    /// and a third star is as accurate as the motion within a pair.
    pub fn in_crowd(&self) -> Self {
        Self {
            eta: CROWDED * self.eta,
            ..*self
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
            return refuse("--eps: the softening must be a number from 0 on");
        }
        if !(self.eta > 0.0 && self.eta.is_finite()) {
            return refuse("--eta: the accuracy parameter must be a number above 0");
        }
        if !(self.eta_start >= 0.0 && self.eta_start.is_finite()) {
            return refuse(
                "--eta-start: the accuracy parameter of the first step must be a number from 0 on",
            );
        }
        if !(step::is_power_of_two(self.dt_max) && self.dt_max <= 1.0) {
            return refuse(match self.shared {
                true => "--shared-step: the step must be a power of two up to 1",
                false => "--dt-max: the largest step must be a power of two up to 1",
            });
        }
        if self.dt_min != 0.0 && !step::is_power_of_two(self.dt_min) {
            return refuse("--dt-min: the smallest step must be a power of two, or 0 for no limit");
        }
        if !(self.regularize >= 0.0 && self.regularize.is_finite()) {
            return refuse("--regularize: the factor must be a number from 0 on");
        }
        if self.regularize > 0.0 && (self.eps != 0.0 || self.shared) {
            return refuse(
                "--regularize: pairs move as two bodies without softening, in steps of their own: it needs --eps 0",
            );
        }
        if self.dt_min > self.dt_max {
            return refuse("--dt-min: the smallest step must not be above the largest");
        }
        Ok(())
    }
}
