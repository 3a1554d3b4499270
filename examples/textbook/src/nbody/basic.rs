//! The basic solver (section 7.1.2): the force on each particle is the sum over all others.

use super::total_force;
use crate::particles::{Assignment, Output, Particles};
use crate::physics::Gravity;

/// Moves `particles` by the steps of `plan`.
pub fn solve(particles: &mut Particles, plan: &Assignment, output: &mut Output<'_>) {
    let n = particles.len();
    let mut forces = vec![[0.0; 2]; n];
    for step in 0..plan.steps {
        if plan.outputs(step) && output(step, particles).is_break() {
            return;
        }
        let Particles { masses, pos, vel } = &mut *particles;
        let law = Gravity { masses };
        for (q, force) in forces.iter_mut().enumerate() {
            *force = total_force(&law, q, n, |k| pos[k]);
        }
        for q in 0..n {
            plan.scheme
                .advance(&mut pos[q], &mut vel[q], masses[q], &forces[q]);
        }
    }
}
