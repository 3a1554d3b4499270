//! Phase 6 on several ranks: sample sort (section 3.4 of the paper). Its splitters are exact, so no redistribution (section 3.5) follows.
//!
//! The paper takes the splitters from one set of samples, which a designated rank sorts; the ranks then have unequal numbers of stars and
//! exchange them a second time. Here samples narrow the splitters down in rounds: see [`kirin_kit::communicator::sample_sort`].

use kirin_kit::communicator::Communicator;
pub use kirin_kit::communicator::sample_sort::SampleSort;
use kirin_kit::communicator::sample_sort::{Key, Sorted, counts, parts};

use crate::error::Error;
use crate::partition::Partition;
use crate::sort::Sorter;
use crate::stars::{Stars, WORDS};

/// Radius and label: by them stars are sorted.
impl Sorted for Stars {
    fn count(&self) -> usize {
        self.len()
    }

    fn key(&self, place: usize) -> Key {
        [self.r[place].to_bits(), self.id[place]]
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
    exchange: &mut SampleSort,
) -> Result<Partition, Error> {
    let partition = Partition {
        n: counts(world, stars.len())?.iter().sum(),
        ranks: world.size(),
    };
    // 1: every rank sorts its own stars.
    sorter.sort(stars);
    // 2, 3: splitters from samples of all.
    let begins: Vec<usize> = (0..partition.ranks)
        .map(|rank| partition.begin(rank))
        .collect();
    let places = exchange.splitters(world, stars, &begins, partition.n)?;
    // 4: partitions go to their ranks.
    let rows = (0..stars.len()).flat_map(|k| stars.row(k));
    let received = exchange.exchange(world, &parts(&places, stars.len()), WORDS, rows)?;
    stars.clear();
    received
        .chunks_exact(WORDS)
        .for_each(|row| stars.push_row(row));
    // 5: the partitions are merged.
    sorter.sort(stars);
    Ok(partition)
}
