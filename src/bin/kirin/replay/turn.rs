//! Hands out the events of a trace for a limited time.

use std::time::{Duration, Instant};

use kirin_core::trace::{Event, Trace};

/// Hands out events for about `seconds`. Returns whether there are no more.
pub fn turn(trace: &mut Trace, seconds: f64, mut repeat: impl FnMut(Event)) -> bool {
    let begin = Instant::now();
    let patience = Duration::from_secs_f64(seconds);
    while begin.elapsed() < patience {
        match trace.next_event() {
            Ok(Some(event)) => repeat(event),
            // The parent reads the trace too, and says what is wrong with it.
            Ok(None) | Err(_) => return true,
        }
    }
    false
}
