//! The boundary between clients and the library: every exported call runs inside [`guard`].

use std::any::Any;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kirin_core::error::{Error, Result};
use kirin_core::process::{entry, log};

/// What a call without effect answers.
pub fn nothing() -> Result<c_int> {
    Ok(0)
}

/// What a call answers that kirin does not support.
pub fn unsupported(reason: &'static str) -> Result<c_int> {
    Err(Error::Unsupported { reason })
}

/// Runs a call. Turns an error into its code and a line on stderr, and lets no panic pass.
#[inline]
pub fn guard(name: &'static str, call: impl FnOnce() -> Result<c_int>) -> c_int {
    // What `catch_unwind` returns goes through memory. An integer is read as it was written; of a larger result a part is
    // written and the whole read, and for that a processor waits until all earlier stores have reached the cache.
    let code = || call().unwrap_or_else(|error| report(name, &error));
    let answered = entry::once(|| {
        catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|payload| report_panic(name, &*payload))
    });
    answered.unwrap_or_else(|| refuse(name))
}

/// All calls count as one origin of messages: a signal handler may make many.
#[cold]
fn refuse(name: &'static str) -> c_int {
    let error = Error::InsideAnother;
    log::error("call within a call", format_args!("{name} is {error}"));
    error.code()
}

#[cold]
fn report(name: &'static str, error: &Error) -> c_int {
    match error {
        // Reported once: every further call of a client without memory fails the same way.
        Error::OutOfMemory { purpose } => log::once(purpose, name, error),
        _ => log::error(name, error),
    }
    error.code()
}

#[cold]
fn report_panic(name: &'static str, payload: &(dyn Any + Send)) -> c_int {
    report(name, &panicked(payload))
}

/// The error that a panic becomes.
#[cold]
pub fn panicked(payload: &(dyn Any + Send)) -> Error {
    let message = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    Error::Internal { message }
}
