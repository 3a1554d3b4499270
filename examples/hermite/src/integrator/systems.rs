//! Few-body systems inside the integration: who is a member of which, and how membership changes at the ends of blocks.
//!
//! The library holds the centre of mass of a system at the address of its first member. The other members' addresses
//! hold particles without mass, so that no star changes its address: the sums of the library, and with them all bits, are a function
//! of the state.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use kirin_kit::Body;
use kirin_kit::few_body::shape::{Pull, Shape};
use kirin_kit::few_body::subsystem::{Limits, MOST, Perturber, Subsystem, joins};
use kirin_kit::snapshot::State;
use kirin_kit::vector::{Vec3, add_scaled, norm, sub};

use super::{End, Integrator};
use crate::error::Error;
use crate::particle;
use crate::scheme;
use crate::step;

/// How far from its centre the massless particles of a system are kept: at one place with it they would cost the
/// library a sum in double precision.
const ASIDE: f64 = 1.0;

/// The systems of an integration.
#[derive(Clone, Debug, Default)]
pub struct Systems {
    /// What makes a system; `None` where there are none.
    pub limits: Option<Limits>,
    /// Systems by the address of their first member.
    pub at: BTreeMap<usize, Subsystem>,
    /// What is felt of each of them.
    pub shapes: BTreeMap<usize, Shape>,
    /// The system of each address.
    pub of: Vec<Option<usize>>,
    /// Addresses of labels.
    addresses: HashMap<i32, usize>,
    /// The greatest mass of a particle.
    heaviest: f64,
    /// Seconds that the systems took.
    pub seconds: f64,
    /// Basic steps inside systems.
    pub steps: u64,
    /// Systems that were formed so far.
    pub formed: u64,
    /// The systems at the time for which the bodies were asked last.
    pub seen: Vec<Subsystem>,
}

impl Systems {
    /// None yet, among `bodies`.
    pub fn among(bodies: &[Body], factor: f64) -> Self {
        let n = bodies.len();
        let mass: f64 = bodies.iter().map(|b| b.mass).sum();
        let mean = mass / n.max(1) as f64;
        let addresses = bodies.iter().enumerate().map(|(i, b)| (b.index, i));
        Self {
            limits: (factor > 0.0).then_some(Limits {
                radius: factor * mean,
                mean,
            }),
            of: vec![None; n],
            addresses: addresses.collect(),
            heaviest: bodies.iter().map(|b| b.mass).fold(0.0, f64::max),
            ..Self::default()
        }
    }

    /// Whether address `i` holds a particle without mass: a member of a system that is not the first.
    pub fn is_ghost(&self, i: usize) -> bool {
        self.of[i].is_some_and(|first| first != i)
    }

    /// Addresses of the members of the system at `first`, in their order.
    pub fn members(&self, system: &Subsystem) -> Vec<usize> {
        let address = |b: &Body| self.addresses[&b.index];
        system.bodies().iter().map(address).collect()
    }

    /// Addresses of labels from a neighbour list, in ascending order, without particle `own` and those without mass.
    pub fn addresses(&self, own: usize, labels: &[i32]) -> Vec<usize> {
        let found = labels.iter().filter_map(|l| self.addresses.get(l).copied());
        let mut found: Vec<usize> = found.filter(|&i| i != own && !self.is_ghost(i)).collect();
        found.sort_unstable();
        found
    }

    /// Figures for people; none where there are no systems.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        if self.limits.is_none() {
            return Vec::new();
        }
        let (now, formed, steps) = (self.at.len(), self.formed, self.steps);
        vec![(
            "systems",
            format!("{now} now, {formed} formed, {steps} steps inside, {:.3} s", self.seconds),
        )]
    }

    fn weigh(&mut self, bodies: &[Body]) {
        self.heaviest = bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
    }
}

impl Integrator<'_> {
    /// Square of the radius of the neighbour list that particle `i` needs; 0 for none.
    pub(super) fn search2(&self, i: usize) -> f64 {
        let systems = &self.systems;
        let Some(limits) = &systems.limits else {
            return 0.0;
        };
        let mass = self.bodies[i].mass;
        let mut radius = limits.radius_of(mass + systems.heaviest);
        for shape in systems.shapes.values() {
            radius = radius.max(shape.reach).max(shape.distance(mass));
        }
        if let Some(own) = systems.at.get(&i) {
            radius = radius.max(own.perturber_distance(systems.heaviest, limits));
        }
        radius * radius
    }

    /// What particle `i`, predicted to be at `x` with the velocity `v` at `t`, feels of the members of systems more than
    /// of their centres; and, for the centre of a system, what its members feel.
    pub(super) fn correction(&self, i: usize, t: f64, x: &Vec3, v: &Vec3, near: &[usize]) -> Pull {
        let (mut acc, mut jerk) = ([0.0; 3], [0.0; 3]);
        let mass = self.bodies[i].mass;
        let own = self.shape_at(i, t);
        for &j in near {
            let (body, shape) = (self.predicted(j, t), self.shape_at(j, t));
            let (dx, dv) = (sub(&body.x, x), sub(&body.v, v));
            let r = norm(&dx);
            if let Some((shape, points)) = shape
                && shape.is_felt(mass, r)
            {
                let (a, j) = shape.correction(&points(), &dx, &dv);
                add_scaled(&mut acc, 1.0, &a);
                add_scaled(&mut jerk, 1.0, &j);
            }
            if let Some((shape, points)) = &own
                && shape.is_felt(body.mass, r)
            {
                let back = |d: &Vec3| d.map(|c| -c);
                let (a, j) = shape.correction(&points(), &back(&dx), &back(&dv));
                add_scaled(&mut acc, -body.mass / mass, &a);
                add_scaled(&mut jerk, -body.mass / mass, &j);
            }
        }
        (acc, jerk)
    }

    /// The shape of the system at address `i`, if there is one and its members are known at `t`, and their places.
    fn shape_at(&self, i: usize, t: f64) -> Option<(&Shape, impl Fn() -> Vec<(f64, Vec3, Vec3)>)> {
        let shape = self.systems.shapes.get(&i)?;
        let dt = t - self.states[i].t;
        shape.is_known(dt).then_some((shape, move || shape.at(dt)))
    }

    /// Largest step of the particle at address `i`, with those `near` it, so that these feel the members of `system`.
    pub(super) fn longest_step(&self, i: usize, t: f64, system: &Subsystem, near: &[usize]) -> f64 {
        let Some(limits) = &self.systems.limits else {
            return f64::INFINITY;
        };
        let shape = Shape::of(system, self.systems.heaviest, limits);
        let centre = self.predicted(i, t).x;
        let is_felt = |&j: &usize| {
            let body = self.predicted(j, t);
            shape.is_felt(body.mass, norm(&sub(&body.x, &centre)) / 1.2)
        };
        match near.iter().any(is_felt) {
            true => shape.step,
            false => f64::INFINITY,
        }
    }

    /// Place and velocity of particle `i` at `t`.
    fn predicted(&self, i: usize, t: f64) -> Body {
        let (body, state) = (&self.bodies[i], &self.states[i]);
        let (x, v) = scheme::predict(&particle::point(body, state), t - state.t);
        Body { x, v, ..*body }
    }

    /// The system at address `i`, if there is one, moved from its own time to `t` with the perturbers `near`.
    ///
    /// # Errors
    ///
    /// It cannot be moved.
    pub(super) fn moved(
        &mut self,
        i: usize,
        t: f64,
        near: &[usize],
    ) -> Result<Option<Subsystem>, Error> {
        let (Some(limits), Some(mut system)) =
            (self.systems.limits, self.systems.at.get(&i).cloned())
        else {
            return Ok(None);
        };
        let began = Instant::now();
        let (body, state) = (self.bodies[i], self.states[i]);
        let of = |&j: &usize| {
            let (other, own) = (&self.bodies[j], &self.states[j]);
            let dt = state.t - own.t;
            let (x, v) = scheme::predict(&particle::point(other, own), dt);
            let mut perturber = Perturber {
                mass: other.mass,
                x: sub(&x, &body.x),
                v: sub(&v, &body.v),
                ..Perturber::default()
            };
            // A series that goes back over many of its steps is none.
            if -dt < 4.0 * own.dt {
                let mut acc = own.acc;
                add_scaled(&mut acc, dt, &own.jerk);
                perturber.acc = sub(&acc, &state.acc);
                perturber.jerk = sub(&own.jerk, &state.jerk);
            } else {
                let (x, v) = scheme::predict(&particle::point(other, own), t - own.t);
                perturber.v = sub(&v, &body.v);
                perturber.x = sub(&x, &body.x);
                add_scaled(&mut perturber.x, state.t - t, &v);
            }
            perturber
        };
        let perturbers: Vec<Perturber> = near.iter().map(of).collect();
        let moved = system.advance(t - state.t, &perturbers, &limits);
        self.systems.seconds += began.elapsed().as_secs_f64();
        match moved {
            Ok(steps) => {
                self.systems.steps += steps;
                Ok(Some(system))
            }
            Err(e) => Err(Error::System {
                index: body.index,
                t: state.t + e.t,
            }),
        }
    }

    /// Forms, joins and dissolves systems at `t`, the end of the block of `due`, each with the particles near it.
    /// Returns the addresses that are particles of their own from now on and have no force yet.
    ///
    /// # Errors
    ///
    /// The library fails, or a system cannot be moved.
    pub(super) fn regroup(
        &mut self,
        t: f64,
        due: &[usize],
        near: &[Vec<usize>],
    ) -> Result<Vec<usize>, Error> {
        let Some(limits) = self.systems.limits else {
            return Ok(Vec::new());
        };
        let groups = self.groups(t, due, near, &limits);
        let joined: Vec<usize> = groups.concat();
        let mut parted = Vec::new();
        for &i in due.iter().filter(|i| !joined.contains(i)) {
            if let Some(system) = self.systems.at.get(&i)
                && let Some(parts) = system.parts(&limits)
            {
                parted.push((i, parts));
            }
        }
        if groups.is_empty() && parted.is_empty() {
            return Ok(Vec::new());
        }
        let began = Instant::now();
        self.bring_to(t, &joined)?;
        let mut new = Vec::new();
        for group in groups {
            let stars = group.iter().flat_map(|&i| self.stars_of(i)).collect();
            group.iter().for_each(|i| self.remove(*i));
            new.push(self.settle(t, stars));
        }
        for (first, parts) in parted {
            let stars = self.stars_of(first);
            self.remove(first);
            for part in parts {
                new.push(self.settle(t, part.iter().map(|&k| stars[k]).collect()));
            }
        }
        self.systems.weigh(&self.bodies);
        self.systems.seconds += began.elapsed().as_secs_f64();
        Ok(new)
    }

    /// The particles that become one system each.
    fn groups(
        &self,
        t: f64,
        due: &[usize],
        near: &[Vec<usize>],
        limits: &Limits,
    ) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (&i, near) in due.iter().zip(near) {
            for &j in near {
                if !self.become_one(t, i, j, limits) {
                    continue;
                }
                let mut union = vec![i, j];
                groups.retain(|group| {
                    let meets = group.contains(&i) || group.contains(&j);
                    if meets {
                        union.extend(group);
                    }
                    !meets
                });
                union.sort_unstable();
                union.dedup();
                let stars = |&i: &usize| self.systems.at.get(&i).map_or(1, |s| s.bodies().len());
                if union.iter().map(stars).sum::<usize>() <= MOST {
                    groups.push(union);
                }
            }
        }
        groups
    }

    /// Whether particles `i` and `j` become members of one system at `t`.
    fn become_one(&self, t: f64, i: usize, j: usize, limits: &Limits) -> bool {
        let (a, b) = (self.predicted(i, t), self.predicted(j, t));
        let x = sub(&b.x, &a.x);
        let takes = |i: usize, x: &Vec3, mass: f64| {
            let system = self.systems.at.get(&i);
            system.map(|system| system.takes_in(x, mass, limits))
        };
        let back = x.map(|c| -c);
        match (takes(i, &x, b.mass), takes(j, &back, a.mass)) {
            (None, None) => {
                let others = (0..self.bodies.len())
                    .filter(|&k| k != i && k != j && !self.systems.is_ghost(k));
                joins(&a, &b, others.map(|k| self.predicted(k, t)), limits)
            }
            (one, other) => one == Some(true) || other == Some(true),
        }
    }

    /// Takes those of `list` that are at another time to `t`, as steps that end there.
    fn bring_to(&mut self, t: f64, list: &[usize]) -> Result<(), Error> {
        let absent: Vec<usize> = (list.iter().copied())
            .filter(|&i| self.states[i].t != t)
            .collect();
        let mut ends: Vec<End> = Vec::new();
        let settings = self.settings;
        self.forces(t, &absent, |this, i, force| {
            let (mut body, state) = (this.bodies[i], this.states[i]);
            let (acc, jerk) = (force.acc, force.jerk);
            particle::synchronise(&settings, t, &mut body, &state, acc, jerk)?;
            let system = this.moved(i, t, &force.near)?;
            ends.push((body, state, system));
            Ok(())
        })?;
        for (&i, (body, state, system)) in absent.iter().zip(ends) {
            self.schedule.remove(i, state.dt);
            self.bodies[i] = body;
            self.states[i].t = t;
            if let Some(system) = system {
                self.enter(i, system);
            }
        }
        Ok(())
    }

    /// The stars at address `i`: one, or the members of the system there.
    fn stars_of(&self, i: usize) -> Vec<Body> {
        let centre = &self.bodies[i];
        match self.systems.at.get(&i) {
            Some(system) => system.around(centre).collect(),
            None => vec![*centre],
        }
    }

    /// Forgets the system at `first`.
    fn remove(&mut self, first: usize) {
        self.systems.shapes.remove(&first);
        if let Some(system) = self.systems.at.remove(&first) {
            for i in self.systems.members(&system) {
                self.systems.of[i] = None;
            }
        }
    }

    /// Makes one particle at `t` of `stars`: a single one, or the centre of a system. Returns its address.
    fn settle(&mut self, t: f64, mut stars: Vec<Body>) -> usize {
        stars.sort_by_key(|b| self.systems.addresses[&b.index]);
        let first = self.systems.addresses[&stars[0].index];
        let state = State {
            t,
            dt: self.settings.dt_max,
            ..State::default()
        };
        self.states[first] = state;
        match &stars[..] {
            [star] => self.bodies[first] = *star,
            _ => {
                let (centre, system) = Subsystem::of(&stars);
                self.bodies[first] = centre;
                self.enter(first, system);
                self.systems.formed += 1;
            }
        }
        self.send(first);
        first
    }

    /// Notes the system whose centre is at the address `first`.
    pub(super) fn enter(&mut self, first: usize, system: Subsystem) {
        for i in self.systems.members(&system) {
            self.systems.of[i] = Some(first);
        }
        if let Some(limits) = &self.systems.limits {
            let shape = Shape::of(&system, self.systems.heaviest, limits);
            self.systems.shapes.insert(first, shape);
        }
        self.systems.at.insert(first, system);
        self.place_ghosts(first);
    }

    /// Has the massless particles of the system at `first`, if there is one, follow its centre.
    fn place_ghosts(&mut self, first: usize) {
        let Some(system) = self.systems.at.get(&first) else {
            return;
        };
        let centre = self.bodies[first];
        for (star, i) in (system.bodies().iter()).zip(self.systems.members(system)) {
            if i != first {
                let mut ghost = Body {
                    index: star.index,
                    mass: 0.0,
                    ..centre
                };
                ghost.x[0] += ASIDE;
                self.bodies[i] = ghost;
                self.states[i] = self.states[first];
            }
        }
    }

    /// Finds the first forces at `t` on the particles in `new`, and their steps, and schedules them.
    ///
    /// # Errors
    ///
    /// The library fails, or a step is too small.
    pub(super) fn begin_anew(&mut self, t: f64, new: &[usize]) -> Result<(), Error> {
        let settings = self.settings;
        self.forces(t, new, |this, i, force| {
            let (body, mut state) = (this.bodies[i], this.states[i]);
            particle::begin(&settings, &body, &mut state, force.acc, force.jerk)?;
            while !step::is_multiple(t, state.dt) {
                state.dt *= 0.5;
            }
            this.states[i] = state;
            Ok(())
        })?;
        for &i in new {
            self.place_ghosts(i);
            self.send(i);
            self.schedule.insert(i, self.states[i].dt);
        }
        Ok(())
    }

    /// All stars, from the particles as `bodies` has them and the systems `at` the same time.
    pub(super) fn stars(&self, bodies: &mut [Body], at: &BTreeMap<usize, Subsystem>) {
        for (first, system) in at {
            let centre = bodies[*first];
            let members = self.systems.members(system);
            for (i, star) in members.into_iter().zip(system.around(&centre)) {
                bodies[i] = star;
            }
        }
    }
}
