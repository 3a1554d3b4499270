//! Sums over all stars in one fixed order. Each bin is a leaf of the library's binary tree, and the tree does not
//! depend on the division of the bins among ranks.

use kirin_core::sources::sum_tree::Joiner;
use kirin_kit::communicator::Communicator;

use crate::error::Error;

/// Subtrees of which a run of so many bins consists at most: two on each level, and the newest two, which may wait to be joined.
pub fn most_subtrees(bins: usize) -> usize {
    2 * (bins + 1).next_power_of_two().ilog2() as usize + 2
}

/// Numbers of a rank's message for sums of `width` numbers, if no rank has more than so many bins.
pub fn message(width: usize, bins: usize) -> usize {
    1 + most_subtrees(bins) * (width + 1)
}

/// Joins sums of `K` numbers each.
#[derive(Debug)]
pub struct Sums<const K: usize> {
    joiner: Joiner<[f64; K]>,
    send: Vec<f64>,
    receive: Vec<f64>,
}

impl<const K: usize> Default for Sums<K> {
    fn default() -> Self {
        Self {
            joiner: Joiner::new(0),
            send: Vec::new(),
            receive: Vec::new(),
        }
    }
}

fn leaf(bin: usize) -> u32 {
    u32::try_from(bin).expect("fewer bins than 2^32")
}

impl<const K: usize> Sums<K> {
    /// The sum over the bins of all ranks, of which this one has `bins` from number `first` on, and none has more than `most`.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn total<C: Communicator>(
        &mut self,
        world: &C,
        first: usize,
        bins: &[[f64; K]],
        most: usize,
    ) -> Result<[f64; K], Error> {
        self.joiner.restart(leaf(first));
        for (k, sum) in bins.iter().enumerate() {
            self.joiner.push(leaf(first + k), *sum);
        }
        if world.size() == 1 {
            return Ok(self.joiner.total().unwrap_or([0.0; K]));
        }
        let parts = self.joiner.parts();
        assert!(parts.len() <= most_subtrees(most), "subtrees of a run");
        self.send.clear();
        self.send.push(parts.len() as f64);
        for (first, sum) in parts {
            self.send.push(f64::from(*first));
            self.send.extend(sum);
        }
        self.send.resize(message(K, most), 0.0);
        world.all_gather(&self.send, &mut self.receive)?;
        self.joiner.restart(0);
        for part in self.receive.chunks_exact(self.send.len()) {
            for sum in part[1..].chunks_exact(K + 1).take(part[0] as usize) {
                self.joiner
                    .push(sum[0] as u32, sum[1..].try_into().expect("exact"));
            }
        }
        Ok(self.joiner.total().unwrap_or([0.0; K]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::{BIN, Partition};
    use crate::random::Stream;
    use kirin_kit::communicator::threads;

    #[test]
    fn any_number_of_ranks_gives_the_same_bits() {
        for bins in [5, 64, 777] {
            let mut random = Stream::of_seed(1);
            let leaves: Vec<[f64; 2]> = (0..bins)
                .map(|_| [random.uniform(), random.uniform() - 0.5])
                .collect();
            let total = |ranks: usize| {
                let partition = Partition {
                    n: bins * BIN,
                    ranks,
                };
                let all = threads::run(ranks, |world| {
                    let mine = partition.bins(world.rank());
                    let most = partition.most_bins();
                    Sums::<2>::default().total(&world, mine.start, &leaves[mine], most)
                });
                let all = all.unwrap();
                assert!(all.iter().all(|sum| *sum == all[0]));
                all[0].map(f64::to_bits)
            };
            let expected = total(1);
            let plain: f64 = leaves.iter().map(|l| l[0]).sum();
            assert!((f64::from_bits(expected[0]) / plain - 1.0).abs() < 1e-13);
            for ranks in [2, 3, 4, 7] {
                assert_eq!(total(ranks), expected, "{bins} bins, {ranks} ranks");
            }
        }
    }
}
