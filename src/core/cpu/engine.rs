//! Computes one block: predicts pages, lets tasks sum over them, and converts the sums to results.

use std::sync::{PoisonError, RwLock, TryLockError};
use std::time::Instant;

use super::attraction::{Corrections, Measure};
use super::coincident::Sought;
use super::division::{Division, Task};
use super::lists;
use super::mean_root::MeanRoot;
use super::pool::{self, Pool};
use super::simd::Simd;
use super::tasks::{self, BlockContext, Compute, Finish, Predict, PreparedPage};
use super::times::Times;
use super::workspace::{PURPOSE, Workspace};
use crate::error::{Error, Result};
use crate::force::Phases;
use crate::force::{Backend, ForceRequest, Results};
use crate::process::lock::{Guard, Lock};
use crate::process::settings::{InstructionSet, Precision};
use crate::process::{self, allocation, log};
use crate::sources::jmemory::{JMemory, SourceKind};
use crate::sources::neighbours::{ListRules, NeighbourLists};

/// The backend for one instruction set and precision. With `SPLIT`, positions have a low part.
pub struct Cpu<S: Simd, const SPLIT: bool> {
    s: S,
    set: InstructionSet,
    precision: Precision,
    threads: usize,
    /// Whether threads may divide the j-particles.
    split: bool,
    /// The mean of the kernel's reciprocal root, times the root.
    root: f64,
    /// By what sums of particles at rest are multiplied.
    corrections: Corrections,
    /// One for each page of the memory, at the page's position.
    prepared: Vec<RwLock<PreparedPage<S::T>>>,
    /// One for each thread; one for each task if their sums are joined.
    workspaces: Vec<Lock<Workspace<S::T>>>,
    /// Memory for the locks of a block's pages, empty between blocks.
    locks: Vec<[usize; 2]>,
    /// Positions of the block's pages, in address order.
    pages: Vec<usize>,
    /// Memory kept for [`lists::lists`].
    positions: Vec<lists::Positions>,
    /// The times of the blocks so far.
    times: Times,
    /// Decides about tables of where the j-particles are.
    sought: Sought,
    /// Whether the next block is timed.
    measured: bool,
    phases: Phases,
    /// How many leaves were summed again.
    leaves_again: u64,
    /// Whether memory for tiles was lacking. Each task then predicts its own.
    scarce: bool,
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
        let reduced = precision == Precision::Reduced;
        Box::new(Self {
            s,
            set,
            precision,
            threads,
            split,
            root: s.vectorize(MeanRoot::<S, SPLIT>(s)),
            corrections: s.vectorize(Measure::<S, SPLIT> { s, reduced }),
            prepared: Vec::new(),
            workspaces: Vec::new(),
            locks: Vec::new(),
            pages: Vec::new(),
            positions: Vec::new(),
            times: Times::default(),
            sought: Sought::default(),
            measured: false,
            phases: Phases::default(),
            leaves_again: 0,
            scarce: false,
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

    fn leaves_again(&self) -> u64 {
        self.leaves_again
    }

    fn finish(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()> {
        let mut computed = self.compute(memory, block, nearest, results);
        if let Err(Error::OutOfMemory { .. }) = computed
            && !self.scarce
        {
            self.give_back();
            self.scarce = true;
            computed = self.compute(memory, block, nearest, results);
            if computed.is_ok() {
                log::line("there is no memory to keep predicted particles: blocks take longer");
            }
        }
        if let Err(Error::OutOfMemory { .. }) = computed {
            self.give_back();
            self.scarce = false;
        }
        computed
    }

    fn neighbour_lists(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        rules: ListRules,
    ) -> Result<NeighbourLists> {
        memory.make_columns()?;
        let positions = &mut self.positions;
        let lists = lists::lists(
            self.s.double(),
            memory,
            block,
            rules,
            self.threads,
            positions,
        );
        if let Err(Error::OutOfMemory { .. }) = lists {
            self.give_back();
        }
        lists
    }
}

impl<S: Simd, const SPLIT: bool> Cpu<S, SPLIT> {
    /// Frees what is kept from block to block, because memory is lacking.
    fn give_back(&mut self) {
        (self.prepared, self.workspaces, self.positions) = Default::default();
    }

    /// [`Backend::finish`], but keeps its memory when it fails.
    fn compute(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()> {
        let measured = std::mem::take(&mut self.measured);
        self.phases = Phases::default();
        let now = || measured.then(Instant::now);
        let ni = block.particles.len();
        results.restart(ni, nearest)?;
        let only = self.times.is_only(block.ti, ni);
        memory.make_columns()?;
        self.find_pages(memory, block.nj)?;
        if ni == 0 || self.pages.is_empty() {
            return Ok(());
        }
        let stale = self.stale_pages(memory, block.nj, block.ti);
        let division = Division::new(ni, self.pages.len(), stale, self.threads, self.split);
        let whole = division.tasks_are_whole();
        let spaces = match whole {
            true => division.threads(),
            false => division.tasks(),
        };
        allocation::lengthen(&mut self.workspaces, spaces, PURPOSE, Lock::default)?;
        let has_labels = matches!(
            memory.sources(),
            SourceKind::Moving | SourceKind::MovingSoftened
        );
        let unsoftened = !has_labels && block.particles.iter().any(|i| i.eps2 == 0.0);
        let tabled = unsoftened && self.sought.pay(memory.written(), ni, self.pages.len());
        let several = whole && division.threads() > 1;
        let read_once = !whole || division.tasks() == 1;
        let prepares_first =
            division.predicts_first() || several && tabled && self.lacks_tables(memory);
        let shared = BlockContext::<S, SPLIT> {
            s: self.s,
            root: self.root,
            corrections: self.corrections,
            reduced: self.precision == Precision::Reduced,
            memory,
            block,
            prepared: &self.prepared,
            pages: &self.pages,
            ready: &[],
            nearest,
            unsoftened,
            tabled,
            // In the caches, tiles would take as much room as the particles themselves.
            transient: self.scarce || only && read_once && !prepares_first,
            process: process::known_generation(),
            measured,
        };
        let pool = Pool::get()?;
        let outcome = Lock::new(Ok(()));
        if prepares_first && !self.scarce {
            let begin = now();
            pool.run(
                self.pages.len(),
                division.threads(),
                division.effort(),
                &|p| {
                    let predicted = shared.s.vectorize(Predict {
                        shared: &shared,
                        at: p,
                    });
                    note(&outcome, predicted);
                },
            )?;
            self.phases.prediction = begin.map(|b| b.elapsed()).unwrap_or_default();
        }
        let ready = match several && !self.scarce {
            true => shared.prepare_all(std::mem::take(&mut self.locks))?,
            false => Vec::new(),
        };
        let shared = BlockContext {
            ready: &ready,
            ..shared
        };
        let workspaces = &self.workspaces[..spaces];
        let all_results = Lock::new(&mut *results);
        pool.run(
            division.tasks(),
            division.threads(),
            division.effort(),
            &|t| {
                let task = division.task(t);
                let mut workspace = match whole {
                    true => any(workspaces),
                    false => workspaces[t].lock(),
                };
                let mut computed = shared.s.vectorize(Compute {
                    shared: &shared,
                    task: &task,
                    whole,
                    workspace: &mut workspace,
                });
                if whole && computed.is_ok() {
                    let try_lock = || all_results.try_lock().ok_or(TryLockError::WouldBlock);
                    computed = pool::unless_forked(shared.process, try_lock)
                        .map(|mut results| copy_results(&task, &workspace, &mut results));
                }
                note(&outcome, computed);
            },
        )?;
        outcome.lock().clone()?;

        let begin = now();
        let spaces = &mut self.workspaces[..spaces];
        for workspace in &mut *spaces {
            let (leaves, time) = workspace.get_mut().again.take_counts();
            self.leaves_again += leaves;
            self.phases.again += time;
        }
        if !whole {
            join(&shared, spaces, results)?;
        }
        if several {
            self.locks = tasks::emptied(ready);
        }
        self.phases.joining = begin.map(|b| b.elapsed()).unwrap_or_default();
        Ok(())
    }

    /// Lists the pages with addresses below `nj`, and makes room for what is kept of each page of the memory.
    fn find_pages(&mut self, memory: &JMemory, nj: usize) -> Result<()> {
        let count = memory.page_count();
        while self.prepared.len() < count {
            let fresh = RwLock::new(PreparedPage::new()?);
            allocation::push(&mut self.prepared, fresh, PURPOSE)?;
        }
        self.pages.clear();
        allocation::reserve(&mut self.pages, count, PURPOSE)?;
        self.pages.extend(memory.positions(nj));
        Ok(())
    }

    /// Whether some page of the block has no table of where its particles are.
    fn lacks_tables(&mut self, memory: &JMemory) -> bool {
        self.pages.iter().any(|&position| {
            let prepared = self.prepared[position].get_mut();
            let places = &prepared.unwrap_or_else(PoisonError::into_inner).places;
            !places
                .as_ref()
                .is_some_and(|p| p.are_fresh(memory.page(position)))
        })
    }

    /// The number of the block's pages that are not predicted to `ti` yet.
    fn stale_pages(&mut self, memory: &JMemory, nj: usize, ti: f64) -> usize {
        let mut stale = 0;
        for &position in &self.pages {
            if !memory.is_up_to_date(position) {
                // A task brings its writes in when it predicts it.
                stale += 1;
                continue;
            }
            let prepared = self.prepared[position]
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner);
            let page = memory.page(position);
            let tile = prepared.fresh_tile(page, ti, tasks::deciding(page, nj));
            stale += usize::from(tile.is_none());
        }
        stale
    }
}

/// Joins the sums of tasks each of which has all i-particles and some of the pages.
fn join<S: Simd, const SPLIT: bool>(
    shared: &BlockContext<'_, S, SPLIT>,
    spaces: &mut [Lock<Workspace<S::T>>],
    results: &mut Results,
) -> Result<()> {
    let Some((first, others)) = spaces.split_first_mut() else {
        return Ok(());
    };
    let first = first.get_mut();
    let ni = shared.block.particles.len();
    first.totals.join(others, ni);
    let everything = Task {
        particles: 0..ni,
        pages: 0..shared.pages.len(),
    };
    shared.s.vectorize(Finish {
        shared,
        task: &everything,
        workspace: first,
    })?;
    copy_results(&everything, first, results);
    Ok(())
}

/// Records the failure of a task.
fn note(outcome: &Lock<Result<()>>, result: Result<()>) {
    if result.is_err() {
        *outcome.lock() = result;
    }
}

/// A free workspace. There are as many as threads.
pub fn any<T>(workspaces: &[Lock<T>]) -> Guard<'_, T> {
    loop {
        if let Some(free) = workspaces.iter().find_map(Lock::try_lock) {
            return free;
        }
        std::hint::spin_loop();
    }
}

fn copy_results<T>(task: &Task, workspace: &Workspace<T>, results: &mut Results) {
    let range = task.particles.clone();
    results.forces[range.clone()].copy_from_slice(&workspace.forces);
    if !results.nearest.is_empty() {
        results.nearest[range].copy_from_slice(&workspace.nearest);
    }
}
