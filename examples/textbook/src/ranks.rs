//! Processes that exchange messages: processes of an MPI launcher, or threads of one process that share no data.

use kirin::process::ranks;
use kirin_kit::communicator::launch::{self, Job};

/// Runs a job on the processes of the launcher, or on so many threads where nobody launched this one.
///
/// # Errors
///
/// Why it could not be done, in words: none where another process says it.
pub fn run(ranks: Option<usize>, job: &impl Job) -> Result<(), String> {
    let launched = ranks::rank();
    match (launched, ranks) {
        (Some(0), Some(_)) => {
            Err("the launcher knows how many processes there are: no --ranks".to_owned())
        }
        // The launcher ends all when one fails: that is to be the one that says why.
        (Some(_), Some(_)) => Ok(()),
        (_, ranks) => launch::run("textbook", launched, ranks.unwrap_or(1), job)
            .map(|_| ())
            .map_err(Option::unwrap_or_default),
    }
}
