//! The work of a task: the sums of a run of tiles for a run of targets, and the lists of their neighbours.

use std::ops::Range;

use super::super::division::Task;
use super::super::leaves::{self, LeafSums, Walk};
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
use crate::sources::sum_tree::Steps;

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
        let groups = targets.chunks(TOGETHER).zip(scaled.chunks(TOGETHER));
        let answers = results.chunks_mut(TOGETHER);
        let answers = answers.zip(stacks.chunks_mut(TOGETHER * steps.depth));
        for ((targets, scaled), (results, stacks)) in groups.zip(answers) {
            let stacks = &mut stacks[..targets.len() * steps.depth];
            let mut walk = Walk::new(leaves::length::<S>());
            for page in task.pages.clone() {
                let tile = &*shared.tiles[page];
                let slots = (sources.len() - page * PAGE).min(PAGE);
                let [ax, ay, az, pot, jx, jy, jz, _] =
                    factors(&Scaling::PLAIN, tile.unit, shared.root);
                let mut over = PageOfSources {
                    shared,
                    targets,
                    scaled,
                    tile,
                    first: page * PAGE,
                    minus_three: S::T::from_f64(-3.0 / (shared.root * shared.root)),
                    factors: [ax, ay, az, jx, jy, jz, -pot],
                    range: 0..0,
                    notes,
                    results,
                };
                walk.page(steps, slots, &mut over, stacks)?;
            }
            for (result, stack) in results.iter_mut().zip(stacks.chunks_exact(steps.depth)) {
                result.sums = stack[0];
            }
        }
        Ok(())
    }
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
        let leaves_per_page = PAGE / leaves::length::<S>();
        let number = |page: usize| (page * leaves_per_page) as u32;
        let end = match pages.end * PAGE < count {
            true => number(pages.end),
            false => count.div_ceil(leaves::length::<S>()) as u32,
        };
        let run = number(pages.start)..end;
        self.steps.reserve(run.len())?;
        let after = match pages.end * PAGE < count {
            true => end,
            false => u32::MAX,
        };
        self.steps.restart(run.clone(), run.start, after);
        let sums = targets.len() * self.steps.depth;
        allocation::lengthen(&mut self.stacks, sums, PURPOSE, Sums::default)
    }
}

/// The sources of a page, for the targets that go through it together.
struct PageOfSources<'a, S: Simd, const SPLIT: bool, const POTENTIAL: bool> {
    shared: &'a RegularContext<'a, S, SPLIT, POTENTIAL>,
    targets: &'a [Target],
    scaled: &'a [Scaled<S::T>],
    tile: &'a Tile<S::T>,
    /// Address of the tile's first source.
    first: usize,
    /// As [`JPage::minus_three`](super::super::kernel::JPage::minus_three).
    minus_three: S::T,
    /// What brings sums into the client's units, in the order of [`Sums`].
    factors: Sums,
    /// The slots of the present leaf.
    range: Range<usize>,
    notes: &'a mut Notes<S::T>,
    /// Where neighbours are noted.
    results: &'a mut [RegularResult],
}

impl<S: Simd, const SPLIT: bool, const POTENTIAL: bool> LeafSums
    for PageOfSources<'_, S, SPLIT, POTENTIAL>
{
    type Sums = Sums;

    #[inline(always)]
    fn begin(&mut self, range: Range<usize>) {
        self.range = range;
    }

    #[inline(always)]
    fn sum(&mut self, k: usize, to: &mut Sums) -> Result<()> {
        let RegularContext { s, block, .. } = *self.shared;
        let (tile, scaled) = (self.tile, &self.scaled[k]);
        if !(tile.representable && scaled.representable) {
            return self.plainly(k, to);
        }
        let words = self.range.start..self.range.end.next_multiple_of(64);
        let leaf = match POTENTIAL {
            true => kernel::potential::<S, SPLIT>(s, tile, scaled, words, &mut self.notes.left_out),
            false => kernel::regular::<S, SPLIT>(
                s,
                self.minus_three,
                tile,
                scaled,
                block.criterion,
                words,
                self.notes,
            ),
        };
        // A mass or a term beyond single precision, whether its source was left out or not.
        let finite = leaf.sums.iter().fold(true, |all, s| all & s.is_finite());
        if !(S::T::IS_DOUBLE || finite) {
            return self.plainly(k, to);
        }
        let [ax, ay, az, pot, jx, jy, jz, _] = leaf.sums;
        let sums = [ax, ay, az, jx, jy, jz, pot];
        for ((to, sum), factor) in to.iter_mut().zip(sums).zip(self.factors) {
            *to = sum * factor;
        }
        if leaf.left_out {
            self.look_again(k, to)?;
        }
        Ok(())
    }
}

impl<S: Simd, const SPLIT: bool, const POTENTIAL: bool> PageOfSources<'_, S, SPLIT, POTENTIAL> {
    /// Adds those that the loop left out and that are no neighbours.
    #[inline(always)]
    fn look_again(&mut self, k: usize, sums: &mut Sums) -> Result<()> {
        let Self {
            shared,
            tile,
            first,
            notes,
            ..
        } = self;
        let (target, scaled, result) = (&self.targets[k], &self.scaled[k], &mut self.results[k]);
        let RegularRequest {
            criterion, longest, ..
        } = *shared.block;
        let count = list(&notes.left_out, &self.range, &mut notes.slots);
        for &slot in &notes.slots[..count] {
            let slot = slot.into();
            if POTENTIAL {
                shared.add(*first + slot, target, sums, result)?;
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
                Verdict::Neighbour => result.note(*first + slot, longest)?,
                Verdict::Unclear => shared.add(*first + slot, target, sums, result)?,
                Verdict::Other => {}
            }
        }
        Ok(())
    }

    /// The sums in plain double precision.
    #[cold]
    #[inline(never)]
    fn plainly(&mut self, k: usize, sums: &mut Sums) -> Result<()> {
        let (target, result) = (&self.targets[k], &mut self.results[k]);
        for slot in self.range.clone() {
            self.shared.add(self.first + slot, target, sums, result)?;
        }
        Ok(())
    }
}

impl<S: Simd, const SPLIT: bool, const POTENTIAL: bool> RegularContext<'_, S, SPLIT, POTENTIAL> {
    /// Adds one source in plain double precision, or notes that it is a neighbour.
    #[inline(always)]
    fn add(
        &self,
        address: usize,
        target: &Target,
        sums: &mut Sums,
        result: &mut RegularResult,
    ) -> Result<()> {
        let RegularRequest {
            sources,
            criterion,
            longest,
            ..
        } = *self.block;
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
fn list(bits: &Slots, range: &Range<usize>, to: &mut Listed) -> usize {
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
