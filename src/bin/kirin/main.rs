//! The `kirin` command. It shows what the library uses on this machine, measures speed and errors of kirin and of
//! other GRAPE-6 libraries, and records and replays the calls of programs.

mod bench;
mod candidate;
mod check;
mod info;
mod install;
mod library;
mod model;
#[cfg(target_os = "linux")]
mod nbody6;
#[cfg(target_os = "linux")]
mod record;
mod replay;
mod report;
#[cfg(target_os = "linux")]
mod run;
mod worker;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "kirin", version, about = "The GRAPE-6 library kirin")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shows what kirin finds on this machine and how it is set
    Info(info::Options),
    /// Compares the speed of GRAPE-6 libraries in one interleaved run
    Bench(bench::Options),
    /// Compares the results of GRAPE-6 libraries with a double-precision sum
    Check(check::Options),
    /// Runs a program with kirin and records its calls
    #[cfg(target_os = "linux")]
    Record(record::Options),
    /// Repeats recorded calls on GRAPE-6 libraries and compares results and times
    Replay(replay::Options),
    /// Runs a program with kirin in place of its GRAPE-6 library
    #[cfg(target_os = "linux")]
    Run(run::Options),
    /// Installs library, headers and this command under a prefix
    Install(install::Options),
    /// Removes what `install` put under a prefix
    Uninstall(install::Removal),
    /// Puts kirin in the place of AMUSE's GRAPE-6 library, in the active environment; `uninstall` undoes it
    #[cfg(target_os = "linux")]
    Amuse(install::amuse::Options),
    /// Links NBODY6++ once more in its build tree, with kirin in place of its AVX or SSE objects
    #[cfg(target_os = "linux")]
    Nbody6(nbody6::Options),
    /// Runs one library for another `kirin` process
    #[command(hide = true)]
    Worker,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Info(options) => info::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Check(options) => check::run(&options),
        #[cfg(target_os = "linux")]
        Command::Record(options) => record::run(options),
        Command::Replay(options) => replay::run(&options),
        #[cfg(target_os = "linux")]
        Command::Run(options) => Ok(run::run(options)),
        Command::Install(options) => install::install(&options),
        Command::Uninstall(options) => install::uninstall(&options),
        #[cfg(target_os = "linux")]
        Command::Amuse(options) => install::amuse::run(&options),
        #[cfg(target_os = "linux")]
        Command::Nbody6(options) => nbody6::run(&options),
        Command::Worker => worker::serve(),
    };
    done.unwrap_or_else(|why| {
        eprintln!("kirin: {why}");
        ExitCode::from(2)
    })
}
