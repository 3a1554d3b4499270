//! The particles in the memory of a GPU, in single or double precision, and the units in which it computes.

use std::ffi::CStr;

use kirin_device::{Array, Gpu, Plain};

use super::single;
use crate::particles::{Assignment, Particles};
use crate::physics::{G, Scheme, Vect};

/// The particles on the device, and how they move: the arguments of the kernels in `kernels/nbody.cuh`.
pub struct OnDevice<T> {
    /// Their number.
    pub n: i32,
    /// Masses.
    pub masses: Array<T>,
    /// Positions.
    pub pos: Array<[T; 2]>,
    /// Velocities.
    pub vel: Array<[T; 2]>,
    /// Room for the forces.
    pub forces: Array<[T; 2]>,
    /// The gravitational constant.
    pub g: T,
    /// The time step.
    pub dt: T,
    /// Whether they move by leapfrog.
    pub leapfrog: i32,
}

impl<T: Real> OnDevice<T> {
    /// A copy of `particles`.
    ///
    /// # Errors
    ///
    /// The precision is not enough for them; the device has no room for them, or fails; in words.
    pub fn new(gpu: &Gpu, particles: &Particles, plan: &Assignment) -> Result<Self, String> {
        let units = T::UNITS;
        let scaled =
            |all: &[f64], unit: f64| -> Vec<T> { all.iter().map(|x| T::of(x / unit)).collect() };
        let vectors = |all: &[Vect], unit: f64| -> Vec<[T; 2]> {
            all.iter().map(|v| v.map(|x| T::of(x / unit))).collect()
        };
        let masses = scaled(&particles.masses, units.mass);
        let pos = vectors(&particles.pos, units.length);
        let vel = vectors(&particles.vel, units.speed());
        T::check(&masses, &pos, &vel)?;
        Ok(Self {
            n: i32::try_from(particles.len()).map_err(|e| e.to_string())?,
            masses: gpu.array(&masses)?,
            pos: gpu.array(&pos)?,
            vel: gpu.array(&vel)?,
            forces: gpu.zeros(particles.len())?,
            g: T::of(units.g),
            dt: T::of(plan.scheme.dt() / units.time()),
            leapfrog: i32::from(matches!(plan.scheme, Scheme::Leapfrog { .. })),
        })
    }

    /// Copies positions and velocities to `particles`, when the device has done all its work.
    ///
    /// # Errors
    ///
    /// The device failed; in words.
    pub fn fetch(&self, particles: &mut Particles) -> Result<(), String> {
        let mut fetched = vec![[T::of(0.0); 2]; particles.len()];
        for (array, unit, to) in [
            (&self.pos, T::UNITS.length, &mut particles.pos),
            (&self.vel, T::UNITS.speed(), &mut particles.vel),
        ] {
            array.copy_to(&mut fetched)?;
            *to = fetched.iter().map(|v| v.map(|x| x.back() * unit)).collect();
        }
        Ok(())
    }
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
    /// Checks that masses, positions and velocities keep what the force needs of them.
    ///
    /// # Errors
    ///
    /// They do not; in words.
    fn check(masses: &[Self], pos: &[[Self; 2]], vel: &[[Self; 2]]) -> Result<(), String>;
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
    /// They are those of the input.
    fn check(_: &[Self], _: &[[Self; 2]], _: &[[Self; 2]]) -> Result<(), String> {
        Ok(())
    }
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
    fn check(masses: &[Self], pos: &[[Self; 2]], vel: &[[Self; 2]]) -> Result<(), String> {
        single::check(masses, pos, vel)
    }
    fn of(x: f64) -> Self {
        x as Self
    }
    fn back(self) -> f64 {
        self.into()
    }
}
