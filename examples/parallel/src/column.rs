//! The particles of one column. Every rank of the column has the same copy.

use std::ops::Range;

use hermite::particle;
use hermite::schedule::Schedule;
use hermite::scheme;
use kirin_kit::Body;
use kirin_kit::snapshot::State;

use crate::j_particles::ACTIVE;

/// The particles of one column.
pub struct Column {
    /// Their addresses.
    pub addresses: Range<usize>,
    /// Each at its own time.
    pub bodies: Vec<Body>,
    /// Time, step and force of each.
    pub states: Vec<State>,
    /// Who is due when, by place in the column. Those of the active list are not in it.
    pub schedule: Schedule,
    /// The active list: who is due first, by place, in address order, and when. Empty until it is made.
    pub active: Vec<usize>,
    /// When they are due; infinite for an empty column.
    pub due: f64,
    /// The particles that the last block has moved, by place.
    pub moved: Vec<usize>,
    /// The active particles at the ends of their steps, until all of them are known; then those of `moved` as they were
    /// before the block.
    pub ends: Vec<(Body, State)>,
}

impl Column {
    /// The column at these addresses, of which nobody has a step yet.
    pub fn new(
        addresses: Range<usize>,
        bodies: Vec<Body>,
        states: Vec<State>,
        dt_max: f64,
    ) -> Self {
        Self {
            addresses,
            bodies,
            states,
            schedule: Schedule::new(dt_max),
            active: Vec::new(),
            due: f64::INFINITY,
            moved: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Enters everybody with the present step.
    pub fn schedule_all(&mut self) {
        for (i, state) in self.states.iter().enumerate() {
            self.schedule.insert(i, state.dt);
        }
    }

    /// Puts the particles that the last block has moved back to where they were, for the state that is saved. The
    /// integration cannot go on.
    pub fn take_back(&mut self) {
        for (i, (body, state)) in self.moved.drain(..).zip(self.ends.drain(..)) {
            (self.bodies[i], self.states[i]) = (body, state);
        }
    }

    /// What the other columns must know of the particle at place `i` to find its force at `t`.
    pub fn predicted(&self, i: usize, t: f64) -> [f64; ACTIVE] {
        let (body, state) = (&self.bodies[i], &self.states[i]);
        let (x, v) = scheme::predict(&particle::point(body, state), t - state.t);
        [body.index.into(), x[0], x[1], x[2], v[0], v[1], v[2]]
    }
}
