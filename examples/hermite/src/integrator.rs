//! The integration of a cluster through a GRAPE-6 library, one block at a time.

use kirin::client::{Block, Grape};
use kirin::grape::particle::JParticle;
use kirin_kit::Body;
use kirin_kit::snapshot::State;
use kirin_kit::vector::Vec3;

use crate::counts::Counts;
use crate::error::Error;
use crate::schedule::Schedule;
use crate::scheme::{self, Point};
use crate::settings::Settings;
use crate::step;

/// The cluster of the library that is used: GRAPE-6 clients call their first one 0.
const ID: i32 = 0;

/// A cluster on its way.
///
/// Opens cluster 0 of the library and closes it when dropped: one integrator
/// at a time for each library.
pub struct Integrator<'g> {
    grape: &'g Grape,
    settings: Settings,
    npipes: usize,
    time: f64,
    bodies: Vec<Body>,
    states: Vec<State>,
    schedule: Schedule,
    counts: Counts,
    due: Vec<usize>,
    block: Block,
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
        settings.check()?;
        if !step::is_multiple(time, settings.dt_max) {
            return Err(Error::Refused(format!(
                "the initial time {time} is not a multiple of the largest step {}",
                settings.dt_max
            )));
        }
        let at_rest = State {
            t: time,
            dt: settings.dt_max,
            ..State::default()
        };
        let states = vec![at_rest; bodies.len()];
        let mut new = Self::load(grape, settings, time, bodies, states)?;
        new.first_steps()?;
        new.schedule_all();
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
        settings.check()?;
        for (body, state) in bodies.iter().zip(&states) {
            let refuse = |what: String| {
                Err(Error::Refused(format!(
                    "state of particle {}: {what}",
                    body.index
                )))
            };
            let State { t, dt, .. } = *state;
            if !(step::is_power_of_two(dt) && (step::SMALLEST..=settings.dt_max).contains(&dt)) {
                return refuse(format!(
                    "its step {dt} is not a power of two from 2^-40 to {}",
                    settings.dt_max
                ));
            }
            if t != (time / dt).floor() * dt {
                return refuse(format!(
                    "with the step {dt} its time cannot be {t} when the run's is {time}"
                ));
            }
        }
        let mut new = Self::load(grape, settings, time, bodies, states)?;
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
        i32::try_from(bodies.len()).map_err(|_| {
            Error::Refused("the interface counts particles in 32-bit integers".to_owned())
        })?;
        let mut labels: Vec<i32> = bodies.iter().map(|b| b.index).collect();
        labels.sort_unstable();
        if let Some(pair) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            // The library excludes a particle's force on itself by its label.
            return Err(Error::Refused(format!(
                "two particles have the index {}",
                pair[0]
            )));
        }
        let status = grape.open(ID);
        if status != 0 {
            return Err(Error::Library(status));
        }
        let new = Self {
            grape,
            settings,
            npipes: grape.npipes(),
            time,
            bodies,
            states,
            schedule: Schedule::new(settings.dt_max),
            counts: Counts::default(),
            due: Vec::new(),
            block: Block::default(),
        };
        (0..new.bodies.len()).for_each(|i| new.send(i));
        Ok(new)
    }

    /// Finds the force on everybody, and from it the first step.
    fn first_steps(&mut self) -> Result<(), Error> {
        let Settings {
            eta_start,
            dt_max,
            shared,
            ..
        } = self.settings;
        let all: Vec<usize> = (0..self.bodies.len()).collect();
        self.forces(self.time, &all, |this, i, _, acc, jerk| {
            let (body, state) = (&this.bodies[i], &mut this.states[i]);
            (state.acc, state.jerk) = (acc, jerk);
            if !shared {
                let wanted = step::first(eta_start, &point(body, state));
                state.dt = step::power_of_two_below(wanted.clamp(f64::MIN_POSITIVE, dt_max));
            }
            check_step(body, state)
        })?;
        all.iter().for_each(|&i| self.send(i));
        Ok(())
    }

    fn schedule_all(&mut self) {
        for (i, state) in self.states.iter().enumerate() {
            self.schedule.insert(i, state.dt);
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
    /// The library fails, or steps become too small; the integration cannot go on.
    pub fn step(&mut self) -> Result<(), Error> {
        let Some(t) = self.next_time() else {
            return Ok(());
        };
        let mut due = std::mem::take(&mut self.due);
        self.schedule.take_due(t, &mut due);
        let Settings {
            eta,
            dt_max,
            shared,
            ..
        } = self.settings;
        self.forces(t, &due, |this, i, start, acc, jerk| {
            let (body, state) = (&mut this.bodies[i], &mut this.states[i]);
            let (end, higher) = scheme::correct(start, state.dt, acc, jerk);
            (body.x, body.v) = (end.x, end.v);
            let dt = if shared {
                dt_max
            } else {
                step::next(t, state.dt, step::aarseth(eta, &end, &higher), dt_max)
            };
            *state = State { t, dt, acc, jerk };
            check_step(body, state)
        })?;
        // After the last force: the whole block is to see predicted neighbours, however many
        // calls it takes.
        for &i in &due {
            self.send(i);
            self.schedule.insert(i, self.states[i].dt);
        }
        self.time = t;
        self.counts.add(due.len(), self.bodies.len());
        self.due = due;
        Ok(())
    }

    /// Everybody at `t`, a time from [`time`](Self::time) to [`next_time`](Self::next_time).
    ///
    /// Those who are elsewhere take a step to `t` in a copy: the integration
    /// goes on as if nobody had asked.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn synchronised(&mut self, t: f64) -> Result<Vec<Body>, Error> {
        let mut copy = self.bodies.clone();
        let absent: Vec<usize> = (0..copy.len()).filter(|&i| self.states[i].t != t).collect();
        self.forces(t, &absent, |this, i, start, acc, jerk| {
            let (end, _) = scheme::correct(start, t - this.states[i].t, acc, jerk);
            (copy[i].x, copy[i].v) = (end.x, end.v);
            Ok(())
        })?;
        Ok(copy)
    }

    /// Asks for the force at `t` on the particles in `list`, as many at a time as the library
    /// likes, and tells it to `use_force` with the particle's state before.
    fn forces(
        &mut self,
        t: f64,
        list: &[usize],
        mut use_force: impl FnMut(&mut Self, usize, &Point, Vec3, Vec3) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (nj, eps2) = (self.bodies.len(), self.settings.eps * self.settings.eps);
        let mut block = std::mem::take(&mut self.block);
        if !list.is_empty() {
            self.grape.set_ti(ID, t);
        }
        for chunk in list.chunks(self.npipes) {
            block.resize(chunk.len());
            for (k, &i) in chunk.iter().enumerate() {
                let (body, state) = (&self.bodies[i], &self.states[i]);
                block.index[k] = body.index;
                (block.x[k], block.v[k]) = scheme::predict(&point(body, state), t - state.t);
                (block.acc[k], block.jerk[k]) = (state.acc, state.jerk);
            }
            self.grape.firsthalf(ID, nj, &mut block, eps2);
            let status = self.grape.lasthalf(ID, nj, &mut block, eps2);
            if status != 0 {
                return Err(Error::Library(status));
            }
            for (k, &i) in chunk.iter().enumerate() {
                let (acc, jerk) = (block.acc[k], block.jerk[k]);
                if !acc.iter().chain(&jerk).all(|c| c.is_finite()) {
                    let index = self.bodies[i].index;
                    return Err(Error::NotFinite { index, t });
                }
                let start = point(&self.bodies[i], &self.states[i]);
                use_force(self, i, &start, acc, jerk)?;
            }
        }
        self.block = block;
        Ok(())
    }

    /// Writes particle `i` into the library's memory.
    fn send(&self, i: usize) {
        let (body, state) = (&self.bodies[i], &self.states[i]);
        let address = i32::try_from(i).expect("checked when the particles were loaded");
        let j = JParticle {
            index: body.index,
            t: state.t,
            mass: body.mass,
            x: body.x,
            v: body.v,
            aby2: state.acc.map(|c| c / 2.0),
            a1by6: state.jerk.map(|c| c / 6.0),
            // The snap would need a term in the host's prediction too; some libraries ignore it.
            a2by18: [0.0; 3],
        };
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

    /// Name of what computes the forces.
    pub fn backend(&self) -> String {
        self.grape.backend(ID)
    }

    /// Precision of the forces.
    pub fn precision(&self) -> String {
        self.grape.precision(ID)
    }
}

impl Drop for Integrator<'_> {
    fn drop(&mut self) {
        self.grape.close(ID);
    }
}

fn point(body: &Body, state: &State) -> Point {
    Point {
        x: body.x,
        v: body.v,
        acc: state.acc,
        jerk: state.jerk,
    }
}

fn check_step(body: &Body, state: &State) -> Result<(), Error> {
    if state.dt < step::SMALLEST {
        let (index, t) = (body.index, state.t);
        return Err(Error::StepTooSmall { index, t });
    }
    Ok(())
}
