//! Forms and divides regularized systems, at the ends of blocks.
//!
//! Two stars become a pair if they are close and little perturbed ([`Pair::joins`]). A system and a star, or two
//! systems, become one on two conditions: their centres would become a pair within wider limits, and the tide of one is
//! felt within the other. They also become one if their centres are bound on a hard orbit ([`Pair::joins_for_its_orbit`]),
//! however weak their tides are. This orbit may be wider if the two perturb each other at its pericentre. Three stars become
//! one system if two of them are close but perturbed too much for a pair, and the third fulfils one of these conditions. A
//! system of more than two is divided where its two halves hardly feel each other's tide, or their centres would no longer be
//! a pair, unless they are on a hard orbit.

use std::ops::Range;

use kirin_kit::Body;
use kirin_kit::few_body::multiple::{self, Multiple};
use kirin_kit::few_body::pair::{Limits, Pair, pull};
use kirin_kit::few_body::subsystem::{Subsystem, influence, influence_at};
use kirin_kit::snapshot::State;
use kirin_kit::vector::{Vec3, add_scaled, dot, norm, sub};

use super::Integrator;
use super::forces::Place;
use super::regularized::{Held, planned};
use crate::error::Error;
use crate::particle;
use crate::sources::Sources;
use crate::step;

/// Perturbation by each other above which two parts become one system, and below which they part.
const INFLUENCE: [f64; 2] = [0.01, 0.003];

/// Perturbation of two parts by each other at the pericentre of a wide orbit. They become one within the first range, and remain
/// one within the second. Below, both follow their own orbits in long steps. Within, one of them would need short steps of the
/// cluster at each pericentre. Above, no hierarchy is stable.
const INFLUENCE_ON_ORBIT: [Range<f64>; 2] = [1.5e-4..0.03, 5e-5..0.1];

/// Perturbation of a wide orbit by others below which its two parts become one, and above which they part.
const PERTURBATION_OF_ORBIT: [f64; 2] = [0.03, 0.1];

/// How much further apart than two stars the parts of a larger system may be.
const WIDER: f64 = 4.0;

/// Factor of the distance of two predicted particles, which is not exactly that at the end of their steps.
const PREDICTED: f64 = 1.01;

/// Most kicks in a revolution of the tightest orbit where a system with a wide orbit begins, and while it lasts, in parts of the most that
/// any hierarchy may have.
const KICKS_ON_WIDE_ORBITS: [f64; 2] = [0.5, 1.0];

/// Greatest number of stars in a system.
pub(super) const MOST: usize = 8;

/// The same in a system with a wide orbit.
const MOST_ON_WIDE_ORBITS: usize = 4;

/// A perturbation, and the particles that become one. Unions are made in this order.
type Union = (f64, Vec<usize>);

impl<S: Sources> Integrator<S> {
    /// Square of the radius of the neighbour list that particle `i` needs at one of its places; 0 for none. Stars with long
    /// steps have no close neighbour, so they ask for no list. A system asks for one list only: that at its first place is so
    /// large that it has all stars near the other places, too.
    pub(super) fn search2(&self, i: usize, is_first_place: bool) -> f64 {
        let own = self.own_search2(i).max(self.wide_search2(i));
        let all = &self.regularized;
        let (Some(limits), Some(held)) = (&all.limits, all.at.get(&i)) else {
            return own;
        };
        if !is_first_place || own == 0.0 {
            return 0.0;
        }
        let own = match held.is_crowded {
            // Those further away than this from its centre would not be left in the list.
            true => {
                let mass = self.bodies[i].mass + all.heaviest.max(all.heaviest_system);
                own.sqrt().min(PREDICTED * WIDER * limits.radius_of(mass))
            }
            false => own.sqrt(),
        };
        (own + 2.0 * held.size).powi(2)
    }

    /// Square of the radius about each place of particle `i` within which it looks for others.
    fn own_search2(&self, i: usize) -> f64 {
        let all = &self.regularized;
        let Some(limits) = &all.limits else {
            return 0.0;
        };
        let of_orbits = self.search2_of_orbits(i, limits);
        match all.at.get(&i).filter(|held| held.is_crowded) {
            None => of_orbits,
            Some(Held { system, size, .. }) => {
                let felt = system.distance_of(*size, 2.0 * all.heaviest, INFLUENCE[0]);
                of_orbits.max(felt * felt)
            }
        }
    }

    /// Leaves in the list `near` of a system those that it looks for about its `places` at `t`. If it is crowded, they must also
    /// be near enough to become one with it. Returns whether any of them is near, and not only on a wide orbit about it.
    pub(super) fn leave_partners(&self, t: f64, places: &[Place], near: &mut Vec<usize>) -> bool {
        let i = places[0].i;
        let all = &self.regularized;
        let (Some(limits), Some(held), false) = (&all.limits, all.at.get(&i), near.is_empty())
        else {
            return !near.is_empty();
        };
        let centre = self.predicted(i, t).0;
        let (own2, wide2) = (self.own_search2(i), self.wide_search2(i));
        let distance2 = |x: &Vec3, y: &Vec3| {
            let dx = sub(x, y);
            dot(&dx, &dx)
        };
        let mut is_any_near = false;
        near.retain(|&j| {
            let (x, _) = self.predicted(j, t);
            let radius = limits.radius_of(self.bodies[i].mass + self.bodies[j].mass);
            let is_partner = || distance2(&x, &centre) < (PREDICTED * WIDER * radius).powi(2);
            let is_near = (!held.is_crowded || is_partner())
                && places.iter().any(|place| distance2(&x, &place.x) < own2);
            is_any_near |= is_near;
            is_near || distance2(&x, &centre) < wide2
        });
        is_any_near
    }

    /// Square of the radius within which particle `i` looks for a star on an orbit about it. Two systems, which may become one
    /// at a somewhat larger distance, do so when they come within this radius.
    fn search2_of_orbits(&self, i: usize, limits: &Limits) -> f64 {
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

    /// The same for others on wide orbits about a system. They would perturb the orbit within it, so it is one that is followed.
    fn wide_search2(&self, i: usize) -> f64 {
        let all = &self.regularized;
        let is_followed = all.at.get(&i).is_some_and(|held| held.system.is_followed());
        match &all.limits {
            Some(limits) if is_followed => self.search2_of_orbits(i, &wider(limits)),
            _ => 0.0,
        }
    }

    /// Finds the systems that the run begins with.
    pub(super) fn first_systems(&mut self) -> Result<(), Error> {
        if self.regularized.limits.is_none() {
            return Ok(());
        }
        let all: Vec<usize> = (0..self.bodies.len()).collect();
        let near = std::mem::take(&mut self.near);
        let before: Vec<f64> = self.states.iter().map(|s| s.dt).collect();
        let new = self.regroup(self.time, &all, &near)?;
        for &i in &new {
            let others = self.regularized.at.get(&i).map(|held| &held.others[..]);
            for &k in others.unwrap_or_default().iter().chain([&i]) {
                self.schedule.remove(k, before[k]);
            }
        }
        self.begin_anew(self.time, &new)
    }

    /// Forms and divides systems at `t`, the end of the block of the particles `due`. `near` lists what is near each of
    /// them. Returns the addresses whose particles have no force yet.
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
        let unions = self.unions(t, due, near, &limits);
        let is_free = |i: &&usize| !unions.iter().any(|union| union.contains(i));
        let divided = due.iter().filter(is_free);
        let divided: Vec<(usize, Vec<Vec<usize>>)> = divided
            .filter_map(|&i| Some((i, self.parts(i, &limits)?)))
            .collect();
        self.bring_to(t, &unions.concat())?;
        let mut new = Vec::new();
        for union in unions {
            let mut stars: Vec<usize> = Vec::new();
            let mut past = Vec::new();
            for i in union {
                let (addresses, system) = self.take_apart(i);
                stars.extend(addresses);
                past.extend(system);
            }
            stars.sort_unstable();
            new.push(self.form(&stars, &past));
        }
        for (first, parts) in divided {
            let (_, past) = self.take_apart(first);
            let past: Vec<Subsystem> = past.into_iter().collect();
            new.extend(parts.iter().map(|part| self.form(part, &past)));
        }
        if !new.is_empty() {
            self.readdress();
        }
        for &i in &new {
            self.begin_at(t, i);
        }
        Ok(new)
    }

    /// Puts the stars of the system at the address `first`, if it is one, to their addresses. Returns these and the system.
    fn take_apart(&mut self, first: usize) -> (Vec<usize>, Option<Subsystem>) {
        let Some(held) = self.regularized.at.remove(&first) else {
            return (vec![first], None);
        };
        self.regularized.reaches.remove(first);
        let system = held.system.osculating();
        let stars = system.stars(&self.bodies[first]);
        let addresses = [&[first], &held.others[..]].concat();
        for (&i, star) in addresses.iter().zip(stars) {
            self.bodies[i] = star;
            self.regularized.of[i] = None;
        }
        (addresses, Some(system))
    }

    /// Makes one particle of the stars at `addresses`, which are in ascending order, and returns the address of the
    /// particle: the first one. A single star stays as it is. `past` are the systems that some of the stars belonged to
    /// until now.
    fn form(&mut self, addresses: &[usize], past: &[Subsystem]) -> usize {
        let first = addresses[0];
        if addresses.len() > 1 {
            let stars: Vec<Body> = addresses.iter().map(|&i| self.bodies[i]).collect();
            let (centre, mut system) = Subsystem::of(&stars);
            past.iter().for_each(|past| system.refine(past));
            self.bodies[first] = centre;
            self.regularized.formed += 1;
            self.hold(first, system);
        }
        first
    }

    /// Sends particle `i`, which is another one from `t` on, to the library.
    fn begin_at(&mut self, t: f64, i: usize) {
        self.states[i] = State {
            t,
            dt: self.settings.dt_max,
            ..State::default()
        };
        self.place_ghosts(i);
        self.send(i);
    }

    /// Addresses of the particles that become one at `t`: first those that are perturbed least.
    fn unions(
        &self,
        t: f64,
        due: &[usize],
        near: &[Vec<usize>],
        limits: &Limits,
    ) -> Vec<Vec<usize>> {
        let mut found: Vec<Union> = Vec::new();
        for (&i, near) in due.iter().zip(near) {
            for &j in near {
                // The centre of bodies without mass would be nowhere.
                if [i, j].iter().any(|&k| self.bodies[k].mass == 0.0) {
                    continue;
                }
                found.extend(self.union(t, [i, j], near, limits));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut unions: Vec<Vec<usize>> = Vec::new();
        for (_, union) in found {
            if !unions.as_slice().concat().iter().any(|i| union.contains(i)) {
                unions.push(union);
            }
        }
        unions
    }

    /// The particles that become one with these two, of which the first has others `near`.
    fn union(&self, t: f64, [i, j]: [usize; 2], near: &[usize], limits: &Limits) -> Option<Union> {
        let both = [i.min(j), i.max(j)];
        let is_single = |i: usize| self.regularized.of[i].is_none();
        if !(is_single(i) && is_single(j)) {
            let sizes = both.map(|k| (self.bodies[k].mass, self.size(k)));
            let (_, outer) = self.wide(t, [&both[..1], &both[1..]], sizes, limits)?;
            return Some((outer.perturbation(), both.to_vec()));
        }
        if !self.centres(t, &both[..1], &both[1..]).is_close(limits) {
            return None;
        }
        let pair = self.pair_of(t, &both[..1], &both[1..]);
        if pair.joins(limits) {
            return Some((pair.perturbation(), both.to_vec()));
        }
        let third = |&k: &usize| {
            let size = (self.bodies[k].mass, self.size(k));
            let sizes = [(pair.mass(), pair.size()), size];
            let (influence, outer) = self.wide(t, [&both, &[k]], sizes, limits)?;
            Some((influence, k, outer.perturbation()))
        };
        let others = near
            .iter()
            .filter(|&&k| !both.contains(&k) && self.bodies[k].mass > 0.0);
        let nearest = others
            .filter_map(third)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let (_, k, perturbation) = nearest?;
        let mut all = vec![both[0], both[1], k];
        all.sort_unstable();
        Some((perturbation, all))
    }

    /// Whether the particles of two lists become one system: if so, the influence of the two parts on each other, and
    /// their centres as a pair, else `None`. `a` and `b` are mass and size of the parts.
    fn wide(
        &self,
        t: f64,
        [first, second]: [&[usize]; 2],
        [a, b]: [(f64, f64); 2],
        limits: &Limits,
    ) -> Option<(f64, Pair)> {
        let all = first.iter().chain(second);
        let stars: usize = all.map(|&i| self.number_of_stars(i)).sum();
        let centres = self.centres(t, first, second);
        let influence = influence(a, b, &centres);
        let is_felt = influence > INFLUENCE[0] && self.is_near(&centres, [first, second], limits);
        let joins_for_its_orbit =
            |outer: &Pair| outer.joins_for_its_orbit(&of_orbit(limits, [a, b], stars, outer, 0));
        // The tide, which decides, is found for those only that are close enough.
        let is_close = is_felt && centres.is_close(&wider(limits));
        if stars > MOST || !(is_close || joins_for_its_orbit(&centres)) {
            return None;
        }
        let outer = self.pair_of(t, first, second);
        let joins = is_felt && outer.joins(&wider(limits))
            || joins_for_its_orbit(&outer)
                && (outer.joins_for_its_orbit(limits)
                    || self.is_nested(t, &[first, second].concat()));
        joins.then_some((influence, outer))
    }

    /// Whether these particles would be a hierarchy that moves on Kepler orbits at little cost.
    fn is_nested(&self, t: f64, list: &[usize]) -> bool {
        let stars = self.stars_of(t, list);
        stars.len() > 2 && Multiple::of(&stars).1.is_nested(KICKS_ON_WIDE_ORBITS[0])
    }

    /// Whether the particles of two lists, with these centres, may become one for their influence on each other. Systems that are not
    /// crowded find others on wide orbits, too, with which they become one for their orbit only.
    fn is_near(&self, centres: &Pair, lists: [&[usize]; 2], limits: &Limits) -> bool {
        let held = |list: &[usize]| self.regularized.at.get(&list[0]);
        let mut systems = lists.into_iter().filter_map(held).peekable();
        norm(&centres.x) < limits.radius_of(centres.mass())
            || systems.peek().is_none()
            || systems.any(|held| held.is_crowded)
    }

    fn number_of_stars(&self, i: usize) -> usize {
        let held = self.regularized.at.get(&i);
        held.map_or(1, |held| held.system.masses().len())
    }

    /// Size of the system at address `i`; 0 for a star.
    fn size(&self, i: usize) -> f64 {
        let held = self.regularized.at.get(&i);
        held.map_or(0.0, |held| held.size)
    }

    /// The parts into which the system at `first` is divided, as addresses; `None` where it remains or is none.
    fn parts(&self, first: usize, limits: &Limits) -> Option<Vec<Vec<usize>>> {
        let held = self.regularized.at.get(&first)?;
        let members = [&[first], &held.others[..]].concat();
        let parts = match &held.system {
            Subsystem::Pair(pair) if pair.stays(limits) => return None,
            Subsystem::Pair(_) => vec![vec![0], vec![1]],
            Subsystem::Multiple(multiple) => divided(multiple, limits)?,
        };
        let addresses = |part: Vec<usize>| part.into_iter().map(|k| members[k]).collect();
        Some(parts.into_iter().map(addresses).collect())
    }

    /// Takes those of `list` that are at another time to `t`, as steps that end there.
    fn bring_to(&mut self, t: f64, list: &[usize]) -> Result<(), Error> {
        let is_absent = |i: &usize| self.states[*i].t != t;
        let absent: Vec<usize> = list.iter().copied().filter(is_absent).collect();
        let mut ends: Vec<(Body, Option<Subsystem>)> = Vec::new();
        let settings = self.settings;
        self.forces(t, &absent, |this, i, force| {
            let (mut body, state) = (this.bodies[i], this.states[i]);
            let system = this.system_at(i, t, &force.pulls)?;
            particle::synchronise(&settings, t, &mut body, &state, force.acc, force.jerk)?;
            ends.push((body, system));
            Ok(())
        })?;
        for (&i, (body, system)) in absent.iter().zip(ends) {
            self.schedule.remove(i, self.states[i].dt);
            self.bodies[i] = body;
            if let Some(system) = system {
                self.hold(i, system);
            }
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
        let mut begun = Ok(());
        // What others feel of a system changes when it is held: not before all have their forces, in however many calls.
        let (mut begun_at, mut held) = (Vec::new(), Vec::new());
        self.lacks_forces = !new.is_empty();
        self.forces(t, new, |this, i, force| {
            let (body, mut state) = (this.bodies[i], this.states[i]);
            let first = particle::begin_anew(&settings, &body, &mut state, force.acc, force.jerk);
            if let Err(error) = &first
                && !matches!(error, Error::StepTooSmall { .. })
            {
                return first;
            }
            if let Some(system) = this.system_at(i, t, &force.pulls)? {
                held.push((i, planned(system, &mut state, settings.eta)));
            }
            let first = first.and_then(|()| particle::check_step(&settings, &body, &state));
            // All begin, with steps that the digits of the time allow, so that what is saved then can be resumed with another limit.
            state.dt = state.dt.max(step::resolution(t.abs().max(settings.dt_max)));
            state.dt = step::largest_at(t, state.dt);
            begun_at.push((i, state));
            let allowed = first.and_then(|()| particle::check_step(&settings, &body, &state));
            begun = std::mem::replace(&mut begun, Ok(())).and(allowed);
            Ok(())
        })?;
        for (i, state) in begun_at {
            self.states[i] = state;
        }
        for (i, system) in held {
            self.hold(i, system);
        }
        for &i in new {
            self.send(i);
            self.schedule.insert(i, self.states[i].dt);
        }
        self.lacks_forces = false;
        begun
    }
}

/// Limits for the parts of larger systems.
fn wider(limits: &Limits) -> Limits {
    Limits {
        radius: WIDER * limits.radius,
        ..*limits
    }
}

/// The limits by which two parts of together `stars` stars are one system for their orbit about each other: wider ones for a wide orbit.
/// `parts` are masses and sizes. `k` is 0 for parts that may become one, and 1 for those that are.
fn of_orbit(
    limits: &Limits,
    parts: [(f64, f64); 2],
    stars: usize,
    outer: &Pair,
    k: usize,
) -> Limits {
    let greatest = influence_at(outer.orbit().pericentre(), parts[0], parts[1]);
    let is_wide = stars <= MOST_ON_WIDE_ORBITS
        && INFLUENCE_ON_ORBIT[k].contains(&greatest)
        && outer.greatest_perturbation() < PERTURBATION_OF_ORBIT[k];
    match is_wide {
        true => wider(limits),
        false => *limits,
    }
}

/// The parts into which a system is divided, as places in its list of members; `None` where it remains.
fn divided(multiple: &Multiple, limits: &Limits) -> Option<Vec<Vec<usize>>> {
    let stars = multiple.stars();
    let halves = multiple.halves();
    let half = |part: &[usize]| {
        let own: Vec<Body> = part.iter().map(|&k| stars[k]).collect();
        let (masses, tides): (Vec<f64>, Vec<_>) = part
            .iter()
            .map(|&k| (stars[k].mass, multiple.tides[k]))
            .unzip();
        let (tide, _) = multiple::mean(&masses, &tides);
        match own.len() {
            1 => (own[0], 0.0, tide),
            _ => {
                let (centre, system) = Subsystem::of(&own);
                (centre, system.size(), tide)
            }
        }
    };
    let [(a, size_a, tide_a), (b, size_b, tide_b)] = halves.each_ref().map(|part| half(part));
    let (_, mut outer) = Pair::of(&a, &b);
    outer.tide = sub(&tide_b, &tide_a);
    let sizes = [(a.mass, size_a), (b.mass, size_b)];
    let stays = influence(sizes[0], sizes[1], &outer) > INFLUENCE[1] && outer.stays(&wider(limits));
    let of_orbit = match multiple.is_nested(KICKS_ON_WIDE_ORBITS[1]) {
        true => of_orbit(limits, sizes, stars.len(), &outer, 1),
        false => *limits,
    };
    if stays || outer.stays_for_its_orbit(&of_orbit) {
        return None;
    }
    let mut parts = Vec::new();
    for (part, other) in halves.into_iter().zip([b, a]) {
        let stays = match part[..] {
            [i, j] => {
                let (_, mut pair) = Pair::of(&stars[i], &stars[j]);
                (pair.x, pair.v) = multiple.relative(i, j);
                let tide = |k: usize| {
                    let (x, v) = (sub(&other.x, &stars[k].x), sub(&other.v, &stars[k].v));
                    let mut tide = multiple.tides[k].0;
                    add_scaled(&mut tide, 1.0, &pull(other.mass, &x, &v).0);
                    tide
                };
                pair.tide = sub(&tide(j), &tide(i));
                pair.stays(limits)
            }
            _ => true,
        };
        match stays {
            true => parts.push(part),
            false => parts.extend(part.into_iter().map(|k| vec![k])),
        }
    }
    Some(parts)
}

#[cfg(test)]
#[path = "membership_tests.rs"]
mod tests;
