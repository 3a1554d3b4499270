//! Worker threads that sleep until there is work worth waking them for.
//!
//! A job is a number of tasks, which the workers and the calling thread claim one by one. The
//! caller never waits for a worker that has not begun: on a busy machine it does the work
//! itself. (rayon's scopes wait for every spawned task to start.) Before it sleeps, a worker spins for
//! a moment in case a job comes, and the caller in case the last tasks end; nobody spins longer.
//!
//! Threads do not survive a fork, so a child makes its own pool. If a signal handler forks in the middle of a
//! job, that job fails in the child and must be begun anew.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::process::{self, allocation, floating};

/// A job as its workers see it: valid while it is posted or a worker is at work on it.
struct Job<'a> {
    task: &'a (dyn Fn(usize) + Sync),
    tasks: usize,
    next: AtomicUsize,
    panic: Mutex<Option<Box<dyn std::any::Any + Send>>>,
}

impl Job<'_> {
    /// Claims tasks until none is left.
    fn work(&self) {
        loop {
            let t = self.next.fetch_add(1, Ordering::Relaxed);
            if t >= self.tasks {
                return;
            }
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.task)(t))) {
                lock(&self.panic).get_or_insert(payload);
            }
        }
    }
}

#[derive(Default)]
struct State {
    /// The posted job, and how many workers may still join it.
    posted: Option<(Posted, usize)>,
    /// The number of workers.
    workers: usize,
    /// How many of them have begun to run.
    begun: usize,
}

#[derive(Clone, Copy)]
struct Posted(*const Job<'static>);

// SAFETY: the job behind the pointer is shared state (Sync task, atomics, a mutex), and it is
// alive as long as it is posted or a worker is counted as active.
unsafe impl Send for Posted {}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    idle: Condvar,
    /// The number of jobs ever posted.
    posts: AtomicUsize,
    /// The number of workers at work on the job. Changes under the lock of the state.
    active: AtomicUsize,
}

impl Shared {
    fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire) > 0
    }
}

/// Bytes of a worker's stack.
const STACK: usize = 2 << 20;

/// How long a thread spins before it sleeps. The next block of a step comes, and the last tasks end, within
/// microseconds; waking up takes longer.
const LOOKOUT: Duration = Duration::from_micros(50);

/// Spins while `goes_on` holds, but no longer than [`LOOKOUT`].
fn look_while(goes_on: impl Fn() -> bool) {
    let begin = Instant::now();
    while goes_on() && begin.elapsed() < LOOKOUT {
        std::hint::spin_loop();
    }
}

/// The workers of this process. Made at the first job that wants them.
pub struct Pool {
    shared: Shared,
    /// The generation of the process that has the workers.
    process: u32,
}

impl Pool {
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
        let made = Self {
            shared: Shared::default(),
            process: process::generation(),
        };
        let made = Box::into_raw(allocation::boxed(made, "threads")?);
        match POOL.compare_exchange(known, made, Ordering::AcqRel, Ordering::Acquire) {
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
    /// and returns when all are done. If the workers are busy with another client thread's
    /// job, this thread does everything.
    ///
    /// # Errors
    ///
    /// This is the child of a fork that a signal handler made during the job: tasks that the workers had begun are
    /// not done, and what they had locked stays locked.
    pub fn run(
        &'static self,
        tasks: usize,
        threads: usize,
        task: &(dyn Fn(usize) + Sync),
    ) -> Result<()> {
        let job = Job {
            task,
            tasks,
            next: AtomicUsize::new(0),
            panic: Mutex::new(None),
        };
        let helpers = threads.min(tasks).saturating_sub(1);
        let posted = helpers > 0 && self.post(&job, helpers);
        job.work();
        if posted {
            self.withdraw()?;
        }
        if let Some(payload) = lock(&job.panic).take() {
            resume_unwind(payload);
        }
        Ok(())
    }

    fn post(&'static self, job: &Job<'_>, helpers: usize) -> bool {
        let Ok(mut state) = unless_forked(self.process, || self.shared.state.try_lock()) else {
            return false;
        };
        if state.posted.is_some() || self.shared.is_active() {
            return false;
        }
        while state.workers < helpers {
            if !self.spawn() {
                break;
            }
            state.workers += 1;
        }
        // A new thread needs some memory, and ends the process if there is none.
        while state.begun < state.workers {
            state = wait(&self.shared.idle, state);
        }
        if state.workers == 0 {
            return false;
        }
        // The lifetime is erased here; `withdraw` makes sure that nobody uses the job after it.
        let job: *const Job<'_> = job;
        state.posted = Some((Posted(job.cast()), helpers));
        self.shared.posts.fetch_add(1, Ordering::Release);
        drop(state);
        for _ in 0..helpers {
            self.shared.wake.notify_one();
        }
        true
    }

    /// Takes the job back and waits for the workers that joined it.
    fn withdraw(&self) -> Result<()> {
        // A worker that the fork left behind may hold the lock.
        let state = || unless_forked(self.process, || self.shared.state.try_lock());
        state()?.posted = None;
        look_while(|| self.shared.is_active());
        let mut state = state()?;
        while self.shared.is_active() {
            let waited = self.shared.idle.wait_timeout(state, GLANCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            in_process(self.process)?;
        }
        Ok(())
    }

    fn spawn(&'static self) -> bool {
        // Besides its stack a thread makes small allocations that cannot report failure.
        if allocation::spare(STACK, "a thread").is_err() {
            return false;
        }
        let shared = &self.shared;
        without_signals(|| {
            std::thread::Builder::new()
                .name("kirin".to_owned())
                .stack_size(STACK)
                .spawn(move || worker(shared))
                .is_ok()
        })
    }
}

/// How long a thread sleeps before it checks whether the threads that should wake it still exist.
const GLANCE: Duration = Duration::from_millis(100);

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

/// Ignores poison: nothing panics while it holds these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition
        .wait(guard)
        .unwrap_or_else(PoisonError::into_inner)
}

fn worker(shared: &Shared) {
    // A thread inherits its creator's floating-point environment, and results would depend on it.
    floating::adopt();
    let mut state = lock(&shared.state);
    state.begun += 1;
    shared.idle.notify_all();
    loop {
        let joined = match &mut state.posted {
            Some((job, places)) if *places > 0 => {
                *places -= 1;
                Some(*job)
            }
            _ => None,
        };
        let Some(job) = joined else {
            state = wait(&shared.wake, state);
            continue;
        };
        shared.active.fetch_add(1, Ordering::Relaxed);
        drop(state);
        // SAFETY: this worker is counted as active, so `withdraw` has not returned and the job lives.
        unsafe { &*job.0 }.work();
        state = lock(&shared.state);
        if shared.active.fetch_sub(1, Ordering::Release) == 1 {
            shared.idle.notify_all();
        }
        let seen = shared.posts.load(Ordering::Acquire);
        drop(state);
        look_while(|| shared.posts.load(Ordering::Acquire) == seen);
        state = lock(&shared.state);
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
    use super::*;

    #[test]
    fn every_task_runs_once() {
        for tasks in [0, 1, 2, 7, 1000] {
            for threads in 1..5 {
                let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                Pool::get()
                    .unwrap()
                    .run(tasks, threads, &|t| {
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
                            .run(10, 3, &|t| {
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
                .run(8, 2, &|t| assert_ne!(t, 5, "task five"))
                .unwrap();
        });
        assert!(caught.is_err());
        let sum = AtomicUsize::new(0);
        Pool::get()
            .unwrap()
            .run(8, 2, &|t| {
                sum.fetch_add(t, Ordering::Relaxed);
            })
            .unwrap();
        assert_eq!(sum.into_inner(), 28);
    }
}
