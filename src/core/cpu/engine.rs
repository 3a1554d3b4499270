//! Computes one block: predicts pages, lets tasks sum over them, and converts the sums to results.

use std::ptr;
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use super::ahead::SumsAhead;
use super::attraction::Correction;
use super::division::{self, Division};
use super::job::Tasks;
use super::lists;
use super::mean_root::{MeanReducedRoot, MeanRoot};
use super::pool::Pool;
use super::simd::Simd;
use super::sums::{self, Sums};
use super::tasks::{self, BlockContext, PreparedPage};
use super::workspace::{PURPOSE, Workspace};
use crate::error::{Error, Result};
use crate::force::Phases;
use crate::force::{Backend, ForceRequest, Results};
use crate::process::lock::{Guard, Lock};
use crate::process::settings::{InstructionSet, Precision};
use crate::process::{self, allocation, log};
use crate::sources::jmemory::{JMemory, SourceKind};
use crate::sources::neighbours::{ListRules, NeighbourLists};

/// For blocks this small, tiles predicted to a new time are used once and not cached.
///
/// Cached tiles take as much room in the caches as the particles themselves, and a second block at the same
/// time is rare: only a client whose block exceeds the pipelines (48 on a GRAPE-6) sends one.
const TRANSIENT: usize = 47;

/// i-particles of a block for which tables of where the j-particles are cost less than they save.
const WORTH_A_TABLE: usize = 32;

/// After a block for which it was in vain that workers began before `finish`, they do not begin that many blocks early.
const NOT_AHEAD: u32 = 64;

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
    correction: f64,
    /// The mean of the root in `reduced` precision, times the root.
    reduced: Option<f64>,
    /// One for each page of the memory, at the page's position.
    prepared: Vec<RwLock<PreparedPage<S::T>>>,
    /// One for each thread; one for each task if their sums are joined.
    workspaces: Vec<Lock<Workspace<S::T>>>,
    /// Positions of the block's pages, in address order.
    pages: Vec<usize>,
    /// Memory kept for [`lists::lists`].
    positions: Vec<lists::Positions>,
    /// The time of the last block.
    last_ti: Option<u64>,
    /// Whether the next block is timed.
    measured: bool,
    phases: Phases,
    /// How many leaves were summed again.
    leaves_again: u64,
    /// Whether memory for tiles was lacking. Each task then predicts its own.
    scarce: bool,
    /// The block that workers have begun.
    ahead: Option<SumsAhead<S, SPLIT>>,
    /// How many blocks workers still do not begin before `finish`.
    not_ahead: u32,
    /// Whether nearest neighbours were wanted in the last block.
    nearest: bool,
    /// Memory for results.
    room: Results,
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
            correction: s.vectorize(Correction::<S, SPLIT> { s, reduced }),
            reduced: reduced.then(|| s.vectorize(MeanReducedRoot(s))),
            prepared: Vec::new(),
            workspaces: Vec::new(),
            pages: Vec::new(),
            positions: Vec::new(),
            last_ti: None,
            measured: false,
            phases: Phases::default(),
            leaves_again: 0,
            scarce: false,
            ahead: None,
            not_ahead: 0,
            nearest: false,
            room: Results::default(),
        })
    }
}

impl<S: Simd, const SPLIT: bool> Drop for Cpu<S, SPLIT> {
    fn drop(&mut self) {
        if self.interrupt().is_err() {
            // The workers are lost in the middle of changing them.
            std::mem::forget(std::mem::take(&mut self.prepared));
            std::mem::forget(std::mem::take(&mut self.workspaces));
        }
        self.ahead = None;
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
        let mut computed = match self.ahead.take() {
            Some(ahead) if ahead.sums().context.nearest == nearest => self.complete(ahead, results),
            unused => {
                if unused.is_some() {
                    self.not_ahead = NOT_AHEAD;
                }
                drop(unused);
                self.compute(memory, block, nearest, results)
            }
        };
        self.nearest = nearest;
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

    unsafe fn work_ahead(&mut self, memory: &JMemory, block: &ForceRequest) {
        let (ni, nj) = (block.particles.len(), block.nj);
        if self.measured || self.scarce || !division::is_shared(ni, nj, self.threads) {
            return;
        }
        if self.not_ahead > 0 {
            self.not_ahead -= 1;
            return;
        }
        let room = std::mem::take(&mut self.room);
        // SAFETY: passed on.
        let sums = unsafe { self.sums(memory, block, self.nearest, false, room) };
        // An error comes again in `finish`.
        self.ahead = sums.ok().map(SumsAhead::begin);
    }

    fn interrupt(&mut self) -> Result<()> {
        let Some(ahead) = &mut self.ahead else {
            return Ok(());
        };
        // The client writes between the halves, and had to wait.
        self.not_ahead = NOT_AHEAD;
        ahead.interrupt()
    }

    fn cancel(&mut self) {
        self.ahead = None;
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
    /// Ends a block that workers have begun.
    fn complete(&mut self, mut ahead: SumsAhead<S, SPLIT>, results: &mut Results) -> Result<()> {
        ahead.complete()?;
        let ended = self.end(ahead.sums(), results);
        // For the next block.
        std::mem::swap(&mut *ahead.sums().results.lock(), &mut self.room);
        ended
    }

    /// Frees what is kept from block to block, because memory is lacking.
    fn give_back(&mut self) {
        self.ahead = None;
        self.room = Results::default();
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
        let summed = std::mem::take(results);
        // SAFETY: the sums are dropped before this call returns, and nothing changes meanwhile.
        let sums = unsafe { self.sums(memory, block, nearest, measured, summed)? };
        let division = &sums.division;
        let (threads, effort) = (division.threads(), division.effort());
        Pool::get()?.run(division.tasks(), threads, effort, &|t| sums.do_task(t))?;
        self.end(&sums, results)
    }

    /// Takes the results out of sums whose tasks have ended.
    fn end(&mut self, sums: &Sums<'_, S, SPLIT>, results: &mut Results) -> Result<()> {
        std::mem::swap(&mut *sums.results.lock(), results);
        sums.outcome()?;
        let begin = sums.context.measured.then(Instant::now);
        let spaces = &mut self.workspaces[..sums.workspaces.len()];
        for workspace in &mut *spaces {
            let (leaves, time) = workspace.get_mut().again.take_counts();
            self.leaves_again += leaves;
            self.phases.again += time;
        }
        if !sums.whole {
            sums::join(&sums.context, spaces, results)?;
        }
        self.phases.joining = begin.map(|b| b.elapsed()).unwrap_or_default();
        Ok(())
    }

    /// The sums of a block as tasks, none of which is done. Pages are predicted already where that is done first.
    ///
    /// # Safety
    ///
    /// While the sums live, `memory` and `block` live, too, and nothing changes them or this backend.
    unsafe fn sums<'a>(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        measured: bool,
        mut results: Results,
    ) -> Result<Sums<'a, S, SPLIT>> {
        self.phases = Phases::default();
        let ni = block.particles.len();
        results.restart(ni, nearest)?;
        let new_time = self.last_ti.replace(block.ti.to_bits()) != Some(block.ti.to_bits());
        memory.make_columns()?;
        self.find_pages(memory, block.nj)?;
        let (some, stale) = match self.pages.is_empty() || ni == 0 {
            // There is no task.
            true => (0, 0),
            false => (ni, self.stale_pages(memory, block.nj, block.ti)),
        };
        let division = Division::new(some, self.pages.len(), stale, self.threads, self.split);
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
        // SAFETY: the caller keeps all of them as they are.
        let (memory, block, prepared, pages, workspaces) = unsafe {
            (
                &*ptr::from_ref(memory),
                &*ptr::from_ref(block),
                &*ptr::from_ref(self.prepared.as_slice()),
                &*ptr::from_ref(self.pages.as_slice()),
                &*ptr::from_ref(&self.workspaces[..spaces]),
            )
        };
        let context = BlockContext::<S, SPLIT> {
            s: self.s,
            root: self.root,
            correction: self.correction,
            reduced: self.reduced,
            memory,
            block,
            prepared,
            pages,
            nearest,
            unsoftened,
            tabled: unsoftened && ni >= WORTH_A_TABLE,
            transient: self.scarce || (new_time && ni <= TRANSIENT && !division.predicts_first()),
            process: process::known_generation(),
            measured,
        };
        let sums = Sums {
            context,
            division,
            whole,
            workspaces,
            outcome: Lock::new(Ok(())),
            results: Lock::new(results),
        };
        if sums.division.predicts_first() && !self.scarce {
            let begin = measured.then(Instant::now);
            sums.predict()?;
            self.phases.prediction = begin.map(|b| b.elapsed()).unwrap_or_default();
        }
        Ok(sums)
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

/// A free workspace. There are as many as threads.
pub fn any<T>(workspaces: &[Lock<T>]) -> Guard<'_, T> {
    loop {
        if let Some(free) = workspaces.iter().find_map(Lock::try_lock) {
            return free;
        }
        std::hint::spin_loop();
    }
}
