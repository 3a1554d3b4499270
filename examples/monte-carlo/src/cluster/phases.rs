//! The phases of a step in which stars stay where they are stored: 1 to 3, 5 and 7.

use std::ops::Range;
use std::time::Instant;

use kirin_kit::communicator::{Communicator, Operation};
use rayon::prelude::*;

use super::Cluster;
use crate::diagnostics::{self, SUMMED};
use crate::error::Error;
use crate::ledger::Escaper;
use crate::loss_cone::LossCone;
use crate::partition::BIN;
use crate::profile::Phase;
use crate::relaxation::{self, Encounters};
use crate::renewal::Renewal;
use crate::stars::{BINS_AT_A_TIME, Stars};
use crate::time_step::Moments;
use crate::{cluster::FEWEST, correction, orbit, tide, time_step};

impl<C: Communicator> Cluster<C> {
    /// Phase 1.
    pub(super) fn update_potential(&mut self) {
        self.profile.of(Phase::Potential, || {
            self.potential.update(&self.masses, &self.radii)
        });
    }

    /// Phase 2.
    pub(super) fn time_step(&mut self) -> Result<f64, Error> {
        let began = Instant::now();
        let first = self.first();
        let coulomb = self.settings.coulomb(self.n());
        time_step::of_bins(&self.stars, &mut self.moments);
        let ranks = self.world.size();
        if ranks > 1 {
            let send = self.moments.as_flattened();
            let whole = |stars: usize| stars / BIN * Moments::default().len();
            let counts: Vec<usize> = self.partition.counts().into_iter().map(whole).collect();
            let mut all = Vec::new();
            self.world.all_gather_v(send, &counts, &mut all)?;
            self.moments.clear();
            self.moments.extend_from_slice(all.as_chunks().0);
        }
        let begin = first / BIN;
        let mut least = time_step::least_relaxation(
            &self.settings,
            coulomb,
            &self.radii,
            &self.moments,
            begin..begin + self.stars.len() / BIN,
        );
        if ranks > 1 {
            self.world.all_reduce(Operation::Min, &mut least)?;
        }
        let heaviest = self.moments.iter().map(|moments| moments[4]);
        let heaviest = heaviest.fold(0.0, f64::max);
        self.renewal = Renewal::of(&self.settings, least, heaviest, self.past.steps);
        let mut step = least[0];
        if self.settings.black_hole.is_some() {
            step *= time_step::WITH_HOLE;
        }
        if self.settings.radius > 0.0 {
            let mean_mass = self.past.mean_mass0;
            let bins = self.partition.bins(self.world.rank());
            let bins = bins.start..bins.end.min(time_step::CENTRAL_BINS);
            let leaves: Vec<[f64; 5]> = bins
                .clone()
                .map(|bin| {
                    let own = own(&self.stars, bin * BIN - first);
                    let Stars { m, vr, vt, .. } = &self.stars;
                    let (m, vr, vt) = (&m[own.clone()], &vr[own.clone()], &vt[own]);
                    time_step::central_sums(&self.settings, mean_mass, m, vr, vt)
                })
                .collect();
            let sums =
                self.central
                    .total(&self.world, bins.start, &leaves, self.partition.most_bins())?;
            let collision = time_step::collision(sums, self.radii[sums[0] as usize - 1]);
            step = step.min(time_step::WITH_COLLISIONS * collision);
        }
        self.profile.0[Phase::TimeStep as usize] += began.elapsed().as_secs_f64();
        Ok(step)
    }

    /// Phase 3. The answer is `false` if the black hole leaves fewer than [`FEWEST`] stars.
    pub(super) fn relax(&mut self, dt: f64) -> Result<bool, Error> {
        let first = self.first();
        let hole = self.settings.black_hole.filter(|hole| hole.radius > 0.0);
        let remnants = match self.settings.evolution.and(hole) {
            Some(_) => self.compact(),
            None => Vec::new(),
        };
        let cone = hole.map(|hole| LossCone {
            hole,
            mass: self.past.hole_mass,
            mean_mass: self.past.mean_mass0,
            remnants: &remnants,
            units: self.settings.evolution.map(|evolution| evolution.units()),
            dt,
            radii: &self.radii,
            potential: &self.potential,
        });
        let encounters = Encounters {
            settings: &self.settings,
            dt,
            coulomb: self.settings.coulomb(self.partition.n),
            mean_mass: self.past.mean_mass0,
            radii: &self.radii,
            potential: &self.potential,
            cone,
        };
        self.told.resize(self.streams.len(), 0.0);
        self.profile.of(Phase::Relaxation, || {
            self.stars
                .groups(first, &mut self.streams, &mut self.told)
                .for_each(|mut group| relaxation::of_group(&encounters, &mut group));
        });
        if self.settings.radius > 0.0 {
            let lost = self.total_told()?;
            self.past.ledger.collided += lost;
            self.note_mergers()?;
            // New orbits and the energy correction are to start from the potential in which merged stars are one.
            if lost != 0.0 {
                self.synchronise_masses()?;
                self.update_potential();
            }
        }
        self.note_taken()
    }

    /// Takes out the stars beyond the tidal boundary. The boundary shrinks with the mass that leaves, so this is repeated until
    /// nobody leaves (Joshi et al. 2000). Stops, and the answer is `false`, if fewer than [`FEWEST`] are left.
    pub(super) fn strip(&mut self) -> Result<bool, Error> {
        let Some(tide) = self.settings.tide else {
            return Ok(true);
        };
        let began = Instant::now();
        let (first, mut mass, mut n) = (self.first(), self.attracting_mass(), self.n());
        self.told.resize(self.streams.len(), 0.0);
        loop {
            let boundary = tide.boundary(mass, n, self.settings.coulomb(n));
            let (potential, radii) = (&self.potential, &self.radii);
            self.stars
                .groups(first, &mut self.streams, &mut self.told)
                .for_each(|mut group| tide::of_group(potential, radii, &boundary, &mut group));
            let leaves = self.total_told()?;
            if leaves == 0.0 {
                break;
            }
            mass -= leaves;
            let Stars { m, r, .. } = &self.stars;
            let mine = m
                .iter()
                .zip(r)
                .filter(|(m, r)| **m > 0.0 && r.is_finite())
                .count();
            // Whole numbers: exact in any order.
            let mut left = [mine as f64];
            self.world.all_reduce(Operation::Sum, &mut left)?;
            n = left[0] as usize;
            if n < FEWEST {
                return Ok(false);
            }
        }
        self.profile.0[Phase::Orbits as usize] += began.elapsed().as_secs_f64();
        Ok(true)
    }

    /// Phase 5.
    pub(super) fn move_stars(&mut self) {
        if self.move_on_device() {
            return;
        }
        let first = self.first();
        self.told.resize(self.streams.len(), 0.0);
        let (potential, radii, renewal) = (&self.potential, &self.radii, &self.renewal);
        self.profile.of(Phase::Orbits, || {
            self.stars
                .groups(first, &mut self.streams, &mut self.told)
                .for_each(|mut group| orbit::of_group(potential, radii, renewal, &mut group));
        });
    }

    /// Energy correction; the ledger takes over the stars that have left in the time `dt`.
    pub(super) fn correct(&mut self, dt: f64) -> Result<(), Error> {
        let began = Instant::now();
        let first = self.first();
        self.told.resize(self.streams.len(), 0.0);
        let (potential, radii) = (&self.potential, &self.radii);
        self.stars
            .groups(first, &mut self.streams, &mut self.told)
            .for_each(|mut group| correction::of_group(potential, radii, &mut group));
        let debt = self.total_told()?;
        self.note_leaving(dt)?;
        self.profile.0[Phase::Correction as usize] += began.elapsed().as_secs_f64();
        if debt > 0.0 {
            self.share(debt)?;
        }
        Ok(())
    }

    /// The ledger takes over the stars that have left, and the black hole grows by those it has taken in the time `dt`.
    pub(super) fn note_leaving(&mut self, dt: f64) -> Result<(), Error> {
        let escaped = Escaper::gather(&self.world, &mut self.escapers)?;
        self.forget_binaries(&escaped);
        self.forget_merged(&escaped);
        let taken: f64 = escaped.iter().map(Escaper::mass_taken).sum();
        for escaper in escaped {
            let there = escaper.potential_there(&self.potential, &self.radii);
            self.past.ledger.escape(&escaper, there);
        }
        self.feed_hole(taken, dt);
        Ok(())
    }

    /// Takes from all stars, in proportion to their kinetic energy, what their neighbours could not pay.
    pub(super) fn share(&mut self, debt: f64) -> Result<(), Error> {
        self.diagnose()?;
        let kinetic = self.now.kinetic;
        if debt > kinetic {
            return Err(Error::Refused(format!(
                "the stars are to pay the energy {debt:e} together, and have {kinetic:e}"
            )));
        }
        self.past.ledger.shared += debt;
        let scale = (1.0 - debt / kinetic).sqrt();
        let Stars { vr, vt, .. } = &mut self.stars;
        let velocities = vr.par_iter_mut().zip(vt);
        velocities.with_min_len(1024).for_each(|(vr, vt)| {
            *vr *= scale;
            *vt *= scale;
        });
        Ok(())
    }

    /// Phase 7.
    pub(super) fn diagnose(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let first = self.first();
        let bins = self.streams.len();
        self.leaves.resize(bins, [0.0; SUMMED]);
        let (potential, radii, stars) = (&self.potential, &self.radii, &self.stars);
        self.leaves
            .par_iter_mut()
            .enumerate()
            .with_min_len(BINS_AT_A_TIME)
            .for_each(|(bin, sums)| {
                let own = own(stars, bin * BIN);
                *sums = diagnostics::of_bin(potential, radii, stars, first + bin * BIN, own);
            });
        let sums = self.sums.total(
            &self.world,
            first / BIN,
            &self.leaves,
            self.partition.most_bins(),
        )?;
        self.now = diagnostics::of_sums(&self.potential, &self.radii, sums);
        self.profile.0[Phase::Diagnostics as usize] += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// The sum over all bins of what the last phase has told.
    pub(super) fn total_told(&mut self) -> Result<f64, Error> {
        let leaves: &[[f64; 1]] = self.told.as_chunks().0;
        let first = self.partition.bins(self.world.rank()).start;
        let [total] = self
            .single
            .total(&self.world, first, leaves, self.partition.most_bins())?;
        Ok(total)
    }
}

/// The places of the bin that begins at one of them.
fn own(stars: &Stars, begin: usize) -> Range<usize> {
    begin..(begin + BIN).min(stars.len())
}

#[cfg(test)]
mod tests {
    use kirin_kit::command::Start;
    use kirin_kit::communicator::{Counted, threads};
    use kirin_kit::models::BinaryOptions;

    use super::*;
    use crate::cluster::Past;
    use crate::model;
    use crate::random::streams;
    use crate::settings::Settings;

    fn cluster(past: Option<Past>) -> Cluster<impl Communicator> {
        let start = Start {
            n: Some(400),
            ..Start::default()
        };
        let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
        let settings = Settings {
            radius: 0.1,
            ..Settings::default()
        };
        let stars = model::draw(&world, &start, &BinaryOptions::default()).unwrap();
        Cluster::new(Counted::new(world), settings, stars, &streams(1, 20), past).unwrap()
    }

    /// The radii of stars refer to the mean mass at the start: they do not shrink as others merge.
    #[test]
    fn mergers_do_not_make_stars_smaller() {
        let mut begun = cluster(None);
        let step = begun.time_step().unwrap();
        assert!((begun.past.mean_mass0 * 400.0 - 1.0).abs() < 1e-12);
        let was_lighter = Past {
            mean_mass0: 0.5 * begun.past.mean_mass0,
            ..begun.past.clone()
        };
        let larger = cluster(Some(was_lighter)).time_step().unwrap();
        assert!(larger < 0.6 * step, "{larger} {step}");
        let mean = begun.past.mean_mass0;
        while begun.n() > 300 {
            begun.step(f64::INFINITY).unwrap();
        }
        assert_eq!(begun.past.mean_mass0, mean);
    }

    /// No cluster pays more than it has.
    #[test]
    fn a_debt_beyond_the_kinetic_energy_is_an_error() {
        let mut cluster = cluster(None);
        let kinetic = cluster.now.kinetic;
        assert!(cluster.share(1.001 * kinetic).is_err());
        assert_eq!(cluster.past.ledger.shared, 0.0);
        cluster.share(0.5 * kinetic).unwrap();
        cluster.diagnose().unwrap();
        assert!((cluster.now.kinetic / kinetic - 0.5).abs() < 1e-12);
    }
}
