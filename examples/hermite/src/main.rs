//! The command `hermite`: reads the options, runs, reports.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use hermite::checkpoint;
use hermite::integrator::Integrator;
use hermite::options::Options;
use hermite::output::Report;
use hermite::thesis;
use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::command::{Ended, exit_code, named};
use kirin_kit::run::{Log, Run, conduct};

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
    let files = &options.run.files;
    files.validate()?;
    let grape = Grape::linked_or(options.run.library.as_deref())?;
    let mut run = begin(options, &grape)?;
    let t_end = options.run.t_end();
    let summary = conduct("hermite", &mut run, t_end, files)?;
    let report = Report::new(&summary, &run.integration, grape.name());
    // A reader that has gone away, such as `head`, misses the table but spoils nothing.
    let _ = write!(std::io::stdout(), "{}", report.table());
    files.report(|| report.json(), || report.figure())?;
    Ok(summary.ended)
}

/// A new run, or the one that the input holds.
fn begin<'g>(options: &Options, grape: &'g Grape) -> Result<Run<Integrator<'g>>, Box<dyn Error>> {
    let Some(path) = &options.run.files.input else {
        let settings = options.run.settings(None)?;
        let bodies = options.run.bodies(&settings.galaxy)?;
        let integrator = Integrator::start(grape, settings, 0.0, bodies)?;
        return Ok(Run::new(integrator, options.run.start.log())?);
    };
    let snapshot = Snapshot::load(path).map_err(named(path))?;
    let saved = checkpoint::settings(&snapshot).map_err(named(path))?;
    let mut settings = options.run.settings(saved)?;
    let run = if saved.is_some() {
        checkpoint::resume(grape, settings, snapshot)
    } else {
        settings.galaxy = options.run.galaxy_of(&snapshot).map_err(named(path))?;
        Integrator::start(grape, settings, snapshot.time, snapshot.bodies)
            .and_then(|integrator| Run::new(integrator, Log::default()))
    };
    Ok(run.map_err(named(path))?)
}
