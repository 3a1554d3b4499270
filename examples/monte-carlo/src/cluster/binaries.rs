//! Binaries in a step: those that form, and those that meet stars or each other. Each rank does this for its own bins, at the end of a step, when radii and
//! potential are those of the new places.

use std::ops::Range;
use std::time::Instant;

use kirin_kit::communicator::Communicator;
use kirin_kit::vector::cross;

use super::{Cluster, Past};
use crate::binaries::{self, Binary, Event, Surroundings, Waiting};
use crate::encounter::{Object, Part, scatter, torn};
use crate::error::Error;
use crate::ledger::Escaper;
use crate::partition::BIN;
use crate::profile::Phase;
use crate::random::Stream;
use crate::relaxation::{Velocities, components, turned};

/// Encounters of a binary in a step at most.
const MOST_ENCOUNTERS: u64 = 50;

/// Probability below which no triple of a bin tries to form a binary.
const LEAST_PROBABILITY: f64 = 1e-12;

/// Bins on either side of one that have a part in its velocity dispersion.
const NEIGHBOURS: usize = 1;

/// A bin in which binaries have encounters.
struct Bin {
    /// Places of its stars.
    own: Range<usize>,
    /// What is around.
    around: Surroundings,
    /// Stars that cannot form a binary in this step any more.
    busy: [bool; BIN],
    /// Places that no other binary meets in this step any more.
    done: [bool; BIN],
}

/// How an encounter goes.
#[derive(Clone, Copy)]
enum Kind {
    /// The first binary is so wide that it is dissolved.
    Torn,
    /// As the few-body integrator finds; far away the relative speed is at most this.
    Scattered(f64),
}

/// An encounter: where the two stand, and what they are. The first is the wider binary.
struct Pair {
    places: [usize; 2],
    first: Binary,
    second: Object,
}

impl Pair {
    fn is_of_binaries(&self) -> bool {
        matches!(self.second, Object::Binary(_))
    }
}

/// Directions at right angles to `w`, the first of them random, and that of `w`.
fn frame(w: &[f64; 3], stream: &mut Stream) -> [[f64; 3]; 3] {
    let length = |v: &[f64; 3]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    let speed = length(w);
    let along = w.map(|c| c / speed);
    let a = turned(&along, 0.0, stream);
    let a = a.map(|c| c / length(&a));
    [a, cross(&along, &a), along]
}

impl<C: Communicator> Cluster<C> {
    /// Lets binaries form, and meet stars and each other, for the time `dt`.
    pub(super) fn advance_binaries(&mut self, dt: f64) -> Result<(), Error> {
        if !self.settings.has_binaries() {
            return Ok(());
        }
        let began = Instant::now();
        let first = self.first();
        let before = match self.past.binaries.is_empty() {
            true => None,
            false => {
                self.diagnose()?;
                Some(self.mechanical())
            }
        };
        let mut events = Vec::new();
        // Stars nearer to the black hole are bound to it, and not to each other.
        let influence = self.influence_radius();
        // Binaries that are dissolved leave stars behind the last one.
        let bins = self.stars.len() / BIN;
        for bin in 0..bins {
            let own = bin * BIN..(bin + 1) * BIN;
            let around = self.surroundings(first / BIN + bin);
            // As nearly everywhere.
            let most = binaries::formation_rate(&around, [around.heaviest; 2]);
            let is_free = self.radii[first + own.start] >= influence;
            let forms = self.settings.three_body && is_free && most * dt >= LEAST_PROBABILITY;
            let here = self.binaries_in(own.clone());
            if here.is_empty() && !forms || around.sigma == 0.0 {
                continue;
            }
            let mut bin = Bin {
                own,
                around,
                busy: [false; BIN],
                done: [false; BIN],
            };
            for &(place, _) in &here {
                bin.busy[place - bin.own.start] = true;
            }
            for (place, index) in here {
                if !bin.done[place - bin.own.start] {
                    events.extend(self.meet(&mut bin, [place, index], dt));
                }
            }
            if forms {
                events.extend(self.form(&bin.around, bin.own, &bin.busy, dt));
            }
        }
        let masses_change = self.take_over(Event::gather(&self.world, events)?)?;
        if let Some(before) = before
            && masses_change
        {
            // Encounters of one step know nothing of the masses that others have moved.
            self.diagnose()?;
            self.share(self.mechanical() - before)?;
        }
        self.profile.0[Phase::Relaxation as usize] += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// What the rates in bin `bin` of all ranks depend on.
    fn surroundings(&self, bin: usize) -> Surroundings {
        // The moments are those of the beginning of the step.
        let last = self.moments.len();
        let window = bin.saturating_sub(NEIGHBOURS).min(last)..(bin + NEIGHBOURS + 1).min(last);
        let (mut count, mut mass, mut energy, mut heaviest) = (0.0, 0.0, 0.0, 0.0_f64);
        for moments in &self.moments[window] {
            count += moments[0];
            mass += moments[1];
            energy += moments[3];
            heaviest = heaviest.max(moments[4]);
        }
        let inner = bin
            .checked_sub(1)
            .map_or(0.0, |b| self.radii[b * BIN + BIN - 1]);
        let outer = self.radii[bin * BIN + BIN - 1];
        let volume = 4.0 / 3.0 * std::f64::consts::PI * (outer.powi(3) - inner.powi(3));
        if count == 0.0 || volume <= 0.0 {
            return Surroundings::default();
        }
        // The volume up to the k-th next star has a Gamma distribution: the means of its inverse and of that square are n / (k - 1) and
        // n^2 / ((k - 1) (k - 2)).
        let stars = BIN as f64;
        Surroundings {
            density: (stars - 1.0) / volume,
            density_squared: (stars - 1.0) * (stars - 2.0) / (volume * volume),
            sigma: (energy / (3.0 * mass)).sqrt(),
            temperature: energy / (3.0 * count),
            heaviest,
        }
    }

    /// The index among all binaries of the one in a place, if there is one.
    pub(super) fn binary_in(&self, place: usize) -> Option<usize> {
        let id = self.stars.id[place];
        let binaries = &self.past.binaries;
        binaries.binary_search_by_key(&id, |b| b.ids[0]).ok()
    }

    /// The binaries in these places of this rank's stars: place, and index among all binaries.
    fn binaries_in(&self, own: Range<usize>) -> Vec<(usize, usize)> {
        if self.past.binaries.is_empty() {
            return Vec::new();
        }
        own.filter_map(|place| Some((place, self.binary_in(place)?)))
            .collect()
    }

    /// The encounters of the binary with this place and index in its bin, until it meets another binary, exchanges a star or is dissolved.
    fn meet(&mut self, bin: &mut Bin, [place, index]: [usize; 2], dt: f64) -> Option<Event> {
        let before = self.past.binaries[index];
        let mut binary = before;
        let mut event = Event {
            before: vec![before.ids[0]],
            ..Event::default()
        };
        let partners = self.partners(bin, place, &before);
        // Those that are left out are not among the stars that it can meet.
        let density = bin.around.density * partners.len() as f64 / (BIN - 1) as f64;
        let mut waiting = Waiting::of(dt, &bin.around, density, &before);
        let mut close = self.close_partner(&partners, place, &before);
        while event.encounters < MOST_ENCOUNTERS {
            let stream = &mut self.streams[bin.own.start / BIN];
            let number = (stream.uniform() * partners.len() as f64) as usize;
            let is_close = close.is_some();
            let Some(partner) = close.take().or_else(|| partners.get(number).copied()) else {
                break;
            };
            let (vr, vt) = (&self.stars.vr, &self.stars.vt);
            let [vr, vt] = [vr, vt].map(|v| [v[place], v[partner]]);
            let velocities = Velocities::of(vr, vt, stream);
            let pair = Pair {
                places: [place, partner],
                first: binary,
                second: self.object_in(partner),
            };
            let w2: f64 = velocities.relative().iter().map(|c| c * c).sum();
            let is_torn = binaries::is_torn(&bin.around, &binary);
            if !is_close && !is_torn {
                let rate = binaries::encounter_rate(density, &binary, &pair.second, w2.sqrt());
                let stream = &mut self.streams[bin.own.start / BIN];
                if !waiting.is_within(-stream.uniform().max(1e-300).ln() / rate) {
                    if !waiting.goes_on() {
                        break;
                    }
                    continue;
                }
            }
            // What is faster than the stars around has its speed by the attraction of the two.
            let kind = match (is_torn, is_close) {
                (true, _) => Kind::Torn,
                (_, true) => Kind::Scattered(bin.around.sigma),
                _ => Kind::Scattered(f64::INFINITY),
            };
            event.encounters += 1;
            let Some(after) = self.encounter(&pair, &velocities, kind) else {
                continue;
            };
            bin.busy[partner - bin.own.start] = true;
            match after[..] {
                [one] if one.ids == binary.ids && !pair.is_of_binaries() => binary = one,
                // The list of binaries does not know this yet.
                _ => {
                    bin.done[partner - bin.own.start] = true;
                    if let Object::Binary(other) = pair.second {
                        event.before.push(other.ids[0]);
                    }
                    event.after = after;
                    bin.done[place - bin.own.start] = true;
                    return Some(event);
                }
            }
        }
        bin.done[place - bin.own.start] = event.encounters > 0;
        event.after = vec![binary];
        (event.encounters > 0).then_some(event)
    }

    /// What stands in a place.
    fn object_in(&self, place: usize) -> Object {
        match self.binary_in(place) {
            Some(index) => Object::Binary(self.past.binaries[index]),
            None => Object::Star {
                id: self.stars.id[place],
                mass: self.stars.m[place],
            },
        }
    }

    /// The places of what the binary in a place can meet: single stars of a bin, and binaries that are tighter and have met nothing yet.
    fn partners(&self, bin: &Bin, place: usize, binary: &Binary) -> Vec<usize> {
        let meets = |k: &usize| {
            let done = bin.done[*k - bin.own.start];
            *k != place
                && !done
                && self
                    .binary_in(*k)
                    .is_none_or(|other| self.past.binaries[other].is_tighter(binary))
        };
        bin.own.clone().filter(meets).collect()
    }

    /// The first star or binary that is so close to the binary at `place` that the two meet for certain, not at a rate
    /// by the bin's density. Both are nearer to the centre than the largest pericentre of an encounter. The mean
    /// density of the bin says nothing about the distance between two such innermost objects.
    fn close_partner(&self, partners: &[usize], place: usize, binary: &Binary) -> Option<usize> {
        let r = &self.stars.r;
        let is_close = |k: &&usize| {
            let reach = binaries::reach(binary, &self.object_in(**k));
            r[place] < reach && r[**k] < reach
        };
        let is_near = r[place] < 2.0 * binaries::REACH * binary.axis;
        partners.iter().filter(|_| is_near).find(is_close).copied()
    }

    /// An encounter with these velocities. The binaries afterwards; `None` where nothing has changed.
    fn encounter(
        &mut self,
        pair: &Pair,
        velocities: &Velocities,
        kind: Kind,
    ) -> Option<Vec<Binary>> {
        let Pair {
            places,
            first,
            second,
        } = pair;
        let stream = &mut self.streams[places[0] / BIN];
        let w = velocities.relative();
        let speed = w.iter().map(|c| c * c).sum::<f64>().sqrt();
        let parts = match kind {
            Kind::Torn => torn(first, second),
            Kind::Scattered(fastest) => {
                let far_away = speed.min(fastest);
                let area = binaries::largest_impact_squared(first, second, far_away);
                let impact = (area * stream.uniform()).sqrt();
                scatter(first, second, impact, far_away, stream)?
            }
        };
        let objects: Vec<Object> = parts.iter().map(|part| part.object).collect();
        let standing = self.standing(*places, &objects);
        let (m1, m2) = (first.mass(), second.mass());
        let binding = |objects: &[Object]| objects.iter().map(Object::binding).sum::<f64>();
        let set_free = binding(&objects) - first.binding() - second.binding();
        let lifted = self.lifting(*places, &objects, &standing);
        let energy = 0.5 * m1 * m2 / (m1 + m2) * speed * speed + set_free - lifted;
        let square = |v: &[f64; 3]| v.iter().map(|c| c * c).sum::<f64>();
        let kinetic: f64 = parts
            .iter()
            .map(|part| 0.5 * part.object.mass() * square(&part.velocity))
            .sum();
        let sensible = |object: &Object| match object {
            Object::Star { .. } => true,
            Object::Binary(binary) => binary.is_sensible(),
        };
        if !(energy > 0.0 && kinetic > 0.0 && objects.iter().all(sensible)) {
            return None;
        }
        let scale = (energy / kinetic).sqrt();
        let frame = frame(&w, &mut self.streams[places[0] / BIN]);
        let [v1, v2] = &velocities.0;
        let total = m1 + m2;
        let velocity = |part: &Part| -> [f64; 3] {
            std::array::from_fn(|c| {
                let along: f64 = (0..3).map(|k| part.velocity[k] * frame[k][c]).sum();
                (m1 * v1[c] + m2 * v2[c]) / total + scale * along
            })
        };
        let velocities: Vec<[f64; 3]> = parts.iter().map(velocity).collect();
        let radii = places.map(|place| self.stars.r[place]);
        let mut taken = [false; 2];
        for ((object, velocity), side) in objects.iter().zip(&velocities).zip(standing) {
            let (id, mass) = (object.id(), object.mass());
            if std::mem::replace(&mut taken[side], true) {
                let (vr, vt) = components(velocity);
                self.stars.push(id, mass, radii[side], [vr, vt]);
            } else {
                self.set(places[side], id, mass, velocity);
            }
        }
        let binary = |object: &Object| match object {
            Object::Star { .. } => None,
            Object::Binary(binary) => Some(*binary),
        };
        Some(objects.iter().filter_map(binary).collect())
    }

    pub(super) fn set(&mut self, place: usize, id: u64, mass: f64, velocity: &[f64; 3]) {
        self.stars.id[place] = id;
        self.stars.m[place] = mass;
        (self.stars.vr[place], self.stars.vt[place]) = components(velocity);
    }

    /// Where each of the `objects` stands after an encounter in two places: such that as little mass as possible moves, and none of the places is empty.
    /// If two ways move the same mass, the label that is in the first place stays there. So after a fly-by the binary is where it was, also beside a star
    /// of its mass.
    fn standing(&self, places: [usize; 2], objects: &[Object]) -> Vec<usize> {
        let before = self.stars.m[places[0]];
        let moved = |bits: &usize| {
            let stays = |(k, object): (usize, &Object)| match bits >> k & 1 {
                0 => object.mass(),
                _ => 0.0,
            };
            (objects.iter().enumerate().map(stays).sum::<f64>() - before).abs()
        };
        let label = self.stars.id[places[0]];
        let own = objects.iter().position(|object| object.id() == label);
        let leaves = |bits: &usize| own.is_some_and(|k| bits >> k & 1 == 1);
        let ways = 1..(1_usize << objects.len()) - 1;
        let order = |a: &usize, b: &usize| {
            let by_mass = moved(a).total_cmp(&moved(b));
            by_mass.then(leaves(a).cmp(&leaves(b)))
        };
        let best = ways.min_by(order);
        let bits = best.unwrap_or(2);
        (0..objects.len()).map(|k| bits >> k & 1).collect()
    }

    /// Potential energy that the cluster gains when these `objects` stand in two places of this rank instead of what is there, each on the given side.
    fn lifting(&self, places: [usize; 2], objects: &[Object], standing: &[usize]) -> f64 {
        let nodes = places.map(|place| self.potential.nodes[self.first() + place + 1]);
        let m = places.map(|place| self.stars.m[place]);
        let between = |a: usize, b: usize| nodes[a].u.min(nodes[b].u);
        // Of all others.
        let phi = [0, 1].map(|side: usize| {
            let other = 1 - side;
            nodes[side].phi + m[side] * nodes[side].u + m[other] * between(side, other)
        });
        let mut more = m[0] * m[1] * between(0, 1);
        let mut masses = [-m[0], -m[1]];
        for (k, (object, &side)) in objects.iter().zip(standing).enumerate() {
            masses[side] += object.mass();
            let earlier = objects[..k].iter().zip(standing);
            let pairs = earlier.map(|(other, &there)| other.mass() * between(side, there));
            more -= object.mass() * pairs.sum::<f64>();
        }
        more + masses[0] * phi[0] + masses[1] * phi[1]
    }

    /// Notes the events of all ranks. The number of stars changes if binaries form or are dissolved, and masses change
    /// by exchanges. Returns whether number or masses have changed.
    fn take_over(&mut self, events: Vec<Event>) -> Result<bool, Error> {
        if events.is_empty() {
            return Ok(false);
        }
        let (mut is_counted_anew, mut masses_change) = (false, false);
        let Past {
            ledger, binaries, ..
        } = &mut self.past;
        let place = |binaries: &[Binary], id: u64| {
            let found = binaries.binary_search_by_key(&id, |b| b.ids[0]);
            found.expect("a binary that all ranks know")
        };
        for event in &events {
            ledger.encounters += event.encounters;
            let gone: Vec<Binary> = event
                .before
                .iter()
                .map(|id| binaries.remove(place(binaries, *id)))
                .collect();
            let (before, after) = (gone.len() as u64, event.after.len() as u64);
            ledger.formed += after.saturating_sub(before);
            ledger.dissolved += before.saturating_sub(after);
            is_counted_anew |= before != after;
            masses_change |= before > 1
                || gone
                    .iter()
                    .zip(&event.after)
                    .any(|(a, b)| a.mass() != b.mass());
        }
        binaries.extend(events.into_iter().flat_map(|event| event.after));
        binaries.sort_by_key(|b| b.ids[0]);
        if is_counted_anew {
            self.sort()?;
        }
        if is_counted_anew || masses_change {
            self.synchronise()?;
            self.update_potential();
        }
        Ok(is_counted_anew || masses_change)
    }

    /// Takes out the binaries that are among the stars that have left.
    pub(super) fn forget_binaries(&mut self, escaped: &[Escaper]) {
        for escaper in escaped {
            let binaries = &mut self.past.binaries;
            if let Ok(index) = binaries.binary_search_by_key(&escaper.id(), |b| b.ids[0]) {
                let binary = binaries.remove(index);
                self.past.ledger.binaries_escaped += 1;
                self.past.ledger.binding_escaped += binary.binding();
            }
        }
    }
}
