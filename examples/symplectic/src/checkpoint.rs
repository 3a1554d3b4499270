//! The state of an integration as a snapshot. An integration that is read from it continues with the same bits.
//!
//! Beside the bodies the snapshot has the lines of [`kirin_kit::galaxy::Galaxy`], the lines of [`kirin_kit::run::Log`],
//! and these:
//!
//! ```text
//! symplectic.settings EPS DT SCHEME BITS UNCENTRED    UNCENTRED is true or false
//! symplectic.changeover STARS HOLE    changeover radii, if there are any
//! symplectic.grid ORIGIN STEPS    the times at which steps end: ORIGIN + STEPS DT and so on
//! symplectic.precision NAME       that of the last forces
//! symplectic.counts STEPS EVALUATIONS PAIRS
//! symplectic.times FORCE FIELD PREDICT TRANSFER       seconds
//! symplectic.balance LX LY LZ TX TY TZ CX CY CZ       angular momentum at the start; torque, with its carries
//! symplectic.gain E C             energy by the galaxy's change, with its carry; of a galaxy that changes
//! symplectic.scales LENGTH SPEED  fixed point: powers of two of the units
//! symplectic.point X Y Z VX VY VZ fixed point: integers, a line for each body
//! ```

use kirin::client::Grape;
use kirin_kit::galaxy::Galaxy;
use kirin_kit::run::{Log, Run, TimeGrid, told};
use kirin_kit::snapshot::line::words;
use kirin_kit::sum::Sum;
use kirin_kit::vector::Vec3;
use kirin_kit::{Body, Snapshot};

use crate::error::Error;
use crate::fixed::Resolution;
use crate::integrator::{Integrator, Past};
use crate::phase_space::{Bits, PhaseSpace, Point};
use crate::settings::Settings;
use crate::torque::Balance;

const SETTINGS: &str = "symplectic.settings";
const CHANGEOVER: &str = "symplectic.changeover";
const GRID: &str = "symplectic.grid";
/// Key of the precision of the last forces.
pub const PRECISION: &str = "symplectic.precision";
const COUNTS: &str = "symplectic.counts";
const TIMES: &str = "symplectic.times";
const BALANCE: &str = "symplectic.balance";
const GAIN: &str = "symplectic.gain";
const SCALES: &str = "symplectic.scales";
const POINT: &str = "symplectic.point";
/// What a run with its own pairs was told.
const OWN_PAIRS: &str = "pairs program";

/// The line of the balance: angular momentum at the start; torque, and what was rounded off it.
type Torque = (Vec3, Vec3, Vec3);

/// All of `integrator`.
pub fn save(integrator: &Integrator<'_>) -> Snapshot {
    let s = integrator.settings();
    let past = integrator.past();
    let Balance {
        initial,
        impulse,
        gain,
    } = past.balance;
    let balance: Torque = (initial, impulse.map(|s| s.rounded), impulse.map(|s| s.lost));
    let lines = [
        (SETTINGS, words(s)),
        (GRID, words(&past.grid)),
        (PRECISION, integrator.description().1),
        (COUNTS, words(&(past.steps, past.work))),
        (TIMES, words(&past.work.times)),
        (BALANCE, words(&balance)),
    ];
    let mut run: Vec<(String, String)> = lines.map(|(k, value)| (k.to_owned(), value)).into();
    if s.galaxy.changes() {
        run.push((GAIN.to_owned(), words(&gain)));
    }
    if !s.changeover.is_none() {
        run.push((CHANGEOVER.to_owned(), words(&s.changeover)));
    }
    run.extend(s.galaxy.lines());
    if let PhaseSpace::Exact {
        points,
        length,
        speed,
    } = integrator.state()
    {
        run.push((SCALES.to_owned(), words(&(length.0, speed.0))));
        run.extend(points.iter().map(|point| (POINT.to_owned(), words(point))));
    }
    Snapshot {
        time: integrator.time(),
        bodies: integrator.bodies(),
        run,
        ..Snapshot::default()
    }
}

/// The settings of the run that `snapshot` was saved from, if it was. Positions as they are (`uncentred`) are for a
/// library: in a state of the program's own pairs, which an older version may have written, the word has no effect.
///
/// # Errors
///
/// They are no settings; in words.
pub fn settings(snapshot: &Snapshot) -> Result<Option<Settings>, Error> {
    snapshot.check_owner("symplectic")?;
    snapshot.check_one_time()?;
    let Some(saved) = snapshot.line::<Settings>(SETTINGS)? else {
        return Ok(None);
    };
    let own_pairs = snapshot.values(told::KEY).any(|line| line == OWN_PAIRS);
    Ok(Some(Settings {
        galaxy: Galaxy::of(snapshot)?,
        changeover: snapshot.line(CHANGEOVER)?.unwrap_or_default(),
        uncentred: saved.uncentred && !own_pairs,
        ..saved
    }))
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
    let (length, speed) = snapshot.required(SCALES)?;
    let [length, speed] = [length, speed].map(Resolution);
    let points: Vec<Point> = snapshot.lines(POINT)?;
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
    let grid: TimeGrid = snapshot.required(GRID)?;
    let (steps, work) = snapshot.required(COUNTS)?;
    let mut past = Past {
        grid: grid.at(snapshot.time, dt),
        steps,
        work,
        ..Past::default()
    };
    past.work.times = snapshot.required(TIMES)?;
    let (initial, rounded, lost): Torque = snapshot.required(BALANCE)?;
    past.balance = Balance {
        gain: snapshot.line(GAIN)?.unwrap_or_default(),
        initial,
        impulse: [0, 1, 2].map(|k| Sum {
            rounded: rounded[k],
            lost: lost[k],
        }),
    };
    Ok(past)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Scale;
    use kirin_kit::models::plummer;

    #[test]
    fn own_pairs_have_no_uncentred_positions() {
        let mut snapshot = Snapshot::default();
        let uncentred = Settings {
            uncentred: true,
            ..Settings::chosen(&Scale::of_model(&plummer(10, 1)), None, None)
        };
        let mut add = |key: &str, value: String| {
            snapshot.run.push((key.to_owned(), value));
            settings(&snapshot).unwrap().is_some_and(|s| s.uncentred)
        };
        assert!(add(SETTINGS, words(&uncentred)));
        assert!(add(told::KEY, "pairs library".to_owned()));
        assert!(!add(told::KEY, OWN_PAIRS.to_owned()));
    }
}
