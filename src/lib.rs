//! kirin gives the host interface of the GRAPE-6 computer (the `g6_*` calls) to
//! machines without one: N-body codes written for GRAPE-6 run on NVIDIA GPUs or the
//! vector units of a CPU without a change to their source.
//!
//! Clients use the C and Fortran symbols in [`abi`]; Rust programs that want the
//! same view of this or another GRAPE-6 library use [`client`]. The other modules
//! are the rooms that a call goes through, from the edge inwards.
//!
//! | room | what is in it |
//! |---|---|
//! | [`abi`] | the exported symbols: pointers are checked and converted |
//! | [`grape`] | what a GRAPE is: clusters by id, their lock and call order, the j-particle memory, the predictor, neighbours, the tree of sums |
//! | [`nbody6`] | what the library of NBODY6 and NBODY6++ is: sources of the regular force, stars and lists of the irregular one |
//! | [`backend`] | what computes forces: CPU, CUDA, reference |
//! | [`observe`] | statistics, audit of results, traces of calls |
//! | [`process`] | what is one per process: settings, messages, forks, ranks, the machine |
//! | [`client`] | a GRAPE-6 library behind its symbols, for programs |

pub mod abi;
pub mod backend;
pub mod client;
pub mod error;
pub mod grape;
pub mod nbody6;
pub mod observe;
pub mod process;
