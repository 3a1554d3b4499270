//! `kirin record`: runs a program with kirin and has its calls recorded.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::run;

/// Runs a program with kirin in place of its GRAPE-6 library and records all calls with their
/// inputs and outputs, for `kirin replay`.
///
/// The settings of the environment hold. Several MPI ranks record to FILE.0, FILE.1, ...; in the name `%p`
/// stands for the process id and `%r` for the rank. A trace that is there already is
/// replaced.
#[derive(Args)]
#[group(skip)]
pub struct Options {
    /// The trace
    #[arg(short, long, value_name = "FILE", default_value = "kirin.trace")]
    output: PathBuf,
    #[command(flatten)]
    run: run::Options,
}

/// Runs the subcommand: returns only if the program cannot be started.
///
/// # Errors
///
/// The trace cannot be written where it is wanted.
pub fn run(options: Options) -> Result<ExitCode, String> {
    let output = std::path::absolute(&options.output).map_err(|e| e.to_string())?;
    let shown = output.display();
    match std::fs::remove_file(&output) {
        Err(e) if output.is_file() => return Err(format!("{shown}: {e}")),
        _ => {}
    }
    if !output.parent().is_some_and(Path::is_dir) {
        return Err(format!("{shown}: there is no such folder"));
    }
    // SAFETY: this process has one thread.
    unsafe { std::env::set_var("KIRIN_TRACE", &output) };
    Ok(run::run(options.run))
}
