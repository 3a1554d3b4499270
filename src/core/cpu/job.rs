//! The slot in which a job is posted for worker threads. Posting takes one store, withdrawing one atomic exchange.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::sources::sum_tree::share;

/// A job as its workers see it: valid until the caller has taken it back and all who joined have left.
///
/// Each thread begins with its own share of the tasks, and then takes from the others' shares what is left of them. So a thread
/// finds in its caches what the same task of the last job has left there.
pub struct Job<'a> {
    task: &'a (dyn Fn(usize) + Sync),
    shares: [Share; SHARES],
    used: usize,
    panic: Mutex<Option<Box<dyn std::any::Any + Send>>>,
}

/// Shares of a job at most. If there are more threads, several begin with the same share.
const SHARES: usize = 16;

/// A run of tasks. Each has cache lines of its own, so that a claim takes nothing from threads that are busy with theirs.
#[derive(Default)]
#[repr(align(128))]
struct Share {
    /// The first task that nobody has claimed.
    next: AtomicUsize,
    /// After the last task.
    end: usize,
}

impl Share {
    fn claim(&self) -> Option<usize> {
        // Only reading an exhausted share leaves its cache line with all who read it.
        if self.next.load(Ordering::Relaxed) >= self.end {
            return None;
        }
        let t = self.next.fetch_add(1, Ordering::Relaxed);
        (t < self.end).then_some(t)
    }
}

impl<'a> Job<'a> {
    /// Nobody has claimed any of the tasks yet, which are for so many threads.
    pub fn new(tasks: usize, threads: usize, task: &'a (dyn Fn(usize) + Sync)) -> Self {
        let used = threads.clamp(1, SHARES);
        let mut shares: [Share; SHARES] = Default::default();
        for (k, to) in shares[..used].iter_mut().enumerate() {
            let run = share(tasks, used, k);
            (to.next, to.end) = (AtomicUsize::new(run.start), run.end);
        }
        Self {
            task,
            shares,
            used,
            panic: Mutex::new(None),
        }
    }

    /// Claims tasks until none is left. The thread that posts the job has number 0, the workers the numbers after that.
    pub fn work(&self, thread: usize) {
        let shares = &self.shares[..self.used];
        for k in 0..self.used {
            while let Some(t) = shares[(thread + k) % self.used].claim() {
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.task)(t))) {
                    lock(&self.panic).get_or_insert(payload);
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_begins_with_its_share_and_then_takes_what_others_leave() {
        let order = Mutex::new(Vec::new());
        let task = |t| lock(&order).push(t);
        let job = Job::new(7, 3, &task);
        let claimed = job.shares[0].claim();
        job.work(1);
        assert_eq!(claimed, Some(0));
        assert_eq!(*lock(&order), [2, 3, 4, 5, 6, 1]);
        // More threads than shares, and more shares than tasks.
        for (tasks, threads) in [(100, 40), (3, 16), (5, 0)] {
            lock(&order).clear();
            Job::new(tasks, threads, &task).work(33);
            lock(&order).sort_unstable();
            assert!(lock(&order).iter().copied().eq(0..tasks));
        }
    }
}
