//! `kirin record`: runs a program with kirin and has its calls recorded.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::run;

/// Runs a program with kirin in place of its GRAPE-6 library and records all calls with their
/// inputs and outputs, for `kirin replay`.
///
/// Settings in the environment apply as usual. Several MPI ranks record to FILE.0, FILE.1, ...; in the name `%p` stands
/// for the process id and `%r` for the rank. A file that exists already is not touched: the trace goes to FILE.PROCESS,
/// and a line on stderr says so.
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
/// The trace could not be written: a run that is to be recorded is of no use without it.
pub fn run(options: Options) -> Result<ExitCode, String> {
    let output = std::path::absolute(&options.output).map_err(|e| e.to_string())?;
    if !output.parent().is_some_and(Path::is_dir) {
        return Err(format!("{}: there is no such folder", output.display()));
    }
    let folder = output.parent().unwrap_or(&output).to_string_lossy();
    if ["%p", "%r"].iter().any(|pattern| folder.contains(pattern)) {
        return Err(format!(
            "{}: in a trace's path %p and %r stand for numbers, so its folder cannot have them in its name",
            output.display()
        ));
    }
    if output.is_dir() {
        return Err(format!(
            "{}: this is a folder, and no file for a trace",
            output.display()
        ));
    }
    writable(&output)
        .map_err(|e| format!("{}: the trace cannot be written: {e}", output.display()))?;
    // SAFETY: this process has one thread.
    unsafe { std::env::set_var("KIRIN_TRACE", &output) };
    Ok(run::run(options.run))
}

/// Writes, and removes again, a file beside the trace whose name is as long as that of a second trace.
fn writable(output: &Path) -> io::Result<()> {
    let mut probe = output.as_os_str().to_owned();
    probe.push(format!(".{}", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&probe)?;
    let written = file.write_all(&[0; 4096]).and_then(|()| file.sync_all());
    std::fs::remove_file(&probe)?;
    written
}
