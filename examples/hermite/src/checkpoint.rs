//! A run as a snapshot, and back: what is resumed goes on with the same bits.
//!
//! Beside the bodies and their states the snapshot has these lines:
//!
//! ```text
//! hermite.settings EPS ETA ETA_START DT_MAX SHARED    SHARED is true or false
//! hermite.energy0 E0            energy at the start, to which the error refers
//! hermite.counts STEPS BLOCKS PAIRS SECONDS
//! hermite.block_sizes C0 C1 ... blocks of 2^k to 2^(k+1) - 1 particles
//! hermite.record T ERROR R R R R R          diagnostics, one line for each time
//! ```

use std::str::FromStr;

use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::history::{FRACTIONS, Record};
use kirin_kit::report::exact;

use crate::counts::Counts;
use crate::error::Error;
use crate::integrator::Integrator;
use crate::run::Run;
use crate::settings::Settings;

const SETTINGS: &str = "hermite.settings";
const ENERGY0: &str = "hermite.energy0";
const COUNTS: &str = "hermite.counts";
const BLOCK_SIZES: &str = "hermite.block_sizes";
const RECORD: &str = "hermite.record";

/// All of `run`.
pub fn save(run: &Run<'_>) -> Snapshot {
    let integrator = &run.integrator;
    let s = integrator.settings();
    let counts = integrator.counts();
    let numbers = exact(&[s.eps, s.eta, s.eta_start, s.dt_max]);
    let mut lines = vec![
        (SETTINGS, format!("{numbers} {}", s.shared)),
        (ENERGY0, exact(&[run.energy0])),
        (
            COUNTS,
            format!(
                "{} {} {} {:?}",
                counts.steps, counts.block_steps, counts.pairs, run.seconds
            ),
        ),
    ];
    if !counts.block_sizes.is_empty() {
        let sizes: Vec<String> = counts.block_sizes.iter().map(u64::to_string).collect();
        lines.push((BLOCK_SIZES, sizes.join(" ")));
    }
    for r in &run.records {
        let radii = exact(&r.radii);
        lines.push((RECORD, format!("{} {radii}", exact(&[r.t, r.energy_error]))));
    }
    Snapshot {
        time: integrator.time(),
        bodies: integrator.bodies().to_vec(),
        states: Some(integrator.states().to_vec()),
        run: lines
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    }
}

/// The settings of the run that `snapshot` was saved from; `None` where it holds bodies only.
///
/// # Errors
///
/// The snapshot has states, but the settings are missing or no settings.
pub fn settings(snapshot: &Snapshot) -> Result<Option<Settings>, Error> {
    if snapshot.states.is_none() {
        return Ok(None);
    }
    let mut words = Words::of(snapshot, SETTINGS)?;
    let settings = Settings {
        eps: words.next()?,
        eta: words.next()?,
        eta_start: words.next()?,
        dt_max: words.next()?,
        shared: words.next()?,
    };
    Ok(Some(settings))
}

/// The run that `snapshot` was saved from.
///
/// # Errors
///
/// The snapshot has no states, or they or the lines of the run are not those of a run.
pub fn resume<'g>(grape: &'g Grape, snapshot: Snapshot) -> Result<Run<'g>, Error> {
    let Some(settings) = settings(&snapshot)? else {
        return Err(Error::Refused("the snapshot has no states".to_owned()));
    };
    let energy0 = Words::of(&snapshot, ENERGY0)?.next()?;
    let mut words = Words::of(&snapshot, COUNTS)?;
    let mut counts = Counts {
        steps: words.next()?,
        block_steps: words.next()?,
        pairs: words.next()?,
        block_sizes: Vec::new(),
    };
    let seconds = words.next()?;
    if snapshot.value(BLOCK_SIZES).is_some() {
        counts.block_sizes = Words::of(&snapshot, BLOCK_SIZES)?.rest()?;
    }
    let mut records = Vec::new();
    for line in snapshot.values(RECORD) {
        let numbers: Vec<f64> = Words::new(RECORD, line).rest()?;
        let [t, energy_error, radii @ ..] = numbers.as_slice() else {
            return Words::new(RECORD, line).refuse();
        };
        let Ok(radii) = <[f64; FRACTIONS.len()]>::try_from(radii) else {
            return Words::new(RECORD, line).refuse();
        };
        records.push(Record {
            t: *t,
            energy_error: *energy_error,
            radii,
        });
    }
    let states = snapshot.states.unwrap_or_default();
    let (time, bodies) = (snapshot.time, snapshot.bodies);
    Ok(Run {
        integrator: Integrator::resume(grape, settings, time, bodies, states, counts)?,
        energy0,
        seconds,
        records,
    })
}

/// The words of one of our lines.
struct Words<'a> {
    key: &'static str,
    line: &'a str,
    words: std::str::SplitWhitespace<'a>,
}

impl<'a> Words<'a> {
    fn new(key: &'static str, line: &'a str) -> Self {
        let words = line.split_whitespace();
        Self { key, line, words }
    }

    fn of(snapshot: &'a Snapshot, key: &'static str) -> Result<Self, Error> {
        let missing = || Error::Refused(format!("the snapshot has states but no line `{key}`"));
        Ok(Self::new(key, snapshot.value(key).ok_or_else(missing)?))
    }

    fn next<T: FromStr>(&mut self) -> Result<T, Error> {
        match self.words.next().and_then(|word| word.parse().ok()) {
            Some(value) => Ok(value),
            None => self.refuse(),
        }
    }

    fn rest<T: FromStr>(self) -> Result<Vec<T>, Error> {
        let values = self.words.clone().map(|word| word.parse().ok());
        values
            .collect::<Option<_>>()
            .map_or_else(|| self.refuse(), Ok)
    }

    fn refuse<T>(&self) -> Result<T, Error> {
        Err(Error::Refused(format!(
            "cannot make sense of the snapshot's line `{} {}`",
            self.key, self.line
        )))
    }
}
