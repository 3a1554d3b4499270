//! Phase 6 on several ranks: sample sort (section 3.4 of the paper), in its five phases.

use kirin_kit::communicator::Communicator;

use crate::error::Error;
use crate::sort::Sorter;
use crate::stars::{Stars, WORDS};

/// Samples of a rank for each rank there is. A run of s p samples at equal distances divides the stars so that no
/// rank gets more than 1 + 1/s times its share.
pub const SAMPLES: usize = 8;

/// What the ranks exchange, and its memory.
#[derive(Debug, Default)]
pub struct Exchange {
    send: Vec<u64>,
    receive: Vec<u64>,
    counts: Vec<u64>,
}

/// Numbers of stars on all ranks, if this one has `mine`.
///
/// # Errors
///
/// A rank is lost.
pub fn counts<C: Communicator>(world: &C, mine: usize) -> Result<Vec<usize>, Error> {
    let mut all = Vec::new();
    world.all_gather(&[mine as u64], &mut all)?;
    Ok(all.into_iter().map(|n| n as usize).collect())
}

/// Radius and label: by them stars are sorted.
fn key(stars: &Stars, k: usize) -> [u64; 2] {
    [stars.r[k].to_bits(), stars.id[k]]
}

/// Sorts the stars of all ranks: afterwards each rank's are sorted, and further out than those of the ranks
/// before. `all` are the numbers of stars on the ranks.
///
/// # Errors
///
/// A rank is lost.
pub fn sort<C: Communicator>(
    world: &C,
    all: &[usize],
    stars: &mut Stars,
    sorter: &mut Sorter,
    exchange: &mut Exchange,
) -> Result<(), Error> {
    // 1: everybody sorts their own.
    sorter.sort(stars);
    // 2, 3: from samples of all, splitters.
    let splitters = splitters(world, all, stars, exchange)?;
    // 4: partitions go to their ranks.
    let mut parts = vec![0; world.size()];
    let mut begin = 0;
    for (rank, part) in parts.iter_mut().enumerate() {
        let mut end = stars.len();
        if let Some(splitter) = splitters.get(rank) {
            let (mut low, mut high) = (begin, end);
            while low < high {
                let middle = low.midpoint(high);
                match key(stars, middle) < *splitter {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            end = low;
        }
        *part = end - begin;
        begin = end;
    }
    exchange.stars(world, stars, &parts)?;
    // 5: the partitions are merged.
    sorter.sort(stars);
    Ok(())
}

/// The first key of each rank but the first.
fn splitters<C: Communicator>(
    world: &C,
    all: &[usize],
    stars: &Stars,
    exchange: &mut Exchange,
) -> Result<Vec<[u64; 2]>, Error> {
    let ranks = world.size();
    let n: usize = all.iter().sum();
    let stride = n.div_ceil(SAMPLES * ranks * ranks).max(1);
    // So that the samples of each rank stand for as many stars as any other's.
    let samples = |count: usize| count / stride + usize::from(!count.is_multiple_of(stride));
    let counts: Vec<usize> = all.iter().map(|&count| 2 * samples(count)).collect();
    exchange.send.clear();
    for k in (0..stars.len()).step_by(stride) {
        exchange.send.extend(key(stars, k));
    }
    world.gather_v(0, &exchange.send, &counts, &mut exchange.receive)?;
    let mut chosen = vec![0; 2 * (ranks - 1)];
    if world.rank() == 0 {
        let mut keys: Vec<[u64; 2]> = exchange
            .receive
            .chunks_exact(2)
            .map(|k| [k[0], k[1]])
            .collect();
        keys.sort_unstable();
        for rank in 1..ranks {
            // Fewer samples than ranks: the last ranks remain without stars.
            let place = keys.get(rank * keys.len() / ranks);
            let splitter = place.copied().unwrap_or([u64::MAX; 2]);
            chosen[2 * rank - 2..2 * rank].copy_from_slice(&splitter);
        }
    }
    world.broadcast(0, &mut chosen)?;
    Ok(chosen.chunks_exact(2).map(|k| [k[0], k[1]]).collect())
}

impl Exchange {
    /// Sends the first `parts[0]` of the stars to rank 0, the next to rank 1 and so on, and takes what the others
    /// send, by rank.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn stars<C: Communicator>(
        &mut self,
        world: &C,
        stars: &mut Stars,
        parts: &[usize],
    ) -> Result<(), Error> {
        self.send.clear();
        self.send.extend(parts.iter().map(|&part| part as u64));
        world.all_gather(&self.send, &mut self.counts)?;
        let (ranks, me) = (world.size(), world.rank());
        let to_me = (0..ranks).map(|rank| self.counts[rank * ranks + me] as usize * WORDS);
        let received: Vec<usize> = to_me.collect();
        let sent: Vec<usize> = parts.iter().map(|part| part * WORDS).collect();
        self.send.clear();
        for k in 0..stars.len() {
            self.send.extend(stars.row(k));
        }
        world.all_to_all_v(&self.send, &sent, &mut self.receive, &received)?;
        stars.clear();
        self.receive
            .chunks_exact(WORDS)
            .for_each(|row| stars.push_row(row));
        Ok(())
    }
}
