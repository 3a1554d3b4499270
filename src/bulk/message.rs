//! The boundary of the bulk interface: an error becomes a code, and a message that the same thread can ask for. Nothing is
//! written to stderr.

use std::cell::Cell;
use std::ffi::{c_char, c_int};
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::edge::boundary;
use kirin_core::error::{Error, Result};
use kirin_core::process::entry;

/// Bytes of the longest message, with a zero at its end.
const ROOM: usize = 400;

thread_local! {
    // No destructor, so that it can be read at any moment of a thread's life.
    static MESSAGE: Cell<[u8; ROOM]> = const { Cell::new([0; ROOM]) };
}

/// Runs a call. Turns an error into its code and a message, and lets no panic pass.
#[inline]
pub fn guard(name: &'static str, call: impl FnOnce() -> Result<c_int>) -> c_int {
    let answered = entry::once(|| match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => keep(name, &error),
        Err(payload) => keep(name, &boundary::panicked(&*payload)),
    });
    // The message belongs to the call that was interrupted.
    answered.unwrap_or_else(|| Error::InsideAnother.code())
}

/// Text that is cut off where there is no more room.
struct Cut {
    text: [u8; ROOM],
    length: usize,
}

impl Write for Cut {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for byte in more.bytes().filter(|&byte| byte != 0) {
            if self.length < ROOM - 1 {
                self.text[self.length] = byte;
                self.length += 1;
            }
        }
        Ok(())
    }
}

#[cold]
fn keep(name: &'static str, error: &Error) -> c_int {
    let mut cut = Cut {
        text: [0; ROOM],
        length: 0,
    };
    // Cannot fail.
    let _ = write!(cut, "{name}: {error}");
    MESSAGE.set(cut.text);
    error.code()
}

/// The message of this thread's last refused call, without the zero at its end.
pub fn with_message<R>(act: impl FnOnce(&[u8]) -> R) -> R {
    let text = MESSAGE.get();
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(ROOM);
    act(&text[..end])
}

/// Returns the message of this thread's last refused call of the bulk interface, empty before the first one. The string
/// lives until the thread's next refused call.
#[cfg_attr(feature = "export-symbols", unsafe(no_mangle))]
pub extern "C" fn kirin_bulk_message() -> *const c_char {
    MESSAGE.with(Cell::as_ptr).cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_message_is_that_of_the_last_refusal_in_this_thread() {
        let text = || {
            // SAFETY: the string lives until the next refusal.
            let text = unsafe { CStr::from_ptr(kirin_bulk_message()) };
            text.to_str().unwrap().to_owned()
        };
        assert_eq!(text(), "");
        let refused = guard("call", || {
            Err(Error::NotFinite {
                array: "x",
                particle: Some(7),
            })
        });
        assert_eq!(refused, -1);
        assert_eq!(text(), "call: x of particle 7 is NaN or infinite");
        assert_eq!(guard("call", || Ok(5)), 5);
        assert!(!text().is_empty(), "a success changes nothing");
        std::thread::scope(|s| s.spawn(|| assert_eq!(text(), "")).join().unwrap());
        let message = "x".repeat(2 * ROOM);
        assert_eq!(guard("call", || Err(Error::Internal { message })), -4);
        assert_eq!(text().len(), ROOM - 1);
        with_message(|text| assert_eq!(text.len(), ROOM - 1));
        assert_eq!(guard("call", || panic!("on purpose")), -4);
        assert_eq!(text(), "call: internal error: on purpose");
    }
}
