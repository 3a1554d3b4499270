//! The reduced solver (Program 7.1): each pair once, its force added to one particle and subtracted from the other.

use crate::particles::{Assignment, Output, Particles};
use crate::physics::{Gravity, Law, Vect, add, subtract};

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
        forces.fill([0.0; 2]);
        for q in 0..n {
            add_pairs(&law, q, n, |k| pos[k], &mut forces);
        }
        for q in 0..n {
            plan.scheme
                .advance(&mut pos[q], &mut vel[q], masses[q], &forces[q]);
        }
    }
}

/// The pairs of particle `q` with those after it.
#[inline(always)]
pub fn add_pairs<const D: usize>(
    law: &impl Law<D>,
    q: usize,
    n: usize,
    pos: impl Fn(usize) -> Vect,
    forces: &mut [[f64; D]],
) {
    let s_q = pos(q);
    // In registers: the compiler does not know that `forces[q]` and `forces[k]` are different places.
    let mut on_q = forces[q];
    for (k, on_k) in forces.iter_mut().enumerate().take(n).skip(q + 1) {
        let force_qk = law.force(q, k, &s_q, &pos(k));
        add(&mut on_q, &force_qk);
        subtract(on_k, &force_qk);
    }
    forces[q] = on_q;
}
