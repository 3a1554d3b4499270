//! The integration as a run sees it: records, frames, states.

use kirin_kit::bound::{BoundPart, Potentials};
use kirin_kit::columns::Column;
use kirin_kit::galaxy::{Field, Galaxy};
use kirin_kit::run::{Decision, Integration, TimeGrid};
use kirin_kit::{Body, Snapshot};
use kirin_report::plot::Figure;

use super::{Integrator, LARGEST_ENERGY};
use crate::checkpoint;
use crate::cluster;
use crate::error::Error;
use crate::picture;

impl Integration for Integrator<'_> {
    type Error = Error;

    fn time(&self) -> f64 {
        self.time
    }

    fn next_time(&self, t_end: f64) -> Option<f64> {
        self.past.grid.next(self.time, self.settings.dt, t_end)
    }

    fn step(&mut self, t_end: f64) -> Result<(), Error> {
        Integrator::step(self, t_end).map(|_| ())
    }

    fn visible(&self, t: f64) -> Option<f64> {
        TimeGrid::has_reached(self.time, self.settings.dt, t).then_some(self.time)
    }

    fn bodies_at(&mut self, _: f64) -> Result<Vec<Body>, Error> {
        self.bring_back()?;
        Ok(self.bodies())
    }

    fn potentials(&mut self, _: &[Body]) -> Result<Option<Potentials>, Error> {
        let is_large = self.pot.len() > LARGEST_ENERGY;
        Ok(is_large.then(|| Potentials::Given(self.pot.clone())))
    }

    fn galaxy(&self) -> Option<&Galaxy> {
        Some(&self.settings.galaxy)
    }

    /// Also where nothing is around the cluster: its own motion is no part of its energy.
    fn field(&self) -> Option<&dyn Field> {
        Some(&self.moment)
    }

    fn gain(&self) -> f64 {
        self.past.balance.gain.value()
    }

    fn own_columns(&self) -> Vec<Column> {
        cluster::Motion::COLUMNS.to_vec()
    }

    fn has_column(&self, name: &str) -> bool {
        !(self.settings.galaxy.is_none() && cluster::of_galaxy(name))
    }

    fn own_numbers(&self, bodies: &[Body], bound: &BoundPart) -> Vec<f64> {
        cluster::Motion::of(bound, &self.moment, &self.past.balance, bodies).numbers()
    }

    fn notes(&self) -> Vec<(String, String)> {
        self.settings.galaxy.lines()
    }

    fn film_half_width(&self, bodies: &[Body]) -> f64 {
        picture::film_half_width(bodies, &self.settings.galaxy, self.time)
    }

    fn frame(&self, t: f64, bodies: &[Body], half_width: f64) -> Figure {
        picture::frame(t, bodies, &self.settings, half_width)
    }

    fn eps(&self) -> f64 {
        self.settings.eps
    }

    fn count(&self) -> usize {
        self.labels.len()
    }

    /// Everything else asks for the bodies first.
    fn agree(&mut self, wanted: Decision) -> Result<Decision, Error> {
        if wanted.checkpoint || wanted.stop || wanted.time_limit {
            self.bring_back()?;
        }
        Ok(wanted)
    }

    fn state(&self) -> Result<Snapshot, Error> {
        match self.is_here() {
            true => Ok(checkpoint::save(self)),
            false => Err(Error::Refused("the stars are still on the GPU".to_owned())),
        }
    }

    fn check(&self) -> Result<(), Error> {
        let is_finite = |b: &Body| b.x.iter().chain(&b.v).all(|c| c.is_finite());
        match self.bodies().iter().find(|b| !is_finite(b)) {
            Some(Body { index, .. }) => Err(Error::Force { index: *index }),
            None => Ok(()),
        }
    }
}
