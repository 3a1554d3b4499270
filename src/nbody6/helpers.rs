//! Small functions that NBODY6 has in its library: the prediction of its own arrays, the force of the particles in a
//! list on one particle, and the time since the library was opened.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time since the first call of this function, which the calls that open the library make.
pub fn running() -> Duration {
    // Nobody waits for another thread, which a child of a fork would not have.
    static BEGIN: AtomicU64 = AtomicU64::new(0);
    let now = monotonic();
    let first = BEGIN.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    Duration::from_nanos(now.saturating_sub(first.err().unwrap_or(now)))
}

/// Nanoseconds of the system's clock that never goes back.
pub fn monotonic() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a variable of this function.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Hours, minutes and seconds.
pub fn clock(time: Duration) -> [i32; 3] {
    let seconds = time.as_secs();
    [seconds / 3600, seconds / 60 % 60, seconds % 60].map(|n| n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day() {
        assert_eq!(clock(Duration::from_millis(7_384_900)), [2, 3, 4]);
        assert!(running() <= running());
    }
}
