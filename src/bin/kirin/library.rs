//! Where kirin's shared library lies, seen from this command.

use std::path::{Path, PathBuf};

/// The name under which the loader knows it.
pub const SONAME: &str = "libkirin.so.0";

/// The shared library that belongs to this command.
///
/// # Errors
///
/// There is none beside it.
pub fn shared() -> Result<PathBuf, String> {
    let command = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .map_err(|e| format!("this command's own file: {e}"))?;
    let folder = command.parent().unwrap_or(Path::new("/"));
    // Installed: bin/kirin and lib/libkirin.so.0. Built: cargo brings `deps` up to date whenever
    // it builds the command, and the folder above it only when asked for the library.
    let places = ["../lib", "../lib64", "deps", "."];
    places
        .iter()
        .flat_map(|place| [SONAME, "libkirin.so"].map(|name| folder.join(place).join(name)))
        .find_map(|path| std::fs::canonicalize(path).ok())
        .ok_or_else(|| {
            format!(
                "there is no {SONAME} beside {} nor in ../lib or ../lib64 from there",
                command.display()
            )
        })
}
