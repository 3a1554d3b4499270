//! `kirin amuse`: kirin in place of the GRAPE-6 library of AMUSE's framework, in the environment where AMUSE is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::{Others, contents, is_pythons, named_by_pkg_config, put_under};
use crate::library::SONAME;
use crate::report::{self, quoted};
use crate::run::{Linked, linked};

/// Options of `amuse`.
#[derive(Args)]
pub struct Options {
    /// The environment with AMUSE's framework [default: the active one, which VIRTUAL_ENV or CONDA_PREFIX names]
    #[arg(long, value_name = "FOLDER")]
    prefix: Option<PathBuf>,
    /// Replaces files of kirin's that were edited since it installed them
    #[arg(long)]
    force: bool,
}

/// Libraries of AMUSE's framework, one of which is in every version of it, under `lib/pkgconfig`.
const FRAMEWORK: [&str; 2] = ["stopcond.pc", "g6lib.pc"];

/// Names by which workers ask for a GRAPE-6 library.
const GRAPE: [&str; 4] = ["libg6.so", "libsapporo.so", "libkirin", "libsapporo_light"];

/// Runs `amuse`.
///
/// # Errors
///
/// There is no environment, or no AMUSE in it, or something cannot be written.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let candidates = match &options.prefix {
        Some(prefix) => vec![prefix.clone()],
        None => active(),
    };
    let environment = candidates.iter().find(|folder| has_framework(folder));
    let environment = environment.ok_or_else(|| none_has_it(&candidates))?;
    let prefix = named_by_pkg_config(environment)?;
    let mut items = contents::items(&prefix, "lib", None)?;
    items.retain(|item| !is_pythons(&prefix, item.entry.path()));
    let aside = put_under(&prefix, &mut items, Others::SetAside, options.force)?;
    report::print(&told(&prefix, &aside, &workers(&prefix)))?;
    Ok(ExitCode::SUCCESS)
}

/// The active environments. Both variables are set where a virtual environment was activated inside Conda's; AMUSE's setup then
/// takes the virtual one, too.
fn active() -> Vec<PathBuf> {
    ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(std::env::var_os)
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
        .collect()
}

fn has_framework(environment: &Path) -> bool {
    let modules = environment.join("lib/pkgconfig");
    FRAMEWORK.iter().any(|name| modules.join(name).exists())
}

fn none_has_it(candidates: &[PathBuf]) -> String {
    if candidates.is_empty() {
        return "no environment is active (neither VIRTUAL_ENV nor CONDA_PREFIX is set): activate AMUSE's, or name it with --prefix".into();
    }
    let names: Vec<String> = candidates.iter().map(|c| c.display().to_string()).collect();
    format!(
        "there is no framework of AMUSE (no lib/pkgconfig/{}) in {}: run `./setup install amuse-framework` in AMUSE's folder first, \
         or name its environment with --prefix",
        FRAMEWORK[0],
        names.join(" and ")
    )
}

/// A worker that asks for a GRAPE-6 library, and the file that the loader finds.
struct Worker {
    name: String,
    library: String,
    found: Option<PathBuf>,
}

/// The workers of AMUSE's packages that ask for a GRAPE-6 library.
fn workers(prefix: &Path) -> Vec<Worker> {
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).collect();
        paths.sort();
        paths
    };
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut found = Vec::new();
    for python in entries(&prefix.join("lib")) {
        for package in entries(&python.join("site-packages")) {
            for file in entries(&package) {
                if !name(&package).starts_with("amuse") || !name(&file).ends_with("_worker") {
                    continue;
                }
                let libraries = linked(&file);
                let grape = |l: &&Linked| GRAPE.iter().any(|known| l.name.starts_with(known));
                found.extend(libraries.iter().filter(grape).map(|l| Worker {
                    name: format!("{}/{}", name(&package), name(&file)),
                    library: l.name.clone(),
                    found: l.file.clone(),
                }));
            }
        }
    }
    found
}

fn told(prefix: &Path, aside: &[PathBuf], workers: &[Worker]) -> String {
    let ours = fs::canonicalize(prefix.join("lib").join(SONAME)).ok();
    let mut text = format!(
        "AMUSE in {} finds kirin as libg6 and libsapporo, and by pkg-config as g6lib and sapporo_light\n",
        prefix.display()
    );
    for path in aside {
        text += &format!(
            "set aside:     {}, until `uninstall` puts it back\n",
            path.display()
        );
    }
    for Worker {
        name,
        library,
        found,
    } in workers
    {
        let file = found.as_ref().and_then(|f| fs::canonicalize(f).ok());
        text += &match file {
            None => format!("cannot start:  {name} does not find {library}: build it again\n"),
            Some(file) if Some(&file) == ours.as_ref() => {
                format!("uses kirin:    {name}, as {library}\n")
            }
            Some(file) => {
                format!(
                    "another one:   {name} loads {}: build it again\n",
                    file.display()
                )
            }
        };
    }
    text + &format!(
        "build, in AMUSE's folder:  export PKG_CONFIG_PATH={}; ./setup install amuse-ph4-sapporo; ./setup install amuse-phigrape\n\
         in scripts:                Ph4(mode=\"gpu\"), PhiGRAPE()\n\
         remove:                    {} uninstall --prefix {}\n",
        quoted(&prefix.join("lib/pkgconfig")),
        quoted(&prefix.join("bin/kirin")),
        quoted(prefix),
    )
}
