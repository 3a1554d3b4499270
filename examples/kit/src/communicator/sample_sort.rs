//! Sample sort among ranks, with exact splitters: each rank gets exactly those places of the sorted whole that the
//! caller names.
//!
//! Samples narrow the splitters down in rounds (histogram sort: Harsh, Kale and Solomonik 2019). In each round all ranks
//! know the same samples, and count their own elements before each of them. The sums of the counts tell between which two
//! samples a splitter lies, and the next round takes its samples there.

use std::ops::Range;

use super::{Communicator, Operation, Result};

/// Samples for each splitter in a round.
pub const SAMPLES: usize = 8;
/// Samples for all splitters together in a round, where that are more.
pub const FEWEST_SAMPLES: usize = 1024;
/// Numbers of a key.
pub const KEY_WORDS: usize = 2;

/// What elements are sorted by: the second number decides between equal first ones. No two elements have the same key.
pub type Key = [u64; KEY_WORDS];

/// This rank's elements, sorted.
pub trait Sorted {
    /// Number of elements.
    fn count(&self) -> usize;

    /// The key of the element at this place.
    fn key(&self, place: usize) -> Key;
}

/// What the ranks exchange, and its memory.
#[derive(Debug, Default)]
pub struct SampleSort {
    send: Vec<u64>,
    receive: Vec<u64>,
    counts: Vec<u64>,
    samples: Vec<Key>,
    before: Vec<f64>,
    /// Rounds in which the last splitters were found.
    pub rounds: u32,
}

/// Numbers of elements on all ranks, if this one has `mine`.
///
/// # Errors
///
/// A rank is lost.
pub fn counts<C: Communicator>(world: &C, mine: usize) -> Result<Vec<usize>> {
    let mut all = Vec::new();
    world.all_gather(&[mine as u64], &mut all)?;
    Ok(all.into_iter().map(|n| n as usize).collect())
}

/// The numbers of elements between places, the last of which ends at `end`.
pub fn parts(begins: &[usize], end: usize) -> Vec<usize> {
    let ends = begins.iter().skip(1).copied().chain([end]);
    begins.iter().zip(ends).map(|(a, b)| b - a).collect()
}

/// Where a splitter may be.
#[derive(Clone, Debug)]
struct Splitter {
    /// Its place among the elements of all ranks.
    index: usize,
    /// Elements of all ranks before the interval, and in it.
    before: usize,
    count: usize,
    /// This rank's elements in the interval.
    own: Range<usize>,
}

impl Splitter {
    fn is_found(&self) -> bool {
        self.before == self.index
    }
}

impl SampleSort {
    /// Where this rank must divide its `sorted` elements to send them: entry r is the index of the first element for
    /// rank r. In the global order rank r gets the places `begins[r]` to `begins[r + 1]`; the last rank gets the rest,
    /// up to `n`.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn splitters<C: Communicator>(
        &mut self,
        world: &C,
        sorted: &impl Sorted,
        begins: &[usize],
        n: usize,
    ) -> Result<Vec<usize>> {
        let splitter = |&index: &usize| Splitter {
            index,
            before: 0,
            count: n,
            own: 0..sorted.count(),
        };
        let mut all: Vec<Splitter> = begins.iter().map(splitter).collect();
        self.rounds = 0;
        loop {
            // Past the last element of all there is no sample, and nothing to be sent.
            all.iter_mut()
                .filter(|s| s.index == n)
                .for_each(|s| (s.before, s.own) = (s.index, sorted.count()..sorted.count()));
            let open = all.iter().filter(|s| !s.is_found()).count();
            if open == 0 {
                return Ok(all.iter().map(|s| s.own.start).collect());
            }
            let each = SAMPLES.max(FEWEST_SAMPLES.div_ceil(open));
            self.take_samples(world, sorted, &all, each)?;
            self.count_before(world, sorted)?;
            for splitter in all.iter_mut().filter(|s| !s.is_found()) {
                self.narrow(sorted, splitter);
            }
            self.rounds += 1;
        }
    }

    /// The samples of a round, the same on all ranks. Each rank takes about `each` samples for every splitter that
    /// is not found yet. They are at equal distances in the rank's elements, from a random place on.
    fn take_samples<C: Communicator>(
        &mut self,
        world: &C,
        sorted: &impl Sorted,
        all: &[Splitter],
        each: usize,
    ) -> Result<()> {
        self.send.clear();
        for (place, splitter) in all.iter().enumerate().filter(|(_, s)| !s.is_found()) {
            let stride = splitter.count.div_ceil(each);
            let first = splitter.own.start + phase(world.rank(), self.rounds, place, stride);
            for k in (first..splitter.own.end).step_by(stride) {
                self.send.extend(sorted.key(k));
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

    /// How many elements of all ranks are before each sample.
    fn count_before<C: Communicator>(&mut self, world: &C, sorted: &impl Sorted) -> Result<()> {
        self.before.clear();
        let mut place = 0;
        for sample in &self.samples {
            place = first_from(sorted, place..sorted.count(), sample);
            self.before.push(place as f64);
        }
        // Whole numbers: exact in any order.
        world.all_reduce(Operation::Sum, &mut self.before)
    }

    /// Brings the ends of a splitter's interval to the two samples next to it.
    fn narrow(&self, sorted: &impl Sorted, splitter: &mut Splitter) {
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
            splitter.own.start = first_from(sorted, own.clone(), &self.samples[below]);
        }
        if let Some(&before) = self.before.get(above)
            && (before as usize) < end
        {
            bounds.1 = before as usize;
            splitter.own.end = first_from(sorted, own, &self.samples[above]);
        }
        (splitter.before, splitter.count) = (bounds.0, bounds.1 - bounds.0);
    }

    /// Sends the first `parts[0]` elements of this rank to rank 0, the next `parts[1]` to rank 1, and so on. An element
    /// consists of `words` numbers; `numbers` yields those of all elements. Returns the numbers that this rank
    /// receives, in the order of the ranks that sent them.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn exchange<C: Communicator>(
        &mut self,
        world: &C,
        parts: &[usize],
        words: usize,
        numbers: impl Iterator<Item = u64>,
    ) -> Result<&[u64]> {
        self.send.clear();
        self.send.extend(parts.iter().map(|&part| part as u64));
        let one_each = vec![1; world.size()];
        world.all_to_all_v(&self.send, &one_each, &mut self.counts, &one_each)?;
        let received: Vec<usize> = self.counts.iter().map(|&n| n as usize * words).collect();
        let sent: Vec<usize> = parts.iter().map(|part| part * words).collect();
        self.send.clear();
        self.send.extend(numbers);
        world.all_to_all_v(&self.send, &sent, &mut self.receive, &received)?;
        Ok(&self.receive)
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

/// The first of these places whose key is not before `sample`, or their end.
fn first_from(sorted: &impl Sorted, places: Range<usize>, sample: &Key) -> usize {
    let (mut low, mut high) = (places.start, places.end);
    while low < high {
        let middle = low.midpoint(high);
        match sorted.key(middle) < *sample {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::threads;

    struct Keys(Vec<Key>);

    impl Sorted for Keys {
        fn count(&self) -> usize {
            self.0.len()
        }

        fn key(&self, place: usize) -> Key {
            self.0[place]
        }
    }

    /// Everybody brings every `ranks`-th of n keys, some of them equal in the first number.
    #[test]
    fn each_rank_gets_the_places_that_it_is_to_have() {
        for (n, begins) in [
            (1000, vec![0, 10, 10, 700]),
            (1000, vec![0, 0, 999, 1000]),
            (50_000, vec![0, 1, 20_000, 49_999]),
            (3, vec![0, 1, 2, 3]),
            (0, vec![0, 0, 0, 0]),
        ] {
            let all = threads::run(4, |world| {
                let mine = |k: &u64| *k as usize % 4 == world.rank();
                let own = Keys((0..n as u64).filter(mine).map(|k| [k / 7, k]).collect());
                let mut sort = SampleSort::default();
                let places = sort.splitters(&world, &own, &begins, n)?;
                let parts = parts(&places, own.count());
                let numbers = own.0.iter().flatten().copied();
                let mut got: Vec<u64> = sort
                    .exchange(&world, &parts, KEY_WORDS, numbers)?
                    .chunks_exact(KEY_WORDS)
                    .map(|key| key[1])
                    .collect();
                got.sort_unstable();
                Ok::<_, crate::communicator::CommunicationError>(got)
            });
            for (rank, got) in all.unwrap().into_iter().enumerate() {
                let end = begins.get(rank + 1).map_or(n, |&end| end);
                let expected: Vec<u64> = (begins[rank] as u64..end as u64).collect();
                assert_eq!(got, expected, "rank {rank} of {begins:?}");
            }
        }
    }
}
