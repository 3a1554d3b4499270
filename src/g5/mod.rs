//! The interface of GRAPE-5, as Phantom-GRAPE, FDPS, NEMO and sapporo2 have it.
//!
//! | file | what is in it |
//! |---|---|
//! | `symbols` | the calls with their names |
//! | `calls` | what they do: check, convert, call the core, write results |
//! | `devices` | what a device keeps: registers, results, j-particles |

mod calls;
pub mod devices;
pub mod symbols;
