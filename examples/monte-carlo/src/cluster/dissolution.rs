//! The end of a cluster: a step that would leave fewer than [`FEWEST`] stars is taken back.

use kirin_kit::communicator::Communicator;

use super::{Cluster, FEWEST, Past};
use crate::error::Error;
use crate::partition::Partition;
use crate::random::Stream;
use crate::settings::Settings;
use crate::stars::Stars;

/// Encounters alone do not unbind nine tenths of so many stars in a step. A tidal field, a black hole or the mass that evolving stars lose may do so.
pub(super) const MANY: usize = 10 * FEWEST;

/// What a step changes.
pub(super) struct Kept {
    stars: Stars,
    streams: Vec<Stream>,
    partition: Partition,
    past: Past,
}

impl<C: Communicator> Cluster<C> {
    /// What the next step changes, for [`take_back`](Self::take_back); `None` where the step cannot dissolve the cluster.
    pub(super) fn keep(&self) -> Option<Kept> {
        let Settings {
            tide, evolution, ..
        } = &self.settings;
        let may_take_many = tide.is_some() || evolution.is_some() || self.past.feeding.is_some();
        (may_take_many || self.n() < MANY).then(|| Kept {
            stars: self.stars.clone(),
            streams: self.streams.clone(),
            partition: self.partition,
            past: self.past.clone(),
        })
    }

    /// Takes back a step.
    pub(super) fn take_back(&mut self, before: Kept) -> Result<(), Error> {
        let Kept {
            stars,
            streams,
            partition,
            past,
        } = before;
        (self.stars, self.streams, self.partition, self.past) = (stars, streams, partition, past);
        self.escapers.clear();
        self.taken.clear();
        self.potential.centre = self.past.hole_mass;
        self.synchronise()?;
        self.update_potential();
        self.diagnose()
    }
}
