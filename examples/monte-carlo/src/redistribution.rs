//! Redistribution after the sort (section 3.5 of the paper): every rank gets exactly its stars of the partition.

use kirin_kit::communicator::Communicator;

use crate::error::Error;
use crate::partition::Partition;
use crate::sample_sort::Exchange;
use crate::stars::Stars;

/// How many of the stars with global indices from `first` on go to each rank.
pub fn parts(partition: &Partition, first: usize, count: usize) -> Vec<usize> {
    let to = |rank: usize| {
        let stars = partition.stars(rank);
        let (begin, end) = (stars.start.max(first), stars.end.min(first + count));
        end.saturating_sub(begin)
    };
    (0..partition.ranks).map(to).collect()
}

/// Moves sorted stars to their ranks; the ranks have `all` of them, by rank.
///
/// # Errors
///
/// A rank is lost.
pub fn redistribute<C: Communicator>(
    world: &C,
    all: &[usize],
    stars: &mut Stars,
    exchange: &mut Exchange,
) -> Result<Partition, Error> {
    let partition = Partition {
        n: all.iter().sum(),
        ranks: world.size(),
    };
    // The exclusive prefix sum of MPI_Exscan, which everybody can make of the counts.
    let first = all[..world.rank()].iter().sum();
    if partition.counts() != all {
        let parts = parts(&partition, first, stars.len());
        exchange.stars(world, stars, &parts)?;
    }
    Ok(partition)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 3.5: 100, 130, 140 and 80 stars after the sort. Processor 3 of the paper has the stars 231 to
    /// 370; it sends 231 to 240 to processor 2 and 341 to 370 to processor 4.
    #[test]
    fn the_paper_s_example() {
        let partition = Partition { n: 450, ranks: 4 };
        let sent = |first, count| parts(&partition, first, count);
        assert_eq!(sent(0, 100), [100, 0, 0, 0]);
        assert_eq!(sent(100, 130), [20, 110, 0, 0]);
        assert_eq!(sent(230, 140), [0, 10, 100, 30]);
        assert_eq!(sent(370, 80), [0, 0, 0, 80]);
    }
}
