//! The command `parallel`: finds its ranks and runs on all of them.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use kirin_core::process::ranks;
use kirin_kit::command::{Ended, check_needed, exit_code, named, print};
use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::launch::{Job, RankFailure, Ranks, launch};
use kirin_kit::interrupt;
use parallel::cost::Machine;
use parallel::error::Error;
use parallel::options::Options;
use parallel::recording::Recording;
use parallel::{paper, picture, replay, session};

/// Numbers of ranks of a replay where no option says otherwise.
const ON_RANKS: [u32; 3] = [800, 1024, 4096];

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(path) = &options.picture {
        let drawn = std::fs::write(path, picture::svg()).map_err(named(path));
        return exit_code(
            "parallel",
            drawn.map(|()| Ended::Complete).map_err(Into::into),
        );
    }
    if let Some(path) = &options.replay {
        return exit_code("parallel", replay(path, &options));
    }
    let launched = ranks::rank();
    if launched.is_none() {
        share_cores(options.ranks());
    }
    let together = launched.map_or(options.ranks(), |_| 1);
    if let Err(why) = options.run.check_memory(together as u64) {
        return exit_code("parallel", Err(why.into()));
    }
    let ranks = Ranks {
        given: options.ranks.map(usize::from),
        otherwise: options.ranks(),
    };
    launch("parallel", launched, ranks, &Command(options))
}

/// Prints how long the recorded blocks take.
fn replay(path: &Path, options: &Options) -> Result<Ended, Box<dyn std::error::Error>> {
    let machine = options.machine.as_deref().expect("clap requires it");
    let machine = Machine::load(machine)?;
    let recording = Recording::load(path)?
        .without_first(options.skip.unwrap_or(0))
        .map_err(named(path))?;
    let on_ranks = options.on_ranks.as_deref().unwrap_or(&ON_RANKS);
    let ranks: Vec<usize> = on_ranks.iter().map(|&p| p as usize).collect();
    let text = replay::document(&recording, &machine, &ranks, options.sums);
    print(&text)?;
    Ok(Ended::Complete)
}

/// What every rank does.
struct Command(Options);

impl Job for Command {
    fn run<C: Communicator>(&self, world: C) -> Result<Ended, RankFailure> {
        self.work(world)
            .map_err(|e| RankFailure::of(e, Error::is_common))
    }
}

impl Command {
    fn work<C: Communicator>(&self, world: C) -> Result<Ended, Box<dyn std::error::Error>> {
        let Self(options) = self;
        interrupt::catch()?;
        options.run.check().map_err(Error::Refused)?;
        let minutes = ("--minutes", options.minutes.is_some());
        check_needed("--report", options.report.is_some(), &[minutes]).map_err(Error::Refused)?;
        // A replay does not come here.
        let of_replay = [
            ("--skip", options.skip.is_some()),
            ("--on-ranks", options.on_ranks.is_some()),
        ];
        check_needed("--replay", false, &of_replay).map_err(Error::Refused)?;
        match options.report {
            Some(_) => paper::report(world, &session::library(&options.run)?, options),
            None => session::run(world, options),
        }
    }
}

/// If the ranks are threads of this process, divides the cores among them: sets `KIRIN_THREADS` to the number of cores
/// for each rank, at least 1, unless the user has set it.
fn share_cores(ranks: usize) {
    let is_set = std::env::var_os("KIRIN_THREADS").is_some_and(|value| !value.is_empty());
    if ranks == 1 || is_set {
        return;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (cores / ranks).max(1).to_string();
    // SAFETY: this process has one thread yet, so nobody else reads the environment.
    unsafe { std::env::set_var("KIRIN_THREADS", threads) };
}
