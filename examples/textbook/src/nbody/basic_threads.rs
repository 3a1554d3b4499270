//! The basic solver with threads (sections 7.1.5 and 7.1.8): each thread finds the forces on its own particles and
//! moves these. One team of threads goes through all time steps.

use std::sync::Barrier;

use super::shared::SharedParticles;
use super::total_force;
use crate::distribution::Distribution;
use crate::particles::{Assignment, Output, Particles};
use crate::physics::Gravity;
use crate::team::{self, SharedVectors};

/// Moves `particles` by the steps of `plan`, with so many threads.
/// Returns the processor time of the thread that computed longest, in
/// seconds.
///
/// # Errors
///
/// The system has no more threads; in words.
pub fn solve<'a>(
    threads: usize,
    distribution: Distribution,
    particles: &mut Particles,
    plan: &Assignment,
    output: &'a mut Output<'a>,
) -> Result<f64, String> {
    let n = particles.len();
    let shared = SharedParticles::new(particles, plan, output);
    let forces = SharedVectors::new(&vec![[0.0; 2]; n]);
    let law = Gravity {
        masses: &shared.masses,
    };
    let barrier = Barrier::new(threads);
    let longest = team::run(threads, |rank| {
        let mine = || distribution.of(rank, threads, n);
        for step in 0..plan.steps {
            // The others need not wait: nobody moves before the barrier behind the forces.
            if rank == 0 {
                shared.print(step);
            }
            for q in mine() {
                forces.set(q, total_force(&law, q, n, |k| shared.pos.get(k)));
            }
            // Nobody moves while others look ...
            barrier.wait();
            if shared.is_over() {
                break;
            }
            for q in mine() {
                shared.advance(q, &forces.get(q));
            }
            // ... and nobody looks while others move.
            barrier.wait();
        }
    })?;
    shared.end();
    Ok(longest)
}
