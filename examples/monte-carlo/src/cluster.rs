//! A cluster and its step, which all ranks take together, phase after phase in the order of Figure 1.

mod binaries;
mod dissolution;
mod evolution;
mod exchange;
mod formation;
mod hole;
mod mergers;
mod on_device;
mod phases;

use kirin_kit::communicator::{Communicator, Counted};
use serde::{Deserialize, Serialize};

use crate::binaries::{Binary, binding};
use crate::collision::Merged;
use crate::device::OrbitsOnDevice;
use crate::diagnostics::{Diagnostics, SUMMED, half_mass_relaxation_time};
use crate::error::Error;
use crate::ledger::{Escaper, Ledger};
use crate::partition::{BIN, Partition};
use crate::potential::Potential;
use crate::profile::Profile;
use crate::random::Stream;
use crate::renewal::Renewal;
use crate::sample_sort::SampleSort;
use crate::settings::Settings;
use crate::sort::Sorter;
use crate::stars::Stars;
use crate::sums::Sums;
use crate::time_step::Moments;

/// Fewest stars of a cluster: five bins.
pub const FEWEST: usize = 100;

impl Past {
    /// Time in initial half-mass relaxation times.
    pub fn scaled_time(&self) -> f64 {
        self.time / self.relaxation_time0
    }
}

/// What a run knows of its past, besides the stars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    #[serde(skip)]
    pub ledger: Ledger,
    /// Mean mass of the stars at the start of a run with a black hole or collisions: radii of stars refer to it.
    #[serde(skip)]
    pub mean_mass0: f64,
    /// Mass of the black hole.
    #[serde(skip)]
    pub hole_mass: f64,
    /// Its index among the bodies for other programs: one more than the largest label at the start.
    #[serde(skip)]
    pub hole_index: i32,
    /// Mass that it gains in a unit of time, averaged over the last steps. `None` where it takes no stars.
    #[serde(skip)]
    pub feeding: Option<f64>,
    /// The binaries in the cluster, by label. Every rank has all of them.
    #[serde(skip)]
    pub binaries: Vec<Binary>,
    /// Labels of the stars that have ended, in order. Every rank has all of them.
    #[serde(skip)]
    pub remnants: Vec<u64>,
    /// The stars in the cluster into which others have merged, by label. Every rank has all of them.
    #[serde(skip)]
    pub merged: Vec<Merged>,
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
    exchange: SampleSort,
    told: Vec<f64>,
    moments: Vec<Moments>,
    leaves: Vec<[f64; SUMMED]>,
    sums: Sums<SUMMED>,
    single: Sums<1>,
    central: Sums<5>,
    escapers: Vec<Escaper>,
    taken: Vec<u64>,
    /// The stars on a GPU, where steps are computed there: then the columns here are those of the last [`fetch`](Self::fetch).
    on_device: Option<on_device::OnDevice>,
    /// A GPU that finds the orbits, where the processor computes the other phases.
    orbits: Option<OrbitsOnDevice>,
    /// The GPU, if one has been chosen, with what it does, and the number of steps of this process in which it has done so.
    pub device: Option<(String, u64)>,
    /// Whether the next step would leave fewer than [`FEWEST`] stars: then it is not taken.
    pub dissolved: bool,
    /// Whether the stars are those at the end of a step: after an error they may be between two steps.
    pub is_whole: bool,
    /// Which stars get a new position in this step.
    renewal: Renewal,
}

impl<C: Communicator> Cluster<C> {
    /// A cluster of the stars of all ranks; `stars` are those that this rank brings. Their order and their division
    /// among ranks do not matter. `streams` has the random numbers of the bins of all ranks. `past` is `None` in a new
    /// run.
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
        settings.validate()?;
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
            exchange: SampleSort::default(),
            told: Vec::new(),
            moments: Vec::new(),
            leaves: Vec::new(),
            sums: Sums::default(),
            single: Sums::default(),
            central: Sums::default(),
            escapers: Vec::new(),
            taken: Vec::new(),
            on_device: None,
            orbits: None,
            device: None,
            dissolved: false,
            is_whole: true,
            renewal: Renewal::ALL,
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
        cluster.potential.centre = cluster.past.hole_mass;
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
        if self.settings.radius > 0.0 {
            self.past.mean_mass0 = self.mean_mass();
        }
    }

    /// Number of stars on all ranks.
    pub fn n(&self) -> usize {
        self.partition.n
    }

    /// Energy of the stars in their potential and that of the black hole, and of what has left them, with that of the binaries.
    pub fn energy(&self) -> f64 {
        self.now.kinetic + self.now.potential + self.past.ledger.left() - self.released()
    }

    /// Binding energy that binaries have gained, in the cluster and among the escapers.
    pub fn released(&self) -> f64 {
        let Ledger {
            binding_escaped,
            primordial,
            ..
        } = self.past.ledger;
        binding(&self.past.binaries) + binding_escaped - primordial
    }

    /// Gives a cluster that has not begun its binaries, each of which is one of the stars.
    pub fn set_binaries(&mut self, mut binaries: Vec<Binary>) {
        binaries.sort_by_key(|b| b.ids[0]);
        self.past.ledger.primordial = binding(&binaries);
        self.past.binaries = binaries;
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

    /// Mass of the stars and of the black hole.
    pub fn attracting_mass(&self) -> f64 {
        self.potential.mass() + self.potential.centre
    }

    /// Tidal radius now, in a tidal field.
    pub fn tidal_radius(&self) -> Option<f64> {
        let tide = self.settings.tide?;
        Some(tide.radius_of(self.attracting_mass()))
    }

    /// Time in initial half-mass relaxation times.
    pub fn scaled_time(&self) -> f64 {
        self.past.scaled_time()
    }

    /// Takes one step, which ends at `t_end` at the latest; none where the cluster has [`dissolved`](Self::dissolved).
    ///
    /// # Errors
    ///
    /// A rank is lost, or encounters unbind nearly all stars of a large cluster at once.
    pub fn step(&mut self, t_end: f64) -> Result<(), Error> {
        if self.on_device.is_some() {
            return self.step_on_device(t_end);
        }
        let dt = self.time_step()?.min(t_end - self.past.time);
        let dt = self.evolution_step(self.feeding_step(dt))?;
        let before = self.keep();
        self.is_whole = false;
        let advanced = self.advance(dt);
        match (advanced, before) {
            (Ok(true), _) => self.note_orbits(),
            (Ok(false), Some(before)) => {
                self.take_back(before)?;
                self.dissolved = true;
            }
            (Ok(false), None) => return Err(self.too_few()),
            // All ranks have this error.
            (Err(Error::Refused(why)), Some(before)) => {
                self.take_back(before)?;
                self.is_whole = true;
                return Err(Error::Refused(why));
            }
            (Err(why), _) => return Err(why),
        }
        self.is_whole = true;
        Ok(())
    }

    /// A step of the length `dt`. Stops, and the answer is `false`, if fewer than [`FEWEST`] stars are left.
    fn advance(&mut self, dt: f64) -> Result<bool, Error> {
        if !self.relax(dt)? || !self.strip()? {
            return Ok(false);
        }
        self.move_stars();
        if !self.settle()? {
            return Ok(false);
        }
        self.correct(dt)?;
        self.advance_binaries(dt)?;
        self.evolve(self.past.time + dt)?;
        self.past.time += dt;
        self.past.steps += 1;
        self.diagnose()?;
        // Two stars that form a binary count as one.
        Ok(self.n() >= FEWEST)
    }

    /// Brings order and potential up to date with the new places. Stops, and the answer is `false`, if fewer than [`FEWEST`] stars are left.
    fn settle(&mut self) -> Result<bool, Error> {
        self.sort()?;
        if self.n() < FEWEST {
            return Ok(false);
        }
        self.synchronise()?;
        self.update_potential();
        Ok(true)
    }

    fn too_few(&self) -> Error {
        Error::Refused(format!("only {} stars are left", self.n()))
    }

    fn first(&self) -> usize {
        self.partition.begin(self.world.rank())
    }

    fn mean_mass(&self) -> f64 {
        self.potential.mass() / self.n() as f64
    }
}
