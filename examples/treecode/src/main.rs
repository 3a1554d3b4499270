//! The command `treecode`: finds its ranks and runs on all of them.

use std::process::ExitCode;

use clap::Parser;
use kirin_core::process::ranks;
use kirin_kit::command::Ended;
use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::cores::{threads_of_rank, use_threads};
use kirin_kit::communicator::launch::{Job, RankFailure, launch};
use kirin_kit::interrupt;
use treecode::error::Error;
use treecode::options::Options;
use treecode::{session, thesis};

/// Number of threads of the library.
const LIBRARY: &str = "KIRIN_THREADS";
/// Number of threads of tree, lists and `--host`, if not that of the library.
const PROGRAM: &str = "RAYON_NUM_THREADS";

fn main() -> ExitCode {
    let options = Options::parse();
    let launched = ranks::rank();
    let given = options.ranks.map(usize::from);
    let ranks = given.unwrap_or(1);
    let here = match launched {
        Some(_) => ranks::local_rank().map_or(1, |(_, ranks)| ranks),
        None => ranks,
    };
    let threads = threads_of_rank(here, &[PROGRAM, LIBRARY]);
    let is_set = std::env::var_os(LIBRARY).is_some_and(|value| !value.is_empty());
    if launched.is_none() && ranks > 1 && !is_set {
        let of_library = threads_of_rank(ranks, &[]).to_string();
        // SAFETY: this process has one thread yet, so nobody else reads the environment.
        unsafe { std::env::set_var(LIBRARY, of_library) };
    }
    launch("treecode", launched, given, &Command { options, threads })
}

/// What every rank does.
struct Command {
    options: Options,
    /// Threads of a rank.
    threads: usize,
}

impl Job for Command {
    fn run<C: Communicator>(&self, world: C) -> Result<Ended, RankFailure> {
        // The errors of an integration are agreed on; memory is lacking on one rank, while others wait for it.
        let is_common = |e: &Error| !matches!(e, Error::Communication(_) | Error::Memory);
        let is_alone = world.size() == 1;
        self.work(world).map_err(|e| match is_alone {
            true => RankFailure::common(e.to_string()),
            false => RankFailure::of(e, is_common),
        })
    }
}

impl Command {
    fn work<C: Communicator>(&self, world: C) -> Result<Ended, Box<dyn std::error::Error>> {
        use_threads(self.threads).map_err(Error::Refused)?;
        interrupt::catch()?;
        let comparison = &self.options.comparison;
        let limits = &comparison.limits;
        limits
            .check(comparison.report.is_some())
            .map_err(Error::Refused)?;
        match self.options.comparison.report {
            Some(_) => thesis::report(world, &self.options),
            None => session::run(world, &self.options),
        }
    }
}
