//! The options that a run keeps in its state: its end, its files and their intervals, and the options that each
//! program adds.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kirin_report::machine::check_memory;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::told::{self, beside, seen_from};
use super::{Guard, RunOutputs, Told};
use crate::claim;
use crate::files::Files;
use crate::galaxy::Galaxy;
use crate::quantity::{self, Quantity};
use crate::snapshot::Snapshot;

/// Options that one program keeps besides those of all programs.
pub trait Kept: Args + Clone + Default + Serialize + DeserializeOwned {
    /// Key of the lines in a state. Programs that may go on from each other's states have the same.
    const KEY: &str = told::KEY;

    /// The files among them that belong to the output.
    fn paths(&mut self) -> Vec<&mut Option<PathBuf>> {
        Vec::new()
    }
}

impl Kept for Guard {}

impl AsRef<Guard> for Guard {
    fn as_ref(&self) -> &Guard {
        self
    }
}

/// What every run is told. `Own` is what one program adds: by default the guard of the energy.
///
/// The serde names of the fields are those of the options; a state holds each as [`Told`] writes it.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[serde(bound(serialize = "Own: Kept", deserialize = "Own: Kept"))]
pub struct RunControl<Own: Kept = Guard> {
    /// Time at which to end, as in 10, 1/4, or with units 500Myr [default: 1]
    #[arg(long, value_parser = quantity::time)]
    #[serde(default, with = "super::told::time")]
    pub t_end: Option<Quantity>,
    /// End in order after this wall-clock time (30min, 11h 50min) since the program's start, with the exit status 75;
    /// the run can be continued from the --output
    #[arg(long, value_name = "TIME", value_parser = wall_time)]
    #[serde(default, with = "super::told::wall")]
    pub stop_after: Option<Duration>,
    /// What the program adds.
    #[command(flatten)]
    #[serde(flatten)]
    pub own: Own,
    /// What to read and write.
    #[command(flatten)]
    #[serde(flatten)]
    pub files: Files,
}

/// A time on the wall.
///
/// # Errors
///
/// The text is none; in words.
pub fn wall_time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("not a time on the wall (30min, 2h)".to_owned()),
    }
}

impl<Own: Kept> RunControl<Own> {
    /// Time at which to end, in the units of bodies in this galaxy; `default` where no option says it.
    ///
    /// # Errors
    ///
    /// It has a unit without meaning; in words.
    pub fn t_end(&self, default: f64, galaxy: Option<&Galaxy>) -> Result<f64, String> {
        self.t_end.map_or(Ok(default), |t| t.of_bodies(galaxy))
    }

    /// What the state of a run with this end and plan keeps; nothing where there is no state.
    ///
    /// # Errors
    ///
    /// An option has no text; in words.
    pub fn told(&self, t_end: f64, plan: &RunOutputs) -> Result<Told, String> {
        let Some(state) = &self.files.output else {
            return Ok(Told::default());
        };
        let mut kept = self.clone();
        kept.t_end = Some(t_end.into());
        kept.files.every = plan.records.map(Quantity::from);
        kept.files.snapshot_every = plan.snapshots.as_ref().map(|s| s.every.into());
        kept.files.frame_every = plan.frames.as_ref().map(|f| f.every.into());
        for path in kept.paths() {
            *path = path.take().map(|path| seen_from(state, &path));
        }
        Told::of_options(Own::KEY, &kept)
    }

    /// The options of a run that continues from the `snapshot` in the input. What the command line does not say is
    /// taken from the options stored in the snapshot. Without an `--output` the run continues in the input file and
    /// in the other files that belong to it.
    ///
    /// # Errors
    ///
    /// What it was told makes no sense; in words.
    pub fn or_told(&self, snapshot: &Snapshot) -> Result<Self, String> {
        let told = Told::of(Own::KEY, snapshot);
        let (Some(input), false) = (&self.files.input, told.is_empty()) else {
            return Ok(self.clone());
        };
        let mut kept: Self = told.options()?;
        let output = self.files.output.as_ref();
        let in_place = output.is_none_or(|output| claim::is_same(output, Some(input)));
        for path in kept.paths() {
            let known = path.take().filter(|_| in_place);
            *path = known.map(|path| beside(input, &path));
        }
        let mut all: Self = Told::of_options(Own::KEY, &kept)?
            .under(Told::of_options(Own::KEY, self)?)
            .options()?;
        if all.files.frames.is_none() {
            all.files.frame_every = self.files.frame_every;
        }
        all.files.output = Some(output.unwrap_or(input).clone());
        all.files.input = Some(input.clone());
        all.files.force = self.files.force;
        Ok(all)
    }

    /// Checks that there is memory for a new model of `n` bodies of `bytes` each. A run with an input is not checked:
    /// it has its bodies already.
    ///
    /// # Errors
    ///
    /// It has none; in words.
    pub fn check_memory(&self, n: u64, bytes: u64) -> Result<(), String> {
        match self.files.input {
            Some(_) => Ok(()),
            None => check_memory(n, bytes),
        }
    }

    /// All files that belong to the output.
    fn paths(&mut self) -> Vec<&mut Option<PathBuf>> {
        let mut paths = self.files.belongings();
        paths.extend(self.own.paths());
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Cadence;
    use std::path::Path;

    fn told_of(control: &RunControl, length: f64) -> Snapshot {
        let plan = control.files.plan(length, None).unwrap();
        let told = control.told(length, &plan).unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.run.extend(told.lines());
        snapshot
    }

    fn of_files(files: Files) -> RunControl {
        RunControl {
            files,
            ..RunControl::default()
        }
    }

    /// A continued run keeps its files and its intervals, however little of it is left. With another output it is a
    /// new run, which keeps the intervals only.
    #[test]
    fn a_run_that_goes_on_keeps_what_it_was_told() {
        let mut first = of_files(Files {
            output: Some("/x/run.txt".into()),
            csv: Some("/x/run.csv".into()),
            plot: Some("/y/a b.svg".into()),
            checkpoint_every: Some(Cadence::parse("30min").unwrap()),
            ..Files::default()
        });
        first.own.energy_limit = Some(f64::INFINITY);
        first.stop_after = Some(Duration::from_secs(5400));
        let state = told_of(&first, 2.0);
        let input = Path::new("/z/run.txt");
        let given = of_files(Files {
            input: Some(input.into()),
            ..Files::default()
        });
        let again = given.or_told(&state).unwrap();
        assert_eq!(again.files.output.as_deref(), Some(input));
        assert_eq!(again.files.csv, Some("/z/run.csv".into()));
        assert_eq!(again.files.plot, Some("/y/a b.svg".into()));
        assert_eq!(again.files.interval(0.5, None), Ok(Some(1.0 / 32.0)));
        // The interval of a short run is shorter than any that is given.
        let mut short = first.clone();
        short.files.every = Some(1e-10.into());
        let told = given.or_told(&told_of(&short, 1e-8)).unwrap();
        assert_eq!(told.files.interval(1.0, None), Ok(Some(1e-10)));
        assert_eq!(again.files.checkpoint_every, first.files.checkpoint_every);
        assert_eq!(again.t_end(1.0, None), Ok(2.0));
        assert_eq!(again.own.energy_limit, Some(f64::INFINITY));
        assert_eq!(again.own.energy_warning, None);
        assert_eq!(again.stop_after, first.stop_after);
        let mut other = given.clone();
        other.files.output = Some("/z/other.txt".into());
        other.own.energy_limit = Some(0.5);
        other.t_end = Some(3.0.into());
        let other = other.or_told(&state).unwrap();
        assert_eq!((&other.files.csv, &other.files.plot), (&None, &None));
        assert_eq!(other.files.every, Some((1.0 / 32.0).into()));
        assert_eq!(other.own.energy_limit, Some(0.5));
        assert_eq!(other.t_end(1.0, None), Ok(3.0));
        let nothing = given.or_told(&Snapshot::default()).unwrap();
        assert_eq!(nothing.files.output, None);
    }

    /// The lines that version 0.1 wrote, and one that a later version may write.
    #[test]
    fn the_lines_of_an_older_state_are_read() {
        let mut state = Snapshot::default();
        for line in [
            "t-end 2.0",
            "csv run.csv",
            "every 0.03125",
            "checkpoint-every 30m",
            "energy-warning 0.01",
            "energy-limit none",
            "colour blue",
        ] {
            state.run.push(("run.told".to_owned(), line.to_owned()));
        }
        let given = of_files(Files {
            input: Some("/z/run.txt".into()),
            ..Files::default()
        });
        let again = given.or_told(&state).unwrap();
        assert_eq!(again.t_end(1.0, None), Ok(2.0));
        assert_eq!(again.files.csv, Some("/z/run.csv".into()));
        assert_eq!(again.own.energy_warning, Some(0.01));
        assert_eq!(again.own.energy_limit, Some(f64::INFINITY));
        state
            .run
            .push(("run.told".to_owned(), "every soon".to_owned()));
        let why = given.or_told(&state).unwrap_err();
        assert!(why.contains("run.told") && why.contains("soon"), "{why}");
    }
}
