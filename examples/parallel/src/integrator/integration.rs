//! The integration as a run sees it: records, states, what the ranks agree on.

use std::path::Path;

use hermite::checkpoint;
use hermite::motion::Motion;
use hermite::particle;
use kirin_kit::Body;
use kirin_kit::Snapshot;
use kirin_kit::bound::{BoundPart, Potentials};
use kirin_kit::columns::Column;
use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::checkpoint::save;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Decision, Integration};
use kirin_kit::snapshot::State;

use super::Integrator;
use crate::agreement::share;
use crate::error::Error;
use crate::machine::Node;
use crate::potentials;

impl<C: Communicator> Integration for Integrator<'_, C> {
    type Error = Error;

    fn is_common(error: &Error) -> bool {
        error.is_agreed()
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn next_time(&self, t_end: f64) -> Option<f64> {
        Some(self.agreed.t).filter(|t| *t <= t_end && t.is_finite())
    }

    fn step(&mut self, _: f64) -> Result<(), Error> {
        Integrator::step(self)
    }

    fn visible(&self, t: f64) -> Option<f64> {
        (t < self.agreed.t).then_some(t)
    }

    fn bodies_at(&mut self, t: f64) -> Result<Vec<Body>, Error> {
        Ok(self.synchronised(t)?.unwrap_or_default())
    }

    /// The sums are in double precision on the host, like those of `hermite`: they judge the library's forces.
    fn potentials(&mut self, bodies: &[Body]) -> Result<Option<Potentials>, Error> {
        let eps2 = self.settings.eps.powi(2);
        let sums = potentials::shared(&self.machine.world, bodies, self.n, eps2)?;
        Ok(Some(Potentials::Summed(sums, eps2)))
    }

    fn galaxy(&self) -> Option<&Galaxy> {
        Some(&self.settings.galaxy)
    }

    fn share(&mut self, value: f64) -> Result<f64, Error> {
        share(&self.machine.world, value)
    }

    fn remark(&mut self) -> Option<String> {
        let (bodies, states) = self.seen.take()?;
        self.pairs
            .remark(&self.counts, &bodies, &states, &self.settings)
    }

    fn own_columns(&self) -> Vec<Column> {
        Motion::COLUMNS.to_vec()
    }

    fn own_numbers(&self, bodies: &[Body], bound: &BoundPart) -> Vec<f64> {
        Motion::of(bodies, bound).numbers()
    }

    fn notes(&self) -> Vec<(String, String)> {
        self.settings.galaxy.lines()
    }

    fn eps(&self) -> f64 {
        self.settings.eps
    }

    fn count(&self) -> usize {
        self.n
    }

    /// The state as `hermite` has it, on rank 0: one file, which any grid and `hermite` can read. It is written as
    /// a whole or not at all. For a million particles this takes 400 MB of memory and some seconds.
    fn state(&self) -> Result<Snapshot, Error> {
        let (bodies, states) = self.gather()?.unwrap_or_default();
        Ok(Snapshot {
            time: self.time,
            bodies,
            states: Some(states),
            run: checkpoint::lines(&self.settings, &self.counts),
            ..Snapshot::default()
        })
    }

    fn check(&self) -> Result<(), Error> {
        let mine = &self.column;
        for (body, state) in mine.bodies.iter().zip(&mine.states) {
            particle::check_state(&self.settings, self.time, body, state)?;
        }
        Ok(())
    }

    /// The first rank of each column writes the column.
    fn save_in_parts(
        &self,
        lines: &[(String, String)],
        path: &Path,
    ) -> Result<Option<Result<(), String>>, Error> {
        if !self.in_parts {
            return Ok(None);
        }
        let mut head = Snapshot {
            time: self.time,
            states: Some(Vec::new()),
            run: checkpoint::lines(&self.settings, &self.counts),
            ..Snapshot::default()
        };
        head.run.extend(lines.iter().cloned());
        let mine: (&[Body], &[State]) = match self.machine.place.0 {
            0 => (&self.column.bodies, &self.column.states),
            _ => (&[], &[]),
        };
        Ok(Some(save(&self.machine.world, path, head, mine)?))
    }

    fn rank(&self) -> (usize, usize) {
        let world = &self.machine.world;
        (world.rank(), world.size())
    }

    fn agree(&mut self, wanted: Decision) -> Result<Decision, Error> {
        let Node { world, sources, .. } = &self.machine;
        self.agreement.reach(world, sources, wanted)
    }
}
