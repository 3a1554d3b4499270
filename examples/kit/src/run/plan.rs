//! What a run writes and notes on its way.

use std::path::PathBuf;

use super::clock::Interval;
use crate::body::Body;
use crate::snapshot::Snapshot;

/// Key of the softening in a snapshot.
const EPS: &str = "run.eps";

/// What a run writes and notes on its way. By default, nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Interval of the diagnostics.
    pub records: Option<f64>,
    /// File that gets the diagnostics, each when it is made.
    pub csv: Option<PathBuf>,
    /// Snapshots of everybody at one time.
    pub snapshots: Option<Snapshots>,
    /// States from which the run can be resumed.
    pub checkpoints: Option<Checkpoints>,
}

/// Snapshots at multiples of an interval, one file each.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshots {
    /// The interval.
    pub every: f64,
    /// The run's output, whose name the snapshots' are made of.
    pub output: PathBuf,
}

/// One file that is replaced by a newer state again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoints {
    /// How often.
    pub interval: Interval,
    /// The file.
    pub path: PathBuf,
}

impl Snapshots {
    /// `run.0012.txt` for the snapshot 12 of `run.txt`: the number is that of the interval, so that a
    /// resumed run continues the series.
    pub fn path(&self, number: i64) -> PathBuf {
        let mut name = self.output.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{number:04}"));
        if let Some(extension) = self.output.extension() {
            name.push(".");
            name.push(extension);
        }
        self.output.with_file_name(name)
    }

    /// Writes `bodies`, all at `time`.
    pub(super) fn save(
        &self,
        number: i64,
        time: f64,
        eps: f64,
        bodies: Vec<Body>,
    ) -> Result<(), String> {
        let snapshot = Snapshot {
            time,
            bodies,
            states: None,
            run: vec![(EPS.to_owned(), format!("{eps:?}"))],
        };
        snapshot.save_as(&self.path(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_numbered_before_the_extension() {
        for (output, expected) in [
            ("a/run.txt", "a/run.0012.txt"),
            ("run", "run.0012"),
            ("a.b/c.d.e", "a.b/c.d.0012.e"),
        ] {
            let snapshots = Snapshots {
                every: 1.0,
                output: output.into(),
            };
            assert_eq!(snapshots.path(12), PathBuf::from(expected));
        }
    }
}
