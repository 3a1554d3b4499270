//! Processes that exchange messages: processes of an MPI launcher, or threads of one process that share no data.

use kirin_core::process::ranks;
use kirin_kit::communicator::launch::{self, Job};

/// Runs a job on the processes of the launcher, or on so many threads where nobody launched this one.
///
/// # Errors
///
/// Why it could not be done, in words: none where another process says it.
pub fn run(ranks: Option<usize>, job: &impl Job) -> Result<(), String> {
    launch::run("textbook", ranks::rank(), ranks, job)
        .map(|_| ())
        .map_err(Option::unwrap_or_default)
}

/// Checks that no launcher started several processes of a program that works in one: each would do the whole work.
///
/// # Errors
///
/// It did; in words on the first process, none on the others.
pub fn check_alone() -> Result<(), String> {
    match ranks::rank() {
        None => Ok(()),
        Some(0) => Err("a launcher started several processes, and only basic-ranks, reduced-ranks and sort-ranks share their \
                        work: start this program without the launcher"
            .to_owned()),
        Some(_) => Err(String::new()),
    }
}
