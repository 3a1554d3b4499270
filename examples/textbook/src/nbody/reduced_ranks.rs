//! The reduced solver with message passing (Program 7.3). Positions and partial forces travel around a ring of
//! processes. Only process 0 ever has all positions and velocities, for the output.

use kirin_kit::communicator::{Communicator, Result};

use super::messages::{broadcast_masses, gather, scatter};
use super::ring::{CYCLIC, ring_pass};
use crate::particles::{Assignment, Output, Particles};
use crate::physics::Gravity;

/// Moves the `particles` of process 0 by the steps of `plan`. On the other processes `particles` is ignored.
///
/// # Errors
///
/// A process is lost.
pub fn solve<C: Communicator>(
    world: &C,
    particles: &mut Particles,
    plan: &Assignment,
    output: &mut Output<'_>,
) -> Result<()> {
    let masses = broadcast_masses(world, particles)?;
    let n = masses.len();
    let mut loc_pos = scatter(world, CYCLIC, n, &particles.pos)?;
    let mut loc_vel = scatter(world, CYCLIC, n, &particles.vel)?;
    let law = Gravity { masses: &masses };
    for step in 0..plan.steps {
        if plan.outputs(step) {
            gather(world, CYCLIC, n, &loc_pos, &mut particles.pos)?;
            gather(world, CYCLIC, n, &loc_vel, &mut particles.vel)?;
            if world.rank() == 0 {
                // The others wait for this process, so it goes on in any case.
                let _ = output(step, particles);
            }
        }
        let forces = ring_pass(world, &law, n, &loc_pos, |_| {})?;
        for (loc_q, q) in CYCLIC.of(world.rank(), world.size(), n).enumerate() {
            let (s, v) = (&mut loc_pos[loc_q], &mut loc_vel[loc_q]);
            plan.scheme.advance(s, v, masses[q], &forces[loc_q]);
        }
    }
    gather(world, CYCLIC, n, &loc_pos, &mut particles.pos)?;
    gather(world, CYCLIC, n, &loc_vel, &mut particles.vel)
}
