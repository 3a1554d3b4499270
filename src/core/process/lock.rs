//! A lock that takes little time in a short call. If a thread of the parent holds it during a fork, the child can
//! free it.
//!
//! Entering is one atomic exchange, leaving is one store. Both together take about 5 ns on current processors, and longer if the stores
//! before have not reached the cache; for calls that take no longer than that, there is [`super::biased`]. If a
//! thread finds the lock held, it spins, then yields, then sleeps between checks.
//! This lock is not fair, and need not be: clients rarely share a cluster between threads, and those that do wait for
//! calls of microseconds.
//!
//! Data that outlive a call are behind this lock, since another thread may fork while it is held. A mutex of
//! `parking_lot` would not do: its table for the whole process names the threads that wait, and after a fork these do
//! not exist. A mutex of the standard library would not do, either: only the thread that holds it can free it. Mutexes
//! of both kinds protect the data of single calls. Mutexes of the standard library also protect the worker threads'
//! data, which a child makes anew.

use std::cell::UnsafeCell;
use std::hint;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::entry;

/// How often a waiting thread looks before it gives its time slice away, and before it sleeps.
const SPINS: u32 = 100;
const LOOKS_AWAKE: u32 = 200;

/// How long it sleeps between looks.
const GLANCE: Duration = Duration::from_micros(50);

/// What a thread does between looks at what it waits for.
#[derive(Default)]
pub(super) struct Patience {
    looks: u32,
}

impl Patience {
    /// Lets some time pass: less than before the looks that follow.
    pub(super) fn pass(&mut self) {
        match self.looks {
            0..SPINS => hint::spin_loop(),
            SPINS..LOOKS_AWAKE => thread::yield_now(),
            _ => {
                // A thread that is cancelled must not end here.
                entry::hold_cancellation();
                thread::sleep(GLANCE);
            }
        }
        self.looks = self.looks.saturating_add(1);
    }
}

/// A value that one thread at a time can use.
#[derive(Default)]
pub struct Lock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        Self {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the value.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        if self.held.swap(true, Ordering::Acquire) {
            self.wait();
        }
        Guard { lock: self }
    }

    /// The value, unless a thread holds it.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        // Made only if it is this thread that entered: dropping a guard frees the lock.
        (!self.held.swap(true, Ordering::Acquire)).then(|| Guard { lock: self })
    }

    /// The value; `&mut self` shows that no thread holds it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[cold]
    fn wait(&self) {
        let mut patience = Patience::default();
        // A load before each exchange: waiting threads share the cache line until it changes.
        while self.held.load(Ordering::Relaxed) || self.held.swap(true, Ordering::Acquire) {
            patience.pass();
        }
    }

    /// Frees the lock, whoever holds it, and returns the value as that thread left it.
    ///
    /// # Safety
    ///
    /// This is the only thread, in the child of a fork, and it does not hold the lock.
    #[allow(clippy::mut_from_ref, reason = "nobody else can reach the value")]
    pub unsafe fn take_from_the_dead(&self) -> &mut T {
        self.held.store(false, Ordering::Relaxed);
        // SAFETY: nobody else can reach the value.
        unsafe { &mut *self.value.get() }
    }
}

/// The right to use the value; ends when dropped. A panic ends it, too: the call's error was reported, and the value
/// is what the call left.
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.held.store(false, Ordering::Release);
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and the guard is borrowed.
        unsafe { &mut *self.lock.value.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many threads, so that some of them spin, some yield and some sleep.
    #[test]
    fn nothing_is_lost_between_threads() {
        let lock = Lock::new(0_u64);
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for k in 0..20_000 {
                        let mut value = lock.lock();
                        let seen = *value;
                        if k % 10_000 == 0 {
                            thread::sleep(Duration::from_millis(1));
                        }
                        *value = seen + 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), 80_000);
    }

    #[test]
    fn trying_waits_for_nobody() {
        let lock = Lock::new(0_u64);
        let held = lock.lock();
        assert!(lock.try_lock().is_none());
        assert!(lock.try_lock().is_none(), "a failed try frees nothing");
        drop(held);
        assert!(lock.try_lock().is_some());
        assert!(lock.try_lock().is_some());
    }

    #[test]
    fn a_panic_does_not_close_it() {
        let lock = Lock::new(0_u64);
        let panicked = thread::scope(|s| {
            let thread = s.spawn(|| {
                *lock.lock() = 7;
                let _held = lock.lock();
                panic!("on purpose");
            });
            thread.join().is_err()
        });
        assert!(panicked);
        assert_eq!(*lock.lock(), 7);
        assert_eq!(lock.try_lock().map(|v| *v), Some(7));
    }

    #[test]
    fn a_dead_thread_gives_it_back() {
        let lock = Lock::new(5_u64);
        std::mem::forget(lock.lock());
        assert!(lock.try_lock().is_none());
        // SAFETY: no other thread knows the lock, and the guard is forgotten.
        assert_eq!(unsafe { *lock.take_from_the_dead() }, 5);
        assert!(lock.try_lock().is_some());
    }

    /// A thread forks while it holds the lock and another waits for it.
    #[test]
    fn the_child_of_a_fork_can_lock() {
        let lock = Lock::new(0_u64);
        let mine = lock.lock();
        thread::scope(|s| {
            s.spawn(|| *lock.lock() += 1);
            thread::sleep(Duration::from_millis(5));
            // SAFETY: the child takes the lock, which allocates nothing, and ends.
            let status = unsafe {
                let child = libc::fork();
                if child == 0 {
                    drop(mine);
                    libc::_exit(i32::from(lock.try_lock().is_none()));
                }
                let mut status = -1;
                assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                status
            };
            drop(mine);
            assert_eq!(status, 0, "the child finds the lock held");
        });
        assert_eq!(*lock.lock(), 1);
    }
}
