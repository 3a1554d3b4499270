//! Sums by a GRAPE-6 library: the j-particles are a group's interaction list, and the group is a block.
//!
//! On a CPU the threads of the program find lists, and those of the library sum them, one list after the other. With a
//! GPU each thread finds lists, and has two clusters in turn: while the device sums the list in one of them, the thread
//! finds and loads the next list into the other. No bit of a force depends on this.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use kirin::client::{Block, Grape};
use rayon::prelude::*;

use crate::division::{self, Part};
use crate::error::Error;
use crate::forces::Counts;
use crate::particle::Particle;
use crate::tree::Tree;
use crate::walk::{self, List};

/// Label of every source that is not a particle of the group. The library leaves out a particle's force on itself
/// by its label, so only the group's own particles need different labels.
const OTHER: i32 = -1;

/// On a CPU, lists that each thread finds in a row before the library gets them.
const LISTS_PER_THREAD: usize = 4;

/// With a GPU, clusters of each thread.
const IN_TURN: usize = 2;

/// With a GPU, parts of the groups for each thread: a thread that is done early takes parts of others.
const PARTS_PER_THREAD: usize = 4;

/// A library with its clusters open.
pub struct Library<'g> {
    /// On a CPU one, with a GPU one for each thread.
    lanes: Vec<Mutex<Lane<'g>>>,
    /// On a CPU, lists that were found and are not summed yet.
    lists: Vec<List>,
    is_on_gpu: bool,
}

/// What one thread uses.
struct Lane<'g> {
    clusters: Vec<Cluster<'g>>,
    list: List,
}

impl<'g> Library<'g> {
    /// Opens the clusters of rank `rank`: those of different ranks in one process have different numbers. With a GPU
    /// it opens two for each thread, else one.
    ///
    /// # Errors
    ///
    /// The library refuses; there are more clusters than its numbers count.
    pub fn open(grape: &'g Grape, rank: usize) -> Result<Self, Error> {
        let threads = rayon::current_num_threads();
        let each = match grape.is_kirin() {
            true => threads * IN_TURN,
            false => 1,
        };
        let number = |k: usize| {
            let number = i32::try_from(rank * each + k);
            number.map_err(|_| Error::Refused("too many ranks and threads".to_owned()))
        };
        let first = Cluster::open(grape, number(0)?)?;
        let mut clusters = vec![first];
        let is_on_gpu = clusters[0].is_on_gpu();
        if is_on_gpu {
            for k in 1..each {
                clusters.push(Cluster::open(grape, number(k)?)?);
            }
        }
        let mut lanes = Vec::new();
        while !clusters.is_empty() {
            let rest = clusters.split_off(clusters.len().min(IN_TURN));
            lanes.push(Mutex::new(Lane::new(clusters)));
            clusters = rest;
        }
        // One thread uses a list while it is in the cache.
        let lists = match threads {
            1 => 1,
            threads => threads * LISTS_PER_THREAD,
        };
        Ok(Self {
            lanes,
            lists: vec![List::default(); lists],
            is_on_gpu,
        })
    }

    /// Finds the forces on all particles. Returns what was done.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn find(&mut self, tree: &Tree, eps2: f64, all: Part<'_>) -> Result<Counts, Error> {
        // A GPU may be lost in the midst of a run.
        let first = self.lanes[0].get_mut();
        let first = &first.unwrap_or_else(PoisonError::into_inner).clusters[0];
        self.is_on_gpu = self.is_on_gpu && first.is_on_gpu();
        if !self.is_on_gpu {
            return self.find_one_by_one(tree, eps2, all);
        }
        let lanes = &self.lanes[..];
        let most = match lanes.len() {
            1 => all.groups.len(),
            threads => all.groups.len().div_ceil(threads * PARTS_PER_THREAD),
        };
        division::on_threads(all, most, &|part| {
            let lane = &lanes[rayon::current_thread_index().unwrap_or(0)];
            let mut lane = lane.lock().unwrap_or_else(PoisonError::into_inner);
            lane.find(tree, eps2, part)
        })
    }

    /// The threads find a batch of lists, which the library gets one by one.
    fn find_one_by_one(&mut self, tree: &Tree, eps2: f64, all: Part<'_>) -> Result<Counts, Error> {
        let lane = self.lanes[0].get_mut();
        let cluster = &mut lane.unwrap_or_else(PoisonError::into_inner).clusters[0];
        let most = self.lists.len();
        let mut done = Counts::default();
        for (batch, lengths) in all.groups.chunks(most).zip(all.lengths.chunks_mut(most)) {
            let began = Instant::now();
            self.lists
                .par_iter_mut()
                .zip(batch)
                .try_for_each(|(list, group)| walk::walk(tree, group, list))?;
            done.times.walk += began.elapsed();
            for ((group, list), length) in batch.iter().zip(&self.lists).zip(lengths) {
                let began = Instant::now();
                cluster.load(list, group.particles().len());
                let loaded = Instant::now();
                done.times.transfer += loaded - began;
                let particles = &mut all.particles[group.particles()];
                cluster.start(eps2, particles)?;
                cluster.finish(eps2, particles)?;
                done.times.force += loaded.elapsed();
                *length = done.count(group, list);
            }
        }
        Ok(done)
    }

    /// Name of what computes, and its precision.
    pub fn description(&self) -> (String, String) {
        let lane = self.lanes[0].lock().unwrap_or_else(PoisonError::into_inner);
        let Cluster { grape, id, .. } = &lane.clusters[0];
        (grape.backend(*id), grape.precision(*id))
    }
}

impl<'g> Lane<'g> {
    fn new(clusters: Vec<Cluster<'g>>) -> Self {
        Self {
            clusters,
            list: List::default(),
        }
    }

    /// Finds the forces on the particles of `part`. A cluster sums while the next one is loaded.
    fn find(&mut self, tree: &Tree, eps2: f64, part: Part<'_>) -> Result<Counts, Error> {
        let mut done = Counts::default();
        let mut summing: Option<(usize, &mut [Particle])> = None;
        let mut rest = part.particles;
        let mut outcome = Ok(());
        for (k, (group, length)) in part.groups.iter().zip(part.lengths).enumerate() {
            let (own, others) = rest.split_at_mut(group.particles().len());
            rest = others;
            let began = Instant::now();
            outcome = walk::walk(tree, group, &mut self.list);
            if outcome.is_err() {
                break;
            }
            let found = Instant::now();
            let at = k % IN_TURN;
            self.clusters[at].load(&self.list, own.len());
            let loaded = Instant::now();
            outcome = self.clusters[at].start(eps2, own);
            if outcome.is_ok() {
                let before = summing.replace((at, own));
                outcome = self.finish(eps2, before);
            }
            *length = done.count(group, &self.list);
            done.times.walk += found - began;
            done.times.transfer += loaded - found;
            done.times.force += loaded.elapsed();
            if outcome.is_err() {
                break;
            }
        }
        let began = Instant::now();
        // After an error, too: a block that was begun is fetched.
        let last = self.finish(eps2, summing);
        done.times.force += began.elapsed();
        outcome.and(last).map(|()| done)
    }

    fn finish(
        &mut self,
        eps2: f64,
        summing: Option<(usize, &mut [Particle])>,
    ) -> Result<(), Error> {
        match summing {
            Some((at, group)) => self.clusters[at].finish(eps2, group),
            None => Ok(()),
        }
    }
}

/// One cluster of the library: GRAPE-6 clients call their first one 0.
struct Cluster<'g> {
    grape: &'g Grape,
    id: i32,
    most_at_once: usize,
    /// Length of the list that was loaded.
    nj: usize,
    block: Block,
}

impl<'g> Cluster<'g> {
    fn open(grape: &'g Grape, id: i32) -> Result<Self, Error> {
        let status = grape.open(id);
        if status != 0 {
            return Err(Error::Library(status));
        }
        grape.set_ti(id, 0.0);
        Ok(Self {
            grape,
            id,
            most_at_once: grape.most_at_once(),
            nj: 0,
            block: Block::default(),
        })
    }

    fn is_on_gpu(&self) -> bool {
        self.grape.is_kirin() && self.grape.backend(self.id).starts_with("cuda")
    }

    /// Sends the list of a group with `own` particles.
    fn load(&mut self, list: &List, own: usize) {
        for (address, [x, y, z, mass]) in (0..).zip(&list.points) {
            let index = if (address as usize) < own {
                address
            } else {
                OTHER
            };
            self.grape
                .set_mass_position(self.id, address, index, *mass, &[*x, *y, *z]);
        }
        self.nj = list.points.len();
    }

    /// Starts the forces of what was loaded on `group`. If the library takes fewer particles at a time, only those of
    /// the last part are still to be fetched.
    fn start(&mut self, eps2: f64, group: &mut [Particle]) -> Result<(), Error> {
        let last = self.last(group);
        let (before, part) = group.split_at_mut(last);
        let most = self.most_at_once;
        for (k, part) in before.chunks_mut(most).enumerate() {
            self.start_part(eps2, k * most, part);
            self.finish_part(eps2, part)?;
        }
        self.start_part(eps2, last, part);
        Ok(())
    }

    /// Fetches what was started.
    fn finish(&mut self, eps2: f64, group: &mut [Particle]) -> Result<(), Error> {
        let last = self.last(group);
        self.finish_part(eps2, &mut group[last..])
    }

    /// Where the last part of a group begins.
    fn last(&self, group: &[Particle]) -> usize {
        let most = self.most_at_once;
        group.len().saturating_sub(1) / most * most
    }

    /// `label` is that of the part's first particle.
    fn start_part(&mut self, eps2: f64, label: usize, part: &[Particle]) {
        let block = &mut self.block;
        block.resize(part.len());
        for (k, p) in part.iter().enumerate() {
            block.index[k] = (label + k) as i32;
            (block.x[k], block.v[k]) = (p.x, [0.0; 3]);
            (block.acc[k], block.pot[k]) = (p.acc, p.pot);
        }
        self.grape.firsthalf(self.id, self.nj, block, eps2);
    }

    fn finish_part(&mut self, eps2: f64, part: &mut [Particle]) -> Result<(), Error> {
        let block = &mut self.block;
        let status = self.grape.lasthalf(self.id, self.nj, block, eps2);
        if status != 0 {
            return Err(Error::Library(status));
        }
        for (k, p) in part.iter_mut().enumerate() {
            (p.acc, p.pot) = (block.acc[k], block.pot[k]);
        }
        Ok(())
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        self.grape.close(self.id);
    }
}
