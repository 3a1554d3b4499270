//! What looks at the calculation without changing it: statistics (`KIRIN_STATS`) and
//! what few pipelines cost, the audit of results (`KIRIN_CHECK`) and the trace of calls (`KIRIN_TRACE`).

pub mod audit;
pub mod nbody6;
pub mod noise;
pub mod pipelines;
pub mod report;
pub mod statistics;
pub mod trace;
