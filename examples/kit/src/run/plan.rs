//! The output of a run, and the times at which it is written.

use std::path::PathBuf;
use std::time::Duration;

use super::clock::{Clock, Interval};
use crate::body::Body;
use crate::claim;
use crate::replace::folder_of;
use crate::snapshot::{EPS, Snapshot};
use kirin_report::plot::Figure;

/// What a run writes and notes on its way. By default, nothing.
#[derive(Clone, Debug, Default)]
pub struct RunOutputs {
    /// Interval of the diagnostics.
    pub records: Option<f64>,
    /// File that gets the diagnostics, each when it is made.
    pub csv: Option<PathBuf>,
    /// Snapshots of everybody at one time.
    pub snapshots: Option<Snapshots>,
    /// File of the state that a signal asks for.
    pub output: Option<PathBuf>,
    /// Wall time of the program after which the run ends.
    pub stop_after: Option<Duration>,
    /// States from which the run can be resumed.
    pub checkpoints: Option<Checkpoints>,
    /// Frames of a film.
    pub frames: Option<Frames>,
    /// Who watches the energy.
    pub guard: Option<super::Guard>,
}

/// Snapshots at multiples of an interval, one file each.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshots {
    /// The interval.
    pub every: f64,
    /// The run's output, whose name the snapshots' are made of.
    pub output: PathBuf,
}

/// Pictures at multiples of an interval, one PNG each.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    /// The interval.
    pub every: f64,
    /// Where the pictures go.
    pub folder: PathBuf,
}

impl Frames {
    /// Checks that a film does not get frames of another run, or at multiples of another interval, among its own. `past` is
    /// the interval of the frames so far, and half their width.
    ///
    /// # Errors
    ///
    /// It would; in words.
    pub fn check(&self, past: Option<(f64, f64)>) -> Result<(), String> {
        let is_same =
            past.is_some_and(|(every, _)| (every - self.every).abs() <= 1e-9 * every.abs());
        let is_frame = |name: &str| name.starts_with("frame.") && name.ends_with(".png");
        let mut files = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        if is_same || !files.any(|file| file.file_name().to_str().is_some_and(is_frame)) {
            return Ok(());
        }
        let folder = self.folder.display();
        Err(match past {
            Some((every, _)) => format!(
                "{folder}: this run has drawn frames at multiples of {every}, among which frames at multiples of {} would \
                 be mixed: --frame-every {every} goes on with the film, another folder (--frames) begins one, --force \
                 replaces frames",
                self.every
            ),
            None => format!(
                "{folder}: there are frames of another film: another folder (--frames) keeps them, --force replaces them"
            ),
        })
    }

    /// Writes frame `number`: `frame.000012.png`, the number being that of the interval.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or the file not be written; in words.
    pub(super) fn save(&self, number: i64, figure: &Figure) -> Result<(), String> {
        std::fs::create_dir_all(&self.folder).map_err(crate::command::named(&self.folder))?;
        figure.save(&self.folder.join(format!("frame.{number:06}.png")))
    }
}

/// One file that is replaced by a newer state again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoints {
    /// How often one is written.
    pub interval: Interval,
    /// The file, which each one replaces.
    pub path: PathBuf,
}

impl Snapshots {
    /// The file of a snapshot, such as `run.0012.txt` for number 12 of `run.txt`. Snapshots are numbered by the
    /// multiples of the interval, so that a resumed run continues the series.
    pub fn path(&self, number: i64) -> PathBuf {
        let mut name = self.output.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{number:04}"));
        if let Some(extension) = self.output.extension() {
            name.push(".");
            name.push(extension);
        }
        self.output.with_file_name(name)
    }

    /// Checks that a run from `start` to `t_end` replaces no snapshot of another time. Only the times are compared: the
    /// number of bodies may change during a run.
    ///
    /// # Errors
    ///
    /// It would; in words.
    pub fn check(&self, start: f64, t_end: f64) -> Result<(), String> {
        let numbers = Clock::from(start, self.every).number()..=Clock::number_of(t_end, self.every);
        let files = std::fs::read_dir(folder_of(&self.output)).into_iter();
        let mut found: Vec<i64> = files
            .flatten()
            .flatten()
            .filter_map(|file| self.number(file.file_name().to_str()?))
            .filter(|number| numbers.contains(number))
            .collect();
        found.sort_unstable();
        for number in found {
            let path = self.path(number);
            let holds = match claim::time_of(&path) {
                Some(t) if Clock::number_of(t, self.every) == number => continue,
                Some(t) => format!("it holds the bodies at t = {t}"),
                None => "it is no snapshot".to_owned(),
            };
            return Err(format!(
                "{}: {holds}, and this run would replace it by those at t = {}: the interval of the earlier snapshots \
                 (--snapshot-every) goes on with their numbers, another --output begins others, --force replaces it",
                path.display(),
                number as f64 * self.every
            ));
        }
        Ok(())
    }

    /// The number of the snapshot in a file of this name; `None` if it is none of these.
    fn number(&self, name: &str) -> Option<i64> {
        let stem = self.output.file_stem()?.to_str()?;
        let mut rest = name.strip_prefix(stem)?.strip_prefix('.')?;
        if let Some(extension) = self.output.extension() {
            rest = rest.strip_suffix(extension.to_str()?)?.strip_suffix('.')?;
        }
        let number = rest.parse().ok()?;
        (self.path(number).file_name()?.to_str()? == name).then_some(number)
    }

    /// Writes `bodies`, all at `time`, and the application's `notes`.
    pub(super) fn save(
        &self,
        number: i64,
        time: f64,
        eps: f64,
        bodies: Vec<Body>,
        notes: Vec<(String, String)>,
    ) -> Result<(), String> {
        let snapshot = Snapshot {
            time,
            bodies,
            run: [vec![(EPS.to_owned(), format!("{eps:?}"))], notes].concat(),
            ..Snapshot::default()
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
