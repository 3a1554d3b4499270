//! Neighbour lists: squared distances in double precision, with vector instructions.
//!
//! The positions of the block's pages are predicted once, and kept for other blocks at the same time. Then threads divide
//! the i-particles. A thread compares a few i-particles at a time with all j-particles. Every comparison gives one bit. So
//! the length of a list is known before its memory is allocated, and its labels are written only once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::division::threads_for;
use super::pool::Pool;
use super::simd::{Simd, Work};
use super::tile::Lanes;
use crate::error::Result;
use crate::force::ForceRequest;
use crate::process::allocation;
use crate::sources::jmemory::{JMemory, PAGE, Page};
use crate::sources::label_sort;
use crate::sources::neighbours::{ListRules, Lists, NeighbourLists, PURPOSE};
use crate::sources::particle::IParticle;
use crate::sources::predictor::Coordinate;
use crate::sources::sum_tree::share;

/// How many i-particles share one load of a vector of positions.
const TOGETHER: usize = 4;

/// The comparisons in one word, and the words of a page.
const WORD: usize = 64;
const WORDS: usize = PAGE / WORD;

/// Rough nanoseconds of a pair on one core, and tasks for each thread.
const PAIR: f64 = 0.4;
const TASKS_PER_THREAD: usize = 4;

/// Predicted positions of one page.
pub struct Positions {
    of: Option<Origin>,
    /// A column for each coordinate.
    x: [[f64; PAGE]; 3],
}

/// What positions were predicted from.
#[derive(PartialEq)]
struct Origin {
    page: u32,
    version: u64,
    /// The bits of the time.
    ti: u64,
    /// The slots that hold a particle below nj.
    present: [u64; WORDS],
}

impl Positions {
    const NONE: Self = Self {
        of: None,
        x: [[0.0; PAGE]; 3],
    };
}

/// The lists of a block. `positions` is memory kept from block to block.
///
/// # Errors
///
/// The lists are longer than the rules allow, or there is no memory for them.
pub fn lists<S: Simd<T = f64>>(
    s: S,
    memory: &JMemory,
    block: &ForceRequest,
    rules: ListRules,
    threads: usize,
    positions: &mut Vec<Positions>,
) -> Result<NeighbourLists> {
    let ForceRequest { nj, ti, particles } = block;
    let active = particles.iter().filter(|p| p.h2 > 0.0).count();
    if active == 0 {
        return Ok(NeighbourLists::default());
    }
    let mut pages = Vec::new();
    allocation::reserve(&mut pages, memory.pages(*nj).count(), PURPOSE)?;
    pages.extend(memory.pages(*nj));
    let pages = &pages[..];
    if pages.is_empty() {
        return Ok(NeighbourLists::default());
    }
    let pairs = active.saturating_mul(pages.len() * PAGE);
    let work = pairs as f64 * PAIR;
    let threads = threads_for(work, threads);
    let effort = Duration::from_nanos(work as u64);
    allocation::lengthen(positions, pages.len(), PURPOSE, || Positions::NONE)?;
    let positions = &mut positions[..pages.len()];
    let mut present = Vec::new();
    allocation::reserve(&mut present, pages.len() * WORDS, PURPOSE)?;
    present.extend(pages.iter().flat_map(|page| page.present_below(*nj)));
    predict(s, (pages, &present), *ti, positions, (threads, effort))?;

    let search = Search {
        s,
        pages,
        positions,
        present: &present,
        rules,
        listed: AtomicUsize::new(0),
    };
    let tasks = match threads {
        1 => 1,
        _ => (threads * TASKS_PER_THREAD).min(particles.len().div_ceil(TOGETHER)),
    };
    let mut parts: Vec<Mutex<Result<Lists>>> = Vec::new();
    parts.resize_with(tasks, || Mutex::new(Ok(Lists::default())));
    Pool::get()?.run(tasks, threads, effort, &|t| {
        let range = share(particles.len(), tasks, t);
        *parts[t].lock() = s.vectorize(Task {
            search: &search,
            particles: &particles[range],
        });
    })?;
    let parts = parts.into_iter().map(Mutex::into_inner);
    let runs = parts.collect::<Result<Vec<_>>>()?;
    Ok(NeighbourLists::from_runs(runs))
}

/// Predicts the words of all pages that have a particle which is `present`, unless that is done.
fn predict<S: Simd<T = f64>>(
    s: S,
    (pages, present): (&[&Page], &[u64]),
    ti: f64,
    positions: &mut [Positions],
    (threads, effort): (usize, Duration),
) -> Result<()> {
    let each = pages.len().div_ceil(threads * TASKS_PER_THREAD);
    let pages = pages.iter().zip(present.as_chunks::<WORDS>().0);
    let mut pages: Vec<_> = pages.zip(positions).collect();
    let shares: Vec<_> = pages.chunks_mut(each).map(Mutex::new).collect();
    Pool::get()?.run(shares.len(), threads, effort, &|t| {
        for ((page, present), positions) in shares[t].lock().iter_mut() {
            let origin = Some(Origin {
                page: page.number(),
                version: page.version(),
                ti: ti.to_bits(),
                present: **present,
            });
            if positions.of == origin {
                continue;
            }
            // The child of a fork in the middle has nothing that looks complete.
            positions.of = None;
            s.vectorize(Predict {
                s,
                page,
                present,
                ti,
                x: &mut positions.x,
            });
            positions.of = origin;
        }
    })
}

/// The prediction of one page.
struct Predict<'a, S> {
    s: S,
    page: &'a Page,
    present: &'a [u64; WORDS],
    ti: f64,
    x: &'a mut [[f64; PAGE]; 3],
}

impl<S: Simd<T = f64>> Work for Predict<'_, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self {
            s,
            page,
            present,
            ti,
            x,
        } = self;
        let now = s.splat(ti);
        for (k, x) in x.iter_mut().enumerate() {
            let columns = page.coordinate_columns(k);
            for (word, present) in present.iter().enumerate() {
                // Where nobody is present, nothing is compared.
                if *present == 0 {
                    continue;
                }
                for at in (word * WORD..(word + 1) * WORD).step_by(S::LANES) {
                    // SAFETY: the lanes divide a word and a page, and `at` is a multiple of them below PAGE.
                    unsafe {
                        let interval = s.sub(now, s.load(page.times(), at));
                        let coordinate = Coordinate {
                            x: s.load(columns.x, at),
                            v: s.load(columns.v, at),
                            aby2: s.load(columns.aby2, at),
                            a1by6: s.load(columns.a1by6, at),
                            a2by18: match columns.a2by18 {
                                Some(column) => Some(s.load(column, at)),
                                None => None,
                            },
                        };
                        s.store(x, at, coordinate.position(Lanes(s), interval));
                    }
                }
            }
        }
    }
}

/// What all tasks share.
struct Search<'a, S> {
    s: S,
    pages: &'a [&'a Page],
    positions: &'a [Positions],
    /// A bit for each slot: whether it holds a particle below nj.
    present: &'a [u64],
    rules: ListRules,
    /// The number of labels in all lists so far.
    listed: AtomicUsize,
}

/// The lists of a run of i-particles.
struct Task<'a, S> {
    search: &'a Search<'a, S>,
    particles: &'a [IParticle],
}

impl<S: Simd<T = f64>> Work for Task<'_, S> {
    type Output = Result<Lists>;
    #[inline(always)]
    fn run(self) -> Result<Lists> {
        let Self { search, particles } = self;
        let words = search.pages.len() * WORDS;
        let mut near = Vec::new();
        allocation::lengthen(&mut near, words * TOGETHER, PURPOSE, || 0)?;
        let mut scratch = Vec::new();
        let mut lists = Lists::with_room_for(particles.len())?;
        let mut active = particles.iter().enumerate().filter(|(_, p)| p.h2 > 0.0);
        loop {
            let group: [_; TOGETHER] = std::array::from_fn(|_| active.next());
            let Some(first) = group[0] else { break };
            // A group that is not full repeats its first i-particle.
            search.compare(group.map(|g| g.unwrap_or(first).1), &mut near);
            for (member, near) in group.iter().zip(near.chunks_exact(words)) {
                if let &Some((i, particle)) = member {
                    lists.close_before(i);
                    search.list(near, particle, &mut lists, &mut scratch)?;
                }
            }
        }
        lists.close_before(particles.len());
        Ok(lists)
    }
}

impl<S: Simd<T = f64>> Search<'_, S> {
    /// Compares each of some i-particles with all j-particles. Each i-particle gets a run of words with a bit for
    /// each j-particle.
    #[inline(always)]
    fn compare(&self, particles: [&IParticle; TOGETHER], near: &mut [u64]) {
        let s = self.s;
        let words = self.present.len();
        // No closures here: they would be compiled without the instructions.
        let zero = s.splat(0.0);
        let mut x = [[zero; 3]; TOGETHER];
        let mut bound = [zero; TOGETHER];
        for (i, particle) in particles.iter().enumerate() {
            x[i] = [
                s.splat(particle.x[0]),
                s.splat(particle.x[1]),
                s.splat(particle.x[2]),
            ];
            // r^2 < h^2, written with the comparison that vectors offer.
            bound[i] = s.splat(particle.h2.next_down());
        }
        for (p, positions) in self.positions.iter().enumerate() {
            for word in 0..WORDS {
                let mut bits = [0_u64; TOGETHER];
                let present = self.present[p * WORDS + word];
                let mut lane = if present == 0 { WORD } else { 0 };
                while lane < WORD {
                    let at = word * WORD + lane;
                    // SAFETY: the lanes divide the 64 slots of a word, and the words a page.
                    let [xj, yj, zj] = unsafe {
                        [
                            s.load(&positions.x[0], at),
                            s.load(&positions.x[1], at),
                            s.load(&positions.x[2], at),
                        ]
                    };
                    for i in 0..TOGETHER {
                        let dx = s.sub(xj, x[i][0]);
                        let dy = s.sub(yj, x[i][1]);
                        let dz = s.sub(zj, x[i][2]);
                        // The order of `distance2`, without fused operations.
                        let r2 = s.add(s.add(s.mul(dx, dx), s.mul(dy, dy)), s.mul(dz, dz));
                        bits[i] |= u64::from(s.le_bits(r2, bound[i])) << lane;
                    }
                    lane += S::LANES;
                }
                let at = p * WORDS + word;
                for (i, bits) in bits.iter().enumerate() {
                    near[i * words + at] = bits & present;
                }
            }
        }
    }

    /// Appends the list of one i-particle.
    #[inline(always)]
    fn list(
        &self,
        near: &[u64],
        particle: &IParticle,
        lists: &mut Lists,
        scratch: &mut Vec<i32>,
    ) -> Result<()> {
        let count = near.iter().map(|w| w.count_ones() as usize).sum();
        // The threads' timing decides which list is refused, not whether one is.
        let before = self.listed.fetch_add(count, Ordering::Relaxed);
        self.rules.allow(before + count)?;
        let labels = lists.grow(count)?;
        let mut end = 0;
        for (page, near) in self.pages.iter().zip(near.chunks_exact(WORDS)) {
            for (run, &word) in page.index().chunks_exact(WORD).zip(near) {
                if word == u64::MAX {
                    labels[end..end + WORD].copy_from_slice(run);
                    end += WORD;
                    continue;
                }
                let mut bits = word;
                while bits != 0 {
                    labels[end] = run[bits.trailing_zeros() as usize];
                    bits &= bits - 1;
                    end += 1;
                }
            }
        }
        if self.rules.sorted {
            label_sort::sort(labels, scratch)?;
        }
        if !self.rules.include_self {
            lists.leave_out(particle.index);
        }
        Ok(())
    }
}
