//! The basic solver on a GPU (sections 7.1.12 to 7.1.16). Each thread has one particle. A time step is two kernels, the
//! forces and the motion, because all threads must wait for each other between the two. The kernels are in
//! `kernels/nbody.cuh`.

use std::ffi::CStr;
use std::time::Duration;

use kirin_device::{Argument, Gpu, Plain};

use crate::particles::{Assignment, Output, Particles};
use crate::physics::{G, Scheme, Vect};

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
    let units = T::UNITS;
    let gpu = Gpu::open()?;
    let module = gpu.module(T::PTX)?;
    let scaled =
        |all: &[f64], unit: f64| -> Vec<T> { all.iter().map(|x| T::of(x / unit)).collect() };
    let vectors = |all: &[Vect], unit: f64| -> Vec<[T; 2]> {
        all.iter().map(|v| v.map(|x| T::of(x / unit))).collect()
    };
    let masses = gpu.array(&scaled(&particles.masses, units.mass))?;
    let pos = gpu.array(&vectors(&particles.pos, units.length))?;
    let vel = gpu.array(&vectors(&particles.vel, units.speed()))?;
    let forces = gpu.zeros::<[T; 2]>(particles.len())?;
    let fetch = |particles: &mut Particles| -> Result<(), String> {
        let mut fetched = vec![[T::of(0.0); 2]; particles.len()];
        for (array, unit, to) in [
            (&pos, units.length, &mut particles.pos),
            (&vel, units.speed(), &mut particles.vel),
        ] {
            array.copy_to(&mut fetched)?;
            *to = fetched.iter().map(|v| v.map(|x| x.back() * unit)).collect();
        }
        Ok(())
    };

    let n = i32::try_from(particles.len()).map_err(|e| e.to_string())?;
    let (g, dt) = (T::of(units.g), T::of(plan.scheme.dt() / units.time()));
    let leapfrog = i32::from(matches!(plan.scheme, Scheme::Leapfrog { .. }));
    let blocks = particles.len().div_ceil(threads);
    let compute_force = module.kernel(match memory {
        Memory::Global => "compute_force",
        Memory::Shared => "compute_force_shared",
    })?;
    let update = module.kernel("update_pos_vel")?;
    let pairs = Duration::from_secs(1).mul_f64((particles.len() as f64).powi(2));
    for step in 0..plan.steps {
        if plan.outputs(step) {
            fetch(particles)?;
            output(step, particles);
        }
        // SAFETY: these are the parameters of the kernels, and every array has `n` elements.
        unsafe {
            let of_force: [&dyn Argument; 5] = [&forces, &masses, &pos, &g, &n];
            gpu.launch(&compute_force, blocks, threads, &of_force)?;
            let moved: [&dyn Argument; 7] = [&pos, &vel, &masses, &forces, &dt, &leapfrog, &n];
            gpu.launch(&update, blocks, threads, &moved)?;
        }
        // A launch behind a long queue waits for the device without a limit, and this wait has one.
        gpu.plan(pairs.div_f64(SLOWEST));
        gpu.wait()?;
    }
    fetch(particles)
}

/// The units in which a device computes, in those of the particles.
pub struct Scaling {
    length: f64,
    mass: f64,
    /// The gravitational constant in them.
    g: f64,
}

impl Scaling {
    fn time(&self) -> f64 {
        (self.g / G * self.length.powi(3) / self.mass).sqrt()
    }

    fn speed(&self) -> f64 {
        self.length / self.time()
    }
}

/// Single or double precision.
pub trait Real: Plain {
    /// The kernels.
    const PTX: &'static CStr;
    /// The units in which they compute.
    const UNITS: Scaling;
    /// The nearest number.
    fn of(x: f64) -> Self;
    /// The same number.
    fn back(self) -> f64;
}

impl Real for f64 {
    const PTX: &'static CStr = kirin_device::ptx!("nbody_f64");
    const UNITS: Scaling = Scaling {
        length: 1.0,
        mass: 1.0,
        g: G,
    };
    fn of(x: f64) -> Self {
        x
    }
    fn back(self) -> f64 {
        self
    }
}

impl Real for f32 {
    const PTX: &'static CStr = kirin_device::ptx!("nbody_f32");
    /// Astronomical unit and solar mass: products of SI masses are beyond single precision.
    const UNITS: Scaling = Scaling {
        length: 1.5e11,
        mass: 2e30,
        g: 1.0,
    };
    fn of(x: f64) -> Self {
        x as Self
    }
    fn back(self) -> f64 {
        self.into()
    }
}
