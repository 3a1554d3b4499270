//! A state in parts: a binary file for each part of the bodies, and a manifest at the path where the snapshot would be.
//!
//! The manifest is a snapshot without bodies. Its lines
//!
//! ```text
//! parts.n N                      number of bodies of all parts
//! parts.generation G             number of the state: each is written beside the one before
//! parts.file NAME FIRST COUNT C  a part: its file beside the manifest, the place of its first body, how many there are,
//!                                and the CRC-32 of the file, hexadecimal
//! ```
//!
//! name the parts. A part has 16 numbers of 64 bits, little-endian, for each body: label, mass, position, velocity, time,
//! step, acceleration and jerk.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::line::read;
use super::{Format, Snapshot, State, is_snapshot};
use crate::body::Body;
use crate::command::named;
use crate::replace::{behind_links, folder_of};
use crate::run::told::{decoded, encoded};

/// Numbers of a body and its state.
pub const RECORD: usize = 16;
/// Bytes of a body and its state.
const BYTES: usize = RECORD * size_of::<f64>();

/// Key of the number of bodies.
pub const N: &str = "parts.n";
const GENERATION: &str = "parts.generation";
const FILE: &str = "parts.file";

/// Body and state as numbers.
pub fn record(body: &Body, state: &State) -> [f64; RECORD] {
    let (x, v, a, j) = (&body.x, &body.v, &state.acc, &state.jerk);
    [
        body.index.into(),
        body.mass,
        x[0],
        x[1],
        x[2],
        v[0],
        v[1],
        v[2],
        state.t,
        state.dt,
        a[0],
        a[1],
        a[2],
        j[0],
        j[1],
        j[2],
    ]
}

/// What [`record`] was made of.
pub fn of_record(record: &[f64]) -> (Body, State) {
    let three = |at: usize| [record[at], record[at + 1], record[at + 2]];
    (
        Body {
            index: record[0] as i32,
            mass: record[1],
            x: three(2),
            v: three(5),
        },
        State {
            t: record[8],
            dt: record[9],
            acc: three(10),
            jerk: three(13),
        },
    )
}

/// One of the parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name of its file, beside the manifest.
    pub name: String,
    /// Place of its first body among all.
    pub first: usize,
    /// Number of its bodies.
    pub count: usize,
    /// CRC-32 of the file.
    pub sum: u32,
}

/// What a manifest says of the parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Number of bodies.
    pub n: usize,
    /// Number of the state.
    pub generation: u64,
    /// The parts, in the order of their bodies.
    pub parts: Vec<Part>,
}

impl Manifest {
    /// What `snapshot` says of its parts; `None` where it has the bodies itself.
    ///
    /// # Errors
    ///
    /// A line makes no sense, or the parts are not all bodies; in words.
    pub fn of(snapshot: &Snapshot) -> Result<Option<Self>, String> {
        let Some(n) = snapshot.line(N)? else {
            return Ok(None);
        };
        let generation = snapshot.required(GENERATION)?;
        let mut parts = Vec::new();
        let mut next = 0_usize;
        for value in snapshot.values(FILE) {
            let (name, first, count, sum): (String, usize, usize, String) = read(FILE, value)?;
            let name = decoded(&name);
            let sum = u32::from_str_radix(&sum, 16);
            let sum = sum.map_err(|e| format!("{FILE} {value}: {e}"))?;
            let is_beside = Path::new(&name).file_name() == Some(name.as_ref());
            if first != next || !is_beside {
                return Err(format!("{FILE} {value}: not the part of body {next} on"));
            }
            next = first.saturating_add(count);
            parts.push(Part {
                name,
                first,
                count,
                sum,
            });
        }
        if i32::try_from(n).is_err() {
            return Err(format!("{N} {n}: too many bodies"));
        }
        match next == n {
            true => Ok(Some(Self {
                n,
                generation,
                parts,
            })),
            false => Err(format!("the parts have {next} of {n} bodies")),
        }
    }

    /// The manifest at `path`, read only as far as its lines go; `None` where there is none.
    pub fn at(path: &Path) -> Option<Self> {
        let mut lines = BufReader::new(fs::File::open(path).ok()?)
            .lines()
            .map_while(Result::ok);
        if !is_snapshot(&lines.next()?) {
            return None;
        }
        let mut snapshot = Snapshot::default();
        for line in lines.take_while(|line| !line.starts_with("columns ")) {
            if let Some((key, value)) = line.split_once(' ').filter(|(k, _)| k.contains("parts.")) {
                snapshot.run.push((key.to_owned(), value.to_owned()));
            }
        }
        Self::of(&snapshot).ok().flatten()
    }

    /// The lines of the manifest: keys and values.
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![
            (N.to_owned(), self.n.to_string()),
            (GENERATION.to_owned(), self.generation.to_string()),
        ];
        lines.extend(self.parts.iter().map(|part| {
            let name = encoded(&part.name);
            let value = format!("{name} {} {} {:08x}", part.first, part.count, part.sum);
            (FILE.to_owned(), value)
        }));
        lines
    }

    /// The bodies number `range.start` to `range.end` - 1 of the state, with their states, from the files beside the
    /// `manifest`. Files that have none of them are not read.
    ///
    /// # Errors
    ///
    /// A file is missing or damaged; in words.
    pub fn read(
        &self,
        manifest: &Path,
        range: Range<usize>,
    ) -> Result<(Vec<Body>, Vec<State>), String> {
        let (mut bodies, mut states) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let begin = range.start.max(part.first);
            let end = range.end.min(part.first + part.count);
            if begin >= end {
                continue;
            }
            let path = beside(manifest, &part.name);
            let bytes = fs::read(&path).map_err(named(&path))?;
            let sum = crc32fast::hash(&bytes);
            if (bytes.len(), sum) != (part.count * BYTES, part.sum) {
                let why = format!(
                    "the file is damaged: it has {} bytes and the checksum {sum:08x}, and had {} and {:08x}",
                    bytes.len(),
                    part.count * BYTES,
                    part.sum
                );
                return Err(named(&path)(why));
            }
            let wanted = &bytes[(begin - part.first) * BYTES..(end - part.first) * BYTES];
            for bytes in wanted.chunks_exact(BYTES) {
                let numbers = bytes
                    .chunks_exact(8)
                    .map(|b| b.try_into().expect("8 bytes"));
                let numbers: Vec<f64> = numbers.map(f64::from_le_bytes).collect();
                let (body, state) = of_record(&numbers);
                bodies.push(body);
                states.push(state);
            }
        }
        Ok((bodies, states))
    }

    /// Removes the files of the parts beside the `manifest`, which nothing refers to any more.
    pub fn remove(&self, manifest: &Path) {
        for part in &self.parts {
            // A file that stays takes room, and does no other harm.
            let _ = fs::remove_file(beside(manifest, &part.name));
        }
    }
}

/// The file of this name beside the `manifest`, which may be a symbolic link.
fn beside(manifest: &Path, name: &str) -> PathBuf {
    behind_links(manifest).with_file_name(name)
}

/// Checks that a state in parts can be written to `output`: its manifest is a text.
///
/// # Errors
///
/// The name is that of another format, or there is none although parts were `asked` for; in words.
pub fn check_output(output: Option<&Path>, asked: bool) -> Result<(), String> {
    match output.map(|path| (path, Format::of(path))) {
        None if asked => Err("--parts needs --output".to_owned()),
        None | Some((_, Format::Text)) => Ok(()),
        Some((path, _)) => {
            let why = "--parts writes a text, whose name does not end in .hdf5, .h5 or .amuse";
            Err(named(path)(why))
        }
    }
}

/// The file of part number `number` of the state `generation` at `path`.
pub fn path_of(path: &Path, generation: u64, number: usize) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{generation}.{number}"));
    path.with_file_name(name)
}

/// The number of a new state at `path`, of which no file is there yet. `before` is the manifest there. A manifest that has
/// been renamed still names files of `path`, so these count, too.
pub fn next_generation(path: &Path, before: Option<&Manifest>) -> u64 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let generation = |file: fs::DirEntry| -> Option<u64> {
        let file = file.file_name();
        let rest = file.to_str()?.strip_prefix(&*name)?.strip_prefix('.')?;
        let (generation, number) = rest.split_once('.')?;
        number.parse::<usize>().ok()?;
        generation.parse().ok()
    };
    let files = fs::read_dir(folder_of(path))
        .into_iter()
        .flatten()
        .flatten();
    let found = files
        .filter_map(generation)
        .chain(before.map(|manifest| manifest.generation));
    found.max().map_or(0, |last| last.saturating_add(1))
}

/// Writes the part at `path`, through to the disk, and returns the checksum of the file.
///
/// # Errors
///
/// Those of the operating system; then there is no file.
pub fn write(path: &Path, bodies: &[Body], states: &[State]) -> io::Result<u32> {
    let records = bodies.iter().zip(states).map(|(b, s)| record(b, s));
    let bytes: Vec<u8> = records.flatten().flat_map(f64::to_le_bytes).collect();
    let write = || {
        let mut file = fs::File::create(path)?;
        file.write_all(&bytes)?;
        file.sync_all()
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(path);
    })?;
    Ok(crc32fast::hash(&bytes))
}
