//! The symbols of GRAPE-6's calls.

pub mod low_level;
pub mod original;
pub mod own;
pub mod precision;
pub mod sapporo;
#[allow(non_snake_case, reason = "the names of the 2007 kirin begin with GPU_")]
pub mod usual;
