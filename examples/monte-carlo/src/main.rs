//! The command `monte-carlo`: finds its ranks and runs on all of them.

use std::process::ExitCode;

use clap::Parser;
use kirin_core::process::ranks;
use kirin_kit::command::{Ended, check_needed};
use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::launch::{Job, RankFailure, launch};
use kirin_kit::interrupt;
use monte_carlo::error::Error;
use monte_carlo::model::DEFAULT_N;
use monte_carlo::options::Options;
use monte_carlo::{cross_check, paper, session};

fn main() -> ExitCode {
    let options = Options::parse();
    let ranks = options.ranks.map(usize::from);
    launch("monte-carlo", ranks::rank(), ranks, &Command(options))
}

/// What every rank does.
struct Command(Options);

impl Job for Command {
    fn run<C: Communicator>(&self, world: C) -> Result<Ended, RankFailure> {
        self.work(world)
            .map_err(|e| RankFailure::of(e, |error: &Error| matches!(error, Error::Refused(_))))
    }
}

impl Command {
    fn work<C: Communicator>(&self, world: C) -> Result<Ended, Box<dyn std::error::Error>> {
        let Self(options) = self;
        interrupt::catch()?;
        if options.control.files.frames.is_some() {
            return Err(Error::Refused("--frames: this program draws no film".to_owned()).into());
        }
        let of_report = [
            ("--minutes", options.minutes.is_some()),
            ("--latency", options.network.latency.is_some()),
            ("--bandwidth", options.network.bandwidth.is_some()),
        ];
        check_needed("--report", options.report.is_some(), &of_report).map_err(Error::Refused)?;
        let n = options.start.n.unwrap_or(DEFAULT_N);
        options.binaries.check(n).map_err(Error::Refused)?;
        match options.report {
            Some(_) => paper::report(world, options),
            None if options.cross_check => cross_check::run(world, options),
            None => session::run(world, options),
        }
    }
}
