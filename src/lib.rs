//! kirin gives the host interface of the GRAPE-6 computer (the `g6_*` calls) to
//! machines without one: N-body codes written for GRAPE-6 run on NVIDIA GPUs or the
//! vector units of a CPU without a change to their source.
//!
//! Clients use the C and Fortran symbols in [`abi`]; Rust programs that want the
//! same view of this or another GRAPE-6 library use [`client`]. The other modules
//! are the parts the library is made of, from the edge inwards: [`registry`],
//! [`cluster`], [`jmemory`], [`backend`], [`reduce`].

pub mod abi;
pub mod backend;
pub mod check;
pub mod client;
pub mod cluster;
pub mod config;
pub mod error;
pub mod jmemory;
pub mod log;
pub mod machine;
pub mod neighbours;
pub mod particle;
pub mod predictor;
pub mod process;
pub mod ranks;
pub mod reduce;
pub mod registry;
pub mod stats;
pub mod trace;
pub mod turn;
