//! Measurements, tables and figures, for the command, the applications and their reports.
//!
//! * [`repeat`]: measurements that are repeated
//! * [`machine`]: the machine and the command line of a run
//! * [`company`]: the load of the machine by others during a measurement
//! * [`text`]: numbers and tables for people
//! * [`plot`]: figures of several panels, as SVG or PNG
//!
//! Nothing here depends on kirin or on a model of stars.

pub mod company;
pub mod machine;
pub mod plot;
pub mod repeat;
pub mod text;
