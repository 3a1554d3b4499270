//! The basic solver on a GPU (sections 7.1.12 to 7.1.16). Each thread has one particle. A time step is two kernels, the
//! forces and the motion, because all threads must wait for each other between the two. The kernels are in
//! `kernels/nbody.cuh`.

use std::time::Duration;

use kirin_device::{Argument, Gpu};

use super::on_device::{OnDevice, Real};
use crate::particles::{Assignment, Output, Particles};

/// Pairs a second of the slowest GPU.
const SLOWEST: f64 = 1e9;

/// How a thread gets at the other particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Each reads them from global memory
    Global,
    /// A thread block reads them in tiles, into shared memory
    Shared,
}

/// Moves `particles` by the steps of `plan`, in single or double precision, in blocks of so many threads.
///
/// # Errors
///
/// There is no GPU, or it fails; in words.
pub fn solve<T: Real>(
    memory: Memory,
    threads: usize,
    particles: &mut Particles,
    plan: &Assignment,
    output: &mut Output<'_>,
) -> Result<(), String> {
    let gpu = Gpu::open()?;
    let module = gpu.module(T::PTX)?;
    let there = OnDevice::<T>::new(&gpu, particles, plan)?;
    let compute_force = module.kernel(match memory {
        Memory::Global => "compute_force",
        Memory::Shared => "compute_force_shared",
    })?;
    let update = module.kernel("update_pos_vel")?;
    let blocks = particles.len().div_ceil(threads);
    for step in 0..plan.steps {
        if plan.outputs(step) {
            there.fetch(particles)?;
            if output(step, particles).is_break() {
                return Ok(());
            }
        }
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
        // SAFETY: these are the parameters of the kernels, and every array has `n` elements.
        unsafe {
            let of_force: [&dyn Argument; 5] = [forces, masses, pos, g, n];
            gpu.launch(&compute_force, blocks, threads, &of_force)?;
            let moved: [&dyn Argument; 7] = [pos, vel, masses, forces, dt, leapfrog, n];
            gpu.launch(&update, blocks, threads, &moved)?;
        }
        // A launch behind a long queue waits for the device without a limit, and this wait has one.
        gpu.plan(of_forces(particles.len()));
        gpu.wait()?;
    }
    there.fetch(particles)
}

/// How long all forces take on the slowest GPU.
pub fn of_forces(n: usize) -> Duration {
    Duration::from_secs(1).mul_f64((n as f64).powi(2) / SLOWEST)
}
