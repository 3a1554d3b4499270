//! `kirin replay`: the calls of a trace once more, on one or several libraries.

mod play;
mod run;
mod summary;

pub use self::play::Player;
pub use self::run::run;
pub use self::summary::Summary;

use std::path::PathBuf;

use clap::Args;

use crate::column::Common;

/// Repeats the calls of a trace on GRAPE-6 libraries, and compares their results with the recorded
/// ones and their times with each other.
///
/// Every library runs in a process of its own; they take turns of about a second. Errors are relative to the
/// recorded vector or number. A trace that is damaged or cut off is replayed as far as it can be
/// read, and the exit status is 1.
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
