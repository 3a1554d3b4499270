//! The CPU backend: vector kernels over tiles of predicted particles, on all cores.
//!
//! The particles of a page are predicted in double precision into a tile and used
//! while it is close to the processor. A leaf of the summation tree is a run of
//! 32 vectors of a tile: single-precision sums of at most 32 terms a lane.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod kernel;
mod nearest;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plan;
mod pool;
mod portable;
mod simd;
#[cfg(test)]
mod tests;
mod tile;

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use self::kernel::{Target, Variant};
use self::nearest::Candidates;
use self::plan::{Plan, Task};
use self::pool::Pool;
use self::portable::Portable;
use self::simd::{Real, Simd, Sums, Work};
use self::tile::{Tile, Units};
use super::{Backend, Block, Results, reference};
use crate::config::{InstructionSet, Precision, Settings};
use crate::error::Result;
use crate::jmemory::{JMemory, PAGE, Page};
use crate::particle::{Force, IParticle, Nearest};
use crate::reduce::Joiner;

pub use self::pool::threads;

/// The instruction sets that this processor has, best first.
pub fn available() -> Vec<InstructionSet> {
    [
        InstructionSet::Avx512,
        InstructionSet::Avx2,
        InstructionSet::Neon,
        InstructionSet::Portable,
    ]
    .into_iter()
    .filter(|&set| build(set, Precision::Mixed, 1).is_some())
    .collect()
}

/// The backend for the best instruction set that the processor has and `settings` allow.
pub fn choose(settings: &Settings) -> Box<dyn Backend> {
    let threads = threads(settings.threads);
    let make = |set| build(set, settings.precision, threads);
    if settings.simd != InstructionSet::Auto {
        if let Some(backend) = make(settings.simd) {
            return backend;
        }
        crate::log::error(
            "KIRIN_SIMD",
            format_args!("this processor has no {}", settings.simd),
        );
    }
    make(InstructionSet::Avx512)
        .or_else(|| make(InstructionSet::Avx2))
        .or_else(|| make(InstructionSet::Neon))
        .or_else(|| make(InstructionSet::Portable))
        .expect("the portable instruction set is everywhere")
}

/// The backend for one instruction set, where the processor has it.
pub fn build(
    set: InstructionSet,
    precision: Precision,
    threads: usize,
) -> Option<Box<dyn Backend>> {
    /// The backend of one precision, from the tokens of both element types.
    macro_rules! with {
        ($single:expr, $double:expr) => {
            match precision {
                Precision::Mixed => Cpu::<_, true>::boxed($single, set, precision, threads),
                Precision::Single => Cpu::<_, false>::boxed($single, set, precision, threads),
                Precision::Double => Cpu::<_, false>::boxed($double, set, precision, threads),
            }
        };
    }
    match set {
        InstructionSet::Portable => Some(with!(
            Portable::<f32, 4>::default(),
            Portable::<f64, 2>::default()
        )),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => Some(with!(
            avx2::Avx2::<f32>::detect()?,
            avx2::Avx2::<f64>::detect()?
        )),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => Some(with!(
            avx512::Avx512::<f32>::detect()?,
            avx512::Avx512::<f64>::detect()?
        )),
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Neon => Some(with!(
            neon::Neon::<f32>::detect()?,
            neon::Neon::<f64>::detect()?
        )),
        _ => None,
    }
}

/// Vectors of one leaf.
const LEAF_VECTORS: usize = 32;

/// What is known of one i-particle while its sums grow.
struct Progress<T> {
    /// The i-particle in the client's units.
    plain: Target<T>,
    joiner: Joiner<Sums>,
    candidates: Candidates,
    /// Some tile could not be computed in the kernel's precision.
    unsafe_range: bool,
}

impl<T: Real> Progress<T> {
    fn new() -> Self {
        Self {
            plain: Target::new(&IParticle::default(), &Units::PLAIN),
            joiner: Joiner::new(0),
            candidates: Candidates::default(),
            unsafe_range: false,
        }
    }

    #[inline(always)]
    fn restart(&mut self, i: &IParticle, first_leaf: u32) {
        self.plain = Target::new(i, &Units::PLAIN);
        self.joiner.restart(first_leaf);
        self.candidates.clear();
        self.unsafe_range = false;
    }

    /// The i-particle in the units of a tile.
    #[inline(always)]
    fn target(&self, i: &IParticle, units: &Units) -> Target<T> {
        if units.are_plain() {
            self.plain
        } else {
            Target::new(i, units)
        }
    }
}

/// Memory that one task works in, kept from block to block.
struct Workspace<T> {
    progress: Vec<Progress<T>>,
    forces: Vec<Force>,
    nearest: Vec<Option<Nearest>>,
}

impl<T> Default for Workspace<T> {
    fn default() -> Self {
        Self {
            progress: Vec::new(),
            forces: Vec::new(),
            nearest: Vec::new(),
        }
    }
}

/// The backend for one instruction set and precision. With `SPLIT`, positions have a low part.
struct Cpu<S: Simd, const SPLIT: bool> {
    s: S,
    set: InstructionSet,
    precision: Precision,
    threads: usize,
    /// One for each page of the memory, at the page's position.
    tiles: Vec<RwLock<Box<Tile<S::T>>>>,
    workspaces: Vec<Mutex<Workspace<S::T>>>,
    pages: Vec<usize>,
}

/// What the tasks of one block share.
struct Shared<'a, S: Simd> {
    s: S,
    memory: &'a JMemory,
    block: &'a Block,
    tiles: &'a [RwLock<Box<Tile<S::T>>>],
    /// Positions of the pages, in address order.
    pages: &'a [usize],
    nearest: bool,
}

impl<S: Simd, const SPLIT: bool> Cpu<S, SPLIT> {
    fn boxed(s: S, set: InstructionSet, precision: Precision, threads: usize) -> Box<dyn Backend> {
        Box::new(Self {
            s,
            set,
            precision,
            threads,
            tiles: Vec::new(),
            workspaces: Vec::new(),
            pages: Vec::new(),
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

    fn finish(
        &mut self,
        memory: &JMemory,
        block: &Block,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()> {
        let ni = block.particles.len();
        results.forces.clear();
        results.forces.resize(ni, Force::default());
        results.nearest.clear();
        if nearest {
            results.nearest.resize(ni, None);
        }
        self.tiles
            .resize_with(memory.page_count(), || RwLock::new(Tile::new()));
        self.pages.clear();
        self.pages.extend(memory.positions(block.nj));
        if ni == 0 || self.pages.is_empty() {
            return Ok(());
        }

        let stale = self
            .pages
            .iter()
            .filter(|&&p| !self.tiles[p].get_mut().is_fresh(memory.page(p), block.ti))
            .count();
        let plan = Plan::new(ni, self.pages.len(), stale, self.threads);
        if self.workspaces.len() < plan.tasks() {
            self.workspaces.resize_with(plan.tasks(), Mutex::default);
        }
        let shared = Shared {
            s: self.s,
            memory,
            block,
            tiles: &self.tiles,
            pages: &self.pages,
            nearest,
        };
        let pool = Pool::get();
        if plan.predicts_first() {
            pool.run(self.pages.len(), plan.threads(), &|p| {
                shared.s.vectorize(Predict {
                    shared: &shared,
                    position: shared.pages[p],
                });
            });
        }
        let workspaces = &self.workspaces;
        pool.run(plan.tasks(), plan.threads(), &|t| {
            shared.s.vectorize(Compute::<S, SPLIT> {
                shared: &shared,
                task: plan.task(t),
                whole: plan.tasks_are_whole(),
                workspace: &mut workspaces[t].lock(),
            });
        });

        if plan.tasks_are_whole() {
            for (t, workspace) in self.workspaces[..plan.tasks()].iter_mut().enumerate() {
                let workspace = workspace.get_mut();
                let particles = plan.task(t).particles;
                results.forces[particles.clone()].copy_from_slice(&workspace.forces);
                if nearest {
                    results.nearest[particles].copy_from_slice(&workspace.nearest);
                }
            }
        } else {
            let (first, others) = self.workspaces[..plan.tasks()]
                .split_first_mut()
                .expect("a plan has a task");
            let first = first.get_mut();
            for other in others {
                first.append(other.get_mut());
            }
            let whole = Task {
                particles: 0..ni,
                pages: 0..self.pages.len(),
            };
            shared.s.vectorize(Finish::<S, SPLIT> {
                shared: &shared,
                task: whole,
                workspace: first,
            });
            results.forces.copy_from_slice(&first.forces);
            if nearest {
                results.nearest.copy_from_slice(&first.nearest);
            }
        }
        Ok(())
    }
}

/// Predicts one page.
struct Predict<'a, S: Simd> {
    shared: &'a Shared<'a, S>,
    position: usize,
}

impl<S: Simd> Work for Predict<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        drop(self.shared.tile(self.position));
    }
}

/// Computes the sums of one task, and its results if it sees all pages.
struct Compute<'a, S: Simd, const SPLIT: bool> {
    shared: &'a Shared<'a, S>,
    task: Task,
    whole: bool,
    workspace: &'a mut Workspace<S::T>,
}

impl<S: Simd, const SPLIT: bool> Work for Compute<'_, S, SPLIT> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.shared.compute::<SPLIT>(&self.task, self.workspace);
        if self.whole {
            self.workspace.finish::<S, SPLIT>(self.shared, &self.task);
        }
    }
}

/// Turns the joined sums of all tasks into results.
struct Finish<'a, S: Simd, const SPLIT: bool> {
    shared: &'a Shared<'a, S>,
    task: Task,
    workspace: &'a mut Workspace<S::T>,
}

impl<S: Simd, const SPLIT: bool> Work for Finish<'_, S, SPLIT> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.workspace.finish::<S, SPLIT>(self.shared, &self.task);
    }
}

impl<S: Simd> Shared<'_, S> {
    const LEAF: usize = S::LANES * LEAF_VECTORS;
    const LEAVES: usize = PAGE / Self::LEAF;

    /// The tile at a position, predicted if it is not yet.
    #[inline(always)]
    fn tile(&self, position: usize) -> RwLockReadGuard<'_, Box<Tile<S::T>>> {
        let page = self.memory.page(position);
        let tile = self.tiles[position].read();
        if tile.is_fresh(page, self.block.ti) {
            return tile;
        }
        drop(tile);
        let mut tile = self.tiles[position].write();
        if !tile.is_fresh(page, self.block.ti) {
            tile.predict(page, self.block.ti);
        }
        RwLockWriteGuard::downgrade(tile)
    }

    /// Slots of a page below the block's `nj`.
    #[inline(always)]
    fn slots(&self, page: &Page) -> usize {
        (self.block.nj - page.first_address()).min(PAGE)
    }

    /// Sums over the task's run of pages for each of its i-particles.
    #[inline(always)]
    fn compute<const SPLIT: bool>(&self, task: &Task, workspace: &mut Workspace<S::T>) {
        let particles = &self.block.particles[task.particles.clone()];
        let first_page = self.memory.page(self.pages[task.pages.start]);
        // A run begins where the one before ended: absent pages between belong to neither.
        let first_leaf = if task.pages.start == 0 {
            0
        } else {
            first_page.number() * Self::LEAVES as u32
        };
        if workspace.progress.len() < particles.len() {
            workspace
                .progress
                .resize_with(particles.len(), Progress::new);
        }
        for (i, progress) in particles.iter().zip(&mut workspace.progress) {
            progress.restart(i, first_leaf);
        }
        for &position in &self.pages[task.pages.clone()] {
            let tile = self.tile(position);
            let page = self.memory.page(position);
            let slots = self.slots(page);
            let factors = tile.units.factors(S::RSQRT_SCALE);
            for leaf in 0..Self::LEAVES {
                let range = leaf * Self::LEAF..slots.min((leaf + 1) * Self::LEAF);
                if range.is_empty() {
                    break;
                }
                let number = page.number() * Self::LEAVES as u32 + leaf as u32;
                let holes = range.len() % S::LANES != 0 || !page.is_full(range.clone());
                for (i, progress) in particles.iter().zip(&mut workspace.progress) {
                    let target = progress.target(i, &tile.units);
                    progress.unsafe_range |= !target.is_representable(i);
                    let variant = Variant {
                        jerk: page.has_motion() || i.v != [0.0; 3],
                        zero: i.eps2 == 0.0,
                        mask: holes || page.may_hold_index(i.index),
                        nearest: self.nearest,
                    };
                    let (mut sums, least) = kernel::leaf::<S, SPLIT>(
                        self.s,
                        variant,
                        &tile,
                        page,
                        &target,
                        range.clone(),
                    );
                    for (sum, factor) in sums.iter_mut().zip(factors) {
                        *sum *= factor;
                    }
                    progress.joiner.push(number, sums);
                    if self.nearest && least < S::T::MAX {
                        let least = least.to_f64() / (tile.units.length * tile.units.length);
                        progress
                            .candidates
                            .add(number, least, self.slack::<SPLIT>(i));
                    }
                }
            }
        }
    }

    /// Absolute error of a squared distance in this precision.
    fn slack<const SPLIT: bool>(&self, i: &IParticle) -> f64 {
        let bits = match (size_of::<S::T>() == size_of::<f64>(), SPLIT) {
            (true, _) => 52,
            (false, true) => 47,
            (false, false) => 23,
        };
        nearest::slack(&i.x, bits)
    }

    /// The nearest neighbour, from the leaves that can hold it.
    #[inline(always)]
    fn nearest<const SPLIT: bool>(
        &self,
        i: &IParticle,
        candidates: &Candidates,
        pages: &[usize],
    ) -> Option<Nearest> {
        let (bound, leaves) = candidates.remaining()?;
        let mut best = None;
        for leaf in leaves {
            let number = leaf / Self::LEAVES as u32;
            let at = pages
                .binary_search_by_key(&number, |&p| self.memory.page(p).number())
                .expect("a candidate comes from one of these pages");
            let page = self.memory.page(pages[at]);
            let tile = self.tile(pages[at]);
            let begin = leaf as usize % Self::LEAVES * Self::LEAF;
            let range = begin..self.slots(page).min(begin + Self::LEAF);
            let Units { length, .. } = tile.units;
            // A little more, for the rounding of the bound itself.
            let bound = S::T::from_f64(bound * (length * length) * (1.0 + 1e-6));
            let target = Target::new(i, &tile.units);
            kernel::slots_within::<S, SPLIT>(
                self.s,
                &tile,
                &target,
                bound,
                range.clone(),
                |slot| {
                    nearest::consider(&mut best, i, page, slot, &range, self.block.ti);
                },
            );
        }
        best
    }
}

impl<T: Real> Workspace<T> {
    /// Takes over what a task on a later run of pages found for the same i-particles.
    fn append(&mut self, other: &Self) {
        for (mine, others) in self.progress.iter_mut().zip(&other.progress) {
            for &(leaf, sum) in others.joiner.parts() {
                mine.joiner.push(leaf, sum);
            }
            mine.candidates.append(&others.candidates);
            mine.unsafe_range |= others.unsafe_range;
        }
    }

    /// Turns the progress of a task over all pages into results.
    #[inline(always)]
    fn finish<S: Simd<T = T>, const SPLIT: bool>(&mut self, shared: &Shared<'_, S>, task: &Task) {
        let block = shared.block;
        self.forces.clear();
        self.nearest.clear();
        let particles = &block.particles[task.particles.clone()];
        for (i, progress) in particles.iter().zip(&mut self.progress) {
            let sums = progress.joiner.total().unwrap_or_default();
            let mut force = Force {
                acc: [sums[0], sums[1], sums[2]],
                pot: sums[3],
                jerk: [sums[4], sums[5], sums[6]],
            };
            if progress.unsafe_range || !force.is_finite() {
                force = reference::force_on(shared.memory, block.nj, block.ti, i);
            }
            self.forces.push(force);
            if shared.nearest {
                let pages = &shared.pages[task.pages.clone()];
                let nearest = if progress.unsafe_range {
                    reference::nearest_to(shared.memory, block.nj, block.ti, i)
                } else {
                    shared.nearest::<SPLIT>(i, &progress.candidates, pages)
                };
                self.nearest.push(nearest);
            }
        }
    }
}
