//! Ctrl-C, SIGTERM and SIGHUP: the first asks a run to end in order, a later one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a shell returns for a program that Ctrl-C ended.
pub const EXIT_STATUS: u8 = 130;

/// Signals this close together are one request: launchers and batch systems signal the process
/// and its group, and a terminal repeats a key that is held.
const TOGETHER: Duration = Duration::from_secs(1);

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on the first signal is for [`interrupted`] to see; one that comes more than a second
/// later ends the program. To ask again changes nothing.
///
/// # Errors
///
/// The system refuses.
pub fn catch() -> Result<(), ctrlc::Error> {
    let mut requests = Requests::default();
    let handler = move || {
        if requests.insists(Instant::now()) {
            std::process::exit(EXIT_STATUS.into());
        }
        STOP.store(true, Ordering::Relaxed);
    };
    match ctrlc::set_handler(handler) {
        // Ranks that are threads of one process all ask.
        Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        result => result,
    }
}

/// Whether the run was asked to end.
pub fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// The requests so far.
#[derive(Default)]
struct Requests {
    first: Option<Instant>,
}

impl Requests {
    /// Whether the request at `now` repeats an earlier one that had time to be obeyed.
    fn insists(&mut self, now: Instant) -> bool {
        let first = *self.first.get_or_insert(now);
        now.duration_since(first) > TOGETHER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_within_a_second_count_once() {
        let start = Instant::now();
        let mut requests = Requests::default();
        for (milliseconds, insists) in [(0, false), (1, false), (999, false), (1001, true)] {
            let now = start + Duration::from_millis(milliseconds);
            assert_eq!(requests.insists(now), insists, "{milliseconds} ms");
        }
    }
}
