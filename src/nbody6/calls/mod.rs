//! The functions behind the symbols of NBODY6's library: check, convert, call the core, write results.

mod helpers;
mod irregular;
mod regular;

pub use helpers::*;
pub use irregular::*;
pub use regular::*;
