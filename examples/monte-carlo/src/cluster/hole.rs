//! The black hole in a step, and how it comes into a new cluster.

use kirin_kit::communicator::{Communicator, Operation};

use super::{Cluster, FEWEST};
use crate::binaries::binding;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::profile::Profile;
use crate::stars::Stars;

/// Steps in which the hole of a new cluster grows, each by the same factor, and the part of its mass with which it begins.
const STEPS: i32 = 200;
const SEED: f64 = 1e-4;

/// Part of its mass by which the hole grows in a step at most, roughly. A hole of the mass of a few stars may grow by some stars.
const LARGEST_GROWTH: f64 = 0.1;
const FEWEST_TAKEN: f64 = 20.0;

impl<C: Communicator> Cluster<C> {
    /// The step, shortened such that the hole grows by a tenth at most if it takes as much in a unit of time as in the steps before.
    pub(super) fn feeding_step(&self, step: f64) -> f64 {
        match self.past.feeding {
            None => step,
            Some(feeding) => {
                let mass = self.past.hole_mass.max(FEWEST_TAKEN * self.mean_mass());
                step.min(LARGEST_GROWTH * mass / feeding)
            }
        }
    }

    /// Notes the labels of the stars of this rank that the loss cone has removed. If fewer than [`FEWEST`] would be left, everybody stays,
    /// and the answer is `false`.
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
        let stays = self.n() - count[0] as usize >= FEWEST;
        if !stays {
            self.bring_back();
        }
        Ok(stays)
    }

    /// Brings back the stars that have left in this step.
    pub(super) fn bring_back(&mut self) {
        let Stars { r, start, .. } = &mut self.stars;
        let gone = r.iter_mut().zip(start).filter(|(r, _)| r.is_infinite());
        gone.for_each(|(r, start)| *r = *start);
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

    /// Lets the hole of the settings grow in a cluster that has not begun. The stars keep their angular momenta. Their energies change in each
    /// step by the change of the potential where they are, on average as in slow growth. So the cluster is in
    /// equilibrium with its hole afterwards, and the density rises towards it (Young 1980). Stars have no encounters in the
    /// meantime, and no time passes. Without a hole nothing happens.
    ///
    /// # Errors
    ///
    /// A rank is lost, or fewer than [`FEWEST`] stars remain.
    pub fn grow_hole(&mut self) -> Result<(), Error> {
        let Some(hole) = self.settings.black_hole else {
            return Ok(());
        };
        let factor = SEED.powf(1.0 / f64::from(STEPS));
        for step in 1..=STEPS {
            self.set_hole_mass(hole.mass * factor.powi(STEPS - step));
            self.move_stars();
            self.settle(f64::INFINITY)?;
        }
        self.diagnose()?;
        if hole.radius > 0.0 {
            // Nobody knows yet how many stars are in the loss cone: the first step is a tenth of the usual one.
            self.past.feeding = Some(hole.mass / self.time_step()?);
        }
        self.past.ledger = Ledger {
            primordial: binding(&self.past.binaries),
            ..Ledger::default()
        };
        self.note_start();
        self.profile = Profile::default();
        Ok(())
    }

    /// Radius within which the mass of the stars is that of the hole; 0 without a hole.
    pub fn influence_radius(&self) -> f64 {
        match self.past.hole_mass {
            0.0 => 0.0,
            mass => self.radii[self.potential.reaching(mass)],
        }
    }
}
