//! A lock that one thread enters without an atomic exchange: for clusters, whose clients make all their calls from one thread.
//!
//! An exchange waits until the stores of the call before have reached the cache. This is a large part of the time of a short
//! call. So the first thread that takes the lock [`OFTEN`] times in a row becomes its owner. From then on it enters and
//! leaves with a plain store each. The first other thread ends that for good: it makes all processors see that there is no owner
//! any more (the system call `membarrier`), and waits until the owner is out. Then all threads take an ordinary [`Lock`].
//! Where the system has no such call there is no owner.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

use super::entry;
use super::lock::{self, Lock, Patience};

/// So many calls in a row make a thread the owner.
pub const OFTEN: u32 = 64;

/// No thread owns the lock yet.
const NOBODY: usize = 0;
/// No thread owns it, and none ever will.
const SHARED: usize = usize::MAX;

/// A value that one thread at a time can use.
#[derive(Default)]
pub struct BiasedLock<T> {
    /// [`entry::thread`] of the owner, or one of the above. Changes only while `queue` is held. A thread that gets the number of an owner
    /// that has ended is the owner from its beginning.
    owner: AtomicUsize,
    /// Whether the owner has entered without the queue. Nobody else writes it, but in the child of a fork.
    inside: AtomicBool,
    /// Every other thread holds this while it uses the value; the owner may, too.
    queue: Lock<Streak>,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value.
unsafe impl<T: Send> Sync for BiasedLock<T> {}

/// How often the last thread has taken the lock in a row.
#[derive(Default)]
struct Streak {
    thread: usize,
    entries: u32,
}

impl<T> BiasedLock<T> {
    /// Waits for the value.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        let thread = entry::thread();
        match self.enter(thread) {
            true => Guard {
                lock: self,
                queue: None,
            },
            false => self.wait(thread),
        }
    }

    /// The value, if this thread is the owner.
    #[inline(always)]
    pub fn lock_as_owner(&self) -> Option<OwnersGuard<'_, T>> {
        self.enter(entry::thread())
            .then(|| OwnersGuard { lock: self })
    }

    /// Enters as the owner. False if this thread is not the owner.
    #[inline(always)]
    fn enter(&self, thread: usize) -> bool {
        if self.owner.load(Ordering::Relaxed) != thread {
            return false;
        }
        debug_assert!(!self.inside.load(Ordering::Relaxed));
        self.inside.store(true, Ordering::Relaxed);
        // The processor may load before others see the store. Whoever ends the ownership therefore has every processor
        // complete its stores in between: then one of the two threads sees what the other has written.
        compiler_fence(Ordering::SeqCst);
        let enters = self.owner.load(Ordering::Relaxed) == thread;
        if !enters {
            self.inside.store(false, Ordering::Release);
        }
        enters
    }

    #[cold]
    #[inline(never)]
    fn wait(&self, thread: usize) -> Guard<'_, T> {
        let mut queue = self.queue.lock();
        self.disown(thread);
        let mut patience = Patience::default();
        while self.inside.load(Ordering::Acquire) {
            patience.pass();
        }
        self.count(&mut queue, thread);
        Guard {
            lock: self,
            queue: Some(queue),
        }
    }

    /// The value, unless a thread holds it.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        let queue = self.queue.try_lock()?;
        self.disown(entry::thread());
        let is_free = !self.inside.load(Ordering::Acquire);
        is_free.then(|| Guard {
            lock: self,
            queue: Some(queue),
        })
    }

    /// Ends the ownership of any other thread than this one. The queue is held. The owner may still be inside.
    fn disown(&self, thread: usize) {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner != NOBODY && owner != SHARED && owner != thread {
            self.owner.store(SHARED, Ordering::Relaxed);
            barrier::everywhere();
        }
    }

    /// Counts an entry through the queue, and makes the thread the owner if it was the only one for long.
    fn count(&self, streak: &mut Streak, thread: usize) {
        if streak.thread != thread {
            *streak = Streak { thread, entries: 0 };
        }
        streak.entries += 1;
        if streak.entries >= OFTEN && self.owner.load(Ordering::Relaxed) == NOBODY {
            let owner = if barrier::is_there() { thread } else { SHARED };
            self.owner.store(owner, Ordering::Relaxed);
        }
    }

    /// Frees the lock, whoever holds it, and returns the value as that thread left it.
    ///
    /// # Safety
    ///
    /// This is the only thread, in the child of a fork, and it does not hold the lock.
    #[allow(clippy::mut_from_ref, reason = "nobody else can reach the value")]
    pub unsafe fn take_from_the_dead(&self) -> &mut T {
        // SAFETY: passed on. A thread that waits for the owner holds the queue.
        *unsafe { self.queue.take_from_the_dead() } = Streak::default();
        self.owner.store(NOBODY, Ordering::Relaxed);
        self.inside.store(false, Ordering::Relaxed);
        // SAFETY: nobody else can reach the value.
        unsafe { &mut *self.value.get() }
    }
}

/// The right to use the value; ends when dropped, as that of [`Lock`].
pub struct Guard<'a, T> {
    lock: &'a BiasedLock<T>,
    /// Nothing where the owner entered as such.
    queue: Option<lock::Guard<'a, Streak>>,
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.queue.is_none() {
            self.lock.inside.store(false, Ordering::Release);
        }
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

/// The owner's right to use the value; ends when dropped.
pub struct OwnersGuard<'a, T> {
    lock: &'a BiasedLock<T>,
}

impl<T> Drop for OwnersGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.inside.store(false, Ordering::Release);
    }
}

impl<T> Deref for OwnersGuard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for OwnersGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and the guard is borrowed.
        unsafe { &mut *self.lock.value.get() }
    }
}

/// Has all processors that run threads of this process complete their stores.
#[cfg(all(target_os = "linux", not(miri)))]
mod barrier {
    use std::ffi::c_int;
    use std::thread;
    use std::time::Duration;

    const EXPEDITED: c_int = 1 << 3;
    const REGISTER: c_int = 1 << 4;

    fn call(command: c_int) -> bool {
        // SAFETY: this system call touches no memory of the process.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Whether the system can do it. Must have been asked before.
    pub fn is_there() -> bool {
        call(REGISTER)
    }

    pub fn everywhere() {
        if !(call(EXPEDITED) || is_there() && call(EXPEDITED)) {
            // The process has lost the right to the call since. No processor holds its stores back for so long.
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod barrier {
    pub fn is_there() -> bool {
        false
    }

    pub fn everywhere() {}
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// Takes the lock until this thread owns it, where the system allows an owner.
    fn own(lock: &BiasedLock<u64>) -> bool {
        for _ in 0..OFTEN {
            *lock.lock() += 1;
        }
        lock.lock().queue.is_none()
    }

    #[test]
    fn the_first_thread_becomes_the_owner_until_another_one_comes() {
        let lock = BiasedLock::default();
        let owns = own(&lock);
        assert_eq!(owns, barrier::is_there());
        drop(lock.try_lock().expect("this thread is outside"));
        assert_eq!(
            lock.lock().queue.is_none(),
            owns,
            "its own look at the lock ends nothing"
        );
        let here = lock.lock();
        assert!(lock.try_lock().is_none(), "held by this thread");
        drop(here);
        thread::scope(|s| s.spawn(|| *lock.lock() += 1).join()).expect("no panic");
        assert!(lock.lock().queue.is_some());
        assert!(!own(&lock), "nobody owns it again");
        assert_eq!(*lock.lock(), 2 * u64::from(OFTEN) + 1);
    }

    #[test]
    fn another_thread_waits_until_the_owner_is_out() {
        let lock = BiasedLock::default();
        own(&lock);
        let inside = lock.lock();
        thread::scope(|s| {
            let other = s.spawn(|| {
                assert!(lock.try_lock().is_none());
                *lock.lock()
            });
            thread::sleep(Duration::from_millis(20));
            assert!(!other.is_finished());
            let mut inside = inside;
            *inside = 7;
            drop(inside);
            assert_eq!(other.join().expect("no panic"), 7);
        });
    }

    /// An owner at work on one lock after the other. Another thread comes to each of them at some moment.
    #[test]
    fn nothing_is_lost_when_the_owner_is_overtaken() {
        let begin = Instant::now();
        let locks: Vec<BiasedLock<u64>> = (0..20_000).map(|_| BiasedLock::default()).collect();
        let (owned, overtaken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let ended = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                for (k, lock) in locks.iter().enumerate() {
                    while owned.load(Ordering::Acquire) <= k {
                        if ended.load(Ordering::Relaxed) {
                            return;
                        }
                        std::hint::spin_loop();
                    }
                    (0..k % 16).for_each(|_| std::hint::spin_loop());
                    *lock.lock() += 1;
                    overtaken.store(k + 1, Ordering::Release);
                }
            });
            let is_right = |(k, lock): (usize, &BiasedLock<u64>)| {
                own(lock);
                owned.store(k + 1, Ordering::Release);
                let mut entries = u64::from(OFTEN);
                while overtaken.load(Ordering::Acquire) <= k {
                    *lock.lock() += 1;
                    entries += 1;
                }
                *lock.lock() == entries + 1
            };
            let in_time = |_: &_| begin.elapsed() < Duration::from_millis(300);
            let all_right = locks.iter().enumerate().take_while(in_time).all(is_right);
            ended.store(true, Ordering::Relaxed);
            assert!(all_right, "an entry was lost");
        });
    }

    #[test]
    fn a_dead_owner_gives_it_back() {
        let lock = BiasedLock::default();
        own(&lock);
        std::mem::forget(lock.lock());
        assert!(lock.try_lock().is_none());
        // SAFETY: no other thread knows the lock, and the guard is forgotten.
        assert_eq!(unsafe { *lock.take_from_the_dead() }, u64::from(OFTEN));
        assert!(lock.try_lock().is_some());
        own(&lock);
    }

    /// The owner forks while another thread waits for it, and the child goes on.
    #[test]
    fn the_child_of_a_fork_can_lock() {
        let lock = BiasedLock::default();
        own(&lock);
        let mine = lock.lock();
        thread::scope(|s| {
            s.spawn(|| *lock.lock() += 1);
            thread::sleep(Duration::from_millis(5));
            // SAFETY: the child takes the lock, which allocates nothing, and ends.
            let status = unsafe {
                let child = libc::fork();
                if child == 0 {
                    drop(mine);
                    // The other thread held the queue.
                    lock.take_from_the_dead();
                    libc::_exit(i32::from(lock.try_lock().is_none()));
                }
                let mut status = -1;
                assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                status
            };
            drop(mine);
            assert_eq!(status, 0, "the child finds the lock held");
        });
        assert_eq!(*lock.lock(), u64::from(OFTEN) + 1);
    }
}
