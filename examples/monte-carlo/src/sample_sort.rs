//! Phase 6 on several ranks: sample sort (section 3.4 of the paper). Its splitters are exact, so no redistribution (section 3.5) follows.
//!
//! The paper takes the splitters from one set of samples, which a designated rank sorts; the ranks then have unequal numbers of stars and
//! exchange them a second time. Here samples narrow the splitters down in rounds (histogram sort: Harsh, Kale and Solomonik 2019). In each
//! round all ranks know the same samples, and count their own stars before each of them. The sums of the counts tell between which two samples a
//! splitter lies, and the next round takes its samples there.

use std::ops::Range;

use kirin_kit::communicator::{Communicator, Operation};

use crate::error::Error;
use crate::partition::Partition;
use crate::sort::Sorter;
use crate::stars::{Stars, WORDS};

/// Samples for each splitter in a round.
pub const SAMPLES: usize = 8;
/// Samples for all splitters together in a round, where that are more.
pub const FEWEST_SAMPLES: usize = 1024;
/// Numbers of a sample.
pub const KEY_WORDS: usize = 2;

/// Radius and label: by them stars are sorted.
type Key = [u64; KEY_WORDS];

/// What the ranks exchange, and its memory.
#[derive(Debug, Default)]
pub struct Exchange {
    send: Vec<u64>,
    receive: Vec<u64>,
    counts: Vec<u64>,
    samples: Vec<Key>,
    before: Vec<f64>,
    /// Rounds in which the splitters of the last sort were found.
    pub rounds: u32,
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

fn key(stars: &Stars, k: usize) -> Key {
    [stars.r[k].to_bits(), stars.id[k]]
}

/// Where a splitter may be.
#[derive(Clone, Debug)]
struct Splitter {
    /// Its index among the stars of all ranks.
    index: usize,
    /// Stars of all ranks before the interval, and in it.
    before: usize,
    count: usize,
    /// This rank's stars in the interval.
    own: Range<usize>,
}

impl Splitter {
    fn is_found(&self) -> bool {
        self.before == self.index
    }
}

/// Sorts the stars of all ranks, and gives each rank its stars of the partition.
///
/// # Errors
///
/// A rank is lost.
pub fn sort<C: Communicator>(
    world: &C,
    stars: &mut Stars,
    sorter: &mut Sorter,
    exchange: &mut Exchange,
) -> Result<Partition, Error> {
    let partition = Partition {
        n: counts(world, stars.len())?.iter().sum(),
        ranks: world.size(),
    };
    // 1: every rank sorts its own stars.
    sorter.sort(stars);
    // 2, 3: splitters from samples of all.
    let begins = splitters(world, &partition, stars, exchange)?;
    // 4: partitions go to their ranks.
    let ends = begins.iter().skip(1).copied().chain([stars.len()]);
    let parts: Vec<usize> = begins.iter().zip(ends).map(|(a, b)| b - a).collect();
    exchange.stars(world, stars, &parts)?;
    // 5: the partitions are merged.
    sorter.sort(stars);
    Ok(partition)
}

/// Where the stars of each rank begin among this one's, which are sorted.
fn splitters<C: Communicator>(
    world: &C,
    partition: &Partition,
    stars: &Stars,
    exchange: &mut Exchange,
) -> Result<Vec<usize>, Error> {
    let splitter = |rank: usize| Splitter {
        index: partition.begin(rank),
        before: 0,
        count: partition.n,
        own: 0..stars.len(),
    };
    let mut all: Vec<Splitter> = (0..partition.ranks).map(splitter).collect();
    exchange.rounds = 0;
    loop {
        // Past the last star of all there is no sample, and no star to be sent.
        all.iter_mut()
            .filter(|s| s.index == partition.n)
            .for_each(|s| (s.before, s.own) = (s.index, stars.len()..stars.len()));
        let open = all.iter().filter(|s| !s.is_found()).count();
        if open == 0 {
            return Ok(all.iter().map(|s| s.own.start).collect());
        }
        let each = SAMPLES.max(FEWEST_SAMPLES.div_ceil(open));
        exchange.take_samples(world, stars, &all, each)?;
        exchange.count_before(world, stars)?;
        for splitter in all.iter_mut().filter(|s| !s.is_found()) {
            exchange.narrow(stars, splitter);
        }
        exchange.rounds += 1;
    }
}

/// A number below `bound` that looks random.
fn phase(rank: usize, round: u32, place: usize, bound: usize) -> usize {
    let seed = (rank as u64) << 40 ^ u64::from(round) << 32 ^ place as u64;
    // The finalizer of SplitMix64.
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
}

impl Exchange {
    /// The samples of a round, the same on all ranks: about `each` for every splitter that is still sought, at equal distances and from a
    /// random place on, on each rank.
    fn take_samples<C: Communicator>(
        &mut self,
        world: &C,
        stars: &Stars,
        all: &[Splitter],
        each: usize,
    ) -> Result<(), Error> {
        self.send.clear();
        for (place, splitter) in all.iter().enumerate().filter(|(_, s)| !s.is_found()) {
            let stride = splitter.count.div_ceil(each);
            let first = splitter.own.start + phase(world.rank(), self.rounds, place, stride);
            for k in (first..splitter.own.end).step_by(stride) {
                self.send.extend(key(stars, k));
            }
        }
        let counts = counts(world, self.send.len())?;
        world.all_gather_v(&self.send, &counts, &mut self.receive)?;
        self.samples.clear();
        self.samples.extend(self.receive.as_chunks().0);
        self.samples.sort_unstable();
        self.samples.dedup();
        Ok(())
    }

    /// How many stars of all ranks are before each sample.
    fn count_before<C: Communicator>(&mut self, world: &C, stars: &Stars) -> Result<(), Error> {
        self.before.clear();
        let mut place = 0;
        for sample in &self.samples {
            place = first_from(stars, place..stars.len(), sample);
            self.before.push(place as f64);
        }
        // Whole numbers: exact in any order.
        world.all_reduce(Operation::Sum, &mut self.before)?;
        Ok(())
    }

    /// Brings the ends of a splitter's interval to the two samples next to it.
    fn narrow(&self, stars: &Stars, splitter: &mut Splitter) {
        let above = self
            .before
            .partition_point(|&b| b as usize <= splitter.index);
        let end = splitter.before + splitter.count;
        let mut bounds = (splitter.before, end);
        let own = splitter.own.clone();
        if let Some(below) = above.checked_sub(1)
            && self.before[below] as usize >= splitter.before
        {
            bounds.0 = self.before[below] as usize;
            splitter.own.start = first_from(stars, own.clone(), &self.samples[below]);
        }
        if let Some(&before) = self.before.get(above)
            && (before as usize) < end
        {
            bounds.1 = before as usize;
            splitter.own.end = first_from(stars, own, &self.samples[above]);
        }
        (splitter.before, splitter.count) = (bounds.0, bounds.1 - bounds.0);
    }

    /// Sends the first `parts[0]` of the stars to rank 0, the next to rank 1 and so on, and takes what the others
    /// send, by rank.
    fn stars<C: Communicator>(
        &mut self,
        world: &C,
        stars: &mut Stars,
        parts: &[usize],
    ) -> Result<(), Error> {
        self.send.clear();
        self.send.extend(parts.iter().map(|&part| part as u64));
        let one_each = vec![1; world.size()];
        world.all_to_all_v(&self.send, &one_each, &mut self.counts, &one_each)?;
        let received: Vec<usize> = self.counts.iter().map(|&n| n as usize * WORDS).collect();
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

/// The first of these places whose key is not before `sample`, or their end.
fn first_from(stars: &Stars, places: Range<usize>, sample: &Key) -> usize {
    let (mut low, mut high) = (places.start, places.end);
    while low < high {
        let middle = low.midpoint(high);
        match key(stars, middle) < *sample {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}
