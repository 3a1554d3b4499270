//! The basic solver with message passing (Program 7.2): after each step every process gathers all positions.

use kirin_kit::communicator::{Communicator, Result};

use super::messages::{broadcast_masses, gather, numbers, scatter};
use super::total_force;
use crate::distribution::{Distribution, block};
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
    let (p, me) = (world.size(), world.rank());
    let (mine, counts) = (block(me, p, n), numbers(Distribution::Block, p, n));
    // Everybody needs all positions, and his own velocities.
    let mut pos = match me {
        0 => particles.pos.as_flattened().to_vec(),
        _ => vec![0.0; 2 * n],
    };
    world.broadcast(0, &mut pos)?;
    let mut loc_vel = scatter(world, Distribution::Block, n, &particles.vel)?;
    let mut loc_pos = pos.as_chunks::<2>().0[mine.clone()].to_vec();
    let mut forces = vec![[0.0; 2]; mine.len()];
    let law = Gravity { masses: &masses };
    for step in 0..plan.steps {
        if plan.outputs(step) {
            gather(world, Distribution::Block, n, &loc_vel, &mut particles.vel)?;
            if me == 0 {
                particles.pos.as_flattened_mut().copy_from_slice(&pos);
                // The others wait for this process, so it goes on in any case.
                let _ = output(step, particles);
            }
        }
        let all = pos.as_chunks::<2>().0;
        for (force, q) in forces.iter_mut().zip(mine.clone()) {
            *force = total_force(&law, q, n, |k| all[k]);
        }
        for (loc_q, q) in mine.clone().enumerate() {
            let (s, v) = (&mut loc_pos[loc_q], &mut loc_vel[loc_q]);
            plan.scheme.advance(s, v, masses[q], &forces[loc_q]);
        }
        world.all_gather_v(loc_pos.as_flattened(), &counts, &mut pos)?;
    }
    if me == 0 {
        particles.pos.as_flattened_mut().copy_from_slice(&pos);
    }
    gather(world, Distribution::Block, n, &loc_vel, &mut particles.vel)
}
