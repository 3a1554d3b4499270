//! A mutex that the child of a fork can free when a thread of the parent held it.
//!
//! It wraps the standard library's mutex. parking_lot's would not do: it keeps the waiting threads in one
//! table for the process, which still names the parent's threads after a fork.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A value that one thread at a time can use.
#[derive(Default)]
pub struct Lock<T> {
    queue: UnsafeCell<Mutex<()>>,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value, as with a mutex.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(value: T) -> Self {
        Self {
            queue: UnsafeCell::new(Mutex::new(())),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the value.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        // A poisoned lock is used on: the panic was reported, and the value is what the call left.
        let held = self.queue().lock().unwrap_or_else(PoisonError::into_inner);
        Guard {
            value: &self.value,
            _held: held,
        }
    }

    /// The value, unless a thread holds it.
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        let held = match self.queue().try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Guard {
            value: &self.value,
            _held: held,
        })
    }

    /// The value; `&mut self` shows that no thread holds it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[inline(always)]
    fn queue(&self) -> &Mutex<()> {
        // SAFETY: written to by `take_from_the_dead` only, while there is no other thread.
        unsafe { &*self.queue.get() }
    }

    /// Frees the lock, whoever holds it, and returns the value as that thread left it.
    ///
    /// # Safety
    ///
    /// This is the only thread, in the child of a fork, and it does not hold the lock.
    #[allow(clippy::mut_from_ref, reason = "nobody else can reach the value")]
    pub unsafe fn take_from_the_dead(&self) -> &mut T {
        // SAFETY: nobody else can reach either.
        unsafe {
            self.queue.get().write(Mutex::new(()));
            &mut *self.value.get()
        }
    }
}

/// The right to use the value; ends when dropped.
pub struct Guard<'a, T> {
    value: &'a UnsafeCell<T>,
    _held: MutexGuard<'a, ()>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and the guard is borrowed.
        unsafe { &mut *self.value.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_threads() {
        let lock = Lock::new(0_u64);
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| (0..20_000).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 60_000);
    }

    #[test]
    fn trying_waits_for_nobody() {
        let lock = Lock::new(0_u64);
        let held = lock.lock();
        assert!(lock.try_lock().is_none());
        drop(held);
        assert!(lock.try_lock().is_some());
    }

    #[test]
    fn a_panic_does_not_close_it() {
        let lock = Lock::new(0_u64);
        let panicked = std::thread::scope(|s| {
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
}
