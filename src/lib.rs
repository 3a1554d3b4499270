//! The host interface of the GRAPE-6 computer (the `g6_*` calls), for machines without one:
//! N-body codes written for GRAPE-6 run on NVIDIA GPUs or on the vector units of a CPU, without a
//! change to their source. The calls of GRAPE-5 and of the library of NBODY6 are here, too.
//!
//! C and Fortran programs use the symbols in [`abi`]. Rust programs use [`client`], which
//! also opens other GRAPE libraries. A library call goes through these modules, from the edge
//! inwards:
//!
//! | module | what is in it |
//! |---|---|
//! | [`abi`] | the exported symbols: check and convert pointers |
//! | `grape` | what a GRAPE is: clusters by id, their lock and call order, the j-particle memory, the predictor, neighbours, the tree of sums |
//! | `nbody6` | what the library of NBODY6 is: sources of the regular force, stars and lists of the irregular one |
//! | `backend` | what computes forces: CPU, CUDA, reference |
//! | `observe` | statistics, checks of results, traces of calls |
//! | `process` | what there is once per process: settings, messages, forks, ranks |
//!
//! All but the first are public only for the `kirin` command and the tests of this repository. They are
//! hidden from this documentation and may change in any version.

pub mod abi;
#[doc(hidden)]
pub mod backend;
pub mod client;
pub mod error;
#[doc(hidden)]
pub mod grape;
#[doc(hidden)]
pub mod nbody6;
#[doc(hidden)]
pub mod observe;
#[doc(hidden)]
pub mod process;
