//! Regularized pairs: which two stars are one, and how that changes at the ends of blocks.
//!
//! The library holds the centre of mass of a pair at the address of its first star. The address of the other star holds
//! a ghost, a particle without mass, so that no star changes its address: the library's sums, and with them all bits, are
//! a function of the state.

use std::collections::{BTreeMap, HashMap};

use kirin_kit::Body;
use kirin_kit::few_body::pair::{Limits, Pair, Pull, pull};
use kirin_kit::snapshot::State;
use kirin_kit::vector::{add_scaled, sub};
use kirin_report::text::{exact, grouped};

use super::Integrator;
use super::forces::time_scale;
use crate::error::Error;
use crate::particle;
use crate::settings::Settings;
use crate::step;

/// A pair, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The pair.
    pub pair: Pair,
    /// Address of the second star.
    pub second: usize,
    /// Cube of the distance within which a star of mass 1 feels the two instead of their centre.
    pub reach: f64,
}

impl Held {
    /// What is at the address of the second star: a particle without mass that rests at the origin.
    fn ghost(&self, settings: &Settings) -> (Body, State) {
        let ghost = Body {
            index: self.pair.labels[1],
            ..Body::default()
        };
        let state = State {
            dt: settings.dt_max,
            ..State::default()
        };
        (ghost, state)
    }
}

/// The pairs of an integration.
#[derive(Clone, Debug, Default)]
pub struct Regularized {
    /// What makes a pair; `None` where there are none.
    pub limits: Option<Limits>,
    /// Pairs by the addresses of their centres.
    pub at: BTreeMap<usize, Held>,
    /// The address of the centre, for each star of a pair.
    pub of: Vec<Option<usize>>,
    /// Pairs that were formed so far.
    pub formed: u64,
    /// Steps of pairs so far.
    pub steps: u64,
    /// Seconds of the blocks of which every particle was a pair.
    pub seconds: f64,
    /// The pairs at the time for which the bodies were asked last.
    pub seen: Vec<Pair>,
    addresses: HashMap<i32, usize>,
    /// The greatest mass of a star.
    heaviest: f64,
}

impl Regularized {
    /// None yet, among `bodies`, that may become pairs at `factor` times the mean mass; 0 for none at all.
    pub fn among(bodies: &[Body], factor: f64) -> Self {
        let n = bodies.len();
        let mean = bodies.iter().map(|b| b.mass).sum::<f64>() / n.max(1) as f64;
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

    /// Whether address `i` holds a particle without mass: the second star of a pair.
    pub fn is_ghost(&self, i: usize) -> bool {
        self.of[i].is_some_and(|first| first != i)
    }

    /// Address of the ghost of the pair whose centre is at address `i`.
    pub fn ghost_of(&self, i: usize) -> Option<usize> {
        self.at.get(&i).map(|held| held.second)
    }

    /// The addresses of the single stars among these labels, ascending, without `own`; and whether any label other
    /// than `own` belongs to a star or a pair.
    pub fn near(&self, own: i32, labels: &[i32]) -> (Vec<usize>, bool) {
        let others = labels.iter().filter(|label| **label != own);
        let found = others.filter_map(|label| self.addresses.get(label).copied());
        let mut found: Vec<usize> = found.filter(|&i| !self.is_ghost(i)).collect();
        let is_any = !found.is_empty();
        found.retain(|&i| self.of[i].is_none());
        found.sort_unstable();
        (found, is_any)
    }

    /// The pairs by the addresses of their centres.
    pub fn pairs(&self) -> BTreeMap<usize, Pair> {
        let pair = |(first, held): (&usize, &Held)| (*first, held.pair);
        self.at.iter().map(pair).collect()
    }

    /// Puts the stars of `pairs` into `bodies`, which have their centres.
    pub fn place_stars(&self, bodies: &mut [Body], pairs: &BTreeMap<usize, Pair>) {
        for (first, pair) in pairs {
            let second = self.at[first].second;
            [bodies[*first], bodies[second]] = pair.stars(&bodies[*first]);
        }
    }

    /// Figures for people; none where there are no pairs.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        if self.limits.is_none() {
            return Vec::new();
        }
        let (formed, steps) = (grouped(self.formed), grouped(self.steps));
        let (now, seconds, energy) = (self.at.len(), self.seconds, self.energy());
        vec![
            (
                "regularized pairs",
                format!("{now} with energy {energy:.3e}, {formed} formed"),
            ),
            (
                "steps of pairs",
                format!("{steps}, {seconds:.3} s in blocks of pairs alone"),
            ),
        ]
    }

    /// Energy within the pairs, at the time for which the bodies were asked last.
    pub fn energy(&self) -> f64 {
        self.seen.iter().map(Pair::energy).fold(0.0, |a, b| a + b)
    }

    /// Lines for a snapshot of bodies: labels, semi-major axis, eccentricity and energy of each pair that is bound.
    pub fn notes(&self) -> Vec<(String, String)> {
        let bound = self.seen.iter().filter(|pair| pair.orbit().is_bound());
        let line = |pair: &Pair| {
            let ([i, j], orbit) = (pair.labels, pair.orbit());
            let numbers = exact(&[orbit.axis, orbit.eccentricity, pair.energy()]);
            ("hermite.binary".to_owned(), format!("{i} {j} {numbers}"))
        };
        bound.map(line).collect()
    }
}

/// The pair, as it goes on after a step to `state`, whose next step becomes as short as the pair needs it.
pub(super) fn planned(mut pair: Pair, state: &mut State, eta: f64) -> Pair {
    pair.plan(time_scale(&state.acc, &state.jerk));
    let longest = pair.longest_step(eta);
    if longest < state.dt {
        state.dt = step::power_of_two_below(longest.max(f64::MIN_POSITIVE));
    }
    pair
}

impl Integrator<'_> {
    /// Square of the radius of the neighbour list that particle `i` needs, or 0 if it needs none. Only a star with
    /// a short step can be close enough to another star to become a pair.
    pub(super) fn search2(&self, i: usize) -> f64 {
        match &self.regularized.limits {
            Some(limits) if self.regularized.of[i].is_none() => {
                let mass = self.bodies[i].mass + self.regularized.heaviest;
                let radius = limits.radius_of(mass);
                let state = &self.states[i];
                let is_new = state.acc == [0.0; 3];
                let is_short = state.dt.powi(2) * mass <= self.settings.eta * radius.powi(3);
                match is_new || is_short {
                    true => radius * radius,
                    false => 0.0,
                }
            }
            _ => 0.0,
        }
    }

    /// The pair whose centre is particle `i`, if it is one, at `t`, where it was found to feel these `pulls`.
    pub(super) fn pair_at(&self, i: usize, t: f64, pulls: &[Pull]) -> Option<Pair> {
        let mut pair = self.regularized.at.get(&i)?.pair;
        pair.advance(t - self.states[i].t, pulls);
        Some(pair)
    }

    /// The stars and their states: those of a pair are at the time of its centre, and have its state.
    pub fn stars(&self) -> (Vec<Body>, Vec<State>) {
        let (mut bodies, mut states) = (self.bodies.clone(), self.states.clone());
        self.regularized
            .place_stars(&mut bodies, &self.regularized.pairs());
        for (first, held) in &self.regularized.at {
            states[held.second] = states[*first];
        }
        (bodies, states)
    }

    /// Takes over the pairs of a continued run, as [`checkpoint`](crate::checkpoint) saved them: the centres, and
    /// the pairs without masses. `past` has the number of pairs formed so far, and their steps and seconds.
    ///
    /// # Errors
    ///
    /// They are not among the bodies; in words.
    pub fn resume_pairs(
        &mut self,
        pairs: &[(Body, Pair)],
        past: (u64, u64, f64),
    ) -> Result<(), Error> {
        for (centre, pair) in pairs {
            let address = |k: usize| self.regularized.addresses.get(&pair.labels[k]).copied();
            let found = (address(0), address(1));
            let is_free = |i: usize| self.regularized.of[i].is_none();
            let (first, second) = match found {
                (Some(i), Some(j)) if i < j && is_free(i) && is_free(j) => (i, j),
                _ => {
                    let [i, j] = pair.labels;
                    return Err(Error::Refused(format!(
                        "the stars {i} and {j} of a pair are not in the snapshot, or in another pair, too"
                    )));
                }
            };
            let masses = [self.bodies[first].mass, self.bodies[second].mass];
            self.schedule.remove(second, self.states[second].dt);
            self.bodies[first] = Body {
                mass: masses[0] + masses[1],
                ..*centre
            };
            self.hold(first, Pair { masses, ..*pair });
            self.place_ghost(first);
            self.send(first);
        }
        let all = &mut self.regularized;
        (all.formed, all.steps, all.seconds) = past;
        Ok(())
    }

    /// Notes the `pair` whose centre is at the address `first`.
    pub(super) fn hold(&mut self, first: usize, pair: Pair) {
        let second = self.regularized.addresses[&pair.labels[1]];
        self.regularized.of[first] = Some(first);
        self.regularized.of[second] = Some(first);
        let reach = pair.reach(1.0).powi(3);
        let held = Held {
            pair,
            second,
            reach,
        };
        self.regularized.at.insert(first, held);
        self.regularized.steps += 1;
    }

    /// Puts a particle without mass to the address of the second star of the pair at `first`.
    fn place_ghost(&mut self, first: usize) {
        if let Some(held) = self.regularized.at.get(&first) {
            let ghost = held.second;
            (self.bodies[ghost], self.states[ghost]) = held.ghost(&self.settings);
            self.send(ghost);
        }
    }

    /// Finds the pairs that the run begins with.
    pub(super) fn first_pairs(&mut self) -> Result<(), Error> {
        if self.regularized.limits.is_none() {
            return Ok(());
        }
        let all: Vec<usize> = (0..self.bodies.len()).collect();
        let near = std::mem::take(&mut self.near);
        let before: Vec<f64> = self.states.iter().map(|s| s.dt).collect();
        let new = self.regroup(self.time, &all, &near)?;
        for &i in &new {
            self.schedule.remove(i, before[i]);
            if let Some(ghost) = self.regularized.ghost_of(i) {
                self.schedule.remove(ghost, before[ghost]);
            }
        }
        self.begin_anew(self.time, &new)
    }

    /// Forms and dissolves pairs at `t`, the end of the block of `due`, each with the stars near it. Returns the
    /// addresses whose particles have no force yet.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub(super) fn regroup(
        &mut self,
        t: f64,
        due: &[usize],
        near: &[Vec<usize>],
    ) -> Result<Vec<usize>, Error> {
        let Some(limits) = self.regularized.limits else {
            return Ok(Vec::new());
        };
        let joined = self.joined(t, due, near, &limits);
        let has_parted = |i: &&usize| {
            let held = self.regularized.at.get(i);
            held.is_some_and(|held| !held.pair.stays(&limits))
        };
        let parted: Vec<usize> = due.iter().filter(has_parted).copied().collect();
        self.bring_to(t, joined.as_flattened())?;
        let mut new = Vec::new();
        for [first, second] in joined {
            let (centre, pair) = Pair::of(&self.bodies[first], &self.bodies[second]);
            self.bodies[first] = centre;
            self.regularized.formed += 1;
            self.hold(first, pair);
            self.begin_at(t, first);
            new.push(first);
        }
        for first in parted {
            let Some(held) = self.regularized.at.remove(&first) else {
                continue;
            };
            let both = [first, held.second];
            for (i, star) in both.into_iter().zip(held.pair.stars(&self.bodies[first])) {
                self.bodies[i] = star;
                self.regularized.of[i] = None;
                self.begin_at(t, i);
                new.push(i);
            }
        }
        Ok(new)
    }

    /// Sends particle `i`, which is another one from `t` on, to the library.
    fn begin_at(&mut self, t: f64, i: usize) {
        self.states[i] = State {
            t,
            dt: self.settings.dt_max,
            ..State::default()
        };
        self.place_ghost(i);
        self.send(i);
    }

    /// Addresses of the stars that become pairs at `t`: first those that are perturbed least.
    fn joined(
        &self,
        t: f64,
        due: &[usize],
        near: &[Vec<usize>],
        limits: &Limits,
    ) -> Vec<[usize; 2]> {
        let mut found: Vec<(f64, [usize; 2])> = Vec::new();
        for (&i, near) in due.iter().zip(near) {
            for &j in near {
                // Of two that are due the first one has looked.
                if j < i && self.states[j].t == t {
                    continue;
                }
                let pair = self.pair_of(t, [i.min(j), i.max(j)]);
                if pair.joins(limits) {
                    found.push((pair.perturbation(), [i.min(j), i.max(j)]));
                }
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut joined: Vec<[usize; 2]> = Vec::new();
        for (_, both) in found {
            if !joined.as_flattened().iter().any(|i| both.contains(i)) {
                joined.push(both);
            }
        }
        joined
    }

    /// Two stars as a pair at `t`, with the tide that follows from their forces.
    fn pair_of(&self, t: f64, both: [usize; 2]) -> Pair {
        let star = |i: usize| {
            let (x, v) = self.predicted(i, t);
            Body {
                x,
                v,
                ..self.bodies[i]
            }
        };
        let force = |i: usize| {
            let state = &self.states[i];
            let mut acc = state.acc;
            add_scaled(&mut acc, t - state.t, &state.jerk);
            acc
        };
        let (_, mut pair) = Pair::of(&star(both[0]), &star(both[1]));
        pair.tide = sub(&force(both[1]), &force(both[0]));
        let (own, _) = pull(pair.mass(), &pair.x, &pair.v);
        add_scaled(&mut pair.tide, 1.0, &own);
        pair
    }

    /// Takes those of `list` that are at another time to `t`, as steps that end there.
    fn bring_to(&mut self, t: f64, list: &[usize]) -> Result<(), Error> {
        let is_absent = |i: &usize| self.states[*i].t != t;
        let absent: Vec<usize> = list.iter().copied().filter(is_absent).collect();
        let mut ends: Vec<Body> = Vec::new();
        let settings = self.settings;
        self.forces(t, &absent, |this, i, force| {
            let (mut body, state) = (this.bodies[i], this.states[i]);
            particle::synchronise(&settings, t, &mut body, &state, force.acc, force.jerk)?;
            ends.push(body);
            Ok(())
        })?;
        for (&i, body) in absent.iter().zip(ends) {
            self.schedule.remove(i, self.states[i].dt);
            self.bodies[i] = body;
        }
        Ok(())
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
            particle::begin_anew(&settings, &body, &mut state, force.acc, force.jerk)?;
            if let Some(pair) = this.pair_at(i, t, &force.pulls) {
                let pair = planned(pair, &mut state, settings.eta);
                this.hold(i, pair);
            }
            while !step::is_multiple(t, state.dt) {
                state.dt *= 0.5;
            }
            particle::check_step(&settings, &body, &state)?;
            this.states[i] = state;
            Ok(())
        })?;
        for &i in new {
            self.send(i);
            self.schedule.insert(i, self.states[i].dt);
        }
        Ok(())
    }
}
