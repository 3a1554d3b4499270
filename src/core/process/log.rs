//! One-line messages on stderr. Every message of the library goes through here. Nothing is ever written
//! to stdout, where kira writes its snapshots.
//!
//! Nothing here allocates or waits, because messages also come from signal handlers, from children of a fork, and
//! from calls that found no memory.

use std::fmt::{self, Display, Write};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::process::output;

/// How many messages of one origin are shown. The rest are suppressed: a client that ignores an error may
/// cause it for a month.
const SHOWN_PER_ORIGIN: u32 = 10;

/// The number of messages of one origin, which is identified by a hash of its name.
struct Count {
    origin: AtomicU64,
    messages: AtomicU32,
}

/// One for each origin. There are fewer calls than places.
static COUNTS: [Count; 1024] = [const {
    Count {
        origin: AtomicU64::new(0),
        messages: AtomicU32::new(0),
    }
}; 1024];

/// The count of `origin`.
fn messages(origin: &str) -> &'static AtomicU32 {
    // FNV-1a. 0 marks a free place.
    let hash = origin.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    }) | 1;
    let first = hash as usize % COUNTS.len();
    let mut places = COUNTS[first..].iter().chain(&COUNTS[..first]);
    let mine = |count: &&Count| {
        let taken = Ordering::Relaxed;
        match count.origin.compare_exchange(0, hash, taken, taken) {
            Ok(_) => true,
            Err(other) => other == hash,
        }
    };
    &places.find(mine).unwrap_or(&COUNTS[first]).messages
}

/// Reports a failure of the call or part of the library named `origin`.
pub fn error(origin: &'static str, message: impl Display) {
    show(origin, SHOWN_PER_ORIGIN, origin, message);
}

/// Reports a failure of `origin` if it is the first of its kind.
pub fn once(kind: &'static str, origin: &'static str, message: impl Display) {
    show(kind, 1, origin, message);
}

/// Tells what the user of `origin` may not know, though nothing fails.
pub fn notice(kind: &'static str, origin: &'static str, message: impl Display) {
    show(kind, SHOWN_PER_ORIGIN, origin, message);
}

fn show(kind: &'static str, at_most: u32, origin: &'static str, message: impl Display) {
    let messages = messages(kind);
    // Stays at its maximum: it must not wrap to 0.
    if messages.load(Ordering::Relaxed) >= at_most {
        return;
    }
    let shown = messages.fetch_add(1, Ordering::Relaxed) + 1;
    if shown < at_most {
        line(format_args!("{origin}: {message}"));
    } else if shown == at_most {
        line(format_args!(
            "{origin}: {message} (further messages are suppressed)"
        ));
    }
}

/// Writes one line. Does so in a single system call, unless the line is very long, so that lines of
/// several processes do not mix.
pub fn line(message: impl Display) {
    let mut line = Line {
        bytes: [0; 4096],
        length: 0,
    };
    // Writing to the buffer cannot fail. If the message's own formatting fails, what it wrote is shown.
    let _ = write!(line, "kirin: {message}");
    let _ = line.write_str("\n");
    line.flush();
}

/// Collects a line to be written.
struct Line {
    bytes: [u8; 4096],
    length: usize,
}

impl Line {
    fn flush(&mut self) {
        output::to_stderr(&self.bytes[..self.length]);
        self.length = 0;
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.length == self.bytes.len() {
                self.flush();
            }
            self.bytes[self.length] = byte;
            self.length += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_counted_apart() {
        let [one, other] = ["the first origin", "another origin"];
        assert!(!std::ptr::eq(messages(one), messages(other)));
        let elsewhere = String::from("the first origin");
        assert!(std::ptr::eq(messages(one), messages(&elsewhere)));
    }
}
