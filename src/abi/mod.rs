//! The exported symbols: the GRAPE-6 interface, and that of GRAPE-5, in C and Fortran spellings.
//!
//! | spelling | name | scalars |
//! |---|---|---|
//! | C | `g6_open` | by value |
//! | Fortran | `g6_open_` | by reference |
//!
//! Arrays are pointers in both; `x[ni][3]` in C is `x(3,ni)` in Fortran. Every
//! function returns an `int`: 0 for success and a negative code with one line on
//! stderr for a refusal ([`crate::error::Error::code`]), unless its text says
//! otherwise. Older libraries declare some of them `void`; their clients ignore the value.
//!
//! A null pointer is tolerated for the cluster id (it stands for 0), for the old
//! accelerations, jerks and potentials (never read) and for `h2` (no neighbour
//! lists). Input and output arrays may overlap in any way.
//!
//! NBODY6's library has Fortran spellings only.
//!
//! Each call is declared once, in one of the modules below, and [`table()`] lists
//! them all. Both spellings lead to one private function: clients may define the
//! C names themselves.

#[macro_use]
mod macros;

mod board;
mod calls;
mod grape5;
mod interface;
mod nbody6;
mod nbody6_calls;
mod nbody6_irregular;
mod original;
mod own;
mod pointers;
mod record;
mod table;
mod thesis;

pub use board::*;
pub use grape5::*;
pub use interface::*;
pub use nbody6::*;
pub use nbody6_irregular::*;
pub use original::*;
pub use own::*;
pub use table::{Argument, Call, Group, INTERFACES, Interface, Kind, Returns, Support, table};
pub use thesis::*;

use std::any::Any;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};
use crate::process::{entry, log};

/// The boundary: errors become codes and a line on stderr, and no panic passes.
#[inline]
fn guard(name: &'static str, call: impl FnOnce() -> Result<c_int>) -> c_int {
    let answered = entry::once(|| match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => report(name, &error),
        Err(payload) => report_panic(name, &*payload),
    });
    answered.unwrap_or_else(|| refuse(name))
}

/// One origin for all calls: a handler may make many.
#[cold]
fn refuse(name: &'static str) -> c_int {
    let error = Error::InsideAnother;
    log::error("call within a call", format_args!("{name} is {error}"));
    error.code()
}

#[cold]
fn report(name: &'static str, error: &Error) -> c_int {
    match error {
        // A client without memory for its particles is told so by every further call.
        Error::OutOfMemory { purpose } => log::once(purpose, name, error),
        _ => log::error(name, error),
    }
    error.code()
}

#[cold]
fn report_panic(name: &'static str, payload: &(dyn Any + Send)) -> c_int {
    let message = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    report(name, &Error::Internal { message })
}
