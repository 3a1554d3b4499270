//! Which GRAPE-6 library a run uses. A continued run keeps it.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::run::told;

/// What `--library` calls the kirin linked into the program.
const LINKED: &str = "kirin";

/// The library of a run.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LibraryOption {
    /// Use the GRAPE-6 library in this file instead of the kirin linked into the program; a run that goes on keeps it, and
    /// with `kirin` takes the linked one again
    #[arg(long, value_name = "PATH", value_parser = file)]
    #[serde(default, with = "told::path")]
    pub library: Option<PathBuf>,
}

impl LibraryOption {
    /// The file of the library; `None` for the linked kirin.
    pub fn path(&self) -> Option<&Path> {
        self.library
            .as_deref()
            .filter(|path| *path != Path::new(LINKED))
    }
}

/// A library: a path as seen from the root, since a run may go on in another folder, or a name that the system looks for.
fn file(text: &str) -> Result<PathBuf, String> {
    match text.contains(std::path::MAIN_SEPARATOR) {
        true => std::path::absolute(text).map_err(|why| why.to_string()),
        false => Ok(text.into()),
    }
}
