//! How a block is divided into tasks: large blocks by i-particles, small ones by
//! j-particles, tiny ones not at all.

use std::ops::Range;
use std::time::Duration;

use super::leaves::TOGETHER;
use crate::sources::jmemory::PAGE;
use crate::sources::sum_tree::share;

/// How many i-particles go through a page together.
const CHUNK: usize = 128;

/// Rough costs in nanoseconds on one core, for deciding whether threads are worth waking.
const PAIR: f64 = 0.5;
const PREDICTION: f64 = 2.0;

/// Nanoseconds of work: below the first number a second thread is not worth while, and each thread must get at least
/// the second. Posting a job and waiting for its end take one or two microseconds.
const WORTH_SHARING: f64 = 10_000.0;
const LEAST_WORK: f64 = 5_000.0;

/// Tasks for each thread, for long and for short work, where they are of equal size. With several tasks a delayed thread leaves its share to the
/// others. But each task takes about a microsecond to begin and to join its sums, which counts in short work.
const TASKS_PER_THREAD: usize = 8;
const TASKS_OF_SHORT_WORK: usize = 2;

/// Work below this, in nanoseconds, is short.
const SHORT: f64 = 200_000.0;

/// How many of at most `threads` threads should share work that takes one of them `nanoseconds`.
pub fn threads_for(nanoseconds: f64, threads: usize) -> usize {
    match nanoseconds < WORTH_SHARING {
        true => 1,
        false => threads.min((nanoseconds / LEAST_WORK) as usize),
    }
}

/// The fewest i-particles for which a task should go through all tiles: the first number for up to
/// [`NEAR_PAGES`] pages, whose tiles fit into a core's cache, the second for more.
const LEAST_SHARE: (usize, usize) = (8, 64);
const NEAR_PAGES: usize = 48;

/// What one task computes: the sums of a run of pages for a run of i-particles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Which i-particles of the block.
    pub particles: Range<usize>,
    /// Which of the block's pages, in address order.
    pub pages: Range<usize>,
}

/// The division of one block.
#[derive(Clone, Debug)]
pub struct Division {
    ni: usize,
    pages: usize,
    threads: usize,
    /// Rough nanoseconds of one thread.
    work: f64,
    tasks: usize,
    over_pages: bool,
    /// If this is a number, each thread has so many tasks, each about half as large as the one before. A large task takes less time
    /// for each i-particle, because each of its leaves comes into the nearest cache once; the small ones end together.
    halvings: Option<usize>,
    predicts_first: bool,
}

impl Division {
    /// The division for `ni` i-particles and `pages` pages, `stale` of which must be predicted, among at most
    /// `threads` threads. Pages are divided only if `split` is set.
    pub fn new(ni: usize, pages: usize, stale: usize, threads: usize, split: bool) -> Self {
        let work = (ni * pages * PAGE) as f64 * PAIR + (stale * PAGE) as f64 * PREDICTION;
        let threads = threads_for(work, threads);
        let over_particles = |tasks| Self {
            ni,
            pages,
            threads,
            work,
            tasks,
            over_pages: false,
            // One thread predicts each page when it comes to it.
            predicts_first: threads > 1 && stale > 0,
            halvings: None,
        };
        let each = match work < SHORT {
            true => TASKS_OF_SHORT_WORK,
            false => TASKS_PER_THREAD,
        };
        let least = if pages <= NEAR_PAGES {
            LEAST_SHARE.0
        } else {
            LEAST_SHARE.1
        };
        if threads == 1 {
            over_particles(ni.div_ceil(CHUNK))
        } else if ni >= threads * least && ni <= threads * CHUNK * 2 {
            let halvings = 1 + (ni / threads / least).ilog2() as usize;
            Self {
                halvings: Some(halvings),
                ..over_particles(threads * halvings)
            }
        } else if ni >= threads * least {
            let tasks = (ni / least).min(threads * each);
            over_particles(tasks.max(ni.div_ceil(CHUNK)))
        } else if split && pages >= threads * 2 {
            Self {
                ni,
                pages,
                threads,
                work,
                // Joining the parts of many i-particles takes time.
                tasks: pages.min(threads * if ni > LEAST_SHARE.1 { 2 } else { each }),
                over_pages: true,
                halvings: None,
                predicts_first: false,
            }
        } else {
            over_particles(ni.min(threads * each))
        }
    }

    /// The number of tasks, at least one if there is any i-particle.
    pub fn tasks(&self) -> usize {
        self.tasks
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// How long one thread would take, roughly.
    pub fn effort(&self) -> Duration {
        Duration::from_nanos(self.work as u64)
    }

    /// Whether each task sums over all pages, so that its sums are the results.
    pub fn tasks_are_whole(&self) -> bool {
        !self.over_pages
    }

    /// Whether stale pages are predicted before the tasks begin.
    pub fn predicts_first(&self) -> bool {
        self.predicts_first
    }

    /// Task number `t`.
    pub fn task(&self, t: usize) -> Task {
        if self.over_pages {
            Task {
                particles: 0..self.ni,
                pages: share(self.pages, self.tasks, t),
            }
        } else if let Some(halvings) = self.halvings {
            let own: Range<usize> = share(self.ni, self.threads, t / halvings);
            let cut = |k: usize| match k == halvings {
                true => own.end,
                false => own.start + (own.len() - (own.len() >> k)).next_multiple_of(TOGETHER),
            };
            let k = t % halvings;
            Task {
                particles: cut(k)..cut(k + 1),
                pages: 0..self.pages,
            }
        } else {
            Task {
                particles: share(self.ni, self.tasks, t),
                pages: 0..self.pages,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_cover_every_pair_once() {
        for (ni, pages) in [
            (1, 1),
            (1, 32),
            (7, 3),
            (129, 9),
            (256, 2),
            (300, 128),
            (5000, 40),
        ] {
            for threads in [1, 2, 5, 64] {
                for split in [true, false] {
                    let division = Division::new(ni, pages, pages, threads, split);
                    assert!(split || division.tasks_are_whole());
                    let mut seen = vec![0; ni * pages];
                    for t in 0..division.tasks() {
                        let task = division.task(t);
                        assert!(!task.particles.is_empty() && !task.pages.is_empty());
                        for i in task.particles {
                            task.pages.clone().for_each(|p| seen[i * pages + p] += 1);
                        }
                    }
                    assert!(seen.iter().all(|&n| n == 1), "{division:?}");
                }
            }
        }
    }

    #[test]
    fn the_tasks_of_a_thread_become_smaller() {
        let division = Division::new(96, 32, 0, 2, true);
        let sizes = (0..division.tasks()).map(|t| division.task(t).particles.len());
        assert_eq!(sizes.collect::<Vec<_>>(), [24, 16, 8, 24, 16, 8]);
        // Pages that do not fit into a cache are not fetched for a few i-particles.
        let far = Division::new(256, 400, 0, 2, true);
        assert!((0..far.tasks()).all(|t| far.task(t).particles.len() >= 64));
    }

    #[test]
    fn a_few_thousand_pairs_are_not_shared_and_more_by_as_many_threads_as_have_work() {
        let threads = |ni, pages| Division::new(ni, pages, 0, 64, true).threads();
        assert_eq!(threads(4, 8), 1);
        assert_eq!(threads(48, 8), 19, "98 microseconds");
        assert_eq!(threads(256, 128), 64);
    }
}
