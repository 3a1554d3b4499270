//! Observers, which do not change the calculation: statistics (`KIRIN_STATS`), the cost of few pipelines, and the
//! audit of results (`KIRIN_CHECK`).

pub mod audit;
pub mod noise;
pub mod pipelines;
pub mod report;
mod sampled;
pub mod statistics;
