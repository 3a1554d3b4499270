//! Makes `include/kirin.h`, `include/kirin.f90` and the README's list of calls from the
//! table of exported symbols.

mod fortran;
mod header;
mod readme;
mod text;

pub use fortran::module as fortran_module;
pub use header::header as c_header;
pub use readme::{BEGIN, END, with_calls};

use std::path::{Path, PathBuf};

/// The root of kirin's repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("ffi-tests is a folder of the repository")
        .to_owned()
}

/// A generated file: where it is and what it should hold.
pub struct Generated {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl Generated {
    /// Whether the file on disk holds this text.
    pub fn is_fresh(&self) -> bool {
        std::fs::read_to_string(&self.path).is_ok_and(|found| found == self.text)
    }
}

/// Every generated file. The README is among them once it has the markers.
pub fn all() -> Vec<Generated> {
    let root = repository();
    let mut files = vec![
        Generated {
            path: root.join("include/kirin.h"),
            text: c_header(),
        },
        Generated {
            path: root.join("include/kirin.f90"),
            text: fortran_module(),
        },
    ];
    let path = root.join("README.md");
    if let Some(text) = std::fs::read_to_string(&path)
        .ok()
        .and_then(|old| with_calls(&old))
    {
        files.push(Generated { path, text });
    }
    files
}
