//! The files that a run reads and writes, from the command line.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::claim::{self, Claim};
use crate::command::named;
use crate::galaxy::{Galaxy, Units};
use crate::quantity::{self, Quantity};
use crate::replace::behind_links;
use crate::run::{Cadence, Checkpoints, Frames, Log, RunOutputs, Snapshots, told};
use crate::snapshot::Snapshot;
use kirin_report::plot::{self, Figure};

/// Default number of frames of a film: ten seconds of 25.
const FRAMES: f64 = 250.0;

/// What a run reads and writes.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Files {
    /// Start from this file: a snapshot as text, an HDF5 file of GADGET's or AMUSE's layout, or a table whose first line
    /// names columns (id m x y z vx vy vz); one that holds a run's state is resumed
    #[arg(long, value_name = "FILE", value_parser = file())]
    #[serde(skip)]
    pub input: Option<PathBuf>,
    /// The bodies of the --input are in solar masses, pc and km/s: they are brought to units with G = 1, in which all mass and the
    /// half-mass radius are 1 if no option gives others
    #[arg(long)]
    #[serde(skip)]
    pub physical: bool,
    /// Write the final state, from which the run can be resumed; its name decides the format: .hdf5 or .h5 for GADGET's
    /// layout, .amuse for AMUSE's, any other for text. Bodies may be at times of their own in it: those of
    /// --snapshot-every, for other programs, are at one time
    #[arg(long, value_name = "FILE", value_parser = file())]
    #[serde(skip)]
    pub output: Option<PathBuf>,
    /// Write the summary's figures as JSON
    #[arg(long, value_name = "FILE")]
    #[serde(default, with = "told::path")]
    pub json: Option<PathBuf>,
    /// Draw energy error, virial ratio, Lagrangian radii, core radius, the bodies from above, and
    /// where the work went: .svg or .png
    #[arg(long, value_name = "FILE")]
    #[serde(default, with = "told::path")]
    pub plot: Option<PathBuf>,
    /// Write the diagnostics as CSV, each line as soon as it is recorded: time, energy, energy_error, virial_ratio,
    /// core_radius, core_density, Lagrangian radii
    #[arg(long, value_name = "FILE")]
    #[serde(default, with = "told::path")]
    pub csv: Option<PathBuf>,
    /// Record diagnostics for plot, CSV, JSON and output at multiples of this time (1/4, 10Myr) [default: with --plot
    /// or --csv a power of two that makes 64 to 128 records]
    #[arg(long, value_name = "DT", value_parser = quantity::interval)]
    #[serde(default, with = "told::interval")]
    pub every: Option<Quantity>,
    /// Write a snapshot of all bodies at multiples of this time: run.0000.txt, run.0001.txt, ... beside the --output
    /// run.txt
    #[arg(long, value_name = "DT", value_parser = quantity::interval)]
    #[serde(default, with = "told::interval")]
    pub snapshot_every: Option<Quantity>,
    /// Replace the --output by the newest state at multiples of this simulated time (1/4, 10Myr) or after each such
    /// wall-clock time (30min, 2h), so that a run that crashes can be resumed
    #[arg(long, value_name = "INTERVAL", value_parser = Cadence::parse)]
    #[serde(default, with = "told::cadence")]
    pub checkpoint_every: Option<Cadence>,
    /// Draw a film, one PNG after the other into this folder: `ffmpeg -framerate 25 -pattern_type glob
    /// -i 'DIR/frame.*.png' -pix_fmt yuv420p film.mp4` joins them
    #[arg(long, value_name = "DIR")]
    #[serde(default, with = "told::path")]
    pub frames: Option<PathBuf>,
    /// Draw the film's frames at multiples of this time [default: about 250 frames]
    #[arg(long, value_name = "DT", value_parser = quantity::interval)]
    #[serde(default, with = "told::interval")]
    pub frame_every: Option<Quantity>,
    /// Replace an --output that holds other bodies, a later state of this run, or something else; and snapshots and
    /// frames of other times
    #[arg(long)]
    #[serde(skip)]
    pub force: bool,
}

/// The file that an option names. A symbolic link is followed here, so that everything beside the file is where it leads.
fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| behind_links(&path))
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
            ("--force", self.force && self.frames.is_none()),
        ] {
            if is_given && self.output.is_none() {
                return Err(format!("{name} needs an --output"));
            }
        }
        // Clap asks for no option that conflicts with a given one, as --input does with --n.
        if self.physical && self.input.is_none() {
            return Err("--physical is for the bodies of an --input".to_owned());
        }
        if self.frame_every.is_some() && self.frames.is_none() {
            return Err("--frame-every needs --frames".to_owned());
        }
        let paths = [&self.output, &self.json, &self.plot, &self.csv];
        if self.every.is_some() && paths.iter().all(|path| path.is_none()) {
            return Err("--every records for --plot, --csv, --json or --output".to_owned());
        }
        claim::check_paths(self, None)
    }

    /// [`validate`](Self::validate) for a report, which replaces no snapshot.
    ///
    /// # Errors
    ///
    /// Those of `validate`; one of the report's files is a snapshot; in words.
    pub fn validate_report(&self) -> Result<(), String> {
        self.validate()?;
        keep_snapshots([&self.output, &self.json, &self.plot].into_iter().flatten())
    }

    /// [`validate`](Self::validate), and locks what a run will write on its way, until the claim is dropped. Only its output
    /// may replace a snapshot.
    ///
    /// # Errors
    ///
    /// Those of `validate`; a table or a figure would replace a snapshot; another process writes one of the files; in words.
    pub fn claim(&self) -> Result<Claim, String> {
        self.claim_with(None)
    }

    /// [`claim`](Self::claim) of a run that also writes a table to `more`.
    ///
    /// # Errors
    ///
    /// Those of `claim`, for that file too; in words.
    pub fn claim_with(&self, more: Option<&PathBuf>) -> Result<Claim, String> {
        let claim = self.claim_all(more)?;
        keep_snapshots(more.into_iter())?;
        Ok(claim)
    }

    /// [`claim`](Self::claim) of a run that also writes a snapshot to `bodies` at its end. That may replace another
    /// snapshot, but not the state of a run.
    ///
    /// # Errors
    ///
    /// Those of `claim`, for that file too; in words.
    pub fn claim_with_bodies(&self, bodies: Option<&PathBuf>) -> Result<Claim, String> {
        let claim = self.claim_all(bodies)?;
        match bodies.filter(|path| claim::holds_state(path)) {
            Some(path) => Err(named(path)(
                "it holds the state of a run, and bodies would replace it: another name keeps it",
            )),
            None => Ok(claim),
        }
    }

    /// Checks all files of a run that also writes `more`, and locks its own.
    fn claim_all(&self, more: Option<&PathBuf>) -> Result<Claim, String> {
        self.validate()?;
        claim::check_paths(self, more)?;
        keep_snapshots([&self.json, &self.plot, &self.csv].into_iter().flatten())?;
        Claim::of([&self.output, &self.csv].into_iter().flatten())
    }

    /// Checks that the run of `n` bodies with this `log`, from `start` to `t_end` in this galaxy, replaces nothing that
    /// is not its own past: the output, if it exists, is an earlier state of this run, and snapshots and frames are of
    /// the times that it will write. With `--force` everything may be replaced.
    ///
    /// # Errors
    ///
    /// Something else would be replaced; in words.
    pub fn check_replaced(
        &self,
        n: usize,
        (start, t_end): (f64, f64),
        galaxy: Option<&Galaxy>,
        log: &Log,
    ) -> Result<(), String> {
        if let Some(path) = self.replaced() {
            claim::check_replaced(path, n, start, log)?;
        }
        if self.force {
            return Ok(());
        }
        if let Some(path) = self.output.as_deref().filter(|_| self.replaced().is_none()) {
            claim::check_in_place(path)?;
        }
        let plan = self.plan(t_end - start, galaxy)?;
        if let Some(snapshots) = &plan.snapshots {
            snapshots.check(start, t_end)?;
        }
        plan.frames.map_or(Ok(()), |frames| frames.check(log.film))
    }

    /// The snapshot in the input, if there is one, its bodies [brought to units](Self::bring_to_units).
    ///
    /// # Errors
    ///
    /// It cannot be read, or not be brought to units; in words.
    pub fn read(&self, chosen: impl FnOnce(Units) -> Units) -> Result<Option<Snapshot>, String> {
        let Some(path) = &self.input else {
            return Ok(None);
        };
        let mut snapshot = Snapshot::load(path).map_err(named(path))?;
        let brought = self.bring_to_units(&mut snapshot, chosen);
        brought.map_err(named(path))?;
        Ok(Some(snapshot))
    }

    /// Brings the bodies of the input from solar masses, pc and km/s to the units that `chosen` makes of their own, if the options say so.
    ///
    /// # Errors
    ///
    /// Those of [`Snapshot::bring_to_units`].
    pub fn bring_to_units(
        &self,
        snapshot: &mut Snapshot,
        chosen: impl FnOnce(Units) -> Units,
    ) -> Result<(), String> {
        match self.physical {
            true => snapshot.bring_to_units(chosen),
            false => Ok(()),
        }
    }

    /// The path of the output, if a file there must be an earlier state of this run. `None` if the output is the input
    /// itself, if the user allows any file to be replaced, or without an output.
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
            output: self.output.clone(),
            ..RunOutputs::default()
        })
    }

    /// The files that belong to the output: another output is another run's.
    pub(crate) fn belongings(&mut self) -> Vec<&mut Option<PathBuf>> {
        vec![
            &mut self.json,
            &mut self.plot,
            &mut self.csv,
            &mut self.frames,
        ]
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

/// Refuses to replace a snapshot by what is none.
fn keep_snapshots<'p>(mut paths: impl Iterator<Item = &'p PathBuf>) -> Result<(), String> {
    match paths.find(|path| claim::time_of(path).is_some()) {
        Some(path) => Err(format!(
            "{}: it holds a snapshot, and a table or a report would replace it: another name keeps it",
            path.display()
        )),
        None => Ok(()),
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

    #[cfg(unix)]
    #[test]
    fn input_and_output_are_where_links_lead() {
        use clap::{Args, FromArgMatches};

        let folder = kirin_testing::Folder::new("kit-link-options");
        let [disk, link] = ["disk.txt", "run.txt"].map(|name| folder.file(name));
        std::os::unix::fs::symlink(&disk, &link).unwrap();
        let given = ["x", "--input", &link, "--output", &link];
        let found = Files::augment_args(clap::Command::new("x")).get_matches_from(given);
        let files = Files::from_arg_matches(&found).unwrap();
        assert_eq!(
            [files.input, files.output],
            [Some(disk.clone().into()), Some(disk.into())]
        );
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
        let physical = Files {
            physical: true,
            ..Files::default()
        };
        assert!(physical.validate().unwrap_err().contains("--input"));
    }
}
