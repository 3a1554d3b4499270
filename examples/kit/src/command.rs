//! What the commands share: options for models and files, numbers on the command line, and how a
//! run ends.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::body::Body;
use crate::interrupt;
use crate::models::{Components, DEFAULT_W0, MassFunction, Model, W0_RANGE, king};
use crate::number::{bodies, count, number};
use crate::plot::{self, Figure};
use crate::run::{Checkpoints, Frames, Interval, Log, RunOutputs, Snapshots, simulated};

/// Default number of bodies.
pub const DEFAULT_N: u64 = 1024;
/// Default seed of the random numbers.
pub const DEFAULT_SEED: u64 = 1;

/// Default number of frames of a film: ten seconds of 25.
const FRAMES: f64 = 250.0;

/// The initial model.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Start {
    /// Number of bodies of the model [default: 1024]
    #[arg(long, conflicts_with = "input", value_parser = bodies)]
    pub n: Option<u64>,
    /// Initial model [default: plummer]
    #[arg(long, value_enum, conflicts_with = "input")]
    pub model: Option<Model>,
    /// Seed of the random numbers [default: 1]
    #[arg(long, conflicts_with = "input", value_parser = count)]
    pub seed: Option<u64>,
    /// Central potential of the King model [default: 6]
    #[arg(long, value_name = "W0", conflicts_with = "input", value_parser = central_potential)]
    pub w0: Option<f64>,
    /// Masses of the bodies [default: equal]
    #[arg(long, value_enum, value_name = "NAME")]
    #[arg(conflicts_with_all = ["input", "mass_ratio"])]
    pub mass_function: Option<MassFunction>,
    /// Make some bodies this many times heavier than the others
    #[arg(long, value_name = "RATIO", conflicts_with = "input", value_parser = ratio)]
    #[arg(requires = "mass_fraction")]
    pub mass_ratio: Option<f64>,
    /// Part of all mass that is in the heavier bodies
    #[arg(long, value_name = "PART", conflicts_with = "input", value_parser = fraction)]
    #[arg(requires = "mass_ratio")]
    pub mass_fraction: Option<f64>,
}

impl Start {
    /// Seed of the random numbers.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// The log of a run that begins with the model.
    pub fn log(&self) -> Log {
        Log::begin(self.model.unwrap_or_default().title(), self.seed())
    }

    /// The bodies of the model.
    ///
    /// # Errors
    ///
    /// More bodies than this machine can count.
    pub fn bodies(&self) -> Result<Vec<Body>, std::num::TryFromIntError> {
        let n = usize::try_from(self.n.unwrap_or(DEFAULT_N))?;
        let mut bodies = match (self.model.unwrap_or_default(), self.w0) {
            (Model::King, w0) => king(n, w0.unwrap_or(DEFAULT_W0), self.seed()),
            (model, _) => model.make(n, self.seed()),
        };
        let masses = self.mass_function.unwrap_or_default();
        masses.assign(&mut bodies, self.seed());
        if let (Some(ratio), Some(fraction)) = (self.mass_ratio, self.mass_fraction) {
            Components { ratio, fraction }.divide(&mut bodies);
        }
        Ok(bodies)
    }
}

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
    /// Record diagnostics for plot, CSV and JSON at multiples of this time [default: about 64 times]
    #[arg(long, value_name = "DT", value_parser = simulated)]
    pub every: Option<f64>,
    /// Write everybody at multiples of this time: run.0000.txt, run.0001.txt, ... beside the
    /// --output run.txt
    #[arg(long, value_name = "DT", value_parser = simulated, requires = "output")]
    pub snapshot_every: Option<f64>,
    /// Replace the --output by the newest state at multiples of this time (1/4), or whenever so much
    /// time has passed on the wall (30min, 2h): what a crash leaves can be resumed
    #[arg(long, value_name = "INTERVAL", value_parser = Interval::parse, requires = "output")]
    pub checkpoint_every: Option<Interval>,
    /// Draw a film, one PNG after the other into this folder: `ffmpeg -framerate 25 -pattern_type glob
    /// -i 'DIR/frame.*.png' -pix_fmt yuv420p film.mp4` joins them
    #[arg(long, value_name = "DIR")]
    pub frames: Option<PathBuf>,
    /// Draw the film's frames at multiples of this time [default: about 250 frames]
    #[arg(long, value_name = "DT", value_parser = simulated, requires = "frames")]
    pub frame_every: Option<f64>,
}

impl Files {
    /// Checks before a long run that its files can be written after it.
    ///
    /// # Errors
    ///
    /// A figure of an unknown kind, or no folder for a file; in words.
    pub fn validate(&self) -> Result<(), String> {
        if let Some(path) = &self.plot {
            plot::check_path(path)?;
        }
        let paths = [&self.output, &self.json, &self.plot, &self.csv];
        for path in paths.into_iter().flatten() {
            let folder = path.parent().filter(|p| *p != Path::new(""));
            if folder.is_some_and(|folder| !folder.is_dir()) {
                return Err(format!("{}: there is no such folder", path.display()));
            }
        }
        Ok(())
    }

    /// Interval of the diagnostics of a run of this length; `None` where nobody will see them.
    pub fn interval(&self, length: f64) -> Option<f64> {
        let sixty_fourth = || (length.abs().max(1e-9) / 64.0).log2().floor().exp2();
        let wanted = self.plot.is_some() || self.csv.is_some() || self.every.is_some();
        wanted.then(|| self.every.unwrap_or_else(sixty_fourth))
    }

    /// What a run of this length writes and notes on its way.
    pub fn plan(&self, length: f64) -> RunOutputs {
        let output = || self.output.clone().unwrap_or_default();
        RunOutputs {
            records: self.interval(length),
            csv: self.csv.clone(),
            snapshots: self.snapshot_every.map(|every| Snapshots {
                every,
                output: output(),
            }),
            checkpoints: self.checkpoint_every.map(|interval| Checkpoints {
                interval,
                path: output(),
            }),
            frames: self.frames.as_ref().map(|folder| Frames {
                every: self.frame_every.unwrap_or(length.abs().max(1e-6) / FRAMES),
                folder: folder.clone(),
            }),
        }
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

/// Puts the file's name before what is wrong with it.
pub fn named<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> String {
    move |e| format!("{}: {e}", path.display())
}

/// A central potential of King's models.
fn central_potential(text: &str) -> Result<f64, String> {
    let (least, most) = W0_RANGE;
    match number(text)? {
        w0 if (least..=most).contains(&w0) => Ok(w0),
        _ => Err(format!("not from {least} to {most}")),
    }
}

/// A ratio of masses.
fn ratio(text: &str) -> Result<f64, String> {
    match number(text)? {
        ratio if ratio > 0.0 => Ok(ratio),
        _ => Err("not above 0".to_owned()),
    }
}

/// A part of a whole.
fn fraction(text: &str) -> Result<f64, String> {
    match number(text)? {
        part if part <= 1.0 => Ok(part),
        _ => Err("not from 0 to 1".to_owned()),
    }
}

/// How far a run got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// To the end that was asked for.
    Complete,
    /// To the step after which it was told to stop.
    Interrupted,
}

impl Ended {
    /// The time that was reached, for people.
    pub fn reached(self, time: f64, t_end: f64) -> String {
        match self {
            Self::Complete => format!("{time}"),
            Self::Interrupted => format!("{time}, interrupted on the way to {t_end}"),
        }
    }
}

/// Writes a line to stderr in one piece. (`eprintln!` writes it in parts, between which a launcher of ranks puts
/// lines of its own.)
pub fn tell(line: &str) {
    // A closed stderr is no reason to fail.
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// What the command called `name` returns to the shell; an error goes to stderr.
pub fn exit_code(name: &str, result: Result<Ended, Box<dyn std::error::Error>>) -> ExitCode {
    match result {
        Ok(Ended::Complete) => ExitCode::SUCCESS,
        Ok(Ended::Interrupted) => ExitCode::from(interrupt::EXIT_STATUS),
        Err(e) => {
            tell(&format!("{name}: {e}"));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_recorded_for_a_plot() {
        let mut files = Files::default();
        assert_eq!(files.interval(1.0), None);
        files.plot = Some("a.svg".into());
        assert_eq!(files.interval(1.0), Some(1.0 / 64.0));
        assert_eq!(files.interval(3.0), Some(1.0 / 32.0));
        files.every = Some(0.3);
        assert_eq!(files.interval(1.0), Some(0.3));
    }

    #[test]
    fn models_have_their_number_of_bodies() {
        for model in [Model::Plummer, Model::King, Model::Sphere, Model::Collision] {
            for n in [1, 2, 7] {
                let start = Start {
                    n: Some(n),
                    model: Some(model),
                    seed: None,
                    ..Start::default()
                };
                assert_eq!(start.bodies().map(|b| b.len() as u64), Ok(n));
            }
        }
    }
}
