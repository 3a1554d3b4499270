//! A cluster on its way: one step by all ranks, phase after phase in the order of Figure 1.

use kirin_kit::communicator::{Communicator, Counted, Operation};
use rayon::prelude::*;

use crate::diagnostics::{self, Diagnostics, SUMMED, half_mass_relaxation_time};
use crate::error::Error;
use crate::ledger::{Escaper, Ledger};
use crate::partition::{BIN, Partition};
use crate::potential::Potential;
use crate::profile::{Phase, Profile};
use crate::random::Stream;
use crate::redistribution::redistribute;
use crate::relaxation::{self, Encounters};
use crate::sample_sort::{self, Exchange, counts};
use crate::settings::Settings;
use crate::sort::Sorter;
use crate::stars::{BINS_AT_A_TIME, Stars, WORDS};
use crate::sums::Sums;
use crate::{correction, orbit, time_step};

/// Fewest stars of a cluster: five bins.
pub const FEWEST: usize = 100;

/// What a run knows of its past, besides the stars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    /// Time in N-body units.
    pub time: f64,
    /// Number of steps.
    pub steps: u64,
    /// Number of stars at the start.
    pub n0: usize,
    /// Energy at the start.
    pub energy0: f64,
    /// Half-mass relaxation time at the start.
    pub relaxation_time0: f64,
    /// Energy that has left the stars.
    pub ledger: Ledger,
}

/// A cluster on its way, as one of the ranks has it.
pub struct Cluster<C> {
    /// All ranks.
    pub world: Counted<C>,
    /// What determines the run.
    pub settings: Settings,
    /// What has happened.
    pub past: Past,
    /// What is known of the cluster now.
    pub now: Diagnostics,
    /// Where the time went.
    pub profile: Profile,
    /// This rank's stars.
    pub stars: Stars,
    /// The division of the stars.
    pub partition: Partition,
    /// Radii of all stars.
    pub radii: Vec<f64>,
    /// Masses of all stars.
    pub masses: Vec<f64>,
    /// Potential of all stars.
    pub potential: Potential,
    /// Random numbers of this rank's bins.
    pub streams: Vec<Stream>,
    sorter: Sorter,
    exchange: Exchange,
    told: Vec<f64>,
    leaves: Vec<[f64; SUMMED]>,
    sums: Sums<SUMMED>,
    single: Sums<1>,
    central: Sums<5>,
    escapers: Vec<Escaper>,
}

impl<C: Communicator> Cluster<C> {
    /// A cluster of the `stars` that this rank brings, in any order and division, with the random numbers of
    /// `streams`, one for each bin of all ranks. A new run has no `past` yet.
    ///
    /// # Errors
    ///
    /// Settings that make no sense, too few stars, or a rank is lost.
    pub fn new(
        world: Counted<C>,
        settings: Settings,
        stars: Stars,
        streams: &[Stream],
        past: Option<Past>,
    ) -> Result<Self, Error> {
        settings.check()?;
        let mut cluster = Self {
            partition: Partition {
                n: 0,
                ranks: world.size(),
            },
            world,
            settings,
            past: past.clone().unwrap_or_default(),
            now: Diagnostics::default(),
            profile: Profile::default(),
            stars,
            radii: Vec::new(),
            masses: Vec::new(),
            potential: Potential::default(),
            streams: Vec::new(),
            sorter: Sorter::default(),
            exchange: Exchange::default(),
            told: Vec::new(),
            leaves: Vec::new(),
            sums: Sums::default(),
            single: Sums::default(),
            central: Sums::default(),
            escapers: Vec::new(),
        };
        cluster.sort()?;
        let n = cluster.partition.n;
        if n < FEWEST {
            return Err(Error::Refused(format!(
                "{n} stars: the method needs {FEWEST} at least, which make five bins of {BIN}"
            )));
        }
        assert!(streams.len() >= n.div_ceil(BIN), "a stream for each bin");
        let bins = cluster.partition.bins(cluster.world.rank());
        cluster.streams.extend(&streams[bins]);
        cluster.synchronise()?;
        cluster.update_potential();
        cluster.diagnose()?;
        if past.is_none() {
            cluster.note_start();
        }
        cluster.profile = Profile::default();
        Ok(cluster)
    }

    /// Brings a cluster that has not begun to standard units: mass 1, W = -1/2, T = 1/4.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn to_standard_units(&mut self) -> Result<(), Error> {
        let mass = self.potential.mass();
        let length = -2.0 * self.now.potential / (mass * mass);
        let velocity = (0.25 * mass / self.now.kinetic).sqrt();
        let Stars { m, r, vr, vt, .. } = &mut self.stars;
        m.iter_mut().for_each(|m| *m /= mass);
        r.iter_mut().for_each(|r| *r *= length);
        vr.iter_mut().chain(vt).for_each(|v| *v *= velocity);
        self.synchronise()?;
        self.update_potential();
        self.diagnose()?;
        self.note_start();
        self.profile = Profile::default();
        Ok(())
    }

    fn note_start(&mut self) {
        self.past.n0 = self.n();
        self.past.energy0 = self.now.kinetic + self.now.potential;
        self.past.relaxation_time0 = self.relaxation_time();
    }

    /// Number of stars on all ranks.
    pub fn n(&self) -> usize {
        self.partition.n
    }

    /// Energy of the stars, and of what has left them.
    pub fn energy(&self) -> f64 {
        self.now.kinetic + self.now.potential + self.past.ledger.left()
    }

    /// |E - E0| / |E0|.
    pub fn energy_error(&self) -> f64 {
        ((self.energy() - self.past.energy0) / self.past.energy0).abs()
    }

    /// Half-mass relaxation time now (equation 20).
    pub fn relaxation_time(&self) -> f64 {
        let n = self.n();
        let half_mass = self.now.half_mass();
        half_mass_relaxation_time(
            n,
            self.settings.coulomb(n),
            self.potential.mass(),
            half_mass,
        )
    }

    /// Time in initial half-mass relaxation times.
    pub fn scaled_time(&self) -> f64 {
        self.past.time / self.past.relaxation_time0
    }

    /// Takes one step, which ends at `t_end` at the latest.
    ///
    /// # Errors
    ///
    /// A rank is lost, or so many stars that fewer than [`FEWEST`] remain.
    pub fn step(&mut self, t_end: f64) -> Result<(), Error> {
        let dt = self.time_step()?.min(t_end - self.past.time);
        self.relax(dt)?;
        self.move_stars();
        self.sort()?;
        if self.n() < FEWEST {
            return Err(Error::Refused(format!("only {} stars are left", self.n())));
        }
        self.synchronise()?;
        self.update_potential();
        self.correct()?;
        self.past.time += dt;
        self.past.steps += 1;
        self.diagnose()
    }

    /// Phase 2.
    fn time_step(&mut self) -> Result<f64, Error> {
        let began = std::time::Instant::now();
        let first = self.first();
        let coulomb = self.settings.coulomb(self.n());
        let mut least = [time_step::least_relaxation(
            &self.settings,
            coulomb,
            &self.radii,
            first,
            &self.stars,
        )];
        if self.world.size() > 1 {
            self.world.all_reduce(Operation::Min, &mut least)?;
        }
        let mut step = least[0];
        if self.settings.radius > 0.0 {
            let mean_mass = self.mean_mass();
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
            let sums = self.central.total(&self.world, bins.start, &leaves)?;
            step = step.min(time_step::collision(sums, self.radii[sums[0] as usize - 1]));
        }
        self.profile.0[Phase::TimeStep as usize] += began.elapsed().as_secs_f64();
        Ok(step)
    }

    /// Phase 3.
    fn relax(&mut self, dt: f64) -> Result<(), Error> {
        let first = self.first();
        let encounters = Encounters {
            settings: &self.settings,
            dt,
            coulomb: self.settings.coulomb(self.partition.n),
            mean_mass: self.mean_mass(),
            radii: &self.radii,
            potential: &self.potential,
        };
        self.told.resize(self.streams.len(), 0.0);
        self.profile.of(Phase::Relaxation, || {
            self.stars
                .groups(first, &mut self.streams, &mut self.told)
                .for_each(|mut group| relaxation::of_group(&encounters, &mut group));
        });
        if self.settings.radius > 0.0 {
            self.past.ledger.collided += self.total_told()?;
        }
        Ok(())
    }

    /// Phase 5.
    fn move_stars(&mut self) {
        let first = self.first();
        let (potential, radii) = (&self.potential, &self.radii);
        self.profile.of(Phase::Orbits, || {
            self.stars
                .groups(first, &mut self.streams, &mut self.told)
                .for_each(|mut group| orbit::of_group(potential, radii, &mut group));
        });
    }

    /// Phase 6: takes out who has gone, sorts, and redistributes; random numbers go with their bins.
    fn sort(&mut self) -> Result<(), Error> {
        let began = std::time::Instant::now();
        let old = self.partition;
        if self.stars.r.iter().any(|r| r.is_infinite()) {
            for k in 0..self.stars.len() {
                if self.stars.r[k].is_infinite() && self.stars.m[k] > 0.0 {
                    self.escapers.push(Escaper::of(&self.stars, k));
                }
            }
            self.stars.retain(|stars, k| stars.r[k].is_finite());
        }
        if self.world.size() == 1 {
            self.sorter.sort(&mut self.stars);
            self.partition = Partition {
                n: self.stars.len(),
                ranks: 1,
            };
        } else {
            let all = counts(&self.world, self.stars.len())?;
            sample_sort::sort(
                &self.world,
                &all,
                &mut self.stars,
                &mut self.sorter,
                &mut self.exchange,
            )?;
            let all = counts(&self.world, self.stars.len())?;
            self.partition = redistribute(&self.world, &all, &mut self.stars, &mut self.exchange)?;
        }
        if old.n > 0 && old.n != self.partition.n {
            self.move_streams(old)?;
        }
        self.profile.0[Phase::Sort as usize] += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// Brings the random numbers to the ranks that have their bins now.
    fn move_streams(&mut self, old: Partition) -> Result<(), Error> {
        let bins = |partition: &Partition| -> Vec<_> {
            (0..partition.ranks)
                .map(|rank| partition.bins(rank))
                .collect()
        };
        let (before, after) = (bins(&old), bins(&self.partition));
        if before == after {
            return Ok(());
        }
        let streams = self.all_streams_of(&before)?;
        self.streams.clear();
        self.streams
            .extend(&streams[after[self.world.rank()].clone()]);
        Ok(())
    }

    fn all_streams_of(&self, bins: &[std::ops::Range<usize>]) -> Result<Vec<Stream>, Error> {
        let send: Vec<u64> = self.streams.iter().flat_map(Stream::words).collect();
        let counts: Vec<usize> = bins.iter().map(|bins| 2 * bins.len()).collect();
        let mut receive = Vec::new();
        self.world.all_gather_v(&send, &counts, &mut receive)?;
        let stream = |words: &[u64]| {
            Stream::of_words([words[0], words[1]]).expect("a stream never stands still")
        };
        Ok(receive.chunks_exact(2).map(stream).collect())
    }

    /// Random numbers of all bins, on every rank.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn all_streams(&self) -> Result<Vec<Stream>, Error> {
        let bins: Vec<_> = (0..self.partition.ranks)
            .map(|rank| self.partition.bins(rank))
            .collect();
        self.all_streams_of(&bins)
    }

    /// All stars in the order of radii, on rank 0.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn gather(&self) -> Result<Option<Stars>, Error> {
        if self.world.size() == 1 {
            return Ok(Some(self.stars.clone()));
        }
        let send: Vec<u64> = (0..self.stars.len())
            .flat_map(|k| self.stars.row(k))
            .collect();
        let counts: Vec<usize> = self.partition.counts().iter().map(|n| n * WORDS).collect();
        let mut receive = Vec::new();
        self.world.gather_v(0, &send, &counts, &mut receive)?;
        if self.world.rank() > 0 {
            return Ok(None);
        }
        let mut stars = Stars::default();
        receive
            .chunks_exact(WORDS)
            .for_each(|row| stars.push_row(row));
        Ok(Some(stars))
    }

    /// The duplicated arrays.
    fn synchronise(&mut self) -> Result<(), Error> {
        let began = std::time::Instant::now();
        if self.world.size() == 1 {
            self.radii.clone_from(&self.stars.r);
            self.masses.clone_from(&self.stars.m);
        } else {
            let counts = self.partition.counts();
            self.world
                .all_gather_v(&self.stars.r, &counts, &mut self.radii)?;
            self.world
                .all_gather_v(&self.stars.m, &counts, &mut self.masses)?;
        }
        self.profile.0[Phase::Synchronisation as usize] += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// Phase 1.
    fn update_potential(&mut self) {
        self.profile.of(Phase::Potential, || {
            self.potential.update(&self.masses, &self.radii)
        });
    }

    /// Energy correction, of those who have escaped too.
    fn correct(&mut self) -> Result<(), Error> {
        let began = std::time::Instant::now();
        let first = self.first();
        self.told.resize(self.streams.len(), 0.0);
        let (potential, radii) = (&self.potential, &self.radii);
        self.stars
            .groups(first, &mut self.streams, &mut self.told)
            .for_each(|mut group| correction::of_group(potential, radii, &mut group));
        let debt = self.total_told()?;
        let escaped = Escaper::gather(&self.world, &mut self.escapers)?;
        for escaper in escaped {
            self.past
                .ledger
                .escape(&escaper, &self.potential, &self.radii);
        }
        self.profile.0[Phase::Correction as usize] += began.elapsed().as_secs_f64();
        if debt > 0.0 {
            self.share(debt)?;
        }
        Ok(())
    }

    /// Takes from all stars, in proportion to their kinetic energy, what their neighbours could not pay.
    fn share(&mut self, debt: f64) -> Result<(), Error> {
        self.diagnose()?;
        self.past.ledger.shared += debt;
        let scale = (1.0 - debt / self.now.kinetic).max(0.0).sqrt();
        let Stars { vr, vt, .. } = &mut self.stars;
        let velocities = vr.par_iter_mut().zip(vt);
        velocities.with_min_len(1024).for_each(|(vr, vt)| {
            *vr *= scale;
            *vt *= scale;
        });
        Ok(())
    }

    /// Phase 7.
    fn diagnose(&mut self) -> Result<(), Error> {
        let began = std::time::Instant::now();
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
        let sums = self.sums.total(&self.world, first / BIN, &self.leaves)?;
        self.now = diagnostics::of_sums(&self.potential, &self.radii, sums);
        self.profile.0[Phase::Diagnostics as usize] += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// The sum over all bins of what the last phase has told.
    fn total_told(&mut self) -> Result<f64, Error> {
        let leaves: &[[f64; 1]] = self.told.as_chunks().0;
        let first = self.partition.bins(self.world.rank()).start;
        let [total] = self.single.total(&self.world, first, leaves)?;
        Ok(total)
    }

    fn first(&self) -> usize {
        self.partition.begin(self.world.rank())
    }

    fn mean_mass(&self) -> f64 {
        self.potential.mass() / self.n() as f64
    }
}

/// The places of the bin that begins at one of them.
fn own(stars: &Stars, begin: usize) -> std::ops::Range<usize> {
    begin..(begin + BIN).min(stars.len())
}
