//! The interface of GRAPE-6, with the names that later libraries gave its calls.
//!
//! | file | what is in it |
//! |---|---|
//! | `symbols` | the calls with their names |
//! | `calls` | what they do: check, convert, call the cluster, write results |
//! | `clusters` | the clusters by id |
//! | `record` | what a trace keeps of the calls |

pub mod calls;
mod clusters;
mod record;
pub mod symbols;

pub use self::clusters::CLUSTERS;
