//! Angular momentum, and the torque of the external field that explains its change (equation 8 of the paper).
//!
//! A drift leaves the angular momentum unchanged. A kick of length h changes it by h times the torque at the stars'
//! positions; the torque of the pairs vanishes. So the sum over the kicks explains every change, at any length of
//! the step.

use kirin_kit::galaxy::{Field, Galaxy};
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
}

impl Balance {
    /// A kick of length `h` at a place where the torque is `torque`.
    pub fn kick(&mut self, h: f64, torque: &Vec3) {
        for (sum, torque) in self.impulse.iter_mut().zip(torque) {
            *sum += h * torque;
        }
    }

    /// The part of the angular momentum `now` that the torque does not explain.
    pub fn unexplained(&self, now: &Vec3) -> Vec3 {
        [0, 1, 2].map(|k| (now[k] - self.initial[k]) - self.impulse[k].value())
    }
}

/// The accelerations by `galaxy` at all positions, and their torque about its centre.
pub fn field(
    galaxy: &Galaxy,
    state: &PhaseSpace,
    masses: &[f64],
    external: &mut Vec<Vec3>,
) -> Vec3 {
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
    sums.map(|sum| sum.value())
}
