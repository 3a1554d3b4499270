//! One-line messages on stderr. Nothing else in the library writes anywhere,
//! and stdout is never touched: kira writes its snapshots there.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::Write;

use once_cell::sync::Lazy;
use parking_lot::Mutex;

/// How many messages of one origin are shown before the rest are suppressed:
/// a client that ignores an error may repeat it for a month.
const SHOWN_PER_ORIGIN: u32 = 10;

static SHOWN: Lazy<Mutex<HashMap<&'static str, u32>>> = Lazy::new(Mutex::default);

/// Reports a failure of the call or part of the library named `origin`.
pub fn error(origin: &'static str, message: impl Display) {
    let shown = {
        let mut counts = SHOWN.lock();
        let count = counts.entry(origin).or_default();
        *count = count.saturating_add(1);
        *count
    };
    if shown <= SHOWN_PER_ORIGIN {
        line(format_args!("{origin}: {message}"));
    }
    if shown == SHOWN_PER_ORIGIN {
        line(format_args!("{origin}: further messages are suppressed"));
    }
}

/// Writes one line in a single call, so that lines of several processes do not mix.
/// A closed stderr is no reason to fail.
pub fn line(message: impl Display) {
    let text = format!("kirin: {message}\n");
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
