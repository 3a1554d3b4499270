//! The galaxy around a cluster and the cluster's orbit, on the command line.

use std::path::PathBuf;

use super::additions::{self, AdditionOptions, Additions};
use super::satellite::Satellite;
use super::table::Table;
use super::{Galaxy, MilkyWay, Orbit, Units};
use crate::quantity::{self, Quantity, of_bodies};
use crate::run::RunControl;
use crate::snapshot::Snapshot;

/// Default distance in kpc at which an orbit begins.
const DEFAULT_DISTANCE: f64 = 8.0;

/// Default distance at which a quasi-radial orbit begins, in units of length.
const DEFAULT_DROP: f64 = 10.0;

/// The galaxy around the cluster, and the cluster's orbit.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Galaxy")]
pub struct GalaxyOptions {
    /// Galaxy around the cluster [default: none]
    #[arg(long, value_enum)]
    pub galaxy: Option<MilkyWay>,
    /// Orbit to which the model, or the bodies of an --input, are moved [default: circular in a galaxy, at rest without
    /// one; bodies of an --input stay where they are]
    #[arg(long, value_enum)]
    pub orbit: Option<Path>,
    /// Distance from the galaxy's centre at which the orbit begins, in kpc, or as in 8000pc [default: 8; for a
    /// radial orbit 10 units of length]
    #[arg(long, value_name = "KPC", value_parser = quantity::distance)]
    pub radius: Option<Quantity>,
    /// Position of the centre of mass at the start, in kpc, or as in 8000,0,-500pc or 8kpc,0pc,-500pc. The Sun is at (-8.122, 0, 0.021), as in astropy, and z points
    /// to the northern pole
    #[arg(long, value_name = "X,Y,Z", value_parser = quantity::position, allow_hyphen_values = true)]
    pub position: Option<[Quantity; 3]>,
    /// Velocity of the centre of mass at the start, in km/s; the Sun's is (12.9, 245.6, 7.78)
    #[arg(long, value_name = "X,Y,Z", value_parser = quantity::velocity, allow_hyphen_values = true)]
    pub velocity: Option<[Quantity; 3]>,
    /// Begin the run this time before today, as in 3Gyr, and end it today: the start of the orbit is today's place, and
    /// a single body is followed back from there
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    pub back: Option<Quantity>,
    /// Add a potential from a file: columns r_kpc mass_solar, or R_kpc z_kpc potential_km2_s2
    #[arg(long, value_name = "FILE")]
    pub potential: Option<PathBuf>,
    /// Add a bar that rotates (Long and Murali 1992), as in 1e10,4,1,0.5,-39,-28: mass in solar masses; half length and
    /// two softenings in kpc; pattern speed in km/s/kpc, negative if it turns as the disc does; today's angle in
    /// degrees, from the x axis, counterclockwise (-28: the near end is at a positive longitude, as in the Milky Way)
    #[arg(long, value_name = "M,A,B,C,SPEED,ANGLE", value_parser = additions::bar)]
    pub bar: Option<[f64; 6]>,
    /// Let the masses of galaxy, file and bar grow by this part of today's in a Gyr
    #[arg(long, value_name = "PART", value_parser = part, allow_hyphen_values = true)]
    pub growth: Option<f64>,
    /// Add a satellite on its orbit: lmc, or SHAPE:MASS:RADIUS:X,Y,Z:VX,VY,VZ of today (plummer, hernquist or nfw; solar
    /// masses, kpc, km/s); with :fixed it stands still, with :friction the galaxy slows it. May be repeated
    #[arg(long, value_name = "SATELLITE", value_parser = Satellite::parse)]
    pub satellite: Vec<Satellite>,
    /// Units of mass and length without a galaxy, as in 1e4Msun,3pc: a model has the mass 1, and the virial radius 1 or what
    /// --model says. Options may then be given in Myr, pc and km/s, and all files tell these units
    #[arg(long, value_name = "MASS,PC", value_parser = units)]
    #[arg(conflicts_with_all = ["cluster_mass", "cluster_radius", "galaxy"])]
    pub units: Option<Units>,
    /// Mass of the cluster (the unit of mass) in solar masses, in a galaxy [default: 16000]
    #[arg(long, value_name = "MASS", value_parser = solar_masses)]
    pub cluster_mass: Option<f64>,
    /// Unit of length in pc: with G = 1 it sets the units of time and velocity [default: 10]
    #[arg(long, value_name = "PC", value_parser = parsecs)]
    pub cluster_radius: Option<f64>,
    /// Mass of a black hole at the galaxy's centre, in cluster masses, or as in 4.3e6Msun [default: 0]
    #[arg(long, value_name = "MASS", value_parser = quantity::mass)]
    pub black_hole: Option<Quantity>,
    /// Softening of the black hole, in units of length, or as in 0.1pc; 0: a bare point [default: 0]
    #[arg(long, value_name = "EPS", value_parser = quantity::length)]
    pub black_hole_eps: Option<Quantity>,
}

/// The units of the bodies, in a program without a galaxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, clap::Args)]
pub struct UnitOptions {
    /// Units of mass and length, as in 1e4Msun,3pc: a model has the mass 1, and the virial radius 1 or what --model says. Options
    /// may then be given in Myr, pc and km/s, and all files tell these units [default: the units of the --input, which the option
    /// may repeat but not change]
    #[arg(long, value_name = "MASS,PC", value_parser = units)]
    pub units: Option<Units>,
}

impl UnitOptions {
    /// The units of a run without a galaxy. They are those stored in `snapshot`, if the run begins with one that tells
    /// them, else those of the option, else none.
    ///
    /// # Errors
    ///
    /// The snapshot's line of units makes no sense, or the option contradicts it, which would not convert its bodies; in words.
    pub fn galaxy(&self, snapshot: Option<&Snapshot>) -> Result<Galaxy, String> {
        let told = snapshot.map(Units::of).transpose()?.flatten();
        if let (Some(given), Some(told)) = (self.units, &told) {
            given.check_told(told, "--units")?;
        }
        Ok(Galaxy::of_units(told.or(self.units)))
    }
}

/// The kinds of orbits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Path {
    /// None: the cluster is at rest at the origin
    Rest,
    /// Begins at (r, 0, 0) with the circular speed, counterclockwise
    Circular,
    /// Begins at (-r, 0, 0) with the circular speed as the disc of the Milky Way turns, clockwise
    Prograde,
    /// Begins at (r, 0, 0) with a thousandth of the circular speed: a plunge through the centre
    Radial,
    /// Begins at --position with --velocity
    Given,
}

impl GalaxyOptions {
    /// The galaxy of a new run, or the `saved` one that it continues: options may repeat it, not contradict it.
    ///
    /// # Errors
    ///
    /// They contradict; in words.
    pub fn galaxy(&self, saved: Option<Galaxy>) -> Result<Galaxy, String> {
        let galaxy = self.or_default(saved.unwrap_or_default())?;
        match saved {
            Some(saved) if saved != galaxy => Err("the input was made in another galaxy or \
                 other units: a resumed run keeps them"
                .to_owned()),
            _ => Ok(galaxy),
        }
    }

    /// The galaxy of the options, and where they say nothing the `default` one's.
    pub(super) fn or_default(&self, default: Galaxy) -> Result<Galaxy, String> {
        let units = self.units_or(default.units);
        let model = self.galaxy.unwrap_or(default.model);
        let in_units = |given: Option<Quantity>, default: f64| match given {
            Some(given) => given.in_units(Some(&units)),
            None => Ok(default),
        };
        let mut galaxy = Galaxy {
            model,
            units,
            told_units: false,
            black_hole: in_units(self.black_hole, default.black_hole)?,
            black_hole_eps: in_units(self.black_hole_eps, default.black_hole_eps)?,
            more: self.more(model, &default)?,
            today: default.today,
        };
        galaxy.told_units = galaxy.is_none() && (self.units.is_some() || default.told_units);
        if let Some(back) = self.back {
            if galaxy.is_none() {
                return Err("--back needs a --galaxy".to_owned());
            }
            galaxy.today = back.in_units(Some(&galaxy.units))?;
        }
        if galaxy.black_hole_eps != 0.0 && galaxy.black_hole == 0.0 {
            return Err("--black-hole-eps belongs to a --black-hole".to_owned());
        }
        if galaxy.known_units().is_none()
            && (self.cluster_mass.is_some() || self.cluster_radius.is_some())
        {
            return Err(
                "--cluster-mass and --cluster-radius belong to a --galaxy or a --black-hole; \
                 --units MASS,PC gives bodies units without one"
                    .to_owned(),
            );
        }
        Ok(galaxy)
    }

    /// What is added to a model: what the options say, and where they say nothing what is added to the `default` galaxy.
    fn more(
        &self,
        model: MilkyWay,
        default: &Galaxy,
    ) -> Result<Option<&'static Additions>, String> {
        let mut told = default
            .more
            .map_or_else(AdditionOptions::default, |more| more.told.clone());
        if let Some(path) = &self.potential {
            told.table = Some(Table::load(path)?);
        }
        told.bar = self.bar.or(told.bar);
        if !self.satellite.is_empty() {
            told.satellites.clone_from(&self.satellite);
        }
        // Without a galaxy nothing is left that grows.
        let grows = model != MilkyWay::None || told.table.is_some() || told.bar.is_some();
        told.growth = self.growth.unwrap_or(if grows { told.growth } else { 0.0 });
        if told.is_empty() {
            return Ok(None);
        }
        if told.growth != 0.0 && !grows {
            return Err("--growth is that of a --galaxy, a --potential or a --bar".to_owned());
        }
        if !grows && told.satellites.iter().any(Satellite::is_slowed) {
            return Err(
                "--satellite ...:friction needs a --galaxy, a --potential or a --bar, which slows it".to_owned(),
            );
        }
        match default.more {
            Some(more) if model == default.model && more.told == told => Ok(Some(more)),
            _ => Ok(Some(Additions::of(told, model))),
        }
    }

    /// The end of a run: the one given by the options, else today if the run begins in the past, else `default`.
    ///
    /// # Errors
    ///
    /// It has a unit without meaning, or is beyond what is known of satellites; in words.
    pub fn t_end<Own: crate::run::Kept>(
        &self,
        control: &RunControl<Own>,
        default: f64,
        galaxy: &Galaxy,
    ) -> Result<f64, String> {
        let today = (galaxy.today > 0.0).then_some(galaxy.today);
        let end = control.t_end(today.unwrap_or(default), Some(galaxy))?;
        if let Some(more) = galaxy.more {
            let from_today = |t: f64| (t - galaxy.today) * galaxy.units.time();
            let (start, end) = (from_today(0.0), from_today(end));
            more.check([start.min(end), start.max(end)], galaxy.edge().as_deref())?;
        }
        Ok(end)
    }

    /// The orbit of a new run in `galaxy`.
    ///
    /// # Errors
    ///
    /// Options that do not belong together; in words.
    pub fn orbit(&self, galaxy: &Galaxy) -> Result<Orbit, String> {
        let given = self.position.is_some() || self.velocity.is_some();
        let path = self.orbit.unwrap_or(match (given, galaxy.is_none()) {
            (true, _) => Path::Given,
            (false, true) => Path::Rest,
            (false, false) => Path::Circular,
        });
        if given != (path == Path::Given) {
            return Err("--position and --velocity belong to --orbit given".to_owned());
        }
        let begins_at_radius = matches!(path, Path::Circular | Path::Prograde | Path::Radial);
        if self.radius.is_some() && !begins_at_radius {
            return Err("--radius belongs to --orbit circular, prograde and radial".to_owned());
        }
        if galaxy.is_none() && begins_at_radius {
            return Err("an orbit needs a --galaxy or a --black-hole".to_owned());
        }
        let units = &galaxy.units;
        let radius = self.radius.map(|r| r.in_units(Some(units))).transpose()?;
        let circle = radius.unwrap_or_else(|| units.from_kpc(DEFAULT_DISTANCE));
        let orbit = match path {
            Path::Rest => Orbit::Rest,
            Path::Circular => Orbit::Circular(circle),
            Path::Prograde => Orbit::Prograde(circle),
            Path::Radial => Orbit::Radial(radius.unwrap_or(DEFAULT_DROP)),
            Path::Given => {
                let (Some(x), Some(v)) = (&self.position, &self.velocity) else {
                    return Err("--orbit given needs --position and --velocity".to_owned());
                };
                Orbit::Given(of_bodies(x, units)?, of_bodies(v, units)?)
            }
        };
        match self.back {
            Some(back) => orbit.back(galaxy, back.in_units(Some(units))?),
            None => Ok(orbit),
        }
    }
}

/// `1e4Msun,3pc`, or `1Msun,1au`; without names in solar masses and parsecs.
fn units(text: &str) -> Result<Units, String> {
    let Some((mass, length)) = text.split_once(',') else {
        return Err("not a mass and a length, such as 1e4Msun,3pc".to_owned());
    };
    Ok(Units {
        mass: solar_masses(mass)?,
        length: parsecs(length)?,
    })
}

/// A mass above 0 in solar masses: `16000` or `1.6e4Msun`.
fn solar_masses(text: &str) -> Result<f64, String> {
    above_zero(quantity::mass(text)?.value)
}

/// A length above 0 in parsecs: `3`, `3pc` or `0.003kpc`.
fn parsecs(text: &str) -> Result<f64, String> {
    let Quantity { value, unit } = quantity::length(text)?;
    above_zero(value * unit.parsecs().unwrap_or(1.0))
}

/// A finite number with any sign.
fn part(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("not a number such as 0.05".to_owned()),
    }
}

fn above_zero(value: f64) -> Result<f64, String> {
    match value > 0.0 {
        true => Ok(value),
        false => Err("not above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Field;
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        galaxy: GalaxyOptions,
        #[arg(long)]
        input: Option<String>,
    }

    fn orbit(arguments: &[&str]) -> Result<Orbit, String> {
        let command = Command::try_parse_from([&["test"], arguments].concat());
        let command = command.map_err(|e| e.to_string())?;
        let galaxy = command.galaxy.galaxy(None)?;
        command.galaxy.orbit(&galaxy)
    }

    #[test]
    fn orbits_by_name() {
        assert_eq!(orbit(&[]), Ok(Orbit::Rest));
        let milky_way = ["--galaxy", "irrgang"];
        assert_eq!(orbit(&milky_way), Ok(Orbit::Circular(800.0)));
        let more = |options: &[&str]| orbit(&[&milky_way, options].concat());
        let circular = more(&[
            "--orbit",
            "circular",
            "--radius",
            "4",
            "--cluster-radius",
            "2",
        ]);
        assert_eq!(circular, Ok(Orbit::Circular(2000.0)));
        assert_eq!(more(&["--radius", "4000pc"]), Ok(Orbit::Circular(400.0)));
        assert_eq!(more(&["--orbit", "radial"]), Ok(Orbit::Radial(10.0)));
        let place = ["--position", "8,0,-1", "--velocity", "0,-220,1e1"];
        let given = more(&[&["--orbit", "given"][..], &place].concat()).unwrap();
        let Orbit::Given(x, v) = given else {
            panic!("{given:?}");
        };
        assert_eq!(x, [800.0, 0.0, -100.0]);
        assert!((v[1] * Units::default().velocity() + 220.0).abs() < 1e-9);
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        for bad in [
            &["--orbit", "circular"][..],
            &["--galaxy", "irrgang", "--position", "1,2,3"],
            &[
                "--galaxy",
                "irrgang",
                "--orbit",
                "given",
                "--position",
                "1,2,3",
            ],
            &["--galaxy", "irrgang", "--orbit", "rest", "--radius", "8"],
            &[
                "--galaxy",
                "irrgang",
                "--orbit",
                "given",
                "--velocity",
                "1,2",
            ],
            &["--cluster-mass", "0"],
            // Options without effect.
            &["--cluster-mass", "100"],
            &["--cluster-radius", "3"],
            &["--black-hole-eps", "0.1"],
            &["--units", "100"],
            &["--units", "3pc,100Msun"],
            &["--units", "100Msun,3Mpc"],
            &["--units", "100,1,1"],
            &["--galaxy", "irrgang", "--units", "100,1"],
            &["--galaxy", "andromeda"],
        ] {
            assert!(orbit(bad).is_err(), "{bad:?}");
        }
    }

    /// What is added stays where options say nothing of it, and satellites move in the galaxy that attracts them.
    #[test]
    fn what_is_added_is_kept_one_by_one() {
        let of = |arguments: &[&str], default: Galaxy| {
            let command = Command::parse_from([&["test"], arguments].concat());
            command.galaxy.or_default(default).unwrap()
        };
        let added = ["--satellite", "lmc", "--growth", "0.01"];
        let old = of(
            &[&["--galaxy", "mwpotential2014"], &added[..]].concat(),
            Galaxy::default(),
        );
        let told = |galaxy: Galaxy| galaxy.more.map(|more| more.told.clone());
        let orbits = |galaxy: Galaxy| galaxy.more.map(std::ptr::from_ref);
        let same = of(&[], old);
        assert_eq!((told(same), orbits(same)), (told(old), orbits(old)));
        let moved = of(&["--galaxy", "irrgang"], old);
        assert_eq!(told(moved), told(old));
        assert_ne!(orbits(moved), orbits(old));
        let grown = told(of(&["--growth", "0.02"], old)).unwrap();
        assert_eq!((grown.growth, grown.satellites.len()), (0.02, 1));
        let alone = told(of(&["--galaxy", "none"], old)).unwrap();
        assert_eq!((alone.growth, alone.satellites.len()), (0.0, 1));
    }

    /// From the Sun, at negative x, positive longitudes are at positive y.
    #[test]
    fn the_example_of_a_bar_is_that_of_the_milky_way() {
        let why = additions::bar("").unwrap_err();
        let example = why.split(' ').find(|word| word.starts_with('1')).unwrap();
        let command = Command::command();
        let bar = command.get_arguments().find(|a| a.get_id() == "bar");
        let help = bar.unwrap().get_help().unwrap().to_string();
        assert!(help.contains(&format!("as in {example}:")), "{help}");
        let galaxy = Command::parse_from(["test", "--bar", example])
            .galaxy
            .galaxy(None)
            .unwrap();
        let bar = galaxy.more.unwrap().bar(0.0).unwrap();
        let density = |y: f64| bar.density(&[-3.5, y, 0.0]);
        assert!(density(1.8) > 2.0 * density(-1.8));
        // The disc turns clockwise, and so does the bar: where it goes, the potential falls.
        assert!(bar.potential_change(&[-3.5, 2.3, 0.0]) < 0.0);
    }

    #[test]
    fn units_have_names_or_none() {
        for text in ["1e4Msun,3pc", "10000,3", "1e4 Msun, 0.003kpc"] {
            let Units { mass, length } = units(text).unwrap();
            assert!(mass == 1e4 && (length - 3.0).abs() < 1e-15, "{text}");
        }
        let Units { mass, length } = units("1Msun,1au").unwrap();
        assert!(mass == 1.0 && (length * 206_264.806_247 - 1.0).abs() < 1e-12);
        for bad in [
            "1e4,3pcpc",
            "1e4MsunMsun,3",
            "1e4,0pc",
            "0,3pc",
            "1e4,3Myr",
            "1e4",
        ] {
            assert!(units(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn quantities_may_have_units() {
        let galaxy = |arguments: &[&str]| {
            let command = Command::parse_from([&["test"], arguments].concat());
            command.galaxy.galaxy(None).unwrap()
        };
        let plain = ["--black-hole", "50", "--black-hole-eps", "0.25"];
        let plain = galaxy(
            &[
                &plain[..],
                &["--cluster-mass", "2e4", "--cluster-radius", "4"],
            ]
            .concat(),
        );
        let named = ["--black-hole", "1e6Msun", "--black-hole-eps", "1pc"];
        let cluster = ["--cluster-mass", "2e4 Msun", "--cluster-radius", "0.004kpc"];
        assert_eq!(galaxy(&[named, cluster].concat()), plain);
        for bad in [
            ["--cluster-mass", "2pc"],
            ["--cluster-mass", "0Msun"],
            ["--cluster-radius", "0pc"],
        ] {
            assert!(
                Command::try_parse_from([&["test"], &bad[..]].concat()).is_err(),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_resumed_run_stays_in_its_galaxy() {
        let options = |arguments: &[&str]| {
            Command::parse_from([&["test", "--input", "a"], arguments].concat()).galaxy
        };
        let saved = Galaxy {
            model: MilkyWay::Irrgang,
            ..Galaxy::default()
        };
        assert_eq!(options(&[]).galaxy(Some(saved)), Ok(saved));
        assert!(options(&["--galaxy", "none"]).galaxy(Some(saved)).is_err());
        assert_eq!(
            options(&["--galaxy", "irrgang"]).galaxy(Some(saved)),
            Ok(saved)
        );
        assert!(options(&["--black-hole", "1"]).galaxy(Some(saved)).is_err());
    }
}
