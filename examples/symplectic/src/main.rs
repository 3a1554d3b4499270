//! The command `symplectic`: reads the options, runs, reports.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::body::check_bodies;
use kirin_kit::command::{Ended, check_needed, exit_code, named, print, tell};
use kirin_kit::galaxy::{Galaxy, GalaxyOptions};
use kirin_kit::interrupt;
use kirin_kit::number::fraction;
use kirin_kit::run::{Integration, Log, Run, conduct};
use symplectic::checkpoint;
use symplectic::integrator::Integrator;
use symplectic::options::{DEFAULT_T_END, Options};
use symplectic::output::Report;
use symplectic::resident::Pairs;
use symplectic::settings::{Scale, Settings};
use symplectic::{paper, picture, stars};

/// Pipelines of kirin, where the user does not set them: large blocks fill vectors and GPUs.
const NPIPES: (&str, &str) = ("KIRIN_NPIPES", "16384");

/// So many steps take days, however few stars there are.
const MANY_STEPS: f64 = 1e9;

/// More threads than this are no number that anybody means.
const MOST_THREADS: usize = 4096;

fn main() -> ExitCode {
    interrupt::begin();
    exit_code("symplectic", begin_with(Options::parse()))
}

/// Reads the input first: the run in it may tell the arithmetic of the library.
fn begin_with(mut options: Options) -> Result<Ended, Box<dyn Error>> {
    let units = |found| options.galaxy.units_or(found);
    let snapshot = options.control.files.read(units)?;
    if let Some(snapshot) = &snapshot {
        options.control = options.control.or_told(snapshot)?;
    }
    let has_input = options.control.files.input.is_some();
    check_needed("--input", has_input, &[("--reverse", options.reverse)])?;
    let draws = !options.draw.is_empty();
    check_needed("--draw", draws, &[("--zoom", options.zoom.is_some())])?;
    options.limits.check(options.report.is_some())?;
    let uncentred = options.settings.all.uncentred;
    options.control.own.validate(uncentred)?;
    let files = &options.control.files;
    let is_in_place = files.output.is_some() && files.replaced().is_none() && !files.force;
    if options.reverse && is_in_place {
        return Err(
            "--reverse needs another --output: the run back would replace its --input".into(),
        );
    }
    choose_arithmetic(&options);
    choose_threads();
    match options.report {
        Some(_) => paper::report(&options),
        None if !options.draw.is_empty() => draw(&options),
        None => run(&options, snapshot),
    }
}

/// Sets what the library reads of its environment.
fn choose_arithmetic(options: &Options) {
    let mut settings = Vec::new();
    settings.extend(
        options
            .control
            .own
            .precision
            .map(|precision| precision.settings()),
    );
    let is_set = std::env::var_os(NPIPES.0).is_some_and(|value| !value.is_empty());
    settings.extend((!is_set).then_some(NPIPES));
    for (name, value) in settings {
        // SAFETY: this process has one thread yet, so nobody else reads the environment.
        unsafe { std::env::set_var(name, value) };
    }
}

/// Kicks, drifts and the galaxy take as many threads as the library: those of `KIRIN_THREADS`, where that says a number.
fn choose_threads() {
    let set = std::env::var("KIRIN_THREADS").ok();
    let threads: Option<usize> = set.and_then(|text| text.trim().parse().ok());
    if let Some(threads) = threads.filter(|n| (1..=MOST_THREADS).contains(n)) {
        // Only fails where there are threads already.
        let _ = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global();
    }
}

fn run(options: &Options, snapshot: Option<Snapshot>) -> Result<Ended, Box<dyn Error>> {
    interrupt::catch()?;
    let files = &options.control.files;
    let own = &options.control.own;
    let _claim = files.claim_with(own.stars.as_ref())?;
    options.check_memory()?;
    let precision = snapshot
        .as_ref()
        .and_then(|s| s.value(checkpoint::PRECISION).map(str::to_owned));
    let grape = Grape::linked_or(own.library.path())?;
    let mut run = begin(options, &grape, snapshot)?;
    run.integration.use_pairs(own.pairs.unwrap_or_default())?;
    if let (Some(was), (_, now)) = (precision, run.integration.description())
        && was != now
    {
        tell(&format!(
            "symplectic: the run goes on in {now} precision; so far it was {was}"
        ));
    }
    run.integration.use_device(options.device)?;
    if options.reverse && run.integration.settings().galaxy.changes() {
        return Err("--reverse: the galaxy changes with time, which cannot be turned round".into());
    }
    if options.reverse {
        run.integration.reverse()?;
    }
    let galaxy = &run.integration.settings().galaxy;
    if own.stars.is_some() && galaxy.known_units().is_none() {
        return Err("--stars needs a --galaxy: bodies without units are nowhere on the sky".into());
    }
    if own.spray && galaxy.is_none() {
        return Err("--spray needs a --galaxy".into());
    }
    let t_end = options.galaxy.t_end(
        &options.control,
        DEFAULT_T_END,
        &run.integration.settings().galaxy,
    )?;
    check_steps(&run, options, t_end)?;
    let summary = conduct("symplectic", &mut run, t_end, &options.control)?;
    let settings = run.integration.settings();
    if let Some(path) = &own.stars {
        let (sun, bound) = (own.sun.unwrap_or_default(), &summary.sight.bound);
        let bodies = run.integration.bodies();
        stars::write(path, &bodies, bound, &settings.galaxy, summary.time, &sun)?;
    }
    let library = match run.integration.pairs() {
        Pairs::Library => grape.name(),
        Pairs::Program => "symplectic's own pairs",
    };
    let report = Report::new(&summary, &run.integration, library, own.spray);
    let printed = print(&report.table().to_string());
    files.report(|| report.json(), || report.figure())?;
    printed?;
    Ok(summary.ended)
}

/// A new run, or one that starts from the input. Its energy at the start is by the pairs that the options choose.
fn begin<'g>(
    options: &Options,
    grape: &'g Grape,
    snapshot: Option<Snapshot>,
) -> Result<Run<Integrator<'g>>, Box<dyn Error>> {
    let pairs = options.control.own.pairs.unwrap_or_default();
    let (Some(path), Some(mut snapshot)) = (&options.control.files.input, snapshot) else {
        let galaxy = options.galaxy.galaxy(None)?;
        let mut bodies = options.start.bodies()?;
        let settings = options.settings(&Scale::of_model(&bodies), galaxy, None)?;
        settings.validate()?;
        let masses = options.start.mass_function.unwrap_or_default();
        let units = galaxy.known_units();
        if let Some(remark) = masses.remark(bodies.len() as u64, units.as_ref()) {
            tell(&format!("symplectic: {remark}"));
        }
        options.galaxy.orbit(&galaxy)?.place(&galaxy, &mut bodies);
        let mut integrator = Integrator::start(grape, settings, 0.0, &bodies)?;
        integrator.use_pairs(pairs)?;
        return Ok(Run::new(integrator, options.start.log())?);
    };
    snapshot.tell_remark("symplectic", path);
    let run = match checkpoint::settings(&snapshot).map_err(named(path))? {
        Some(saved) => {
            let settings = options.continued(saved, &snapshot.bodies)?;
            let own = &options.control.own;
            own.validate(settings.uncentred).map_err(named(path))?;
            if settings.changeover != saved.changeover && options.changeover.is_none() {
                tell(&format!(
                    "symplectic: the changeover radii are those of the new step: {}, {}",
                    settings.changeover.stars, settings.changeover.hole
                ));
            }
            checkpoint::resume(grape, settings, &snapshot)
        }
        None => {
            let galaxy = options.galaxy.galaxy_of(&snapshot).map_err(named(path))?;
            let known = snapshot.softening().map_err(named(path))?;
            let in_field = Galaxy::is_in(&snapshot).map_err(named(path))?;
            let scale = Scale::of_input(&snapshot.bodies, known.unwrap_or(0.0), in_field);
            let settings = options.settings(&scale, galaxy, known)?;
            settings.validate()?;
            if options.eps.is_none() || options.dt.is_none() {
                let (eps, dt) = (settings.eps, fraction(settings.dt));
                let whose = match (known, options.eps) {
                    (Some(_), None) => ", which is the input's,",
                    _ => "",
                };
                tell(&format!("symplectic: softening {eps}{whose} and step {dt}"));
            }
            check_bodies(&snapshot.bodies, settings.eps, &galaxy).map_err(named(path))?;
            let place = options.galaxy.place(&galaxy, &mut snapshot, settings.eps);
            let time = place.map_err(named(path))?;
            Integrator::start(grape, settings, time, &snapshot.bodies).and_then(|mut integrator| {
                integrator.use_pairs(pairs)?;
                Run::new(integrator, Log::default())
            })
        }
    };
    Ok(run.map_err(named(path))?)
}

/// Tells of steps that do not fit the run from its present time to `t_end`.
///
/// # Errors
///
/// They are so long that none would be taken, and no option has asked for them; in words.
fn check_steps(run: &Run<Integrator>, options: &Options, t_end: f64) -> Result<(), String> {
    let (time, Settings { eps, dt, .. }) = (run.integration.time(), *run.integration.settings());
    let steps = (t_end - time) / dt;
    if steps > MANY_STEPS {
        tell(&format!(
            "symplectic: this run takes {steps:.1e} steps of {dt:.1e}: a longer --dt or a larger --eps takes fewer"
        ));
    }
    if 0.0 < steps && steps < 1.0 - 1e-9 {
        let what = match run.integration.next_time(t_end) {
            Some(_) => "it is cut to that",
            None if options.dt.is_some() => "none is taken",
            None => {
                return Err(format!(
                    "the softening {eps} takes steps of {dt}, and none fits into the run from t = {time} to {t_end}: a smaller \
                     --eps or a --dt helps"
                ));
            }
        };
        tell(&format!(
            "symplectic: the step {dt} is longer than the run from t = {time} to {t_end}: {what}"
        ));
    }
    Ok(())
}

fn draw(options: &Options) -> Result<Ended, Box<dyn Error>> {
    options.control.files.validate()?;
    if options.galaxy != GalaxyOptions::default() || options.control.files.physical {
        return Err("--draw takes galaxy and units from the snapshots".into());
    }
    let figure = picture::draw(&options.draw, options.zoom)?;
    if let Some(path) = &options.control.files.plot {
        figure.save_close(path)?;
    }
    Ok(Ended::Complete)
}
