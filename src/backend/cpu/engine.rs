//! One block through the kernels: pages are predicted, tasks sum over them, and
//! the sums become results.

use std::time::Instant;

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::kernel::{self, MeanRoot, Sources, Target, Variant};
use super::nearest::{self, Candidate};
use super::plan::{Plan, Task};
use super::pool::Pool;
use super::simd::{Real, Simd, Work};
use super::tile::{self, Labels, Masses, Tile};
use super::workspace::Workspace;
use crate::backend::{Backend, Block, Results, reference};
use crate::config::{InstructionSet, Precision};
use crate::error::Result;
use crate::jmemory::{Column, JMemory, PAGE, Page};
use crate::particle::{Force, IParticle};
use crate::reduce::Partial;
use crate::stats::Phases;

/// Vectors of one leaf.
const LEAF_VECTORS: usize = 32;

/// A potential, in the units of a tile, beside which the terms that single precision loses are
/// nothing.
const LEAST_POTENTIAL: f64 = 1e-9;

/// Blocks up to this size do not keep the tiles of a time that is seen for the first time.
///
/// With so few i-particles the cost is the memory traffic of the prediction, and a
/// kept tile is most of that; usually nobody asks for the same time again.
const TRANSIENT: usize = 16;

/// The backend for one instruction set and precision. With `SPLIT`, positions have a low part.
pub struct Cpu<S: Simd, const SPLIT: bool> {
    s: S,
    set: InstructionSet,
    precision: Precision,
    threads: usize,
    /// Whether threads may divide the j-particles.
    split: bool,
    /// What the kernel's reciprocal root is, times the root.
    root: f64,
    /// One for each page of the memory, at the page's position.
    prepared: Vec<RwLock<Prepared<S::T>>>,
    workspaces: Vec<Mutex<Workspace<S::T>>>,
    /// Positions of the block's pages, in address order.
    pages: Vec<usize>,
    /// Time of the block before.
    last_ti: Option<u64>,
    /// Whether the next block is timed.
    measured: bool,
    phases: Phases,
}

/// What is kept of a page from block to block.
struct Prepared<T> {
    masses: Box<Masses<T>>,
    labels: Labels,
    tile: Option<Box<Tile<T>>>,
}

impl<T: Real> Default for Prepared<T> {
    fn default() -> Self {
        Self {
            masses: Box::default(),
            labels: Labels::default(),
            tile: None,
        }
    }
}

impl<T: Real> Prepared<T> {
    #[inline(always)]
    fn fresh_tile(&self, page: &Page, ti: f64) -> Option<&Tile<T>> {
        self.tile.as_deref().filter(|tile| tile.is_fresh(page, ti))
    }
}

impl<S: Simd, const SPLIT: bool> Cpu<S, SPLIT> {
    /// The backend behind a token.
    pub fn boxed(
        s: S,
        set: InstructionSet,
        precision: Precision,
        threads: usize,
        split: bool,
    ) -> Box<dyn Backend> {
        Box::new(Self {
            s,
            set,
            precision,
            threads,
            split,
            root: s.vectorize(MeanRoot(s)),
            prepared: Vec::new(),
            workspaces: Vec::new(),
            pages: Vec::new(),
            last_ti: None,
            measured: false,
            phases: Phases::default(),
        })
    }
}

impl<S: Simd, const SPLIT: bool> Backend for Cpu<S, SPLIT> {
    fn name(&self) -> String {
        format!("cpu {}", self.set)
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn measure(&mut self) {
        self.measured = true;
    }

    fn phases(&self) -> Phases {
        self.phases
    }

    fn finish(
        &mut self,
        memory: &JMemory,
        block: &Block,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()> {
        let measured = std::mem::take(&mut self.measured);
        self.phases = Phases::default();
        let now = || measured.then(Instant::now);
        let ni = block.particles.len();
        results.forces.clear();
        results.forces.resize(ni, Force::default());
        results.nearest.clear();
        if nearest {
            results.nearest.resize(ni, None);
        }
        let new_time = self.last_ti.replace(block.ti.to_bits()) != Some(block.ti.to_bits());
        self.prepared
            .resize_with(memory.page_count(), RwLock::default);
        self.pages.clear();
        self.pages.extend(memory.positions(block.nj));
        if ni == 0 || self.pages.is_empty() {
            return Ok(());
        }

        let mut stale = 0;
        for &position in &self.pages {
            let prepared = self.prepared[position].get_mut();
            let tile = prepared.fresh_tile(memory.page(position), block.ti);
            stale += usize::from(tile.is_none());
        }
        let plan = Plan::new(ni, self.pages.len(), stale, self.threads, self.split);
        if self.workspaces.len() < plan.tasks() {
            self.workspaces.resize_with(plan.tasks(), Mutex::default);
        }
        let shared = Shared::<S, SPLIT> {
            s: self.s,
            root: self.root,
            memory,
            block,
            prepared: &self.prepared,
            pages: &self.pages,
            nearest,
            transient: new_time && ni <= TRANSIENT && !plan.predicts_first(),
        };
        let pool = Pool::get();
        if plan.predicts_first() {
            let begin = now();
            pool.run(self.pages.len(), plan.threads(), &|p| {
                shared.s.vectorize(Predict {
                    shared: &shared,
                    position: shared.pages[p],
                });
            });
            self.phases.prediction = begin.map(|b| b.elapsed()).unwrap_or_default();
        }
        let workspaces = &self.workspaces;
        pool.run(plan.tasks(), plan.threads(), &|t| {
            shared.s.vectorize(Compute {
                shared: &shared,
                task: plan.task(t),
                whole: plan.tasks_are_whole(),
                workspace: &mut workspaces[t].lock(),
            });
        });

        let begin = now();
        let mut spaces = self.workspaces[..plan.tasks()].iter_mut();
        if plan.tasks_are_whole() {
            for (t, workspace) in spaces.enumerate() {
                copy_results(&plan.task(t), workspace.get_mut(), results);
            }
        } else if let Some(first) = spaces.next() {
            let first = first.get_mut();
            let mut others: Vec<_> = spaces.map(|other| &mut other.get_mut().totals).collect();
            first.totals.join(&mut others, ni);
            let whole = Task {
                particles: 0..ni,
                pages: 0..self.pages.len(),
            };
            shared.s.vectorize(Finish {
                shared: &shared,
                task: &whole,
                workspace: first,
            });
            copy_results(&whole, first, results);
        }
        self.phases.joining = begin.map(|b| b.elapsed()).unwrap_or_default();
        Ok(())
    }
}

fn copy_results<T>(task: &Task, workspace: &Workspace<T>, results: &mut Results) {
    let range = task.particles.clone();
    results.forces[range.clone()].copy_from_slice(&workspace.forces);
    if !results.nearest.is_empty() {
        results.nearest[range].copy_from_slice(&workspace.nearest);
    }
}

/// What the tasks of one block share.
struct Shared<'a, S: Simd, const SPLIT: bool> {
    s: S,
    root: f64,
    memory: &'a JMemory,
    block: &'a Block,
    prepared: &'a [RwLock<Prepared<S::T>>],
    pages: &'a [usize],
    nearest: bool,
    /// Tiles that are not kept already are used once.
    transient: bool,
}

/// Predicts one page.
struct Predict<'a, S: Simd, const SPLIT: bool> {
    shared: &'a Shared<'a, S, SPLIT>,
    position: usize,
}

impl<S: Simd, const SPLIT: bool> Work for Predict<'_, S, SPLIT> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        drop(self.shared.prepare(self.position));
    }
}

/// Computes the sums of one task, and its results if it sees all pages.
struct Compute<'a, S: Simd, const SPLIT: bool> {
    shared: &'a Shared<'a, S, SPLIT>,
    task: Task,
    whole: bool,
    workspace: &'a mut Workspace<S::T>,
}

impl<S: Simd, const SPLIT: bool> Work for Compute<'_, S, SPLIT> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.shared.sum(&self.task, self.workspace);
        if self.whole {
            self.shared.finish(&self.task, self.workspace);
        }
    }
}

/// Turns the joined sums of all tasks into results.
struct Finish<'a, S: Simd, const SPLIT: bool> {
    shared: &'a Shared<'a, S, SPLIT>,
    task: &'a Task,
    workspace: &'a mut Workspace<S::T>,
}

impl<S: Simd, const SPLIT: bool> Work for Finish<'_, S, SPLIT> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.shared.finish(self.task, self.workspace);
    }
}

impl<S: Simd, const SPLIT: bool> Shared<'_, S, SPLIT> {
    const LEAF: usize = S::LANES * LEAF_VECTORS;
    const LEAVES: usize = PAGE / Self::LEAF;

    /// A page with its masses and labels up to date, and its tile too unless that is transient.
    #[inline(always)]
    fn prepare(&self, position: usize) -> RwLockReadGuard<'_, Prepared<S::T>> {
        let page = self.memory.page(position);
        let ti = self.block.ti;
        let is_ready = |p: &Prepared<S::T>| {
            p.masses.are_fresh(page)
                && p.labels.are_fresh(page)
                && (self.transient || p.fresh_tile(page, ti).is_some())
        };
        let prepared = self.prepared[position].read();
        if is_ready(&prepared) {
            return prepared;
        }
        drop(prepared);
        let mut prepared = self.prepared[position].write();
        if !prepared.masses.are_fresh(page) {
            prepared.masses.load(page);
        }
        if !prepared.labels.are_fresh(page) {
            prepared.labels.load(page);
        }
        if !is_ready(&prepared) {
            let tile = prepared.tile.get_or_insert_default();
            tile.predict(self.s, page, ti);
        }
        RwLockWriteGuard::downgrade(prepared)
    }

    /// The page's tile: the one that is kept, or `scratch` predicted.
    #[inline(always)]
    fn tile<'t>(
        &self,
        prepared: &'t Prepared<S::T>,
        page: &Page,
        scratch: &'t mut Option<Box<Tile<S::T>>>,
    ) -> &'t Tile<S::T> {
        let ti = self.block.ti;
        if let Some(tile) = prepared.fresh_tile(page, ti) {
            return tile;
        }
        let tile = scratch.get_or_insert_default();
        if !tile.is_fresh(page, ti) {
            tile.predict(self.s, page, ti);
        }
        tile
    }

    /// Slots of a page below the block's `nj`.
    #[inline(always)]
    fn slots(&self, page: &Page) -> usize {
        (self.block.nj - page.first_address()).min(PAGE)
    }

    /// Sums over the task's run of pages for each of its i-particles.
    #[inline(always)]
    fn sum(&self, task: &Task, workspace: &mut Workspace<S::T>) {
        let Workspace {
            totals, scratch, ..
        } = workspace;
        let particles = &self.block.particles[task.particles.clone()];
        let number = |at: usize| self.memory.page(self.pages[at]).number() * Self::LEAVES as u32;
        totals.steps.restart(
            task.pages.clone().flat_map(|at| {
                let leaves = self
                    .slots(self.memory.page(self.pages[at]))
                    .div_ceil(Self::LEAF);
                (number(at)..).take(leaves)
            }),
            // Absent pages between two runs belong to neither.
            if task.pages.start == 0 {
                0
            } else {
                number(task.pages.start)
            },
            if task.pages.end == self.pages.len() {
                u32::MAX
            } else {
                number(task.pages.end)
            },
        );
        totals.restart(particles, Self::slack);
        let mut distances = Column::default();
        let (mut step, mut waiting) = (0, 0);
        for &position in &self.pages[task.pages.clone()] {
            let page = self.memory.page(position);
            let prepared = self.prepare(position);
            let tile = self.tile(&prepared, page, scratch);
            let masses = &*prepared.masses;
            let sources = Sources {
                tile,
                masses: &masses.m,
                page,
                minus_three: S::T::from_f64(-3.0 / (self.root * self.root)),
            };
            let slots = self.slots(page);
            let is_plain = tile.units.are_plain();
            let doubtful = tile.far || !masses.representable;
            let factors = tile::factors(&tile.units, masses.unit, self.root);
            let area = tile.units.length * tile.units.length;
            for begin in (0..slots).step_by(Self::LEAF) {
                let range = begin..slots.min(begin + Self::LEAF);
                let holes = !range.len().is_multiple_of(S::LANES) || !page.is_full(range.clone());
                let joins = usize::from(totals.steps.joins[step]);
                for (i, (progress, stack)) in particles.iter().zip(totals.iter_mut()) {
                    let scaled;
                    let target = if is_plain {
                        &progress.plain
                    } else {
                        scaled = Target::new(i, &tile.units);
                        &scaled
                    };
                    progress.unsafe_range |= !(tile.representable && target.representable);
                    let variant = Variant {
                        jerk: page.has_motion() || target.moves,
                        mask: holes || prepared.labels.may_hold(target.label),
                        nearest: self.nearest,
                    };
                    let (mut sums, least) = kernel::leaf::<S, SPLIT>(
                        self.s,
                        variant,
                        sources,
                        target,
                        range.clone(),
                        &mut distances,
                    );
                    // Where particles are so far or so light that their terms may vanish, something
                    // must outweigh them.
                    progress.unsafe_range |= doubtful && sums[3].abs() < LEAST_POTENTIAL;
                    for (sum, factor) in sums.iter_mut().zip(factors) {
                        *sum *= factor;
                    }
                    for left in stack[waiting - joins..waiting].iter().rev() {
                        sums = left.join(sums);
                    }
                    stack[waiting - joins] = sums;
                    if self.nearest
                        && least < S::T::MAX
                        && let Some(bound) = progress.candidates.bound_with(least.to_f64() / area)
                    {
                        // A little more, for the rounding of the bound itself.
                        let bound = S::T::from_f64(bound * area * (1.0 + 1e-6));
                        kernel::slots_within(self.s, &distances, bound, range.clone(), |slot| {
                            progress.candidates.push(Candidate {
                                page: position,
                                slot,
                                r2: distances[slot].to_f64() / area,
                            });
                        });
                    }
                }
                waiting = waiting + 1 - joins;
                step += 1;
            }
        }
    }

    /// Absolute error of a squared distance in this precision.
    fn slack(i: &IParticle) -> f64 {
        let bits = match (size_of::<S::T>() == size_of::<f64>(), SPLIT) {
            (true, _) => 52,
            (false, true) => 47,
            (false, false) => 23,
        };
        nearest::slack(&i.x, bits)
    }

    /// Turns the sums over all pages into the results of the task's i-particles.
    #[inline(always)]
    fn finish(&self, task: &Task, workspace: &mut Workspace<S::T>) {
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
        let mut again = Vec::new();
        for (k, (i, (progress, stack))) in particles.iter().zip(totals.iter_mut()).enumerate() {
            let [x, y, z, pot, jx, jy, jz, _] = stack[0];
            let force = Force {
                acc: [x, y, z],
                pot,
                jerk: [jx, jy, jz],
            };
            forces.push(force);
            let mut found = None;
            if self.nearest && !progress.unsafe_range {
                for candidate in progress.candidates.remaining() {
                    let page = self.memory.page(candidate.page);
                    nearest::consider(&mut found, i, page, candidate.slot, block.ti);
                }
            }
            nearest.push(found);
            if progress.unsafe_range || !force.is_finite() || (self.nearest && found.is_none()) {
                again.push(k);
            }
        }
        if !again.is_empty() {
            let redone = Block {
                particles: again.iter().map(|&k| particles[k]).collect(),
                ..*block
            };
            let redone = reference::results(self.memory, &redone, self.nearest);
            for (n, &k) in again.iter().enumerate() {
                forces[k] = redone.forces[n];
                if self.nearest {
                    nearest[k] = redone.nearest[n];
                }
            }
        }
    }
}
