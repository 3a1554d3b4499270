//! The record of a run in its snapshot, beside the integration's state.
//!
//! ```text
//! run.model NAME         what the bodies were at the start
//! run.seed N             seed of its random numbers
//! run.energy0 E0 EPS OWN energy at the start, to which errors refer, the softening it belongs to, and
//!                        the scale of the cluster's own energy
//! run.seconds S          wall time of the steps
//! run.wall S             wall time of all: start, diagnostics and files included
//! run.film EVERY WIDTH   interval and half the width of the frames of its film
//! run.columns NAME ...   what the first numbers of each record are
//! run.record T ...       diagnostics, one line for each time: see `history::Record`
//! ```

use serde::{Deserialize, Serialize};

use crate::history::Record;
use crate::snapshot::Snapshot;
use crate::snapshot::line::{read, refuse, words};

const MODEL: &str = "run.model";
const SEED: &str = "run.seed";
const ENERGY0: &str = "run.energy0";
const SECONDS: &str = "run.seconds";
const WALL: &str = "run.wall";
const FILM: &str = "run.film";
const NAMES: &str = "run.columns";
const RECORD: &str = "run.record";

/// The line of the energy at the start.
#[derive(Serialize, Deserialize)]
struct Energy0 {
    energy: f64,
    eps: f64,
    #[serde(default)]
    own: Option<f64>,
}

/// What is known of a run's past.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// What the bodies were at the start.
    pub model: String,
    /// Seed of the model, where the run began with one.
    pub seed: Option<u64>,
    /// Energy at the start, the scale of the cluster's own, and the softening that they belong to.
    pub start: Option<(f64, Option<f64>, f64)>,
    /// Wall time of the steps.
    pub seconds: f64,
    /// Wall time of all, diagnostics and files included.
    pub wall: f64,
    /// Interval of the film's frames, and half their width, where there are any.
    pub film: Option<(f64, f64)>,
    /// Diagnostics in order of time.
    pub records: Vec<Record>,
}

impl Default for Log {
    /// Nothing but somebody's bodies.
    fn default() -> Self {
        Self {
            model: "Snapshot".to_owned(),
            seed: None,
            start: None,
            seconds: 0.0,
            wall: 0.0,
            film: None,
            records: Vec::new(),
        }
    }
}

impl Log {
    /// The log of a run that begins with a model.
    pub fn begin(model: &str, seed: u64) -> Self {
        Self {
            model: model.to_owned(),
            seed: Some(seed),
            ..Self::default()
        }
    }

    /// What `snapshot` tells; what it does not tell is as at a start.
    ///
    /// # Errors
    ///
    /// A line of ours makes no sense; in words.
    pub fn of(snapshot: &Snapshot) -> Result<Self, String> {
        let mut log = Self::default();
        if let Some(model) = snapshot.value(MODEL) {
            log.model = model.to_owned();
        }
        log.seed = snapshot.line(SEED)?;
        let start: Option<Energy0> = snapshot.line(ENERGY0)?;
        log.start = start.map(|start| (start.energy, start.own, start.eps));
        log.seconds = snapshot.line(SECONDS)?.unwrap_or_default();
        log.wall = snapshot.line(WALL)?.unwrap_or_default();
        log.film = snapshot.line(FILM)?;
        let names: Option<Vec<&str>> = snapshot.value(NAMES).map(|v| v.split(' ').collect());
        for value in snapshot.values(RECORD) {
            let numbers: Vec<f64> = read(RECORD, value)?;
            let record = Record::from_numbers(names.as_deref(), &numbers);
            log.records
                .push(record.map_or_else(|| refuse(RECORD, value), Ok)?);
        }
        Ok(log)
    }

    /// The lines of a snapshot: keys and values.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![(MODEL, self.model.clone())];
        lines.extend(self.seed.map(|seed| (SEED, seed.to_string())));
        lines.extend(
            self.start
                .map(|(energy, own, eps)| (ENERGY0, words(&Energy0 { energy, eps, own }))),
        );
        lines.push((SECONDS, words(&self.seconds)));
        lines.push((WALL, words(&self.wall)));
        lines.extend(self.film.map(|film| (FILM, words(&film))));
        if !self.records.is_empty() {
            let names: Vec<&str> = Record::COLUMNS.iter().map(|c| c.name).collect();
            lines.push((NAMES, names.join(" ")));
        }
        lines.extend(
            self.records
                .iter()
                .map(|r| (RECORD, words(&r.all_numbers()))),
        );
        let owned = |(key, value): (&str, String)| (key.to_owned(), value);
        lines.into_iter().map(owned).collect()
    }
}
