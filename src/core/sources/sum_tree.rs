//! Partial sums, joined in one fixed order.
//!
//! The sum over the j-particles is a binary tree. A leaf is a run of consecutive
//! addresses; leaf 0 begins at address 0. The order of additions depends on the
//! leaf numbers alone. The leaves may therefore be divided among threads, thread
//! blocks or devices in any way: the result has the same bits, as long as each
//! part is a run of whole leaves. Leaves without particles are skipped.

use std::ops::Range;

use crate::error::Result;
use crate::process::allocation;

/// The most sums that can wait to be joined: two for each level of the tree, and the newest two.
const OPEN_AT_MOST: usize = 2 * u32::BITS as usize + 2;

/// What the memory is for, in messages.
const PURPOSE: &str = "the sums of a block";

/// What is summed.
pub trait Partial: Copy {
    /// The sum of `self`, from lower addresses, and `other`.
    fn join(self, other: Self) -> Self;
}

impl<const N: usize> Partial for [f64; N] {
    #[inline(always)]
    fn join(mut self, other: Self) -> Self {
        for (a, b) in self.iter_mut().zip(other) {
            *a += b;
        }
        self
    }
}

/// Joins the leaves of one part: a run of leaf numbers.
///
/// A subtree that lies within the run is summed as soon as it is complete. What is
/// left at the end are the sums of the largest subtrees within the run, at most two
/// per level of the tree.
#[derive(Clone, Debug)]
pub struct Joiner<T> {
    first: u32,
    /// The sums so far, each with the number of its first leaf.
    open: Vec<(u32, T)>,
}

impl<T: Partial> Joiner<T> {
    /// A joiner for the run of leaves that begins at `first`.
    pub fn new(first: u32) -> Self {
        Self {
            first,
            open: Vec::new(),
        }
    }

    /// Makes room for as many sums as can wait.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn reserve(&mut self) -> Result<()> {
        self.open.clear();
        allocation::reserve(&mut self.open, OPEN_AT_MOST, PURPOSE)
    }

    /// Begins anew for a run at `first`, keeping the memory.
    pub fn restart(&mut self, first: u32) {
        self.first = first;
        self.open.clear();
    }

    /// Adds the sum over `leaf`, or over a subtree of which it is the first leaf.
    /// Leaf numbers grow from call to call.
    #[inline]
    pub fn push(&mut self, leaf: u32, sum: T) {
        while let [.., (a, _), (b, _)] = self.open[..] {
            // The subtree that holds both a and b lies below the one that also holds the new leaf:
            // nothing more comes into it.
            let whole = (a ^ b).ilog2() < (b ^ leaf).ilog2();
            if !(whole && self.holds_subtree_of(a, b)) {
                break;
            }
            self.join_last_two();
        }
        self.open.push((leaf, sum));
    }

    /// The sums of the largest subtrees within the run, in address order, for the
    /// joiner of a longer run.
    pub fn parts(&self) -> &[(u32, T)] {
        &self.open
    }

    /// The sum of everything. The run must begin at leaf 0.
    pub fn total(&mut self) -> Option<T> {
        debug_assert_eq!(self.first, 0, "a part is not a total");
        while self.open.len() >= 2 {
            self.join_last_two();
        }
        self.open.last().map(|&(_, sum)| sum)
    }

    fn holds_subtree_of(&self, a: u32, b: u32) -> bool {
        // First leaf of the smallest aligned subtree with both; 64 bits for the subtree of everything.
        let below = (1u64 << ((a ^ b).ilog2() + 1)) - 1;
        u64::from(a) & !below >= u64::from(self.first)
    }

    #[inline]
    fn join_last_two(&mut self) {
        if let Some((_, right)) = self.open.pop()
            && let Some((_, left)) = self.open.last_mut()
        {
            *left = left.join(right);
        }
    }
}

/// The order in which the sums of one run of leaves are joined: computed once, replayed for every
/// i-particle. Each i-particle has a stack of sums; a subtree is joined as soon as it is complete.
#[derive(Clone, Debug)]
pub struct Steps {
    /// For each leaf: how many sums to pop and add to the leaf's own before that is pushed.
    pub joins: Vec<u8>,
    /// The greatest height of the stack.
    pub depth: usize,
    /// The first leaf of each sum that is left on the stack at the end.
    pub left: Vec<u32>,
    joiner: Joiner<Nothing>,
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            joins: Vec::new(),
            depth: 0,
            left: Vec::new(),
            joiner: Joiner::new(0),
        }
    }
}

impl Steps {
    /// Begins anew, with room for this many leaves.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn reserve(&mut self, leaves: usize) -> Result<()> {
        self.joins.clear();
        self.left.clear();
        allocation::reserve(&mut self.joins, leaves, PURPOSE)?;
        allocation::reserve(&mut self.left, OPEN_AT_MOST, PURPOSE)?;
        self.joiner.reserve()
    }

    /// Computes the steps for another run, in the same memory. The run begins at leaf `first`; `leaves` are the leaves
    /// to be joined, ascending. `after` is the first leaf of the next run, `u32::MAX` if there is none.
    pub fn restart(&mut self, leaves: impl Iterator<Item = u32>, first: u32, after: u32) {
        self.joiner.restart(first);
        self.joins.clear();
        self.depth = 0;
        for leaf in leaves {
            self.push(leaf);
        }
        self.push(after);
        let left = self.joiner.parts().iter().map(|&(leaf, _)| leaf);
        self.left.clear();
        self.left.extend(left.filter(|&leaf| leaf != after));
    }

    /// Gives `joiner` the sums left on stack number `k` of `stacks`, where each stack has
    /// [`Steps::depth`] places.
    pub fn leave<T: Partial>(&self, stacks: &[T], k: usize, joiner: &mut Joiner<T>) {
        for (&leaf, &sum) in self.left.iter().zip(&stacks[k * self.depth..]) {
            joiner.push(leaf, sum);
        }
    }

    // Only the next leaf tells that a subtree is complete.
    fn push(&mut self, leaf: u32) {
        let waiting = self.joiner.parts().len();
        self.depth = self.depth.max(waiting);
        self.joiner.push(leaf, Nothing);
        if waiting > 0 {
            let open = self.joiner.parts().len();
            self.joins.push((waiting + 1 - open) as u8);
        }
    }
}

/// Stands for a sum where only its place on the stack matters.
#[derive(Clone, Copy, Debug)]
struct Nothing;

impl Partial for Nothing {
    fn join(self, _: Self) -> Self {
        self
    }
}

/// Divides `0..count` into `parts` runs of nearly equal length.
pub fn share(count: usize, parts: usize, part: usize) -> Range<usize> {
    let begin = count * part / parts;
    let end = count * (part + 1) / parts;
    begin..end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree written down as its definition says.
    fn tree(leaves: &[(u32, [f64; 1])], level: u32, node: u64) -> Option<[f64; 1]> {
        if level == 0 {
            return leaves.iter().find(|l| u64::from(l.0) == node).map(|l| l.1);
        }
        let left = tree(leaves, level - 1, 2 * node);
        let right = tree(leaves, level - 1, 2 * node + 1);
        match (left, right) {
            (Some(l), Some(r)) => Some(l.join(r)),
            (one, other) => one.or(other),
        }
    }

    fn leaves(present: impl Fn(u32) -> bool, count: u32) -> Vec<(u32, [f64; 1])> {
        (0..count)
            .filter(|&l| present(l))
            .map(|l| {
                (
                    l,
                    [1.0 / f64::from(3 + l * 7 % 11) * 2.0_f64.powi((l % 40) as i32)],
                )
            })
            .collect()
    }

    #[test]
    fn any_division_gives_the_bits_of_the_tree() {
        let masks: [fn(u32) -> bool; 4] = [|_| true, |l| l % 3 != 1, |l| l > 9, |l| l * l % 7 < 3];
        for mask in masks {
            for count in [1, 2, 3, 7, 8, 9, 31, 32, 33, 61] {
                let all = leaves(mask, count);
                let expected = tree(&all, 6, 0);
                for parts in 1..=9 {
                    let mut whole = Joiner::new(0);
                    for part in 0..parts {
                        let run = share(count as usize, parts, part);
                        let mut joiner = Joiner::new(run.start as u32);
                        for &(leaf, sum) in all.iter().filter(|l| run.contains(&(l.0 as usize))) {
                            joiner.push(leaf, sum);
                        }
                        assert!(joiner.parts().len() <= 12, "{:?}", joiner.parts());
                        for &(leaf, sum) in joiner.parts() {
                            whole.push(leaf, sum);
                        }
                    }
                    assert_eq!(whole.total(), expected, "{count} leaves in {parts} parts");
                }
            }
        }
    }

    #[test]
    fn the_last_leaf_numbers_work() {
        let mut joiner = Joiner::new(0);
        joiner.push(0, [1.0]);
        joiner.push(u32::MAX - 1, [2.0]);
        joiner.push(u32::MAX, [4.0]);
        assert_eq!(joiner.total(), Some([7.0]));
    }

    #[test]
    fn shares_cover_everything_once() {
        for count in [0, 1, 5, 100] {
            for parts in 1..8 {
                let covered: Vec<usize> = (0..parts).flat_map(|p| share(count, parts, p)).collect();
                assert_eq!(covered, (0..count).collect::<Vec<_>>());
            }
        }
    }
}
