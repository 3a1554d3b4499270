//! The command `treecode`: reads the options, runs, reports.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::command::{Ended, exit_code, named};
use kirin_kit::interrupt::{self, interrupted};
use kirin_kit::progress::Progress;
use treecode::forces::Engine;
use treecode::options::{DEFAULT_T_END, Options};
use treecode::output::Report;
use treecode::run::Run;
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
    let files = &options.files;
    files.check()?;
    let grape = Grape::linked_or(options.library.as_deref())?;
    let (engine, library) = if options.host {
        (Engine::Host, "no library")
    } else {
        (Engine::Library(&grape), grape.name())
    };
    let mut run = begin(options, engine)?;
    let t_end = options.t_end.unwrap_or(DEFAULT_T_END);
    let start = run.integrator.time();
    if t_end <= start {
        return Err(format!("the run is at t = {start} already: --t-end must be later").into());
    }
    interrupt::catch()?;
    let progress = Progress::new("treecode", start, t_end);
    let ended = run.evolve(t_end, files.interval(t_end - start), &interrupted, &|t| {
        progress.advance(t);
    });
    progress.finish();
    let ended = ended?;
    // Before anything that can fail: the snapshot is what cannot be had again.
    if let Some(path) = &files.output {
        run.save().save(path).map_err(named(path))?;
    }
    let modelled = files.input.is_none();
    let report = Report {
        run: &run,
        t_end,
        energy: run.integrator.energy(),
        direct_energy_error: run.direct_energy_error(),
        ended,
        model: if modelled {
            options.start.model.unwrap_or_default().title()
        } else {
            "Snapshot"
        },
        seed: modelled.then(|| options.start.seed()),
        library,
    };
    // A reader that has gone away, such as `head`, misses the table but spoils nothing.
    let _ = write!(std::io::stdout(), "{}", report.table());
    files.report(|| report.json(), || report.figure())?;
    Ok(ended)
}

/// A new run, or one that starts from the input.
fn begin<'g>(options: &Options, engine: Engine<'g>) -> Result<Run<'g>, Box<dyn Error>> {
    let (settings, direct) = (options.settings(), options.direct_energy);
    settings.check()?;
    let Some(path) = &options.files.input else {
        let bodies = options.start.bodies()?;
        return Ok(Run::start(engine, settings, 0.0, &bodies, direct)?);
    };
    let snapshot = Snapshot::load(path).map_err(named(path))?;
    let run = Run::resume(engine, settings, &snapshot, direct);
    Ok(run.map_err(named(path))?)
}
