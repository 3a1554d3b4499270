//! The state of an integration as a snapshot. An integration that is read from it continues with the same bits.
//!
//! Beside the bodies the snapshot has these lines, and those of [`kirin_kit::run::Log`]:
//!
//! ```text
//! treecode.settings EPS THETA DT N_CRIT QUADRUPOLES    QUADRUPOLES is true or false
//! treecode.grid ORIGIN STEPS      the times at which steps end: ORIGIN + STEPS DT and so on
//! treecode.counts STEPS EVALUATIONS GROUPS ENTRIES PAIRS
//! treecode.times TREE WALK TRANSFER FORCE              seconds
//! treecode.exchange SECONDS       between ranks
//! ```

use std::path::Path;
use std::time::Duration;

use kirin_kit::communicator::Communicator;
use kirin_kit::communicator::checkpoint::{save as save_by_ranks, shares};
use kirin_kit::communicator::sample_sort::SampleSort;
use kirin_kit::galaxy::{Galaxy, Units};
use kirin_kit::run::{Integration, Log, Run, TimeGrid};
use kirin_kit::snapshot::State;
use kirin_kit::snapshot::line::{seconds, words};
use kirin_kit::{Body, Snapshot};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::forces::{Counts, Engine, Times};
use crate::integrator::{Integrator, Origin};
use crate::particle::Particle;
use crate::ranks::domains::exchange;
use crate::settings::Settings;

const SETTINGS: &str = "treecode.settings";
const GRID: &str = "treecode.grid";
const COUNTS: &str = "treecode.counts";
const TIMES: &str = "treecode.times";
const EXCHANGE: &str = "treecode.exchange";

/// Wall time of the exchange.
#[derive(Serialize, Deserialize)]
struct Exchange(#[serde(with = "seconds")] Duration);

/// All of `integrator`, on rank 0.
///
/// # Errors
///
/// A rank is lost.
pub fn save<C: Communicator>(integrator: &Integrator<'_, C>) -> Result<Snapshot, Error> {
    Ok(Snapshot {
        bodies: integrator.bodies()?,
        ..head(integrator)?
    })
}

/// Writes the state to `path` in [`parts`], with `lines` beside those of [`save`]. Rank r has the r-th share of the
/// bodies, in the order in which they were given. If a part cannot be written, all ranks are told why.
///
/// # Errors
///
/// A rank is lost.
///
/// [`parts`]: kirin_kit::snapshot::parts
pub fn save_in_parts<C: Communicator>(
    integrator: &Integrator<'_, C>,
    lines: &[(String, String)],
    path: &Path,
) -> Result<Result<(), String>, Error> {
    let world = &integrator.forces().ranks().world;
    let mut head = head(integrator)?;
    head.run.extend(lines.iter().cloned());
    let mut own = integrator.particles().to_vec();
    own.sort_unstable_by_key(|p| p.order);
    let places: Vec<u64> = own.iter().map(|p| u64::from(p.order)).collect();
    let begins: Vec<u64> = shares(integrator.count(), world.size())
        .map(|place| place as u64)
        .collect();
    exchange(
        world,
        &mut SampleSort::default(),
        &places,
        &mut own,
        &begins,
    )?;
    own.sort_unstable_by_key(|p| p.order);
    let bodies: Vec<Body> = own.iter().map(Particle::body).collect();
    // The files also have columns for times and forces, which other programs need.
    let state = |p: &Particle| State {
        t: head.time,
        acc: p.acc,
        ..State::default()
    };
    let states: Vec<State> = own.iter().map(state).collect();
    Ok(save_by_ranks(world, path, head, (&bodies, &states))?)
}

/// The state without the bodies.
fn head<C: Communicator>(integrator: &Integrator<'_, C>) -> Result<Snapshot, Error> {
    let s = integrator.settings();
    let grid = integrator.grid();
    let work = integrator.work()?;
    let counts = (integrator.steps(), work);
    let lines = [
        (SETTINGS, words(s)),
        (GRID, words(&grid)),
        (COUNTS, words(&counts)),
        (TIMES, words(&work.times)),
        (EXCHANGE, words(&Exchange(work.times.exchange))),
    ];
    Ok(Snapshot {
        time: integrator.time(),
        run: lines
            .map(|(key, value)| (key.to_owned(), value))
            .into_iter()
            .chain(s.galaxy.lines())
            .collect(),
        ..Snapshot::default()
    })
}

/// The settings of the run that `snapshot` was saved from, if it was.
///
/// # Errors
///
/// They are no settings; in words.
pub fn settings(snapshot: &Snapshot) -> Result<Option<Settings>, Error> {
    snapshot.check_owner("treecode")?;
    let Some(saved) = snapshot.line(SETTINGS)? else {
        return Ok(None);
    };
    Ok(Some(Settings {
        galaxy: Galaxy::of_units(Units::of(snapshot)?),
        ..saved
    }))
}

/// The run that `snapshot` was saved from, with `settings` from now on and on the ranks of `world`; or a new one from its
/// bodies. If `in_parts`, the snapshot of each rank has this rank's share of the bodies.
///
/// # Errors
///
/// The bodies are at different times, or a line of the run makes no sense.
pub fn resume<'g, C: Communicator>(
    world: C,
    engine: Engine<'g>,
    settings: Settings,
    snapshot: &Snapshot,
    in_parts: bool,
) -> Result<Run<Integrator<'g, C>>, Error> {
    snapshot.check_one_time()?;
    let mut grid = TimeGrid::from(snapshot.time);
    if let Some(saved) = snapshot.line::<TimeGrid>(GRID)? {
        grid = saved.at(snapshot.time, settings.dt);
    }
    let (steps, work) = done(snapshot)?;
    let origin = Origin {
        bodies: &snapshot.bodies,
        in_parts,
        time: snapshot.time,
        grid,
        steps,
        work,
    };
    let integrator = Integrator::begin(world, engine, settings, &origin)?;
    Run::new(integrator, Log::of(snapshot)?)
}

/// Steps that were taken, and what work they were.
fn done(snapshot: &Snapshot) -> Result<(u64, Counts), Error> {
    let counts = snapshot.line::<(u64, Counts)>(COUNTS)?;
    let Some((steps, mut work)) = counts else {
        return Ok((0, Counts::default()));
    };
    work.times = snapshot.line::<Times>(TIMES)?.unwrap_or_default();
    if let Some(Exchange(time)) = snapshot.line(EXCHANGE)? {
        work.times.exchange = time;
    }
    Ok((steps, work))
}
