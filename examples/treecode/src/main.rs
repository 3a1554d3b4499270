//! The command `treecode`: reads the options, runs, reports.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::body::check_places;
use kirin_kit::command::{Ended, exit_code, named};
use kirin_kit::diagnostics::Energy;
use kirin_kit::run::{Run, conduct};
use treecode::checkpoint;
use treecode::forces::Engine;
use treecode::integrator::Integrator;
use treecode::options::{DEFAULT_T_END, Options};
use treecode::output::Report;
use treecode::thesis;

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match options.comparison.report {
        Some(_) => thesis::report(&options),
        None => run(&options),
    };
    exit_code("treecode", result)
}

fn run(options: &Options) -> Result<Ended, Box<dyn Error>> {
    let snapshot = match &options.control.files.input {
        Some(path) => Some(Snapshot::load(path).map_err(named(path))?),
        None => None,
    };
    let options = &match &snapshot {
        Some(snapshot) => options.or_told(snapshot)?,
        None => options.clone(),
    };
    let files = &options.control.files;
    let _claim = files.claim()?;
    options.check_memory()?;
    let grape = Grape::linked_or(options.library.as_deref())?;
    let (engine, library) = if options.host {
        (Engine::Host, "no library")
    } else {
        (Engine::Library(&grape), grape.name())
    };
    let mut run = begin(options, engine, snapshot.as_ref())?;
    drop(snapshot);
    let direct_energy = |run: &Run<Integrator<'_>>| {
        let eps = run.integration.settings().eps;
        Energy::of(&run.integration.bodies(), eps * eps)
    };
    let direct0 = options.direct_energy.then(|| direct_energy(&run).total());
    let summary = conduct(
        "treecode",
        &mut run,
        options.control.t_end(DEFAULT_T_END, None)?,
        &options.control,
    )?;
    let direct_error = direct0.map(|energy0| direct_energy(&run).error(energy0));
    let report = Report::new(&summary, &run.integration, library, direct_error);
    // A reader that has gone away, such as `head`, misses the table but spoils nothing.
    let _ = write!(std::io::stdout(), "{}", report.table());
    files.report(|| report.json(), || report.figure())?;
    Ok(summary.ended)
}

/// A new run, or one that starts from the input.
fn begin<'g>(
    options: &Options,
    engine: Engine<'g>,
    snapshot: Option<&Snapshot>,
) -> Result<Run<Integrator<'g>>, Box<dyn Error>> {
    let (Some(path), Some(snapshot)) = (&options.control.files.input, snapshot) else {
        let settings = options.settings(None);
        settings.validate()?;
        let bodies = options.start.bodies()?;
        let integrator = Integrator::start(engine, settings, 0.0, &bodies)?;
        return Ok(Run::new(integrator, options.start.log())?);
    };
    let settings = options.settings(checkpoint::settings(snapshot).map_err(named(path))?);
    settings.validate()?;
    check_places(&snapshot.bodies, settings.eps).map_err(named(path))?;
    let run = checkpoint::resume(engine, settings, snapshot);
    Ok(run.map_err(named(path))?)
}
