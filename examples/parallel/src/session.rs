//! One run by all ranks, from the command line to the summary.

use std::path::Path;

use hermite::checkpoint;
use hermite::counts::Counts;
use hermite::options::RunOptions;
use hermite::settings::Settings;
use kirin::client::Grape;
use kirin_core::process::ranks;
use kirin_kit::body::{check_bodies, check_places};
use kirin_kit::claim::Claim;
use kirin_kit::command::{Ended, named, print, tell};
use kirin_kit::communicator::agreement::{Fact, compare};
use kirin_kit::communicator::launch::{made_on_first, read_file};
use kirin_kit::communicator::{Communicator, Counted};
use kirin_kit::run::{Integration, Log, Run, conduct};
use kirin_kit::snapshot::State;
use kirin_kit::snapshot::parts::{self, Manifest, record};
use kirin_kit::{Body, Snapshot};
use kirin_report::machine::cores;

use crate::cost::{self, Costs, Machine, Workload};
use crate::error::Error;
use crate::grid::Grid;
use crate::integrator::{Integrator, Source};
use crate::j_particles::JParticles;
use crate::machine::{Algorithm, Arrangement, Node};
use crate::measure;
use crate::options::Options;
use crate::output::{Report, Work};
use crate::replicated::Replicated;
use crate::shared_sources::SharedSources;

/// Where a run begins: the same on every rank.
struct Start {
    settings: Settings,
    time: f64,
    /// All particles; none where they are in parts.
    bodies: Vec<Body>,
    /// Number of particles.
    n: usize,
    /// For a run that goes on: what has been done, and the states that it left.
    past: Option<(Saved, Counts)>,
    log: Log,
}

/// The states that a run left.
enum Saved {
    /// Of all particles.
    All(Vec<State>),
    /// In parts, with the particles.
    Parts(Manifest),
    /// With the regularized systems: all that was saved.
    Systems(Box<Snapshot>),
}

impl Start {
    /// Whether the particles are in parts.
    fn is_in_parts(&self) -> bool {
        matches!(self.past, Some((Saved::Parts(_), _)))
    }

    /// Checks that the bodies of a new run can be integrated with its softening; in words.
    fn check_new(&self, input: Option<&Path>) -> Result<(), String> {
        if self.past.is_some() {
            return Ok(());
        }
        let Settings { eps, galaxy, .. } = &self.settings;
        match input {
            Some(path) => check_bodies(&self.bodies, *eps, galaxy).map_err(named(path)),
            None => check_places(&self.bodies, *eps),
        }
    }

    /// What must be the same on all ranks: how the run begins, and a checksum of the bodies.
    fn facts(&self) -> Vec<Fact> {
        let mut sum = crc32fast::Hasher::new();
        let states = match &self.past {
            Some((Saved::All(states), _)) => &states[..],
            Some((Saved::Systems(saved), _)) => saved.states.as_deref().unwrap_or(&[]),
            _ => &[],
        };
        let nothing = State::default();
        for (i, body) in self.bodies.iter().enumerate() {
            let numbers = record(body, states.get(i).unwrap_or(&nothing));
            numbers.iter().for_each(|x| sum.update(&x.to_le_bytes()));
        }
        let bodies = format!("{} bodies, CRC-32 {:08x}", self.n, sum.finalize());
        vec![
            ("the settings", format!("{:?}", self.settings)),
            ("the bodies", bodies),
        ]
    }
}

/// Runs what the options ask for on the ranks of `world`; rank 0 writes the files and the summary.
///
/// # Errors
///
/// An option or a file that makes no sense; the library fails; a rank is lost.
pub fn run<C: Communicator>(
    world: C,
    options: &Options,
) -> Result<Ended, Box<dyn std::error::Error>> {
    let world = Counted::new(world);
    let refuse = Error::Refused;
    let (start, told) = begin(&world, options)?;
    let files = &told.control.files;
    let first = |make: &dyn Fn() -> Result<Claim, String>| -> Result<Claim, Error> {
        made_on_first(&world, make)?.map_err(refuse)
    };
    start.check_new(files.input.as_deref()).map_err(refuse)?;
    let in_parts = options.parts || start.is_in_parts();
    if in_parts {
        parts::check_output(files.output.as_deref(), options.parts).map_err(refuse)?;
    }
    let _claim = first(&|| files.claim_with(options.record_blocks.as_ref()))?;
    let galaxy = &start.settings.galaxy;
    let t_end = told.t_end(galaxy, start.time).map_err(refuse)?;
    first(&|| {
        files
            .check_replaced(start.n, (start.time, t_end), Some(galaxy), &start.log)
            .map(|()| Claim::default())
    })?;
    let grape = &library(&told)?;
    let precision = std::env::var("KIRIN_PRECISION").unwrap_or_default();
    if precision.eq_ignore_ascii_case("adaptive") && world.rank() == 0 {
        tell(
            "parallel: KIRIN_PRECISION=adaptive is auto here: no rank may change its precision on its own",
        );
    }
    check_ranks(&world, grape, options, &start)?;
    let plan = plan(&world, grape, options, start.n)?;
    let input = files.input.as_deref();
    if start.settings.regularize > 0.0 {
        let machine = Node::new(world, grape, plan, start.n, start.settings.eps)?;
        let (integrator, log) = replicated(machine, start).map_err(|e| common(e, input))?;
        let run = Run::new(Replicated::new(integrator), log)?;
        return finish(run, t_end, &told, grape, Replicated::work);
    }
    let (bodies, log) = (&start.bodies, start.log);
    let integrator = match start.past {
        None => Integrator::start(world, grape, plan, start.settings, start.time, bodies),
        Some((saved, counts)) => {
            let present = match (&saved, input) {
                (Saved::Parts(manifest), Some(path)) => Source::Parts(path, manifest),
                (Saved::All(states), _) => Source::All(bodies, states),
                _ => unreachable!("parts come from an input, and systems are regularized"),
            };
            Integrator::resume(
                world,
                grape,
                plan,
                start.settings,
                start.time,
                present,
                counts,
            )
        }
    };
    let mut integrator = integrator.map_err(|e| common(e, input))?;
    integrator.write_in_parts(in_parts);
    if let Some(path) = &options.record_blocks {
        integrator.record_blocks(path)?;
    }
    let run = Run::new(integrator, log)?;
    finish(run, t_end, &told, grape, Integrator::work)
}

/// The integration with regularized systems that begins or goes on, and what had happened.
fn replicated<'g, C: Communicator>(
    machine: Node<'g, C>,
    start: Start,
) -> Result<(hermite::integrator::Integrator<SharedSources<'g, C>>, Log), Error> {
    let sources = SharedSources::new(machine);
    Ok(match start.past {
        Some((Saved::Systems(saved), _)) => checkpoint::resume(sources, start.settings, *saved)?,
        _ => {
            let Start {
                settings,
                time,
                bodies,
                log,
                ..
            } = start;
            let new = hermite::integrator::Integrator::new(sources, settings, time, bodies)?;
            (new, log)
        }
    })
}

/// Takes the run to its end, and reports.
fn finish<'g, C: Communicator, I: Integration>(
    mut run: Run<I>,
    t_end: f64,
    told: &RunOptions,
    grape: &Grape,
    work: impl for<'a> Fn(&'a I) -> Work<'a, 'g, C>,
) -> Result<Ended, Box<dyn std::error::Error>> {
    let summary = conduct("parallel", &mut run, t_end, &told.control)?;
    let report = Report::new(&summary, &work(&run.integration), grape.name())?;
    if run.integration.rank().0 == 0 {
        let printed = print(&report.table().to_string());
        let files = &told.control.files;
        files.report(|| report.json(), || report.figure())?;
        printed?;
    }
    Ok(summary.ended)
}

/// The library of a run with these options.
///
/// # Errors
///
/// There is no such library.
pub fn library(options: &RunOptions) -> Result<Grape, Error> {
    Grape::linked_or(options.library()).map_err(|e| Error::Refused(e.to_string()))
}

/// An error in settings or bodies. Every rank finds it by itself, as all look at the same.
fn common(error: Error, input: Option<&Path>) -> Error {
    match (error, input) {
        (Error::Integration(hermite::error::Error::Refused(why)), Some(path)) => {
            Error::Refused(named(path)(why))
        }
        (Error::Integration(hermite::error::Error::Refused(why)), None) => Error::Refused(why),
        (other, _) => other,
    }
}

/// Refuses to start if a rank has other settings, bodies, library, backend or precision than the others, because the
/// bits would not be those of one rank. With --unlike-ranks a difference of library, backend or precision is only
/// reported.
fn check_ranks<C: Communicator>(
    world: &C,
    grape: &Grape,
    options: &Options,
    start: &Start,
) -> Result<(), Error> {
    if let Some(differences) = compare(world, &start.facts())? {
        return Err(Error::Refused(differences));
    }
    let (backend, precision) = JParticles::expected(grape, world.rank(), start.n)?;
    let facts = [
        ("the library", grape.name().to_owned()),
        ("the backend", without_numbers(&backend)),
        ("the precision", precision),
    ];
    match compare(world, &facts)? {
        None => Ok(()),
        Some(differences) if options.unlike_ranks => {
            if world.rank() == 0 {
                tell(&format!(
                    "parallel: {differences}: the bits depend on the grid"
                ));
            }
            Ok(())
        }
        Some(differences) => Err(Error::Refused(format!(
            "{differences}: the bits would depend on the grid; --unlike-ranks goes on all the same"
        ))),
    }
}

/// The name of a backend without the numbers of its devices, which are others on every rank.
fn without_numbers(backend: &str) -> String {
    let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit() || c == ',');
    let words = backend.split(' ').filter(|word| !is_number(word));
    words.collect::<Vec<_>>().join(" ")
}

/// How the ranks are to work together: as the options say, or as the cost model expects to be fastest.
fn plan<C: Communicator>(
    world: &Counted<C>,
    grape: &Grape,
    options: &Options,
    n: usize,
) -> Result<Arrangement, Error> {
    let (algorithm, sums) = (options.algorithm, options.sums);
    let number = world.size();
    let only = || Grid::all(number).next().filter(|_| number == 1);
    let grid = options
        .grid
        .or_else(|| algorithm.grid(number))
        .or_else(only);
    if let Some(grid) = grid {
        if options.machine.is_some() {
            return Err(Error::Refused(
                "--machine chooses the grid, and there is no choice here".to_owned(),
            ));
        }
        return Ok(Arrangement {
            grid,
            algorithm,
            sums,
        });
    }
    let costs = match &options.machine {
        Some(path) => machine_file(world, path)?,
        None => {
            let here = ranks::local_rank().map_or(number, |(_, here)| here);
            let trial = match here <= cores() {
                true => measure::SHORT_TRIAL,
                false => measure::TRIAL,
            };
            measure::costs(world, grape, trial)?
        }
    };
    Ok(cost::best(
        number,
        algorithm,
        sums,
        Workload::typical(n),
        &costs,
    ))
}

/// The costs in a file, which all ranks are told.
fn machine_file<C: Communicator>(world: &C, path: &Path) -> Result<Costs, Error> {
    let text = read_file(world, path)?.map_err(Error::Refused)?;
    let text = String::from_utf8_lossy(&text);
    let machine = Machine::parse(&text).map_err(|why| Error::Refused(named(path)(why)))?;
    Ok(machine.costs)
}

/// A new run, or the one that the input holds, and the options with what that was told: the same on every rank.
fn begin<C: Communicator>(world: &C, options: &Options) -> Result<(Start, RunOptions), Error> {
    let refuse = |e: hermite::error::Error| Error::Refused(e.to_string());
    let Some(path) = &options.run.control.files.input else {
        let settings = options.run.settings(None).map_err(refuse)?;
        check_regularized(&settings, options)?;
        let bodies = options.run.bodies(&settings.galaxy).map_err(refuse)?;
        if world.rank() == 0 {
            for remark in options.run.remarks(&settings) {
                tell(&format!("parallel: {remark}"));
            }
        }
        let start = Start {
            settings,
            time: 0.0,
            n: bodies.len(),
            bodies,
            past: None,
            log: options.run.start.log(),
        };
        return Ok((start, options.run.clone()));
    };
    let text = read_file(world, path)?.map_err(Error::Refused)?;
    let named = |why: String| Error::Refused(named(path)(why));
    let mut snapshot = Snapshot::parse(&text).map_err(|e| named(e.to_string()))?;
    let units = |found| options.run.galaxy.units_or(found);
    let brought = options
        .run
        .control
        .files
        .bring_to_units(&mut snapshot, units);
    brought.map_err(named)?;
    snapshot.tell_remark("parallel", path);
    let manifest = Manifest::of(&snapshot).map_err(named)?;
    let mut told = options.run.clone();
    told.control = told.control.or_told(&snapshot).map_err(named)?;
    let saved = checkpoint::settings(&snapshot).map_err(|e| named(e.to_string()))?;
    let settings = match saved {
        Some(saved) => told.settings(Some(saved)).map(|settings| (settings, None)),
        None => told.settings_of(&snapshot),
    };
    let (settings, remark) = settings.map_err(refuse)?;
    if let Some(remark) = remark.filter(|_| world.rank() == 0) {
        tell(&format!("parallel: {remark}"));
    }
    check_regularized(&settings, options)?;
    let (mut past, mut log) = (None, Log::default());
    if let Some(states) = &snapshot.states {
        let counts = checkpoint::counts(&snapshot).map_err(|e| named(e.to_string()))?;
        let saved = match &manifest {
            Some(_) if settings.regularize > 0.0 => {
                let why = "--regularize: not from a state in parts; `hermite` can read it";
                return Err(named(why.to_owned()));
            }
            Some(manifest) => Saved::Parts(manifest.clone()),
            None if settings.regularize > 0.0 => Saved::Systems(Box::new(snapshot.clone())),
            None => Saved::All(states.clone()),
        };
        past = Some((saved, counts));
        log = Log::of(&snapshot).map_err(named)?;
    }
    if past.is_none() {
        let placed = told.place(&settings, &mut snapshot);
        snapshot.time = placed.map_err(|why| named(why.to_string()))?;
    }
    let start = Start {
        settings,
        time: snapshot.time,
        n: manifest.map_or(snapshot.bodies.len(), |m| m.n),
        bodies: snapshot.bodies,
        past,
        log,
    };
    Ok((start, told))
}

/// Refuses what a run with regularized systems cannot do.
fn check_regularized(settings: &Settings, options: &Options) -> Result<(), Error> {
    if settings.regularize == 0.0 {
        return Ok(());
    }
    let not = match options {
        _ if options.algorithm == Algorithm::Ring => "--algorithm ring",
        Options { parts: true, .. } => "--parts",
        Options {
            unlike_ranks: true, ..
        } => "--unlike-ranks",
        Options {
            record_blocks: Some(_),
            ..
        } => "--record-blocks",
        _ => return Ok(()),
    };
    let why = format!("--regularize: not with {not}, since every rank moves all particles");
    Err(Error::Refused(why))
}
