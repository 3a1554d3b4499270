//! The black hole in a step, and how it comes into a new cluster.

use kirin_kit::communicator::{Communicator, Operation};
use kirin_kit::interrupt::interrupted;
use rayon::prelude::*;

use super::{Cluster, FEWEST};
use crate::binaries::binding;
use crate::error::Error;
use crate::growth;
use crate::ledger::Ledger;
use crate::profile::Profile;
use crate::space::hole_index;

/// Steps in which the hole of a new cluster grows, each by the same factor, and the part of its mass with which it begins.
const STEPS: i32 = 200;
const SEED: f64 = 1e-4;

/// Part of its mass by which the hole grows in a step at most, roughly. A hole of the mass of a few stars may grow by two stars.
const LARGEST_GROWTH: f64 = 0.02;
const FEWEST_TAKEN: f64 = 100.0;

/// Length of the first step, in parts of the usual one.
const FIRST_STEP: f64 = 0.1;

impl<C: Communicator> Cluster<C> {
    /// The step, shortened such that the hole grows by a fiftieth at most if it takes as much in a unit of time as in the steps before.
    pub(super) fn feeding_step(&self, step: f64) -> f64 {
        match self.past.feeding {
            None => step,
            Some(feeding) => step.min(self.largest_growth() / feeding),
        }
    }

    /// Mass that the hole gains in a step at most.
    fn largest_growth(&self) -> f64 {
        LARGEST_GROWTH * self.past.hole_mass.max(FEWEST_TAKEN * self.mean_mass())
    }

    /// Notes the labels of the stars of this rank that the loss cone has removed. The answer is `false` if fewer than [`FEWEST`] are left.
    pub(super) fn note_taken(&mut self) -> Result<bool, Error> {
        self.taken.clear();
        if self.past.feeding.is_none() {
            return Ok(true);
        }
        let stars = self.stars.id.iter().zip(&self.stars.r);
        let gone = stars.filter(|(_, r)| r.is_infinite()).map(|(id, _)| *id);
        self.taken.extend(gone);
        self.taken.sort_unstable();
        // Whole numbers: exact in any order.
        let mut count = [self.taken.len() as f64];
        if self.world.size() > 1 {
            self.world.all_reduce(Operation::Sum, &mut count)?;
        }
        Ok(self.n() - count[0] as usize >= FEWEST)
    }

    /// The hole grows by stars of this mass, which it has taken in the time `dt`. Nobody moves, so each star's energy changes by -(growth) m / r, and the ledger has the sum.
    pub(super) fn feed_hole(&mut self, taken: f64, dt: f64) {
        let Some(hole) = self.settings.black_hole else {
            return;
        };
        let growth = hole.accreted * taken;
        if let Some(feeding) = &mut self.past.feeding {
            *feeding = 0.5 * (*feeding + growth / dt);
        }
        if growth > 0.0 {
            self.past.ledger.taken_energy += growth * self.potential.between[0].outside;
            self.set_hole_mass(self.past.hole_mass + growth);
        }
    }

    fn set_hole_mass(&mut self, mass: f64) {
        self.past.hole_mass = mass;
        self.potential.centre = mass;
        self.update_potential();
    }

    /// Moves the stars after the hole has grown slowly by the mass `growth`.
    fn move_in_growth(&mut self, growth: f64) {
        let first = self.first();
        self.told.resize(self.streams.len(), 0.0);
        let (potential, radii) = (&self.potential, &self.radii);
        self.stars
            .groups(first, &mut self.streams, &mut self.told)
            .for_each(|mut group| growth::of_group(potential, radii, growth, &mut group));
    }

    /// Lets the hole of the settings grow in a cluster that has not begun. The stars keep their angular momenta. Their energies change in each
    /// step by the mean change of the hole's potential over their orbits, as in slow growth; the potential of the stars changes at a random phase. So the cluster is in
    /// equilibrium with its hole afterwards, and the density rises towards it (Young 1980). Stars have no encounters in the
    /// meantime, and no time passes. Without a hole nothing happens.
    ///
    /// # Errors
    ///
    /// A rank is lost, fewer than [`FEWEST`] stars remain, or the user interrupts the program.
    pub fn grow_hole(&mut self) -> Result<(), Error> {
        let Some(hole) = self.settings.black_hole else {
            return Ok(());
        };
        let mass = self.potential.mass();
        hole.validate_among(mass, -0.5 * mass * mass / self.now.potential)?;
        self.past.mean_mass0 = self.mean_mass();
        // Of the stars of all ranks.
        let mut index = [f64::from(hole_index(&self.stars, &self.past.binaries))];
        self.world.all_reduce(Operation::Max, &mut index)?;
        self.past.hole_index = index[0] as i32;
        let factor = SEED.powf(1.0 / f64::from(STEPS));
        for step in 1..=STEPS {
            let mut ends = [f64::from(u8::from(interrupted()))];
            self.world.all_reduce(Operation::Max, &mut ends)?;
            if ends[0] > 0.0 {
                let why = "interrupted while the black hole grew, before the run began";
                return Err(Error::Refused(why.to_owned()));
            }
            let before = self.past.hole_mass;
            self.set_hole_mass(hole.mass * factor.powi(STEPS - step));
            self.move_in_growth(self.past.hole_mass - before);
            if !self.settle()? {
                return Err(self.too_few());
            }
            // No energy correction: it changes both components of the velocity, and the angular momentum is to stay.
            self.note_leaving(f64::INFINITY)?;
        }
        self.diagnose()?;
        if hole.radius > 0.0 {
            // Nobody knows yet how many stars are in the loss cone.
            self.past.feeding = Some(self.largest_growth() / (FIRST_STEP * self.time_step()?));
        }
        self.past.ledger = Ledger {
            primordial: binding(&self.past.binaries),
            ..Ledger::default()
        };
        self.note_start();
        self.profile = Profile::default();
        Ok(())
    }

    /// Radius within which the mass of the stars is that of the hole; 0 without a hole, and infinite if all stars have less mass.
    pub fn influence_radius(&self) -> f64 {
        match self.past.hole_mass {
            0.0 => 0.0,
            mass if mass > self.potential.mass() => f64::INFINITY,
            mass => self.radii[self.potential.reaching(mass)],
        }
    }
}

#[cfg(test)]
mod tests {
    use kirin_kit::command::Start;
    use kirin_kit::communicator::{Counted, threads};
    use kirin_kit::models::BinaryOptions;

    use super::*;
    use crate::black_hole::{BlackHole, Law};
    use crate::model;
    use crate::random::streams;
    use crate::settings::Settings;

    /// However light the hole is, the first step is a tenth of the usual one.
    #[test]
    fn the_first_step_is_short() {
        for mass in [1e-3, 0.02, 0.5] {
            let settings = Settings {
                black_hole: Some(BlackHole {
                    mass,
                    law: Law::Capture,
                    radius: 1e-3,
                    accreted: 1.0,
                }),
                ..Settings::default()
            };
            let start = Start {
                n: Some(200),
                ..Start::default()
            };
            let world = threads::run(1, Ok::<_, Error>).unwrap().remove(0);
            let stars = model::draw(&world, &start, &BinaryOptions::default()).unwrap();
            let all = streams(1, 10);
            let mut cluster =
                Cluster::new(Counted::new(world), settings, stars, &all, None).unwrap();
            cluster.to_standard_units().unwrap();
            cluster.grow_hole().unwrap();
            let step = cluster.time_step().unwrap();
            let part = cluster.feeding_step(step) / step;
            assert!((part / FIRST_STEP - 1.0).abs() < 1e-12, "{mass}: {part}");
        }
    }
}
