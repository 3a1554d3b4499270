//! The neighbour lists of the last block, built when they are first asked for.

use std::time::Instant;

use super::Cluster;
use super::block::I_PARTICLES;
use crate::error::{Error, Result};
use crate::process::long_work::LongWork;
use crate::process::{allocation, log};
use crate::sources::neighbours::{self, ListRules, NeighbourLists};
use crate::sources::particle::IParticle;

impl Cluster {
    /// Number of i-particles in the last block.
    pub fn block_length(&self) -> usize {
        self.block.particles.len()
    }

    /// Whether no i-particle of the block has a radius.
    pub(super) fn lists_are_empty(&self) -> bool {
        !self.has_radii
    }

    /// Makes the lists of the block, or notes why there are none.
    pub(super) fn build_lists(&mut self) {
        if self.lists_are_empty() {
            self.lists = Some(Ok(NeighbourLists::default()));
            return;
        }
        let lists = self.lists_by(ListRules {
            include_self: self.settings.lists_include_self(),
            sorted: neighbours::sort_mode() != 0,
            at_most: neighbours::LABELS_AT_MOST,
        });
        if let Err(error) = &lists {
            log::error("g6_read_neighbour_list", error);
        }
        self.lists = Some(lists);
    }

    /// The lists of the block by other rules than those of GRAPE-6. They are not kept.
    ///
    /// # Errors
    ///
    /// They have too many labels, or there is no memory for them.
    pub fn lists_by(&mut self, rules: ListRules) -> Result<NeighbourLists> {
        let backend = self.arithmetic.any(&self.settings);
        let begin = self.stats.is_some().then(Instant::now);
        let work = self.work.map(LongWork::begin);
        let lists = backend.neighbour_lists(&self.memory, &self.block, rules);
        drop(work);
        if let Err(Error::ThreadsLost) = lists {
            self.arithmetic.forget_backends();
            return self.lists_by(rules);
        }
        if let (Some(stats), Some(begin)) = (&mut self.stats, begin) {
            stats.add_lists(begin.elapsed());
        }
        lists
    }

    /// The lists of some i-particles of which nobody wants forces. There is no block then.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::lists_by`].
    pub fn lists_on(
        &mut self,
        nj: usize,
        particles: impl ExactSizeIterator<Item = IParticle>,
        rules: ListRules,
    ) -> Result<NeighbourLists> {
        // Brings the backend up to date, and has it begin no forces.
        self.firsthalf(nj, std::iter::empty())?;
        self.arithmetic.retract();
        if let Some(stats) = &mut self.stats {
            stats.retract(0);
        }
        let room = allocation::reserve(&mut self.block.particles, particles.len(), I_PARTICLES);
        let lists = match room {
            Ok(()) => {
                self.block.particles.extend(particles);
                self.lists_by(rules)
            }
            Err(error) => Err(error),
        };
        self.drop_block();
        self.block.particles.clear();
        lists
    }

    /// The neighbour lists of the last block. The first call builds them.
    ///
    /// # Errors
    ///
    /// They have too many labels, or there is no memory for them.
    pub fn neighbour_lists(&mut self) -> Result<&NeighbourLists> {
        if self.lists.is_none() {
            self.build_lists();
        }
        match &self.lists {
            Some(Ok(lists)) => Ok(lists),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::OutOfMemory {
                purpose: "neighbour lists",
            }),
        }
    }
}
