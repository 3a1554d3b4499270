//! Angular momentum, and the torque of the external field that explains its change (equation 8 of the paper).
//!
//! A drift leaves the angular momentum unchanged. A kick of length h changes it by h times the torque at the stars'
//! positions; the torque of the pairs vanishes. So the sum over the kicks explains every change, at any length of
//! the step.

use kirin_kit::galaxy::{Field, Galaxy, Moment};
use kirin_kit::sum::Sum;
use kirin_kit::vector::{Vec3, cross};
use rayon::prelude::*;

use crate::error::Error;
use crate::phase_space::{GRAIN, PhaseSpace};

/// What the field has done to the angular momentum so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// Angular momentum about the galaxy's centre at the start.
    pub initial: Vec3,
    /// The time integral of the torque since then.
    pub impulse: [Sum; 3],
    /// The energy that the stars have got because the galaxy changed with time.
    pub gain: Sum,
}

impl Balance {
    /// Adds the effect of a kick of length `h`. Time and energy are conjugate variables: a drift advances the time,
    /// and a kick changes the energy by h times the time derivative of the potential. So the sum explains the
    /// change of the energy to the order of the scheme.
    pub fn kick(&mut self, h: f64, effect: &Effect) {
        for (sum, torque) in self.impulse.iter_mut().zip(&effect.torque) {
            *sum += h * torque;
        }
        self.gain += h * effect.power;
    }

    /// The part of the angular momentum `now` that the torque does not explain.
    pub fn unexplained(&self, now: &Vec3) -> Vec3 {
        [0, 1, 2].map(|k| (now[k] - self.initial[k]) - self.impulse[k].value())
    }
}

/// Checks that the `galaxy` has a field where the stars with these `labels` are.
///
/// # Errors
///
/// A star is beyond the grid of a potential from a file, or where an acceleration is not finite.
pub fn check(accelerations: &[Vec3], labels: &[i32], galaxy: &Galaxy) -> Result<(), Error> {
    let is_finite = |a: &Vec3| a.iter().all(|c| c.is_finite());
    let Some(i) = accelerations.iter().position(|a| !is_finite(a)) else {
        return Ok(());
    };
    let index = labels[i];
    Err(match galaxy.edge() {
        Some(edge) => Error::BeyondGrid { index, edge },
        None => Error::Force { index },
    })
}

/// What a galaxy does to all stars together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effect {
    /// The torque about its centre.
    pub torque: Vec3,
    /// The change of their energy in its field by the change of the field.
    pub power: f64,
}

/// The accelerations by `galaxy` at all positions.
pub fn accelerations(galaxy: &Moment, state: &PhaseSpace, external: &mut Vec<Vec3>) {
    (0..state.len())
        .into_par_iter()
        .with_min_len(GRAIN / 8)
        .map(|i| galaxy.acceleration(&state.position(i)))
        .collect_into_vec(external);
}

/// The changes of the potential of `galaxy` at all positions.
pub fn potential_changes(galaxy: &Moment, state: &PhaseSpace) -> Vec<f64> {
    (0..state.len())
        .into_par_iter()
        .with_min_len(GRAIN / 8)
        .map(|i| galaxy.potential_change(&state.position(i)))
        .collect()
}

/// What a galaxy with these accelerations and changes of its potential does to all stars. In one that does not change
/// there are no changes.
pub fn effect(state: &PhaseSpace, masses: &[f64], external: &[Vec3], changes: &[f64]) -> Effect {
    let mut sums = [Sum::default(); 3];
    for (i, mass) in masses.iter().enumerate() {
        let torque = cross(&state.position(i), &external[i]);
        for k in 0..3 {
            sums[k] += mass * torque[k];
        }
    }
    let power: Sum = masses.iter().zip(changes).map(|(m, c)| m * c).collect();
    Effect {
        torque: sums.map(|sum| sum.value()),
        power: power.value(),
    }
}
