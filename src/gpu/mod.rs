//! The backends on GPUs.

pub mod cuda;
