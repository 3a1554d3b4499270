//! Sums by a GRAPE-6 library: the j-particles are a group's interaction list, and the group is a block.

use std::time::Instant;

use kirin::client::{Block, Grape};
use rayon::prelude::*;

use crate::error::Error;
use crate::forces::Counts;
use crate::particle::Particle;
use crate::tree::Tree;
use crate::walk::{self, Group, List};

/// Label of every source that is not a particle of the group. The library leaves out a particle's force on itself
/// by its label, so only the group's own particles need different labels.
const OTHER: i32 = -1;

/// Lists that each thread finds in a row before the library gets them.
const LISTS_PER_THREAD: usize = 4;

/// A library with its cluster open.
pub struct Library<'g> {
    grape: &'g Grape,
    /// The cluster of this rank: GRAPE-6 clients call their first one 0.
    id: i32,
    most_at_once: usize,
    lists: Vec<List>,
    block: Block,
}

impl<'g> Library<'g> {
    /// Opens the library's cluster number `id`.
    ///
    /// # Errors
    ///
    /// The library refuses.
    pub fn open(grape: &'g Grape, id: i32) -> Result<Self, Error> {
        let status = grape.open(id);
        if status != 0 {
            return Err(Error::Library(status));
        }
        grape.set_ti(id, 0.0);
        // One thread uses a list while it is in the cache.
        let lists = match rayon::current_num_threads() {
            1 => 1,
            threads => threads * LISTS_PER_THREAD,
        };
        Ok(Self {
            grape,
            id,
            most_at_once: grape.most_at_once(),
            lists: vec![List::default(); lists],
            block: Block::default(),
        })
    }

    /// Finds the forces on all `groups` of `particles`.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn find(
        &mut self,
        tree: &Tree,
        groups: &[Group],
        eps2: f64,
        particles: &mut [Particle],
        (lengths, work): (&mut [u32], &mut Counts),
    ) -> Result<(), Error> {
        let most = self.lists.len();
        for (batch, lengths) in groups.chunks(most).zip(lengths.chunks_mut(most)) {
            let began = Instant::now();
            self.lists
                .par_iter_mut()
                .zip(batch)
                .for_each(|(list, group)| walk::walk(tree, group, list));
            work.times.walk += began.elapsed();
            for (k, group) in batch.iter().enumerate() {
                let began = Instant::now();
                let nj = self.load(k, group.particles().len());
                let loaded = Instant::now();
                work.times.transfer += loaded - began;
                self.sum(nj, eps2, &mut particles[group.particles()])?;
                work.times.force += loaded.elapsed();
                lengths[k] = nj as u32;
                work.entries += nj as u64;
                work.pairs += nj as u64 * u64::from(group.count);
            }
        }
        Ok(())
    }

    /// Sends list `k`, of a group with `own` particles; returns its length.
    fn load(&self, k: usize, own: usize) -> usize {
        let points = &self.lists[k].points;
        for (address, [x, y, z, mass]) in (0..).zip(points) {
            let index = if (address as usize) < own {
                address
            } else {
                OTHER
            };
            self.grape
                .set_mass_position(self.id, address, index, *mass, &[*x, *y, *z]);
        }
        points.len()
    }

    /// Finds the forces of what was loaded, on as many particles at a time as the library likes.
    fn sum(&mut self, nj: usize, eps2: f64, group: &mut [Particle]) -> Result<(), Error> {
        let (grape, id, block) = (self.grape, self.id, &mut self.block);
        let mut label = 0;
        for chunk in group.chunks_mut(self.most_at_once) {
            block.resize(chunk.len());
            for (k, p) in chunk.iter().enumerate() {
                (block.index[k], block.x[k], block.v[k]) = (label, p.x, [0.0; 3]);
                (block.acc[k], block.pot[k]) = (p.acc, p.pot);
                label += 1;
            }
            grape.firsthalf(id, nj, block, eps2);
            let status = grape.lasthalf(id, nj, block, eps2);
            if status != 0 {
                return Err(Error::Library(status));
            }
            for (k, p) in chunk.iter_mut().enumerate() {
                (p.acc, p.pot) = (block.acc[k], block.pot[k]);
            }
        }
        Ok(())
    }

    /// Name of what computes, and its precision.
    pub fn description(&self) -> (String, String) {
        (self.grape.backend(self.id), self.grape.precision(self.id))
    }
}

impl Drop for Library<'_> {
    fn drop(&mut self) {
        self.grape.close(self.id);
    }
}
