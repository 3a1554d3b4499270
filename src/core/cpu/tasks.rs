//! The tasks of one block: they predict pages, sum over leaves, and turn sums into results.

use std::ops::{Deref, Range};
use std::sync::{RwLock, RwLockReadGuard};

use super::attraction::Corrections;
use super::coincident::Places;
use super::division::Task;
use super::grid;
use super::kernel::{self, JPage};
use super::leaves;
use super::masses::{Labels, Masses};
use super::nearest;
use super::pool;
use super::resolution::LeafBounds;
use super::simd::{Real, Simd, Work};
use super::target::ScaledParticle;
use super::tile::Tile;
use super::units::Sampled;
use super::workspace::{PURPOSE, Totals, Workspace};
use crate::error::Result;
use crate::force::ForceRequest;
use crate::process::allocation;
use crate::sources::jmemory::{Header, JMemory, PAGE, Page, SourceKind};
use crate::sources::neighbours;
use crate::sources::particle::{Force, IParticle};
use crate::sources::sum_tree::Steps;

/// What is kept of a page from block to block.
pub struct PreparedPage<T> {
    /// The masses.
    pub masses: Box<Masses<T>>,
    /// The range of the labels.
    pub labels: Labels,
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

/// [`grid::deciding`] in a block that names the addresses `0..nj`.
#[inline(always)]
pub fn deciding(page: &Page, nj: usize) -> usize {
    grid::deciding(page, (nj - page.first_address()).min(PAGE))
}

/// What the tasks of one block share.
pub struct BlockContext<'a, S: Simd, const SPLIT: bool> {
    /// The instruction set.
    pub s: S,
    /// [`super::mean_root::MeanRoot`] of the instruction set.
    pub root: f64,
    /// Those of the instruction set and the precision.
    pub corrections: Corrections,
    /// Whether the precision is `reduced`.
    pub reduced: bool,
    /// The j-particles.
    pub memory: &'a JMemory,
    /// The block.
    pub block: &'a ForceRequest,
    /// One for each page of the memory, at the page's position.
    pub prepared: &'a [RwLock<PreparedPage<S::T>>],
    /// Positions of the block's pages, in address order.
    pub pages: &'a [usize],
    /// The block's pages, if all are prepared already. If several threads took the lock of each page, each would wait
    /// for the lock's memory to come from the others' caches.
    pub ready: &'a [RwLockReadGuard<'a, PreparedPage<S::T>>],
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

/// A prepared page that nobody changes meanwhile.
pub enum Unchanged<'a, T> {
    /// For the whole block.
    Block(&'a PreparedPage<T>),
    /// For as long as this lock is held.
    Lock(RwLockReadGuard<'a, PreparedPage<T>>),
}

impl<T> Deref for Unchanged<'_, T> {
    type Target = PreparedPage<T>;
    #[inline(always)]
    fn deref(&self) -> &PreparedPage<T> {
        match self {
            Self::Block(page) => page,
            Self::Lock(page) => page,
        }
    }
}

/// Predicts one page.
pub struct Predict<'a, S: Simd, const SPLIT: bool> {
    /// What all tasks share.
    pub shared: &'a BlockContext<'a, S, SPLIT>,
    /// Which of the block's pages.
    pub at: usize,
}

impl<S: Simd, const SPLIT: bool> Work for Predict<'_, S, SPLIT> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        self.shared.prepare(self.at).map(drop)
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
        let Self {
            shared,
            task,
            whole,
            workspace,
        } = self;
        match shared.memory.sources() {
            SourceKind::Moving | SourceKind::MovingSoftened => {
                shared.sum_in_motion(task, workspace)?;
            }
            SourceKind::AtRest | SourceKind::Softened => {
                shared.s.vectorize(SumAtRest {
                    shared,
                    task,
                    workspace: &mut *workspace,
                })?;
            }
        }
        match whole {
            true => shared.s.vectorize(Finish {
                shared,
                task,
                workspace,
            }),
            false => Ok(()),
        }
    }
}

/// Computes the sums of one task over particles at rest.
struct SumAtRest<'a, S: Simd, const SPLIT: bool> {
    shared: &'a BlockContext<'a, S, SPLIT>,
    task: &'a Task,
    workspace: &'a mut Workspace<S::T>,
}

impl<S: Simd, const SPLIT: bool> Work for SumAtRest<'_, S, SPLIT> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        self.shared.sum_at_rest(self.task, self.workspace)
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

/// Drops what an array has, and keeps its memory for elements of another type. (The standard library collects in place where both types have
/// one layout, and else allocates.)
pub fn emptied<A, B>(mut array: Vec<A>) -> Vec<B> {
    array.clear();
    array.into_iter().filter_map(|_| None).collect()
}

impl<'a, S: Simd, const SPLIT: bool> BlockContext<'a, S, SPLIT> {
    /// The block's page number `at` with its masses and labels up to date; its tile too, unless that is used only once.
    #[inline(always)]
    pub fn page(&self, at: usize) -> Result<Unchanged<'a, S::T>> {
        match self.ready.get(at) {
            Some(page) => Ok(Unchanged::Block(page)),
            None => self.prepare(at).map(Unchanged::Lock),
        }
    }

    /// All pages of the block, prepared. `memory` is empty.
    pub fn prepare_all(
        &self,
        memory: Vec<[usize; 2]>,
    ) -> Result<Vec<RwLockReadGuard<'a, PreparedPage<S::T>>>> {
        let mut ready = emptied(memory);
        allocation::reserve(&mut ready, self.pages.len(), PURPOSE)?;
        for at in 0..self.pages.len() {
            ready.push(self.prepare(at)?);
        }
        Ok(ready)
    }

    /// Prepares the block's page number `at`, unless that is done.
    #[inline(always)]
    pub fn prepare(&self, at: usize) -> Result<RwLockReadGuard<'a, PreparedPage<S::T>>> {
        let position = self.pages[at];
        let page = self.memory.page(position);
        let (ti, end) = (self.block.ti, deciding(page, self.block.nj));
        let is_ready = |p: &PreparedPage<S::T>| {
            p.masses.are_fresh(page, end)
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
        if !prepared.masses.are_fresh(page, end) {
            prepared.masses.load(page, end, leaves::length::<S>());
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
        let (ti, end) = (self.block.ti, deciding(page, self.block.nj));
        if let Some(tile) = prepared.fresh_tile(page, ti, end) {
            return Ok(tile);
        }
        let tile = allocation::fill(scratch, PURPOSE, Tile::default)?;
        if !tile.is_fresh(page, ti, end) {
            tile.predict::<S, SPLIT>(self.s, page, ti, end, &prepared.units);
        }
        Ok(tile)
    }

    /// What is known of the particles of a tile.
    #[inline(always)]
    pub fn bounds(&self, tile: &Tile<S::T>, masses: &Masses<S::T>) -> LeafBounds {
        let bounds = tile.bounds(masses);
        match self.reduced {
            true => bounds.reduced(),
            false => bounds,
        }
    }

    /// The slots of a page below the block's `nj`.
    #[inline(always)]
    pub fn slots(&self, page: &Header) -> usize {
        (self.block.nj - page.first_address()).min(PAGE)
    }

    /// Begins a task: the order of additions of its leaves, which have this length, and its i-particles.
    ///
    /// # Errors
    ///
    /// There is no memory.
    #[inline(always)]
    pub fn restart(&self, task: &Task, length: usize, totals: &mut Totals<S::T>) -> Result<()> {
        totals.steps.reserve(task.pages.len() * (PAGE / length))?;
        self.restart_steps(&task.pages, length, &mut totals.steps);
        totals.restart::<SPLIT>(&self.block.particles[task.particles.clone()], Self::slack)
    }

    /// The join schedule of the leaves in a run of the block's pages.
    fn restart_steps(&self, run: &Range<usize>, length: usize, steps: &mut Steps) {
        // Headers: a page takes in its writes only when it is predicted, so that both find it in the cache.
        let page = |at: usize| self.memory.header(self.pages[at]);
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

    /// Whether a leaf has no close pair, although its potential does not prove that: see `resolution.rs`.
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
        target.resolution.resolves(self.s.vectorize(closest))
    }

    /// The absolute error of a squared distance in this precision.
    #[inline(always)]
    fn slack(i: &IParticle) -> f64 {
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
        let (steps, targets, stacks) = totals.of(particles.len());
        let stacks = stacks.chunks_exact(steps.depth);
        for ((i, target), stack) in particles.iter().zip(targets).zip(stacks) {
            let [x, y, z, pot, jx, jy, jz, _] = stack[0];
            forces.push(Force {
                acc: [x, y, z],
                pot,
                jerk: [jx, jy, jz],
            });
            if !self.nearest {
                continue;
            }
            let mut found = None;
            if i.eps2 >= 0.0 {
                for candidate in target.candidates.remaining() {
                    let page = self.memory.page(candidate.page);
                    nearest::consider(&mut found, i, page, candidate.slot, block.ti);
                }
            }
            // A softening that is NaN, or far larger than all distances, spoils the loop's softened r^2. The
            // nearest neighbour is defined without softening.
            if found.is_none() && i.x.iter().all(|x| x.is_finite()) {
                found = neighbours::nearest_of(self.memory, block.nj, block.ti, i);
            }
            nearest.push(found);
        }
        Ok(())
    }
}
