//! The slot in which a job is posted for worker threads. Posting takes one store, withdrawing one atomic exchange.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A job as its workers see it: valid until the caller has taken it back and all who joined have left.
pub struct Job<'a> {
    task: &'a (dyn Fn(usize) + Sync),
    tasks: usize,
    next: AtomicUsize,
    panic: Mutex<Option<Box<dyn std::any::Any + Send>>>,
}

impl<'a> Job<'a> {
    /// Nobody has claimed any of the tasks yet.
    pub fn new(tasks: usize, task: &'a (dyn Fn(usize) + Sync)) -> Self {
        Self {
            task,
            tasks,
            next: AtomicUsize::new(0),
            panic: Mutex::new(None),
        }
    }

    /// Claims tasks until none is left.
    pub fn work(&self) {
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

    /// Goes on with the panic of a task, if there was one.
    pub fn resume_panic(&self) {
        if let Some(payload) = lock(&self.panic).take() {
            resume_unwind(payload);
        }
    }
}

/// Where jobs are posted. One thread at a time posts.
#[derive(Default)]
pub struct JobSlot {
    /// The number of the last post in the upper bits, and in the lower ones ([`PLACES`]) how many workers may still join.
    state: AtomicU64,
    /// The job of the last post.
    job: AtomicPtr<Job<'static>>,
    /// How many workers have left the job after they had joined it.
    pub left: AtomicUsize,
    /// How many workers have begun to run, ever.
    pub begun: AtomicUsize,
    /// How many sleep.
    pub asleep: AtomicUsize,
    /// How long a worker stays awake after a job, in nanoseconds.
    pub spin_time: AtomicU64,
    /// Held to fall asleep, and to wake.
    pub sleep: Mutex<()>,
    /// Where workers sleep.
    pub wake: Condvar,
}

/// The bits of the state that count places.
const PLACES: u64 = 0xffff;

/// The number of a post, without its places.
fn number(state: u64) -> u64 {
    state & !PLACES
}

impl JobSlot {
    /// Posts a job that `places` workers may join.
    pub fn post(&self, job: &Job<'_>, places: usize) {
        self.left.store(0, Ordering::Relaxed);
        // The lifetime is erased here; nobody uses the job after `withdraw` and the last who left.
        let job: *const Job<'_> = job;
        self.job.store(job.cast_mut().cast(), Ordering::Relaxed);
        let next = number(self.state.load(Ordering::Relaxed)) + PLACES + 1;
        // Sequentially consistent, as are the stores and loads of `asleep`: a worker that is about to sleep sees this
        // post, or this thread sees that it sleeps.
        self.state
            .store(next + (places as u64).min(PLACES), Ordering::SeqCst);
    }

    /// Lets nobody join any more. Returns how many did.
    pub fn withdraw(&self, places: usize) -> usize {
        let state = self.state.fetch_and(!PLACES, Ordering::Relaxed);
        places.min(PLACES as usize) - (state & PLACES) as usize
    }

    /// The job of the post after `seen`, if there is one and it has a place; `seen` is then its number.
    pub fn join(&self, seen: &mut u64) -> Option<*const Job<'static>> {
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            if number(state) == *seen || state & PLACES == 0 {
                *seen = number(state);
                return None;
            }
            let order = (Ordering::Acquire, Ordering::Acquire);
            match self
                .state
                .compare_exchange(state, state - 1, order.0, order.1)
            {
                Ok(_) => {
                    *seen = number(state);
                    return Some(self.job.load(Ordering::Relaxed));
                }
                Err(now) => state = now,
            }
        }
    }

    /// Waits for a post after `seen`.
    pub fn wait(&self, seen: u64) {
        let is_news = || number(self.state.load(Ordering::Acquire)) != seen;
        if spin_until(is_news) {
            return;
        }
        let spin_time = Duration::from_nanos(self.spin_time.load(Ordering::Relaxed));
        let begin = Instant::now();
        while begin.elapsed() < spin_time {
            if spin_until(is_news) {
                return;
            }
            std::thread::yield_now();
        }
        let mut guard = lock(&self.sleep);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while number(self.state.load(Ordering::SeqCst)) == seen {
            guard = self
                .wake
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How often a waiting thread looks before it gives its time slice away: one or two microseconds.
const LOOKS: u32 = 64;

/// Looks a few times. Whether it came true.
pub fn spin_until(done: impl Fn() -> bool) -> bool {
    for _ in 0..LOOKS {
        if done() {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

/// Ignores poison: nothing panics while it holds these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
