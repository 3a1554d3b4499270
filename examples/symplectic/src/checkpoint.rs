//! The state of an integration as a snapshot. An integration that is read from it continues with the same bits.
//!
//! Beside the bodies the snapshot has these lines, that of [`kirin_kit::galaxy::Galaxy`], and those of
//! [`kirin_kit::run::Log`]:
//!
//! ```text
//! symplectic.settings EPS DT SCHEME BITS UNCENTRED    UNCENTRED is true or false
//! symplectic.changeover STARS HOLE    changeover radii, if there are any
//! symplectic.grid ORIGIN STEPS    the times at which steps end: ORIGIN + STEPS DT and so on
//! symplectic.counts STEPS EVALUATIONS PAIRS
//! symplectic.times FORCE FIELD PREDICT TRANSFER       seconds
//! symplectic.balance LX LY LZ TX TY TZ CX CY CZ       angular momentum at the start; torque, with its carries
//! symplectic.gain E C             energy by the galaxy's change, with its carry; of a galaxy that changes
//! symplectic.scales LENGTH SPEED  fixed point: powers of two of the units
//! symplectic.point X Y Z VX VY VZ fixed point: integers, a line for each body
//! ```

use kirin::client::Grape;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Log, Run, TimeGrid};
use kirin_kit::snapshot::Line;
use kirin_kit::sum::Sum;
use kirin_kit::{Body, Snapshot};
use kirin_report::text::exact;

use crate::encounter::Changeover;
use crate::error::Error;
use crate::fixed::Resolution;
use crate::forces::{Counts, Times};
use crate::integrator::{Integrator, Past};
use crate::phase_space::{Bits, PhaseSpace, Point};
use crate::scheme::Scheme;
use crate::settings::Settings;
use crate::torque::Balance;

const SETTINGS: &str = "symplectic.settings";
const CHANGEOVER: &str = "symplectic.changeover";
const GRID: &str = "symplectic.grid";
const COUNTS: &str = "symplectic.counts";
const TIMES: &str = "symplectic.times";
const BALANCE: &str = "symplectic.balance";
const GAIN: &str = "symplectic.gain";
const SCALES: &str = "symplectic.scales";
const POINT: &str = "symplectic.point";

/// All of `integrator`.
pub fn save(integrator: &Integrator<'_>) -> Snapshot {
    let s = integrator.settings();
    let past = integrator.past();
    let (work, grid) = (&past.work, &past.grid);
    let counts = [past.steps, work.evaluations, work.pairs].map(|count| count.to_string());
    let seconds = work.times.parts().map(|part| part.1);
    let Balance {
        initial,
        impulse,
        gain,
    } = past.balance;
    let balance = [initial, impulse.map(|s| s.rounded), impulse.map(|s| s.lost)].concat();
    let words = format!("{} {} {}", s.scheme.name(), s.bits.name(), s.uncentred);
    let lines = [
        (SETTINGS, format!("{} {words}", exact(&[s.eps, s.dt]))),
        (GRID, grid.value()),
        (COUNTS, counts.join(" ")),
        (TIMES, exact(&seconds)),
        (BALANCE, exact(&balance)),
    ];
    let mut run: Vec<(String, String)> = lines.map(|(k, value)| (k.to_owned(), value)).into();
    if s.galaxy.changes() {
        run.push((GAIN.to_owned(), exact(&[gain.rounded, gain.lost])));
    }
    if !s.changeover.is_none() {
        let Changeover { stars, hole } = s.changeover;
        run.push((CHANGEOVER.to_owned(), exact(&[stars, hole])));
    }
    run.extend(s.galaxy.lines());
    if let PhaseSpace::Exact {
        points,
        length,
        speed,
    } = integrator.state()
    {
        run.push((SCALES.to_owned(), format!("{} {}", length.0, speed.0)));
        for point in points {
            run.push((POINT.to_owned(), point.map(|c| c.to_string()).join(" ")));
        }
    }
    Snapshot {
        time: integrator.time(),
        bodies: integrator.bodies(),
        states: None,
        run,
    }
}

/// The settings of the run that `snapshot` was saved from, if it was.
///
/// # Errors
///
/// They are no settings; in words.
pub fn settings(snapshot: &Snapshot) -> Result<Option<Settings>, Error> {
    snapshot.check_owner("symplectic")?;
    snapshot.check_one_time()?;
    let Some(mut line) = Line::of(snapshot, SETTINGS) else {
        return Ok(None);
    };
    let (eps, dt) = (line.word()?, line.word()?);
    let name: String = line.word()?;
    let scheme = Scheme::named(&name).map_or_else(|| line.refuse(), Ok)?;
    let name: String = line.word()?;
    let bits = [Bits::Double, Bits::Exact]
        .into_iter()
        .find(|b| b.name() == name);
    let settings = Settings {
        eps,
        dt,
        scheme,
        bits: bits.map_or_else(|| line.refuse(), Ok)?,
        galaxy: Galaxy::of(snapshot)?,
        uncentred: line.word()?,
        changeover: changeover(snapshot)?,
    };
    line.end()?;
    Ok(Some(settings))
}

fn changeover(snapshot: &Snapshot) -> Result<Changeover, Error> {
    let Some(mut line) = Line::of(snapshot, CHANGEOVER) else {
        return Ok(Changeover::default());
    };
    let (stars, hole) = (line.word()?, line.word()?);
    line.end()?;
    Ok(Changeover { stars, hole })
}

/// The run that `snapshot` was saved from, with `settings` from now on.
///
/// # Errors
///
/// A line of the run makes no sense; whatever goes wrong with the first forces.
pub fn resume<'g>(
    grape: &'g Grape,
    settings: Settings,
    snapshot: &Snapshot,
) -> Result<Run<Integrator<'g>>, Error> {
    let past = past(snapshot, settings.dt)?;
    let (time, bodies) = (snapshot.time, &snapshot.bodies);
    let state = state(snapshot, settings.bits)?;
    let integrator = Integrator::resume(grape, settings, time, bodies, state, past)?;
    Run::new(integrator, Log::of(snapshot)?)
}

/// Positions and velocities to the last bit.
fn state(snapshot: &Snapshot, bits: Bits) -> Result<PhaseSpace, Error> {
    if bits == Bits::Double {
        return PhaseSpace::new(bits, &snapshot.bodies, 0.0);
    }
    let mut line = Line::required(snapshot, SCALES)?;
    let (length, speed) = (Resolution(line.word()?), Resolution(line.word()?));
    line.end()?;
    let mut points = Vec::with_capacity(snapshot.bodies.len());
    for value in snapshot.values(POINT) {
        let line = Line::new(POINT, value);
        let point = Point::try_from(line.clone().rest::<i64>()?);
        points.push(point.map_or_else(|_| line.refuse(), Ok)?);
    }
    let state = PhaseSpace::Exact {
        points,
        length,
        speed,
    };
    check(&state, &snapshot.bodies)?;
    Ok(state)
}

/// Whether `state` is that of `bodies`, which a text editor may have changed.
fn check(state: &PhaseSpace, bodies: &[Body]) -> Result<(), Error> {
    let matches = |(i, b): (usize, &Body)| state.position(i) == b.x && state.velocity(i) == b.v;
    if state.len() == bodies.len() && bodies.iter().enumerate().all(matches) {
        return Ok(());
    }
    let why = format!("the lines `{POINT}` are not those of the bodies");
    Err(Error::Refused(why))
}

/// What the run had behind it.
fn past(snapshot: &Snapshot, dt: f64) -> Result<Past, Error> {
    let line = |key: &'static str| Line::required(snapshot, key);
    let mut past = Past {
        grid: TimeGrid::of(line(GRID)?)?.at(snapshot.time, dt),
        ..Past::default()
    };
    let mut words = line(COUNTS)?;
    past.steps = words.word()?;
    let (evaluations, pairs) = (words.word()?, words.word()?);
    words.end()?;
    let mut words = line(TIMES)?;
    past.work = Counts {
        evaluations,
        pairs,
        times: Times {
            force: words.seconds()?,
            field: words.seconds()?,
            predict: words.seconds()?,
            transfer: words.seconds()?,
        },
    };
    words.end()?;
    let mut words = line(BALANCE)?;
    let mut next = || words.word::<f64>();
    let initial = [next()?, next()?, next()?];
    let rounded = [next()?, next()?, next()?];
    let lost = [next()?, next()?, next()?];
    words.end()?;
    let mut gain = Sum::default();
    if let Some(mut words) = Line::of(snapshot, GAIN) {
        (gain.rounded, gain.lost) = (words.word()?, words.word()?);
        words.end()?;
    }
    past.balance = Balance {
        gain,
        initial,
        impulse: [0, 1, 2].map(|k| Sum {
            rounded: rounded[k],
            lost: lost[k],
        }),
    };
    Ok(past)
}
