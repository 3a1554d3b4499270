//! The command line, and the settings that result from it.

use std::path::Path;

use clap::{Args, Parser};
use kirin_kit::Body;
use kirin_kit::Snapshot;
use kirin_kit::command::{Start, check_needed};
use kirin_kit::comparison::ReportOptions;
use kirin_kit::galaxy::{Galaxy, GalaxyOptions};
use kirin_kit::library::LibraryOption;
use kirin_kit::models::BinaryOptions;
use kirin_kit::number::number;
use kirin_kit::quantity::{self, Quantity};
use kirin_kit::run::{Guard, Kept, RunControl, check_end};
use kirin_kit::settings::{Given, contradiction};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::settings::{MAY_CHANGE, Settings};

/// Default end of the run.
pub const DEFAULT_T_END: f64 = 1.0;
/// Memory of a run for each body, and that of another rank which begins with all bodies.
const BYTES: u64 = 600;
const COPY: u64 = 64;

const METHOD: &str = "\
METHOD
  Fourth-order Hermite scheme with individual block time steps, all forces through the g6_* calls.
  Units are G = M = 1, E = -1/4 (a Plummer sphere in virial equilibrium, unless --input is given).

  Step        dt = sqrt(eta (|a| |a2| + |a1|^2) / (|a1| |a3| + |a2|^2)), Aarseth's criterion;
              a, a1, a2, a3: acceleration and its derivatives at the end of the step before.
              The largest power of two below it is taken. A step is halved as often as needed,
              doubled once at a time, and only at multiples of the doubled step.
  First step  the same, with a2 and a3 from the force at the end of a trial step of |a| / (16 |a1|), which nobody
              takes; with --eta-start dt = eta_start |a| / |a1|
  Largest     1/8 (--dt-max)
  Smallest    what the digits of the time can hold (2^-52 at t = 1), or --dt-min: the run ends with an
              error where a smaller one is needed, and its --output can be resumed with another
              --dt-min or --eta. A close binary of period P takes steps of about sqrt(eta) P / 2 pi.
  Galaxy      its acceleration and jerk are added to those of the pairs; units are those of the cluster:
              --cluster-mass and --cluster-radius say what they are in solar masses and pc
  Energy      |E - E0| / |E0| in double precision on the host, of positions and velocities
              brought to one time by a step of a copy: looking does not change the run

  Guard       an energy error above 1e-3 of the cluster's own T + W is told once, above 0.1 the run ends with
              its state saved (--energy-warning, --energy-limit); two stars that make most of the blocks are
              named with the options that help
  Pairs       --regularize: stars that are close move about their centre as if they were alone, with kicks of the tide at
              both ends of a step, whose error is of fifth order: two in closed form, more by algorithmic regularization.
              A tide below 2.5e-6 acts on a binary in the mean. Other stars feel the members. Near other stars steps
              have eta/5. Energy errors are in parts of the energy without the systems. --eps 0
  Binaries    --binary-fraction 0.5: half of the systems are two stars, --n counts stars. The centres of the systems
              are the model, in units with E = -1/4; the energies within binaries come on top. With --eps 0
  Bound       virial ratio (T / |W|) and Lagrangian radii are those of the bound stars
  Units       500Myr, 1.5Gyr, 0.2pc and 8kpc are read in a galaxy or with --units 1e4Msun,3pc

  Ctrl-C, SIGTERM and SIGHUP end the run after the current block, with the summary and all files that
  were asked for; `--input` of that `--output` goes on with the same bits, to the same end, with the same
  files and intervals. --t-end, files, intervals, --stop-after, --energy-warning, --energy-limit, --library, --eta
  and --dt-min may be others then, and --regularize may begin (with --eps 0). A signal that comes more
  than a second after the first ends at once.

EXAMPLES
    hermite --n 4096 --plot cluster.png
    hermite --n 1e4 --t-end 100 --output run.txt --snapshot-every 1 --checkpoint-every 30min --csv run.csv
    hermite --input run.txt --t-end 200

  Report      Tables 4.1 and 4.2, Figures 4.2 and 4.3 of the thesis (2007) beside this device; the
              runs have eps = 1/256, eta = 0.03, eta_start = 0.01 and end at t = 0.5, their second
              half is timed (--eps, --eta, --eta-start, --dt-max and --t-end change that)

  Precision, threads and GPUs are settings of the library: KIRIN_PRECISION=double, KIRIN_THREADS=4 (`kirin info`).
  Numbers may be fractions, as in --eps 1/256.";

/// Evolves a star cluster through the GRAPE-6 interface.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "hermite", version, after_help = METHOD, allow_negative_numbers = true)]
#[command(mut_arg("regularize", |arg| arg.conflicts_with("report")))]
pub struct Options {
    /// The run.
    #[command(flatten)]
    pub run: RunOptions,
    /// Whether to make a report.
    #[command(flatten)]
    pub comparison: ReportOptions,
    /// Measure for a report, by requests on stdin
    #[arg(long, hide = true, requires = "report")]
    pub worker: bool,
}

/// The options of a run that `parallel` has too.
#[derive(Clone, Debug, Default, Args)]
pub struct RunOptions {
    /// Where to start.
    #[command(flatten)]
    pub start: Start,
    /// Which of the stars begin as binaries.
    #[command(flatten)]
    pub binaries: BinaryOptions,
    /// Softening length [default: that of the --input, or 1/256]
    #[arg(long, value_parser = quantity::length)]
    pub eps: Option<Quantity>,
    /// Accuracy and steps.
    #[command(flatten)]
    pub settings: Given<Settings>,
    /// Give everybody this one constant step, a power of two, instead of individual ones
    #[arg(long, value_name = "H", value_parser = number)]
    #[arg(conflicts_with_all = ["eta", "eta_start", "dt_max", "dt_min", "regularize", "report"])]
    pub shared_step: Option<f64>,
    /// Its end, files and guard.
    #[command(flatten)]
    pub control: RunControl<Own>,
    /// What there is around the cluster.
    #[command(flatten)]
    pub galaxy: GalaxyOptions,
    /// Time at which the bodies of the --input begin, a multiple of the largest step [default: the time of the input]
    #[arg(long, value_name = "TIME", requires = "input", value_parser = quantity::time)]
    pub t_start: Option<Quantity>,
}

/// What a run keeps besides what all programs keep: its guard, and what sums its forces.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Own {
    /// The guard of its energy.
    #[command(flatten)]
    #[serde(flatten)]
    pub guard: Guard,
    /// The library that sums its forces.
    #[command(flatten)]
    #[serde(flatten)]
    pub library: LibraryOption,
}

impl Kept for Own {}

impl AsRef<Guard> for Own {
    fn as_ref(&self) -> &Guard {
        &self.guard
    }
}

impl RunOptions {
    /// The file of the library; `None` for the linked kirin.
    pub fn library(&self) -> Option<&Path> {
        self.control.own.library.path()
    }

    /// Checks that a model of so many bodies has room here, `ranks` of which each have all of them.
    ///
    /// # Errors
    ///
    /// It has none; in words.
    pub fn check_memory(&self, ranks: u64) -> Result<(), String> {
        let bytes = BYTES + (ranks - 1) * COPY;
        self.control.check_memory(self.start.count(), bytes)
    }

    /// The end of a run in this galaxy that is at `time`.
    ///
    /// # Errors
    ///
    /// It is no later, or has a unit that nothing gives a meaning; in words.
    pub fn t_end(&self, galaxy: &Galaxy, time: f64) -> Result<f64, String> {
        let t_end = self.galaxy.t_end(&self.control, DEFAULT_T_END, galaxy)?;
        check_end(time, t_end)?;
        Ok(t_end)
    }

    /// The settings of a new run, or those of the `saved` one. Options may change the limits of accuracy of a saved
    /// run, `--eta` and `--dt-min`. The saved steps and the energy depend on the other settings: an option may repeat
    /// what was saved, but not contradict it. If the saved run has no regularized systems, `--regularize` begins them, and
    /// `--eps` may end the softening with that.
    ///
    /// # Errors
    ///
    /// A contradiction.
    pub fn settings(&self, saved: Option<Settings>) -> Result<Settings, Error> {
        let Some(saved) = saved else {
            return self.new_settings(self.galaxy.galaxy(None)?, None);
        };
        self.galaxy.check_resumed()?;
        if self.t_start.is_some() {
            let why = "--t-start is for bodies that begin a run, and the input is the state of one";
            return Err(Error::Refused(why.to_owned()));
        }
        let eps = match self.eps {
            Some(eps) => Some(eps.of_bodies(Some(&saved.galaxy))?),
            None => None,
        };
        let regularize = self.settings.all.regularize;
        let saved = match saved.regularize == 0.0 && regularize > 0.0 {
            true => Settings {
                regularize,
                eps: eps.unwrap_or(saved.eps),
                ..saved
            },
            false => saved,
        };
        let of_steps = |step: f64| saved.shared && step == saved.dt_max;
        let refuse = |name, saved| Err(Error::Refused(contradiction(name, saved, &MAY_CHANGE)));
        if eps.is_some_and(|eps| eps != saved.eps) {
            return refuse("eps", saved.eps.to_string());
        }
        if !self.shared_step.is_none_or(of_steps) {
            let steps = match saved.shared {
                true => saved.dt_max.to_string(),
                false => "individual steps".to_owned(),
            };
            return refuse("shared_step", steps);
        }
        self.settings.check(&saved, &MAY_CHANGE)?;
        Ok(Settings {
            galaxy: self.galaxy.galaxy(Some(saved.galaxy))?,
            ..self.settings.or(&saved)?
        })
    }

    /// The settings of a new run in `galaxy`. `known` is the softening that its bodies had so far.
    ///
    /// # Errors
    ///
    /// A softening with a unit that has no meaning.
    pub fn new_settings(&self, galaxy: Galaxy, known: Option<f64>) -> Result<Settings, Error> {
        galaxy.check_constant()?;
        let default = Settings::default();
        let settings = self.settings_or(default.eta, default.eta_start, galaxy)?;
        let known = known.filter(|_| self.eps.is_none());
        Ok(Settings {
            eps: known.unwrap_or(settings.eps),
            ..settings
        })
    }

    /// The settings of a new run of the bodies of `snapshot`, and what the user is to hear of them.
    ///
    /// # Errors
    ///
    /// The options contradict the galaxy that the snapshot names; a softening with a unit that has no meaning.
    pub fn settings_of(&self, snapshot: &Snapshot) -> Result<(Settings, Option<String>), Error> {
        let known = snapshot.softening()?;
        let settings = self.new_settings(self.galaxy_of(snapshot)?, known)?;
        let is_taken = known.is_some() && self.eps.is_none();
        let softening =
            is_taken.then(|| format!("softening {}, which is the input's", settings.eps));
        let has_weightless = snapshot.bodies.iter().any(|body| body.mass == 0.0);
        let weightless = (has_weightless && settings.regularize > 0.0).then(|| {
            "--regularize: bodies without mass are in no pair; a small mass makes them members"
                .to_owned()
        });
        let remarks: Vec<String> = [softening, weightless].into_iter().flatten().collect();
        Ok((settings, (!remarks.is_empty()).then(|| remarks.join("; "))))
    }

    /// Checks that the options which need others have them.
    ///
    /// # Errors
    ///
    /// One has not; in words.
    pub fn check(&self) -> Result<(), String> {
        self.binaries.check(self.start.count())?;
        let has_input = self.control.files.input.is_some();
        check_needed(
            "--input",
            has_input,
            &[("--t-start", self.t_start.is_some())],
        )
    }

    /// What the user of a new run of a model with these settings is to hear.
    pub fn remarks(&self, settings: &Settings) -> Vec<String> {
        let has_binaries = self.binaries.binary_fraction.is_some_and(|part| part > 0.0);
        let dissolves = (has_binaries && settings.eps != 0.0).then(|| {
            format!(
                "--binary-fraction: the softening of {} dissolves binaries; --eps 0 --regularize keeps them",
                settings.eps
            )
        });
        let units = settings.galaxy.known_units();
        let remarks = [self.start.remark(units.as_ref()), dissolves];
        remarks.into_iter().flatten().collect()
    }

    /// The settings of a new run in `galaxy`, with these accuracy parameters where the options have none.
    ///
    /// # Errors
    ///
    /// A softening with a unit that has no meaning.
    pub fn settings_or(&self, eta: f64, eta_start: f64, galaxy: Galaxy) -> Result<Settings, Error> {
        let default = Settings {
            eta,
            eta_start,
            ..Settings::default()
        };
        let eps = self.eps.map(|eps| eps.of_bodies(Some(&galaxy)));
        let settings = self.settings.or(&default)?;
        Ok(Settings {
            eps: eps.transpose()?.unwrap_or(default.eps),
            dt_max: self.shared_step.unwrap_or(settings.dt_max),
            shared: self.shared_step.is_some(),
            galaxy,
            ..settings
        })
    }

    /// The bodies of a new run in `galaxy`, on their orbit.
    ///
    /// # Errors
    ///
    /// More bodies than this machine can count, or an orbit that is none.
    pub fn bodies(&self, galaxy: &Galaxy) -> Result<Vec<Body>, Error> {
        let units = galaxy.known_units();
        let mut bodies = self.start.stars_with(&self.binaries, units.as_ref())?;
        self.galaxy.orbit(galaxy)?.place(galaxy, &mut bodies);
        Ok(bodies)
    }

    /// Puts the bodies of `snapshot` where the options say, and returns the time at which their run begins in the galaxy
    /// of these `settings`.
    ///
    /// # Errors
    ///
    /// Options that do not belong together; a time with a unit that has no meaning.
    pub fn place(&self, settings: &Settings, snapshot: &mut Snapshot) -> Result<f64, Error> {
        let galaxy = &settings.galaxy;
        if self.t_start.is_some() && self.galaxy.places() {
            let why = "--t-start is for bodies that stay where they are: --orbit, --radius, --position, --velocity and \
                       --back say when their run begins";
            return Err(Error::Refused(why.to_owned()));
        }
        let time = self.galaxy.place(galaxy, snapshot, settings.eps)?;
        match self.t_start {
            Some(start) => Ok(start.of_bodies(Some(galaxy))?),
            None => Ok(time),
        }
    }

    /// The galaxy of a run that begins with the bodies of `snapshot`, which may name one.
    ///
    /// # Errors
    ///
    /// The options contradict it, or its line makes no sense.
    pub fn galaxy_of(&self, snapshot: &Snapshot) -> Result<Galaxy, Error> {
        Ok(self.galaxy.galaxy_of(snapshot)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::command::{DEFAULT_N, DEFAULT_SEED};
    use kirin_testing::readme::understood;

    fn options(arguments: &[&str]) -> RunOptions {
        Options::parse_from([&["hermite"], arguments].concat()).run
    }

    #[test]
    fn the_help_states_the_method_and_the_defaults() {
        let help = understood::<Options>(include_str!("../README.md"), "hermite");
        let settings = options(&[]).settings(None).unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!((settings.eta, settings.eps), (0.01, 1.0 / 256.0));
        assert_eq!((settings.dt_max, settings.eta_start), (0.125, 0.0));
        assert_eq!((DEFAULT_N, DEFAULT_T_END, DEFAULT_SEED), (1024, 1.0, 1));
        for words in [
            "sqrt(eta (|a| |a2| + |a1|^2) / (|a1| |a3| + |a2|^2))",
            "eta_start |a| / |a1|",
            "[default: 1024]",
            "[default: that of the --input, or 1/256]",
            "[default: 0.01]",
            "[default: 1/8]",
            "time at which to end",
        ] {
            assert!(
                help.to_lowercase().contains(&words.to_lowercase()),
                "{words}\n{help}"
            );
        }
    }

    #[test]
    fn a_resumed_run_keeps_its_settings() {
        let saved = Settings {
            eps: 0.5,
            ..Settings::default()
        };
        assert_eq!(options(&[]).settings(Some(saved)), Ok(saved));
        assert_eq!(options(&["--eps", "1/2"]).settings(Some(saved)), Ok(saved));
        assert!(options(&["--eps", "1"]).settings(Some(saved)).is_err());
        assert!(options(&["--dt-max", "1/4"]).settings(Some(saved)).is_err());
        let finer = Settings {
            eta: 0.005,
            dt_min: 2.0_f64.powi(-50),
            ..saved
        };
        let changed = options(&["--eta", "0.005", "--dt-min", "2^-50"]);
        assert_eq!(changed.settings(Some(saved)), Ok(finer));
        assert!(
            options(&["--shared-step", "1/8"])
                .settings(Some(saved))
                .is_err()
        );
    }

    #[test]
    fn a_shared_step_is_the_largest_step() {
        let settings = options(&["--shared-step", "1/64"]).settings(None).unwrap();
        assert!(settings.shared && settings.dt_max == 1.0 / 64.0);
    }
}
