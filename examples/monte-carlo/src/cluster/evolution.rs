//! Stellar evolution in a step. All ranks know the labels of all remnants, and evolve all binaries.

use std::time::Instant;

use kirin_kit::communicator::{Communicator, sample_sort};

use super::{Cluster, Past};
use crate::error::Error;
use crate::evolution::{Evolution, Tracks};
use crate::partition::BIN;
use crate::profile::Phase;

/// Part of the cluster's mass that it loses in a step at most, but for single stars.
const LARGEST_LOSS: f64 = 2e-3;
/// Halvings of a step in which more is lost. Stars of one mass end together, in a step that is a millionth of the usual one.
const MOST_HALVINGS: u32 = 20;
/// Words of a star that ends: label and the remnant's mass.
const WORDS: usize = 2;

impl<C: Communicator> Cluster<C> {
    /// The step, halved until it ends before the stars have lost too much.
    pub(super) fn evolution_step(&mut self, step: f64) -> Result<f64, Error> {
        let Some((evolution, tracks)) = self.evolution() else {
            return Ok(step);
        };
        let (mass, mut step) = (self.potential.mass(), step);
        for _ in 0..MOST_HALVINGS {
            let turn_off = evolution.turn_off(&tracks, self.past.time + step);
            let losses = |place: usize| self.loss(&evolution, &tracks, place, turn_off);
            let bins = self.streams.len();
            let places = |bin: usize| bin * BIN..((bin + 1) * BIN).min(self.stars.len());
            let lost: Vec<f64> = (0..bins).map(|bin| places(bin).map(losses).sum()).collect();
            let ends = |bin: usize| places(bin).filter(|place| losses(*place) > 0.0).count();
            let ended: Vec<f64> = (0..bins).map(|bin| ends(bin) as f64).collect();
            self.told = lost;
            let lost = self.total_told()?;
            self.told = ended;
            if lost <= LARGEST_LOSS * mass || self.total_told()? <= 1.0 {
                break;
            }
            step *= 0.5;
        }
        Ok(step)
    }

    /// Lets the stars end that do so before the time `t`.
    pub(super) fn evolve(&mut self, t: f64) -> Result<(), Error> {
        let Some((evolution, tracks)) = self.evolution() else {
            return Ok(());
        };
        let began = Instant::now();
        let turn_off = evolution.turn_off(&tracks, t);
        let mut words = Vec::new();
        for place in 0..self.stars.len() {
            let loss = self.loss(&evolution, &tracks, place, turn_off);
            if loss > 0.0 && self.binary_in(place).is_none() {
                let (id, mass) = (self.stars.id[place], self.stars.m[place]);
                words.extend([id, (mass - loss).to_bits()]);
            }
        }
        let ended = self.all_words(words)?;
        let is_ending = |id: u64, m: f64| m > turn_off && self.is_alive(id);
        let in_binaries = self.past.binaries.iter().any(|binary| {
            let stars = binary.ids.into_iter().zip(binary.masses);
            stars.into_iter().any(|(id, m)| is_ending(id, m))
        });
        if ended.is_empty() && !in_binaries {
            return Ok(());
        }
        self.diagnose()?;
        let (energy, mass) = (self.mechanical(), self.potential.mass());
        let mut ended: Vec<(u64, f64)> = ended
            .chunks_exact(WORDS)
            .map(|words| (words[0], f64::from_bits(words[1])))
            .collect();
        ended.sort_by_key(|(id, _)| *id);
        let mut remnants: Vec<u64> = ended.iter().map(|(id, _)| *id).collect();
        remnants.extend(self.evolve_binaries(&evolution, &tracks, turn_off));
        for place in 0..self.stars.len() {
            let id = self.stars.id[place];
            if let Some(index) = self.binary_in(place) {
                self.stars.m[place] = self.past.binaries[index].mass();
            } else if let Ok(index) = ended.binary_search_by_key(&id, |(id, _)| *id) {
                self.stars.m[place] = ended[index].1;
            }
        }
        self.past.remnants.extend(remnants);
        self.past.remnants.sort_unstable();
        self.synchronise()?;
        self.update_potential();
        self.diagnose()?;
        self.past.ledger.evolved += energy - self.mechanical();
        self.past.ledger.evolved_mass += mass - self.potential.mass();
        self.profile.0[Phase::Relaxation as usize] += began.elapsed().as_secs_f64();
        Ok(())
    }

    fn evolution(&self) -> Option<(Evolution, Tracks)> {
        let evolution = self.settings.evolution?;
        Some((evolution, Tracks::new(evolution.metallicity)))
    }

    /// Energy of stars and binaries.
    pub(super) fn mechanical(&self) -> f64 {
        self.now.kinetic + self.now.potential - self.released()
    }

    fn is_alive(&self, id: u64) -> bool {
        self.past.remnants.binary_search(&id).is_err()
    }

    /// Labels of single remnants, and of binaries of two remnants, in order.
    pub(super) fn compact(&self) -> Vec<u64> {
        let Past {
            remnants, binaries, ..
        } = &self.past;
        let mut members: Vec<u64> = binaries.iter().flat_map(|binary| binary.ids).collect();
        members.sort_unstable();
        let singles = remnants
            .iter()
            .filter(|id| members.binary_search(id).is_err());
        let pairs = binaries
            .iter()
            .filter(|binary| !binary.ids.iter().any(|id| self.is_alive(*id)));
        let mut all: Vec<u64> = singles
            .copied()
            .chain(pairs.map(|pair| pair.ids[0]))
            .collect();
        all.sort_unstable();
        all
    }

    /// Mass that the star or the stars in a place lose if all above the turn-off end.
    fn loss(&self, evolution: &Evolution, tracks: &Tracks, place: usize, turn_off: f64) -> f64 {
        if self.stars.m[place] <= turn_off {
            return 0.0;
        }
        let of_star = |id: u64, m: f64| match m > turn_off && self.is_alive(id) {
            true => m - evolution.remnant(tracks, m),
            false => 0.0,
        };
        match self.binary_in(place) {
            None => of_star(self.stars.id[place], self.stars.m[place]),
            Some(index) => {
                let binary = &self.past.binaries[index];
                let stars = binary.ids.into_iter().zip(binary.masses);
                stars.into_iter().map(|(id, m)| of_star(id, m)).sum()
            }
        }
    }

    /// Evolves the stars of binaries, and tells which have ended. The axis grows as the mass falls, as it does where mass is lost slowly.
    fn evolve_binaries(
        &mut self,
        evolution: &Evolution,
        tracks: &Tracks,
        turn_off: f64,
    ) -> Vec<u64> {
        let mut ended = Vec::new();
        for k in 0..self.past.binaries.len() {
            let mut binary = self.past.binaries[k];
            for star in 0..2 {
                let (id, m) = (binary.ids[star], binary.masses[star]);
                if m > turn_off && self.is_alive(id) {
                    let before = binary.mass();
                    binary.masses[star] = evolution.remnant(tracks, m);
                    binary.axis *= before / binary.mass();
                    ended.push(id);
                }
            }
            self.past.binaries[k] = binary;
        }
        ended
    }

    /// The words of all ranks, on every rank.
    pub(super) fn all_words(&self, mine: Vec<u64>) -> Result<Vec<u64>, Error> {
        if self.world.size() == 1 {
            return Ok(mine);
        }
        let counts = sample_sort::counts(&self.world, mine.len())?;
        let mut all = Vec::new();
        self.world.all_gather_v(&mine, &counts, &mut all)?;
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use kirin_kit::command::Start;
    use kirin_kit::communicator::{Counted, threads};
    use kirin_kit::models::{BinaryOptions, MassFunction};

    use super::*;
    use crate::model;
    use crate::random::streams;
    use crate::settings::Settings;

    /// Kinetic energy and that of all pairs of shells, star by star.
    fn energy(m: &[f64], r: &[f64], v2: &[f64]) -> f64 {
        let mut sum = 0.0;
        for k in 0..m.len() {
            sum += 0.5 * m[k] * v2[k];
            sum -= (0..k).map(|i| m[i] * m[k] / r[i].max(r[k])).sum::<f64>();
        }
        sum
    }

    /// The ledger has the energy of the mass that leaves; every star above the turn-off has become its remnant, those in binaries, too, whose orbits get wider.
    #[test]
    fn stars_end_once_and_the_ledger_has_their_energy() {
        let start = Start {
            n: Some(400),
            mass_function: Some(MassFunction::Kroupa),
            ..Start::default()
        };
        let binaries = BinaryOptions {
            binary_fraction: Some(0.5),
            ..BinaryOptions::default()
        };
        let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
        let evolution = Evolution {
            metallicity: 0.02,
            mass: 300.0,
            time: 1.0,
        };
        let settings = Settings {
            primordial: true,
            evolution: Some(evolution),
            ..Settings::default()
        };
        let stars = model::draw(&world, &start, &binaries).unwrap();
        let mut cluster =
            Cluster::new(Counted::new(world), settings, stars, &streams(1, 20), None).unwrap();
        let mass = cluster.potential.mass();
        cluster.to_standard_units().unwrap();
        cluster.set_binaries(model::binaries(&start, &binaries, mass, None).unwrap());
        let tracks = Tracks::new(0.02);
        let turn_off = evolution.turn_off(&tracks, 1000.0);
        let v2: Vec<f64> = (0..cluster.n())
            .map(|k| cluster.stars.vr[k].powi(2) + cluster.stars.vt[k].powi(2))
            .collect();
        let before = cluster.past.binaries.clone();
        let was = energy(&cluster.masses, &cluster.radii, &v2);
        cluster.evolve(1000.0).unwrap();
        let is = energy(&cluster.masses, &cluster.radii, &v2);
        let gained = cluster.released();
        let ended = cluster.past.remnants.clone();
        assert!(ended.len() > 5, "{}", ended.len());
        let is_compact = |id: u64| match before.iter().find(|binary| binary.ids[0] == id) {
            Some(binary) => binary.ids.iter().all(|id| ended.contains(id)),
            None => ended.contains(&id),
        };
        let mut compact = cluster.stars.id.clone();
        compact.retain(|id| is_compact(*id));
        compact.sort_unstable();
        assert_eq!(cluster.compact(), compact);
        assert!(compact.len() < ended.len());
        let evolved = cluster.past.ledger.evolved;
        assert!(
            (evolved - (was - is + gained)).abs() < 1e-12,
            "{evolved} {}",
            was - is
        );
        assert!(
            evolved < -1e-3 && cluster.energy_error() < 1e-12,
            "{evolved}"
        );
        let lost = cluster.past.ledger.evolved_mass;
        assert!(
            (lost - (1.0 - cluster.potential.mass())).abs() < 1e-12 && lost > 0.1,
            "{lost}"
        );
        let mut wider = 0;
        for (old, new) in before.iter().zip(&cluster.past.binaries) {
            for (m, n) in old.masses.into_iter().zip(new.masses) {
                let left = if m > turn_off {
                    evolution.remnant(&tracks, m)
                } else {
                    m
                };
                assert_eq!(n, left);
            }
            let ratio = new.axis * new.mass() / (old.axis * old.mass());
            assert!((ratio - 1.0).abs() < 1e-12);
            wider += u32::from(new.axis > old.axis);
        }
        assert!(wider > 0);
        for (id, m) in cluster.stars.id.iter().zip(&cluster.stars.m) {
            let is_single = before.iter().all(|b| b.ids[0] != *id);
            assert!(!is_single || *m <= turn_off || ended.binary_search(id).is_ok());
        }
        // Once only: nothing is left to end.
        cluster.evolve(1000.0).unwrap();
        assert_eq!(cluster.past.remnants, ended);
    }

    /// Steps end before a large part of the mass has gone.
    #[test]
    fn a_step_loses_little() {
        let start = Start {
            n: Some(5000),
            mass_function: Some(MassFunction::Kroupa),
            ..Start::default()
        };
        let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
        let settings = Settings {
            evolution: Some(Evolution {
                metallicity: 0.02,
                mass: 3000.0,
                time: 20.0,
            }),
            ..Settings::default()
        };
        let stars = model::draw(&world, &start, &BinaryOptions::default()).unwrap();
        let mut cluster =
            Cluster::new(Counted::new(world), settings, stars, &streams(1, 250), None).unwrap();
        cluster.to_standard_units().unwrap();
        let (mut mass, mut ended) = (1.0, 0);
        while cluster.past.time < 12.0 {
            cluster.step(12.0).unwrap();
            let escaped = cluster.past.ledger.escaped_mass;
            let (now, remnants) = (
                cluster.potential.mass() + escaped,
                cluster.past.remnants.len(),
            );
            // A single star may have more.
            assert!(
                mass - now <= LARGEST_LOSS * mass + 1e-12 || remnants - ended == 1,
                "{} by {}",
                mass - now,
                remnants - ended
            );
            (mass, ended) = (now, remnants);
        }
        assert!(cluster.past.ledger.evolved_mass > 0.01);
        assert!(
            cluster.energy_error() < 1e-11,
            "{:e}",
            cluster.energy_error()
        );
    }

    /// No step is so short that it parts the ends of stars of one mass.
    #[test]
    fn stars_of_one_mass_end_together() {
        let start = Start {
            n: Some(400),
            ..Start::default()
        };
        let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
        // 10 solar masses each, which end after 27.5 Myr.
        let settings = Settings {
            evolution: Some(Evolution {
                metallicity: 0.02,
                mass: 4000.0,
                time: 1.0,
            }),
            ..Settings::default()
        };
        let stars = model::draw(&world, &start, &BinaryOptions::default()).unwrap();
        let mut cluster =
            Cluster::new(Counted::new(world), settings, stars, &streams(1, 20), None).unwrap();
        cluster.to_standard_units().unwrap();
        let mut steps = 0;
        while cluster.past.time < 30.0 {
            cluster.step(30.0).unwrap();
            steps += 1;
            assert!(steps < 10_000, "{}", cluster.past.time);
        }
        let remnants = cluster.past.remnants.len();
        assert!(remnants > 390, "{remnants}");
        let lost = cluster.past.ledger.evolved_mass * 400.0 / remnants as f64;
        assert!((lost - (1.0 - 1.338 / 10.0)).abs() < 0.01, "{lost}");
    }
}
