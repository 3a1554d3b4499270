//! Shared leapfrog steps: half a kick, a drift, the forces, half a kick.

use kirin_kit::Body;
use kirin_kit::diagnostics::Energy;
use kirin_kit::vector::{add_scaled, dot};
use rayon::prelude::*;

use crate::error::Error;
use crate::forces::{Engine, Forces};
use crate::particle::Particle;
use crate::settings::Settings;

/// Particles that one task takes at least.
const GRAIN: usize = 4096;

/// Particles on their way, all at one time.
pub struct Integrator<'g> {
    forces: Forces<'g>,
    settings: Settings,
    particles: Vec<Particle>,
    start: f64,
    time: f64,
    steps: u64,
}

impl<'g> Integrator<'g> {
    /// Starts from `bodies` at `time`.
    ///
    /// # Errors
    ///
    /// Senseless settings or bodies; whatever goes wrong with the first forces.
    pub fn start(
        engine: Engine<'g>,
        settings: Settings,
        time: f64,
        bodies: &[Body],
    ) -> Result<Self, Error> {
        settings.check()?;
        i32::try_from(bodies.len()).map_err(|_| {
            Error::Refused("the interface counts particles in 32-bit integers".to_owned())
        })?;
        let mut new = Self {
            forces: Forces::new(engine)?,
            settings,
            particles: (0..)
                .zip(bodies)
                .map(|(order, body)| Particle::new(body, order))
                .collect(),
            start: time,
            time,
            steps: 0,
        };
        new.forces.find(&mut new.particles, &new.settings)?;
        Ok(new)
    }

    /// Takes a step, or the part of one that is left to `t_end`. Returns whether there was any.
    ///
    /// # Errors
    ///
    /// A position or force is no longer finite, or the library fails.
    pub fn step(&mut self, t_end: f64) -> Result<bool, Error> {
        let dt = self.settings.dt;
        // Rounding errors of a time are no step.
        if t_end - self.time <= 1e-9 * dt {
            return Ok(false);
        }
        // Counted from the start: the times of many steps do not add up their rounding errors.
        let whole = self.start + (self.steps + 1) as f64 * dt;
        let end = if t_end - whole <= 1e-9 * dt {
            t_end
        } else {
            whole
        };
        let h = end - self.time;
        self.kick(0.5 * h);
        self.particles
            .par_iter_mut()
            .with_min_len(GRAIN)
            .for_each(|p| add_scaled(&mut p.x, h, &p.v));
        self.forces.find(&mut self.particles, &self.settings)?;
        self.kick(0.5 * h);
        self.steps += 1;
        self.time = end;
        Ok(true)
    }

    fn kick(&mut self, h: f64) {
        self.particles
            .par_iter_mut()
            .with_min_len(GRAIN)
            .for_each(|p| add_scaled(&mut p.v, h, &p.acc));
    }

    /// Energy, from the potentials that came with the forces: that of the tree's cells.
    pub fn energy(&self) -> Energy {
        let sum = |of: fn(&Particle) -> f64| self.particles.iter().map(of).sum();
        Energy {
            kinetic: sum(|p| 0.5 * p.mass * dot(&p.v, &p.v)),
            potential: sum(|p| 0.5 * p.mass * p.pot),
        }
    }

    /// The bodies, in the order in which they were given.
    pub fn bodies(&self) -> Vec<Body> {
        let mut bodies = vec![Body::default(); self.particles.len()];
        for p in &self.particles {
            bodies[p.order as usize] = p.body();
        }
        bodies
    }

    /// The particles with the forces on them, in Morton order.
    pub fn particles(&self) -> &[Particle] {
        &self.particles
    }

    /// What the integration was started with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Time of everybody.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The forces, with what they have cost.
    pub fn forces(&self) -> &Forces<'g> {
        &self.forces
    }
}
