//! The command line, and the settings that result from it.

use std::path::Path;

use clap::{Args, Parser};
use kirin_kit::Snapshot;
use kirin_kit::command::Start;
use kirin_kit::comparison::ReportOptions;
use kirin_kit::galaxy::UnitOptions;
use kirin_kit::library::LibraryOption;
use kirin_kit::quantity::{self, Quantity};
use kirin_kit::run::{Guard, Kept, RunControl, told};
use kirin_kit::settings::Given;
use serde::{Deserialize, Serialize};

use crate::checkpoint;
use crate::error::Error;
use crate::settings::Settings;

/// End of the run where no option says otherwise.
pub const DEFAULT_T_END: f64 = 1.0;

const METHOD: &str = "\
METHOD
  Barnes-Hut octree in Morton order, shared leapfrog steps (kick, drift, kick). The program builds
  the tree and finds interaction lists; each list is loaded into the GRAPE-6 library by the
  mass-and-position call and summed by g6calc_firsthalf and g6calc_lasthalf, or by the program (--host).
  Units are G = M = 1, E = -1/4 (unless --input is given). With --units 1e4Msun,3pc times and lengths may
  be 500Myr and 0.01pc, and all files have both.

  Opening     a cell of edge l counts as one where l / d < theta, d being the distance of its
              centre of mass from the nearest point of the group's box
  Groups      the largest cells of up to n_crit particles share a list; 1 gives each particle its own
  Report      Table 4.4 of the thesis (2007) beside this device, each N with the fastest n_crit;
              on several ranks Table 5.2, two machines beside one
  Quadrupole  three points of equal mass for each cell, so that the library needs no other kernel
  Energy      |E - E0| / |E0| from the potentials that come with the forces; --direct-energy
              sums all pairs in double precision as well, at the start and the end. The energy
              over all pairs is not in the state: its error in a continued run is since the --input

  Ranks       each has a part of the Morton curve, with equal work, and of the tree what its lists need;
              any number of ranks has the bits of one. Rank 0 reads and writes all files; with --parts
              each rank writes a file of the state. Any number of ranks goes on from either. `--ranks P`,
              or `mpirun` with the feature mpi

  Threads: KIRIN_THREADS, of each rank; RAYON_NUM_THREADS, if set, for tree, lists and --host.
  Precision: KIRIN_PRECISION, as in KIRIN_PRECISION=double (`kirin info`).
  Ctrl-C, SIGTERM and SIGHUP end the run after the current step, with the summary and all files that
  were asked for; `--input` of that `--output` goes on with its settings, end, files and intervals and the
  same bits, or with others by option. An energy error above 1e-3 is told, above 0.1 the run ends. A signal that comes more than a second after the first ends at once.
  Numbers may be fractions, as in --eps 1/64.";

/// Evolves a star cluster by a treecode through the GRAPE-6 interface.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "treecode", version, after_help = METHOD, allow_negative_numbers = true)]
#[command(mut_arg("units", |arg| arg.conflicts_with("report")), mut_arg("n_crit", |arg| arg.conflicts_with("report")))]
pub struct Options {
    /// Where to start.
    #[command(flatten)]
    pub start: Start,
    /// The units of the bodies.
    #[command(flatten)]
    pub units: UnitOptions,
    /// Softening length, as in 0.01, or with units 0.01pc [default: that of the --input, or 1/64]
    #[arg(long, value_parser = quantity::length)]
    pub eps: Option<Quantity>,
    /// Accuracy and groups.
    #[command(flatten)]
    pub settings: Given<Settings>,
    /// Number of ranks, as threads of this process [default: 1]. Under an MPI launcher its processes are the ranks
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    pub ranks: Option<u16>,
    /// Write the state as a manifest at the --output and a binary file for each rank. A run that continues from such a
    /// state writes its own in this way, too
    #[arg(long, conflicts_with = "report")]
    pub parts: bool,
    /// Its end, files and guard.
    #[command(flatten)]
    pub control: RunControl<Own>,
    /// Sum the energy over all pairs too, at the start and the end; the start of a continued run is the --input
    #[arg(long, conflicts_with = "report")]
    pub direct_energy: bool,
    /// Whether to make a report.
    #[command(flatten)]
    pub comparison: ReportOptions,
}

/// What a run keeps besides what all programs keep: its guard, and what sums its forces.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Own {
    /// The guard of its energy.
    #[command(flatten)]
    #[serde(flatten)]
    pub guard: Guard,
    /// The library that sums them.
    #[command(flatten)]
    #[serde(flatten)]
    pub library: LibraryOption,
    /// Sum the forces in the program, in double precision, without a library
    #[arg(long, conflicts_with = "library")]
    #[serde(default, with = "told::switch")]
    pub host: bool,
}

impl Own {
    /// The file of the library; `None` for the linked kirin.
    pub fn library(&self) -> Option<&Path> {
        self.library.path()
    }
}

impl Kept for Own {}

impl AsRef<Guard> for Own {
    fn as_ref(&self) -> &Guard {
        &self.guard
    }
}

/// Memory of a run for each body.
const BYTES: u64 = 700;

impl Options {
    /// These options for a run that starts from `snapshot`. What they do not say is taken from the options stored there.
    ///
    /// # Errors
    ///
    /// What is stored makes no sense; in words.
    pub fn or_told(&self, snapshot: &Snapshot) -> Result<Self, String> {
        let mut all = self.clone();
        all.control = self.control.or_told(snapshot)?;
        // A choice replaces the other one.
        let own = &mut all.control.own;
        own.host &= self.control.own.library.library.is_none();
        if self.control.own.host {
            own.library = LibraryOption::default();
        }
        Ok(all)
    }

    /// Checks that the model has room here.
    ///
    /// # Errors
    ///
    /// It has none; in words.
    pub fn check_memory(&self) -> Result<(), String> {
        self.control.check_memory(self.start.count(), BYTES)
    }

    /// The softening that the bodies of `snapshot` had, where it is not the state of a run.
    ///
    /// # Errors
    ///
    /// A line of the snapshot makes no sense.
    pub fn softening_of(&self, snapshot: &Snapshot) -> Result<Option<f64>, Error> {
        match checkpoint::settings(snapshot)? {
            Some(_) => Ok(None),
            None => snapshot.softening().map_err(Error::Refused),
        }
    }

    /// The settings of a new run, or of one that starts from `snapshot`. What the options do not say is taken from
    /// the snapshot's run, else from the defaults.
    ///
    /// # Errors
    ///
    /// A line of the snapshot makes no sense; a length has a unit, and the bodies have none.
    pub fn settings(&self, snapshot: Option<&Snapshot>) -> Result<Settings, Error> {
        let saved = snapshot.map(checkpoint::settings).transpose()?;
        let known = snapshot.map(|s| self.softening_of(s)).transpose()?;
        let default = saved.flatten().unwrap_or_default();
        let default = Settings {
            eps: known.flatten().unwrap_or(default.eps),
            ..default
        };
        let galaxy = self.units.galaxy(snapshot).map_err(Error::Refused)?;
        let eps = self.eps.map(|eps| eps.of_bodies(Some(&galaxy)));
        let eps = eps.transpose().map_err(Error::Refused)?;
        Ok(Settings {
            galaxy,
            eps: eps.unwrap_or(default.eps),
            ..self.settings.or(&default).map_err(Error::Refused)?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    use kirin_testing::readme::understood;

    /// A run that goes on sums its forces as before, unless an option says otherwise.
    #[test]
    fn what_sums_the_forces_is_kept() {
        let parsed = |arguments: &[&str]| {
            Options::parse_from([&["treecode", "--output", "/x/run.txt"], arguments].concat())
        };
        let own = |first: &[&str], then: &[&str]| {
            let control = parsed(first).control;
            let plan = control.files.plan(1.0, None).unwrap();
            let mut snapshot = Snapshot::default();
            snapshot
                .run
                .extend(control.told(1.0, &plan).unwrap().lines());
            let options = parsed(&[&["--input", "/x/run.txt"], then].concat());
            let Own {
                host,
                library,
                guard,
            } = options.or_told(&snapshot).unwrap().control.own;
            assert_eq!(guard.energy_limit, Some(0.5));
            (host, library.library)
        };
        let library = || Some(PathBuf::from("/y/libother.so"));
        let limit = ["--energy-limit", "0.5"];
        let with = |more: &[&'static str]| [&limit[..], more].concat();
        assert_eq!(own(&with(&["--host"]), &[]), (true, None));
        assert_eq!(
            own(&with(&["--library", "/y/libother.so"]), &[]),
            (false, library())
        );
        assert_eq!(
            own(&with(&["--host"]), &["--library", "/y/libother.so"]),
            (false, library())
        );
        assert_eq!(
            own(&with(&["--library", "/y/libother.so"]), &["--host"]),
            (true, None)
        );
        assert_eq!(own(&limit, &[]), (false, None));
        let linked = Some(PathBuf::from("kirin"));
        assert_eq!(
            own(&with(&["--host"]), &["--library", "kirin"]),
            (false, linked.clone())
        );
        let linked = Own {
            library: LibraryOption { library: linked },
            ..Own::default()
        };
        assert_eq!(linked.library(), None);
        let seen = parsed(&["--library", "a/b.so"]).control.own;
        assert!(seen.library().unwrap().is_absolute());
    }

    #[test]
    fn the_help_states_the_defaults() {
        let help = understood::<Options>(include_str!("../README.md"), "treecode");
        let default = Options::parse_from(["treecode"]).settings(None);
        let default = default.unwrap();
        assert_eq!(default, Settings::default());
        assert_eq!((default.eps, default.dt), (1.0 / 64.0, 1.0 / 64.0));
        assert_eq!((default.theta, DEFAULT_T_END), (0.75, 1.0));
        for words in [
            "[default: that of the --input, or 1/64]".to_owned(),
            "[default: 1/64]".to_owned(),
            "[default: 0.75]".to_owned(),
            format!("[default: {}]", default.n_crit),
            "l / d < theta".to_owned(),
        ] {
            assert!(help.contains(&words), "{words}\n{help}");
        }
    }
}
