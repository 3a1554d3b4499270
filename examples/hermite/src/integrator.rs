//! The integration of a cluster, one block at a time.

pub mod forces;
pub mod membership;
mod outer;
mod reaches;
pub mod regularized;
mod scale;

use std::time::Instant;

use kirin::client::{Block, Grape};
use kirin_kit::bound::BoundPart;
use kirin_kit::columns::Column;
use kirin_kit::few_body::multiple::in_tide::MOST_PLACES;
use kirin_kit::few_body::subsystem::Subsystem;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::Integration;
use kirin_kit::snapshot::State;
use kirin_kit::{Body, Snapshot};

use crate::checkpoint;
use crate::counts::Counts;
use crate::error::Error;
use crate::motion::Motion;
use crate::pairs::Pairs;
use crate::particle;
use crate::schedule::Schedule;
use crate::settings::Settings;
use crate::sources::{Library, Sources};
use crate::step;
use forces::Place;
use regularized::{Regularized, Systems};

/// The integration of a cluster.
pub struct Integrator<S> {
    sources: S,
    settings: Settings,
    most_at_once: usize,
    time: f64,
    bodies: Vec<Body>,
    states: Vec<State>,
    /// The address of each particle in the library, where ghosts (`regularized.rs`) come last. Elsewhere an address is a place in `bodies`.
    in_library: Vec<usize>,
    /// Number of particles other than ghosts.
    nj: usize,
    schedule: Schedule,
    counts: Counts,
    pairs: Pairs,
    due: Vec<usize>,
    ends: Vec<End>,
    /// Addresses of the stars near each particle of the last block.
    near: Vec<Vec<usize>>,
    block: Block,
    places: Vec<Place>,
    regularized: Regularized,
    /// Whether particles began anew that have got no forces.
    lacks_forces: bool,
}

/// A particle at the end of its step, and the regularized system whose centre it is.
type End = (Body, State, Option<Box<Subsystem>>);

impl<'g> Integrator<Library<'g>> {
    /// [`new`](Self::new) through one library.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new); the library cannot be opened.
    pub fn start(
        grape: &'g Grape,
        settings: Settings,
        time: f64,
        bodies: Vec<Body>,
    ) -> Result<Self, Error> {
        Self::new(Library::open(grape)?, settings, time, bodies)
    }
}

impl<S: Sources> Integrator<S> {
    /// Starts from `bodies` that are all at `time`, a multiple of the largest step.
    ///
    /// # Errors
    ///
    /// Senseless settings or bodies; whatever goes wrong with the first forces.
    pub fn new(
        sources: S,
        settings: Settings,
        time: f64,
        bodies: Vec<Body>,
    ) -> Result<Self, Error> {
        settings.validate()?;
        particle::initial_state(&settings, time)?;
        Self::begin(sources, settings, time, bodies, Counts::default())
    }

    /// Starts from `bodies` that are all at `time`, which a run that has done `counts` came to.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new). The time of a run is always one at which steps may begin.
    pub fn begin(
        sources: S,
        settings: Settings,
        time: f64,
        bodies: Vec<Body>,
        counts: Counts,
    ) -> Result<Self, Error> {
        settings.validate()?;
        let first = Settings {
            dt_max: step::largest_at(time, settings.dt_max),
            ..settings
        };
        let states = vec![particle::initial_state(&first, time)?; bodies.len()];
        let scale = match settings.regularize > 0.0 {
            true => scale::scale(&bodies),
            false => 1.0,
        };
        let mut new = Self::load(sources, settings, time, bodies, states)?;
        new.pairs = Pairs::after(&counts);
        new.counts = counts;
        new.regularized.set_scale(scale);
        new.first_steps(&first)?;
        new.schedule_all();
        new.trial_steps(&first)?;
        new.first_systems()?;
        Ok(new)
    }

    /// Continues an integration in the middle of its particles' steps. `bodies` and `states` are what
    /// [`stars`](Self::stars) returned at `time`, and `counts` what had been counted by then. Regularized systems are
    /// restored by [`resume_systems`](Self::resume_systems).
    ///
    /// # Errors
    ///
    /// Senseless settings, bodies or states.
    pub fn resume(
        sources: S,
        settings: Settings,
        time: f64,
        bodies: Vec<Body>,
        states: Vec<State>,
        counts: Counts,
    ) -> Result<Self, Error> {
        settings.validate()?;
        for (body, state) in bodies.iter().zip(&states) {
            particle::check_state(&settings, time, body, state)?;
        }
        let mut new = Self::load(sources, settings, time, bodies, states)?;
        new.pairs = Pairs::after(&counts);
        new.counts = counts;
        new.schedule_all();
        Ok(new)
    }

    /// Writes everybody into the sources.
    fn load(
        sources: S,
        settings: Settings,
        time: f64,
        bodies: Vec<Body>,
        states: Vec<State>,
    ) -> Result<Self, Error> {
        assert_eq!(bodies.len(), states.len(), "each body has a state");
        particle::check_labels(&bodies)?;
        let most_at_once = sources.most_at_once();
        if settings.regularize > 0.0 && most_at_once < MOST_PLACES {
            return Err(Error::Refused(format!(
                "--regularize: the forces on a system are found at up to {MOST_PLACES} places in one call, but the library has {most_at_once} \
                 pipelines (KIRIN_NPIPES)"
            )));
        }
        let regularized = Regularized::among(&bodies, settings.regularize);
        let mut new = Self {
            sources,
            settings,
            most_at_once,
            time,
            in_library: (0..bodies.len()).collect(),
            nj: bodies.len(),
            bodies,
            states,
            schedule: Schedule::new(settings.dt_max),
            counts: Counts::default(),
            pairs: Pairs::default(),
            due: Vec::new(),
            ends: Vec::new(),
            near: Vec::new(),
            block: Block::default(),
            places: Vec::new(),
            regularized,
            lacks_forces: false,
        };
        (0..new.bodies.len()).for_each(|i| new.send(i));
        Ok(new)
    }

    /// Finds the force on everybody, and from it the first step.
    fn first_steps(&mut self, settings: &Settings) -> Result<(), Error> {
        let all: Vec<usize> = (0..self.bodies.len()).collect();
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        self.forces(self.time, &all, |this, i, force| {
            near.push(force.near);
            let (body, state) = (&this.bodies[i], &mut this.states[i]);
            particle::begin(settings, body, state, force.acc, force.jerk)
        })?;
        self.near = near;
        all.iter().for_each(|&i| self.send(i));
        Ok(())
    }

    /// Finds everybody's first step from the force at the end of a trial step, which nobody takes.
    fn trial_steps(&mut self, settings: &Settings) -> Result<(), Error> {
        if !settings.has_trial_steps() {
            return Ok(());
        }
        let mut list = Vec::new();
        let mut chosen = Vec::new();
        while let Some(t) = self.next_time() {
            self.schedule.take_due(t, &mut list);
            self.forces(t, &list, |this, i, force| {
                let (body, state) = (&this.bodies[i], &mut this.states[i]);
                match particle::try_step(settings, body, state, force.acc, force.jerk)? {
                    true => chosen.push(i),
                    false => this.schedule.insert(i, state.dt),
                }
                Ok(())
            })?;
        }
        for i in chosen {
            self.send(i);
            self.schedule.insert(i, self.states[i].dt);
        }
        Ok(())
    }

    fn schedule_all(&mut self) {
        for (i, state) in self.states.iter().enumerate() {
            if !self.regularized.is_ghost(i) {
                self.schedule.insert(i, state.dt);
            }
        }
    }

    /// Time at which the next block ends; `None` without particles.
    pub fn next_time(&self) -> Option<f64> {
        self.schedule.next_time(self.time)
    }

    /// Takes the next block to the end of its steps.
    ///
    /// # Errors
    ///
    /// The library fails, or steps become too small. An error during the block leaves everything as it was before. If
    /// the library fails, or a first step is too small, when systems form or divide at the end of the block, the block
    /// is done.
    pub fn step(&mut self) -> Result<(), Error> {
        let Some(t) = self.next_time() else {
            return Ok(());
        };
        let began = self.regularized.limits.map(|_| Instant::now());
        let mut due = std::mem::take(&mut self.due);
        self.schedule.take_due(t, &mut due);
        let mut ends = std::mem::take(&mut self.ends);
        let mut near = std::mem::take(&mut self.near);
        let moved = self.ends_of_steps(t, &due, &mut ends, &mut near);
        let mut new = Ok(Vec::new());
        if moved.is_ok() {
            for (&i, (body, state, system)) in due.iter().zip(ends.drain(..)) {
                (self.bodies[i], self.states[i]) = (body, state);
                if let Some(system) = system {
                    self.hold(i, *system);
                }
                self.send(i);
            }
            self.time = t;
            self.counts.add(due.len(), self.bodies.len());
            new = self.regroup(t, &due, &near);
        }
        if let Some(began) = began
            && due.iter().all(|i| self.regularized.at.contains_key(i))
        {
            self.regularized.seconds += began.elapsed().as_secs_f64();
        }
        let fresh = new.as_deref().unwrap_or(&[]);
        for &i in &due {
            if !fresh.contains(&i) && !self.regularized.is_ghost(i) {
                self.schedule.insert(i, self.states[i].dt);
            }
        }
        (self.due, self.ends, self.near) = (due, ends, near);
        moved?;
        self.begin_anew(t, &new?)
    }

    /// The particles that are due at `t`, as they will be at the ends of their steps.
    ///
    /// No particle is moved yet, for two reasons: all particles of the block must see predicted neighbours, also if
    /// the block takes several calls; and an error must not leave a block half done.
    fn ends_of_steps(
        &mut self,
        t: f64,
        due: &[usize],
        ends: &mut Vec<End>,
        near: &mut Vec<Vec<usize>>,
    ) -> Result<(), Error> {
        let usual = self.settings;
        let in_crowd = usual.in_crowd();
        ends.clear();
        near.clear();
        self.forces(t, due, |this, i, force| {
            let (mut body, mut state) = (this.bodies[i], this.states[i]);
            let (acc, jerk) = (force.acc, force.jerk);
            let settings = match force.is_crowded {
                true => &in_crowd,
                false => &usual,
            };
            let system = this.system_at(i, t, &force.pulls)?;
            particle::advance(settings, t, &mut body, &mut state, acc, jerk)?;
            let system = system.map(|system| regularized::planned(system, &mut state, usual.eta));
            if system.is_some() {
                particle::check_step(settings, &body, &state)?;
            }
            ends.push((body, state, system.map(Box::new)));
            near.push(force.near);
            Ok(())
        })
    }

    /// All bodies at time `t`, which is before the next block. A particle whose own time is earlier takes one step
    /// that ends at `t`, in a copy: the integration itself is not changed.
    ///
    /// Prediction alone would blur what is measured by about 1e-5 of the energy.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn synchronised(&mut self, t: f64) -> Result<Vec<Body>, Error> {
        let (settings, mut copy) = (self.settings, self.bodies.clone());
        let mut systems = self.regularized.systems();
        let is_absent = |i: &usize| self.states[*i].t != t && !self.regularized.is_ghost(*i);
        let absent: Vec<usize> = (0..copy.len()).filter(is_absent).collect();
        self.forces(t, &absent, |this, i, force| {
            if let Some(system) = this.system_at(i, t, &force.pulls)? {
                systems.insert(i, system);
            }
            let state = &this.states[i];
            particle::synchronise(&settings, t, &mut copy[i], state, force.acc, force.jerk)
        })?;
        let osculating = |(first, system): (usize, Subsystem)| (first, system.osculating());
        let systems = systems.into_iter().map(osculating).collect();
        self.regularized.place_stars(&mut copy, &systems);
        self.regularized.seen = systems.into_values().collect();
        Ok(copy)
    }

    /// Writes particle `i` into the sources.
    fn send(&mut self, i: usize) {
        let (body, mut state) = (&self.bodies[i], self.states[i]);
        self.regularized.reaches.place(i, body, &state);
        // The library takes short steps whose corrections turn for a sign of noise. It passes over steps that end earlier than
        // announced, as those do that a tide limits.
        if self.regularized.is_followed(i) {
            state.dt *= 2.0;
        }
        self.sources.write(self.in_library[i], body, &state);
    }

    /// What the integration was started with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Time of the last block.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The bodies, each at its own time.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Time, step and force of each body.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// What has been done so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The regularized systems.
    pub fn regularized(&self) -> &Regularized {
        &self.regularized
    }

    /// Where the forces come from.
    pub fn sources(&self) -> &S {
        &self.sources
    }

    /// The same, for what changes no force.
    pub fn sources_mut(&mut self) -> &mut S {
        &mut self.sources
    }

    /// Ends the integration.
    pub fn into_sources(self) -> S {
        self.sources
    }
}

impl<S: Sources> Integration for Integrator<S> {
    type Error = Error;

    fn time(&self) -> f64 {
        self.time
    }

    fn next_time(&self, t_end: f64) -> Option<f64> {
        Integrator::next_time(self).filter(|t| *t <= t_end)
    }

    fn step(&mut self, _: f64) -> Result<(), Error> {
        Integrator::step(self)
    }

    fn visible(&self, t: f64) -> Option<f64> {
        let between = Integrator::next_time(self).is_none_or(|next| t < next);
        between.then_some(t)
    }

    fn bodies_at(&mut self, t: f64) -> Result<Vec<Body>, Error> {
        self.synchronised(t)
    }

    fn within_systems(&self) -> [f64; 2] {
        self.regularized.within()
    }

    fn systems(&self) -> Vec<Vec<usize>> {
        self.regularized.members()
    }

    fn lost_digits(&self, bodies: &[Body]) -> f64 {
        self.regularized.lost_digits(bodies)
    }

    fn galaxy(&self) -> Option<&Galaxy> {
        Some(&self.settings.galaxy)
    }

    fn remark(&mut self) -> Option<String> {
        if self.regularized.limits.is_some() {
            return None;
        }
        self.pairs
            .remark(&self.counts, &self.bodies, &self.states, &self.settings)
    }

    fn own_columns(&self) -> Vec<Column> {
        match self.regularized.limits {
            Some(_) => [Motion::COLUMNS, Systems::COLUMNS].concat(),
            None => Motion::COLUMNS.to_vec(),
        }
    }

    fn own_numbers(&self, bodies: &[Body], bound: &BoundPart) -> Vec<f64> {
        let mut numbers = Motion::of(bodies, bound).numbers();
        if self.regularized.limits.is_some() {
            numbers.extend(self.regularized.record().numbers());
        }
        numbers
    }

    fn notes(&self) -> Vec<(String, String)> {
        let mut lines = self.settings.galaxy.lines();
        lines.extend(self.regularized.notes());
        lines
    }

    fn eps(&self) -> f64 {
        self.settings.eps
    }

    fn count(&self) -> usize {
        self.bodies.len()
    }

    fn state(&self) -> Result<Snapshot, Error> {
        Ok(checkpoint::save(self))
    }

    fn check(&self) -> Result<(), Error> {
        if self.lacks_forces {
            let why = "particles that begin anew have no force yet";
            return Err(Error::Refused(why.to_owned()));
        }
        let (bodies, states) = self.stars();
        for (body, state) in bodies.iter().zip(&states) {
            particle::check_state(&self.settings, self.time, body, state)?;
        }
        Ok(())
    }
}
