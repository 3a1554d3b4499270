//! The basic solver on a GPU, many time steps in one kernel (section 7.1.13). All threads wait for each other in a barrier of
//! the whole grid, for which the device must hold all thread blocks at a time. The kernel is in `kernels/nbody.cuh`.

use std::time::Duration;

use kirin_device::{Argument, Gpu};

use super::gpu::of_forces;
use super::on_device::{OnDevice, Real};
use crate::particles::{Assignment, Output, Particles};

/// Barriers of a time step.
const BARRIERS: u32 = 2;

/// Time in which all thread blocks have waited for each other on the slowest GPU.
const SLOWEST_BARRIER: Duration = Duration::from_micros(50);

/// A launch takes about so long on the slowest GPU: a driver may end longer kernels on a device with a display.
const LAUNCH: Duration = Duration::from_secs(1);

/// Moves `particles` by the steps of `plan`, in single or double precision, in blocks of so many threads. Without a number of
/// blocks there are as many as have particles and as the device holds at a time.
///
/// # Errors
///
/// There is no GPU, or it fails, or it does not hold so many blocks at a time; in words.
pub fn solve<T: Real>(
    blocks: Option<usize>,
    threads: usize,
    particles: &mut Particles,
    plan: &Assignment,
    output: &mut Output<'_>,
) -> Result<(), String> {
    let gpu = Gpu::open()?;
    let kernel = gpu.module(T::PTX)?.kernel("basic_steps")?;
    let there = OnDevice::<T>::new(&gpu, particles, plan)?;
    let resident = gpu.resident_blocks(&kernel, threads)?;
    let blocks = blocks.unwrap_or(resident.min(particles.len().div_ceil(threads)));
    let of_a_step = of_forces(particles.len()) + BARRIERS * SLOWEST_BARRIER;
    let most_steps = (LAUNCH.div_duration_f64(of_a_step) as usize).max(1);
    // How many blocks have come to barriers: on the device, and what it is there after the launches so far.
    let (arrived, mut expected) = (gpu.zeros::<u32>(1)?, 0_u32);
    let mut step = 0;
    while step < plan.steps {
        if plan.outputs(step) {
            there.fetch(particles)?;
            if output(step, particles).is_break() {
                return Ok(());
            }
        }
        // Up to the next output.
        let end = plan.steps.min(step.saturating_add(most_steps));
        let end = (step + 1..end).find(|&s| plan.outputs(s)).unwrap_or(end);
        let steps = i32::try_from(end - step).map_err(|e| e.to_string())?;
        let OnDevice {
            n,
            masses,
            pos,
            vel,
            forces,
            g,
            dt,
            leapfrog,
        } = &there;
        let arguments: [&dyn Argument; 11] = [
            pos, vel, forces, masses, g, dt, leapfrog, n, &steps, &arrived, &expected,
        ];
        // SAFETY: these are the parameters of the kernel; every array has `n` elements, the counter is one number.
        unsafe { gpu.launch_cooperative(&kernel, blocks, threads, &arguments)? };
        // As on the device, the number wraps around.
        let barriers = BARRIERS.wrapping_mul(steps.cast_unsigned());
        expected = expected.wrapping_add(barriers.wrapping_mul(blocks as u32));
        gpu.plan(of_a_step * steps.cast_unsigned());
        gpu.wait()?;
        step = end;
    }
    there.fetch(particles)
}
