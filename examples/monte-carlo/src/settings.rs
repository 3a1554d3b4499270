//! The settings that determine a run, besides its stars.

use clap::Args;
use kirin_kit::command::DEFAULT_SEED;
use kirin_kit::number::number;
use kirin_kit::settings::Given;
use serde::{Deserialize, Serialize};

use crate::black_hole::BlackHole;
use crate::error::Error;
use crate::evolution::Evolution;
use crate::tide::Tide;

/// Most encounters of a star in a step.
pub const MOST_ENCOUNTERS: u32 = 1000;

/// What determines a run, besides its stars. A state has the words of these fields, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Args, Serialize, Deserialize)]
pub struct Settings {
    /// Deflection in the encounters of one step, in radians
    #[arg(long, value_name = "ANGLE", default_value = "1", value_parser = number)]
    pub theta_max: f64,
    /// Factor of N in the Coulomb logarithm, which is 1 at least: 0.1 for equal masses, 0.02 to 0.03 for many
    #[arg(long, default_value = "0.1", value_parser = number)]
    pub gamma: f64,
    /// Stellar radius of a star of the mean mass at the start; 0: no collisions.
    #[arg(skip)]
    pub radius: f64,
    /// Encounters of each star in a step; each stands for an equal part of the step. 0: as many as keep the deflections
    /// small. The paper has one, whose effect is too small in long steps
    #[arg(long, value_name = "COUNT", default_value = "0")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=i64::from(MOST_ENCOUNTERS)))]
    pub encounters: u32,
    /// Seed of the random numbers.
    #[arg(skip = DEFAULT_SEED)]
    pub seed: u64,
    /// Whether there are binaries from the start.
    #[arg(skip)]
    #[serde(skip)]
    pub primordial: bool,
    /// Whether three stars can form a binary.
    #[arg(skip)]
    #[serde(skip)]
    pub three_body: bool,
    /// Stellar evolution.
    #[arg(skip)]
    #[serde(skip)]
    pub evolution: Option<Evolution>,
    /// The tidal field that the cluster is in.
    #[arg(skip)]
    #[serde(skip)]
    pub tide: Option<Tide>,
    /// The black hole at the centre.
    #[arg(skip)]
    #[serde(skip)]
    pub black_hole: Option<BlackHole>,
}

impl Default for Settings {
    fn default() -> Self {
        Given::default().all
    }
}

impl Settings {
    /// Whether a run can be made with these.
    ///
    /// # Errors
    ///
    /// The first setting that makes no sense; in words.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |what: &str| Err(Error::Refused(what.to_owned()));
        if !(self.theta_max > 0.0 && self.theta_max <= 2.0) {
            return refuse("--theta-max must be above 0 and at most 2");
        }
        if !(self.gamma > 0.0 && self.gamma.is_finite()) {
            return refuse("--gamma must be above 0");
        }
        if !(self.radius >= 0.0 && self.radius < 1.0) {
            return refuse("--stellar-radius must be from 0 to less than 1 unit of length");
        }
        if self.encounters > MOST_ENCOUNTERS {
            return refuse("--encounters must be from 0 to 1000");
        }
        if let Some(hole) = self.black_hole {
            hole.validate()?;
        }
        if let Some(evolution) = self.evolution {
            evolution.validate()?;
        }
        if self.evolution.is_some() && self.radius > 0.0 {
            return refuse("--stellar-evolution knows no collisions: not with --stellar-radius");
        }
        if self.has_binaries() && self.radius > 0.0 {
            return refuse("binaries are of point masses: not with --stellar-radius");
        }
        let is_moderate = |x: f64| (1e-6..=1e6).contains(&x);
        if self.tide.is_some_and(|tide| !is_moderate(tide.radius)) {
            return refuse("--tidal-radius must be from 1e-6 to 1e6, in units of length");
        }
        let is_mass = |m: f64| m > 0.0 && m.is_finite();
        if self.tide.is_some_and(|tide| !is_mass(tide.mass)) {
            return refuse("the mass at the start must be above 0");
        }
        Ok(())
    }

    /// Whether there can be binaries.
    pub fn has_binaries(&self) -> bool {
        self.primordial || self.three_body
    }

    /// Coulomb logarithm ln(gamma N).
    pub fn coulomb(&self, n: usize) -> f64 {
        // Below gamma N = e the theory says nothing; relaxation does not turn round there.
        self.formula(n).max(1.0)
    }

    /// ln(gamma N) as it is.
    fn formula(&self, n: usize) -> f64 {
        (self.gamma * n as f64).ln()
    }

    /// A message for the user of `n` stars whose Coulomb logarithm is not that of the formula.
    pub fn remark(&self, n: usize) -> Option<String> {
        let (gamma, logarithm) = (self.gamma, self.formula(n));
        (logarithm < 1.0).then(|| {
            format!("--gamma {gamma}: ln(gamma N) is {logarithm:.2} for {n} stars, and 1 is taken in its place")
        })
    }

    /// Radius of a star: that of the main sequence grows about as m^0.8. The mean mass is that at the start: a star does not shrink as others merge.
    #[inline]
    pub fn stellar_radius(&self, mass: f64, mean_mass: f64) -> f64 {
        if self.radius == 0.0 {
            return 0.0;
        }
        self.radius * (mass / mean_mass).powf(0.8)
    }
}
