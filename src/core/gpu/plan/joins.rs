//! The join schedule of one device: which sums are added to which, and in what order.
//!
//! The pages of a device are divided into parts, one for each row of thread blocks. The sums are joined in three
//! stages:
//!
//! 1. A thread block joins the sums of its pages as far as the tree of sums allows.
//! 2. The device or the host joins the remaining sums of the parts in rounds.
//! 3. The host joins the sums that each device has left.
//!
//! All joins are those of [`Joiner`], so the results do not depend on the division.

use std::cell::RefCell;

use crate::gpu::layout::SUMS;
use crate::sources::sum_tree::{Joiner, Partial, Steps, share};

/// The join schedule of one division of a device's pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinSchedule {
    /// For each page: with how many earlier sums its thread block joins the sum of the page.
    pub joins: Vec<u8>,
    /// For each part: the number of the first of its sums.
    pub first_sum: Vec<u32>,
    /// Number of sums of all parts.
    pub sums: u32,
    /// Joins of the sums that the parts leave, as pairs of numbers: the second sum is added to the first.
    pub steps: Vec<[u32; 2]>,
    /// The end of each round of steps, which do not depend on one another.
    pub rounds: Vec<u32>,
    /// The sums that remain: the first page of each, and the number of the sum.
    pub kept: Vec<(u32, u32)>,
}

impl JoinSchedule {
    /// The schedule for the pages with these numbers (ascending) in `parts` parts.
    ///
    /// The device's run begins at the page `first`, which is 0 for the first run. `next` is the page at which the
    /// following run begins, if there is one.
    ///
    /// The sums of a subtree are joined once a later page is seen. Without a `next` run all are.
    pub fn new(numbers: &[u32], parts: usize, first: u32, next: Option<u32>) -> Self {
        let mut tree = Self {
            joins: Vec::with_capacity(numbers.len()),
            first_sum: Vec::with_capacity(parts),
            sums: 0,
            steps: Vec::new(),
            rounds: Vec::new(),
            kept: Vec::new(),
        };
        let log = RefCell::new(Vec::new());
        let next = next.unwrap_or(u32::MAX);
        let mut whole = Joiner::new(first);
        for part in 0..parts {
            let run = share(numbers.len(), parts, part);
            let begin = if run.start == 0 {
                first
            } else {
                numbers[run.start]
            };
            let after = numbers.get(run.end).copied().unwrap_or(next);
            for (leaf, sum) in tree.add_part(&numbers[run], begin, after) {
                whole.push(
                    leaf,
                    Sum {
                        sum,
                        round: 0,
                        log: &log,
                    },
                );
            }
        }
        whole.push(
            next,
            Sum {
                sum: u32::MAX,
                round: 0,
                log: &log,
            },
        );
        let kept = whole.parts().iter().filter(|(leaf, _)| *leaf != next);
        tree.kept = kept.map(|&(leaf, s)| (leaf, s.sum)).collect();

        let mut steps: Vec<(u32, [u32; 2])> = log.take();
        steps.sort_by_key(|&(round, _)| round);
        for (n, (round, step)) in (1..).zip(steps) {
            tree.steps.push(step);
            if round as usize > tree.rounds.len() {
                tree.rounds.push(n);
            }
            if let Some(end) = tree.rounds.last_mut() {
                *end = n;
            }
        }
        tree
    }

    /// Adds a part. Returns the sums that it leaves: the first page of each, and the number of the sum.
    fn add_part(&mut self, numbers: &[u32], begin: u32, after: u32) -> Vec<(u32, u32)> {
        let first_sum = self.sums;
        self.first_sum.push(first_sum);
        let mut steps = Steps::default();
        steps.restart(numbers.iter().copied(), begin, after);
        self.joins.extend(&steps.joins);
        self.sums += steps.depth as u32;
        steps.left.into_iter().zip(first_sum..).collect()
    }

    /// Joins the partial sums of `ni` i-particles as the kernel `join_sums` does, and moves those kept to the front.
    pub fn join_on_host(&self, sums: &mut [f64], ni: usize) {
        let width = SUMS * ni;
        let all = |sum: u32| sum as usize * width..(sum as usize + 1) * width;
        for &[to, from] in &self.steps {
            let pair = sums.get_disjoint_mut([all(to), all(from)]);
            let [to, from] = pair.expect("a sum is joined with another one");
            // In pieces of a length that the compiler knows: it then adds two or more numbers at a time.
            let (to, from) = (to.as_chunks_mut::<SUMS>().0, from.as_chunks::<SUMS>().0);
            for (to, from) in to.iter_mut().zip(from) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
        for (n, &(_, sum)) in self.kept.iter().enumerate() {
            sums.copy_within(sum as usize * width..(sum as usize + 1) * width, n * width);
        }
    }
}

/// Stands for a sum with this number. Joining two of them writes their numbers to the log, with the round in which the
/// join can be done.
#[derive(Clone, Copy)]
struct Sum<'a> {
    sum: u32,
    round: u32,
    log: &'a RefCell<Vec<(u32, [u32; 2])>>,
}

impl Partial for Sum<'_> {
    fn join(self, other: Self) -> Self {
        let round = self.round.max(other.round) + 1;
        self.log.borrow_mut().push((round, [self.sum, other.sum]));
        Self { round, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums that the thread blocks leave, computed from a value for each page.
    fn sums_of_parts(tree: &JoinSchedule, values: &[[f64; 1]], parts: usize) -> Vec<[f64; 1]> {
        let mut sums = vec![[f64::NAN]; tree.sums as usize];
        for part in 0..parts {
            let mut depth = tree.first_sum[part] as usize;
            for n in share(values.len(), parts, part) {
                let mut sum = values[n];
                for back in 1..=usize::from(tree.joins[n]) {
                    sum = sums[depth - back].join(sum);
                }
                depth -= usize::from(tree.joins[n]);
                sums[depth] = sum;
                depth += 1;
            }
        }
        sums
    }

    /// Does what the kernels do with a tree.
    fn run(tree: &JoinSchedule, values: &[[f64; 1]], parts: usize) -> Vec<(u32, [f64; 1])> {
        let mut sums = sums_of_parts(tree, values, parts);
        let mut begin = 0;
        for &end in &tree.rounds {
            let steps = &tree.steps[begin..end as usize];
            let mut touched: Vec<u32> = steps.iter().flatten().copied().collect();
            touched.sort_unstable();
            touched.dedup();
            assert_eq!(
                touched.len(),
                2 * steps.len(),
                "steps of a round are independent"
            );
            for &[to, from] in steps {
                sums[to as usize] = sums[to as usize].join(sums[from as usize]);
            }
            begin = end as usize;
        }
        assert_eq!(begin, tree.steps.len());
        tree.kept
            .iter()
            .map(|&(leaf, sum)| (leaf, sums[sum as usize]))
            .collect()
    }

    #[test]
    fn any_division_over_devices_and_parts_gives_the_bits_of_the_tree() {
        let pages: [Vec<u32>; 4] = [
            (0..61).collect(),
            (0..200).filter(|n| n % 7 != 2).collect(),
            vec![3, 4, 5, 1000, 1001, 4_194_303],
            vec![9],
        ];
        for numbers in pages {
            let value = |n: u32| [1.0 / f64::from(n % 11 + 3) * 2.0_f64.powi((n % 40) as i32)];
            let mut expected = Joiner::new(0);
            numbers.iter().for_each(|&n| expected.push(n, value(n)));
            let expected = expected.total();
            for devices in 1..=4.min(numbers.len()) {
                for parts in 1..=9 {
                    let mut whole = Joiner::new(0);
                    for device in 0..devices {
                        let run_of = share(numbers.len(), devices, device);
                        let mine = &numbers[run_of.clone()];
                        let first = if run_of.start == 0 { 0 } else { mine[0] };
                        let next = numbers.get(run_of.end).copied();
                        let parts = parts.min(mine.len());
                        let tree = JoinSchedule::new(mine, parts, first, next);
                        assert!(tree.kept.len() <= 44);
                        if devices == 1 {
                            assert_eq!(tree.kept.len(), 1);
                        }
                        let values: Vec<_> = mine.iter().map(|&n| value(n)).collect();
                        for (leaf, sum) in run(&tree, &values, parts) {
                            whole.push(leaf, sum);
                        }
                    }
                    assert_eq!(whole.total(), expected, "{devices} devices, {parts} parts");
                }
            }
        }
    }

    #[test]
    fn the_host_joins_what_the_kernels_join() {
        let numbers: Vec<u32> = (0..90).filter(|n| n % 5 != 3).collect();
        let value = |n: &u32| [1.0 / f64::from(n + 3)];
        let values: Vec<_> = numbers.iter().map(value).collect();
        let ni = 3;
        for (parts, next) in [(1, None), (7, None), (72, None), (30, Some(90))] {
            let tree = JoinSchedule::new(&numbers, parts, 0, next);
            let mut sums = Vec::new();
            for [sum] in sums_of_parts(&tree, &values, parts) {
                // By powers of two, so that each has the same bits but for the exponent.
                sums.extend((0..SUMS * ni).map(|k| sum * 2.0_f64.powi(k as i32)));
            }
            tree.join_on_host(&mut sums, ni);
            for (n, (_, [sum])) in run(&tree, &values, parts).into_iter().enumerate() {
                for k in 0..SUMS * ni {
                    let expected = sum * 2.0_f64.powi(k as i32);
                    assert_eq!(sums[n * SUMS * ni + k], expected, "{parts} parts");
                }
            }
        }
    }

    #[test]
    fn a_small_block_takes_few_rounds() {
        let numbers: Vec<u32> = (0..256).collect();
        let tree = JoinSchedule::new(&numbers, 256, 0, None);
        assert_eq!(
            (tree.sums, tree.steps.len(), tree.rounds.len()),
            (256, 255, 8)
        );
        let tree = JoinSchedule::new(&numbers, 1, 0, None);
        assert!(tree.sums <= 9 && tree.steps.is_empty(), "{tree:?}");
        assert_eq!(
            tree.joins.iter().map(|&n| usize::from(n)).sum::<usize>(),
            255
        );
    }
}
