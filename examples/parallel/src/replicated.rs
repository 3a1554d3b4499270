//! An integration that every rank makes as a whole, with forces that all of them share: that of a cluster with regularized
//! systems.
//!
//! Systems form, divide and move by what is known of all their stars. So each rank has all particles and systems and does the
//! same with them. Only the forces are divided: they take most of the time of large clusters.

use std::time::Instant;

use hermite::integrator::Integrator;
use kirin_kit::bound::{BoundPart, Potentials};
use kirin_kit::columns::Column;
use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::counted::Tally;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Decision, Integration};
use kirin_kit::{Body, Snapshot};

use crate::agreement::{Agreement, share};
use crate::error::Error;
use crate::machine::{Node, Times};
use crate::output::Work;
use crate::potentials;
use crate::shared_sources::SharedSources;

/// One rank's copy of the integration. All ranks make the same calls.
pub struct Replicated<'g, C> {
    integrator: Integrator<SharedSources<'g, C>>,
    agreement: Agreement,
    /// What this rank received for the blocks, without diagnostics.
    tally: Tally,
    blocks: u64,
}

impl<'g, C: Communicator> Replicated<'g, C> {
    /// Goes on with `integrator`, which is the same on all ranks.
    pub fn new(mut integrator: Integrator<SharedSources<'g, C>>) -> Self {
        let machine = integrator.sources_mut().machine_mut();
        // Without the forces of the start.
        machine.times = Times::default();
        let agreement = Agreement::new(&machine.sources);
        Self {
            integrator,
            agreement,
            tally: Tally::default(),
            blocks: 0,
        }
    }

    fn machine(&self) -> &Node<'g, C> {
        self.integrator.sources().machine()
    }

    fn machine_mut(&mut self) -> &mut Node<'g, C> {
        self.integrator.sources_mut().machine_mut()
    }

    fn is_first(&self) -> bool {
        self.machine().world.rank() == 0
    }

    /// What the rank has done.
    pub fn work(&self) -> Work<'_, 'g, C> {
        Work {
            machine: self.machine(),
            settings: self.integrator.settings(),
            counts: self.integrator.counts(),
            regularized: Some(self.integrator.regularized()),
            tally: &self.tally,
            blocks: self.blocks,
        }
    }
}

/// Only rank 0 looks at the bodies: the other ranks have none of them to show.
impl<C: Communicator> Integration for Replicated<'_, C> {
    type Error = Error;

    fn is_common(error: &Error) -> bool {
        error.is_agreed()
    }

    fn time(&self) -> f64 {
        self.integrator.time()
    }

    fn next_time(&self, t_end: f64) -> Option<f64> {
        Integration::next_time(&self.integrator, t_end)
    }

    fn step(&mut self, _: f64) -> Result<(), Error> {
        let (began, before) = (Instant::now(), self.machine().times);
        let received = self.machine().world.tally();
        self.integrator.step().map_err(Error::of_all)?;
        let machine = self.machine_mut();
        let own = machine.times.total() - before.total();
        machine.times.0[7] += began.elapsed().as_secs_f64() - own;
        let received = machine.world.tally().since(&received);
        self.tally.add(&received);
        self.blocks += 1;
        Ok(())
    }

    fn visible(&self, t: f64) -> Option<f64> {
        self.integrator.visible(t)
    }

    fn bodies_at(&mut self, t: f64) -> Result<Vec<Body>, Error> {
        let times = self.machine().times;
        let bodies = self.integrator.synchronised(t).map_err(Error::of_all)?;
        self.machine_mut().times = times;
        Ok(match self.is_first() {
            true => bodies,
            false => Vec::new(),
        })
    }

    fn potentials(&mut self, bodies: &[Body]) -> Result<Option<Potentials>, Error> {
        let eps2 = self.integrator.eps().powi(2);
        let n = self.integrator.bodies().len();
        let sums = potentials::shared(&self.machine().world, bodies, n, eps2)?;
        Ok(Some(Potentials::Summed(sums, eps2)))
    }

    fn within_systems(&self) -> [f64; 2] {
        self.integrator.within_systems()
    }

    fn systems(&self) -> Vec<Vec<usize>> {
        match self.is_first() {
            true => self.integrator.systems(),
            false => Vec::new(),
        }
    }

    fn lost_digits(&self, bodies: &[Body]) -> f64 {
        match self.is_first() {
            true => self.integrator.lost_digits(bodies),
            false => 0.0,
        }
    }

    fn galaxy(&self) -> Option<&Galaxy> {
        self.integrator.galaxy()
    }

    fn share(&mut self, value: f64) -> Result<f64, Error> {
        share(&self.machine().world, value)
    }

    fn own_columns(&self) -> Vec<Column> {
        self.integrator.own_columns()
    }

    fn own_numbers(&self, bodies: &[Body], bound: &BoundPart) -> Vec<f64> {
        self.integrator.own_numbers(bodies, bound)
    }

    fn notes(&self) -> Vec<(String, String)> {
        self.integrator.notes()
    }

    fn eps(&self) -> f64 {
        self.integrator.eps()
    }

    fn count(&self) -> usize {
        self.integrator.count()
    }

    fn state(&self) -> Result<Snapshot, Error> {
        self.integrator.state().map_err(Error::of_all)
    }

    fn check(&self) -> Result<(), Error> {
        self.integrator.check().map_err(Error::of_all)
    }

    fn rank(&self) -> (usize, usize) {
        let world = &self.machine().world;
        (world.rank(), world.size())
    }

    fn agree(&mut self, wanted: Decision) -> Result<Decision, Error> {
        let Node { world, sources, .. } = self.integrator.sources().machine();
        self.agreement.reach(world, sources, wanted)
    }
}
