//! The formats of a file of bodies. A file is written in the format of its name, and read in the format of its content.

use std::path::Path;

use hdf5_pure::is_hdf5_bytes;

use super::{Snapshot, SnapshotError, hdf5, read, table};

/// How bodies lie in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text that SNAPSHOTS.md describes.
    Text,
    /// GADGET's layout in an HDF5 file, which yt and pynbody read.
    Gadget,
    /// AMUSE's layout (version 2.0) in an HDF5 file, for `read_set_from_file`.
    Amuse,
}

impl Format {
    /// The format in which the file at `path` is written: `.hdf5` and `.h5` are GADGET's, `.amuse` is AMUSE's.
    pub fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        match extension.to_ascii_lowercase().as_str() {
            "hdf5" | "h5" => Self::Gadget,
            "amuse" => Self::Amuse,
            _ => Self::Text,
        }
    }
}

/// The snapshot in the bytes of a file, whatever its format is.
///
/// # Errors
///
/// The bytes are in none of the formats, or something in them is wrong.
pub(super) fn parse(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
    if is_hdf5_bytes(bytes) {
        return hdf5::read(bytes).map_err(SnapshotError::Content);
    }
    // Excel begins a table with a byte-order mark.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match table::parse(text) {
        Some(read) => read,
        None => read::parse(text),
    }
}
