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

use std::time::Duration;

use kirin_kit::Snapshot;
use kirin_kit::communicator::Communicator;
use kirin_kit::galaxy::{Galaxy, Units};
use kirin_kit::run::{Log, Run, TimeGrid};
use kirin_kit::snapshot::Line;
use kirin_report::text::exact;

use crate::error::Error;
use crate::forces::{Counts, Engine, Times};
use crate::integrator::{Integrator, Origin};
use crate::settings::Settings;

const SETTINGS: &str = "treecode.settings";
const GRID: &str = "treecode.grid";
const COUNTS: &str = "treecode.counts";
const TIMES: &str = "treecode.times";
const EXCHANGE: &str = "treecode.exchange";

/// All of `integrator`, on rank 0.
///
/// # Errors
///
/// A rank is lost.
pub fn save<C: Communicator>(integrator: &Integrator<'_, C>) -> Result<Snapshot, Error> {
    let s = integrator.settings();
    let grid = integrator.grid();
    let work = integrator.work()?;
    let t = &work.times;
    let times = [t.tree, t.walk, t.transfer, t.force].map(|time| time.as_secs_f64());
    let numbers = exact(&[s.eps, s.theta, s.dt]);
    let counts = [
        integrator.steps(),
        work.evaluations,
        work.groups,
        work.entries,
        work.pairs,
    ];
    let lines = [
        (
            SETTINGS,
            format!("{numbers} {} {}", s.n_crit, s.quadrupoles),
        ),
        (GRID, grid.value()),
        (COUNTS, counts.map(|count| count.to_string()).join(" ")),
        (TIMES, exact(&times)),
        (EXCHANGE, exact(&[t.exchange.as_secs_f64()])),
    ];
    Ok(Snapshot {
        time: integrator.time(),
        bodies: integrator.bodies()?,
        states: None,
        run: lines
            .map(|(key, value)| (key.to_owned(), value))
            .into_iter()
            .chain(s.galaxy.lines())
            .collect(),
    })
}

/// The settings of the run that `snapshot` was saved from, if it was.
///
/// # Errors
///
/// They are no settings; in words.
pub fn settings(snapshot: &Snapshot) -> Result<Option<Settings>, Error> {
    snapshot.check_owner("treecode")?;
    let Some(mut words) = Line::of(snapshot, SETTINGS) else {
        return Ok(None);
    };
    let settings = Settings {
        galaxy: Galaxy::of_units(Units::of(snapshot)?),
        eps: words.word()?,
        theta: words.word()?,
        dt: words.word()?,
        n_crit: words.word()?,
        quadrupoles: words.word()?,
    };
    words.end()?;
    Ok(Some(settings))
}

/// The run that `snapshot` was saved from, with `settings` from now on and on the ranks of `world`; or a new one from its bodies.
///
/// # Errors
///
/// The bodies are at different times, or a line of the run makes no sense.
pub fn resume<'g, C: Communicator>(
    world: C,
    engine: Engine<'g>,
    settings: Settings,
    snapshot: &Snapshot,
) -> Result<Run<Integrator<'g, C>>, Error> {
    snapshot.check_one_time()?;
    let mut grid = TimeGrid::from(snapshot.time);
    if let Some(line) = Line::of(snapshot, GRID) {
        grid = TimeGrid::of(line)?.at(snapshot.time, settings.dt);
    }
    let (steps, work) = done(snapshot)?;
    let origin = Origin {
        bodies: &snapshot.bodies,
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
    let Some(mut words) = Line::of(snapshot, COUNTS) else {
        return Ok((0, Counts::default()));
    };
    let steps = words.word()?;
    let mut work = Counts {
        evaluations: words.word()?,
        groups: words.word()?,
        entries: words.word()?,
        pairs: words.word()?,
        times: Times::default(),
    };
    words.end()?;
    if let Some(mut words) = Line::of(snapshot, TIMES) {
        work.times = Times {
            tree: words.seconds()?,
            walk: words.seconds()?,
            transfer: words.seconds()?,
            force: words.seconds()?,
            exchange: Duration::ZERO,
        };
        words.end()?;
    }
    if let Some(mut words) = Line::of(snapshot, EXCHANGE) {
        work.times.exchange = words.seconds()?;
        words.end()?;
    }
    Ok((steps, work))
}
