//! The command `hermite`: reads the options, runs, reports.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use hermite::checkpoint;
use hermite::options::{DEFAULT_N, DEFAULT_SEED, DEFAULT_T_END, Options};
use hermite::output::Report;
use hermite::run::{Ended, Run};
use kirin::client::Grape;
use kirin_kit::progress::Progress;
use kirin_kit::{Snapshot, models, plot};

/// What a shell returns for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(Ended::Complete) => ExitCode::SUCCESS,
        Ok(Ended::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(e) => {
            eprintln!("hermite: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<Ended, Box<dyn Error>> {
    check_files(options)?;
    let grape = Grape::linked_or(options.library.as_deref())?;
    let mut run = begin(options, &grape)?;
    let t_end = options.t_end.unwrap_or(DEFAULT_T_END);
    let start = run.integrator.time();
    if t_end <= start {
        return Err(format!("the run is at t = {start} already: --t-end must be later").into());
    }
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })?;
    let progress = Progress::new("hermite", start, t_end);
    let ended = run.evolve(
        t_end,
        options.interval(t_end - start),
        &|| STOP.load(Ordering::Relaxed),
        &|t| progress.advance(t),
    );
    progress.finish();
    let ended = ended?;
    let time = match ended {
        Ended::Complete => t_end,
        Ended::Interrupted => run.integrator.time(),
    };
    // Before anything that can fail: the snapshot is what cannot be had again.
    if let Some(path) = &options.output {
        checkpoint::save(&run).save(path).map_err(named(path))?;
    }
    let energy = run.energy(time)?;
    let report = Report {
        run: &run,
        t_end,
        time,
        energy,
        ended,
        seed: options.input.is_none().then(|| seed(options)),
        library: grape.name(),
    };
    // A reader that has gone away, such as `head`, misses the table but spoils nothing.
    let _ = write!(std::io::stdout(), "{}", report.table());
    if let Some(path) = &options.json {
        let text = format!("{:#}\n", report.json());
        std::fs::write(path, text).map_err(named(path))?;
    }
    if let Some(path) = &options.plot {
        report.figure().save(path)?;
    }
    Ok(ended)
}

/// A new run, or the one that the input holds.
fn begin<'g>(options: &Options, grape: &'g Grape) -> Result<Run<'g>, Box<dyn Error>> {
    let Some(path) = &options.input else {
        let n = options.n.map_or(Ok(DEFAULT_N), usize::try_from)?;
        let bodies = models::plummer(n, seed(options));
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

fn seed(options: &Options) -> u64 {
    options.seed.unwrap_or(DEFAULT_SEED)
}

/// Finds out before a long run what would go wrong after it.
fn check_files(options: &Options) -> Result<(), String> {
    if let Some(path) = &options.plot {
        plot::check_path(path)?;
    }
    for path in [&options.output, &options.json, &options.plot]
        .into_iter()
        .flatten()
    {
        let folder = path.parent().filter(|p| *p != Path::new(""));
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(format!("{}: there is no such folder", path.display()));
        }
    }
    Ok(())
}

/// Puts the file's name before what is wrong with it.
fn named<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> String {
    move |e| format!("{}: {e}", path.display())
}
