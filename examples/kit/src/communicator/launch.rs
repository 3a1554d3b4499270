//! How a parallel program finds its ranks: the processes of an MPI launcher, or threads of this process.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use super::{Communicator, Result, threads};
use crate::command::{Ended, exit_code, named};
use crate::interrupt;

/// Why a rank gave up.
#[derive(Debug)]
pub struct Failure {
    /// What happened; in words.
    pub message: String,
    /// Whether all ranks have found the same and ended in order.
    pub common: bool,
}

impl Failure {
    /// Of an error of an application, whose own error type `E` tells whether all ranks find the same.
    pub fn of<E: Error + 'static>(error: Box<dyn Error>, is_common: fn(&E) -> bool) -> Self {
        Self {
            common: error.downcast_ref().is_some_and(is_common),
            message: error.to_string(),
        }
    }
}

/// What every rank does.
pub trait Job: Sync {
    /// Does it, as one of the ranks of `world`.
    ///
    /// # Errors
    ///
    /// Whatever the rank has to say.
    fn run<C: Communicator>(&self, world: C) -> std::result::Result<Ended, Failure>;
}

/// Runs the job of the command called `name` on all ranks and returns what it returns to the shell; errors go to
/// stderr, once where all ranks found the same. `launched` is this process's number under an MPI launcher; else
/// `ranks` threads are the ranks.
pub fn launch(name: &str, launched: Option<u32>, ranks: usize, job: &impl Job) -> ExitCode {
    let outcome = match launched {
        Some(rank) => under_mpi(name, rank, job),
        None => among_threads(ranks, job),
    };
    match outcome {
        Ok(ended) => exit_code(name, Ok(ended)),
        Err(Some(message)) => exit_code(name, Err(message.into())),
        Err(None) => ExitCode::FAILURE,
    }
}

/// How it ended; an error has a message where this process is to print one.
type Outcome = std::result::Result<Ended, Option<String>>;

fn among_threads(ranks: usize, job: &impl Job) -> Outcome {
    interrupt::catch().map_err(|e| Some(e.to_string()))?;
    let work = |world: threads::Threads| {
        let rank = world.rank();
        job.run(world).map_err(|failure| match failure.common {
            true => failure.message,
            false => format!("rank {rank}: {}", failure.message),
        })
    };
    let ended = threads::run(ranks, work).map_err(Some)?;
    Ok(ended[0])
}

#[cfg(feature = "mpi")]
fn under_mpi(name: &str, _: u32, job: &impl Job) -> Outcome {
    use super::mpi::Mpi;

    let universe = mpi::initialize().ok_or_else(|| Some("MPI does not start".to_owned()))?;
    let world = Mpi::world(&universe);
    let rank = world.rank();
    interrupt::catch().map_err(|e| Some(e.to_string()))?;
    // A panic must end the other ranks too, which would wait for ever.
    let work = std::panic::AssertUnwindSafe(|| job.run(Mpi::world(&universe)));
    match std::panic::catch_unwind(work) {
        Ok(Ok(ended)) => Ok(ended),
        Ok(Err(failure)) if failure.common => Err((rank == 0).then_some(failure.message)),
        Ok(Err(failure)) => {
            eprintln!("{name}: rank {rank}: {}", failure.message);
            world.abort(1)
        }
        Err(_) => world.abort(101),
    }
}

#[cfg(not(feature = "mpi"))]
fn under_mpi(name: &str, rank: u32, _: &impl Job) -> Outcome {
    let why = format!(
        "this program was built without MPI: cargo build --release -p {name} --features mpi"
    );
    Err((rank == 0).then_some(why))
}

/// The bytes of a file that rank 0 can read, on every rank; what is wrong with it in words, on every rank too.
///
/// # Errors
///
/// A rank is lost.
pub fn read_file<C: Communicator>(
    world: &C,
    path: &Path,
) -> Result<std::result::Result<Vec<u8>, String>> {
    let read = match world.rank() {
        0 => std::fs::read(path).map_err(|e| named(path)(e)),
        _ => Ok(Vec::new()),
    };
    let is_file = read.is_ok();
    let mut bytes = read.unwrap_or_else(String::into_bytes);
    let mut head = [u64::from(is_file), bytes.len() as u64];
    world.broadcast(0, &mut head)?;
    bytes.resize(head[1] as usize, 0);
    world.broadcast(0, &mut bytes)?;
    Ok(match head[0] {
        1 => Ok(bytes),
        _ => Err(String::from_utf8_lossy(&bytes).into_owned()),
    })
}
