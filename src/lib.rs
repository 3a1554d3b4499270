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
//!
//! The inside, from traces and clusters to the loops on CPUs and GPUs, is the crate `kirin-core`.

#[macro_use]
mod edge;

mod bulk;
pub mod client;
mod g5;
mod g6;
mod nbody6;
mod registry;
pub mod symbols;
mod tree;

#[doc(inline)]
pub use kirin_core::error;
