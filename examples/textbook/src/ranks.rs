//! Processes that exchange messages: those of an MPI launcher, or threads of one process that own nothing in common.

use kirin::process::ranks;
use kirin_kit::communicator::{CommunicationError, Communicator, Operation, threads};

/// How the work of a process ends. An inner error is one that all processes have found: they end in order.
pub type Outcome = Result<Result<(), String>, CommunicationError>;

/// What every process does.
pub trait Work: Sync {
    /// The work of one process of `world`.
    ///
    /// # Errors
    ///
    /// A process is lost.
    fn on<C: Communicator>(&self, world: &C) -> Outcome;
}

/// Runs `work` on the processes of the launcher, or on so many threads where nobody launched this one.
///
/// # Errors
///
/// Why it could not be done, in words: none where another process says it.
pub fn run(ranks: Option<usize>, work: &impl Work) -> Result<(), String> {
    match (ranks::rank(), ranks) {
        (Some(0), Some(_)) => {
            Err("the launcher knows how many processes there are: no --ranks".to_owned())
        }
        (Some(_), Some(_)) => Err(String::new()),
        (Some(rank), None) => under_mpi(rank, work),
        (None, ranks) => {
            let on = |world: threads::Threads| work.on(&world);
            let all = threads::run(ranks.unwrap_or(1), on).map_err(|e| e.to_string())?;
            let first = all.into_iter().next();
            first.expect("there is a rank 0")
        }
    }
}

/// What process 0 reads, and nothing elsewhere; or an error on all of them, which has words on process 0.
///
/// # Errors
///
/// A process is lost.
pub fn read_by_first<C: Communicator, T: Default>(
    world: &C,
    read: impl FnOnce() -> Result<T, String>,
) -> Result<Result<T, String>, CommunicationError> {
    let input = match world.rank() {
        0 => read(),
        _ => Ok(T::default()),
    };
    let mut failed = [f64::from(input.is_err())];
    world.all_reduce(Operation::Max, &mut failed)?;
    Ok(match failed {
        [0.0] => input,
        _ => Err(input.err().unwrap_or_default()),
    })
}

#[cfg(feature = "mpi")]
fn under_mpi(_: u32, work: &impl Work) -> Result<(), String> {
    use kirin_kit::communicator::mpi::Mpi;

    let universe = mpi::initialize().ok_or("MPI does not start")?;
    let world = Mpi::world(&universe);
    // A panic must end the other processes too, which would wait for ever.
    let on = std::panic::AssertUnwindSafe(|| work.on(&world));
    match std::panic::catch_unwind(on) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(lost)) => {
            eprintln!("textbook: rank {}: {lost}", world.rank());
            world.abort(1)
        }
        Err(_) => world.abort(101),
    }
}

#[cfg(not(feature = "mpi"))]
fn under_mpi(rank: u32, _: &impl Work) -> Result<(), String> {
    Err(match rank {
        0 => "this program was built without MPI: cargo build --release -p textbook --features mpi"
            .to_owned(),
        _ => String::new(),
    })
}
