//! The files that a run reads and writes, from the command line, and those that a continued run keeps.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::claim::{self, Claim};
use crate::command::named;
use crate::galaxy::Galaxy;
use crate::quantity::{self, Quantity};
use crate::run::{
    Cadence, Checkpoints, Frames, Log, RunOutputs, Snapshots, Told, beside, seen_from,
};
use kirin_report::plot::{self, Figure};

/// Names of options, as a run's state keeps them.
const PATHS: [&str; 4] = ["json", "plot", "csv", "frames"];
const TIMES: [&str; 3] = ["every", "snapshot-every", "frame-every"];
const CHECKPOINTS: &str = "checkpoint-every";

/// Default number of frames of a film: ten seconds of 25.
const FRAMES: f64 = 250.0;

/// What a run reads and writes.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Files {
    /// Start from this snapshot; one that holds a run's state is resumed
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Write the final snapshot, from which the run can be resumed
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the summary's figures as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw energy error, virial ratio, Lagrangian radii, core radius, the bodies from above, and
    /// where the work went: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write the diagnostics as CSV, a line when it is made: time, energy, energy_error,
    /// virial_ratio, core_radius, core_density, Lagrangian radii
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Record diagnostics for plot, CSV, JSON and output at multiples of this time (1/4, 10Myr) [default: about 64
    /// times]
    #[arg(long, value_name = "DT", value_parser = quantity::interval)]
    pub every: Option<Quantity>,
    /// Write everybody at multiples of this time: run.0000.txt, run.0001.txt, ... beside the
    /// --output run.txt
    #[arg(long, value_name = "DT", value_parser = quantity::interval)]
    pub snapshot_every: Option<Quantity>,
    /// Replace the --output by the newest state at multiples of this time (1/4, 10Myr), or whenever so much
    /// time has passed on the wall (30min, 2h): what a crash leaves can be resumed
    #[arg(long, value_name = "INTERVAL", value_parser = Cadence::parse)]
    pub checkpoint_every: Option<Cadence>,
    /// Draw a film, one PNG after the other into this folder: `ffmpeg -framerate 25 -pattern_type glob
    /// -i 'DIR/frame.*.png' -pix_fmt yuv420p film.mp4` joins them
    #[arg(long, value_name = "DIR")]
    pub frames: Option<PathBuf>,
    /// Draw the film's frames at multiples of this time [default: about 250 frames]
    #[arg(long, value_name = "DT", value_parser = quantity::interval)]
    pub frame_every: Option<Quantity>,
    /// Replace an --output that holds other bodies, or something else
    #[arg(long)]
    pub force: bool,
}

impl Files {
    /// Checks before a long run that its files can be written after it, and that every option has an effect.
    ///
    /// # Errors
    ///
    /// A figure of an unknown kind, a file that cannot be written, or an option without effect; in words.
    pub fn validate(&self) -> Result<(), String> {
        if let Some(path) = &self.plot {
            plot::check_path(path)?;
        }
        for (name, is_given) in [
            ("--snapshot-every", self.snapshot_every.is_some()),
            ("--checkpoint-every", self.checkpoint_every.is_some()),
            ("--force", self.force),
        ] {
            if is_given && self.output.is_none() {
                return Err(format!("{name} needs an --output"));
            }
        }
        if self.frame_every.is_some() && self.frames.is_none() {
            return Err("--frame-every needs --frames".to_owned());
        }
        let paths = [&self.output, &self.json, &self.plot, &self.csv];
        if self.every.is_some() && paths.iter().all(|path| path.is_none()) {
            return Err("--every records for --plot, --csv, --json or --output".to_owned());
        }
        claim::check_paths(self)
    }

    /// [`validate`](Self::validate), and locks what a run will write on its way, until the claim is dropped.
    ///
    /// # Errors
    ///
    /// Those of `validate`; another process writes one of the files; in words.
    pub fn claim(&self) -> Result<Claim, String> {
        self.validate()?;
        Claim::of([&self.output, &self.csv].into_iter().flatten())
    }

    /// Checks that the output, if it exists, is an earlier state of the run of `n` bodies with this `log`, or is
    /// to be replaced all the same.
    ///
    /// # Errors
    ///
    /// It is something else; in words.
    pub fn check_replaced(&self, n: usize, log: &Log) -> Result<(), String> {
        match self.replaced() {
            Some(path) => claim::check_replaced(path, n, log),
            None => Ok(()),
        }
    }

    /// The output, where it is a file that only an earlier state of this run may be: neither the input, nor one
    /// that is to be replaced all the same.
    pub fn replaced(&self) -> Option<&Path> {
        let output = self.output.as_deref().filter(|_| !self.force)?;
        (!claim::is_same(output, self.input.as_deref())).then_some(output)
    }

    /// Interval of the diagnostics of a run of this length; `None` where nobody will see them.
    ///
    /// # Errors
    ///
    /// It has a unit without meaning; in words.
    pub fn interval(&self, length: f64, galaxy: Option<&Galaxy>) -> Result<Option<f64>, String> {
        let wanted = self.plot.is_some() || self.csv.is_some() || self.every.is_some();
        Ok(match self.every {
            Some(every) => Some(every.of_bodies(galaxy)?),
            None if wanted => Some((length.abs().max(1e-9) / 64.0).log2().floor().exp2()),
            None => None,
        })
    }

    /// What a run of this length, of bodies in this galaxy, writes and notes on its way.
    ///
    /// # Errors
    ///
    /// A time has a unit without meaning; in words.
    pub fn plan(&self, length: f64, galaxy: Option<&Galaxy>) -> Result<RunOutputs, String> {
        let output = || self.output.clone().unwrap_or_default();
        let time = |given: Option<Quantity>| given.map(|t| t.of_bodies(galaxy)).transpose();
        let cadence = self.checkpoint_every.map(|given| given.interval(galaxy));
        let frame_every = time(self.frame_every)?;
        Ok(RunOutputs {
            records: self.interval(length, galaxy)?,
            csv: self.csv.clone(),
            snapshots: time(self.snapshot_every)?.map(|every| Snapshots {
                every,
                output: output(),
            }),
            checkpoints: cadence.transpose()?.map(|interval| Checkpoints {
                interval,
                path: output(),
            }),
            frames: self.frames.as_ref().map(|folder| Frames {
                every: frame_every.unwrap_or(length.abs().max(1e-6) / FRAMES),
                folder: folder.clone(),
            }),
            guard: None,
        })
    }

    /// What a run with this plan is to know of these options when it goes on.
    pub fn told(&self, plan: &RunOutputs) -> Vec<(&'static str, String)> {
        let Some(state) = &self.output else {
            return Vec::new();
        };
        let mut told = Vec::new();
        let paths = [&self.json, &self.plot, &self.csv, &self.frames];
        for (name, path) in PATHS.into_iter().zip(paths) {
            told.extend(path.as_ref().map(|path| (name, seen_from(state, path))));
        }
        let times = [
            plan.records,
            plan.snapshots.as_ref().map(|s| s.every),
            plan.frames.as_ref().map(|f| f.every),
        ];
        for (name, every) in TIMES.into_iter().zip(times) {
            told.extend(every.map(|every| (name, format!("{every:?}"))));
        }
        told.extend(
            self.checkpoint_every
                .map(|every| (CHECKPOINTS, every.to_string())),
        );
        told
    }

    /// These options for a run that goes on from the state in `input`, and where they say nothing what it was
    /// `told`. Without an output of its own it goes on in that file, and with the other files that belong to it.
    ///
    /// # Errors
    ///
    /// What it was told makes no sense; in words.
    pub fn or_told(&self, told: &Told, input: &Path) -> Result<Self, String> {
        if *told == Told::default() {
            return Ok(self.clone());
        }
        let path = |text: &str| Ok(beside(input, text));
        let in_place = self
            .output
            .as_ref()
            .is_none_or(|output| claim::is_same(output, Some(input)));
        let or_path = |given: &Option<PathBuf>, name: &str| match in_place {
            true => told.or(given.clone(), name, path),
            false => Ok(given.clone()),
        };
        let [json, plot, csv, frames] = PATHS;
        let [every, snapshot_every, frame_every] = TIMES;
        let frames = or_path(&self.frames, frames)?;
        let frame_every = match frames {
            Some(_) => told.or(self.frame_every, frame_every, quantity::interval)?,
            None => self.frame_every,
        };
        Ok(Self {
            input: self.input.clone(),
            output: Some(self.output.clone().unwrap_or_else(|| input.to_owned())),
            json: or_path(&self.json, json)?,
            plot: or_path(&self.plot, plot)?,
            csv: or_path(&self.csv, csv)?,
            every: told.or(self.every, every, quantity::interval)?,
            snapshot_every: told.or(self.snapshot_every, snapshot_every, quantity::interval)?,
            checkpoint_every: told.or(self.checkpoint_every, CHECKPOINTS, Cadence::parse)?,
            frames,
            frame_every,
            force: self.force,
        })
    }

    /// Writes the figures for programs and the plot, where they were asked for.
    ///
    /// # Errors
    ///
    /// A file cannot be written; in words.
    pub fn report(
        &self,
        json: impl FnOnce() -> Value,
        figure: impl FnOnce() -> Figure,
    ) -> Result<(), String> {
        if let Some(path) = &self.json {
            std::fs::write(path, format!("{:#}\n", json())).map_err(named(path))?;
        }
        match &self.plot {
            Some(path) => figure().save(path),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_recorded_for_a_plot() {
        let mut files = Files::default();
        assert_eq!(files.interval(1.0, None), Ok(None));
        files.plot = Some("a.svg".into());
        assert_eq!(files.interval(1.0, None), Ok(Some(1.0 / 64.0)));
        assert_eq!(files.interval(3.0, None), Ok(Some(1.0 / 32.0)));
        files.every = Some(0.3.into());
        assert_eq!(files.interval(1.0, None), Ok(Some(0.3)));
        files.every = Some(quantity::time("10Myr").unwrap());
        assert!(files.interval(1.0, None).is_err());
        let galaxy = Galaxy {
            told_units: true,
            ..Galaxy::default()
        };
        assert_eq!(
            files.interval(1.0, Some(&galaxy)),
            Ok(Some(10.0 / galaxy.units.time()))
        );
    }

    /// A run that goes on keeps its files and its cadence, whatever is left of its length; another output is
    /// another run, which keeps its cadence only.
    #[test]
    fn a_run_that_goes_on_keeps_what_it_was_told() {
        let files = Files {
            output: Some("/x/run.txt".into()),
            csv: Some("/x/run.csv".into()),
            plot: Some("/y/run.svg".into()),
            checkpoint_every: Some(Cadence::parse("30min").unwrap()),
            ..Files::default()
        };
        let plan = files.plan(2.0, None).unwrap();
        let told = Told::new(files.told(&plan));
        let input = Path::new("/z/run.txt");
        let again = Files {
            input: Some(input.into()),
            ..Files::default()
        };
        let again = again.or_told(&told, input).unwrap();
        assert_eq!(again.output.as_deref(), Some(input));
        assert_eq!(again.csv, Some("/z/run.csv".into()));
        assert_eq!(again.plot, Some("/y/run.svg".into()));
        assert_eq!(again.interval(0.5, None), Ok(Some(1.0 / 32.0)));
        assert_eq!(again.checkpoint_every, files.checkpoint_every);
        let other = Files {
            output: Some("/z/other.txt".into()),
            ..Files::default()
        };
        let other = other.or_told(&told, input).unwrap();
        assert_eq!((&other.csv, &other.plot), (&None, &None));
        assert_eq!(other.every, Some((1.0 / 32.0).into()));
        let nothing = Files::default().or_told(&Told::default(), input).unwrap();
        assert_eq!(nothing.output, None);
    }

    #[test]
    fn options_without_effect_are_refused() {
        let every = Files {
            every: Some(0.5.into()),
            ..Files::default()
        };
        assert!(every.validate().unwrap_err().contains("--csv"));
        let force = Files {
            force: true,
            ..Files::default()
        };
        assert!(force.validate().unwrap_err().contains("--output"));
    }
}
