//! Worker threads that stay awake while blocks keep coming.
//!
//! A job is a number of tasks, which the workers and the calling thread claim one by one, each from its own share first. Posting a job takes one store
//! and withdrawing it one atomic exchange. Neither waits for a lock, and neither needs a system call while the workers
//! are awake. The caller never waits for a worker that has not begun: on a busy machine it does the work itself.
//! (rayon's scopes wait for every spawned task to start.)
//!
//! After a job a worker first spins, then yields between checks for a new job, then sleeps. It stays awake for a few
//! times the usual interval between jobs. So a client that calls every 50 microseconds finds its workers awake, and a
//! client that calls once a second leaves the cores free. `KIRIN_WAIT_POLICY` changes this.
//!
//! On a busy machine the system may suspend a worker in the middle of a task, and the caller waits for it. After such
//! waits the caller alone does small jobs for a while.
//!
//! Threads do not survive a fork, so a child makes its own pool. If a signal handler forks in the middle of a job,
//! that job fails in the child and must be started again.

use std::sync::TryLockError;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use super::intervals::JobIntervals;
use super::job::{Job, JobSlot, spin_until};
use crate::error::{Error, Result};
use crate::process::lock::Lock;
use crate::process::{self, allocation, floating, settings};

/// Bytes of a worker's stack.
const STACK: usize = 2 << 20;

/// The workers of this process. Made at the first job that wants them.
pub struct Pool {
    slot: JobSlot,
    /// What the threads know that post jobs, one at a time: how many workers there are, and how jobs come.
    poster: Lock<Poster>,
    /// The generation of the process that has the workers.
    process: u32,
}

struct Poster {
    workers: usize,
    /// Whether the system refused a thread: nobody asks again.
    is_refused: bool,
    intervals: JobIntervals,
}

/// A job that is posted.
struct Posted {
    places: usize,
    is_small: bool,
}

impl Pool {
    fn new() -> Self {
        Self {
            slot: JobSlot::default(),
            poster: Lock::new(Poster {
                workers: 0,
                is_refused: false,
                intervals: JobIntervals::new(settings::settings().wait_policy),
            }),
            process: process::generation(),
        }
    }

    /// The pool of this process.
    ///
    /// # Errors
    ///
    /// There is none yet, and no memory for it.
    pub fn get() -> Result<&'static Self> {
        static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());
        let known = POOL.load(Ordering::Acquire);
        // SAFETY: pools are never freed.
        if let Some(pool) = unsafe { known.as_ref() }
            && pool.process == process::known_generation()
        {
            return Ok(pool);
        }
        let made = Box::into_raw(allocation::boxed(Self::new(), "threads")?);
        let order = (Ordering::AcqRel, Ordering::Acquire);
        match POOL.compare_exchange(known, made, order.0, order.1) {
            // SAFETY: pools are never freed once they are reachable.
            Ok(_) => Ok(unsafe { &*made }),
            Err(faster) => {
                // SAFETY: `made` was never shared; the other pool is never freed.
                unsafe {
                    drop(Box::from_raw(made));
                    Ok(&*faster)
                }
            }
        }
    }

    /// Runs `task(0)` to `task(tasks - 1)` on at most `threads` threads, this one included,
    /// and returns when all are done. One thread alone would take about `effort`. If the workers are busy with another client thread's
    /// job, this thread does everything.
    ///
    /// # Errors
    ///
    /// A signal handler forked during the job, and this is the child. Tasks that the workers had begun are not done,
    /// and what they had locked stays locked.
    pub fn run(
        &'static self,
        tasks: usize,
        threads: usize,
        effort: Duration,
        task: &(dyn Fn(usize) + Sync),
    ) -> Result<()> {
        let helpers = threads.min(tasks).saturating_sub(1);
        if helpers == 0 {
            (0..tasks).for_each(task);
            return Ok(());
        }
        let job = Job::new(tasks, threads, task);
        // It fails if another thread posts, or had posted when the process forked.
        match self.poster.try_lock() {
            None => job.work(0),
            Some(mut poster) => {
                let posted = self.post(&mut poster, &job, helpers, effort);
                job.work(0);
                if let Some(posted) = posted {
                    self.take_back(&mut poster, posted, effort)?;
                }
                poster.intervals.ended();
            }
        }
        job.resume_panic();
        Ok(())
    }

    /// Posts a job for `helpers` workers, if it is worth it.
    fn post(
        &'static self,
        poster: &mut Poster,
        job: &Job<'_>,
        helpers: usize,
        effort: Duration,
    ) -> Option<Posted> {
        let slot = &self.slot;
        let plan = poster.intervals.begin(effort);
        let spin_time = poster.intervals.spin_time().as_nanos() as u64;
        if !plan.shares {
            return None;
        }
        while plan.wakes && poster.workers < helpers && !poster.is_refused {
            // A new thread needs some memory, and ends the process if there is none.
            match self.spawn(poster.workers + 1) && self.wait_for_workers(poster.workers + 1) {
                true => poster.workers += 1,
                false => poster.is_refused = true,
            }
        }
        let asleep = slot.asleep.load(Ordering::Relaxed);
        if poster.workers == 0 || (asleep >= poster.workers && !plan.wakes) {
            return None;
        }
        slot.spin_time.store(spin_time, Ordering::Relaxed);
        let places = helpers.min(poster.workers);
        slot.post(job, places);
        // Some may have fallen asleep meanwhile. Whoever does so after this has seen the post.
        let asleep = slot.asleep.load(Ordering::SeqCst);
        if plan.wakes && poster.workers.saturating_sub(asleep) < places {
            self.wake(places);
        }
        Some(Posted {
            places,
            is_small: plan.is_small,
        })
    }

    /// Wakes so many of the workers that sleep.
    fn wake(&self, count: usize) {
        if self.slot.asleep.load(Ordering::SeqCst) == 0 {
            return;
        }
        // Fails in the child of a fork only, which has no workers.
        let attempt = || self.slot.sleep.try_lock();
        if let Ok(guard) = unless_forked(self.process, attempt) {
            drop(guard);
            (0..count).for_each(|_| self.slot.wake.notify_one());
        }
    }

    /// Takes the job back and waits for the workers that joined it.
    fn take_back(&self, poster: &mut Poster, posted: Posted, effort: Duration) -> Result<()> {
        let slot = &self.slot;
        let joined = slot.withdraw(posted.places);
        // Pairs with the release of the workers: what they wrote is seen from here on.
        let are_out = || slot.left.load(Ordering::Acquire) == joined;
        if spin_until(are_out) {
            poster
                .intervals
                .shared(joined, Duration::ZERO, effort, posted.is_small);
            return Ok(());
        }
        let begin = Instant::now();
        while !spin_until(are_out) {
            std::thread::yield_now();
            in_process(self.process)?;
        }
        poster
            .intervals
            .shared(joined, begin.elapsed(), effort, posted.is_small);
        Ok(())
    }

    fn wait_for_workers(&self, count: usize) -> bool {
        while self.slot.begun.load(Ordering::Acquire) < count {
            if in_process(self.process).is_err() {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// Makes the worker with this number, from 1.
    fn spawn(&'static self, number: usize) -> bool {
        // Besides its stack a thread makes small allocations that cannot report failure.
        if allocation::spare(STACK, "a thread").is_err() {
            return false;
        }
        let slot = &self.slot;
        without_signals(|| {
            std::thread::Builder::new()
                .name("kirin".to_owned())
                .stack_size(STACK)
                .spawn(move || worker(slot, number))
                .is_ok()
        })
    }
}

/// Fails if the process is no longer that of this generation.
fn in_process(generation: u32) -> Result<()> {
    match generation == process::known_generation() {
        true => Ok(()),
        false => Err(Error::ThreadsLost),
    }
}

/// Waits for a lock that another thread may hold, in a process of this generation.
///
/// # Errors
///
/// A fork has left the other thread behind.
pub fn unless_forked<G>(
    generation: u32,
    try_lock: impl Fn() -> std::result::Result<G, TryLockError<G>>,
) -> Result<G> {
    loop {
        match try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(guard)) => return Ok(guard.into_inner()),
            Err(TryLockError::WouldBlock) => in_process(generation)?,
        }
        std::thread::yield_now();
    }
}

fn worker(slot: &JobSlot, number: usize) {
    // A thread inherits its creator's floating-point environment, and results would depend on it.
    floating::adopt();
    let mut seen = 0;
    slot.begun.fetch_add(1, Ordering::Release);
    loop {
        while let Some(job) = slot.join(&mut seen) {
            // SAFETY: this worker has joined and not left, so `take_back` has not returned and the job lives.
            unsafe { &*job }.work(number);
            slot.left.fetch_add(1, Ordering::Release);
        }
        slot.wait(seen);
    }
}

/// Runs `spawn` with all signals blocked, so that a new thread leaves the client's signals
/// to the client's threads.
fn without_signals<R>(spawn: impl FnOnce() -> R) -> R {
    // SAFETY: plain calls on signal sets that live on this stack.
    unsafe {
        let mut all = std::mem::zeroed();
        let mut before = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let result = spawn();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// An effort for which workers are woken.
    const LARGE: Duration = Duration::from_millis(1);

    #[test]
    fn every_task_runs_once() {
        for tasks in [0, 1, 2, 7, 1000] {
            for threads in 1..5 {
                let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                Pool::get()
                    .unwrap()
                    .run(tasks, threads, LARGE, &|t| {
                        counts[t].fetch_add(1, Ordering::Relaxed);
                    })
                    .unwrap();
                assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn several_clients_do_not_disturb_each_other() {
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..200 {
                        let sum = AtomicUsize::new(0);
                        Pool::get()
                            .unwrap()
                            .run(10, 3, LARGE, &|t| {
                                sum.fetch_add(t, Ordering::Relaxed);
                            })
                            .unwrap();
                        assert_eq!(sum.into_inner(), 45);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_comes_back_and_the_pool_goes_on() {
        let caught = catch_unwind(|| {
            Pool::get()
                .unwrap()
                .run(8, 2, LARGE, &|t| assert_ne!(t, 5, "task five"))
                .unwrap();
        });
        assert!(caught.is_err());
        let sum = AtomicUsize::new(0);
        Pool::get()
            .unwrap()
            .run(8, 2, LARGE, &|t| {
                sum.fetch_add(t, Ordering::Relaxed);
            })
            .unwrap();
        assert_eq!(sum.into_inner(), 28);
    }

    /// Jobs one after the other, with pauses in which workers spin, yield or sleep. A worker that comes late must not
    /// take part in a job that it did not join.
    #[test]
    fn jobs_in_any_rhythm() {
        for effort in [LARGE, Duration::from_micros(20)] {
            for round in 0..2000_u64 {
                let counts = [const { AtomicUsize::new(0) }; 5];
                Pool::get()
                    .unwrap()
                    .run(counts.len(), 1 + round as usize % 4, effort, &|t| {
                        counts[t].fetch_add(1, Ordering::Relaxed);
                    })
                    .unwrap();
                assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
                match round % 100 {
                    50 => std::thread::sleep(Duration::from_micros(300)),
                    99 => std::thread::sleep(Duration::from_millis(6)),
                    pause => (0..pause).for_each(|_| std::hint::spin_loop()),
                }
            }
        }
    }

    /// How long a task waits for the other one.
    const PATIENT: Duration = Duration::from_secs(1);

    /// Each task waits for the other: both end only if two threads are at work at a time.
    #[test]
    fn workers_that_sleep_are_woken_for_a_large_job() {
        for _ in 0..20 {
            let begun = AtomicUsize::new(0);
            let begin = Instant::now();
            Pool::get()
                .unwrap()
                .run(2, 2, LARGE, &|_| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    while begun.load(Ordering::SeqCst) < 2 && begin.elapsed() < PATIENT {
                        std::thread::yield_now();
                    }
                })
                .unwrap();
            // Another test may have the workers.
            if begin.elapsed() < PATIENT {
                return;
            }
        }
        panic!("nobody came");
    }
}
