//! The tasks of one block: they predict pages, sum over leaves, and turn sums into results.

use std::ops::Range;
use std::sync::{RwLock, RwLockReadGuard};

use super::again::{self, Leaf};
use super::coincident::Places;
use super::division::Task;
use super::dominant::{Bound, Dominated};
use super::grid;
use super::kernel::{self, Halfway, JPage, Variant};
use super::masses::{self, Labels, Masses};
use super::nearest;
use super::pool;
use super::simd::{Real, Simd, Work};
use super::target::ScaledParticle;
use super::tile::{self, Tile};
use super::units::Sampled;
use super::workspace::{PURPOSE, Workspace};
use crate::error::Result;
use crate::force::ForceRequest;
use crate::process::allocation;
use crate::sources::jmemory::{JMemory, PAGE, Page, PageArray, SourceKind};
use crate::sources::neighbours;
use crate::sources::particle::{Force, IParticle};
use crate::sources::sum_tree::{Partial, Steps};

/// The number of vectors in a leaf.
const LEAF_VECTORS: usize = 32;

/// What is kept of a page from block to block.
pub struct PreparedPage<T> {
    /// The masses.
    pub masses: Box<Masses<T>>,
    labels: Labels,
    units: Sampled,
    tile: Option<Box<Tile<T>>>,
    /// Where the particles are, if that was ever wanted.
    pub places: Option<Box<Places>>,
}

impl<T: Real> PreparedPage<T> {
    /// A page of which nothing is prepared.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn new() -> Result<Self> {
        Ok(Self {
            masses: allocation::boxed(Masses::default(), PURPOSE)?,
            labels: Labels::default(),
            units: Sampled::default(),
            tile: None,
            places: None,
        })
    }

    /// The tile, if it is cached and predicted to this time.
    #[inline(always)]
    pub fn fresh_tile(&self, page: &Page, ti: f64, end: usize) -> Option<&Tile<T>> {
        self.tile
            .as_deref()
            .filter(|tile| tile.is_fresh(page, ti, end))
    }
}

/// The slots of a page that decide on its grid, in a block that names the addresses `0..nj`.
#[inline(always)]
pub fn deciding<const SPLIT: bool>(page: &Page, nj: usize) -> usize {
    match SPLIT {
        true => grid::deciding(page, (nj - page.first_address()).min(PAGE)),
        false => PAGE,
    }
}

/// What the tasks of one block share.
pub struct BlockContext<'a, S: Simd, const SPLIT: bool> {
    /// The instruction set.
    pub s: S,
    /// [`super::mean_root::MeanRoot`] of the instruction set.
    pub root: f64,
    /// [`super::attraction::Correction`] of the instruction set.
    pub correction: f64,
    /// The j-particles.
    pub memory: &'a JMemory,
    /// The block.
    pub block: &'a ForceRequest,
    /// One for each page of the memory, at the page's position.
    pub prepared: &'a [RwLock<PreparedPage<S::T>>],
    /// Positions of the block's pages, in address order.
    pub pages: &'a [usize],
    /// Whether nearest neighbours are wanted.
    pub nearest: bool,
    /// Whether some i-particle without softening may be where a j-particle is and feels it.
    pub unsoftened: bool,
    /// Whether that is to be looked up in tables.
    pub tabled: bool,
    /// Whether tiles that are not cached yet are used once and dropped.
    pub transient: bool,
    /// The generation of the process that began the block.
    pub process: u32,
    /// Whether prediction and leaves summed again are timed.
    pub measured: bool,
}

/// Predicts one page.
pub struct Predict<'a, S: Simd, const SPLIT: bool> {
    /// What all tasks share.
    pub shared: &'a BlockContext<'a, S, SPLIT>,
    /// The page's position.
    pub position: usize,
}

impl<S: Simd, const SPLIT: bool> Work for Predict<'_, S, SPLIT> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        self.shared.prepare(self.position).map(drop)
    }
}

/// Computes the sums of one task, and the results too if the task sums over all pages.
pub struct Compute<'a, S: Simd, const SPLIT: bool> {
    /// What all tasks share.
    pub shared: &'a BlockContext<'a, S, SPLIT>,
    /// The task.
    pub task: &'a Task,
    /// Whether it sums over all pages.
    pub whole: bool,
    /// Its memory.
    pub workspace: &'a mut Workspace<S::T>,
}

impl<S: Simd, const SPLIT: bool> Work for Compute<'_, S, SPLIT> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        match self.shared.memory.sources() {
            SourceKind::Moving => self.shared.sum(self.task, self.workspace)?,
            SourceKind::AtRest | SourceKind::Softened => {
                self.shared.sum_at_rest(self.task, self.workspace)?;
            }
        }
        match self.whole {
            true => self.shared.finish(self.task, self.workspace),
            false => Ok(()),
        }
    }
}

/// Turns the joined sums of all tasks into results.
pub struct Finish<'a, S: Simd, const SPLIT: bool> {
    /// What all tasks share.
    pub shared: &'a BlockContext<'a, S, SPLIT>,
    /// The i-particles, and all pages.
    pub task: &'a Task,
    /// The workspace in which the sums of all tasks were joined.
    pub workspace: &'a mut Workspace<S::T>,
}

impl<S: Simd, const SPLIT: bool> Work for Finish<'_, S, SPLIT> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        self.shared.finish(self.task, self.workspace)
    }
}

/// Finds the closest pair of a leaf.
struct Closest<'a, S: Simd, const SPLIT: bool> {
    s: S,
    sources: JPage<'a, S>,
    target: &'a ScaledParticle<S::T>,
    range: Range<usize>,
}

impl<S: Simd, const SPLIT: bool> Work for Closest<'_, S, SPLIT> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        kernel::closest::<S, SPLIT>(self.s, self.sources, self.target, self.range).to_f64()
    }
}

impl<S: Simd, const SPLIT: bool> BlockContext<'_, S, SPLIT> {
    const LEAF: usize = S::LANES * LEAF_VECTORS;
    const LEAVES: usize = PAGE / Self::LEAF;

    /// A page with its masses and labels up to date; its tile too, unless that is used only once.
    #[inline(always)]
    pub fn prepare(&self, position: usize) -> Result<RwLockReadGuard<'_, PreparedPage<S::T>>> {
        let page = self.memory.page(position);
        let (ti, end) = (self.block.ti, deciding::<SPLIT>(page, self.block.nj));
        let is_ready = |p: &PreparedPage<S::T>| {
            p.masses.are_fresh(page)
                && p.labels.are_fresh(page)
                && (!self.tabled || p.places.as_ref().is_some_and(|p| p.are_fresh(page)))
                && (self.transient || p.fresh_tile(page, ti, end).is_some())
        };
        let lock = &self.prepared[position];
        let prepared = pool::unless_forked(self.process, || lock.try_read())?;
        if is_ready(&prepared) {
            return Ok(prepared);
        }
        drop(prepared);
        let mut prepared = pool::unless_forked(self.process, || lock.try_write())?;
        if !prepared.masses.are_fresh(page) {
            prepared.masses.load(page, Self::LEAF);
        }
        if !prepared.labels.are_fresh(page) {
            prepared.labels.load(page);
        }
        if self.tabled && !prepared.places.as_ref().is_some_and(|p| p.are_fresh(page)) {
            allocation::fill(&mut prepared.places, PURPOSE, Places::default)?.load(page);
        }
        if !is_ready(&prepared) {
            let PreparedPage { tile, units, .. } = &mut *prepared;
            let tile = allocation::fill(tile, PURPOSE, Tile::default)?;
            tile.predict::<S, SPLIT>(self.s, page, ti, end, units);
        }
        drop(prepared);
        // Nobody changes it meanwhile: all tasks of a block use the page at the same time `ti`.
        pool::unless_forked(self.process, || lock.try_read())
    }

    /// The page's tile: the cached one, or `scratch`, predicted here.
    #[inline(always)]
    pub fn tile<'t>(
        &self,
        prepared: &'t PreparedPage<S::T>,
        page: &Page,
        scratch: &'t mut Option<Box<Tile<S::T>>>,
    ) -> Result<&'t Tile<S::T>> {
        let (ti, end) = (self.block.ti, deciding::<SPLIT>(page, self.block.nj));
        if let Some(tile) = prepared.fresh_tile(page, ti, end) {
            return Ok(tile);
        }
        let tile = allocation::fill(scratch, PURPOSE, Tile::default)?;
        if !tile.is_fresh(page, ti, end) {
            tile.predict::<S, SPLIT>(self.s, page, ti, end, &prepared.units);
        }
        Ok(tile)
    }

    /// The slots of a page below the block's `nj`.
    #[inline(always)]
    pub fn slots(&self, page: &Page) -> usize {
        (self.block.nj - page.first_address()).min(PAGE)
    }

    /// Sums over the task's run of pages for each of its i-particles.
    #[inline(always)]
    fn sum(&self, task: &Task, workspace: &mut Workspace<S::T>) -> Result<()> {
        let Workspace {
            totals,
            scratch,
            again,
            halfway,
            ..
        } = workspace;
        // In double precision the root takes so long that two halves take longer than one loop.
        if !S::MANY_REGISTERS && !S::T::IS_DOUBLE {
            allocation::fill(halfway, PURPOSE, Halfway::default)?;
        }
        let particles = &self.block.particles[task.particles.clone()];
        totals.steps.reserve(task.pages.len() * Self::LEAVES)?;
        self.restart_steps(&task.pages, Self::LEAF, &mut totals.steps);
        totals.restart::<SPLIT>(particles, Self::slack)?;
        let mut distances = PageArray::default();
        let (mut step, mut waiting) = (0, 0);
        for &position in &self.pages[task.pages.clone()] {
            let page = self.memory.page(position);
            let prepared = self.prepare(position)?;
            let tile = self.tile(&prepared, page, scratch)?;
            let masses = &*prepared.masses;
            let sources = JPage {
                tile,
                masses: &masses.m,
                page,
                minus_three: S::T::from_f64(-3.0 / (self.root * self.root)),
            };
            let slots = self.slots(page);
            totals.aim::<SPLIT>(particles, tile);
            let facts = tile.facts(masses);
            let factors = tile::factors(&tile.units, masses.unit, self.root);
            let area = tile.units.length * tile.units.length;
            let slack = if SPLIT {
                nearest::slack_on(tile.grid.step())
            } else {
                0.0
            };
            for begin in (0..slots).step_by(Self::LEAF) {
                let range = begin..slots.min(begin + Self::LEAF);
                let holes = !range.len().is_multiple_of(S::LANES) || !page.is_full(range.clone());
                let joins = usize::from(totals.steps.joins[step]);
                let bound = self.bound(masses, page, &range);
                // For how many i-particles the potential of the leaf proved nothing. Where these are many, the pair
                // loop finds the smallest distance as well, instead of a second pass.
                let mut unproved = 0;
                let all = particles.iter().zip(totals.iter_mut());
                for (seen, (i, (progress, stack))) in all.enumerate() {
                    let crowded = unproved * 4 > seen;
                    let target = &progress.target;
                    let variant = Variant {
                        jerk: page.has_motion() || target.moves,
                        mask: holes || prepared.labels.may_hold(target.label),
                        nearest: self.nearest || crowded,
                    };
                    let (mut sums, least) = kernel::leaf::<S, SPLIT>(
                        self.s,
                        variant,
                        sources,
                        target,
                        range.clone(),
                        &mut distances,
                        halfway.as_deref_mut(),
                    );
                    let near = self.nearest.then_some(&mut progress.candidates);
                    let reach = &target.reach;
                    let holds = reach.holds(&sums, &facts, variant.jerk);
                    let proved = reach.are_apart(&sums, &facts);
                    unproved += usize::from(!proved);
                    let sound = holds
                        && (proved
                            || variant.nearest && reach.resolves(least.to_f64())
                            || self.are_apart(sources, target, range.clone()));
                    if sound {
                        let dominated = SPLIT && bound.is_exceeded(&sums);
                        for (sum, factor) in sums.iter_mut().zip(factors) {
                            *sum *= factor;
                        }
                        if let Some(near) = near
                            && least < S::T::MAX
                        {
                            let found = (least, &distances);
                            again::note(
                                self.s,
                                near,
                                found,
                                (area, slack),
                                position,
                                range.clone(),
                            );
                        }
                        if dominated {
                            let leaf = Dominated::<S, SPLIT> {
                                s: self.s,
                                jerk: variant.jerk,
                                sources,
                                facts: &facts,
                                factors: &factors,
                                target,
                                range: range.clone(),
                            };
                            leaf.sum(i, self.block.ti, &mut sums);
                        }
                    } else {
                        let leaf = Leaf {
                            page,
                            position,
                            range: range.clone(),
                            ti: self.block.ti,
                            i,
                            candidates: near,
                        };
                        sums = again.sum(self.s, leaf, self.measured)?;
                    }
                    for left in stack[waiting - joins..waiting].iter().rev() {
                        sums = left.join(sums);
                    }
                    stack[waiting - joins] = sums;
                }
                waiting = waiting + 1 - joins;
                step += 1;
            }
        }
        Ok(())
    }

    /// The bound for a leaf.
    #[inline(always)]
    fn bound(&self, masses: &Masses<S::T>, page: &Page, range: &Range<usize>) -> Bound {
        let mass = match deciding::<SPLIT>(page, self.block.nj) {
            PAGE => masses.of_leaves[range.start / Self::LEAF],
            _ => masses::mass_of(&masses.m[range.clone()]),
        };
        Bound::of(mass, masses.one_sign)
    }

    /// The join schedule of the leaves in a run of the block's pages.
    pub fn restart_steps(&self, run: &Range<usize>, length: usize, steps: &mut Steps) {
        let page = |at: usize| self.memory.page(self.pages[at]);
        let first_leaf = |at: usize| page(at).number() * (PAGE / length) as u32;
        let leaves = run.clone().flat_map(|at| {
            let leaves = self.slots(page(at)).div_ceil(length);
            (first_leaf(at)..).take(leaves)
        });
        // Pages that do not exist, between two runs, belong to neither.
        let first = match run.start {
            0 => 0,
            start => first_leaf(start),
        };
        let after = match run.end {
            end if end == self.pages.len() => u32::MAX,
            end => first_leaf(end),
        };
        steps.restart(leaves, first, after);
    }

    /// Whether a leaf has no close pair, although its potential does not prove that: see `reach.rs`.
    #[cold]
    #[inline(never)]
    pub fn are_apart(
        &self,
        sources: JPage<'_, S>,
        target: &ScaledParticle<S::T>,
        range: Range<usize>,
    ) -> bool {
        let closest = Closest::<S, SPLIT> {
            s: self.s,
            sources,
            target,
            range,
        };
        target.reach.resolves(self.s.vectorize(closest))
    }

    /// The absolute error of a squared distance in this precision.
    pub fn slack(i: &IParticle) -> f64 {
        let bits = match (S::T::IS_DOUBLE, SPLIT) {
            (true, _) => 52,
            (false, true) => 47,
            (false, false) => 23,
        };
        nearest::slack(&i.x, bits)
    }

    /// Turns the sums over all pages into the results of the task's i-particles.
    #[inline(always)]
    fn finish(&self, task: &Task, workspace: &mut Workspace<S::T>) -> Result<()> {
        let block = self.block;
        let Workspace {
            totals,
            forces,
            nearest,
            ..
        } = workspace;
        forces.clear();
        nearest.clear();
        let particles = &block.particles[task.particles.clone()];
        allocation::reserve(forces, particles.len(), PURPOSE)?;
        allocation::reserve(nearest, particles.len(), PURPOSE)?;
        for (i, (progress, stack)) in particles.iter().zip(totals.iter_mut()) {
            let [x, y, z, pot, jx, jy, jz, _] = stack[0];
            forces.push(Force {
                acc: [x, y, z],
                pot,
                jerk: [jx, jy, jz],
            });
            let mut found = None;
            if self.nearest && i.eps2 >= 0.0 {
                for candidate in progress.candidates.remaining() {
                    let page = self.memory.page(candidate.page);
                    nearest::consider(&mut found, i, page, candidate.slot, block.ti);
                }
            }
            // A softening that is NaN, or far larger than all distances, spoils the loop's softened r^2. The
            // nearest neighbour is defined without softening.
            if self.nearest && found.is_none() && i.x.iter().all(|x| x.is_finite()) {
                found = neighbours::nearest_of(self.memory, block.nj, block.ti, i);
            }
            nearest.push(found);
        }
        Ok(())
    }
}
