//! `kirin replay`: the calls of a trace once more, on one or several libraries.

mod block;
mod facts;
mod lists;
mod nbody6;
mod notes;
mod play;
mod run;
mod summary;
mod table;
mod turn;

pub use self::nbody6::PlayerNbody6;
pub use self::play::Player;
pub use self::run::run;
pub use self::summary::Summary;

use std::path::PathBuf;

use clap::Args;

use crate::candidate::Common;

/// Repeats the calls of a trace on GRAPE-6 libraries, or on those of NBODY6++, and compares their results with the recorded
/// ones and their times with each other.
///
/// Every library runs in a process of its own; they take turns of about a second. Errors are relative to the recorded
/// vector or number. kirin has as many pipelines as when the trace was recorded; for a library that has fewer, blocks
/// are split. Notes below the table say which figures must not be compared. If a trace has the calls of several
/// interfaces, `--interface` chooses those to replay. The exit status is 1 if a library was lost, or if the trace is
/// damaged or cut off. Such a trace is replayed as far as it can be read.
#[derive(Args)]
pub struct Options {
    /// A trace of `kirin record` or KIRIN_TRACE
    trace: PathBuf,
    #[command(flatten)]
    common: Common,
    /// Exit status 1 if any result of the first library differs from the recorded one by a single bit
    #[arg(long)]
    exact: bool,
}
