//! The stars that grow by collisions. All ranks know all of them.

use std::cmp::Reverse;

use kirin_kit::communicator::Communicator;

use super::Cluster;
use crate::collision::Merged;
use crate::error::Error;
use crate::ledger::Escaper;
use crate::stars::Stars;

/// Words of a merger: the labels of the star that stays and of the one that is in it now, and the mass of both.
const WORDS: usize = 3;

impl<C: Communicator> Cluster<C> {
    /// Number of mergers since the start: each has left one star fewer.
    pub fn mergers(&self) -> u64 {
        if self.settings.radius == 0.0 {
            return 0;
        }
        let ledger = &self.past.ledger;
        let left = self.n() as u64 + ledger.escapers + ledger.taken;
        (self.past.n0 as u64).saturating_sub(left)
    }

    /// The heaviest of the stars in the cluster that have grown by mergers. Of equal ones it is the one with the smallest label.
    pub fn largest_merged(&self) -> Option<Merged> {
        let order = |a: &&Merged, b: &&Merged| {
            let by_mass = a.mass.total_cmp(&b.mass);
            by_mass.then(Reverse(a.id).cmp(&Reverse(b.id)))
        };
        self.past.merged.iter().max_by(order).copied()
    }

    /// Notes the mergers of this step, after which a star without mass stands before each star that has grown.
    pub(super) fn note_mergers(&mut self) -> Result<(), Error> {
        let Stars { id, m, .. } = &self.stars;
        let gone = (0..m.len()).filter(|&place| m[place] == 0.0);
        let words = gone.flat_map(|place| [id[place + 1], id[place], m[place + 1].to_bits()]);
        let all = self.all_words(words.collect())?;
        let merged = &mut self.past.merged;
        let place = |merged: &[Merged], id: u64| merged.binary_search_by_key(&id, |star| star.id);
        // A star has one merger in a step at most, so the order does not matter.
        for words in all.chunks_exact(WORDS) {
            let (id, other, mass) = (words[0], words[1], f64::from_bits(words[2]));
            let mergers = 1 + match place(merged, other) {
                Ok(there) => merged.remove(there).mergers,
                Err(_) => 0,
            };
            match place(merged, id) {
                Ok(there) => {
                    merged[there].mass = mass;
                    merged[there].mergers += mergers;
                }
                Err(there) => merged.insert(there, Merged { id, mass, mergers }),
            }
        }
        Ok(())
    }

    /// Takes out the merged stars that are among the stars that have left.
    pub(super) fn forget_merged(&mut self, escaped: &[Escaper]) {
        for escaper in escaped {
            let merged = &mut self.past.merged;
            if let Ok(there) = merged.binary_search_by_key(&escaper.id(), |star| star.id) {
                merged.remove(there);
            }
        }
    }
}
