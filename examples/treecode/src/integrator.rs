//! Shared leapfrog steps: half a kick, a drift, the forces, half a kick.

use std::path::Path;

use kirin_kit::bound::Potentials;
use kirin_kit::communicator::sample_sort::counts;
use kirin_kit::communicator::threads::Threads;
use kirin_kit::communicator::{Communicator, Operation};
use kirin_kit::diagnostics::Energy;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Decision, Integration, TimeGrid};
use kirin_kit::vector::{add_scaled, dot};
use kirin_kit::{Body, Snapshot};
use rayon::prelude::*;

use crate::checkpoint;
use crate::error::Error;
use crate::forces::{Counts, Engine, Forces};
use crate::particle::Particle;
use crate::ranks::domains::{of_words, to_words};
use crate::settings::Settings;

/// Particles that one task takes at least.
const GRAIN: usize = 4096;

/// Particles on their way, all at one time; each rank has a part of them.
pub struct Integrator<'g, C = Threads> {
    forces: Forces<'g, C>,
    settings: Settings,
    particles: Vec<Particle>,
    /// The particles before the step that is being taken.
    before: Vec<Particle>,
    /// Number of particles on all ranks.
    n: usize,
    grid: TimeGrid,
    time: f64,
    steps: u64,
    /// Potentials of the bodies that were asked for last.
    seen: Vec<f64>,
    /// Whether the state is written in parts.
    in_parts: bool,
}

/// Where an integration begins: the same on all ranks, but for the bodies.
pub struct Origin<'a> {
    /// All bodies, on rank 0; those of other ranks do not count. If `in_parts`, this rank's share of the bodies.
    pub bodies: &'a [Body],
    /// Whether each rank has a share of the bodies. The shares follow each other in the order of the ranks.
    pub in_parts: bool,
    /// Their time.
    pub time: f64,
    /// The grid of the steps' ends.
    pub grid: TimeGrid,
    /// Steps before.
    pub steps: u64,
    /// The work of all ranks before.
    pub work: Counts,
}

impl<'a> Origin<'a> {
    /// A beginning.
    pub fn new(time: f64, bodies: &'a [Body]) -> Self {
        Self {
            bodies,
            in_parts: false,
            time,
            grid: TimeGrid::from(time),
            steps: 0,
            work: Counts::default(),
        }
    }
}

impl<'g> Integrator<'g> {
    /// Starts on one rank from `bodies` at `time`.
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
        Self::begin(
            Threads::alone(),
            engine,
            settings,
            &Origin::new(time, bodies),
        )
    }
}

impl<'g, C: Communicator> Integrator<'g, C> {
    /// Starts, or goes on, on the ranks of `world`.
    ///
    /// # Errors
    ///
    /// Senseless settings or bodies; whatever goes wrong with the first forces; a rank is lost.
    pub fn begin(
        world: C,
        engine: Engine<'g>,
        settings: Settings,
        origin: &Origin<'_>,
    ) -> Result<Self, Error> {
        settings.validate()?;
        let is_first = world.rank() == 0;
        let bodies = match is_first || origin.in_parts {
            true => origin.bodies,
            false => &[],
        };
        let counts = counts(&world, bodies.len())?;
        let n = counts.iter().sum();
        i32::try_from(n).map_err(|_| {
            Error::Refused("the interface counts particles in 32-bit integers".to_owned())
        })?;
        let first: usize = counts[..world.rank()].iter().sum();
        let mut new = Self {
            forces: Forces::of_ranks(world, engine, origin.work.of_rank(is_first))?,
            settings,
            particles: (first as u32..)
                .zip(bodies)
                .map(|(order, body)| Particle::new(body, order))
                .collect(),
            before: Vec::new(),
            n,
            grid: origin.grid,
            time: origin.time,
            steps: origin.steps,
            seen: Vec::new(),
            in_parts: false,
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
    /// A position or force is no longer finite, or the library fails. All particles are then where they were before the
    /// step.
    pub fn step(&mut self, t_end: f64) -> Result<bool, Error> {
        let Some(end) = self.next_time(t_end) else {
            return Ok(false);
        };
        // A copy by all threads.
        let now = self.particles.par_iter().with_min_len(GRAIN);
        now.copied().collect_into_vec(&mut self.before);
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

    /// Energy, from the potentials that came with the forces: that of the tree's cells. Several ranks add it in an order of their own.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn energy(&self) -> Result<Energy, Error> {
        let sum = |of: fn(&Particle) -> f64| self.particles.iter().map(of).sum();
        let mut sums = [
            sum(|p| 0.5 * p.mass * dot(&p.v, &p.v)),
            sum(|p| 0.5 * p.mass * p.pot),
        ];
        let world = &self.forces.ranks().world;
        if world.size() > 1 {
            world.all_reduce(Operation::Sum, &mut sums)?;
        }
        Ok(Energy {
            kinetic: sums[0],
            potential: sums[1],
            external: 0.0,
        })
    }

    /// On rank 0 the bodies of all ranks in the order in which they were given, and their potentials; nothing elsewhere.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn gather(&self) -> Result<(Vec<Body>, Vec<f64>), Error> {
        let world = &self.forces.ranks().world;
        let n = if world.rank() == 0 { self.n } else { 0 };
        let (mut bodies, mut potentials) = (vec![Body::default(); n], vec![0.0; n]);
        if world.size() == 1 {
            for p in &self.particles {
                (bodies[p.order as usize], potentials[p.order as usize]) = (p.body(), p.pot);
            }
            return Ok((bodies, potentials));
        }
        let own: Vec<u64> = self.particles.iter().flat_map(to_words).collect();
        let lengths = counts(world, own.len())?;
        let mut all = Vec::new();
        world.gather_v(0, &own, &lengths, &mut all)?;
        for p in all.as_chunks().0.iter().map(of_words) {
            (bodies[p.order as usize], potentials[p.order as usize]) = (p.body(), p.pot);
        }
        Ok((bodies, potentials))
    }

    /// On rank 0 the bodies of all ranks in the order in which they were given; nobody elsewhere.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn bodies(&self) -> Result<Vec<Body>, Error> {
        Ok(self.gather()?.0)
    }

    /// What all ranks have done; times are means.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn work(&self) -> Result<Counts, Error> {
        self.forces.work().of_all(&self.forces.ranks().world)
    }

    /// Has the state written in parts, or by rank 0.
    pub fn write_in_parts(&mut self, in_parts: bool) {
        self.in_parts = in_parts;
    }

    /// The particles of this rank with the forces on them, in Morton order.
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
    pub fn forces(&self) -> &Forces<'g, C> {
        &self.forces
    }
}

impl<C: Communicator> Integration for Integrator<'_, C> {
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
        let (bodies, potentials) = self.gather()?;
        self.seen = potentials;
        Ok(bodies)
    }

    fn potentials(&mut self, _: &[Body]) -> Result<Option<Potentials>, Error> {
        Ok(Some(Potentials::Given(self.seen.clone())))
    }

    fn galaxy(&self) -> Option<&Galaxy> {
        Some(&self.settings.galaxy)
    }

    fn notes(&self) -> Vec<(String, String)> {
        self.settings.galaxy.lines()
    }

    fn share(&mut self, value: f64) -> Result<f64, Error> {
        let mut shared = [value];
        let world = &self.forces.ranks().world;
        if world.size() > 1 {
            world.broadcast(0, &mut shared)?;
        }
        Ok(shared[0])
    }

    /// The errors of the cells' forces come first: they do not average out as the leapfrog's do.
    fn remedy(&self) -> &'static str {
        let work = self.forces.work_here();
        let is_direct = work.entries == work.groups * self.n as u64;
        match self.settings.quadrupoles {
            _ if is_direct => {
                "smaller steps or more softening help: the forces were summed without cells"
            }
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
        self.n
    }

    /// On rank 0, which gathers the bodies: one file, from which any number of ranks goes on.
    fn state(&self) -> Result<Snapshot, Self::Error> {
        checkpoint::save(self)
    }

    /// Each rank writes an equal share of the bodies.
    fn save_in_parts(
        &self,
        lines: &[(String, String)],
        path: &Path,
    ) -> Result<Option<Result<(), String>>, Error> {
        match self.in_parts {
            true => checkpoint::save_in_parts(self, lines, path).map(Some),
            false => Ok(None),
        }
    }

    fn rank(&self) -> (usize, usize) {
        let world = &self.forces.ranks().world;
        (world.rank(), world.size())
    }

    fn is_common(error: &Error) -> bool {
        error.is_agreed()
    }

    /// What any rank has been told, all do.
    fn agree(&mut self, wanted: Decision) -> Result<Decision, Error> {
        let world = &self.forces.ranks().world;
        if world.size() == 1 {
            return Ok(wanted);
        }
        let flags = [wanted.stop, wanted.checkpoint, wanted.time_limit];
        let mut flags = flags.map(|flag| f64::from(u8::from(flag)));
        world.all_reduce(Operation::Max, &mut flags)?;
        Ok(Decision {
            stop: flags[0] > 0.0,
            checkpoint: flags[1] > 0.0,
            time_limit: flags[2] > 0.0,
        })
    }
}
