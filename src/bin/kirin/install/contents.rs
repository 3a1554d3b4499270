//! What an installation consists of.

use std::fs;
use std::path::Path;

use super::manifest::ManifestEntry;
use crate::library::{self, Files, SONAME};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The command's place.
pub const COMMAND: &str = "bin/kirin";

/// Something to put under the prefix.
pub struct Item {
    /// As the list has it.
    pub entry: ManifestEntry,
    /// What a file holds.
    pub bytes: Vec<u8>,
    /// A file's permissions.
    pub mode: u32,
}

/// Names under which clients look for a GRAPE-6 library, then those for a GRAPE-5 library. Beside a name stands its
/// pkg-config module, if it has one.
const ALIASES: [(&str, Option<&str>); 10] = [
    ("g6", Some("g6lib")),
    ("sapporo", Some("sapporo_light")),
    ("g6a", None),
    ("g6lx", None),
    ("g6lxsim2", None),
    ("g5", Some("g5")),
    ("g5a", None),
    ("pg5", None),
    // GRAPE-7's two: programs link both.
    ("g75", None),
    ("hib", None),
];

/// Everything that belongs under `prefix`, with the libraries in its folder `libdir`. `fortran_archive`, if given, is put in too: the static library for programs
/// that define the C names themselves.
///
/// # Errors
///
/// The library cannot be found or read.
pub fn items(
    prefix: &Path,
    libdir: &str,
    fortran_archive: Option<&Path>,
) -> Result<Vec<Item>, String> {
    let lib = |name: &str| format!("{libdir}/{name}");
    let read = |path: &Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    let command = std::env::current_exe().map_err(|e| format!("this command's own file: {e}"))?;

    let mut items = vec![
        file(COMMAND, read(&command)?, 0o755),
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
        text(
            &lib("cmake/kirin/kirin-config.cmake"),
            &include_str!("kirin-config.cmake")
                .replace("@LIBDIR@", libdir)
                .replace("@UP@", &"/..".repeat(libdir.split('/').count() + 2)),
        ),
        text(
            &lib("cmake/kirin/kirin-config-version.cmake"),
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
        text(
            "include/grape6.h",
            include_str!("../../../../include/grape6.h"),
        ),
        text(
            "include/g5util.h",
            include_str!("../../../../include/g5util.h"),
        ),
        text(
            "include/g5nbutil.h",
            include_str!("../../../../include/g5nbutil.h"),
        ),
        text(
            "include/kirin_sapporo.h",
            include_str!("../../../../include/kirin_sapporo.h"),
        ),
        text(
            "include/kirin_sapporo.f90",
            include_str!("../../../../include/kirin_sapporo.f90"),
        ),
    ];
    for Files {
        name,
        shared,
        archive,
    } in library::all()?
    {
        let full = format!("lib{name}.so.{VERSION}");
        let soname = format!("lib{name}.so.0");
        items.push(file(&lib(&full), read(&shared)?, 0o755));
        items.push(link(&lib(&soname), &full));
        items.push(link(&lib(&format!("lib{name}.so")), &soname));
        if let Some(archive) = archive {
            items.push(file(&lib(&format!("lib{name}.a")), read(&archive)?, 0o644));
        }
        let path = lib(&format!("pkgconfig/{name}.pc"));
        items.push(text(&path, &module(prefix, libdir, name, name)));
    }
    if let Some(path) = fortran_archive {
        items.push(file(&lib("libkirin_fortran.a"), read(path)?, 0o644));
    }
    for (name, pkg_config) in ALIASES {
        items.push(link(&lib(&format!("lib{name}.so")), SONAME));
        if let Some(pkg_config) = pkg_config {
            let path = lib(&format!("pkgconfig/{pkg_config}.pc"));
            items.push(text(&path, &module(prefix, libdir, pkg_config, name)));
        }
    }
    Ok(items)
}

fn file(path: &str, bytes: Vec<u8>, mode: u32) -> Item {
    Item {
        entry: ManifestEntry::file(path, &bytes),
        bytes,
        mode,
    }
}

fn text(path: &str, text: &str) -> Item {
    file(path, text.as_bytes().to_vec(), 0o644)
}

fn link(path: &str, to: &str) -> Item {
    Item {
        entry: ManifestEntry::Link(path.into(), to.into()),
        bytes: Vec::new(),
        mode: 0,
    }
}

/// A pkg-config file. It has linker options with which programs find the library without `LD_LIBRARY_PATH`, unless the
/// library is where the system looks anyway. It does not name the compiler's library for unwinding. The compiler adds
/// that itself, and in a static program under other names.
fn module(prefix: &Path, libdir: &str, name: &str, library: &str) -> String {
    // Of /usr/local the loader knows only what `ldconfig` has listed.
    let rpath = match prefix == Path::new("/usr") {
        true => "",
        false => " \"-Wl,-rpath,${libdir}\"",
    };
    let of = match name {
        "g5" => "The host interface of GRAPE-5",
        "kirin_nbody6" => "The library of NBODY6",
        _ => "The host interface of GRAPE-6",
    };
    // Forwarded names need what they forward to; clients of sapporo may want both.
    let libraries = match name {
        "kirin_nbody6" | "kirin_sapporo" => format!("-l{name} -lkirin"),
        "sapporo_light" => format!("-lkirin_sapporo -l{library}"),
        _ => format!("-l{library}"),
    };
    format!(
        "prefix={}\nlibdir=${{prefix}}/{libdir}\nincludedir=${{prefix}}/include\n\n\
         Name: {name}\nDescription: {of}, from kirin\nVersion: {VERSION}\n\
         Cflags: \"-I${{includedir}}\"\nLibs: \"-L${{libdir}}\"{rpath} {libraries}\n\
         Libs.private: -lpthread -ldl -lrt -lm\n",
        prefix.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_the_library_of_every_prefix_but_the_systems() {
        for (prefix, is_told) in [("/usr", false), ("/usr/local", true), ("/opt/x", true)] {
            let text = module(Path::new(prefix), "lib", "kirin", "kirin");
            assert_eq!(text.contains("-rpath,${libdir}"), is_told, "{prefix}");
        }
    }
}
