//! Long work on a cluster that changes nothing but its own results, and that a fork can hold up for
//! the moment in which the child is made.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// None, or what changes the cluster.
const NONE: u8 = 0;
/// Work that leaves the j-particles and the block alone.
const GOES_ON: u8 = 1;
/// The same, and it does not end before the fork is made.
const HELD_UP: u8 = 2;

/// Whether such work goes on.
#[derive(Debug, Default)]
pub struct Work(AtomicU8);

impl Work {
    /// Work goes on as long as the result lives.
    pub fn begin(&self) -> Going<'_> {
        self.0.store(GOES_ON, Ordering::Release);
        Going(self)
    }

    /// Has the work not end before [`Work::let_go`]; false if none goes on.
    pub fn hold_up(&self) -> bool {
        self.change(GOES_ON, HELD_UP)
    }

    /// Lets the work end that was held up.
    pub fn let_go(&self) {
        self.change(HELD_UP, GOES_ON);
    }

    /// Forgets the work; returns whether it was held up.
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

/// Work that goes on; it ends when dropped.
pub struct Going<'a>(&'a Work);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        while !self.0.change(GOES_ON, NONE) {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn it_does_not_end_while_it_is_held_up() {
        let work = Work::default();
        assert!(!work.hold_up());
        let going = work.begin();
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
