//! Shared by the commands: options for models and files, and the end of a run.

use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::body::Body;
use crate::galaxy::Units;
use crate::interrupt;
use crate::models::{
    BinaryOptions, Components, DEFAULT_W0, MassFunction, Model, central_potential, king,
};
use crate::number::{bodies, count, number};
use crate::run::Log;

pub use crate::files::Files;

/// Default number of bodies.
pub const DEFAULT_N: u64 = 1024;
/// Default seed of the random numbers.
pub const DEFAULT_SEED: u64 = 1;

/// Why a collision has no other masses and no binaries: they bring the whole model to standard units, with which its
/// parabolic orbit would be a bound one.
const COLLISION: &str =
    "--model collision has equal single stars: {} would change the orbit of its two spheres";

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
    /// Masses of the bodies: equal, salpeter (m^-2.35 from 0.1 to 100 solar masses), kroupa (m^-1.3 from 0.08, m^-2.3
    /// from 0.5 to 100), or an exponent with the least and the largest mass, as in 2.35,0.1,10 [default: equal]
    #[arg(long, value_name = "FUNCTION", value_parser = MassFunction::parse)]
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

    /// Number of bodies.
    pub fn count(&self) -> u64 {
        self.n.unwrap_or(DEFAULT_N)
    }

    /// Checks that every option has an effect.
    ///
    /// # Errors
    ///
    /// One has none; in words.
    pub fn validate(&self) -> Result<(), String> {
        match (self.w0, self.model.unwrap_or_default()) {
            (Some(_), model) if model != Model::King => {
                Err("--w0 belongs to --model king".to_owned())
            }
            (_, Model::Collision)
                if self.mass_function.unwrap_or_default() != MassFunction::default() =>
            {
                Err(COLLISION.replace("{}", "--mass-function"))
            }
            (_, Model::Collision) if self.mass_ratio.is_some() => {
                Err(COLLISION.replace("{}", "--mass-ratio"))
            }
            _ => match (self.mass_ratio, self.mass_fraction) {
                (Some(ratio), Some(fraction)) => {
                    Components { ratio, fraction }.check(self.stars()?)
                }
                // clap asks for neither where another option excludes it.
                (Some(_), None) => Err("--mass-ratio needs --mass-fraction".to_owned()),
                (None, Some(_)) => Err("--mass-fraction needs --mass-ratio".to_owned()),
                (None, None) => Ok(()),
            },
        }
    }

    /// A message for the user of a model with these units.
    pub fn remark(&self, units: Option<&Units>) -> Option<String> {
        let masses = self.mass_function.unwrap_or_default();
        masses.remark(self.count(), units)
    }

    /// The bodies of the model.
    ///
    /// # Errors
    ///
    /// Options that do not belong together, or more bodies than this machine can count; in words.
    pub fn bodies(&self) -> Result<Vec<Body>, String> {
        let mut bodies = self.places(self.stars()?)?;
        let masses = self.mass_function.unwrap_or_default();
        masses.assign(&mut bodies, self.seed());
        if let (Some(ratio), Some(fraction)) = (self.mass_ratio, self.mass_fraction) {
            Components { ratio, fraction }.divide(&mut bodies);
        }
        Ok(bodies)
    }

    /// The stars of the model, some of which are `binaries`, with these units if they have any.
    ///
    /// # Errors
    ///
    /// Those of [`bodies`](Self::bodies), or periods that need units.
    pub fn stars_with(
        &self,
        binaries: &BinaryOptions,
        units: Option<&Units>,
    ) -> Result<Vec<Body>, String> {
        if binaries.binary_fraction.is_none() {
            return self.bodies();
        }
        if self.model == Some(Model::Collision) {
            return Err(COLLISION.replace("{}", "--binary-fraction"));
        }
        let n = self.stars()?;
        let centres = self.places(n - binaries.count(n))?;
        let masses = self.mass_function.unwrap_or_default();
        binaries.split(n, centres, masses, self.seed(), units)
    }

    fn stars(&self) -> Result<usize, String> {
        usize::try_from(self.count()).map_err(|e| e.to_string())
    }

    /// `n` equal bodies of the model.
    fn places(&self, n: usize) -> Result<Vec<Body>, String> {
        self.validate()?;
        Ok(match (self.model.unwrap_or_default(), self.w0) {
            (Model::King, w0) => king(n, w0.unwrap_or(DEFAULT_W0), self.seed()),
            (model, _) => model.make(n, self.seed()),
        })
    }
}

/// Refuses options that are given without the `other` one, which they need. clap does not ask for an option that another one excludes: with `--n`,
/// which excludes `--input`, its `requires = "input"` says nothing. `options` are names, and whether they are given.
///
/// # Errors
///
/// One is given; in words.
pub fn check_needed(other: &str, is_there: bool, options: &[(&str, bool)]) -> Result<(), String> {
    match options.iter().find(|(_, is_given)| *is_given && !is_there) {
        Some((option, _)) => Err(format!("{option} needs {other}")),
        None => Ok(()),
    }
}

/// Puts the file's name before what is wrong with it.
pub fn named<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> String {
    move |e| format!("{}: {e}", path.display())
}

/// A ratio of masses.
fn ratio(text: &str) -> Result<f64, String> {
    match number(text)? {
        ratio if ratio > 0.0 => Ok(ratio),
        _ => Err("not above 0".to_owned()),
    }
}

/// A part of a whole.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    match number(text)? {
        part if part <= 1.0 => Ok(part),
        _ => Err("not from 0 to 1".to_owned()),
    }
}

/// Exit status of a program that stopped because its wall-clock time was over: `EX_TEMPFAIL` of sysexits.h (try again).
pub const TIME_LIMIT_STATUS: u8 = 75;

/// Where a part of a run is computed that a GPU and the processor can compute with the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Device {
    /// The program chooses
    #[default]
    Auto,
    /// On the processor
    Cpu,
    /// On the first GPU that KIRIN_DEVICES names
    Gpu,
}

/// How far a run got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// To the end that was asked for.
    Complete,
    /// To the step after which it was told to stop.
    Interrupted,
    /// To where its time on the wall was over.
    TimeLimit,
    /// To where its energy error made the rest worthless.
    EnergyError,
    /// To the end that was asked for, but some of its files could not be written.
    Unwritten,
}

impl Ended {
    /// The time that was reached, for people.
    pub fn reached(self, time: f64, t_end: f64) -> String {
        match self {
            Self::Complete | Self::Unwritten => format!("{time}"),
            Self::Interrupted => format!("{time}, interrupted on the way to {t_end}"),
            Self::TimeLimit => format!("{time}, ended by --stop-after on the way to {t_end}"),
            Self::EnergyError => format!("{time}, ended by the energy error on the way to {t_end}"),
        }
    }
}

/// Writes a line to stderr in one piece. (`eprintln!` writes it in parts, between which a launcher of ranks puts
/// lines of its own.)
pub fn tell(line: &str) {
    // A closed stderr is no reason to fail.
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Writes to stdout. A reader that has gone away, such as `head`, is no error.
///
/// # Errors
///
/// The text cannot be written, as on a full disk; in words.
pub fn print(text: &str) -> Result<(), String> {
    print_to_reader(text).map(|_| ())
}

/// Like [`print()`]. Breaks where the reader has gone away: what a program prints later has no reader either.
///
/// # Errors
///
/// Those of [`print()`].
pub fn print_to_reader(text: &str) -> Result<ControlFlow<()>, String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(e) => Err(format!("stdout: {e}")),
    }
}

/// Whether another process is the first of the ranks that this process is one of.
static IS_LATER_RANK: AtomicBool = AtomicBool::new(false);

/// Notes that another process is the first rank. From now on it says what all ranks find ([`tell_once`]).
#[cfg(feature = "mpi")]
pub(crate) fn be_later_rank() {
    IS_LATER_RANK.store(true, Relaxed);
}

/// Writes a line to stderr that each rank of a run, process or thread, wants to say. It is written once.
pub fn tell_once(line: &str) {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut told = TOLD.lock().unwrap_or_else(|e| e.into_inner());
    if !IS_LATER_RANK.load(Relaxed) && !told.iter().any(|other| other == line) {
        tell(line);
        told.push(line.to_owned());
    }
}

/// What the command called `name` returns to the shell; an error goes to stderr.
pub fn exit_code(name: &str, result: Result<Ended, Box<dyn std::error::Error>>) -> ExitCode {
    match result {
        Ok(Ended::Complete) => ExitCode::SUCCESS,
        Ok(Ended::Interrupted) => ExitCode::from(interrupt::EXIT_STATUS),
        Ok(Ended::TimeLimit) => ExitCode::from(TIME_LIMIT_STATUS),
        Ok(Ended::EnergyError | Ended::Unwritten) => ExitCode::FAILURE,
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
    fn options_without_effect_are_refused() {
        let start = Start {
            w0: Some(4.0),
            ..Start::default()
        };
        assert!(start.bodies().unwrap_err().contains("--model king"));
        let start = Start {
            n: Some(64),
            mass_ratio: Some(10.0),
            mass_fraction: Some(0.05),
            ..Start::default()
        };
        assert!(start.bodies().unwrap_err().contains("--mass-fraction"));
    }

    /// Other masses and binaries would change the orbit of the two spheres.
    #[test]
    fn a_collision_has_equal_single_stars() {
        let start = Start {
            n: Some(64),
            model: Some(Model::Collision),
            ..Start::default()
        };
        let binaries = BinaryOptions {
            binary_fraction: Some(0.5),
            ..BinaryOptions::default()
        };
        assert!(start.stars_with(&BinaryOptions::default(), None).is_ok());
        let of_masses = Start {
            mass_function: Some(MassFunction::parse("salpeter").unwrap()),
            ..start.clone()
        };
        let of_two_masses = Start {
            mass_ratio: Some(5.0),
            mass_fraction: Some(0.1),
            ..start.clone()
        };
        for (refused, option) in [
            (start.stars_with(&binaries, None), "--binary-fraction"),
            (of_masses.bodies(), "--mass-function"),
            (of_two_masses.bodies(), "--mass-ratio"),
        ] {
            assert!(refused.unwrap_err().contains(option));
        }
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
