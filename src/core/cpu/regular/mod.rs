//! The regular force and the potential. The sources are converted to tiles once, blocks are divided into tasks, and
//! the sums of the tasks are joined.

mod kernel;
mod target;
mod tasks;
#[cfg(test)]
mod tests;
mod tile;

use std::ops::Range;
use std::time::Duration;

use self::tasks::{Compute, Part, RegularContext};
use self::tile::{Load, Source, Tile};
use super::division::Division;
use super::engine::any;
use super::mean_root::MeanRoot;
use super::pool::Pool;
use super::simd::Simd;
use crate::error::{Error, Result};
use crate::force::regular::{
    self, Criterion, Incoming, PURPOSE, RegularForce, RegularRequest, Sources, Target,
};
use crate::process::allocation;
use crate::process::lock::Lock;
use crate::process::settings::InstructionSet;
use crate::sources::jmemory::PAGE;
use crate::sources::sum_tree::{Joiner, share};

pub use self::target::UncertainBand;

/// Tiles that are worth a thread.
const TILES_PER_THREAD: usize = 64;

/// Rough time in which one thread makes a tile.
const TILE_TIME: Duration = Duration::from_micros(1);

/// Potentials that are computed together.
const TOGETHER: usize = 4096;

/// The backend for one instruction set and precision. With `SPLIT`, positions have a low part.
pub struct Regular<S: Simd, const SPLIT: bool> {
    s: S,
    set: InstructionSet,
    threads: usize,
    /// Whether threads may divide the sources.
    split: bool,
    /// What the kernel's reciprocal root is, times the root.
    root: f64,
    tiles: Tiles<S::T>,
    stars: Tiles<S::T>,
    parts: Vec<Lock<Part<S::T>>>,
    targets: Vec<Target>,
    results: Vec<regular::RegularResult>,
}

/// The tiles of some sources.
type Tiles<T> = Vec<Box<Tile<T>>>;

impl<S: Simd, const SPLIT: bool> Regular<S, SPLIT> {
    /// The backend behind a token.
    pub fn boxed(s: S, set: InstructionSet, threads: usize, split: bool) -> Box<dyn RegularForce> {
        Box::new(Self {
            s,
            set,
            threads,
            split,
            root: s.vectorize(MeanRoot::<S, true>(s)),
            tiles: Vec::new(),
            stars: Vec::new(),
            parts: Vec::new(),
            targets: Vec::new(),
            results: Vec::new(),
        })
    }

    /// Loads pages from the client, and makes their tiles.
    fn load_pages(
        s: S,
        threads: usize,
        sources: &mut Sources,
        incoming: &Incoming<'_>,
        tiles: &mut Tiles<S::T>,
    ) -> Result<()> {
        let count = incoming.m.len();
        let pages = sources.restart(count)?;
        make_room(tiles, pages.len())?;
        let tasks = (pages.len() / TILES_PER_THREAD).clamp(1, threads);
        let effort = TILE_TIME * pages.len() as u32;
        let size = pages.len().div_ceil(tasks).max(1);
        let shares = pages.chunks_mut(size).zip(tiles.chunks_mut(size));
        let shares: Vec<_> = shares.map(Lock::new).collect();
        let task = |t: usize| {
            let (pages, tiles) = &mut *shares[t].lock();
            for (k, (page, tile)) in pages.iter_mut().zip(tiles.iter_mut()).enumerate() {
                let from = Source::Client(page, incoming, (t * size + k) * PAGE);
                s.vectorize(Load::<S, SPLIT> { s, from, tile });
            }
        };
        match Pool::get().and_then(|pool| pool.run(shares.len(), tasks, effort, &task)) {
            // A fork has left the other threads behind.
            Err(Error::ThreadsLost) if tasks > 1 => {
                drop(shares);
                Self::load_pages(s, 1, sources, incoming, tiles)
            }
            done => done,
        }
    }

    fn compute<const POTENTIAL: bool>(
        &mut self,
        block: &RegularRequest<'_>,
        results: &mut [regular::RegularResult],
    ) -> Result<()> {
        let (ni, count) = (block.targets.len(), block.sources.len());
        let results = &mut results[..ni];
        results.iter_mut().for_each(regular::RegularResult::restart);
        if ni == 0 || count == 0 {
            return Ok(());
        }
        let pages = count.div_ceil(PAGE);
        let division = Division::new(ni, pages, 0, self.threads, self.split);
        let whole = division.tasks_are_whole();
        let spaces = match whole {
            true => division.threads(),
            false => division.tasks(),
        };
        allocation::lengthen(&mut self.parts, spaces, PURPOSE, Lock::default)?;
        let parts = &self.parts[..spaces];
        let shared = RegularContext::<S, SPLIT, POTENTIAL> {
            s: self.s,
            root: self.root,
            block,
            tiles: match POTENTIAL {
                true => &self.stars,
                false => &self.tiles,
            },
        };
        let outcome = Lock::new(Ok(()));
        let note = |done: Result<()>| {
            if done.is_err() {
                *outcome.lock() = done;
            }
        };
        if whole {
            let mut rest = &mut *results;
            let mut shares = Vec::new();
            for t in 0..division.tasks() {
                let (share, others) = rest.split_at_mut(division.task(t).particles.len());
                shares.push(Lock::new(share));
                rest = others;
            }
            Pool::get()?.run(
                division.tasks(),
                division.threads(),
                division.effort(),
                &|t| {
                    note(shared.s.vectorize(Compute {
                        shared: &shared,
                        task: &division.task(t),
                        part: &mut any(parts),
                        results: &mut shares[t].lock(),
                    }));
                },
            )?;
        } else {
            Pool::get()?.run(
                division.tasks(),
                division.threads(),
                division.effort(),
                &|t| {
                    let mut part = parts[t].lock();
                    let mut results = std::mem::take(&mut part.results);
                    let task = division.task(t);
                    let ready = allocation::lengthen(
                        &mut results,
                        ni,
                        PURPOSE,
                        regular::RegularResult::default,
                    );
                    note(ready.and_then(|()| {
                        results.iter_mut().for_each(regular::RegularResult::restart);
                        shared.s.vectorize(Compute {
                            shared: &shared,
                            task: &task,
                            part: &mut part,
                            results: &mut results[..ni],
                        })
                    }));
                    part.results = results;
                },
            )?;
        }
        outcome.lock().clone()?;
        if !whole {
            join(&mut self.parts[..spaces], results, block.longest)?;
        }
        Ok(())
    }
}

/// Makes tiles, or gives them back, until there are so many.
fn make_room<T: Copy + Default>(tiles: &mut Tiles<T>, count: usize) -> Result<()> {
    tiles.truncate(count);
    while tiles.len() < count {
        let tile = allocation::boxed(Tile::default(), PURPOSE)?;
        allocation::push(tiles, tile, PURPOSE)?;
    }
    Ok(())
}

/// Joins what tasks on successive runs of tiles found for the same targets.
fn join<T>(
    parts: &mut [Lock<Part<T>>],
    results: &mut [regular::RegularResult],
    longest: usize,
) -> Result<()> {
    let mut joiner = Joiner::new(0);
    joiner.reserve()?;
    for (k, result) in results.iter_mut().enumerate() {
        joiner.restart(0);
        for part in &mut *parts {
            let part = part.get_mut();
            part.steps.leave(&part.stacks, k, &mut joiner);
            let found = &part.results[k];
            let room = longest
                .saturating_sub(result.list.len())
                .min(found.list.len());
            allocation::reserve(&mut result.list, room, PURPOSE)?;
            result.list.extend_from_slice(&found.list[..room]);
            result.neighbours += found.neighbours;
        }
        result.sums = joiner.total().unwrap_or_default();
    }
    Ok(())
}

impl<S: Simd, const SPLIT: bool> RegularForce for Regular<S, SPLIT> {
    fn name(&self) -> String {
        format!("cpu {}", self.set)
    }

    fn load(&mut self, sources: &mut Sources, incoming: &Incoming<'_>) -> Result<()> {
        Self::load_pages(self.s, self.threads, sources, incoming, &mut self.tiles)
    }

    fn inherit(&mut self, sources: &Sources) -> Result<()> {
        let s = self.s;
        make_room(&mut self.tiles, sources.pages().len())?;
        for (k, (page, tile)) in sources.pages().iter().zip(&mut self.tiles).enumerate() {
            let from = Source::Page(page, sources.len() - k * PAGE);
            s.vectorize(Load::<S, SPLIT> { s, from, tile });
        }
        Ok(())
    }

    fn forces(
        &mut self,
        block: &RegularRequest<'_>,
        results: &mut [regular::RegularResult],
    ) -> Result<()> {
        self.compute::<false>(block, results)
    }

    fn potentials(
        &mut self,
        sources: &mut Sources,
        incoming: &Incoming<'_>,
        range: Range<usize>,
        potentials: &mut [f64],
    ) -> Result<()> {
        Self::load_pages(self.s, self.threads, sources, incoming, &mut self.stars)?;
        let runs = range.len().div_ceil(TOGETHER);
        let mut rest = potentials;
        for run in (0..runs).map(|run| share(range.len(), runs, run)) {
            let (to, others) = rest.split_at_mut(run.len());
            rest = others;
            let mut targets = std::mem::take(&mut self.targets);
            let mut results = std::mem::take(&mut self.results);
            targets.clear();
            allocation::reserve(&mut targets, run.len(), PURPOSE)?;
            targets.extend(run.map(|k| Target {
                x: sources.x(range.start + k),
                ..Target::default()
            }));
            allocation::lengthen(&mut results, to.len(), PURPOSE, Default::default)?;
            let block = RegularRequest {
                sources,
                targets: &targets,
                criterion: Criterion::Radius,
                longest: 0,
            };
            self.compute::<true>(&block, &mut results)?;
            for (to, result) in to.iter_mut().zip(&results) {
                *to = result.sums[6];
            }
            (self.targets, self.results) = (targets, results);
        }
        Ok(())
    }
}
