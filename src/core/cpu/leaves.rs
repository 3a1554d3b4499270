//! The loop of a task over the leaves of a page and, for each leaf, over the i-particles. It is the same for every law
//! of force; [`LeafSums`] computes the sums over a leaf.

use std::ops::Range;

use super::simd::Simd;
use crate::error::Result;
use crate::sources::jmemory::PAGE;
use crate::sources::sum_tree::{Partial, Steps};

/// Vectors whose terms a lane adds in the precision of the pairs: a run.
const RUN: usize = 32;

/// I-particles whose pairs with a leaf are computed before the sums are used. Joining their lanes takes some 50
/// instructions that wait for each other. Done at once, they would keep the next i-particle's pairs out of the
/// processor's schedulers (`benches/results/pair-loops.md` has what this costs).
pub const TOGETHER: usize = 8;

/// The slots of a leaf: two runs, whose sums are joined in the precision of the pairs, or a page. At the end of a leaf the
/// lanes are joined, in double precision, which takes as long as some pairs of vectors.
pub const fn length<S: Simd>() -> usize {
    let two_runs = 2 * RUN * S::LANES;
    let slots = if two_runs < PAGE { two_runs } else { PAGE };
    assert!(PAGE.is_multiple_of(slots) && (RUN * S::LANES).is_multiple_of(64));
    slots
}

/// Whether the second run of each leaf is empty.
pub const fn has_one_run<S: Simd>() -> bool {
    length::<S>() <= RUN * S::LANES
}

/// Takes the first run from the rest of a leaf.
#[inline(always)]
pub fn take_run<S: Simd>(rest: &mut Range<usize>) -> Range<usize> {
    let run = rest.start..rest.end.min(rest.start + RUN * S::LANES);
    rest.start = run.end;
    run
}

/// The sums over the leaves of one page, for the i-particles of a task.
pub trait LeafSums {
    /// The sums over a leaf.
    type Sums: Partial + Default;

    /// Begins a leaf, the slots of `range`.
    fn begin(&mut self, range: Range<usize>);

    /// Writes the sums of the i-particle number `k` over the leaf, in the client's units.
    ///
    /// # Errors
    ///
    /// There is no memory.
    // A result that contained the sums would be copied through memory piece by piece: 5 ns a leaf.
    fn sum(&mut self, k: usize, to: &mut Self::Sums) -> Result<()>;
}

/// How far a task has come in the run of leaves whose order of additions [`Steps`] has.
pub struct Walk {
    /// The slots of a leaf.
    length: usize,
    /// Leaves before the present one.
    leaf: usize,
    /// Sums on the stack of each i-particle.
    waiting: usize,
}

impl Walk {
    /// Begins a run of leaves of this length.
    pub fn new(length: usize) -> Self {
        Self {
            length,
            leaf: 0,
            waiting: 0,
        }
    }

    /// Goes through the leaves of the next page, which has `slots` slots in use, and adds the sums of each leaf to
    /// `stacks`. Each i-particle has a stack of [`Steps::depth`] places.
    ///
    /// # Errors
    ///
    /// There is no memory.
    #[inline(always)]
    pub fn page<L: LeafSums>(
        &mut self,
        steps: &Steps,
        slots: usize,
        page: &mut L,
        stacks: &mut [L::Sums],
    ) -> Result<()> {
        for begin in (0..slots).step_by(self.length) {
            let joins = usize::from(steps.joins[self.leaf]);
            page.begin(begin..slots.min(begin + self.length));
            for (k, stack) in stacks.chunks_exact_mut(steps.depth).enumerate() {
                let mut sums = L::Sums::default();
                page.sum(k, &mut sums)?;
                for left in stack[self.waiting - joins..self.waiting].iter().rev() {
                    sums = left.join(sums);
                }
                stack[self.waiting - joins] = sums;
            }
            self.waiting = self.waiting + 1 - joins;
            self.leaf += 1;
        }
        Ok(())
    }
}
