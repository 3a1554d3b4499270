//! Numbers the clusters that compute in this process, so that they take the GPUs in turn.

use std::sync::atomic::{AtomicU64, Ordering};

/// The seats in use, a bit each.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The place of a cluster among those that compute in this process, until this is dropped.
#[derive(Debug)]
pub(super) struct Seat(Option<u32>);

impl Seat {
    /// Takes the lowest free seat.
    pub fn take() -> Self {
        Self::take_of(&TAKEN)
    }

    fn take_of(taken: &AtomicU64) -> Self {
        let lowest = |seats: u64| (seats != u64::MAX).then(|| seats | (seats + 1));
        let before = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, lowest);
        Self(before.ok().map(u64::trailing_ones))
    }

    /// Its number, from 0. Clusters beyond the 64th share number 0.
    pub fn number(&self) -> usize {
        self.0.unwrap_or(0) as usize
    }

    fn leave(&self, taken: &AtomicU64) {
        if let Some(seat) = self.0 {
            taken.fetch_and(!(1 << seat), Ordering::Relaxed);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave(&TAKEN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_seat_is_taken() {
        let taken = AtomicU64::new(0);
        let take = || std::mem::ManuallyDrop::new(Seat::take_of(&taken));
        let all: Vec<_> = (0..66).map(|_| take()).collect();
        let numbers: Vec<_> = all.iter().map(|seat| seat.number()).collect();
        assert_eq!(numbers, (0..64).chain([0, 0]).collect::<Vec<_>>());
        for seat in [5, 65, 3] {
            all[seat].leave(&taken);
        }
        assert_eq!([3, 5, 0].map(|_| take().number()), [3, 5, 0]);
    }
}
