//! One run by all ranks, from the command line to the summary.

use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::body::check_bodies;
use kirin_kit::claim::Claim;
use kirin_kit::command::{Ended, named, print, tell};
use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::checkpoint::{first_error, load};
use kirin_kit::communicator::launch::{made_on_first, read_file};
use kirin_kit::diagnostics::Energy;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Integration, Run, check_end, conduct};
use kirin_kit::snapshot::parts::{self, Manifest};

use crate::checkpoint;
use crate::error::Error;
use crate::forces::Engine;
use crate::integrator::{Integrator, Origin};
use crate::options::{DEFAULT_T_END, Options};
use crate::output::Report;
use crate::settings::Settings;

/// Runs what the options ask for on the ranks of `world`; rank 0 reads and writes all files.
///
/// # Errors
///
/// An option or a file that makes no sense; the library fails; a rank is lost.
pub fn run<C: Communicator>(
    world: C,
    options: &Options,
) -> Result<Ended, Box<dyn std::error::Error>> {
    let snapshot = input(&world, options)?;
    let options = &match &snapshot {
        Some(snapshot) => options.or_told(snapshot).map_err(Error::Refused)?,
        None => options.clone(),
    };
    let files = &options.control.files;
    // A run that goes on from parts writes parts.
    let is_of_parts = |snapshot: &Snapshot| snapshot.value(parts::N).is_some();
    let in_parts = options.parts || snapshot.as_ref().is_some_and(is_of_parts);
    if in_parts {
        parts::check_output(files.output.as_deref(), options.parts).map_err(Error::Refused)?;
    }
    let _claim = made_on_first(&world, || files.claim())?.map_err(Error::Refused)?;
    options.check_memory().map_err(Error::Refused)?;
    let grape = Grape::linked_or(options.control.own.library())
        .map_err(|e| Error::Refused(e.to_string()))?;
    let (engine, library) = match options.control.own.host {
        true => (Engine::Host, "no library"),
        false => (Engine::Library(&grape), grape.name()),
    };
    let mut run = begin(world, options, engine, snapshot)?;
    run.integration.write_in_parts(in_parts);
    let galaxy = run.integration.settings().galaxy;
    let t_end = options.control.t_end(DEFAULT_T_END, Some(&galaxy))?;
    if run.integration.rank().1 > 1 {
        check(&run, t_end, options)?;
    }
    let since = run.integration.time();
    let direct0 = direct_energy(&run, options)?;
    let summary = conduct("treecode", &mut run, t_end, &options.control)?;
    let direct = direct_energy(&run, options)?;
    let direct_error = direct0
        .zip(direct)
        .map(|(e0, e)| (e.error(e0.total()), since));
    let report = Report::new(&summary, &run.integration, library, direct_error)?;
    if run.integration.rank().0 == 0 {
        let printed = print(&report.table().to_string());
        files.report(|| report.json(), || report.figure())?;
        printed?;
    }
    Ok(summary.ended)
}

/// The snapshot that the run starts from: the same on all ranks. If its bodies are in parts, it has none.
fn input<C: Communicator>(world: &C, options: &Options) -> Result<Option<Snapshot>, Error> {
    let Some(path) = &options.control.files.input else {
        return Ok(None);
    };
    let text = read_file(world, path)?.map_err(Error::Refused)?;
    let refuse = |why: String| Error::Refused(named(path)(why));
    let mut snapshot = Snapshot::parse(&text).map_err(|e| refuse(e.to_string()))?;
    let units = |found| options.units.units.unwrap_or(found);
    let brought = options.control.files.bring_to_units(&mut snapshot, units);
    brought.map_err(refuse)?;
    Ok(Some(snapshot))
}

/// What [`conduct`] refuses on one rank: here all ranks have to find it.
fn check<C: Communicator>(
    run: &Run<Integrator<'_, C>>,
    t_end: f64,
    options: &Options,
) -> Result<(), Error> {
    let time = run.integration.time();
    check_end(time, t_end).map_err(Error::Refused)?;
    let world = &run.integration.forces().ranks().world;
    let (n, log) = (run.integration.count(), run.log());
    let files = &options.control.files;
    let checked = made_on_first(world, || {
        files
            .check_replaced(n, (time, t_end), run.integration.galaxy(), &log)
            .map(|()| Claim::default())
    });
    checked?.map(drop).map_err(Error::Refused)
}

/// The energy over all pairs, where it is wanted; on rank 0.
fn direct_energy<C: Communicator>(
    run: &Run<Integrator<'_, C>>,
    options: &Options,
) -> Result<Option<Energy>, Error> {
    if !options.direct_energy {
        return Ok(None);
    }
    let eps = run.integration.settings().eps;
    Ok(Some(Energy::of(&run.integration.bodies()?, eps * eps)))
}

/// Refuses to end the softening of a run in parts: no rank sees all bodies, of which two may be at one place.
fn check_softening(snapshot: &Snapshot, settings: &Settings) -> Result<(), String> {
    let saved = checkpoint::settings(snapshot).map_err(|e| e.to_string())?;
    match settings.eps == 0.0 && saved.is_none_or(|saved| saved.eps > 0.0) {
        true => Err("--eps 0: bodies in parts need the softening that they had".to_owned()),
        false => Ok(()),
    }
}

/// A new run, or one that starts from the input.
fn begin<'g, C: Communicator>(
    world: C,
    options: &Options,
    engine: Engine<'g>,
    snapshot: Option<Snapshot>,
) -> Result<Run<Integrator<'g, C>>, Box<dyn std::error::Error>> {
    let (Some(path), Some(mut snapshot)) = (&options.control.files.input, snapshot) else {
        let settings = options.settings(None)?;
        settings.validate()?;
        let remark = options.start.remark(settings.galaxy.known_units().as_ref());
        if let Some(remark) = remark.filter(|_| world.rank() == 0) {
            tell(&format!("treecode: {remark}"));
        }
        // The first sort divides the bodies among the ranks.
        let bodies = match world.rank() {
            0 => options.start.bodies().map_err(Error::Refused),
            _ => Ok(Vec::new()),
        };
        let why = bodies.as_ref().err().map(ToString::to_string);
        made_on_first(&world, || why.map_or(Ok(()), Err))?.map_err(Error::Refused)?;
        let origin = Origin::new(0.0, bodies.as_deref().unwrap_or_default());
        let integrator = Integrator::begin(world, engine, settings, &origin)?;
        return Ok(Run::new(integrator, options.start.log())?);
    };
    let refuse = |e: Error| match e {
        // A rank that is lost is no fault of the file.
        Error::Communication(e) => Error::Communication(e),
        other => Error::Refused(named(path)(other)),
    };
    snapshot.tell_remark("treecode", path);
    match Galaxy::is_in(&snapshot) {
        Ok(false) => {}
        Ok(true) => {
            return Err(refuse(Error::Refused(
                "its bodies move in the field of a galaxy or a black hole, which treecode does not have: hermite, parallel and symplectic do"
                    .to_owned(),
            ))
            .into());
        }
        Err(why) => return Err(refuse(Error::Refused(why)).into()),
    }
    let settings = options.settings(Some(&snapshot)).map_err(refuse)?;
    settings.validate()?;
    let is_told =
        options.eps.is_none() && options.softening_of(&snapshot).map_err(refuse)?.is_some();
    if is_told && world.rank() == 0 {
        tell(&format!(
            "treecode: softening {}, which is the input's",
            settings.eps
        ));
    }
    let named = |why: String| Error::Refused(named(path)(why));
    let manifest = Manifest::of(&snapshot).map_err(named)?;
    match &manifest {
        Some(manifest) => {
            check_softening(&snapshot, &settings).map_err(named)?;
            let (bodies, states) = load(&world, path, manifest)?.map_err(Error::Refused)?;
            (snapshot.bodies, snapshot.states) = (bodies, Some(states));
            // Each rank sees its own share only.
            first_error(&world, snapshot.check_one_time())?.map_err(named)?;
        }
        None => check_bodies(&snapshot.bodies, settings.eps, &settings.galaxy).map_err(named)?,
    }
    let is_in_parts = manifest.is_some();
    let run = checkpoint::resume(world, engine, settings, &snapshot, is_in_parts);
    Ok(run.map_err(refuse)?)
}
