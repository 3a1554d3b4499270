//! The exported symbols of all interfaces, in C and Fortran spellings: GRAPE-6, GRAPE-5, NBODY6's library, bulk forces
//! and trees.
//!
//! | spelling | name | scalars |
//! |---|---|---|
//! | C | `g6_open` | by value |
//! | Fortran | `g6_open_` | by reference |
//!
//! Arrays are pointers in both; `x[ni][3]` in C is `x(3,ni)` in Fortran. Every
//! function returns an `int`: 0 for success and a negative code with one line on
//! stderr for a refusal ([`crate::error::Error::code`]), unless its text says
//! otherwise. Older libraries declare some of them `void`; their clients ignore the value.
//!
//! GRAPE-6's calls tolerate a null pointer for the cluster id (it stands for 0), for the old accelerations, jerks and
//! potentials (only traces record them), for `h2` (no neighbour lists) and for the list of `g6_open_special`. Input and
//! output arrays may overlap in any way.
//!
//! NBODY6's library has Fortran spellings only. Its names, and some of sapporo's, are also names of functions in
//! other programs. Therefore they are exported with a prefix: see [`Interface::exported`].
//!
//! Each call is declared once, in one of the modules below, with all its names, and [`table()`] lists them all. No
//! exported name calls another one, since clients may define the C names themselves: all names lead to one private
//! function.

mod table;

pub use self::table::table;
pub use crate::bulk::arrays::{
    Indices, Numbers, OutIndices, OutNumbers, OutVectors, Results, Sources, Targets, Vectors,
};
pub use crate::bulk::message::kirin_bulk_message;
pub use crate::bulk::symbols::*;
pub use crate::bulk::texts::*;
pub use crate::edge::call::{
    Argument, Call, CallGroup, INTERFACES, Interface, Kind, Returns, Support,
};
pub use crate::g5::symbols::*;
pub use crate::g6::symbols::low_level::*;
pub use crate::g6::symbols::original::*;
pub use crate::g6::symbols::own::*;
pub use crate::g6::symbols::precision::*;
pub use crate::g6::symbols::sapporo::*;
pub use crate::g6::symbols::usual::*;
pub use crate::nbody6::symbols::gpuirr::*;
pub use crate::nbody6::symbols::plus_plus::*;
pub use crate::tree::symbols::*;
