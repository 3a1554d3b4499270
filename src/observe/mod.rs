//! What looks at the calculation without changing it: statistics (`KIRIN_STATS`), what few pipelines cost, and the
//! audit of results (`KIRIN_CHECK`).

pub mod audit;
pub mod noise;
pub mod pipelines;
pub mod report;
mod sampled;
pub mod statistics;
