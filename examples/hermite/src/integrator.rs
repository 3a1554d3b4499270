//! The integration of a cluster through a GRAPE-6 library, one block at a time.

pub mod systems;

use kirin::client::{Block, Grape};
use kirin_kit::bound::Bound;
use kirin_kit::few_body::subsystem::Subsystem;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::Integration;
use kirin_kit::snapshot::State;
use kirin_kit::vector::{Vec3, add_scaled};
use kirin_kit::{Body, Snapshot};

use crate::checkpoint;
use crate::counts::Counts;
use crate::error::Error;
use crate::motion;
use crate::pairs::Pairs;
use crate::particle;
use crate::schedule::Schedule;
use crate::scheme;
use crate::settings::Settings;
use systems::Systems;

/// The cluster of the library that is used: GRAPE-6 clients call their first one 0.
const ID: i32 = 0;

/// A particle at the end of its step, with the members of the system whose centre it is.
type End = (Body, State, Option<Subsystem>);

/// The force of the library on one particle, and the addresses of those near it.
struct Force {
    acc: Vec3,
    jerk: Vec3,
    near: Vec<usize>,
}

/// The integration of a cluster.
///
/// Opens cluster 0 of the library and closes it when dropped: one integrator
/// at a time for each library.
pub struct Integrator<'g> {
    grape: &'g Grape,
    settings: Settings,
    most_at_once: usize,
    time: f64,
    bodies: Vec<Body>,
    states: Vec<State>,
    schedule: Schedule,
    counts: Counts,
    pairs: Pairs,
    due: Vec<usize>,
    ends: Vec<End>,
    /// Those near each particle of the last block, by address.
    near: Vec<Vec<usize>>,
    block: Block,
    systems: Systems,
}

impl<'g> Integrator<'g> {
    /// Starts from `bodies` that are all at `time`, a multiple of the largest step.
    ///
    /// # Errors
    ///
    /// Senseless settings or bodies; whatever goes wrong with the first forces.
    pub fn start(
        grape: &'g Grape,
        settings: Settings,
        time: f64,
        bodies: Vec<Body>,
    ) -> Result<Self, Error> {
        settings.validate()?;
        let states = vec![particle::initial_state(&settings, time)?; bodies.len()];
        let mut new = Self::load(grape, settings, time, bodies, states)?;
        new.first_steps()?;
        new.schedule_all();
        new.first_systems()?;
        Ok(new)
    }

    /// Goes on from `bodies` in the midst of their steps, as [`bodies`](Self::bodies) and
    /// [`states`](Self::states) gave them at `time`, having done `counts`.
    ///
    /// # Errors
    ///
    /// Senseless settings, bodies or states.
    pub fn resume(
        grape: &'g Grape,
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
        let mut new = Self::load(grape, settings, time, bodies, states)?;
        new.pairs = Pairs::after(&counts);
        new.counts = counts;
        new.schedule_all();
        Ok(new)
    }

    /// Opens the library and sends it everybody.
    fn load(
        grape: &'g Grape,
        settings: Settings,
        time: f64,
        bodies: Vec<Body>,
        states: Vec<State>,
    ) -> Result<Self, Error> {
        assert_eq!(bodies.len(), states.len(), "each body has a state");
        particle::check_labels(&bodies)?;
        let status = grape.open(ID);
        if status != 0 {
            return Err(Error::Library(status));
        }
        let systems = Systems::among(&bodies, settings.systems);
        let new = Self {
            grape,
            settings,
            most_at_once: grape.most_at_once(),
            time,
            bodies,
            states,
            schedule: Schedule::new(settings.dt_max),
            counts: Counts::default(),
            pairs: Pairs::default(),
            due: Vec::new(),
            ends: Vec::new(),
            near: Vec::new(),
            block: Block::default(),
            systems,
        };
        (0..new.bodies.len()).for_each(|i| new.send(i));
        Ok(new)
    }

    /// Finds the force on everybody, and from it the first step.
    fn first_steps(&mut self) -> Result<(), Error> {
        let all: Vec<usize> = (0..self.bodies.len()).collect();
        let settings = self.settings;
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        self.forces(self.time, &all, |this, i, force| {
            near.push(force.near);
            let (body, state) = (&this.bodies[i], &mut this.states[i]);
            particle::begin(&settings, body, state, force.acc, force.jerk)
        })?;
        self.near = near;
        all.iter().for_each(|&i| self.send(i));
        Ok(())
    }

    /// Finds the systems that the run begins with.
    fn first_systems(&mut self) -> Result<(), Error> {
        let all: Vec<usize> = (0..self.bodies.len()).collect();
        let near = std::mem::take(&mut self.near);
        let new = self.regroup(self.time, &all, &near)?;
        if !new.is_empty() {
            self.schedule = Schedule::new(self.settings.dt_max);
            let rest = all.iter().filter(|i| !new.contains(i) && !self.systems.is_ghost(**i));
            rest.for_each(|&i| self.schedule.insert(i, self.states[i].dt));
            self.begin_anew(self.time, &new)?;
        }
        Ok(())
    }

    fn schedule_all(&mut self) {
        for (i, state) in self.states.iter().enumerate() {
            if !self.systems.is_ghost(i) {
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
    /// The library fails, or steps become too small: then everything is as it was before.
    pub fn step(&mut self) -> Result<(), Error> {
        let Some(t) = self.next_time() else {
            return Ok(());
        };
        let dbg = std::env::var_os("FB_DEBUG").is_some();
        if dbg { self.debug("step"); }
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
                    self.enter(i, system);
                }
                self.send(i);
            }
            self.time = t;
            self.counts.add(due.len(), self.bodies.len());
            if dbg { self.debug("commit"); }
            new = self.regroup(t, &due, &near);
            if dbg && new.as_ref().is_ok_and(|n| !n.is_empty()) { self.debug(&format!("regroup {:?}", new)); }
        }
        let is_old = |i: usize, new: &[usize]| !new.contains(&i) && !self.systems.is_ghost(i);
        let fresh = new.as_deref().unwrap_or(&[]);
        for &i in due.iter().filter(|i| is_old(**i, fresh)) {
            self.schedule.insert(i, self.states[i].dt);
        }
        (self.due, self.ends, self.near) = (due, ends, near);
        moved?;
        self.begin_anew(t, &new?)
    }

    fn debug(&mut self, what: &str) {
        use std::sync::Mutex;
        static LAST: Mutex<f64> = Mutex::new(0.0);
        let t = self.time;
        let all = self.synchronised(t).unwrap();
        let e = kirin_kit::diagnostics::Energy::of(&all, 0.0).total();
        let mut last = LAST.lock().unwrap();
        if (e - *last).abs() > 1e-8 || what.starts_with("regroup") {
            let s: Vec<String> = self.systems.at.iter().map(|(k, s)| format!("{k}:{:?} size {:.2e} E {:.3e}", s.bodies().iter().map(|b| b.index).collect::<Vec<_>>(), s.size(&self.systems.limits.unwrap()), s.energy())).collect();
            eprintln!("{t:.9} {what} dE {:+.3e} {s:?} due {:?}", e - *last, self.due);
        }
        *last = e;
    }

    /// The particles that are due at `t`, as they will be at the ends of their steps, and those near them.
    ///
    /// Nobody is moved yet: the whole block is to see predicted neighbours, however many calls it
    /// takes, and an error is to leave no block half done.
    fn ends_of_steps(
        &mut self,
        t: f64,
        due: &[usize],
        ends: &mut Vec<End>,
        near: &mut Vec<Vec<usize>>,
    ) -> Result<(), Error> {
        let settings = self.settings;
        ends.clear();
        near.clear();
        self.forces(t, due, |this, i, force| {
            let (mut body, mut state) = (this.bodies[i], this.states[i]);
            let (acc, jerk) = (force.acc, force.jerk);
            particle::advance(&settings, t, &mut body, &mut state, acc, jerk)?;
            let system = this.moved(i, t, &force.near)?;
            if let Some(system) = &system {
                let longest = this.longest_step(i, t, system, &force.near);
                while state.dt > longest {
                    state.dt *= 0.5;
                }
            }
            ends.push((body, state, system));
            near.push(force.near);
            Ok(())
        })
    }

    /// Everybody at `t`, a time from [`time`](Self::time) to [`next_time`](Self::next_time).
    ///
    /// A particle whose own time is another takes a step to `t` in a copy: the integration itself is not
    /// changed.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn synchronised(&mut self, t: f64) -> Result<Vec<Body>, Error> {
        let (settings, mut copy) = (self.settings, self.bodies.clone());
        let mut systems = self.systems.at.clone();
        let is_absent = |i: &usize| self.states[*i].t != t && !self.systems.is_ghost(*i);
        let absent: Vec<usize> = (0..copy.len()).filter(is_absent).collect();
        self.forces(t, &absent, |this, i, force| {
            if let Some(system) = this.moved(i, t, &force.near)? {
                systems.insert(i, system);
            }
            let state = &this.states[i];
            particle::synchronise(&settings, t, &mut copy[i], state, force.acc, force.jerk)
        })?;
        self.stars(&mut copy, &systems);
        self.systems.seen = systems.into_values().collect();
        Ok(copy)
    }

    /// Finds the forces at `t` on the particles in `list`, as many at a time as the library takes, and
    /// passes each to `use_force`.
    fn forces(
        &mut self,
        t: f64,
        list: &[usize],
        mut use_force: impl FnMut(&mut Self, usize, Force) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (nj, eps2) = (self.bodies.len(), self.settings.eps * self.settings.eps);
        let mut block = std::mem::take(&mut self.block);
        if !list.is_empty() {
            self.grape.set_ti(ID, t);
        }
        for chunk in list.chunks(self.most_at_once) {
            block.resize(chunk.len());
            for (k, &i) in chunk.iter().enumerate() {
                let (body, state) = (&self.bodies[i], &self.states[i]);
                block.index[k] = body.index;
                (block.x[k], block.v[k]) =
                    scheme::predict(&particle::point(body, state), t - state.t);
                (block.acc[k], block.jerk[k]) = (state.acc, state.jerk);
                block.h2[k] = self.search2(i);
            }
            self.grape.firsthalf(ID, nj, &mut block, eps2);
            let status = self.grape.lasthalf(ID, nj, &mut block, eps2);
            if status != 0 {
                return Err(Error::Library(status));
            }
            let near = self.near(chunk, &block)?;
            for ((k, &i), near) in chunk.iter().enumerate().zip(near) {
                let (mut acc, mut jerk) = (block.acc[k], block.jerk[k]);
                if !near.is_empty() {
                    let (a, j) = self.correction(i, t, &block.x[k], &block.v[k], &near);
                    add_scaled(&mut acc, 1.0, &a);
                    add_scaled(&mut jerk, 1.0, &j);
                }
                use_force(self, i, Force { acc, jerk, near })?;
            }
        }
        self.block = block;
        Ok(())
    }

    /// Addresses of those near each particle of `chunk`, whose forces were found last.
    fn near(&self, chunk: &[usize], block: &Block) -> Result<Vec<Vec<usize>>, Error> {
        let mut near = vec![Vec::new(); chunk.len()];
        if self.systems.limits.is_none() {
            return Ok(near);
        }
        let missing = || Error::Refused("this library has no neighbour lists".to_owned());
        let status = self.grape.read_neighbour_list(ID).ok_or_else(missing)?;
        let mut labels = vec![0; self.bodies.len() + 1];
        for ((k, &i), near) in chunk.iter().enumerate().zip(&mut near) {
            if status != 0 {
                return Err(Error::Library(status));
            }
            if block.h2[k] > 0.0 {
                let list = self.grape.get_neighbour_list(ID, k, &mut labels);
                let (status, length) = list.ok_or_else(missing)?;
                if status != 0 {
                    return Err(Error::Library(status));
                }
                *near = self.systems.addresses(i, &labels[..length]);
            }
        }
        Ok(near)
    }

    /// Writes particle `i` into the library's memory, with the massless ones of its system.
    fn send(&self, i: usize) {
        self.send_one(i);
        if let Some(system) = self.systems.at.get(&i) {
            let members = self.systems.members(system);
            members.into_iter().filter(|k| *k != i).for_each(|k| self.send_one(k));
        }
    }

    fn send_one(&self, i: usize) {
        let (body, state) = (&self.bodies[i], &self.states[i]);
        let address = i32::try_from(i).expect("checked when the particles were loaded");
        let j = particle::j_particle(body, state);
        self.grape.set_j_particle(ID, address, state.dt, &j);
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

    /// The few-body systems.
    pub fn systems(&self) -> &Systems {
        &self.systems
    }

    /// Name of what computes the forces.
    pub fn backend(&self) -> String {
        self.grape.backend(ID)
    }

    /// Precision of the forces.
    pub fn precision(&self) -> String {
        self.grape.precision(ID)
    }
}

impl Integration for Integrator<'_> {
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

    fn galaxy(&self) -> Option<&Galaxy> {
        Some(&self.settings.galaxy)
    }

    fn remark(&mut self) -> Option<String> {
        self.pairs
            .remark(&self.counts, &self.bodies, &self.states, &self.settings)
    }

    fn own_columns(&self) -> &'static [&'static str] {
        &motion::COLUMNS
    }

    fn own_numbers(&self, bodies: &[Body], bound: &Bound) -> Vec<f64> {
        motion::numbers(bodies, bound)
    }

    fn notes(&self) -> Vec<(String, String)> {
        self.settings.galaxy.lines()
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
}

impl Drop for Integrator<'_> {
    fn drop(&mut self) {
        self.grape.close(ID);
    }
}
