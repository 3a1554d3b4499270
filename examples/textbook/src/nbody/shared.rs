//! The particles as all threads of a team see them.

use std::sync::Mutex;

use crate::particles::{Assignment, Output, Particles};
use crate::physics::Vect;
use crate::team::SharedVectors;

/// Positions and velocities that every thread may read and write; masses nobody changes.
pub struct SharedParticles<'a> {
    /// Masses.
    pub masses: Vec<f64>,
    /// Positions.
    pub pos: SharedVectors,
    vel: SharedVectors,
    plan: Assignment,
    printer: Mutex<(Particles, &'a mut Output<'a>)>,
}

impl<'a> SharedParticles<'a> {
    /// A copy of `particles`.
    pub fn new(particles: &Particles, plan: &Assignment, output: &'a mut Output<'a>) -> Self {
        Self {
            masses: particles.masses.clone(),
            pos: SharedVectors::new(&particles.pos),
            vel: SharedVectors::new(&particles.vel),
            plan: *plan,
            printer: Mutex::new((particles.clone(), output)),
        }
    }

    /// The output before `step`, if there is one. One thread calls this (OpenMP's `single`), while nobody moves.
    pub fn print(&self, step: usize) {
        if self.plan.outputs(step) {
            let (particles, output) = &mut *self.printer.lock().expect("one thread prints");
            self.copy_to(particles);
            output(step, particles);
        }
    }

    /// Moves particle `q`, which belongs to the calling thread, by one step.
    #[inline(always)]
    pub fn advance(&self, q: usize, force: &Vect) {
        let (mut s, mut v) = (self.pos.get(q), self.vel.get(q));
        self.plan
            .scheme
            .advance(&mut s, &mut v, self.masses[q], force);
        self.pos.set(q, s);
        self.vel.set(q, v);
    }

    /// Writes them all to `particles`.
    pub fn copy_to(&self, particles: &mut Particles) {
        self.pos.copy_to(&mut particles.pos);
        self.vel.copy_to(&mut particles.vel);
    }
}
