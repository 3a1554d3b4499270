//! The host interface of the GRAPE-6 computer (the `g6_*` calls) for machines without one. N-body codes written for
//! GRAPE-6 run on NVIDIA GPUs or on the vector units of a CPU, without a change to their source. The calls of GRAPE-5
//! and of NBODY6's library are here, too.
//!
//! C and Fortran programs use the symbols in [`symbols`]. Rust programs use [`client`], which
//! also opens other GRAPE libraries. A library call goes through these modules, from the edge
//! inwards; none of them knows those above it:
//!
//! | module | what is in it |
//! |---|---|
//! | [`symbols`] | every exported symbol, and the table of them |
//! | `g6`, `g5`, `nbody6`, `bulk`, `tree` | the interfaces: the calls of each, what they do, and what only this interface has |
//! | `edge` | what each call goes through: kinds of arguments, pointers, the panic boundary |
//! | `registry` | what the ids of clients stand for, their locks, forks |
//! | `trace` | recording: events, the file |
//! | `cluster` | one GRAPE: the order of calls, the pending block |
//! | `choice` | which backend computes |
//! | `observe` | statistics, checks of results |
//! | `cpu`, `gpu` | what computes forces |
//! | `force` | what a force is: the traits of the backends, their plain forms |
//! | `sources` | what is stored: j-particles, stars; the predictor, the tree of sums, neighbours |
//! | `process` | what there is once per process: settings, messages, forks, ranks |
//! | `random` | random numbers for samples, and for tests |
//!
//! Only [`symbols`], [`client`] and [`mod@error`] are for users. All other public modules are for the `kirin` command
//! and the tests of this repository. They are hidden from this documentation and may change in any version.

#[macro_use]
mod edge;

mod bulk;
#[doc(hidden)]
pub mod choice;
pub mod client;
#[doc(hidden)]
pub mod cluster;
#[doc(hidden)]
pub mod cpu;
pub mod error;
#[doc(hidden)]
pub mod force;
mod g5;
mod g6;
#[doc(hidden)]
pub mod gpu;
#[doc(hidden)]
pub mod nbody6;
#[doc(hidden)]
pub mod observe;
#[doc(hidden)]
pub mod process;
#[doc(hidden)]
pub mod random;
mod registry;
#[doc(hidden)]
pub mod sources;
pub mod symbols;
#[doc(hidden)]
pub mod trace;
#[doc(hidden)]
pub mod tree;
