//! The basic solver through the GRAPE-6 interface: all particles are j-particles, and the library computes the
//! forces on them, a block at a time.

use kirin::client::{Block, Grape};

use crate::particles::{Assignment, Output, Particles};
use crate::physics::{G, Vect};

/// The cluster of the library that is used: GRAPE-6 clients call their first one 0.
const ID: i32 = 0;

/// Moves `particles` by the steps of `plan`.
///
/// # Errors
///
/// The library refuses or fails; in words.
pub fn solve(
    grape: &Grape,
    particles: &mut Particles,
    plan: &Assignment,
    output: &mut Output<'_>,
) -> Result<(), String> {
    checked(grape.open(ID))?;
    let done = steps(grape, particles, plan, output);
    grape.close(ID);
    done
}

fn steps(
    grape: &Grape,
    particles: &mut Particles,
    plan: &Assignment,
    output: &mut Output<'_>,
) -> Result<(), String> {
    let mut forces = vec![[0.0; 2]; particles.len()];
    let mut block = Block::default();
    grape.set_ti(ID, 0.0);
    for step in 0..plan.steps {
        if plan.outputs(step) && output(step, particles).is_break() {
            break;
        }
        let Particles { masses, pos, vel } = &mut *particles;
        // A GRAPE has units in which G is 1, and three dimensions.
        for (q, (m, s)) in (0..).zip(masses.iter().zip(&*pos)) {
            checked(grape.set_mass_position(ID, q, q, G * m, &in_space(s)))?;
        }
        find(grape, masses, pos, &mut forces, &mut block)?;
        for (q, force) in forces.iter().enumerate() {
            plan.scheme
                .advance(&mut pos[q], &mut vel[q], masses[q], force);
        }
    }
    Ok(())
}

/// The forces on all particles, on as many at a time as the library has pipelines.
fn find(
    grape: &Grape,
    masses: &[f64],
    pos: &[Vect],
    forces: &mut [Vect],
    block: &mut Block,
) -> Result<(), String> {
    let n = pos.len();
    for begin in (0..n).step_by(grape.npipes()) {
        let end = n.min(begin + grape.npipes());
        block.resize(end - begin);
        for (k, q) in (begin..end).enumerate() {
            // By its number the library knows a particle, which exerts no force on itself.
            block.index[k] = i32::try_from(q).expect("the options allow no more particles");
            block.x[k] = in_space(&pos[q]);
        }
        grape.firsthalf(ID, n, block, 0.0);
        checked(grape.lasthalf(ID, n, block, 0.0))?;
        for (q, [x, y, _]) in (begin..end).zip(&block.acc) {
            forces[q] = [masses[q] * x, masses[q] * y];
        }
    }
    Ok(())
}

fn in_space(s: &Vect) -> [f64; 3] {
    [s[0], s[1], 0.0]
}

fn checked(status: i32) -> Result<(), String> {
    match status {
        0 => Ok(()),
        code => Err(format!("the library answers {code}")),
    }
}
