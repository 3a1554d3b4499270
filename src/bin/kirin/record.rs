//! `kirin record`: runs a program with kirin and has its calls recorded.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

/// Runs a program with kirin in place of its GRAPE-6 library and records all calls with their
/// inputs and outputs, for `kirin replay`.
///
/// The settings of the environment hold. Several MPI ranks record to FILE.0, FILE.1, ...; in the name `%p`
/// stands for the process id and `%r` for the rank. A trace that is there already is
/// replaced.
#[derive(Args)]
pub struct Options {
    /// The trace
    #[arg(short, long, value_name = "FILE", default_value = "kirin.trace")]
    output: PathBuf,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the subcommand: returns only if the program cannot be started.
///
/// # Errors
///
/// Why it cannot.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let output = std::path::absolute(&options.output).map_err(|e| e.to_string())?;
    let shown = output.display();
    match std::fs::remove_file(&output) {
        Err(e) if output.is_file() => return Err(format!("{shown}: {e}")),
        _ => {}
    }
    if !output.parent().is_some_and(Path::is_dir) {
        return Err(format!("{shown}: there is no such folder"));
    }
    let (program, arguments) = options.program.split_first().ok_or("no program is named")?;
    let e = launch(program, arguments, &[("KIRIN_TRACE", output.as_os_str())])?;
    Err(format!("{}: {e}", program.display()))
}

/// Puts a program in the place of this process, with kirin before its own libraries.
fn launch(
    program: &OsStr,
    arguments: &[OsString],
    settings: &[(&str, &OsStr)],
) -> Result<io::Error, String> {
    let mut preload = library()?.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    Ok(Command::new(program)
        .args(arguments)
        .envs(settings.iter().copied())
        .env("LD_PRELOAD", preload)
        .exec())
}

/// The shared library that belongs to this program: beside it, or in the `lib` folder beside its folder.
fn library() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    ["deps/libkirin.so", "libkirin.so", "../lib/libkirin.so"]
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
        .ok_or_else(|| format!("there is no libkirin.so beside {}", program.display()))
}
