//! The exchange between ranks: stars and random numbers that move to other ranks (phase 6), and data that all ranks,
//! or rank 0, gather from all ranks.

use std::ops::Range;
use std::time::Instant;

use kirin_kit::communicator::Communicator;

use super::Cluster;
use crate::error::Error;
use crate::ledger::Escaper;
use crate::partition::{BIN, Partition};
use crate::profile::Phase;
use crate::random::Stream;
use crate::sample_sort;
use crate::stars::{Stars, WORDS};

impl<C: Communicator> Cluster<C> {
    /// Phase 6: takes out who has gone, sorts, and divides the stars among the ranks; random numbers go with their bins.
    pub(super) fn sort(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let old = self.partition;
        if self.stars.r.iter().any(|r| r.is_infinite()) {
            for k in 0..self.stars.len() {
                if self.stars.r[k].is_infinite() && self.stars.m[k] > 0.0 {
                    self.escapers.push(Escaper::of(&self.stars, k, &self.taken));
                }
            }
            self.stars.retain(|stars, k| stars.r[k].is_finite());
        }
        if self.world.size() == 1 {
            self.sorter.sort(&mut self.stars);
            self.partition = Partition {
                n: self.stars.len(),
                ranks: 1,
            };
        } else {
            self.partition = sample_sort::sort(
                &self.world,
                &mut self.stars,
                &mut self.sorter,
                &mut self.exchange,
            )?;
        }
        if old.n > 0 && old.n != self.partition.n {
            self.move_streams(old)?;
        }
        self.profile.0[Phase::Sort as usize] += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// Brings the random numbers of each bin to the rank that has the bin now. If there are more bins than before,
    /// because binaries were dissolved, each new bin has a stream that branches off the one before it.
    pub(super) fn move_streams(&mut self, old: Partition) -> Result<(), Error> {
        let bins = |partition: &Partition| -> Vec<_> {
            (0..partition.ranks)
                .map(|rank| partition.bins(rank))
                .collect()
        };
        let (before, after) = (bins(&old), bins(&self.partition));
        if before == after {
            return Ok(());
        }
        let mut streams = self.all_streams_of(&before)?;
        let bins = self.partition.n.div_ceil(BIN);
        while streams.len() < bins {
            let last = streams.last_mut().expect("there are five bins");
            let begins = last.branch();
            streams.push(begins);
        }
        self.streams.clear();
        self.streams
            .extend(&streams[after[self.world.rank()].clone()]);
        Ok(())
    }

    pub(super) fn all_streams_of(&self, bins: &[Range<usize>]) -> Result<Vec<Stream>, Error> {
        let send: Vec<u64> = self.streams.iter().flat_map(Stream::words).collect();
        let counts: Vec<usize> = bins.iter().map(|bins| 2 * bins.len()).collect();
        let mut receive = Vec::new();
        self.world.all_gather_v(&send, &counts, &mut receive)?;
        let stream = |words: &[u64]| {
            Stream::of_words([words[0], words[1]]).expect("a stream never stands still")
        };
        Ok(receive.chunks_exact(2).map(stream).collect())
    }

    /// Random numbers of all bins, on every rank.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn all_streams(&self) -> Result<Vec<Stream>, Error> {
        let bins: Vec<_> = (0..self.partition.ranks)
            .map(|rank| self.partition.bins(rank))
            .collect();
        self.all_streams_of(&bins)
    }

    /// All stars in the order of radii, on rank 0.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn gather(&self) -> Result<Option<Stars>, Error> {
        if self.world.size() == 1 {
            return Ok(Some(self.stars.clone()));
        }
        let send: Vec<u64> = (0..self.stars.len())
            .flat_map(|k| self.stars.row(k))
            .collect();
        let counts: Vec<usize> = self.partition.counts().iter().map(|n| n * WORDS).collect();
        let mut receive = Vec::new();
        self.world.gather_v(0, &send, &counts, &mut receive)?;
        if self.world.rank() > 0 {
            return Ok(None);
        }
        let mut stars = Stars::default();
        receive
            .chunks_exact(WORDS)
            .for_each(|row| stars.push_row(row));
        Ok(Some(stars))
    }

    /// The duplicated arrays.
    pub(super) fn synchronise(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        if self.world.size() == 1 {
            self.radii.clone_from(&self.stars.r);
        } else {
            let counts = self.partition.counts();
            self.world
                .all_gather_v(&self.stars.r, &counts, &mut self.radii)?;
        }
        self.profile.0[Phase::Synchronisation as usize] += began.elapsed().as_secs_f64();
        self.synchronise_masses()
    }

    /// The masses of all stars, where they are stored now.
    pub(super) fn synchronise_masses(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        if self.world.size() == 1 {
            self.masses.clone_from(&self.stars.m);
        } else {
            let counts = self.partition.counts();
            self.world
                .all_gather_v(&self.stars.m, &counts, &mut self.masses)?;
        }
        self.profile.0[Phase::Synchronisation as usize] += began.elapsed().as_secs_f64();
        Ok(())
    }
}
