//! Angular momentum, and the torque of the external field that explains its change (equation 8 of the paper).
//!
//! A drift leaves the angular momentum unchanged. A kick of length h changes it by h times the torque at the stars'
//! positions; the torque of the pairs vanishes. So the sum over the kicks explains every change, at any length of
//! the step.

use kirin_kit::galaxy::{Field, Moment};
use kirin_kit::sum::Sum;
use kirin_kit::vector::{Vec3, cross};
use rayon::prelude::*;

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

/// What a galaxy does to all stars together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effect {
    /// The torque about its centre.
    pub torque: Vec3,
    /// The change of their energy in its field by the change of the field.
    pub power: f64,
}

/// The accelerations by `galaxy` at all positions, and what it does to all; its power only where it `changes`.
pub fn field(
    galaxy: &Moment,
    changes: bool,
    state: &PhaseSpace,
    masses: &[f64],
    external: &mut Vec<Vec3>,
) -> Effect {
    (0..state.len())
        .into_par_iter()
        .with_min_len(GRAIN / 8)
        .map(|i| galaxy.acceleration(&state.position(i)))
        .collect_into_vec(external);
    let mut sums = [Sum::default(); 3];
    for (i, mass) in masses.iter().enumerate() {
        let torque = cross(&state.position(i), &external[i]);
        for k in 0..3 {
            sums[k] += mass * torque[k];
        }
    }
    let mut power = 0.0;
    if changes {
        let of_star = |i: usize| masses[i] * galaxy.potential_change(&state.position(i));
        let each: Vec<f64> = (0..state.len())
            .into_par_iter()
            .with_min_len(GRAIN / 8)
            .map(of_star)
            .collect();
        power = each.into_iter().collect::<Sum>().value();
    }
    Effect {
        torque: sums.map(|sum| sum.value()),
        power,
    }
}
