//! The parts that options add to a model of the galaxy: a potential from a file, a rotating bar, growth, satellites.

use super::bar::{Bar, Needle};
use super::friction::Friction;
use super::milky_way::{TIME, VELOCITY, solar_masses};
use super::satellite::{Moving, Satellite};
use super::table::Table;
use super::{Field, MilkyWay};
use crate::snapshot::Snapshot;
use crate::snapshot::line::words;
use crate::vector::{Vec3, add_scaled};

const POTENTIAL: &str = "galaxy.potential";
const BAR: &str = "galaxy.bar";
const GROWTH: &str = "galaxy.growth";
const SATELLITE: &str = "galaxy.satellite";

/// What is added, as the options tell it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdditionOptions {
    /// A potential from a file.
    pub table: Option<Table>,
    /// A bar: mass, half length, the two softenings, km/s/kpc, degrees from the x axis, counterclockwise; in solar masses and kpc.
    pub bar: Option<[f64; 6]>,
    /// By which part the masses of model, file and bar grow in a Gyr.
    pub growth: f64,
    /// Satellites.
    pub satellites: Vec<Satellite>,
}

impl AdditionOptions {
    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The lines of a snapshot.
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut line = |key: &str, value: String| lines.push((key.to_owned(), value));
        if let Some(table) = &self.table {
            let path = crate::run::told::encoded(&table.path.to_string_lossy());
            line(POTENTIAL, format!("{:08x} {path}", table.sum));
        }
        if let Some(bar) = &self.bar {
            line(BAR, words(bar));
        }
        if self.growth != 0.0 {
            line(GROWTH, words(&self.growth));
        }
        for satellite in &self.satellites {
            line(SATELLITE, satellite.text.clone());
        }
        lines
    }

    /// Whether the galaxy of `snapshot` has additions.
    pub fn are_in(snapshot: &Snapshot) -> bool {
        let keys = [POTENTIAL, BAR, GROWTH, SATELLITE];
        snapshot.run.iter().any(|(k, _)| keys.contains(&k.as_str()))
    }

    /// What the galaxy of a run had that `snapshot` was saved from.
    ///
    /// # Errors
    ///
    /// A line makes no sense, or the file of a potential has changed; in words.
    pub fn of(snapshot: &Snapshot) -> Result<Self, String> {
        let mut told = Self::default();
        if let Some((sum, path)) = snapshot.line::<(String, String)>(POTENTIAL)? {
            let table = Table::load(crate::run::told::decoded(&path).as_ref())?;
            if format!("{:08x}", table.sum) != sum {
                let path = table.path.display();
                return Err(format!(
                    "{path}: the potential has changed since the run began"
                ));
            }
            told.table = Some(table);
        }
        told.bar = snapshot.line(BAR)?;
        told.growth = snapshot.line(GROWTH)?.unwrap_or_default();
        for text in snapshot.values(SATELLITE) {
            told.satellites.push(Satellite::parse(text)?);
        }
        Ok(told)
    }

    /// In words, a part each.
    pub fn titles(&self) -> Vec<String> {
        let mut titles = Vec::new();
        if let Some(table) = &self.table {
            let name = table.path.file_name().unwrap_or_default();
            titles.push(format!("the potential of {}", name.to_string_lossy()));
        }
        if let Some([m, a, _, _, speed, _]) = &self.bar {
            titles.push(format!(
                "a bar of {m:.3e} solar masses and {a} kpc at {speed} km/s/kpc"
            ));
        }
        if self.growth != 0.0 {
            titles.push(format!("masses growing by {} a Gyr", self.growth));
        }
        for satellite in &self.satellites {
            titles.push(format!("the satellite {}", satellite.text));
        }
        titles
    }
}

/// What does not move with a satellite: the model and the file.
#[derive(Debug)]
struct Host {
    model: MilkyWay,
    table: Option<Table>,
}

impl Field for Host {
    fn potential(&self, x: &Vec3) -> f64 {
        let table = self.table.as_ref().map_or(0.0, |t| t.potential(x));
        self.model.potential(x) + table
    }

    fn acceleration(&self, x: &Vec3) -> Vec3 {
        let mut a = self.model.acceleration(x);
        if let Some(table) = &self.table {
            add_scaled(&mut a, 1.0, &table.acceleration(x));
        }
        a
    }

    fn density(&self, x: &Vec3) -> f64 {
        let table = self.table.as_ref().map_or(0.0, |t| t.density(x));
        self.model.density(x) + table
    }
}

/// The fields added to a galaxy's model, and the orbits and tables that were computed for them at
/// the start.
#[derive(Debug)]
pub struct Additions {
    /// What the options tell.
    pub told: AdditionOptions,
    bar: Option<Bar>,
    moving: Vec<Moving>,
}

impl PartialEq for Additions {
    fn eq(&self, other: &Self) -> bool {
        self.told == other.told
    }
}

impl Additions {
    /// What is added to `model`. It stays until the process ends, and orbits of satellites are found here, once.
    pub fn of(told: AdditionOptions, model: MilkyWay) -> &'static Self {
        let host: &'static Host = Box::leak(Box::new(Host {
            model,
            table: told.table.clone(),
        }));
        let bar = told.bar.map(|[m, a, b, c, speed, angle]| Bar {
            needle: Needle {
                m: solar_masses(m),
                a,
                b,
                c,
            },
            speed: speed / VELOCITY,
            angle: angle.to_radians(),
        });
        let friction = told
            .satellites
            .iter()
            .any(Satellite::is_slowed)
            .then(|| Friction::of(host, bar));
        let mut new = Self {
            told,
            bar,
            moving: Vec::new(),
        };
        let mut moving = Vec::new();
        for satellite in &new.told.satellites {
            let field = |t: f64, x: &Vec3| {
                let factor = new.factor(t);
                let mut a = host.acceleration(x).map(|c| factor * c);
                if let Some(bar) = &new.bar {
                    add_scaled(&mut a, factor, &bar.at(t).acceleration(x));
                }
                a
            };
            let masses = |t: f64| new.factor(t);
            let friction = friction
                .as_ref()
                .map(|f| (f, &masses as &dyn Fn(f64) -> f64));
            moving.push(Moving::new(satellite.clone(), &field, friction));
        }
        new.moving = moving;
        Box::leak(Box::new(new))
    }

    /// Refuses times from today, in Myr, at which it is not known where a satellite is. `edge` tells where the galaxy is not known.
    ///
    /// # Errors
    ///
    /// In words.
    pub fn check(&self, times: [f64; 2], edge: Option<&str>) -> Result<(), String> {
        self.moving
            .iter()
            .try_for_each(|moving| moving.check(times, edge))
    }

    /// Whether the field changes with time.
    pub fn changes(&self) -> bool {
        self.told.growth != 0.0
            || self.bar.is_some_and(|bar| bar.speed != 0.0)
            || self.told.satellites.iter().any(Satellite::moves)
    }

    /// The masses of the galaxy at `t` from today in the model's units, in parts of today's.
    pub fn factor(&self, t: f64) -> f64 {
        (1.0 + self.told.growth * t * TIME / 1000.0).max(0.0)
    }

    /// By how much that grows in the model's unit of time.
    pub fn factor_change(&self, t: f64) -> f64 {
        match self.factor(t) > 0.0 {
            true => self.told.growth * TIME / 1000.0,
            false => 0.0,
        }
    }

    /// The bar at `t`.
    pub fn bar(&self, t: f64) -> Option<super::bar::Turned> {
        self.bar.map(|bar| bar.at(t))
    }

    /// The satellites at `t`.
    pub fn satellites(&self, t: f64) -> Vec<super::satellite::Here> {
        self.moving.iter().map(|moving| moving.at(t)).collect()
    }
}

/// `1e10,4,1,0.5,-39,-28`: a bar's mass, half length, softenings, angular speed and angle.
///
/// # Errors
///
/// The text is none; in words.
pub fn bar(text: &str) -> Result<[f64; 6], String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|c| c.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[m, a, b, c, speed, angle])
            if [m, a, b + c].iter().all(|n| *n > 0.0)
                && [b, c].iter().all(|n| *n >= 0.0)
                && [m, a, b, c, speed, angle].iter().all(|n| n.is_finite()) =>
        {
            Ok([m, a, b, c, speed, angle])
        }
        _ => Err(
            "not MASS,A,B,C,SPEED,ANGLE such as 1e10,4,1,0.5,-39,-28 (solar masses, kpc, km/s/kpc, degrees)"
                .to_owned(),
        ),
    }
}
