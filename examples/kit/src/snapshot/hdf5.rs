//! Snapshots as HDF5 files: what GADGET's layout and AMUSE's have in common.
//!
//! Beside the bodies a group `kirin` has what is needed to go on with a run: the lines `key value` as UTF-8, the states,
//! and a CRC-32 over all numbers and lines.

use std::collections::HashMap;

use crc32fast::Hasher;
use hdf5_pure::{AttrValue, DType, Dataset, File, FileBuilder};

use super::format::Format;
use super::write::is_application_key;
use super::{STATE_COLUMNS, Snapshot, State, amuse, gadget, newest, read};
use crate::galaxy::Units;

/// The group with what kirin keeps.
const GROUP: &str = "kirin";
/// The most bytes into which DEFLATE can expand one.
const EXPANSION: u64 = 1032;

/// The bytes of an HDF5 file.
///
/// # Errors
///
/// It cannot be made; in words.
///
/// # Panics
///
/// States are not as many as bodies.
pub(super) fn write(snapshot: &Snapshot, format: Format) -> Result<Vec<u8>, String> {
    let mut file = FileBuilder::new();
    let units = Units::of(snapshot)?;
    match format {
        Format::Amuse => amuse::write(&mut file, snapshot, units.as_ref()),
        Format::Gadget | Format::Text => gadget::write(&mut file, snapshot, units.as_ref()),
    }
    let mut group = file.create_group(GROUP);
    group.set_attr("time", AttrValue::F64(snapshot.time));
    group.set_attr("checksum", AttrValue::U32(checksum(snapshot)));
    let lines = lines(snapshot);
    if !lines.is_empty() {
        group.create_dataset("lines").with_u8_data(lines.as_bytes());
    }
    if let Some(states) = snapshot.states.as_ref().filter(|s| !s.is_empty()) {
        assert_eq!(states.len(), snapshot.bodies.len(), "each body has a state");
        let numbers: Vec<f64> = states.iter().flat_map(numbers).collect();
        group
            .create_dataset("states")
            .with_f64_data(&numbers)
            .with_shape(&[states.len() as u64, STATE_COLUMNS.len() as u64])
            .set_attr("columns", AttrValue::AsciiString(STATE_COLUMNS.join(" ")));
    }
    file.add_group(group.finish());
    file.finish().map_err(|e| e.to_string())
}

/// The snapshot in the bytes of an HDF5 file of either layout.
///
/// # Errors
///
/// Something in it is not as the layout wants it; in words.
pub(super) fn read(bytes: &[u8]) -> Result<Snapshot, String> {
    let source = Source::open(bytes)?;
    let kept = source.attributes(GROUP)?;
    let mut snapshot = match source.has_group("AMUSE_INF")? {
        true => amuse::read(&source, kept.is_none())?,
        false => gadget::read(&source, kept.is_none())?,
    };
    for body in &snapshot.bodies {
        let numbers = [[body.mass; 3], body.x, body.v];
        if let Some(number) = numbers.as_flattened().iter().find(|x| !x.is_finite()) {
            return Err(format!("body {}: {number} is not finite", body.index));
        }
        if body.mass < 0.0 {
            let (index, mass) = (body.index, body.mass);
            return Err(format!("body {index}: the mass {mass} is negative"));
        }
    }
    if !snapshot.time.is_finite() {
        return Err(format!("the time {} is not finite", snapshot.time));
    }
    if let Some(kept) = kept {
        restore(&source, &kept, &mut snapshot)?;
    }
    Ok(snapshot)
}

/// Adds what kirin has kept beside the bodies, and compares the checksum.
fn restore(
    source: &Source,
    kept: &HashMap<String, AttrValue>,
    snapshot: &mut Snapshot,
) -> Result<(), String> {
    if let Some(time) = number(kept, "time") {
        snapshot.time = time;
    }
    if source.has_dataset(GROUP, "lines")? {
        let path = format!("{GROUP}/lines");
        let bytes = source.dataset(&path, 1)?.read_u8();
        let text = String::from_utf8(bytes.map_err(|e| format!("{path}: {e}"))?);
        let text = text.map_err(|_| format!("{path} is not text in UTF-8"))?;
        for line in text.lines() {
            match line.split_once(' ') {
                Some((key, value)) if is_application_key(key) => {
                    snapshot.run.push((key.to_owned(), value.to_owned()));
                }
                _ => return Err(format!("{path}: cannot make sense of `{line}`")),
            }
        }
    }
    if source.has_dataset(GROUP, "states")? {
        let path = format!("{GROUP}/states");
        let (rows, n) = (source.rows::<8>(&path)?, snapshot.bodies.len());
        if rows.len() != n {
            return Err(format!("{path} has {} rows for {n} bodies", rows.len()));
        }
        snapshot.states = Some(rows.into_iter().map(state).collect());
    }
    let found = checksum(snapshot);
    match kept.get("checksum").and_then(AttrValue::as_u64) {
        Some(expected) if expected == u64::from(found) => Ok(()),
        None if read::is_run(snapshot) => Err(
            "the file is damaged: the attribute `checksum` of the group `kirin` is missing"
                .to_owned(),
        ),
        None => Ok(()),
        Some(expected) => {
            let advice = match read::is_run(snapshot) {
                true => "a run goes on only from what its program wrote",
                false => "where it was changed on purpose, delete the group `kirin`",
            };
            Err(format!(
                "the file is damaged: its checksum is {found:08x}, and was {expected:08x}; {advice}"
            ))
        }
    }
}

/// The lines of applications: `key value`.
fn lines(snapshot: &Snapshot) -> String {
    let lines = snapshot
        .run
        .iter()
        .map(|(key, value)| format!("{key} {value}\n"));
    lines.collect()
}

/// A CRC-32 over all that a snapshot holds.
fn checksum(snapshot: &Snapshot) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&snapshot.time.to_le_bytes());
    hasher.update(lines(snapshot).as_bytes());
    let mut sum = |numbers: &[f64]| numbers.iter().for_each(|x| hasher.update(&x.to_le_bytes()));
    for body in &snapshot.bodies {
        sum(&[f64::from(body.index), body.mass]);
        sum(&body.x);
        sum(&body.v);
    }
    for state in snapshot.states.iter().flatten() {
        sum(&numbers(state));
    }
    hasher.finalize()
}

/// The numbers of a state in the order of [`STATE_COLUMNS`].
fn numbers(state: &State) -> [f64; 8] {
    let ([ax, ay, az], [jx, jy, jz]) = (state.acc, state.jerk);
    [state.t, state.dt, ax, ay, az, jx, jy, jz]
}

fn state([t, dt, ax, ay, az, jx, jy, jz]: [f64; 8]) -> State {
    let (acc, jerk) = ([ax, ay, az], [jx, jy, jz]);
    State { t, dt, acc, jerk }
}

/// The first number of an attribute, whatever its type.
pub(super) fn number(attributes: &HashMap<String, AttrValue>, name: &str) -> Option<f64> {
    Some(*numbers_of(attributes.get(name)?)?.first()?)
}

/// All numbers of an attribute, whatever their type.
pub(super) fn numbers_of(attribute: &AttrValue) -> Option<Vec<f64>> {
    let integers = || {
        let whole = attribute
            .to_i64s()
            .map(|all| all.iter().map(|x| *x as f64).collect());
        whole.or_else(|| {
            attribute
                .to_u64s()
                .map(|all| all.iter().map(|x| *x as f64).collect())
        })
    };
    attribute.to_f64s().or_else(integers)
}

/// An HDF5 file that is read.
pub(super) struct Source {
    file: File,
    bytes: u64,
}

impl Source {
    fn open(bytes: &[u8]) -> Result<Self, String> {
        let file = File::from_bytes(newest::as_version_4(bytes.to_vec()))
            .map_err(|e| format!("the HDF5 file: {e}"))?;
        Ok(Self {
            file,
            bytes: bytes.len() as u64,
        })
    }

    /// The attributes of a group; `None` if there is no such group.
    pub(super) fn attributes(
        &self,
        group: &str,
    ) -> Result<Option<HashMap<String, AttrValue>>, String> {
        let (parent, name) = group.rsplit_once('/').unwrap_or(("", group));
        if !self.groups(parent)?.iter().any(|found| found == name) {
            return Ok(None);
        }
        let attributes = self.file.group(group).and_then(|group| group.attrs());
        attributes.map(Some).map_err(|e| format!("{group}: {e}"))
    }

    /// The names of the groups in a group; `""` is the root.
    pub(super) fn groups(&self, group: &str) -> Result<Vec<String>, String> {
        let groups = match group {
            "" => self.file.root().groups(),
            path => self.file.group(path).and_then(|group| group.groups()),
        };
        groups.map_err(|e| format!("the HDF5 file: {e}"))
    }

    fn has_group(&self, name: &str) -> Result<bool, String> {
        Ok(self.groups("")?.iter().any(|found| found == name))
    }

    /// Whether a group has a dataset of this name.
    pub(super) fn has_dataset(&self, group: &str, name: &str) -> Result<bool, String> {
        let names = self.file.group(group).and_then(|group| group.datasets());
        Ok(names
            .map_err(|e| format!("{group}: {e}"))?
            .iter()
            .any(|found| found == name))
    }

    /// The dataset at `path` with rows of `width` numbers. A dataset that the file cannot hold is refused before memory
    /// is taken for it.
    pub(super) fn dataset(&self, path: &str, width: u64) -> Result<Dataset, String> {
        let says = |e: hdf5_pure::Error| format!("{path}: {e}");
        let dataset = self.file.dataset(path).map_err(says)?;
        let shape = dataset.shape().map_err(says)?;
        let is_right = match *shape {
            [_] => width == 1,
            [_, columns] => columns == width,
            _ => false,
        };
        if !is_right {
            return Err(format!(
                "{path} has the shape {shape:?} and not (bodies, {width})"
            ));
        }
        let size = dataset.element_size().map_err(says)?;
        let whole = shape
            .iter()
            .try_fold(size, |product, n| product.checked_mul(*n));
        match whole {
            Some(whole) if whole <= self.bytes.saturating_mul(EXPANSION) => Ok(dataset),
            _ => Err(format!(
                "{path} has the shape {shape:?}, more than the file can hold"
            )),
        }
    }

    /// The rows of a dataset of real numbers.
    pub(super) fn rows<const WIDTH: usize>(&self, path: &str) -> Result<Vec<[f64; WIDTH]>, String> {
        let dataset = self.dataset(path, WIDTH as u64)?;
        let numbers = dataset.read_f64().map_err(|e| format!("{path}: {e}"))?;
        Ok(numbers.as_chunks().0.to_vec())
    }

    /// A column of real numbers.
    pub(super) fn column(&self, path: &str) -> Result<Vec<f64>, String> {
        let dataset = self.dataset(path, 1)?;
        dataset.read_f64().map_err(|e| format!("{path}: {e}"))
    }

    /// A column of labels. Labels that are greater than those of a [`Body`](crate::Body) are refused.
    pub(super) fn labels(&self, path: &str) -> Result<Vec<i32>, String> {
        let says = |e: hdf5_pure::Error| format!("{path}: {e}");
        let dataset = self.dataset(path, 1)?;
        use DType::{I8, I16, I32, I64, U8, U16, U32, U64};
        match dataset.dtype().map_err(says)? {
            I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 => {}
            _ => return Err(format!("{path}: these are no whole numbers")),
        }
        let label = |label: i64| {
            i32::try_from(label).map_err(|_| {
                format!("{path}: the label {label} is not between -2147483648 and 2147483647")
            })
        };
        let labels = dataset.read_i64().map_err(says)?;
        labels.into_iter().map(label).collect()
    }
}
