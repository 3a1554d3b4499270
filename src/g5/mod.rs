//! The interface of GRAPE-5, as Phantom-GRAPE, FDPS, ASURA, NEMO and sapporo2 have it.
//!
//! | file | what is in it |
//! |---|---|
//! | `symbols` | the calls with their names |
//! | `calls` | what they do: check, convert, call the core, write results |
//! | `dialect` | whether a program passes softening lengths of j-particles under the usual names |
//! | `devices` | what a device keeps: registers, results, j-particles |

mod calls;
pub mod devices;
mod dialect;
pub mod symbols;
