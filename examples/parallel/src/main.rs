//! The command `parallel`: finds its ranks and runs on all of them.

use std::process::ExitCode;

use clap::Parser;
use kirin::client::Grape;
use kirin::process::ranks;
use kirin_kit::command::{Ended, exit_code, named};
use kirin_kit::communicator::{Communicator, threads};
use kirin_kit::interrupt;
use parallel::options::Options;
use parallel::session::{self, Failure};
use parallel::{paper, picture};

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(path) = &options.picture {
        let drawn = std::fs::write(path, picture::svg()).map_err(named(path));
        return exit_code(
            "parallel",
            drawn.map(|()| Ended::Complete).map_err(Into::into),
        );
    }
    let result = match ranks::rank() {
        Some(_) => under_mpi(&options),
        None => among_threads(&options),
    };
    match result {
        Ok(Ended::Complete) => ExitCode::SUCCESS,
        Ok(Ended::Interrupted) => ExitCode::from(interrupt::EXIT_STATUS),
        Err(message) => {
            if let Some(message) = message {
                eprintln!("parallel: {message}");
            }
            ExitCode::FAILURE
        }
    }
}

/// How it ended; an error has a message where this process is to print one.
type Outcome = Result<Ended, Option<String>>;

fn work<C: Communicator>(world: C, options: &Options) -> Result<Ended, Failure> {
    let library = options.run.library.as_deref();
    let grape =
        Grape::linked_or(library).map_err(|e| parallel::error::Error::Refused(e.to_string()))?;
    match options.report {
        Some(_) => paper::report(world, &grape, options),
        None => session::run(world, &grape, options),
    }
}

/// The ranks are threads of this process.
fn among_threads(options: &Options) -> Outcome {
    let ranks = options.ranks();
    share_cores(ranks);
    interrupt::catch().map_err(|e| Some(e.to_string()))?;
    let work = |world: threads::Threads| {
        let rank = world.rank();
        work(world, options).map_err(|failure| match failure.common {
            true => failure.message,
            false => format!("rank {rank}: {}", failure.message),
        })
    };
    let ended = threads::run(ranks, work).map_err(Some)?;
    Ok(ended[0])
}

/// Gives the library of this process as many threads to a rank as there are cores for it, unless the
/// user has decided.
fn share_cores(ranks: usize) {
    if ranks == 1 || std::env::var_os("KIRIN_THREADS").is_some() {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (cores / ranks).max(1).to_string();
    // SAFETY: this process has one thread yet, so nobody else reads the environment.
    unsafe { std::env::set_var("KIRIN_THREADS", threads) };
}

/// The ranks are the processes of an MPI launcher.
#[cfg(feature = "mpi")]
fn under_mpi(options: &Options) -> Outcome {
    use kirin_kit::communicator::mpi::Mpi;

    let universe = mpi::initialize().ok_or_else(|| Some("MPI does not start".to_owned()))?;
    let world = Mpi::world(&universe);
    let rank = world.rank();
    interrupt::catch().map_err(|e| Some(e.to_string()))?;
    // A panic must end the other ranks too, which would wait for ever.
    let work = std::panic::AssertUnwindSafe(|| work(Mpi::world(&universe), options));
    match std::panic::catch_unwind(work) {
        Ok(Ok(ended)) => Ok(ended),
        Ok(Err(failure)) if failure.common => Err((rank == 0).then_some(failure.message)),
        Ok(Err(failure)) => {
            eprintln!("parallel: rank {rank}: {}", failure.message);
            world.abort(1)
        }
        Err(_) => world.abort(101),
    }
}

#[cfg(not(feature = "mpi"))]
fn under_mpi(_: &Options) -> Outcome {
    let first = ranks::rank() == Some(0);
    let why =
        "this program was built without MPI: cargo build --release -p parallel --features mpi";
    Err(first.then(|| why.to_owned()))
}
