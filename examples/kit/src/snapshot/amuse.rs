//! Bodies in AMUSE's HDF5 layout, version 2.0, as `write_set_to_file(particles, name, "amuse")` writes it.
//!
//! A group `AMUSE_INF` has the version. Each group of `data` is one state of a set of particles. It has the dataset
//! `keys`, and a dataset for each attribute. The unit of an attribute is an expression, such as
//! `(1000.0 * system.get('S.I.').base('length'))`.

use std::collections::HashMap;

use hdf5_pure::{AttrValue, FileBuilder};

use super::Snapshot;
use super::hdf5::{Source, number};
use super::physical::FileUnits;
use crate::body::Body;
use crate::galaxy::Units;

/// The only state that is written.
const STATE: &str = "0000000001";
/// AMUSE's name of the units in which G = 1.
const GENERIC: &str = "generic";
/// AMUSE's name of kilograms, metres and seconds.
const SI: &str = "S.I.";

/// Powers of mass, length and time.
type Dimension = [i32; 3];
const MASS: Dimension = [1, 0, 0];
const LENGTH: Dimension = [0, 1, 0];
const TIME: Dimension = [0, 0, 1];
const VELOCITY: Dimension = [0, 1, -1];
const BASES: [&str; 3] = ["mass", "length", "time"];

/// The name of an attribute, its dimension, and the number of a body.
type Column = (&'static str, Dimension, fn(&Body) -> f64);
const COLUMNS: [Column; 7] = [
    ("mass", MASS, |b| b.mass),
    ("x", LENGTH, |b| b.x[0]),
    ("y", LENGTH, |b| b.x[1]),
    ("z", LENGTH, |b| b.x[2]),
    ("vx", VELOCITY, |b| b.v[0]),
    ("vy", VELOCITY, |b| b.v[1]),
    ("vz", VELOCITY, |b| b.v[2]),
];

/// Adds the bodies to `file`.
pub(super) fn write(file: &mut FileBuilder, snapshot: &Snapshot, units: Option<&Units>) {
    let bodies = &snapshot.bodies;
    let text = |text: String| AttrValue::AsciiString(text);
    let mut info = file.create_group("AMUSE_INF");
    info.set_attr("version", text("2.0".to_owned()));
    file.add_group(info.finish());
    let mut data = file.create_group("data");
    let mut set = data.create_group(STATE);
    set.set_attr("type", text("particles".to_owned()));
    set.set_attr("number_of_particles", AttrValue::I64(bodies.len() as i64));
    set.set_attr("timestamp", AttrValue::F64(snapshot.time));
    set.set_attr("timestamp_unit", text(unit(TIME, units)));
    if !bodies.is_empty() {
        let keys: Vec<u64> = bodies
            .iter()
            .map(|b| i64::from(b.index).cast_unsigned())
            .collect();
        set.create_dataset("keys").with_u64_data(&keys);
    }
    let mut attributes = set.create_group("attributes");
    if !bodies.is_empty() {
        for (name, dimension, number) in COLUMNS {
            let numbers: Vec<f64> = bodies.iter().map(number).collect();
            let dataset = attributes.create_dataset(name).with_f64_data(&numbers);
            dataset.set_attr("units", text(unit(dimension, units)));
        }
        let labels: Vec<i64> = bodies.iter().map(|b| i64::from(b.index)).collect();
        let dataset = attributes.create_dataset("id").with_i64_data(&labels);
        dataset.set_attr("units", text("none".to_owned()));
    }
    set.add_group(attributes.finish());
    data.add_group(set.finish());
    file.add_group(data.finish());
}

/// The expression of a unit: of N-body units, or in SI if the `units` are known.
fn unit(dimension: Dimension, units: Option<&Units>) -> String {
    let system = if units.is_some() { SI } else { GENERIC };
    let factor = units.map(|units| {
        let [mass, length, velocity] = in_si(&FileUnits::of(units));
        let time = length / velocity;
        let powers = [mass, length, time].into_iter().zip(dimension);
        powers.fold(1.0, |product, (unit, power)| product * unit.powi(power))
    });
    let bases = BASES.iter().zip(dimension).filter(|(_, power)| *power != 0);
    let bases = bases.map(|(base, power)| match power {
        1 => format!("system.get('{system}').base('{base}')"),
        _ => format!("(system.get('{system}').base('{base}')**{power})"),
    });
    let factors: Vec<String> = factor
        .map(|f| format!("{f:?}"))
        .into_iter()
        .chain(bases)
        .collect();
    format!("({})", factors.join(" * "))
}

/// Units in kg, m and m/s.
fn in_si(units: &FileUnits) -> [f64; 3] {
    let si = FileUnits::SI;
    [
        units.mass / si.mass,
        units.length / si.length,
        units.velocity / si.velocity,
    ]
}

/// The bodies of the last state. If `foreign`, AMUSE has written the file: numbers in SI become those of units with G = 1.
pub(super) fn read(source: &Source, foreign: bool) -> Result<Snapshot, String> {
    let mut states = match source.attributes("data")? {
        Some(_) => source.groups("data")?,
        None => Vec::new(),
    };
    states.sort();
    let Some(state) = states.pop() else {
        return Err("AMUSE's group `data` is missing or empty".to_owned());
    };
    let group = format!("data/{state}");
    let about = source.attributes(&group)?.unwrap_or_default();
    let Some(count) = number(&about, "number_of_particles") else {
        return Err(format!(
            "the attribute `number_of_particles` of {group} is missing"
        ));
    };
    if count == 0.0 {
        return Ok(Snapshot::default());
    }
    let columns = Columns::new(source, format!("{group}/attributes"), count, foreign);
    let read = |(name, dimension, _)| columns.read(name, dimension);
    let numbers = COLUMNS
        .into_iter()
        .map(read)
        .collect::<Result<Vec<_>, _>>()?;
    let labels = labels(source, &group, count)?;
    let body = |(i, index): (usize, i32)| Body {
        index,
        mass: numbers[0][i],
        x: [numbers[1][i], numbers[2][i], numbers[3][i]],
        v: [numbers[4][i], numbers[5][i], numbers[6][i]],
    };
    let mut snapshot = Snapshot {
        time: columns.time(&about)?,
        bodies: labels.into_iter().enumerate().map(body).collect(),
        ..Snapshot::default()
    };
    if columns.system.get() == Some(&SI.to_owned()) && foreign {
        FileUnits::SI.convert(&mut snapshot);
    }
    Ok(snapshot)
}

/// The labels: `id` if there is one, else the keys if they are short enough, else from 0 on.
fn labels(source: &Source, group: &str, count: f64) -> Result<Vec<i32>, String> {
    let attributes = format!("{group}/attributes");
    let labels = match source.has_dataset(&attributes, "id")? {
        true => source.labels(&format!("{attributes}/id"))?,
        false => match source.labels(&format!("{group}/keys")) {
            Ok(keys) => keys,
            Err(_) => (0..count as i32).collect(),
        },
    };
    match labels.len() as f64 == count {
        true => Ok(labels),
        false => Err(format!(
            "{group} has {} labels for {count} particles",
            labels.len()
        )),
    }
}

/// The attributes of a set of particles.
struct Columns<'s> {
    source: &'s Source,
    group: String,
    count: f64,
    foreign: bool,
    /// The system of units, which all have in common.
    system: std::cell::OnceCell<String>,
}

impl<'s> Columns<'s> {
    fn new(source: &'s Source, group: String, count: f64, foreign: bool) -> Self {
        let system = std::cell::OnceCell::new();
        Self {
            source,
            group,
            count,
            foreign,
            system,
        }
    }

    /// A column of this dimension, in the base units of its system.
    fn read(&self, name: &str, dimension: Dimension) -> Result<Vec<f64>, String> {
        let Self { source, group, .. } = self;
        if !source.has_dataset(group, name)? {
            return Err(format!("{group}/{name} is missing"));
        }
        let path = format!("{group}/{name}");
        let numbers = source.column(&path)?;
        if numbers.len() as f64 != self.count {
            let (found, count) = (numbers.len(), self.count);
            return Err(format!("{path} has {found} rows for {count} particles"));
        }
        let attributes = source.dataset(&path, 1)?.attrs();
        let attributes = attributes.map_err(|e| format!("{path}: {e}"))?;
        let factor = self.factor(&path, attributes.get("units"), dimension)?;
        Ok(numbers.into_iter().map(|x| factor * x).collect())
    }

    /// The time of the state.
    fn time(&self, about: &HashMap<String, AttrValue>) -> Result<f64, String> {
        let Some(time) = number(about, "timestamp") else {
            return Ok(0.0);
        };
        Ok(time * self.factor("timestamp", about.get("timestamp_unit"), TIME)?)
    }

    /// The factor of a unit, whose system is that of all others. What kirin wrote stays as it is.
    fn factor(
        &self,
        path: &str,
        unit: Option<&AttrValue>,
        dimension: Dimension,
    ) -> Result<f64, String> {
        let Some(text) = unit.and_then(AttrValue::as_str) else {
            return Err(format!("{path} has no unit"));
        };
        let refuse = |why: &str| Err(format!("{path}: the unit `{text}` {why}"));
        let Some(unit) = Unit::parse(text) else {
            return refuse("is not one that can be read");
        };
        if unit.dimension != dimension {
            return refuse("has another dimension");
        }
        if ![SI, GENERIC].contains(&&*unit.system)
            || *self.system.get_or_init(|| unit.system.clone()) != unit.system
        {
            return refuse("is neither in SI nor in N-body units, as all must be");
        }
        Ok(if self.foreign { unit.factor } else { 1.0 })
    }
}

/// A product of a number and base units.
struct Unit {
    factor: f64,
    dimension: Dimension,
    system: String,
}

impl Unit {
    /// The unit of an expression: a product of numbers and bases with whole powers.
    fn parse(text: &str) -> Option<Self> {
        let mut unit = Self {
            factor: 1.0,
            dimension: [0; 3],
            system: String::new(),
        };
        for factor in text.split(" * ") {
            let factor = factor.trim().trim_start_matches('(');
            let Some(rest) = factor.strip_prefix("system.get('") else {
                unit.factor *= factor.trim_end_matches(')').parse::<f64>().ok()?;
                continue;
            };
            let (system, rest) = rest.split_once("').base('")?;
            let (base, rest) = rest.split_once("')")?;
            let power = match rest.trim_end_matches(')').strip_prefix("**") {
                Some(power) => power.parse().ok()?,
                None if rest.trim_end_matches(')').is_empty() => 1,
                None => return None,
            };
            let place = BASES.iter().position(|name| *name == base)?;
            unit.dimension[place] += power;
            if !unit.system.is_empty() && unit.system != system {
                return None;
            }
            unit.system = system.to_owned();
        }
        Some(unit)
    }
}
