//! Observers: statistics (`KIRIN_STATS`), the cost of too few pipelines, the noise of the forces, and the audit of
//! results (`KIRIN_CHECK`). They do not change the calculation, with one exception: with `adaptive`, noise that limits
//! the time steps raises the precision.

pub mod audit;
pub mod noise;
pub mod pipelines;
pub mod report;
mod sampled;
pub mod statistics;
