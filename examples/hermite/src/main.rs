//! The command `hermite`: reads the options, runs, reports.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use hermite::checkpoint;
use hermite::options::{DEFAULT_T_END, Options};
use hermite::output::Report;
use hermite::run::Run;
use hermite::thesis;
use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::command::{Ended, exit_code, named};
use kirin_kit::interrupt::{self, interrupted};
use kirin_kit::progress::Progress;

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match options.comparison.report {
        Some(_) if options.worker => thesis::serve(&options),
        Some(_) => thesis::report(&options),
        None => run(&options),
    };
    exit_code("hermite", result)
}

fn run(options: &Options) -> Result<Ended, Box<dyn Error>> {
    let files = &options.files;
    files.check()?;
    let grape = Grape::linked_or(options.library.as_deref())?;
    let mut run = begin(options, &grape)?;
    let t_end = options.t_end.unwrap_or(DEFAULT_T_END);
    let start = run.integrator.time();
    if t_end <= start {
        return Err(format!("the run is at t = {start} already: --t-end must be later").into());
    }
    interrupt::catch()?;
    let progress = Progress::new("hermite", start, t_end);
    let ended = run.evolve(t_end, files.interval(t_end - start), &interrupted, &|t| {
        progress.advance(t)
    });
    progress.finish();
    let ended = ended?;
    let time = match ended {
        Ended::Complete => t_end,
        Ended::Interrupted => run.integrator.time(),
    };
    // Before anything that can fail: the snapshot is what cannot be had again.
    if let Some(path) = &files.output {
        checkpoint::save(&run).save(path).map_err(named(path))?;
    }
    let energy = run.energy(time)?;
    let report = Report {
        run: &run,
        t_end,
        time,
        energy,
        ended,
        seed: files.input.is_none().then(|| options.start.seed()),
        library: grape.name(),
    };
    // A reader that has gone away, such as `head`, misses the table but spoils nothing.
    let _ = write!(std::io::stdout(), "{}", report.table());
    files.report(|| report.json(), || report.figure())?;
    Ok(ended)
}

/// A new run, or the one that the input holds.
fn begin<'g>(options: &Options, grape: &'g Grape) -> Result<Run<'g>, Box<dyn Error>> {
    let Some(path) = &options.files.input else {
        let bodies = options.start.bodies()?;
        return Ok(Run::start(grape, options.settings(None)?, 0.0, bodies)?);
    };
    let snapshot = Snapshot::load(path).map_err(named(path))?;
    let saved = checkpoint::settings(&snapshot).map_err(named(path))?;
    let settings = options.settings(saved)?;
    let run = if saved.is_some() {
        checkpoint::resume(grape, snapshot)
    } else {
        Run::start(grape, settings, snapshot.time, snapshot.bodies)
    };
    Ok(run.map_err(named(path))?)
}
