//! The command `symplectic`: reads the options, runs, reports.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::body::check_places;
use kirin_kit::command::{Ended, exit_code, named};
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Log, Run, conduct};
use symplectic::checkpoint;
use symplectic::integrator::Integrator;
use symplectic::options::{DEFAULT_T_END, Options};
use symplectic::output::Report;
use symplectic::settings::Scale;
use symplectic::{paper, picture};

/// Pipelines of kirin, where the user does not set them: large blocks fill vectors and GPUs.
const NPIPES: (&str, &str) = ("KIRIN_NPIPES", "16384");

fn main() -> ExitCode {
    let options = Options::parse();
    choose_arithmetic(&options);
    let result = match options.report {
        Some(_) => paper::report(&options),
        None if !options.draw.is_empty() => draw(&options),
        None => run(&options),
    };
    exit_code("symplectic", result)
}

/// Sets what the library reads of its environment.
fn choose_arithmetic(options: &Options) {
    let mut settings = Vec::new();
    settings.extend(options.precision.map(|precision| precision.settings()));
    settings.extend(std::env::var_os(NPIPES.0).is_none().then_some(NPIPES));
    for (name, value) in settings {
        // SAFETY: this process has one thread yet, so nobody else reads the environment.
        unsafe { std::env::set_var(name, value) };
    }
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
    let mut run = begin(options, &grape, snapshot.as_ref())?;
    drop(snapshot);
    if options.reverse {
        run.integration.reverse();
    }
    let t_end = options
        .control
        .t_end(DEFAULT_T_END, Some(&run.integration.settings().galaxy))?;
    let summary = conduct("symplectic", &mut run, t_end, &options.control)?;
    let report = Report::new(&summary, &run.integration, grape.name());
    // A reader that has gone away, such as `head`, misses the table but spoils nothing.
    let _ = write!(std::io::stdout(), "{}", report.table());
    files.report(|| report.json(), || report.figure())?;
    Ok(summary.ended)
}

/// A new run, or one that starts from the input.
fn begin<'g>(
    options: &Options,
    grape: &'g Grape,
    snapshot: Option<&Snapshot>,
) -> Result<Run<Integrator<'g>>, Box<dyn Error>> {
    let (Some(path), Some(snapshot)) = (&options.control.files.input, snapshot) else {
        let galaxy = options.galaxy.galaxy(None)?;
        let mut bodies = options.start.bodies()?;
        let settings = options.settings(&Scale::of_model(&bodies), galaxy)?;
        settings.validate()?;
        options.galaxy.orbit(&galaxy)?.place(&galaxy, &mut bodies);
        let integrator = Integrator::start(grape, settings, 0.0, &bodies)?;
        return Ok(Run::new(integrator, options.start.log())?);
    };
    let run = match checkpoint::settings(snapshot).map_err(named(path))? {
        Some(saved) => {
            let settings = options.continued(saved)?;
            checkpoint::resume(grape, settings, snapshot)
        }
        None => {
            let galaxy = Galaxy::of(snapshot).map_err(named(path))?;
            let saved = galaxy.known_units().map(|_| galaxy);
            let galaxy = options.galaxy.galaxy(saved)?;
            let settings = options.settings(&Scale::of_bodies(&snapshot.bodies), galaxy)?;
            check_places(&snapshot.bodies, settings.eps).map_err(named(path))?;
            Integrator::start(grape, settings, snapshot.time, &snapshot.bodies)
                .and_then(|integrator| Run::new(integrator, Log::default()))
        }
    };
    Ok(run.map_err(named(path))?)
}

fn draw(options: &Options) -> Result<Ended, Box<dyn Error>> {
    options.control.files.validate()?;
    let figure = picture::draw(&options.draw, options.zoom)?;
    if let Some(path) = &options.control.files.plot {
        figure.save(path)?;
    }
    Ok(Ended::Complete)
}
