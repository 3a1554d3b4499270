//! The particles as all threads of a team see them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::particles::{Assignment, Output, Particles};
use crate::physics::Vect;
use crate::team::SharedVectors;

/// Positions and velocities that every thread may read and write; masses nobody changes.
pub struct SharedParticles<'p, 'a> {
    /// Masses.
    pub masses: Vec<f64>,
    /// Positions.
    pub pos: SharedVectors,
    vel: SharedVectors,
    plan: Assignment,
    printer: Mutex<(&'p mut Particles, &'a mut Output<'a>)>,
    is_over: AtomicBool,
}

impl<'p, 'a> SharedParticles<'p, 'a> {
    /// A copy of `particles`, which get it back in [`SharedParticles::end`].
    pub fn new(
        particles: &'p mut Particles,
        plan: &Assignment,
        output: &'a mut Output<'a>,
    ) -> Self {
        Self {
            masses: particles.masses.clone(),
            pos: SharedVectors::new(&particles.pos),
            vel: SharedVectors::new(&particles.vel),
            plan: *plan,
            printer: Mutex::new((particles, output)),
            is_over: AtomicBool::new(false),
        }
    }

    /// The output before `step`, if there is one. One thread calls this (OpenMP's `single`), while nobody moves.
    pub fn print(&self, step: usize) {
        if self.plan.outputs(step) {
            let (particles, output) = &mut *self.printer.lock().expect("one thread prints");
            self.copy_to(particles);
            if output(step, particles).is_break() {
                self.is_over.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Whether an output has ended the run. All threads ask behind a barrier after the output, so all have the same answer.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
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

    /// Writes them all to the particles from which they were made.
    pub fn end(&self) {
        let (particles, _) = &mut *self.printer.lock().expect("nobody prints any more");
        self.copy_to(particles);
    }

    fn copy_to(&self, particles: &mut Particles) {
        self.pos.copy_to(&mut particles.pos);
        self.vel.copy_to(&mut particles.vel);
    }
}
