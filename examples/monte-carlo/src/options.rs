//! The command line.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::Parser;
use kirin_kit::Snapshot;
use kirin_kit::command::{Device, Start};
use kirin_kit::communicator::network::Network;
use kirin_kit::galaxy::{Galaxy, UnitOptions, Units};
use kirin_kit::models::{BinaryOptions, DEFAULT_W0, King, MassFunction, Model};
use kirin_kit::number::{count, number};
use kirin_kit::quantity::{self, Quantity};
use kirin_kit::run::{Kept, RunControl, told};
use kirin_kit::settings::{Given, contradiction};
use serde::{Deserialize, Serialize};

use crate::black_hole::HoleOptions;
use crate::checkpoint::TOLD;
use crate::error::Error;
use crate::evolution::Evolution;
use crate::model::DEFAULT_N;
use crate::settings::Settings;
use crate::tide::{Criterion, Tide};

/// End of the run, in initial half-mass relaxation times, where no option says otherwise: after the collapse.
pub const DEFAULT_T_END: f64 = 25.0;
/// Core stars below which the run ends where no option says otherwise.
pub const DEFAULT_CORE_STARS: u64 = 30;

const T_END: &str = "Time at which to end, in initial half-mass relaxation times, or with units 500Myr [default: 25]";

/// Factors between the masses of evolving stars and those of their mass function: from the first on the user hears of it, and the
/// second is refused. Lifetimes are about proportional to m^-2.5.
const FAR: f64 = 1.05;
const TOO_FAR: f64 = 1.25;

/// Solar masses that stars may have.
const USUAL_MASSES: RangeInclusive<f64> = 0.05..=50.0;

const OUTPUT: &str = "Write the final state, from which the run can be resumed: shells, of which --bodies makes bodies for other programs. \
                      Its name decides the format: .hdf5 or .h5, .amuse, any other for text";
const EVERY: &str = "Record for plot, CSV, JSON and output when this time has passed since the last record, in initial half-mass \
                     relaxation times, or with units 10Myr, and whenever the core's density has changed much [default: 0.05]";
const CSV: &str = "Write the diagnostics as CSV, each line as soon as it is recorded: energies, core, Lagrangian radii, binaries, what was lost (README)";
const PLOT: &str = "Draw energy error, Lagrangian radii and core over time: .svg or .png";

const METHOD: &str = "\
METHOD
  Henon's Monte Carlo method as Pattabiraman et al. (2013) describe it: stars are concentric shells; in each step
  pairs of neighbours have encounters that stand for all those of the step, every star is put somewhere on its new
  orbit, and the potential is found anew. See README.md for the phases.

  Units       G = 1; models have M = 1, E = -1/4. All times on the command line and t in the files are in
              half-mass relaxation times at the start (equation 20), `time` is in N-body units. With --units
              1e6Msun,4pc times may be 500Myr and radii 60pc or 1Rsun, and table, CSV, JSON and pictures have
              Myr and pc too
  Collapse    The run ends when fewer than --core-stars stars are within the core radius, or that falls below
              --core-radius. A new run whose core is such a one already is refused
  Black hole  --black-hole-mass puts one at the centre, which takes stars within --capture-radius or disrupts them by
              its tide (--tidal-disruption). A run with one has no end by collapse
  Ranks       `mpirun -n 4 monte-carlo` (built with --features mpi), or --ranks 4: threads. --threads inside a rank
  Bits        Any number of ranks and threads gives the same files, and a run goes on on any other number.
              The last step is cut at --t-end: a run that goes on beyond it has other bits than one run to the later end
  Signals     SIGINT, SIGTERM or SIGHUP to any rank ends the run after a step, with all files

  Cross-check  The same bodies by direct summation (the code of `hermite`, kirin's forces) and by this method:
              Lagrangian radii over time, with --plot in one figure
  Report      Figures 3 to 9 of the paper beside what runs here in --minutes, and a model for 1024 ranks";

/// Evolves a star cluster by Henon's Monte Carlo method.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "monte-carlo", version, after_help = METHOD, allow_negative_numbers = true)]
// The kit's films are of bodies in space.
#[command(mut_arg("frames", |arg| arg.hide(true)), mut_arg("frame_every", |arg| arg.hide(true)))]
#[command(mut_arg("t_end", |arg| arg.help(T_END)))]
#[command(mut_arg("output", |arg| arg.help(OUTPUT)))]
#[command(mut_arg("every", |arg| arg.help(EVERY)))]
#[command(mut_arg("csv", |arg| arg.help(CSV)))]
#[command(mut_arg("plot", |arg| arg.help(PLOT)))]
#[command(mut_arg("binary_fraction", |arg| arg.conflicts_with_all(["cross_check", "stellar_radius"])))]
#[command(mut_arg("units", |arg| arg.conflicts_with_all(["report", "cross_check"])))]
pub struct Options {
    /// Where to start.
    #[command(flatten)]
    pub start: Start,
    /// The units of the stars.
    #[command(flatten)]
    pub units: UnitOptions,
    /// Its ends and files.
    #[command(flatten)]
    pub control: RunControl<Ends>,
    /// Encounters.
    #[command(flatten)]
    pub settings: Given<Settings>,
    /// Let stars collide: radius of one of the mean mass at the start, or with units as in 1Rsun [default: 0, no collisions]
    #[arg(long, value_name = "R", value_parser = quantity::length, conflicts_with = "cross_check")]
    pub stellar_radius: Option<Quantity>,
    /// The binaries at the start.
    #[command(flatten)]
    pub binaries: BinaryOptions,
    /// Let three stars form a binary
    #[arg(long, conflicts_with_all = ["cross_check", "report", "stellar_radius"])]
    pub three_body_binaries: bool,
    /// Let stars of this metallicity end, and lose what their remnants do not have (Hurley, Pols and Tout 2000); needs --units
    #[arg(long, value_name = "Z", value_parser = number)]
    #[arg(conflicts_with_all = ["cross_check", "report", "stellar_radius"])]
    pub stellar_evolution: Option<f64>,
    /// Put the cluster in a tidal field, which takes the stars beyond the tidal radius by this criterion
    #[arg(
        long,
        value_enum,
        value_name = "CRITERION",
        conflicts_with = "cross_check"
    )]
    pub tidal_boundary: Option<Criterion>,
    /// Tidal radius at the start, also with units as in 60pc; later r_t^3 is proportional to the mass that is left
    /// [default: for --model king its edge, for others none]
    #[arg(long, value_name = "R", value_parser = quantity::length)]
    pub tidal_radius: Option<Quantity>,
    /// The black hole at the centre.
    #[command(flatten)]
    pub hole: HoleOptions,
    /// Number of ranks, as threads of this process [default: 1]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    pub ranks: Option<u16>,
    /// Number of threads of each rank [default: the cores, shared by the ranks]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Where steps are computed; the bits are the same. auto: on a GPU if there is one that can compute this run and there are
    /// 10000 stars or more
    #[arg(long, value_enum, default_value_t, conflicts_with_all = ["report", "cross_check"])]
    pub device: Device,
    /// Show the time of each phase per step, beside Figure 8
    #[arg(long)]
    pub profile: bool,
    /// Make a report instead of one run: Markdown, to stdout or the --output, with --plot a figure
    #[arg(long, value_enum, value_name = "NAME")]
    #[arg(conflicts_with_all = ["input", "csv", "steps", "snapshot_every", "checkpoint_every", "cross_check"])]
    #[arg(conflicts_with_all = ["bodies", "core_stars", "core_radius", "profile"])]
    pub report: Option<Publication>,
    /// Minutes for the report [default: 5]
    #[arg(long, value_name = "M", requires = "report", value_parser = number)]
    pub minutes: Option<f64>,
    /// The network of the report's model.
    #[command(flatten)]
    pub network: NetworkOptions,
    /// Follow the same bodies by direct summation too and compare Lagrangian radii [default: 2048 bodies to 3
    /// relaxation times]
    #[arg(long, conflicts_with_all = ["input", "output", "csv", "steps", "profile"])]
    #[arg(conflicts_with_all = ["bodies", "core_stars", "core_radius", "stop_after", "every"])]
    pub cross_check: bool,
}

/// What a run of this program is told besides its time and the files of all programs.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Ends {
    /// End after so many steps
    #[arg(long, value_name = "COUNT", value_parser = count)]
    #[serde(skip)]
    pub steps: Option<u64>,
    /// The number of the step after which a state's run was to end.
    #[arg(skip)]
    #[serde(default, with = "told::count")]
    pub last_step: Option<u64>,
    /// End when fewer stars than these are within the core radius [default: 30; with binaries or a black hole 0]
    #[arg(long, value_name = "COUNT", value_parser = count)]
    #[serde(default, with = "told::count")]
    pub core_stars: Option<u64>,
    /// End when the core radius falls below this, or with units as in 0.01pc [default: 0]
    #[arg(long, value_name = "R", value_parser = quantity::length)]
    #[serde(default, with = "told::length")]
    pub core_radius: Option<Quantity>,
    /// Write the bodies at the end in space, each in a random direction, for other programs
    #[arg(long, value_name = "FILE")]
    #[serde(default, with = "told::path")]
    pub bodies: Option<PathBuf>,
}

impl Kept for Ends {
    /// Times are in relaxation times, which no other program has.
    const KEY: &str = TOLD;

    fn paths(&mut self) -> Vec<&mut Option<PathBuf>> {
        vec![&mut self.bodies]
    }
}

impl Ends {
    /// The number of the last step of a run that has `done` so many: what was reached is no end any more.
    pub fn last_step(&self, done: u64) -> Option<u64> {
        let given = self.steps.map(|steps| done.saturating_add(steps));
        given.or(self.last_step.filter(|last| *last > done))
    }
}

/// The network of the report's model. The defaults are of no particular machine.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct NetworkOptions {
    /// Microseconds until a short message has arrived, in the report's model of 1024 ranks [default: 2]
    #[arg(long, value_name = "US", requires = "report", value_parser = number)]
    pub latency: Option<f64>,
    /// Gigabytes a second into each rank, in the report's model [default: 5]
    #[arg(long, value_name = "GB", requires = "report", value_parser = number)]
    pub bandwidth: Option<f64>,
}

impl NetworkOptions {
    /// The network in seconds and bytes.
    pub fn network(&self) -> Network {
        let latency = 1e-6 * self.latency.unwrap_or(2.0);
        Network::new(latency, 1e9 * self.bandwidth.unwrap_or(5.0))
    }

    /// Whether there can be such a network.
    ///
    /// # Errors
    ///
    /// There cannot; in words.
    pub fn validate(&self) -> Result<(), Error> {
        let Network {
            latency, bandwidth, ..
        } = self.network();
        match latency >= 0.0 && latency.is_finite() && bandwidth > 0.0 && bandwidth.is_finite() {
            true => Ok(()),
            false => Err(Error::Refused(
                "--latency must be 0 or more, and --bandwidth above 0".to_owned(),
            )),
        }
    }
}

/// A report that the program can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Publication {
    /// The figures of Pattabiraman et al. (2013) beside those of this machine
    Paper,
}

impl Options {
    /// These options for a run that goes on from the input, and where they say nothing what it was told.
    ///
    /// # Errors
    ///
    /// What it was told makes no sense; in words.
    pub fn or_told(&self, snapshot: &Snapshot) -> Result<Self, String> {
        let mut control = self.control.or_told(snapshot)?;
        control.own.steps = self.control.own.steps;
        Ok(Self {
            control,
            ..self.clone()
        })
    }

    /// A message for the user of a new model whose stars are far from the masses of stars. `mass` is the mass of the model before
    /// it was scaled to standard units.
    ///
    /// # Errors
    ///
    /// The stars evolve, and are too far from the masses of their mass function; in words.
    pub fn masses_remark(&self, mass: f64) -> Result<Option<String>, Error> {
        let Some(units) = self.units.units else {
            return Ok(None);
        };
        let n = self.start.n.unwrap_or(DEFAULT_N);
        let function = self.start.mass_function.unwrap_or_default();
        if function == MassFunction::Equal {
            let each = units.mass / n as f64;
            return Ok((!USUAL_MASSES.contains(&each)).then(|| {
                format!("the stars have {each:.3e} solar masses each, by which they relax and end: --units MASS,PC and --n")
            }));
        }
        if self.stellar_evolution.is_none() {
            return Ok(function.remark(n, Some(&units)));
        }
        // The model has the mass 1 in masses of n mean stars, but for chance.
        let (drawn, unit) = (mass * n as f64 * function.mean(), units.mass);
        let factor = unit / drawn;
        let is_within = |far: f64| (1.0 / far..far).contains(&factor);
        if !is_within(TOO_FAR) {
            return Err(Error::Refused(format!(
                "--units: the {n} stars drawn from this --mass-function have {drawn:.4e} solar masses, not {unit:.4e}"
            )));
        }
        Ok((!is_within(FAR)).then(|| {
            format!(
                "the stars have {factor:.3} times the masses drawn from the --mass-function, by which they end: the \
                 drawn masses add up to {drawn:.4e} solar masses, and the unit of mass is {unit:.4e}"
            )
        }))
    }

    /// The stellar evolution of a new run whose stars have these `units`.
    fn evolution(&self, units: Option<Units>) -> Result<Option<Evolution>, Error> {
        let Some(metallicity) = self.stellar_evolution else {
            return Ok(None);
        };
        let Some(units) = units else {
            return Err(Error::Refused(
                "--stellar-evolution needs --units: the mass and the length of the model"
                    .to_owned(),
            ));
        };
        Ok(Some(Evolution {
            metallicity,
            mass: units.mass,
            time: units.time(),
        }))
    }

    /// The tidal field of a new run with this tidal radius, for a cluster of this mass.
    fn tide(&self, tidal_radius: Option<f64>, mass: f64) -> Result<Option<Tide>, Error> {
        let refuse = |why: &str| Err(Error::Refused(why.to_owned()));
        let Some(criterion) = self.tidal_boundary else {
            return match tidal_radius {
                None => Ok(None),
                Some(_) => refuse("--tidal-radius goes with --tidal-boundary"),
            };
        };
        let edge = || {
            let king = self.start.model == Some(Model::King) && self.control.files.input.is_none();
            king.then(|| King::new(self.start.w0.unwrap_or(DEFAULT_W0)).tidal_radius())
        };
        match tidal_radius.or_else(edge) {
            Some(radius) => Ok(Some(Tide {
                criterion,
                radius,
                mass,
            })),
            None => refuse(
                "--tidal-boundary needs --tidal-radius, but for King models, which have an edge",
            ),
        }
    }

    /// The settings of a new run, or those of the `saved` one, which options may repeat but not contradict. `galaxy` has the
    /// units of the stars.
    ///
    /// # Errors
    ///
    /// A contradiction, or a length in units that the stars do not have.
    pub fn settings(&self, saved: Option<Settings>, galaxy: &Galaxy) -> Result<Settings, Error> {
        let tidal_radius = of_bodies(self.tidal_radius, galaxy)?;
        let stellar_radius = of_bodies(self.stellar_radius, galaxy)?;
        let Some(saved) = saved else {
            let black_hole = self.hole.hole(galaxy)?;
            let mass = 1.0 + black_hole.map_or(0.0, |hole| hole.mass);
            return Ok(Settings {
                black_hole,
                radius: stellar_radius.unwrap_or_default(),
                primordial: self.binaries.binary_fraction.is_some_and(|part| part > 0.0),
                three_body: self.three_body_binaries,
                evolution: self.evolution(galaxy.known_units())?,
                tide: self.tide(tidal_radius, mass)?,
                seed: self.start.seed(),
                ..self.settings.all
            });
        };
        if let Some(criterion) = self.tidal_boundary
            && saved.tide.map(|tide| tide.criterion) != Some(criterion)
        {
            let was = saved.tide.map_or("isolated", |tide| tide.criterion.name());
            let why = format!("--tidal-boundary is not that of the input, which was {was}");
            return Err(Error::Refused(why));
        }
        if self.three_body_binaries && !saved.three_body {
            let why = "--three-body-binaries: the input was made without them";
            return Err(Error::Refused(why.to_owned()));
        }
        let check = self.settings.check(&saved, &[]);
        check.map_err(Error::Refused)?;
        self.hole.check(saved.black_hole, galaxy)?;
        let radius = saved.tide.map_or(f64::INFINITY, |tide| tide.radius);
        let metallicity = saved
            .evolution
            .map_or(0.0, |evolution| evolution.metallicity);
        for (name, given, saved) in [
            ("tidal_radius", tidal_radius, radius),
            ("stellar_evolution", self.stellar_evolution, metallicity),
            ("stellar_radius", stellar_radius, saved.radius),
        ] {
            if given.is_some_and(|value| value != saved) {
                return Err(Error::Refused(contradiction(name, saved, &[])));
            }
        }
        Ok(saved)
    }
}

/// A length or mass in the units of the stars, which `galaxy` has.
///
/// # Errors
///
/// They are not known, and the number has a unit.
pub fn of_bodies(quantity: Option<Quantity>, galaxy: &Galaxy) -> Result<Option<f64>, Error> {
    let number = |given: Quantity| given.of_bodies(Some(galaxy)).map_err(Error::Refused);
    quantity.map(number).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_testing::readme::understood;

    #[test]
    fn the_commands_of_readme_and_help_are_understood() {
        understood::<Options>(include_str!("../README.md"), "monte-carlo");
    }

    #[test]
    fn a_resumed_run_keeps_its_settings() {
        let options =
            |arguments: &[&str]| Options::parse_from([&["monte-carlo"], arguments].concat());
        let saved = Settings {
            gamma: 0.11,
            ..Settings::default()
        };
        let settings =
            |arguments: &[&str], saved| options(arguments).settings(saved, &Galaxy::default());
        assert_eq!(settings(&[], Some(saved)), Ok(saved));
        assert_eq!(settings(&["--gamma", "0.11"], Some(saved)), Ok(saved));
        assert!(settings(&["--gamma", "0.1"], Some(saved)).is_err());
        assert_eq!(settings(&[], None), Ok(Settings::default()));
    }
}
