//! Marks long work on a cluster: forces and lists, which change nothing but their own results.
//!
//! A fork need not wait until such work ends. It only prevents the work from ending while the child is being made. Results that
//! are passed on meanwhile are short work ([`LongWork::pause`]), for which a fork waits.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// No work, or work that changes the cluster.
const NONE: u8 = 0;
/// Work that leaves the j-particles and the block as they are.
const GOES_ON: u8 = 1;
/// The same, and a fork keeps it from ending.
const HELD_UP: u8 = 2;

/// Whether long work is under way.
#[derive(Debug, Default)]
pub struct LongWork(AtomicU8);

impl LongWork {
    /// Long work is under way until the result is dropped.
    pub fn begin(&self) -> WorkGuard<'_> {
        self.0.store(GOES_ON, Ordering::Release);
        WorkGuard(self)
    }

    /// The work under way is short until the result is dropped: a fork waits for it.
    pub fn pause(&self) -> PauseGuard<'_> {
        self.end();
        PauseGuard(self)
    }

    /// Ends the work, once nothing holds it up.
    fn end(&self) {
        while !self.change(GOES_ON, NONE) {
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Keeps the work from ending until [`LongWork::let_go`]. False if none is under way.
    pub fn hold_up(&self) -> bool {
        self.change(GOES_ON, HELD_UP)
    }

    /// Lets the work end again.
    pub fn let_go(&self) {
        self.change(HELD_UP, GOES_ON);
    }

    /// Forgets the work. Returns whether it was held up.
    pub fn forget(&self) -> bool {
        self.0.swap(NONE, Ordering::AcqRel) == HELD_UP
    }

    fn change(&self, from: u8, to: u8) -> bool {
        let orders = (Ordering::AcqRel, Ordering::Relaxed);
        self.0
            .compare_exchange(from, to, orders.0, orders.1)
            .is_ok()
    }
}

/// Work under way; it ends when this is dropped.
pub struct WorkGuard<'a>(&'a LongWork);

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A short part of the work; the long work goes on when this is dropped.
pub struct PauseGuard<'a>(&'a LongWork);

impl Drop for PauseGuard<'_> {
    fn drop(&mut self) {
        self.0.0.store(GOES_ON, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn it_does_not_end_while_it_is_held_up() {
        let work = LongWork::default();
        assert!(!work.hold_up());
        let going = work.begin();
        let short = work.pause();
        assert!(!work.hold_up());
        drop(short);
        assert!(work.hold_up());
        let ended = AtomicBool::new(false);
        std::thread::scope(|s| {
            s.spawn(|| {
                drop(going);
                ended.store(true, Ordering::Relaxed);
            });
            std::thread::sleep(Duration::from_millis(20));
            assert!(!ended.load(Ordering::Relaxed));
            work.let_go();
        });
        assert!(ended.into_inner());
        assert!(!work.hold_up());
        assert!(!work.forget());
    }
}
