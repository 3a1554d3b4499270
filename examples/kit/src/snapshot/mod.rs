//! Snapshots: bodies, and the state with which an integrator continues, as text or in HDF5 files.
//!
#![doc = include_str!("../../SNAPSHOTS.md")]

mod amuse;
mod format;
mod gadget;
mod hdf5;
pub mod line;
mod newest;
mod owner;
pub mod parts;
mod physical;
mod read;
mod table;
mod write;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::body::Body;
use crate::command::{named, tell_once};
use crate::replace::replace;
use crate::vector::Vec3;

pub use format::Format;
pub(crate) use owner::SETTINGS;

/// First line of every snapshot.
const MAGIC: &str = "kirin-snapshot 1";

/// Columns that every snapshot has.
const BODY_COLUMNS: [&str; 7] = ["mass", "x", "y", "z", "vx", "vy", "vz"];

/// Columns of an integrator's state.
const STATE_COLUMNS: [&str; 8] = ["t", "dt", "ax", "ay", "az", "jx", "jy", "jz"];

/// What a fourth-order integrator with individual steps knows of one body beyond [`Body`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// The body's own time, at which its position and velocity hold.
    pub t: f64,
    /// Its step: it is due at `t + dt`.
    pub dt: f64,
    /// Acceleration at `t`.
    pub acc: Vec3,
    /// Time derivative of the acceleration at `t`.
    pub jerk: Vec3,
}

/// Bodies, the time, and perhaps the state of the integration that made them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Time that the run had reached.
    pub time: f64,
    /// The bodies; each at its own time where there are states, else all at `time`.
    pub bodies: Vec<Body>,
    /// The integrator's state of each body.
    pub states: Option<Vec<State>>,
    /// What applications keep beside the bodies: keys (with a dot in each) and values, in order.
    pub run: Vec<(String, String)>,
    /// What the user is to hear of the file that was read.
    pub remark: Option<&'static str>,
}

/// Why a snapshot cannot be read or written.
#[derive(Debug)]
pub enum SnapshotError {
    /// The operating system's objection.
    Io(io::Error),
    /// A line that is not as the format wants it.
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// Something that is not as an HDF5 layout wants it, in words.
    Content(String),
}

impl std::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(e) => write!(f, "{e}"),
            Self::Line { line, what } => write!(f, "line {line}: {what}"),
            Self::Content(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for SnapshotError {}

impl From<io::Error> for SnapshotError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

/// Key of the softening in a snapshot of bodies.
pub(crate) const EPS: &str = "run.eps";

/// Whether a text with this first line is a snapshot.
pub fn is_snapshot(first_line: &str) -> bool {
    first_line.trim() == MAGIC
}

impl Snapshot {
    /// The snapshot in the file at `path`, with the bodies of its [`parts`] where it is a manifest.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or something in it is not as its format wants it.
    pub fn load(path: &Path) -> Result<Self, SnapshotError> {
        let mut snapshot = Self::parse(&fs::read(path)?)?;
        let refuse = |why: String| SnapshotError::Io(io::Error::other(why));
        if let Some(manifest) = parts::Manifest::of(&snapshot).map_err(refuse)? {
            let (bodies, states) = manifest.read(path, 0..manifest.n).map_err(refuse)?;
            (snapshot.bodies, snapshot.states) = (bodies, Some(states));
            snapshot.run.retain(|(key, _)| !key.starts_with("parts."));
        }
        Ok(snapshot)
    }

    /// The snapshot in the bytes of a file: a snapshot as text, a table of plain columns, or an HDF5 file of GADGET's or
    /// AMUSE's layout.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::Line`] for the first line that is not in the format, [`SnapshotError::Content`] for an HDF5 file.
    pub fn parse(bytes: &[u8]) -> Result<Self, SnapshotError> {
        format::parse(bytes)
    }

    /// Says on stderr what the user of `program` is to hear of the file at `path`, which was read.
    pub fn tell_remark(&self, program: &str, path: &Path) {
        if let Some(remark) = self.remark {
            tell_once(&format!("{program}: {}: {remark}", path.display()));
        }
    }

    /// The softening that the bodies had in the run that wrote them, where that is known.
    ///
    /// # Errors
    ///
    /// Its line makes no sense; in words.
    pub fn softening(&self) -> Result<Option<f64>, String> {
        self.line(EPS)
    }

    /// Writes the file at `path` in the [`Format`] of its name. It is written to another file beside it first, which
    /// replaces it when complete. So a crash or a full disk never costs the old file. If `path` is a symbolic link, the
    /// file that it leads to is replaced.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn save(&self, path: &Path) -> Result<(), SnapshotError> {
        let write = |partial: &Path| Ok(self.write_file(partial, Format::of(path))?);
        replace(path, write, SnapshotError::Io)
    }

    fn write_file(&self, path: &Path, format: Format) -> io::Result<()> {
        let mut file = BufWriter::new(fs::File::create(path)?);
        match format {
            Format::Text => self.write(&mut file)?,
            _ => file.write_all(&hdf5::write(self, format).map_err(io::Error::other)?)?,
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()
    }

    /// [`save`](Self::save), with an error that names the file.
    ///
    /// # Errors
    ///
    /// Those of the operating system; in words.
    pub fn save_as(&self, path: &Path) -> Result<(), String> {
        self.save(path).map_err(named(path))
    }

    /// Writes the text.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write::write(self, out)
    }

    /// The value of the first line of the application's `key`.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values(key).next()
    }

    /// The values of all lines of the application's `key`.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.run
            .iter()
            .filter(move |(k, _)| k == key)
            .map(|(_, v)| v.as_str())
    }
}

#[cfg(test)]
mod tests;
