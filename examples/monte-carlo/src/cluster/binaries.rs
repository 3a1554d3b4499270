//! Binaries in a step: those that form, and those that meet single stars. Each rank does this for its own bins, at the end of a step, when radii and
//! potential are those of the new places.

use std::ops::Range;
use std::time::Instant;

use kirin_kit::communicator::Communicator;

use super::Cluster;
use crate::binaries::{self, Binary, Event, Surroundings};
use crate::encounter::scatter;
use crate::error::Error;
use crate::ledger::Escaper;
use crate::partition::BIN;
use crate::profile::Phase;
use crate::random::Stream;
use crate::relaxation::{Velocities, components, turned};
use crate::stars::Stars;

/// Encounters of a binary in a step at most.
const MOST_ENCOUNTERS: u64 = 50;

/// Probability below which no triple of a bin tries to form a binary.
const LEAST_PROBABILITY: f64 = 1e-12;

/// Bins on either side of one that have a part in its velocity dispersion.
const NEIGHBOURS: usize = 1;

/// Place of a star that a binary meets, and whether it is a binary, too.
type Partner = (usize, bool);

impl<C: Communicator> Cluster<C> {
    /// Lets binaries form and meet single stars for the time `dt`.
    pub(super) fn advance_binaries(&mut self, dt: f64) -> Result<(), Error> {
        if !self.settings.binaries {
            return Ok(());
        }
        let began = Instant::now();
        let first = self.first();
        let mut events = Vec::new();
        for bin in 0..self.stars.len() / BIN {
            let own = bin * BIN..(bin + 1) * BIN;
            let around = self.surroundings(first / BIN + bin);
            // As nearly everywhere.
            let most = binaries::formation_rate(&around, [around.heaviest; 2]);
            let is_sparse = most * dt < LEAST_PROBABILITY;
            let here = self.binaries_in(own.clone());
            if here.is_empty() && is_sparse || around.sigma == 0.0 {
                continue;
            }
            let mut busy = [false; BIN];
            for &(place, _) in &here {
                busy[place - own.start] = true;
            }
            for (place, index) in here {
                events.extend(self.meet(&around, own.clone(), [place, index], &mut busy, dt));
            }
            events.extend(self.form(&around, own, &busy, dt));
        }
        self.take_over(Event::gather(&self.world, events)?)?;
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

    /// The binaries in these places of this rank's stars: place, and index among all binaries.
    fn binaries_in(&self, own: Range<usize>) -> Vec<(usize, usize)> {
        if self.past.binaries.is_empty() {
            return Vec::new();
        }
        let index = |id: u64| self.past.binaries.binary_search_by_key(&id, |b| b.ids[0]);
        own.filter_map(|place| Some((place, index(self.stars.id[place]).ok()?)))
            .collect()
    }

    /// The encounters of the binary with this place and index with stars of its bin. A harder binary counts as a single star.
    fn meet(
        &mut self,
        around: &Surroundings,
        own: Range<usize>,
        [place, index]: [usize; 2],
        busy: &mut [bool; BIN],
        dt: f64,
    ) -> Option<Event> {
        let before = self.past.binaries[index];
        let (mut binary, mut encounters, mut left) = (before, 0, dt);
        let partners = self.partners(own.clone(), place, &before);
        let mut close = self.close_partner(around, &partners, place, &before);
        for _ in 0..MOST_ENCOUNTERS {
            let stream = &mut self.streams[own.start / BIN];
            let number = (stream.uniform() * partners.len() as f64) as usize;
            let is_close = close.is_some();
            let Some(partner) = close.take().or_else(|| partners.get(number).copied()) else {
                break;
            };
            let (vr, vt) = (&self.stars.vr, &self.stars.vt);
            let [vr, vt] = [vr, vt].map(|v| [v[place], v[partner.0]]);
            let velocities = Velocities::of(vr, vt, stream);
            let w2: f64 = velocities.relative().iter().map(|c| c * c).sum();
            let m3 = self.stars.m[partner.0];
            let rate = binaries::encounter_rate(around, &binary, m3, w2.sqrt());
            if !is_close {
                // Time until the next encounter.
                left -= -stream.uniform().max(1e-300).ln() / rate;
            }
            if left.is_nan() || left <= 0.0 {
                break;
            }
            // What is faster than the stars around has its speed by the attraction of the two.
            let fastest = if is_close {
                around.sigma
            } else {
                f64::INFINITY
            };
            let after = self.encounter(around, &binary, place, partner, &velocities, fastest);
            if let Some(after) = after {
                busy[partner.0 - own.start] = true;
                binary = after;
            }
            encounters += 1;
        }
        (encounters > 0).then_some(Event {
            before: Some(before.ids[0]),
            encounters,
            after: binary,
        })
    }

    /// The stars that the binary in a place can meet: single stars, and binaries that are harder, of a bin.
    fn partners(&self, own: Range<usize>, place: usize, binary: &Binary) -> Vec<Partner> {
        let find = |id: u64| self.past.binaries.binary_search_by_key(&id, |b| b.ids[0]);
        own.filter(|k| *k != place)
            .filter_map(|k| match find(self.stars.id[k]) {
                Err(_) => Some((k, false)),
                Ok(other) => {
                    let is_harder = self.past.binaries[other].binding() > binary.binding();
                    is_harder.then_some((k, true))
                }
            })
            .collect()
    }

    /// The first star so close to the centre that the binary at `place` meets it in this step in any case; the
    /// binary must be as close to the centre. (The density of a bin says nothing about its innermost two stars.)
    /// Two binaries also meet if they are so close that they would be a hard pair.
    fn close_partner(
        &self,
        around: &Surroundings,
        partners: &[Partner],
        place: usize,
        binary: &Binary,
    ) -> Option<Partner> {
        let Stars { m, r, .. } = &self.stars;
        let is_close = |&&(k, is_binary): &&Partner| {
            let hard = binaries::hard_axis(around, [m[place], m[k]]);
            let reach = binaries::REACH * binary.axis;
            let limit = if is_binary { reach.max(hard) } else { reach };
            r[place] < limit && r[k] < limit
        };
        partners.iter().find(is_close).copied()
    }

    /// Follows an encounter of `binary`, at `place`, with a star or another binary. Their relative speed at
    /// infinity is at most `fastest`. Returns the binary afterwards, or `None` if nothing changed or the binary
    /// would not survive.
    fn encounter(
        &mut self,
        around: &Surroundings,
        binary: &Binary,
        place: usize,
        (single, is_binary): Partner,
        velocities: &Velocities,
        fastest: f64,
    ) -> Option<Binary> {
        let stream = &mut self.streams[place / BIN];
        let (mass, m3) = (binary.mass(), self.stars.m[single]);
        let w = velocities.relative();
        let speed = w.iter().map(|c| c * c).sum::<f64>().sqrt();
        let far_away = speed.min(fastest);
        let area = binaries::largest_impact_squared(binary, m3, far_away);
        let impact = (area * stream.uniform()).sqrt();
        let [m1, m2] = binary.masses;
        let unit = (mass / binary.axis).sqrt();
        let outcome = scatter(
            [m1 / mass, m2 / mass, m3 / mass],
            binary.eccentricity,
            impact / binary.axis,
            far_away / unit,
            stream,
        )?;
        let ids = [binary.ids[0], binary.ids[1], self.stars.id[single]];
        let masses = [m1, m2, m3];
        let [a, b] = outcome.members;
        let mut after = Binary {
            ids: [ids[a], ids[b]],
            masses: [masses[a], masses[b]],
            axis: outcome.axis * binary.axis,
            eccentricity: outcome.eccentricity,
        };
        let mut alone = 3 - a - b;
        if is_binary {
            // The energies are those of the encounter, but no stars are exchanged.
            let axis = m1 * m2 / (2.0 * after.binding());
            (after, alone) = (Binary { axis, ..*binary }, 2);
        }
        // The stars stay at their radii with other masses.
        let lifted = self.lifting([place, single], after.mass() - mass);
        let reduced = |pair: f64, third: f64| pair * third / (pair + third);
        let energy =
            0.5 * reduced(mass, m3) * speed * speed + after.binding() - binary.binding() - lifted;
        let faster = 2.0 * energy / reduced(after.mass(), masses[alone]);
        if !(faster > 0.0 && after.is_sensible()) || binaries::is_lost(around, binary, &after) {
            return None;
        }
        let direction = turned(&w, outcome.cos, &mut self.streams[place / BIN]);
        let scale = faster.sqrt() / speed;
        let total = mass + m3;
        let [v, v3] = &velocities.0;
        let centre: [f64; 3] = std::array::from_fn(|c| (mass * v[c] + m3 * v3[c]) / total);
        let part = |share: f64| std::array::from_fn(|c| centre[c] + share * scale * direction[c]);
        self.set(
            place,
            after.ids[0],
            after.mass(),
            &part(-masses[alone] / total),
        );
        self.set(
            single,
            ids[alone],
            masses[alone],
            &part(after.mass() / total),
        );
        Some(after)
    }

    fn set(&mut self, place: usize, id: u64, mass: f64, velocity: &[f64; 3]) {
        self.stars.id[place] = id;
        self.stars.m[place] = mass;
        (self.stars.vr[place], self.stars.vt[place]) = components(velocity);
    }

    /// Potential energy that the cluster gains when the mass `more` goes from the second of two stars of this rank to the first.
    fn lifting(&self, [to, from]: [usize; 2], more: f64) -> f64 {
        if more == 0.0 {
            return 0.0;
        }
        let nodes = [to, from].map(|place| self.potential.nodes[self.first() + place + 1]);
        let [a, b] = nodes;
        let own = [self.stars.m[to], self.stars.m[from]];
        let (phi_to, phi_from) = (a.phi + own[0] * a.u, b.phi + own[1] * b.u);
        more * (phi_to - phi_from) + more * more * a.u.min(b.u)
    }

    /// Lets triples of single stars of a bin form binaries.
    fn form(
        &mut self,
        around: &Surroundings,
        own: Range<usize>,
        busy: &[bool; BIN],
        dt: f64,
    ) -> Vec<Event> {
        let singles: Vec<usize> = own.clone().filter(|k| !busy[k - own.start]).collect();
        let mut events = Vec::new();
        // Each star is in a triple, but for one or two.
        let whole = singles.len() as f64 / (singles.len() / 3).max(1) as f64;
        for triple in singles.as_chunks::<3>().0 {
            let mut triple = *triple;
            triple.sort_by(|a, b| self.stars.m[*b].total_cmp(&self.stars.m[*a]));
            let [m1, m2, _] = triple.map(|k| self.stars.m[k]);
            let rate = whole * binaries::formation_rate(around, [m1, m2]);
            let stream = &mut self.streams[own.start / BIN];
            if stream.uniform() < rate * dt {
                events.extend(self.join(around, triple, own.start / BIN));
            }
        }
        events
    }

    /// The first two of three stars become a binary in the place of the outer one. The third star gets its part of the energy that this sets free.
    fn join(
        &mut self,
        around: &Surroundings,
        [a, b, third]: [usize; 3],
        stream_at: usize,
    ) -> Option<Event> {
        let (leaves, stays) = (a.min(b), a.max(b));
        let stream: &mut Stream = &mut self.streams[stream_at];
        let of = |column: &[f64]| [leaves, stays, third].map(|k| column[k]);
        let (m, vr, vt) = (of(&self.stars.m), of(&self.stars.vr), of(&self.stars.vt));
        let v: [[f64; 3]; 3] = std::array::from_fn(|k| {
            let (cos, sin) = stream.angle();
            [vt[k] * cos, vt[k] * sin, vr[k]]
        });
        let ids = [self.stars.id[stays], self.stars.id[leaves]];
        let binary = binaries::form(around, ids, [m[1], m[0]], stream);
        let cos = 2.0 * stream.uniform() - 1.0;
        let (x, y) = stream.angle();
        let total: f64 = m.iter().sum();
        let centre: [f64; 3] =
            std::array::from_fn(|c| (0..3).map(|k| m[k] * v[k][c]).sum::<f64>() / total);
        let kinetic =
            |k: usize| 0.5 * m[k] * (0..3).map(|c| (v[k][c] - centre[c]).powi(2)).sum::<f64>();
        let node = |place: usize| self.potential.nodes[self.first() + place + 1];
        let (inner, outer) = (node(leaves), node(stays));
        // The pair's own energy in the potential of shells becomes that of the binary.
        let rises = m[0] * (outer.phi + m[0] * outer.u - inner.phi - m[0] * inner.u)
            + m[0] * m[1] * outer.u;
        let energy = (0..3).map(kinetic).sum::<f64>() + binary.binding() - rises;
        let reduced = binary.mass() * m[2] / total;
        if !(energy > 0.0 && binary.is_sensible()) {
            return None;
        }
        let speed = (2.0 * energy / reduced).sqrt();
        let sin = (1.0 - cos * cos).sqrt();
        let along = [sin * x, sin * y, cos];
        let part = |share: f64| std::array::from_fn(|c| centre[c] + share * speed * along[c]);
        self.set(stays, binary.ids[0], binary.mass(), &part(-m[2] / total));
        self.set(
            third,
            self.stars.id[third],
            m[2],
            &part(binary.mass() / total),
        );
        self.stars.m[leaves] = 0.0;
        self.stars.r[leaves] = f64::INFINITY;
        Some(Event {
            before: None,
            encounters: 0,
            after: binary,
        })
    }

    /// Notes the events of all ranks. A new binary is a star less, and exchanges change masses.
    fn take_over(&mut self, events: Vec<Event>) -> Result<(), Error> {
        if events.is_empty() {
            return Ok(());
        }
        let (mut stars_leave, mut masses_change) = (false, false);
        let ledger = &mut self.past.ledger;
        for event in events {
            ledger.encounters += event.encounters;
            if let Some(before) = event.before {
                let binaries = &mut self.past.binaries;
                let found = binaries.iter_mut().find(|b| b.ids[0] == before);
                let found = found.expect("a binary that all ranks know");
                masses_change |= found.mass() != event.after.mass();
                *found = event.after;
            } else {
                ledger.formed += 1;
                self.past.binaries.push(event.after);
                stars_leave = true;
            }
        }
        self.past.binaries.sort_by_key(|b| b.ids[0]);
        if stars_leave {
            self.sort()?;
        }
        if stars_leave || masses_change {
            self.synchronise()?;
            self.update_potential();
        }
        Ok(())
    }

    /// Takes out the binaries that are among the stars that have escaped.
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

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use kirin_kit::command::Start;
    use kirin_kit::communicator::{Counted, threads};

    use super::*;
    use crate::model;
    use crate::random::streams;
    use crate::settings::Settings;

    /// The rate per volume is 0.75 G^5 m^5 n^3 / sigma^9 (Goodman and Hut); the test sums it over a Plummer sphere.
    /// There sigma^2 = 1 / (6 (r^2 + b^2)^(1/2)), and with x = r / b the integrand is x^2 (1 + x^2)^(-21/4).
    #[test]
    fn binaries_form_at_the_rate_of_goodman_and_hut() {
        let (n, dt, seeds) = (1000_u32, 2e5, 24_u64);
        let b = 3.0 * PI / 16.0;
        let central = 3.0 / (4.0 * PI * b * b * b);
        let sigma = (1.0 / (6.0 * b)).sqrt();
        let shape: f64 = (0..4000)
            .map(|k| (f64::from(k) + 0.5) / 1000.0)
            .map(|x| 4.0 * PI * x * x * (1.0 + x * x).powf(-5.25) / 1000.0)
            .sum();
        // n^3 m^5 = rho^3 m^2.
        let mass = 1.0 / f64::from(n);
        let rate = 0.75 * central.powi(3) * mass * mass / sigma.powi(9) * shape * b.powi(3);
        let mut formed = 0;
        for seed in 1..=seeds {
            let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
            let start = Start {
                n: Some(n.into()),
                seed: Some(seed),
                ..Start::default()
            };
            let settings = Settings {
                binaries: true,
                ..Settings::default()
            };
            let stars = model::draw(&world, &start).unwrap();
            let all = streams(seed, n as usize / BIN);
            let mut cluster =
                Cluster::new(Counted::new(world), settings, stars, &all, None).unwrap();
            cluster.to_standard_units().unwrap();
            cluster.time_step().unwrap();
            cluster.advance_binaries(dt).unwrap();
            formed += cluster.past.ledger.formed;
            cluster.diagnose().unwrap();
            assert!(cluster.energy_error() < 1e-3, "{}", cluster.energy_error());
        }
        let expected = rate * dt * seeds as f64;
        let ratio = formed as f64 / expected;
        println!("{formed} binaries, {expected:.1} expected");
        assert!((ratio - 1.0).abs() < 0.25, "{ratio}");
    }
}
