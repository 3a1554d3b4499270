//! The settings that determine an integration, besides its initial conditions.

use kirin_kit::galaxy::Galaxy;

use crate::error::Error;
use crate::step;

/// What determines an integration, besides its initial conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Softening length.
    pub eps: f64,
    /// Accuracy parameter of the steps.
    pub eta: f64,
    /// Accuracy parameter of the first step, which is then this times |a| / |j|. 0: the first steps of a run follow the
    /// criterion of all other steps, with derivatives from a trial step.
    pub eta_start: f64,
    /// Largest step, a power of two.
    pub dt_max: f64,
    /// Smallest step, a power of two: the integration ends where a smaller one is needed. 0: no limit
    /// but the digits of the time.
    pub dt_min: f64,
    /// Whether everybody takes the largest step always.
    pub shared: bool,
    /// Two stars may become a regularized pair at distances below this times sqrt(M m), with G = 1: M is the mass of
    /// the two, m the mean mass of all stars. 0 for no pairs.
    pub regularize: f64,
    /// What there is around the cluster.
    pub galaxy: Galaxy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            eps: 1.0 / 256.0,
            eta: 0.01,
            eta_start: 0.0,
            dt_max: 0.125,
            dt_min: 0.0,
            shared: false,
            regularize: 0.0,
            galaxy: Galaxy::default(),
        }
    }
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
            return refuse("--dt-max: the largest step must be a power of two up to 1");
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
