//! The command `hermite`: reads the options, runs, reports.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use hermite::checkpoint;
use hermite::error::Error as HermiteError;
use hermite::integrator::Integrator;
use hermite::options::{Options, RunOptions};
use hermite::output::Report;
use hermite::sources::Library;
use hermite::thesis;
use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::body::{check_bodies, check_places};
use kirin_kit::command::{Ended, exit_code, named, print, tell};
use kirin_kit::interrupt;
use kirin_kit::run::{Log, Run, conduct};

fn main() -> ExitCode {
    exit_code("hermite", begin_with(&Options::parse()))
}

fn begin_with(options: &Options) -> Result<Ended, Box<dyn Error>> {
    let comparison = &options.comparison;
    comparison.limits.check(comparison.report.is_some())?;
    options.run.check()?;
    match comparison.report {
        Some(_) if options.worker => thesis::serve(options),
        Some(_) => thesis::report(options),
        None => run(options),
    }
}

fn run(options: &Options) -> Result<Ended, Box<dyn Error>> {
    // The time of --stop-after begins here.
    interrupt::catch()?;
    let mut options = options.run.clone();
    let units = |found| options.galaxy.units_or(found);
    let snapshot = options.control.files.read(units)?;
    if let Some(snapshot) = &snapshot {
        options.control = options.control.or_told(snapshot)?;
    }
    let files = &options.control.files;
    let _claim = files.claim()?;
    options.check_memory(1)?;
    let grape = Grape::linked_or(options.library())?;
    let (mut run, t_end) = match snapshot {
        Some(snapshot) => {
            let path = files.input.as_deref().unwrap_or(Path::new(""));
            snapshot.tell_remark("hermite", path);
            from(&options, &grape, snapshot).map_err(named(path))?
        }
        None => begin(&options, &grape)?,
    };
    let summary = conduct("hermite", &mut run, t_end, &options.control)?;
    let report = Report::new(&summary, &run.integration, grape.name());
    let printed = print(&report.table().to_string());
    files.report(|| report.json(), || report.figure())?;
    printed?;
    Ok(summary.ended)
}

/// A run, and the time at which it ends.
type Begun<'g> = (Run<Integrator<Library<'g>>>, f64);

/// A new run of a model.
fn begin<'g>(options: &RunOptions, grape: &'g Grape) -> Result<Begun<'g>, HermiteError> {
    let settings = options.settings(None)?;
    let t_end = options.t_end(&settings.galaxy, 0.0)?;
    let bodies = options.bodies(&settings.galaxy)?;
    for remark in options.remarks(&settings) {
        tell(&format!("hermite: {remark}"));
    }
    check_places(&bodies, settings.eps)?;
    let integrator = Integrator::start(grape, settings, 0.0, bodies)?;
    Ok((Run::new(integrator, options.start.log())?, t_end))
}

/// The run that `snapshot` holds, or a new one from its bodies.
fn from<'g>(
    options: &RunOptions,
    grape: &'g Grape,
    mut snapshot: Snapshot,
) -> Result<Begun<'g>, HermiteError> {
    if let Some(saved) = checkpoint::settings(&snapshot)? {
        let settings = options.settings(Some(saved))?;
        let t_end = options.t_end(&settings.galaxy, snapshot.time)?;
        let (integrator, log) = checkpoint::resume(Library::open(grape)?, settings, snapshot)?;
        return Ok((Run::new(integrator, log)?, t_end));
    }
    let (settings, remark) = options.settings_of(&snapshot)?;
    if let Some(remark) = remark {
        tell(&format!("hermite: {remark}"));
    }
    check_bodies(&snapshot.bodies, settings.eps, &settings.galaxy)?;
    let time = options.place(&settings, &mut snapshot)?;
    let t_end = options.t_end(&settings.galaxy, time)?;
    let integrator = Integrator::start(grape, settings, time, snapshot.bodies)?;
    Ok((Run::new(integrator, Log::default())?, t_end))
}
