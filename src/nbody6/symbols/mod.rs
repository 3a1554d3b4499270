//! The symbols of NBODY6's library.

pub mod gpuirr;
pub mod plus_plus;
