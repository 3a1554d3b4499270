//! Puts another program in the place of this process.

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether SIGPIPE was ignored when this process began. Rust's runtime ignores SIGPIPE in every program; the
/// program that is started must get back what was set before.
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

extern "C" fn remember() {
    // SAFETY: a null action asks for the present one, which zeros can hold.
    let handler = unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut now);
        now.sa_sigaction
    };
    PIPE_IGNORED.store(handler == libc::SIG_IGN, Ordering::Relaxed);
}

/// Runs before `main`, and before Rust's runtime.
#[used]
// SAFETY: the section holds pointers to functions that are called at the start.
#[unsafe(link_section = ".init_array")]
static REMEMBER: extern "C" fn() = remember;

/// Replaces this process by the program, found as a shell finds it; returns only on failure.
pub fn instead(words: Vec<OsString>) -> io::Error {
    let words: Result<Vec<CString>, _> = words
        .into_iter()
        .map(|word| CString::new(word.into_vec()))
        .collect();
    let Ok(words) = words else {
        return io::Error::from(io::ErrorKind::InvalidInput);
    };
    let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: the default action is always allowed; `pointers` ends with null and points to C
    // strings that live until the call returns, if it does.
    unsafe {
        if !PIPE_IGNORED.load(Ordering::Relaxed) {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        }
        libc::execvp(pointers[0], pointers.as_ptr());
    }
    io::Error::last_os_error()
}
