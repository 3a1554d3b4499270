//! What a run tells of itself in its snapshot, beside the integration's state.
//!
//! ```text
//! run.energy0 E0 EPS     energy at the start, to which errors refer, and the softening it belongs to
//! run.seconds S          wall time of the steps
//! run.record T ...       diagnostics, one line for each time: see `history::Record`
//! ```

use super::{Integration, Run};
use crate::history::Record;
use crate::report::exact;
use crate::snapshot::{Line, Snapshot};

const ENERGY0: &str = "run.energy0";
const SECONDS: &str = "run.seconds";
const RECORD: &str = "run.record";

/// What is known of a run's past.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// Energy at the start, and the softening that it belongs to.
    pub energy0: Option<(f64, f64)>,
    /// Wall time of the steps.
    pub seconds: f64,
    /// Diagnostics in order of time.
    pub records: Vec<Record>,
}

impl Log {
    /// What `snapshot` tells; what it does not tell is as at a start.
    ///
    /// # Errors
    ///
    /// A line of ours makes no sense; in words.
    pub fn of(snapshot: &Snapshot) -> Result<Self, String> {
        let mut log = Self::default();
        if let Some(mut line) = Line::of(snapshot, ENERGY0) {
            log.energy0 = Some((line.next()?, line.next()?));
            line.end()?;
        }
        if let Some(mut line) = Line::of(snapshot, SECONDS) {
            log.seconds = line.next()?;
            line.end()?;
        }
        for value in snapshot.values(RECORD) {
            let line = Line::new(RECORD, value);
            let record = Record::from_numbers(&line.clone().rest::<f64>()?);
            log.records.push(record.map_or_else(|| line.refuse(), Ok)?);
        }
        Ok(log)
    }
}

/// The lines of `run`: keys and values.
pub(super) fn lines<I: Integration>(run: &Run<I>) -> Vec<(String, String)> {
    let mut lines = vec![
        (ENERGY0, exact(&[run.energy0, run.integration.eps()])),
        (SECONDS, exact(&[run.seconds])),
    ];
    lines.extend(run.records.iter().map(|r| (RECORD, exact(&r.numbers()))));
    let owned = |(key, value): (&str, String)| (key.to_owned(), value);
    lines.into_iter().map(owned).collect()
}
