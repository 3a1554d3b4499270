//! Shared leapfrog steps: half a kick, a drift, the forces, half a kick.

use kirin_kit::diagnostics::Energy;
use kirin_kit::run::{Integration, TimeGrid};
use kirin_kit::vector::{add_scaled, dot};
use kirin_kit::{Body, Snapshot};
use rayon::prelude::*;

use crate::checkpoint;
use crate::error::Error;
use crate::forces::{Counts, Engine, Forces};
use crate::particle::Particle;
use crate::settings::Settings;

/// Particles that one task takes at least.
const GRAIN: usize = 4096;

/// Particles on their way, all at one time.
pub struct Integrator<'g> {
    forces: Forces<'g>,
    settings: Settings,
    particles: Vec<Particle>,
    /// The particles before the step that is being taken.
    before: Vec<Particle>,
    grid: TimeGrid,
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
        let past = (0, Counts::default());
        Self::resume(engine, settings, (time, TimeGrid::from(time)), bodies, past)
    }

    /// Goes on from `bodies` at a time on a grid, after so many steps that were so much work.
    ///
    /// # Errors
    ///
    /// Senseless settings or bodies; whatever goes wrong with the first forces.
    pub fn resume(
        engine: Engine<'g>,
        settings: Settings,
        (time, grid): (f64, TimeGrid),
        bodies: &[Body],
        (steps, work): (u64, Counts),
    ) -> Result<Self, Error> {
        settings.validate()?;
        i32::try_from(bodies.len()).map_err(|_| {
            Error::Refused("the interface counts particles in 32-bit integers".to_owned())
        })?;
        let mut new = Self {
            forces: Forces::new(engine, work)?,
            settings,
            particles: (0..)
                .zip(bodies)
                .map(|(order, body)| Particle::new(body, order))
                .collect(),
            before: Vec::new(),
            grid,
            time,
            steps,
        };
        new.forces.find(&mut new.particles, &new.settings)?;
        Ok(new)
    }

    /// End of the next step, or of the part of one that is left to `t_end`; `None` where nothing is.
    pub fn next_time(&self, t_end: f64) -> Option<f64> {
        self.grid.next(self.time, self.settings.dt, t_end)
    }

    /// Takes a step, or the part of one that is left to `t_end`. Returns whether there was any.
    ///
    /// # Errors
    ///
    /// A position or force is no longer finite, or the library fails; then everybody is where they
    /// were before.
    pub fn step(&mut self, t_end: f64) -> Result<bool, Error> {
        let Some(end) = self.next_time(t_end) else {
            return Ok(false);
        };
        self.before.clone_from(&self.particles);
        let h = end - self.time;
        self.kick(0.5 * h);
        self.particles
            .par_iter_mut()
            .with_min_len(GRAIN)
            .for_each(|p| add_scaled(&mut p.x, h, &p.v));
        if let Err(e) = self.forces.find(&mut self.particles, &self.settings) {
            std::mem::swap(&mut self.particles, &mut self.before);
            return Err(e);
        }
        self.kick(0.5 * h);
        self.steps += 1;
        self.time = end;
        self.grid.advance(end, self.settings.dt);
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
            external: 0.0,
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

    /// The grid of the steps' ends.
    pub fn grid(&self) -> TimeGrid {
        self.grid
    }

    /// Steps taken, those before an interruption included.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The forces, with what they have cost.
    pub fn forces(&self) -> &Forces<'g> {
        &self.forces
    }
}

impl Integration for Integrator<'_> {
    type Error = Error;

    fn time(&self) -> f64 {
        self.time
    }

    fn next_time(&self, t_end: f64) -> Option<f64> {
        Integrator::next_time(self, t_end)
    }

    fn step(&mut self, t_end: f64) -> Result<(), Error> {
        Integrator::step(self, t_end).map(|_| ())
    }

    fn visible(&self, t: f64) -> Option<f64> {
        TimeGrid::has_reached(self.time, self.settings.dt, t).then_some(self.time)
    }

    fn bodies_at(&mut self, _: f64) -> Result<Vec<Body>, Error> {
        Ok(self.bodies())
    }

    /// Those of everybody's present places.
    fn potentials(&self) -> Option<Vec<f64>> {
        let mut potentials = vec![0.0; self.particles.len()];
        for p in &self.particles {
            potentials[p.order as usize] = p.pot;
        }
        Some(potentials)
    }

    /// The errors of the cells' forces come first: they do not average out as the leapfrog's do.
    fn remedy(&self) -> &'static str {
        match self.settings.quadrupoles {
            true => "a smaller --theta helps, then smaller steps or more softening",
            false => {
                "--quadrupoles or a smaller --theta help, then smaller steps or more softening"
            }
        }
    }

    fn eps(&self) -> f64 {
        self.settings.eps
    }

    fn count(&self) -> usize {
        self.particles.len()
    }

    fn state(&self) -> Result<Snapshot, Self::Error> {
        Ok(checkpoint::save(self))
    }
}
