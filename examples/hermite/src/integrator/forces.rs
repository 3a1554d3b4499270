//! Forces from the library, corrected near regularized systems.
//!
//! The library holds the centre of a system. Particles around it feel the members instead, or the quadrupole of their mean
//! orbits: their forces are corrected here.
//! The forces on a system are those at the places that [`Subsystem::places`](kirin_kit::few_body::subsystem::Subsystem::places)
//! names.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use kirin::client::Block;
use kirin_kit::few_body::pair::Pull;
use kirin_kit::few_body::subsystem::Felt;
use kirin_kit::galaxy::Field;
use kirin_kit::vector::{Vec3, add_scaled, dot, norm, sub};

use super::Integrator;
use super::regularized::Held;
use crate::error::Error;
use crate::particle;
use crate::scheme;
use crate::sources::{Sources, wants_neighbours};

/// The force on one particle.
#[derive(Clone, Debug, Default)]
pub(super) struct Force {
    /// Acceleration by all others; that of a system's centre is the mean over its members.
    pub acc: Vec3,
    /// Its time derivative.
    pub jerk: Vec3,
    /// For a system, the forces at its places, including those of the galaxy. Empty for a single star.
    pub pulls: Vec<Pull>,
    /// Addresses of stars and systems so near that they may become one system with it.
    pub near: Vec<usize>,
    /// Whether it needs shorter steps because another one is near.
    pub is_crowded: bool,
}

/// Where a force is wanted: at a particle, or at a place of a system.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub i: usize,
    pub x: Vec3,
    v: Vec3,
}

/// The centre of a system.
struct Centre<'a> {
    held: &'a Held,
    /// The time since the beginning of its step, and the length of the step.
    dt: f64,
    step: f64,
    x: Vec3,
    v: Vec3,
    /// Its members about the centre.
    members: OnceCell<Vec<(Vec3, Vec3)>>,
}

impl Centre<'_> {
    /// Adds what a particle at this place feels more than the centre. `mass` and `acceleration` are those of the particle.
    fn add_correction(
        &self,
        place: &Place,
        mass: f64,
        acceleration: f64,
        pull: &mut Pull,
    ) -> Result<(), Error> {
        let dx = sub(&self.x, &place.x);
        let felt = self
            .held
            .surroundings
            .felt(dot(&dx, &dx), mass, acceleration);
        let (acc, jerk) = match felt {
            Felt::Centre => return Ok(()),
            Felt::Quadrupole => {
                let dv = sub(&self.v, &place.v);
                self.held.surroundings.quadrupole(&dx, &dv)
            }
            Felt::Members => {
                let members = match self.members.get() {
                    Some(members) => members,
                    None => {
                        let members = self.held.system.felt(self.dt, self.step)?;
                        self.members.get_or_init(|| members)
                    }
                };
                let dv = sub(&self.v, &place.v);
                self.held.system.correction(members, &dx, &dv)
            }
        };
        add_scaled(&mut pull.0, 1.0, &acc);
        add_scaled(&mut pull.1, 1.0, &jerk);
        Ok(())
    }
}

impl<S: Sources> Integrator<S> {
    /// Finds the forces at `t` on the particles in `list`, as many at a time as the library takes, and
    /// passes each to `use_force`.
    pub(super) fn forces(
        &mut self,
        t: f64,
        list: &[usize],
        mut use_force: impl FnMut(&mut Self, usize, Force) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (nj, eps2) = (self.nj, self.settings.eps * self.settings.eps);
        let mut block = std::mem::take(&mut self.block);
        let mut places = std::mem::take(&mut self.places);
        if !list.is_empty() {
            self.sources.set_time(t);
        }
        let mut rest = list;
        while !rest.is_empty() {
            let count = self.places(t, rest, &mut places)?;
            let (chunk, others) = rest.split_at(count);
            rest = others;
            self.fill(&places, &mut block);
            let mine = self.sources.forces(nj, &mut block, eps2)?;
            let corrected = self.correct(t, &places, &mine, &mut block);
            if corrected.is_err() {
                // Other ranks find a force that is not finite, and end, too.
                block.acc[mine.clone()].fill([f64::NAN; 3]);
            }
            self.sources.complete(&mut block, mine)?;
            corrected?;
            let mut lists = self.neighbours(&block)?;
            let mut k = 0;
            for &i in chunk {
                let own = places[k..].iter().take_while(|place| place.i == i).count();
                let mut force = self.force(i, k..k + own, &places, &block);
                if let Some(near) = lists.get_mut(k) {
                    force.near = std::mem::take(near);
                    force.is_crowded |=
                        self.leave_partners(t, &places[k..k + own], &mut force.near);
                    force.near.sort_unstable();
                }
                k += own;
                use_force(self, i, force)?;
            }
        }
        (self.block, self.places) = (block, places);
        Ok(())
    }

    /// Finds the places at which the library must compute the forces at `t` on the particles in `list`: for a star
    /// one, for a system several. Takes the first particles only, as many as fit into one call, and returns their
    /// number.
    fn places(&self, t: f64, list: &[usize], places: &mut Vec<Place>) -> Result<usize, Error> {
        places.clear();
        for (count, &i) in list.iter().enumerate() {
            let (x, v) = self.predicted(i, t);
            let Some(held) = self.regularized.at.get(&i) else {
                if places.len() >= self.most_at_once {
                    return Ok(count);
                }
                places.push(Place { i, x, v });
                continue;
            };
            let state = &self.states[i];
            let own = held.system.places(t - state.t, state.dt)?;
            if places.len() + own.len() > self.most_at_once {
                return Ok(count);
            }
            for (own_x, own_v) in own {
                let mut place = Place { i, x, v };
                add_scaled(&mut place.x, 1.0, &own_x);
                add_scaled(&mut place.v, 1.0, &own_v);
                places.push(place);
            }
        }
        Ok(list.len())
    }

    fn fill(&self, places: &[Place], block: &mut Block) {
        block.resize(places.len());
        for (k, place) in places.iter().enumerate() {
            let state = &self.states[place.i];
            block.index[k] = self.bodies[place.i].index;
            (block.x[k], block.v[k]) = (place.x, place.v);
            (block.acc[k], block.jerk[k]) = (state.acc, state.jerk);
            let is_first = k == 0 || places[k - 1].i != place.i;
            block.h2[k] = self.search2(place.i, is_first);
        }
    }

    /// Place and velocity of particle `i` at `t`.
    pub(super) fn predicted(&self, i: usize, t: f64) -> (Vec3, Vec3) {
        let state = &self.states[i];
        scheme::predict(&particle::point(&self.bodies[i], state), t - state.t)
    }

    /// Adds to the forces of the centres of systems at `t` what particles around them feel beside, at `mine` of the places.
    fn correct(
        &self,
        t: f64,
        places: &[Place],
        mine: &Range<usize>,
        block: &mut Block,
    ) -> Result<(), Error> {
        if self.regularized.at.is_empty() {
            return Ok(());
        }
        let centre = |first: usize| {
            let (state, (x, v)) = (&self.states[first], self.predicted(first, t));
            Centre {
                held: &self.regularized.at[&first],
                dt: t - state.t,
                step: state.dt,
                x,
                v,
                members: OnceCell::new(),
            }
        };
        let mut centres: BTreeMap<usize, Centre<'_>> = BTreeMap::new();
        let mut found = Vec::new();
        let mut next = 0;
        for own in places.chunk_by(|a, b| a.i == b.i) {
            let (first, i) = (next, own[0].i);
            next += own.len();
            if mine.end <= first || next <= mine.start {
                continue;
            }
            // Mass and acceleration of the particle decide what it feels.
            let (mass, acceleration) = (self.bodies[i].mass, norm(&self.states[i].acc));
            let from_first = own.iter().map(|place| norm(&sub(&place.x, &own[0].x)));
            let size = from_first.fold(0.0, f64::max);
            let reaches = &self.regularized.reaches;
            reaches.find(&own[0].x, size, mass, acceleration, &mut found);
            found.retain(|first| *first != i);
            for (k, place) in (first..).zip(own).filter(|(k, _)| mine.contains(k)) {
                let mut pull = Pull::default();
                for &system in &found {
                    let centre = centres.entry(system).or_insert_with(|| centre(system));
                    centre.add_correction(place, mass, acceleration, &mut pull)?;
                }
                add_scaled(&mut block.acc[k], 1.0, &pull.0);
                add_scaled(&mut block.jerk[k], 1.0, &pull.1);
            }
        }
        Ok(())
    }

    /// The force on particle `i`, whose places are those of this range.
    fn force(&self, i: usize, own: Range<usize>, places: &[Place], block: &Block) -> Force {
        let mut force = Force {
            acc: block.acc[own.start],
            jerk: block.jerk[own.start],
            ..Force::default()
        };
        let Some(held) = self.regularized.at.get(&i) else {
            return force;
        };
        force.is_crowded = held.is_crowded;
        force.pulls = own.clone().map(|k| (block.acc[k], block.jerk[k])).collect();
        (force.acc, force.jerk) = held.system.mean(&force.pulls);
        let galaxy = &self.settings.galaxy;
        if !galaxy.is_none() {
            for (place, pull) in places[own].iter().zip(&mut force.pulls) {
                add_scaled(&mut pull.0, 1.0, &galaxy.acceleration(&place.x));
                add_scaled(&mut pull.1, 1.0, &galaxy.jerk(&place.x, &place.v));
            }
        }
        force
    }

    /// For each particle of `block`, the addresses of the stars and systems near it. Empty if no particle of the block
    /// looks for neighbours.
    fn neighbours(&mut self, block: &Block) -> Result<Vec<Vec<usize>>, Error> {
        if !wants_neighbours(block) {
            return Ok(Vec::new());
        }
        let mut lists = vec![Vec::new(); block.len()];
        for (k, list) in lists.iter_mut().enumerate() {
            if block.h2[k] > 0.0 {
                let labels = self.sources.neighbours(k)?;
                *list = self.regularized.near(block.index[k], labels);
            }
        }
        Ok(lists)
    }
}

/// The time within which a force changes.
pub(super) fn time_scale(acc: &Vec3, jerk: &Vec3) -> f64 {
    norm(acc) / norm(jerk)
}
