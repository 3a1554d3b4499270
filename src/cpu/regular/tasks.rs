//! What a task does: the sums of a run of tiles for a run of targets, and the lists of their neighbours.

use std::ops::Range;

use super::super::division::Task;
use super::super::simd::{Real, Simd, Work};
use super::super::tile::factors;
use super::kernel::{self, FORESEEN, Listed, Notes, Slots, Verdict};
use super::target::Scaled;
use super::tile::Tile;
use crate::error::Result;
use crate::force::regular::{
    PURPOSE, Pair, RegularRequest, RegularResult, Sums, Target, potential_of,
};
use crate::force::scaling::Scaling;
use crate::process::allocation;
use crate::sources::jmemory::PAGE;
use crate::sources::sum_tree::{Partial, Steps};

/// Vectors of one leaf.
const LEAF_VECTORS: usize = 32;

/// Targets that go through the tiles together: few enough for the first cache beside a tile.
const TOGETHER: usize = 64;

/// What the tasks of a block share.
pub struct RegularContext<'a, S: Simd, const SPLIT: bool, const POTENTIAL: bool> {
    /// The instruction set.
    pub s: S,
    /// What its reciprocal root is, times the root.
    pub root: f64,
    /// The block.
    pub block: &'a RegularRequest<'a>,
    /// Its sources.
    pub tiles: &'a [Box<Tile<S::T>>],
}

/// The memory of a task, kept for the next one, and what it has found.
pub struct Part<T> {
    scaled: Vec<Scaled<T>>,
    notes: Notes<T>,
    /// How the sums over the leaves are joined.
    pub steps: Steps,
    /// For each target a stack of as many sums as the steps need.
    pub stacks: Vec<Sums>,
    /// Results of a task that does not see all tiles.
    pub results: Vec<RegularResult>,
}

impl<T: Copy + Default> Default for Part<T> {
    fn default() -> Self {
        Self {
            scaled: Vec::new(),
            notes: Notes::default(),
            steps: Steps::default(),
            stacks: Vec::new(),
            results: Vec::new(),
        }
    }
}

/// Computes one task.
pub struct Compute<'a, S: Simd, const SPLIT: bool, const POTENTIAL: bool> {
    /// What all tasks share.
    pub shared: &'a RegularContext<'a, S, SPLIT, POTENTIAL>,
    /// The task.
    pub task: &'a Task,
    /// Its memory.
    pub part: &'a mut Part<S::T>,
    /// One for each of its targets. Their sums are those of the bottom of each stack.
    pub results: &'a mut [RegularResult],
}

impl<S: Simd, const SPLIT: bool, const POTENTIAL: bool> Work for Compute<'_, S, SPLIT, POTENTIAL> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let Self {
            shared,
            task,
            part,
            results,
        } = self;
        let RegularRequest {
            sources, targets, ..
        } = shared.block;
        let targets = &targets[task.particles.clone()];
        part.restart::<S, SPLIT>(targets, &task.pages, sources.len())?;
        let Part {
            scaled,
            notes,
            steps,
            stacks,
            ..
        } = part;
        let minus_three = -3.0 / (shared.root * shared.root);
        let groups = targets.chunks(TOGETHER).zip(scaled.chunks(TOGETHER));
        let answers = results.chunks_mut(TOGETHER);
        let answers = answers.zip(stacks.chunks_mut(TOGETHER * steps.depth));
        for ((targets, scaled), (results, stacks)) in groups.zip(answers) {
            let (mut step, mut waiting) = (0, 0);
            for page in task.pages.clone() {
                let tile = &*shared.tiles[page];
                let slots = (sources.len() - page * PAGE).min(PAGE);
                let [ax, ay, az, pot, jx, jy, jz, _] =
                    factors(&Scaling::PLAIN, tile.unit, shared.root);
                let factors = [ax, ay, az, -pot, jx, jy, jz];
                for begin in (0..slots).step_by(leaf::<S>()) {
                    let range = begin..slots.min(begin + leaf::<S>());
                    let leaf = Leaf {
                        shared,
                        tile,
                        first: page * PAGE,
                        range,
                    };
                    let joins = usize::from(steps.joins[step]);
                    let stacks = stacks.chunks_exact_mut(steps.depth);
                    let each = targets.iter().zip(scaled).zip(&mut *results).zip(stacks);
                    for (((target, scaled), result), stack) in each {
                        let mut sums =
                            leaf.sums(target, scaled, minus_three, &factors, notes, result)?;
                        for left in stack[waiting - joins..waiting].iter().rev() {
                            sums = left.join(sums);
                        }
                        stack[waiting - joins] = sums;
                    }
                    waiting = waiting + 1 - joins;
                    step += 1;
                }
            }
            for (result, stack) in results.iter_mut().zip(stacks.chunks_exact(steps.depth)) {
                result.sums = stack[0];
            }
        }
        Ok(())
    }
}

/// Slots of one leaf of the tree of sums.
const fn leaf<S: Simd>() -> usize {
    S::LANES * LEAF_VECTORS
}

impl<T: Real> Part<T> {
    /// Begins with targets, and a run of tiles of so many sources.
    fn restart<S: Simd<T = T>, const SPLIT: bool>(
        &mut self,
        targets: &[Target],
        pages: &Range<usize>,
        count: usize,
    ) -> Result<()> {
        self.scaled.clear();
        allocation::reserve(&mut self.scaled, targets.len(), PURPOSE)?;
        self.scaled.extend(targets.iter().map(Scaled::new::<SPLIT>));
        let leaves_per_page = PAGE / leaf::<S>();
        let number = |page: usize| (page * leaves_per_page) as u32;
        let end = match pages.end * PAGE < count {
            true => number(pages.end),
            false => count.div_ceil(leaf::<S>()) as u32,
        };
        let leaves = number(pages.start)..end;
        self.steps.reserve(leaves.len())?;
        let after = match pages.end * PAGE < count {
            true => end,
            false => u32::MAX,
        };
        self.steps.restart(leaves.clone(), leaves.start, after);
        let sums = targets.len() * self.steps.depth;
        allocation::lengthen(&mut self.stacks, sums, PURPOSE, Sums::default)
    }
}

/// Some sources of a tile.
struct Leaf<'a, S: Simd, const SPLIT: bool, const POTENTIAL: bool> {
    shared: &'a RegularContext<'a, S, SPLIT, POTENTIAL>,
    tile: &'a Tile<S::T>,
    /// Address of the tile's first source.
    first: usize,
    /// Its slots.
    range: Range<usize>,
}

impl<S: Simd, const SPLIT: bool, const POTENTIAL: bool> Leaf<'_, S, SPLIT, POTENTIAL> {
    /// The sums for one target, whose neighbours are noted.
    #[inline(always)]
    fn sums(
        &self,
        target: &Target,
        scaled: &Scaled<S::T>,
        minus_three: f64,
        factors: &Sums,
        notes: &mut Notes<S::T>,
        result: &mut RegularResult,
    ) -> Result<Sums> {
        let RegularContext { s, block, .. } = *self.shared;
        if !(self.tile.representable && scaled.representable) {
            return self.plainly(target, result);
        }
        let words = self.range.start..self.range.end.next_multiple_of(64);
        let leaf = match POTENTIAL {
            true => kernel::potential::<S, SPLIT>(s, self.tile, scaled, words, &mut notes.left_out),
            false => kernel::regular::<S, SPLIT>(
                s,
                S::T::from_f64(minus_three),
                self.tile,
                scaled,
                block.criterion,
                words,
                notes,
            ),
        };
        // A mass or a term beyond single precision, whether its source was left out or not.
        let finite = leaf.sums.iter().fold(true, |all, s| all & s.is_finite());
        if !(S::T::IS_DOUBLE || finite) {
            return self.plainly(target, result);
        }
        let [ax, ay, az, pot, jx, jy, jz, _] = leaf.sums;
        let mut sums = [ax, ay, az, pot, jx, jy, jz];
        for (sum, factor) in sums.iter_mut().zip(factors) {
            *sum *= factor;
        }
        let [ax, ay, az, pot, jx, jy, jz] = sums;
        let mut sums = [ax, ay, az, jx, jy, jz, pot];
        if leaf.left_out {
            self.look_again(target, scaled, notes, &mut sums, result)?;
        }
        Ok(sums)
    }

    /// Adds those that the loop left out and that are no neighbours.
    #[inline(always)]
    fn look_again(
        &self,
        target: &Target,
        scaled: &Scaled<S::T>,
        notes: &mut Notes<S::T>,
        sums: &mut Sums,
        result: &mut RegularResult,
    ) -> Result<()> {
        let (tile, criterion) = (self.tile, self.shared.block.criterion);
        let count = slots(&notes.left_out, &self.range, &mut notes.slots);
        for &slot in &notes.slots[..count] {
            let slot = slot.into();
            if POTENTIAL {
                self.add(slot, target, sums, result)?;
                continue;
            }
            let factor = tile.factor(slot, criterion);
            let mut verdict = notes.verdict(factor, notes.least[slot].to_f64());
            if verdict != Verdict::Neighbour {
                // What is in the tile is at hand, and nearly always enough.
                let pair = scaled.pair(tile, slot, target);
                verdict = notes.verdict(factor, pair.least());
                if verdict == Verdict::Other {
                    pair.add_to(sums);
                }
            }
            match verdict {
                Verdict::Neighbour => {
                    result.note(self.first + slot, self.shared.block.longest)?;
                }
                Verdict::Unclear => self.add(slot, target, sums, result)?,
                Verdict::Other => {}
            }
        }
        Ok(())
    }

    /// The sums in plain double precision.
    #[cold]
    #[inline(never)]
    fn plainly(&self, target: &Target, result: &mut RegularResult) -> Result<Sums> {
        let mut sums = Sums::default();
        for slot in self.range.clone() {
            self.add(slot, target, &mut sums, result)?;
        }
        Ok(sums)
    }

    #[inline(always)]
    fn add(
        &self,
        slot: usize,
        target: &Target,
        sums: &mut Sums,
        result: &mut RegularResult,
    ) -> Result<()> {
        let RegularRequest {
            sources,
            criterion,
            longest,
            ..
        } = *self.shared.block;
        let address = self.first + slot;
        if POTENTIAL {
            sums[6] += potential_of(sources, address, &target.x);
            return Ok(());
        }
        let pair = Pair::new(sources, address, target);
        match pair.is_near(criterion) {
            true => result.note(address, longest)?,
            false => pair.add_to(sums),
        }
        Ok(())
    }
}

/// Writes the slots of a range whose bits are set, and returns their number.
#[inline(always)]
fn slots(bits: &Slots, range: &Range<usize>, to: &mut Listed) -> usize {
    let mut count = 0;
    let words = range.start / 64..range.end.div_ceil(64);
    for (word, &bits) in words.clone().zip(&bits[words]) {
        let mut left = bits;
        let found = count + left.count_ones() as usize;
        // Some are written whether they are there or not: how many are is not to be foreseen, and a branch
        // that is guessed wrong takes longer.
        loop {
            for place in &mut to[count..count + FORESEEN] {
                *place = (word * 64) as u16 + left.trailing_zeros() as u16;
                left &= left.wrapping_sub(1);
            }
            if left == 0 {
                break;
            }
            count += FORESEEN;
        }
        count = found;
    }
    // What is beyond the end has a place in a tile, and no mass.
    count
        - to[..count]
            .iter()
            .rev()
            .take_while(|&&slot| usize::from(slot) >= range.end)
            .count()
}
