//! The command line, and the settings that result from it.

use std::path::PathBuf;

use clap::{Args, Parser};
use kirin_kit::Body;
use kirin_kit::command::{DEFAULT_N, DEFAULT_SEED, Device};
use kirin_kit::comparison::ReportLimits;
use kirin_kit::galaxy::sky::Sun;
use kirin_kit::galaxy::{Galaxy, GalaxyOptions};
use kirin_kit::library::LibraryOption;
use kirin_kit::models::{
    DEFAULT_W0, MassFunction, central_potential, king, plummer, set_virial_ratio, warm_sphere,
};
use kirin_kit::number::{bodies, count, number};
use kirin_kit::quantity::{self, Quantity};
use kirin_kit::run::{Guard, Kept, Log, RunControl, told};
use kirin_kit::settings::{Given, contradiction};
use serde::{Deserialize, Serialize};

use crate::encounter::{Changeover, Radii};
use crate::error::Error;
use crate::resident::Pairs;
use crate::settings::{MAY_CHANGE, Scale, Settings};

/// End of the run where no option says otherwise.
pub const DEFAULT_T_END: f64 = 1.0;

/// Memory of a run for each body.
const BYTES: u64 = 750;

/// 2 T / |W| of the model where no option says otherwise: that of the paper.
const DEFAULT_VIRIAL: f64 = 0.3;

const METHOD: &str = "\
METHOD
  Everybody takes one constant step h, made of kicks v += b h a(x) and drifts x += a h v in turn. Such a step
  is a canonical transformation: it follows exactly a Hamiltonian that differs from the true one by terms of
  the order of the scheme, so the energy error oscillates and does not grow. The steps are their own mirror
  images: steps back undo steps.

  Schemes     leapfrog (order 2, 1 force a step), forest-ruth (4, 3), si6a (6, 7: Kinoshita, Yoshida and
              Nakai 1991, the scheme of NBSymple), mclachlan (6, 9), blanes-moan (6, 11; the most accurate per force)
  Bits        --bits exact keeps positions and velocities in 64-bit fixed point. Additions of integers lose
              nothing, so a run back (--reverse) ends in exactly the bits where the run began. A factor
              of 1024 above the largest number at the start is the end of the range.
  Forces      Pairs through the g6_* calls, velocities zero, so that no jerk is computed. The library gets
              positions with respect to the centre of mass (--uncentred: as they are): at 8 kpc
              the first ten bits of each would only tell where the cluster is.
  Precision   --precision single, mixed (default), double, or reference (plain loops)
  Pairs       --pairs program: the program itself sums over the pairs, in double precision. With a GPU whole steps stay
              there, and stars come back when they are wanted; the processor has the same bits
  Galaxy      a model, a black hole, a bar, satellites, a potential from a file; axes as in astropy's Galactocentric.
              Units are G = M = R = 1; --cluster-mass and --cluster-radius say what that is in solar masses and pc.
              Where it changes with time, the energy that the stars gain by this is summed, and is no error
  Orbit       --orbit, --radius, --position and --velocity place a model or the bodies of an --input; with --back
              TIME they are today's, and the run begins where a single body was then
  Model       a uniform sphere of radius 1 with speeds uniform up to a largest one, 2 T / |W| = 0.3
  Softening   0.2 R / N^(1/3), and a step of a twentieth of the time of a passage at that distance, or of a fall
  and step    of the two heaviest stars through it if that is shorter, as a power of two. Of --eps and --dt one
              follows from the other in the same way.
  Encounters  The paper has --eps 0.005 / N^(1/3) with --dt 1/2000: stars pass each other faster than the step. Where the
              step is that long for the softening, what stars do to each other within the changeover radius, half of
              R / N^(1/3), belongs to the drift: those near each other move together, to nearly all digits. The same
              near a black hole. --changeover none is without; so is --bits exact, as this cannot be undone to the bit.
  Energy      error in parts of the cluster's own T + W, and of everything, as the paper has it: most of that is
              the energy of the orbit in the galaxy, 10^4 times the cluster's own. Above 1e-3 of its own
              (--energy-warning) the run warns, above 0.1 (--energy-limit) it ends.
  Torque      a drift changes no angular momentum, a kick by h times the torque of the galaxy: the sum of
              these must explain L - L0 to rounding, whatever the step
  Bound       stars with negative energy in the frame of those that are bound: virial ratio (T / |W|) and Lagrangian
              radii are theirs; tidal radius after King

  Pictures    --plot FILE of the run; --frames DIR for a film; and, from snapshots,
                symplectic --draw run.0000.txt run.0010.txt run.0020.txt --plot tails.png
                symplectic --draw run.0010.txt --zoom 20 --plot zoom.png
  Way back    symplectic --bits exact --n 512 --t-end 1 --output there.txt
              symplectic --input there.txt --reverse --t-end 2 --output back.txt

  Ctrl-C, SIGTERM and SIGHUP end the run after the current step, with the summary and all files that
  were asked for; `--input` of that `--output` goes on with its settings, end, files and intervals and the same
  bits. Choose intervals and --t-end as multiples of --dt. Numbers may be fractions, as in --dt 1/2000, and
  times, lengths and speeds have units, as in 500Myr, 0.2pc and 220km/s: in a galaxy, or with --units MASS,PC.

EXAMPLE
  A cluster like that of the paper's Figure 6, half a revolution round the Galaxy, at a sixteenth of its size:
    symplectic --n 1024 --galaxy allen-santillan --radius 8 --t-end 30 --plot cluster.png
  A stream on the orbit of Palomar 5 (Sun at 8.122 kpc), with its stars on the sky, beside particle spray:
    symplectic --n 1024 --model king --galaxy mwpotential2014 --position 6.2,0.2,16.4 --velocity -47.6,-119.7,-11.4 \
    --back 1Gyr --cluster-mass 2e4 --cluster-radius 20 --scheme forest-ruth --dt 1/128 --eps 0.08 --stars stars.csv \
    --spray --plot stream.png";

/// Evolves a star cluster in the Galaxy by symplectic steps through the GRAPE-6 interface.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "symplectic", version, after_help = METHOD, allow_negative_numbers = true)]
pub struct Options {
    /// Where to start.
    #[command(flatten)]
    pub start: Start,
    /// Scheme and numbers.
    #[command(flatten)]
    pub settings: Given<Settings>,
    /// Step of everybody [default: what resolves the softening]
    #[arg(long, value_parser = quantity::time)]
    pub dt: Option<Quantity>,
    /// Softening length [default: 0.2 / N^(1/3), or what the --dt resolves]
    #[arg(long, value_parser = quantity::length)]
    pub eps: Option<Quantity>,
    /// Changeover radii of two stars, and of a star and the black hole: at smaller distances they move together with
    /// steps of their own; or none [default: as the step needs]
    #[arg(long, value_name = "STARS[,HOLE]", value_parser = Radii::parse)]
    pub changeover: Option<Radii>,
    /// Where the galaxy's field is computed, and with --pairs program whole steps; the bits are the same. auto: where the
    /// library sums over the pairs
    #[arg(long, value_enum, default_value_t)]
    pub device: Device,
    /// Turn all velocities of the --input round: the run goes back where it came from
    #[arg(long, requires = "input")]
    pub reverse: bool,
    /// Its end, files and guard.
    #[command(flatten)]
    pub control: RunControl<Own>,
    /// The galaxy.
    #[command(flatten)]
    pub galaxy: GalaxyOptions,
    /// Draw the bodies of these snapshots in the galaxy's plane, and do nothing else
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "plot")]
    #[arg(conflicts_with_all = ["input", "output", "report", "csv", "json", "frames", "every", "snapshot_every"])]
    #[arg(conflicts_with_all = ["n", "model", "virial", "mass_function", "seed", "scheme", "dt", "t_end", "eps"])]
    #[arg(conflicts_with_all = ["bits", "precision", "uncentred", "galaxy", "orbit", "radius", "library", "position", "velocity", "back", "stars", "changeover", "device", "pairs"])]
    #[arg(conflicts_with_all = ["w0", "stop_after", "energy_warning", "energy_limit", "sun", "reverse", "largest", "minutes"])]
    pub draw: Vec<PathBuf>,
    /// Half the width of the pictures, about the densest place; without it, about the galaxy's centre
    #[arg(long, value_name = "LENGTH", requires = "draw", value_parser = quantity::length)]
    pub zoom: Option<Quantity>,
    /// Make a report instead of one run: Markdown, to stdout or the --output, with --plot a figure
    #[arg(long, value_enum, value_name = "NAME")]
    #[arg(conflicts_with_all = ["n", "input", "every", "csv", "snapshot_every", "checkpoint_every", "frames", "scheme", "bits"])]
    #[arg(conflicts_with_all = ["model", "virial", "mass_function", "dt", "t_end", "eps", "precision", "uncentred"])]
    #[arg(conflicts_with_all = ["galaxy", "orbit", "radius", "black_hole", "energy_warning", "energy_limit", "changeover", "device", "pairs"])]
    #[arg(conflicts_with_all = ["w0", "stop_after", "reverse", "zoom", "force"])]
    pub report: Option<Publication>,
    /// How much of the report.
    #[command(flatten)]
    pub limits: ReportLimits,
}

/// The initial model.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Start {
    /// Number of bodies [default: 1024]
    #[arg(long, conflicts_with = "input", value_parser = bodies)]
    pub n: Option<u64>,
    /// Initial model [default: uniform]
    #[arg(long, value_enum, conflicts_with = "input")]
    pub model: Option<Model>,
    /// Virial ratio of the model as 2 T / |W|, twice that of the summary [default: 0.3 for the uniform sphere, 1 for
    /// Plummer's]
    #[arg(long, value_name = "Q", conflicts_with = "input", value_parser = number)]
    pub virial: Option<f64>,
    /// Central potential of the King model [default: 6]
    #[arg(long, value_name = "W0", conflicts_with = "input", value_parser = central_potential)]
    pub w0: Option<f64>,
    /// Masses of the bodies: equal, salpeter (m^-2.35 from 0.1 to 100 solar masses), kroupa (m^-1.3 from 0.08, m^-2.3
    /// from 0.5 to 100), or an exponent with the least and the largest mass, as in 2.35,0.1,10 [default: equal]
    #[arg(long, value_name = "FUNCTION", conflicts_with = "input", value_parser = MassFunction::parse)]
    pub mass_function: Option<MassFunction>,
    /// Seed of the random numbers [default: 1]
    #[arg(long, conflicts_with = "input", value_parser = count)]
    pub seed: Option<u64>,
}

/// The models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Model {
    /// A uniform sphere of radius 1, that of the paper
    #[default]
    Uniform,
    /// A Plummer sphere of virial radius 1
    Plummer,
    /// A King model of virial radius 1 (--w0)
    King,
}

/// Arithmetic of the pair forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Positions and all sums of a pair in single precision
    Single,
    /// Differences of 48 bits, the rest in single, sums in double precision
    Mixed,
    /// Double precision
    Double,
    /// Double precision in plain loops
    Reference,
}

/// What a run keeps besides what all programs keep.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Own {
    /// The guard of its energy.
    #[command(flatten)]
    #[serde(flatten)]
    pub guard: Guard,
    /// Arithmetic of the pair forces [default: that of the run that goes on, else KIRIN_PRECISION, or mixed]
    #[arg(long, value_enum)]
    #[serde(default)]
    pub precision: Option<Precision>,
    /// What sums over the pairs [default: that of the run that goes on, else library]
    #[arg(long, value_enum)]
    #[serde(default)]
    pub pairs: Option<Pairs>,
    /// The library that sums its forces.
    #[command(flatten)]
    #[serde(flatten)]
    pub library: LibraryOption,
    /// Write every star at the end as CSV: position and velocity, the sky (ICRS, proper motion, radial velocity), longitude
    /// and latitude along the stream, whether it is bound
    #[arg(long, value_name = "FILE")]
    #[serde(default, with = "told::path")]
    pub stars: Option<PathBuf>,
    /// Place and velocity of the observer: kpc from the centre, pc above the plane, km/s [default:
    /// 8.122,20.8,12.9,245.6,7.78, as in astropy]
    #[arg(long, value_name = "R,Z,VX,VY,VZ", value_parser = Sun::parse, requires = "stars")]
    #[serde(default, with = "told::sun")]
    pub sun: Option<Sun>,
    /// Draw beside the run a stream by particle spray (Fardal et al. 2015) on the same orbit
    #[arg(long, requires = "plot", conflicts_with_all = ["draw", "report"])]
    #[serde(default, with = "told::switch")]
    pub spray: bool,
}

impl Kept for Own {
    fn paths(&mut self) -> Vec<&mut Option<PathBuf>> {
        vec![&mut self.stars]
    }
}

impl Own {
    /// Checks that the options fit together.
    ///
    /// # Errors
    ///
    /// The program's own pairs have one arithmetic and no library, to which positions would be sent; in words.
    pub fn validate(&self, uncentred: bool) -> Result<(), String> {
        if self.pairs != Some(Pairs::Program) {
            return Ok(());
        }
        if uncentred {
            return Err(
                "--uncentred is about what the library gets: not with --pairs program".to_owned(),
            );
        }
        match (self.precision, self.library.path()) {
            (None | Some(Precision::Double), None) => Ok(()),
            (_, Some(_)) => Err("--pairs program uses no --library (with --library kirin a run that goes on takes back its own)".to_owned()),
            _ => Err("--pairs program is in double precision (--precision double)".to_owned()),
        }
    }
}

impl AsRef<Guard> for Own {
    fn as_ref(&self) -> &Guard {
        &self.guard
    }
}

impl Precision {
    /// The environment variables that make the library use it.
    pub fn settings(self) -> (&'static str, &'static str) {
        match self {
            Self::Single => ("KIRIN_PRECISION", "single"),
            Self::Mixed => ("KIRIN_PRECISION", "mixed"),
            Self::Double => ("KIRIN_PRECISION", "double"),
            Self::Reference => ("KIRIN_BACKEND", "reference"),
        }
    }
}

/// A report that the program can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Publication {
    /// Tables and figures of the paper of NBSymple (2011), beside those of this machine
    Paper,
}

impl Start {
    /// Seed of the random numbers.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// The bodies of the model, their centre of mass at rest in the origin.
    ///
    /// # Errors
    ///
    /// More bodies than this machine can count; in words.
    pub fn bodies(&self) -> Result<Vec<Body>, String> {
        let n = usize::try_from(self.n.unwrap_or(DEFAULT_N)).map_err(|e| e.to_string())?;
        let (virial, mut bodies) = match self.model.unwrap_or_default() {
            Model::Uniform => {
                let virial = self.virial.unwrap_or(DEFAULT_VIRIAL);
                (Some(virial), warm_sphere(n, self.seed(), virial))
            }
            Model::Plummer => (self.virial, plummer(n, self.seed())),
            Model::King => {
                let w0 = self.w0.unwrap_or(DEFAULT_W0);
                (self.virial, king(n, w0, self.seed()))
            }
        };
        // The scale of the model is that of equal masses.
        let virial = virial.or(self.mass_function.map(|_| 1.0));
        if self.w0.is_some() && self.model != Some(Model::King) {
            return Err("--w0 belongs to --model king".to_owned());
        }
        self.mass_function
            .unwrap_or_default()
            .draw(&mut bodies, self.seed());
        if let Some(virial) = virial {
            set_virial_ratio(&mut bodies, virial);
        }
        Ok(bodies)
    }

    /// The log of a run that begins with the model.
    pub fn log(&self) -> Log {
        let title = match self.model.unwrap_or_default() {
            Model::Uniform => "Uniform sphere",
            Model::Plummer => "Plummer sphere",
            Model::King => "King model",
        };
        Log::begin(title, self.seed())
    }
}

impl Options {
    /// The settings of a new run of a cluster like this in `galaxy`. `known` is the softening that its bodies had so far.
    ///
    /// # Errors
    ///
    /// A number has a unit without meaning.
    pub fn settings(
        &self,
        scale: &Scale,
        galaxy: Galaxy,
        known: Option<f64>,
    ) -> Result<Settings, Error> {
        let of_bodies =
            |given: Option<Quantity>| given.map(|q| q.of_bodies(Some(&galaxy))).transpose();
        let eps = of_bodies(self.eps)?.or(known);
        let chosen = Settings::chosen(scale, eps, of_bodies(self.dt)?);
        let settings = Settings {
            galaxy,
            ..self.settings.or(&chosen)?
        };
        let usual = settings.usual_changeover(scale);
        self.with_changeover(settings, usual)
    }

    /// Checks that the model has room here.
    ///
    /// # Errors
    ///
    /// It has none; in words.
    pub fn check_memory(&self) -> Result<(), String> {
        self.control
            .check_memory(self.start.n.unwrap_or(DEFAULT_N), BYTES)
    }

    /// The settings of a run of these `bodies` that goes on after the `saved` one. Options may change scheme, step and
    /// changeover. Another step without a changeover takes the changeover radii that it needs.
    ///
    /// # Errors
    ///
    /// They contradict what the saved state depends on.
    pub fn continued(&self, saved: Settings, bodies: &[Body]) -> Result<Settings, Error> {
        let of_bodies =
            |given: Option<Quantity>| given.map(|q| q.of_bodies(Some(&saved.galaxy))).transpose();
        self.galaxy.check_resumed()?;
        let dt = of_bodies(self.dt)?;
        if of_bodies(self.eps)?.is_some_and(|eps| eps != saved.eps) {
            return Err(Error::Refused(contradiction("eps", saved.eps, &MAY_CHANGE)));
        }
        self.settings.check(&saved, &MAY_CHANGE)?;
        let settings = Settings {
            dt: dt.unwrap_or(saved.dt),
            galaxy: self.galaxy.galaxy(Some(saved.galaxy))?,
            ..self.settings.or(&saved)?
        };
        let usual = if settings.dt == saved.dt {
            saved.changeover
        } else {
            let in_field = !saved.galaxy.is_none();
            settings.usual_changeover(&Scale::of_input(bodies, saved.eps, in_field))
        };
        self.with_changeover(settings, usual)
    }

    /// The `settings` with the changeover radii that are given, and the `usual` ones where none are.
    fn with_changeover(&self, settings: Settings, usual: Changeover) -> Result<Settings, Error> {
        let changeover = match self.changeover {
            Some(radii) => radii.of_bodies(&settings.galaxy, &usual)?,
            None => usual,
        };
        Ok(Settings {
            changeover,
            ..settings
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Scheme;
    use kirin_kit::Snapshot;
    use kirin_kit::diagnostics::{Energy, mass};
    use kirin_testing::readme::understood;

    fn options(arguments: &[&str]) -> Options {
        Options::parse_from([&["symplectic"], arguments].concat())
    }

    #[test]
    fn the_help_states_the_defaults() {
        let help = understood::<Options>(include_str!("../README.md"), "symplectic");
        let default = options(&[]).settings(&Scale::of_equals(1000), Galaxy::default(), None);
        let default = default.unwrap();
        assert!((default.eps - 0.02).abs() < 1e-15);
        assert_eq!(
            (default.dt, default.scheme.name()),
            (1.0 / 1024.0, "leapfrog")
        );
        assert_eq!((DEFAULT_N, DEFAULT_T_END, DEFAULT_VIRIAL), (1024, 1.0, 0.3));
        for words in [
            "[default: leapfrog]",
            "[default: 0.2 / N^(1/3), or what the --dt resolves]",
            "0.2 R / N^(1/3)",
            "[default: 1024]",
        ] {
            assert!(help.contains(words), "{words}\n{help}");
        }
    }

    #[test]
    fn models_have_their_masses_and_virial_ratio() {
        for (arguments, ratio) in [
            (&["--n", "300"][..], 0.3),
            (&["--n", "300", "--virial", "0.8"], 0.8),
            (&["--n", "300", "--model", "plummer"], 1.0),
            (&["--n", "300", "--model", "king", "--w0", "5"], 1.0),
            (&["--n", "300", "--mass-function", "2.35,0.1,10"], 0.3),
        ] {
            let bodies = options(arguments).start.bodies().unwrap();
            let energy = Energy::of(&bodies, 0.0);
            assert!(
                (2.0 * energy.virial_ratio() - ratio).abs() < 1e-9,
                "{arguments:?}"
            );
            assert!((mass(&bodies) - 1.0).abs() < 1e-12);
            let equal = bodies.iter().all(|b| b.mass == bodies[0].mass);
            assert_eq!(equal, !arguments.contains(&"--mass-function"));
        }
    }

    /// A run that goes on sums its forces by what it was told.
    #[test]
    fn library_and_pairs_are_kept() {
        let kept = |first: &[&str], then: &[&str]| {
            let control = options(&[&["--output", "/x/run.txt"], first].concat()).control;
            let plan = control.files.plan(1.0, None).unwrap();
            let mut snapshot = Snapshot::default();
            snapshot
                .run
                .extend(control.told(1.0, &plan).unwrap().lines());
            let given = options(&[&["--input", "/z/run.txt"], then].concat()).control;
            given.or_told(&snapshot).unwrap().own
        };
        let file = kept(&["--library", "a/b.so"], &[]);
        let file = file.library.path().expect("it is a file");
        assert!(
            file.is_absolute() && file.ends_with("a/b.so"),
            "{}",
            file.display()
        );
        let linked = kept(&["--library", "a/b.so"], &["--library", "kirin"]);
        assert_eq!(linked.library.path(), None);
        let own = kept(&["--pairs", "program"], &[]);
        assert_eq!(
            (own.pairs, own.validate(false)),
            (Some(Pairs::Program), Ok(()))
        );
        assert!(own.validate(true).is_err());
        let stars = [
            "--stars",
            "a.csv",
            "--sun",
            "8,0,11.1,240,7.25",
            "--plot",
            "a.svg",
            "--spray",
        ];
        let told = kept(&stars, &[]);
        let sun = Sun::parse("8,0,11.1,240,7.25").unwrap();
        assert_eq!((told.sun, told.spray), (Some(sun), true));
        assert!(told.stars.is_some_and(|path| path.ends_with("a.csv")));
        let library = kept(&["--pairs", "program"], &["--pairs", "library"]);
        assert_eq!(library.pairs, Some(Pairs::Library));
        assert!(
            kept(&["--pairs", "program"], &["--precision", "mixed"])
                .validate(false)
                .is_err()
        );
    }

    #[test]
    fn a_changeover_of_stars_leaves_the_black_hole_its_own() {
        let galaxy = Galaxy {
            black_hole: 50.0,
            ..Galaxy::default()
        };
        let changeover = |arguments: &[&str]| {
            let options = options(&[&["--dt", "1e-4"], arguments].concat());
            let settings = options.settings(&Scale::of_equals(100), galaxy, None);
            settings.unwrap().changeover
        };
        let usual = changeover(&[]);
        assert!(usual.hole > 0.0);
        let of_stars = changeover(&["--changeover", "0.005"]);
        assert_eq!((of_stars.stars, of_stars.hole), (0.005, usual.hole));
        let bare = changeover(&["--changeover", "0.005,none"]);
        assert_eq!((bare.stars, bare.hole), (0.005, 0.0));
        assert!(changeover(&["--changeover", "none"]).is_none());
    }

    #[test]
    fn a_resumed_run_may_change_scheme_and_step() {
        let saved = Settings::chosen(&Scale::of_equals(100), None, None);
        let bodies = plummer(100, 1);
        let continued = |arguments: &[&str]| options(arguments).continued(saved, &bodies);
        assert_eq!(continued(&[]), Ok(saved));
        let changed = continued(&["--dt", "1/256", "--scheme", "si6a"]).unwrap();
        assert_eq!((changed.dt, changed.scheme), (1.0 / 256.0, Scheme::Si6a));
        // A step that is too long for the softening leaves encounters to the changeover, as in a new run.
        assert!(changed.changeover.is_none());
        let long = continued(&["--dt", "1/64"]).unwrap();
        assert!(long.changeover.stars > 0.0, "{long:?}");
        let none = continued(&["--dt", "1/64", "--changeover", "none"]).unwrap();
        assert!(none.changeover.is_none());
        assert!(continued(&["--eps", "0.5"]).is_err());
        assert!(continued(&["--bits", "exact"]).is_err());
        assert!(continued(&["--galaxy", "irrgang"]).is_err());
    }
}
