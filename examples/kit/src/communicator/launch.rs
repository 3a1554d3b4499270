//! Finds the ranks of a parallel program: the processes of an MPI launcher, or threads of this process.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

#[cfg(feature = "mpi")]
use super::agreement;
use super::{CommunicationError, Communicator, Result, threads};
use crate::command::{Ended, exit_code, named};

/// Why a rank gave up.
#[derive(Debug)]
pub struct RankFailure {
    /// What happened; in words.
    pub message: String,
    /// Whether every rank found this by itself, so that none waits for another.
    pub common: bool,
}

impl RankFailure {
    /// The failure that every rank finds by itself.
    pub fn common(message: String) -> Self {
        Self {
            message,
            common: true,
        }
    }

    /// The failure of an application whose error type is `E`. `is_common` says whether every rank finds this error by
    /// itself; then no rank has to tell the others.
    pub fn of<E: Error + 'static>(error: Box<dyn Error>, is_common: fn(&E) -> bool) -> Self {
        Self {
            common: error.downcast_ref().is_some_and(is_common),
            message: error.to_string(),
        }
    }
}

impl From<CommunicationError> for RankFailure {
    fn from(error: CommunicationError) -> Self {
        Self {
            message: error.to_string(),
            common: false,
        }
    }
}

/// What every rank does.
pub trait Job: Sync {
    /// Does it, as one of the ranks of `world`.
    ///
    /// # Errors
    ///
    /// Why this rank gave up.
    fn run<C: Communicator>(&self, world: C) -> std::result::Result<Ended, RankFailure>;
}

/// How it ended; an error has a message where this process is to print one.
pub type Outcome = std::result::Result<Ended, Option<String>>;

/// How many ranks there are, as far as a program knows before it asks MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// What the user gave as the number of ranks. Under a launcher it is refused: the launcher knows the number.
    pub given: Option<usize>,
    /// Number of ranks, as threads, where neither launcher nor user say it.
    pub otherwise: usize,
}

impl From<usize> for Ranks {
    fn from(otherwise: usize) -> Self {
        Self {
            given: None,
            otherwise,
        }
    }
}

impl From<Option<usize>> for Ranks {
    fn from(given: Option<usize>) -> Self {
        Self {
            given,
            otherwise: 1,
        }
    }
}

impl Ranks {
    /// Number of ranks that are threads.
    fn threads(self) -> usize {
        self.given.unwrap_or(self.otherwise)
    }
}

/// Runs the job of the command called `name` on all ranks. `launched` is the rank of this process, if an environment
/// variable of a launcher tells it. With the feature `mpi` MPI is asked as well, since some launchers set no variable.
/// If no launcher started this process, its ranks are threads.
///
/// All processes must have the same program and command line; else they end, and say which ranks differ.
///
/// # Errors
///
/// Those of the job; the ranks do not start, or do not belong together.
pub fn run(name: &str, launched: Option<u32>, ranks: impl Into<Ranks>, job: &impl Job) -> Outcome {
    find(name, launched, ranks.into(), job)
}

/// The same; what the command returns to the shell. Errors go to stderr, once where all ranks found the same.
pub fn launch(
    name: &str,
    launched: Option<u32>,
    ranks: impl Into<Ranks>,
    job: &impl Job,
) -> ExitCode {
    match run(name, launched, ranks, job) {
        Ok(ended) => exit_code(name, Ok(ended)),
        Err(Some(message)) => exit_code(name, Err(message.into())),
        Err(None) => ExitCode::FAILURE,
    }
}

fn among_threads(ranks: usize, job: &impl Job) -> Outcome {
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
fn find(name: &str, launched: Option<u32>, ranks: Ranks, job: &impl Job) -> Outcome {
    use super::mpi::Mpi;

    let universe = mpi::initialize().ok_or_else(|| Some("MPI does not start".to_owned()))?;
    match (Mpi::world(&universe).size(), launched) {
        (1, None) => among_threads(ranks.threads(), job),
        (1, Some(rank)) => {
            let why = "a launcher started several processes, but MPI knows only this one: start the program with the \
                       launcher of the MPI library that it was built with (Slurm: srun --mpi=pmix)";
            Err((rank == 0).then(|| why.to_owned()))
        }
        _ => under_mpi(name, &universe, ranks, job),
    }
}

#[cfg(not(feature = "mpi"))]
fn find(name: &str, launched: Option<u32>, ranks: Ranks, job: &impl Job) -> Outcome {
    let Some(rank) = launched else {
        return among_threads(ranks.threads(), job);
    };
    let why = format!(
        "this program was built without MPI: cargo build --release -p {name} --features mpi"
    );
    Err((rank == 0).then_some(why))
}

/// How long a rank with an error that all should have waits for the others.
#[cfg(feature = "mpi")]
const TOGETHER: std::time::Duration = std::time::Duration::from_secs(10);

#[cfg(feature = "mpi")]
fn under_mpi(
    name: &str,
    universe: &mpi::environment::Universe,
    ranks: Ranks,
    job: &impl Job,
) -> Outcome {
    use super::mpi::Mpi;
    use crate::command::{be_later_rank, tell};

    let world = Mpi::world(universe);
    let end = Mpi::apart(universe);
    let rank = world.rank();
    if rank > 0 {
        be_later_rank();
    }
    // A panic must end the other ranks too, which would wait for ever.
    let work = std::panic::AssertUnwindSafe(|| {
        check_processes(&world, ranks)?;
        job.run(Mpi::world(universe))
    });
    match std::panic::catch_unwind(work) {
        Ok(Ok(ended)) => Ok(ended),
        Ok(Err(failure)) if failure.common => {
            // Said before any rank ends: the launcher ends all when the first one fails.
            if rank == 0 {
                tell(&format!("{name}: {}", failure.message));
            }
            // If the others do not have it after all, they wait for this rank somewhere else.
            if !end.all_arrive(TOGETHER) {
                if rank > 0 {
                    tell(&format!("{name}: rank {rank}: {}", failure.message));
                }
                world.abort(1)
            }
            Err(None)
        }
        Ok(Err(failure)) => {
            tell(&format!("{name}: rank {rank}: {}", failure.message));
            world.abort(1)
        }
        Err(_) => world.abort(101),
    }
}

/// Refuses a number of ranks beside that of the launcher, and processes of different programs or command lines.
#[cfg(feature = "mpi")]
fn check_processes<C: Communicator>(
    world: &C,
    ranks: Ranks,
) -> std::result::Result<(), RankFailure> {
    if let Some(differences) = agreement::compare(world, &agreement::of_process())? {
        return Err(RankFailure::common(differences));
    }
    match ranks.given {
        Some(_) => Err(RankFailure::common(format!(
            "the launcher started {} processes, which are the ranks: no --ranks",
            world.size()
        ))),
        None => Ok(()),
    }
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
    let told = tell(world, is_file, read.unwrap_or_else(String::into_bytes))?;
    Ok(told.map_err(|why| String::from_utf8_lossy(&why).into_owned()))
}

/// What rank 0 makes, and nothing elsewhere.
///
/// # Errors
///
/// A rank is lost; or, on all ranks, why rank 0 could not.
pub fn on_first<C: Communicator, T: Default>(
    world: &C,
    make: impl FnOnce() -> std::result::Result<T, String>,
) -> std::result::Result<T, RankFailure> {
    made_on_first(world, make)?.map_err(RankFailure::common)
}

/// What rank 0 makes, and nothing elsewhere; on all ranks in words why rank 0 could not.
///
/// # Errors
///
/// A rank is lost.
pub fn made_on_first<C: Communicator, T: Default>(
    world: &C,
    make: impl FnOnce() -> std::result::Result<T, String>,
) -> Result<std::result::Result<T, String>> {
    let made = match world.rank() {
        0 => make(),
        _ => Ok(T::default()),
    };
    let why = made.as_ref().err().cloned().unwrap_or_default();
    Ok(match tell(world, made.is_ok(), why.into_bytes())? {
        Ok(_) => Ok(made.unwrap_or_default()),
        Err(why) => Err(String::from_utf8_lossy(&why).into_owned()),
    })
}

/// Everywhere, whether it is well on rank 0, and the bytes there.
fn tell<C: Communicator>(
    world: &C,
    is_well: bool,
    mut bytes: Vec<u8>,
) -> Result<std::result::Result<Vec<u8>, Vec<u8>>> {
    let mut head = [u64::from(is_well), bytes.len() as u64];
    world.broadcast(0, &mut head)?;
    bytes.resize(head[1] as usize, 0);
    world.broadcast(0, &mut bytes)?;
    Ok(match head[0] {
        1 => Ok(bytes),
        _ => Err(bytes),
    })
}
