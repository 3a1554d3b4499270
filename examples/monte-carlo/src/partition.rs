//! The division of the stars among the ranks: equation 17 of the paper. Every rank has whole bins of 20 radially
//! neighbouring stars; the last rank also has the remaining stars.

use std::ops::Range;

/// Number of stars in a bin. They have one density, one relaxation time and one stream of random numbers. The number is
/// even, so that no pair of neighbours is divided.
pub const BIN: usize = 20;

/// The division of the stars among the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Number of stars.
    pub n: usize,
    /// Number of ranks.
    pub ranks: usize,
}

impl Partition {
    /// Index of the rank's first star, or, for the number of ranks, of the end.
    pub fn begin(&self, rank: usize) -> usize {
        if rank >= self.ranks {
            return self.n;
        }
        let bins = self.n / BIN;
        let (each, more) = (bins / self.ranks, bins % self.ranks);
        (rank * each + rank.min(more)) * BIN
    }

    /// The rank's stars.
    pub fn stars(&self, rank: usize) -> Range<usize> {
        self.begin(rank)..self.begin(rank + 1)
    }

    /// The rank's bins: the last one of all may have fewer stars.
    pub fn bins(&self, rank: usize) -> Range<usize> {
        let stars = self.stars(rank);
        stars.start / BIN..stars.end.div_ceil(BIN)
    }

    /// Number of bins of the rank that has most.
    pub fn most_bins(&self) -> usize {
        (0..self.ranks)
            .map(|rank| self.bins(rank).len())
            .max()
            .unwrap_or(0)
    }

    /// Number of stars of each rank.
    pub fn counts(&self) -> Vec<usize> {
        (0..self.ranks).map(|rank| self.stars(rank).len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 3.5 of the paper.
    #[test]
    fn the_paper_s_example() {
        let partition = Partition { n: 450, ranks: 4 };
        assert_eq!(partition.counts(), [120, 120, 100, 110]);
        let begins: Vec<usize> = (1..4).map(|rank| partition.begin(rank)).collect();
        assert_eq!(begins, [120, 240, 340]);
    }

    #[test]
    fn every_star_and_bin_has_one_rank() {
        for n in [100, 101, 119, 120, 777, 10_000] {
            for ranks in [1, 2, 3, 4, 7, 64] {
                let partition = Partition { n, ranks };
                let (mut stars, mut bins) = (0, 0);
                for rank in 0..ranks {
                    assert_eq!(partition.stars(rank).start, stars);
                    assert_eq!(partition.bins(rank).start, bins);
                    assert!(rank + 1 == ranks || partition.stars(rank).len().is_multiple_of(BIN));
                    (stars, bins) = (partition.stars(rank).end, partition.bins(rank).end);
                }
                assert_eq!((stars, bins), (n, n.div_ceil(BIN)));
                let counts = partition.counts();
                let (least, most) = (counts.iter().min(), counts.iter().max());
                // A bin more, and what is left over.
                assert!(most.unwrap() - least.unwrap() < 2 * BIN, "{n} {ranks}");
            }
        }
    }
}
