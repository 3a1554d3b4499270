//! What an installation consists of.

use std::fs;
use std::path::Path;

use super::manifest::Entry;
use crate::library::{self, SONAME};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Something to put under the prefix.
pub struct Item {
    /// As the list has it.
    pub entry: Entry,
    /// What a file holds.
    pub bytes: Vec<u8>,
    /// A file's permissions.
    pub mode: u32,
}

/// Names under which clients look for a GRAPE-6 library, with the pkg-config module that
/// AMUSE asks for where there is one; then those of GRAPE-5 libraries.
const ALIASES: [(&str, Option<&str>); 8] = [
    ("g6", Some("g6lib")),
    ("sapporo", Some("sapporo_light")),
    ("g6a", None),
    ("g6lx", None),
    ("g6lxsim2", None),
    ("g5", Some("g5")),
    ("g5a", None),
    ("pg5", None),
];

/// Everything that belongs under `prefix`. The archive for programs with own C names is put
/// in where it is given.
///
/// # Errors
///
/// The library cannot be found or read.
pub fn items(prefix: &Path, fortran_archive: Option<&Path>) -> Result<Vec<Item>, String> {
    let full = format!("libkirin.so.{VERSION}");
    let read = |path: &Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    let (shared, archive) = library::both()?;
    let command = std::env::current_exe().map_err(|e| format!("this command's own file: {e}"))?;

    let mut items = vec![
        file("bin/kirin", read(&command)?, 0o755),
        file(&format!("lib/{full}"), read(&shared)?, 0o755),
        link(&format!("lib/{SONAME}"), &full),
        link("lib/libkirin.so", SONAME),
        file("lib/libkirin.a", read(&archive)?, 0o644),
        text(
            "include/kirin.h",
            include_str!("../../../../include/kirin.h"),
        ),
        text(
            "include/kirin.f90",
            include_str!("../../../../include/kirin.f90"),
        ),
        text(
            "include/kirin_grape5.h",
            include_str!("../../../../include/kirin_grape5.h"),
        ),
        text(
            "include/kirin_grape5.f90",
            include_str!("../../../../include/kirin_grape5.f90"),
        ),
        text(
            "include/gp5util.h",
            include_str!("../../../../include/gp5util.h"),
        ),
        text(
            "include/kirin_nbody6.h",
            include_str!("../../../../include/kirin_nbody6.h"),
        ),
        text(
            "include/kirin_nbody6.f90",
            include_str!("../../../../include/kirin_nbody6.f90"),
        ),
        text("lib/pkgconfig/kirin.pc", &module(prefix, "kirin", "kirin")),
        text(
            "lib/cmake/kirin/kirin-config.cmake",
            include_str!("kirin-config.cmake"),
        ),
        text(
            "lib/cmake/kirin/kirin-config-version.cmake",
            &include_str!("kirin-config-version.cmake").replace("@VERSION@", VERSION),
        ),
        text(
            "share/licenses/kirin/LICENSE-MIT",
            include_str!("../../../../LICENSE-MIT"),
        ),
        text(
            "share/licenses/kirin/LICENSE-APACHE",
            include_str!("../../../../LICENSE-APACHE"),
        ),
    ];
    if let Some(path) = fortran_archive {
        items.push(file("lib/libkirin_fortran.a", read(path)?, 0o644));
    }
    for (name, pkg_config) in ALIASES {
        items.push(link(&format!("lib/lib{name}.so"), SONAME));
        if let Some(pkg_config) = pkg_config {
            let path = format!("lib/pkgconfig/{pkg_config}.pc");
            items.push(text(&path, &module(prefix, pkg_config, name)));
        }
    }
    Ok(items)
}

fn file(path: &str, bytes: Vec<u8>, mode: u32) -> Item {
    Item {
        entry: Entry::file(path, &bytes),
        bytes,
        mode,
    }
}

fn text(path: &str, text: &str) -> Item {
    file(path, text.as_bytes().to_vec(), 0o644)
}

fn link(path: &str, to: &str) -> Item {
    Item {
        entry: Entry::Link(path.into(), to.into()),
        bytes: Vec::new(),
        mode: 0,
    }
}

/// A pkg-config file. Programs find the library without `LD_LIBRARY_PATH` unless it lies where
/// the system looks by itself. The compiler adds its own library for unwinding, which has other names in a static
/// program.
fn module(prefix: &Path, name: &str, library: &str) -> String {
    let system = ["/usr", "/usr/local"]
        .iter()
        .any(|p| prefix == Path::new(p));
    let rpath = if system {
        ""
    } else {
        " \"-Wl,-rpath,${libdir}\""
    };
    let grape = match name {
        "g5" => "GRAPE-5",
        _ => "GRAPE-6",
    };
    format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: {name}\nDescription: The host interface of {grape}, from kirin\nVersion: {VERSION}\n\
         Cflags: \"-I${{includedir}}\"\nLibs: \"-L${{libdir}}\"{rpath} -l{library}\n\
         Libs.private: -lpthread -ldl -lrt -lm\n",
        prefix.display()
    )
}
