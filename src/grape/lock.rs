//! The lock of a cluster: nearly free for the thread that always takes it.
//!
//! A client loads its particles one call at a time, from one thread, and two atomic
//! exchanges were half the cost of such a call. So the first thread that takes the lock often without
//! another between becomes its favourite, and from then on announces itself by a plain
//! store. A thread that comes later ends that for good: it makes every processor
//! see the end (`membarrier`), waits until the favourite is out, and from then on everybody, the
//! favourite too, goes through an ordinary mutex. Where the system has no such barrier there are no favourites.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

/// Times in a row that make a favourite.
const OFTEN: u32 = 64;

/// In place of a thread: there is no favourite yet.
const NOBODY: usize = 0;
/// In place of a thread: there will be none any more.
const NEVER: usize = 1;

/// A value for one thread at a time.
pub struct Turn<T> {
    /// The favourite thread, [`NOBODY`] or [`NEVER`]. Changes only under `queue`.
    favourite: AtomicUsize,
    /// Whether the favourite is inside.
    inside: AtomicBool,
    /// The lock of all others, with the thread that had it last and how often in a row.
    queue: Mutex<(usize, u32)>,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value, as with a mutex.
unsafe impl<T: Send> Sync for Turn<T> {}

impl<T: Default> Default for Turn<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Turn<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        Self {
            favourite: AtomicUsize::new(NOBODY),
            inside: AtomicBool::new(false),
            queue: Mutex::new((NOBODY, 0)),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the turn of this thread.
    ///
    /// # Panics
    ///
    /// The thread has it already: a signal handler calls what it interrupted.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        let me = this_thread();
        if self.favourite.load(Ordering::Relaxed) == me && self.enter(me) {
            return Guard {
                turn: self,
                queue: None,
            };
        }
        self.wait(me)
    }

    /// The turn of this thread, if nobody else's is on.
    #[cold]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        let me = this_thread();
        if self.favourite.load(Ordering::Relaxed) == me && !self.inside.load(Ordering::Relaxed) {
            return Some(self.lock());
        }
        let queue = self.queue.try_lock()?;
        let favourite = self.favourite.load(Ordering::Relaxed);
        if ![NOBODY, NEVER].contains(&favourite) {
            self.favourite.store(NEVER, Ordering::Relaxed);
            barrier::on_all_processors();
            if self.inside.load(Ordering::Acquire) {
                // Who ends a favourite waits until it is out. So this one does not end.
                self.favourite.store(favourite, Ordering::Relaxed);
                return None;
            }
        }
        Some(Guard {
            turn: self,
            queue: Some(queue),
        })
    }

    /// Lets the favourite in, unless it is no longer that.
    #[inline(always)]
    fn enter(&self, me: usize) -> bool {
        if self.inside.load(Ordering::Relaxed) {
            refuse();
        }
        self.inside.store(true, Ordering::Relaxed);
        // The processor may still load before it stores: the barrier of the other side prevents that.
        compiler_fence(Ordering::SeqCst);
        let still = self.favourite.load(Ordering::Relaxed) == me;
        if !still {
            self.inside.store(false, Ordering::Release);
        }
        still
    }

    #[cold]
    fn wait(&self, me: usize) -> Guard<'_, T> {
        let mut queue = self.queue.lock();
        match self.favourite.load(Ordering::Relaxed) {
            NEVER => {}
            NOBODY => {
                *queue = (me, if queue.0 == me { queue.1 + 1 } else { 1 });
                if queue.1 == OFTEN {
                    let favourite = if barrier::is_to_be_had() { me } else { NEVER };
                    self.favourite.store(favourite, Ordering::Relaxed);
                }
            }
            _ => {
                self.favourite.store(NEVER, Ordering::Relaxed);
                // After this either the favourite's store is seen here, or the one above there.
                barrier::on_all_processors();
                let mut tries = 0;
                // The other side of the favourite's release: its writes are seen from here on.
                while self.inside.load(Ordering::Acquire) {
                    tries += 1;
                    if tries < 100 {
                        std::thread::yield_now();
                    } else {
                        std::thread::sleep(Duration::from_micros(50));
                    }
                }
            }
        }
        Guard {
            turn: self,
            queue: Some(queue),
        }
    }
}

#[cold]
fn refuse() -> ! {
    panic!("a call on a cluster that this thread is in already")
}

/// The turn of one thread; ends when dropped.
pub struct Guard<'a, T> {
    turn: &'a Turn<T>,
    /// What others wait for, unless this is the favourite's turn.
    queue: Option<MutexGuard<'a, (usize, u32)>>,
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.queue.is_none() {
            self.turn.inside.store(false, Ordering::Release);
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a guard exists for one thread at a time.
        unsafe { &*self.turn.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed.
        unsafe { &mut *self.turn.value.get() }
    }
}

/// A number that no other living thread has; the same after a fork. A dead thread's number may
/// come again, and then its place as favourite with it.
#[inline]
fn this_thread() -> usize {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::pthread_self() as usize }
}

/// A memory barrier on every processor that runs a thread of this process.
#[cfg(target_os = "linux")]
mod barrier {
    use std::time::Duration;

    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes numbers only; an old system refuses it.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Whether the system has it. Asks for it, which a fork may undo.
    pub(super) fn is_to_be_had() -> bool {
        membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED)
    }

    pub(super) fn on_all_processors() {
        if !membarrier(PRIVATE_EXPEDITED) && !is_to_be_had() {
            // It was to be had once, so a filter came between. No store stays back this long.
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Without the barrier there are no favourites, and nobody asks for it.
#[cfg(not(target_os = "linux"))]
mod barrier {
    pub(super) fn is_to_be_had() -> bool {
        false
    }

    pub(super) fn on_all_processors() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn become_favourite(turn: &Turn<u64>) {
        (0..OFTEN).for_each(|_| *turn.lock() += 1);
        if cfg!(target_os = "linux") {
            assert_eq!(turn.favourite.load(Ordering::Relaxed), this_thread());
        }
    }

    #[test]
    fn nothing_is_lost_between_threads() {
        for favourites in [0, 1, 3] {
            let turn = Arc::new(Turn::new(0_u64));
            if favourites > 0 {
                become_favourite(&turn);
            }
            *turn.lock() = 0;
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let turn = Arc::clone(&turn);
                    std::thread::spawn(move || (0..20_000).for_each(|_| *turn.lock() += 1))
                })
                .collect();
            (0..20_000 * favourites).for_each(|_| *turn.lock() += 1);
            threads.into_iter().for_each(|t| t.join().unwrap());
            assert_eq!(*turn.lock(), 20_000 * (3 + favourites));
        }
    }

    /// The moment that matters: a second thread comes while the favourite goes in and out.
    #[test]
    fn the_favourite_gives_way_once() {
        for round in 0..200 {
            let turn = Turn::new(0_u64);
            become_favourite(&turn);
            std::thread::scope(|s| {
                let other = s.spawn(|| {
                    (0..round * 10).for_each(|_| std::hint::spin_loop());
                    (0..100).for_each(|_| {
                        let mut value = turn.lock();
                        let seen = *value;
                        *value = seen + 1;
                    });
                });
                (0..2000).for_each(|_| {
                    let mut value = turn.lock();
                    let seen = *value;
                    *value = seen + 1;
                });
                other.join().unwrap();
            });
            assert_eq!(*turn.lock(), u64::from(OFTEN) + 2100);
            assert_eq!(turn.favourite.load(Ordering::Relaxed), NEVER);
        }
    }

    #[test]
    fn a_second_thread_waits_for_the_favourite() {
        let turn = Turn::new(0_u64);
        become_favourite(&turn);
        let mut mine = turn.lock();
        std::thread::scope(|s| {
            let other = s.spawn(|| *turn.lock());
            std::thread::sleep(Duration::from_millis(20));
            *mine = 7;
            drop(mine);
            assert_eq!(other.join().unwrap(), 7);
        });
    }

    #[test]
    fn trying_waits_for_nobody() {
        for favourites in [false, true] {
            let turn = Turn::new(0_u64);
            if favourites {
                become_favourite(&turn);
            }
            assert!(turn.try_lock().is_some());
            let mine = turn.lock();
            assert!(turn.try_lock().is_none(), "this thread is inside");
            std::thread::scope(|s| {
                let other = s.spawn(|| turn.try_lock().is_none());
                assert!(other.join().unwrap());
            });
            drop(mine);
            std::thread::scope(|s| {
                let other = s.spawn(|| turn.try_lock().is_some());
                assert!(other.join().unwrap());
            });
        }
    }

    #[test]
    fn threads_that_take_turns_have_no_favourite() {
        let turn = Turn::new(0_u64);
        for _ in 0..OFTEN {
            *turn.lock() += 1;
            std::thread::scope(|s| s.spawn(|| *turn.lock() += 1).join().unwrap());
        }
        assert_ne!(turn.favourite.load(Ordering::Relaxed), this_thread());
        assert_eq!(*turn.lock(), 2 * u64::from(OFTEN));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_call_within_a_call_is_refused() {
        let turn = Turn::new(0_u64);
        become_favourite(&turn);
        let within = turn.lock();
        let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| *turn.lock()));
        assert!(again.is_err());
        drop(within);
        assert_eq!(*turn.lock(), u64::from(OFTEN));
    }
}
