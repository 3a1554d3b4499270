//! Values that exist once per process. One call uses such a value at a time, and it can be used after a fork.
//!
//! If a call takes longer than a fork waits, the child starts with a new value in place of the old one. (Clusters
//! keep their particles in that case: see `registry`.)

use std::sync::atomic::AtomicBool;

use super::fork::{self, Deadline, Prepared, Subject};
use super::lock::{Guard, Lock};
use super::{entry, log};

/// A value for one call at a time.
pub struct Singleton<T> {
    name: &'static str,
    lock: Lock<T>,
    watched: AtomicBool,
}

impl<T: Default + Send> Singleton<T> {
    /// A free value. Messages call it `name`.
    pub const fn new(name: &'static str, value: T) -> Self {
        Self {
            name,
            lock: Lock::new(value),
            watched: AtomicBool::new(false),
        }
    }

    /// Waits for the value.
    pub fn lock(&'static self) -> Guard<'static, T> {
        fork::watch(self, &self.watched);
        // It may sleep.
        entry::hold_cancellation();
        fork::let_pass();
        self.lock.lock()
    }
}

impl<T: Default + Send> Subject for Singleton<T> {
    fn room(&self) -> usize {
        0
    }

    fn prepare(&'static self, deadline: &Deadline) -> Box<dyn Prepared> {
        Box::new(Held {
            value: self,
            guard: deadline.wait_for(|| self.lock.try_lock()),
        })
    }
}

/// A value while the process forks.
struct Held<T: 'static> {
    value: &'static Singleton<T>,
    /// Nothing where another thread has the value.
    guard: Option<Guard<'static, T>>,
}

impl<T: Default + Send> Prepared for Held<T> {
    fn resume(&mut self) {}

    unsafe fn inherit(&mut self) {
        if self.guard.is_some() {
            return;
        }
        // SAFETY: passed on; another thread had the value when the process forked.
        let value = unsafe { self.value.lock.take_from_the_dead() };
        // Half-changed, so that it cannot even be dropped.
        std::mem::forget(std::mem::take(value));
        log::line(format_args!(
            "{} was at work in another thread when the process forked: it begins anew here",
            self.value.name
        ));
    }
}
