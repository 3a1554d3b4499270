//! The program in its own processes, as threads or under MPI, and its expected results.

use std::path::Path;
use std::process::{Command, Output};

use clap::Parser;
use hermite::checkpoint;
use hermite::integrator::Integrator;
use hermite::sources::Library;
use kirin_kit::Snapshot;
use kirin_kit::run::{Run, RunOutputs};
use kirin_testing::Program;
use parallel::options::Options;
use sha2::{Digest, Sha256};

use super::grape;

/// The program.
pub const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_parallel"),
    environment: &[],
};

/// The program, with one thread for each rank's forces.
pub fn threads(arguments: &[&str]) -> Command {
    PROGRAM.command(arguments)
}

/// Runs a command, which must succeed.
pub fn succeed(mut command: Command) -> Output {
    let output = command.output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    output
}

/// Runs a command, which must fail, and returns what it said on stderr.
pub fn fail(mut command: Command) -> String {
    let output = command.output().expect("it starts");
    assert!(!output.status.success(), "{command:?} succeeded");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The checksum of a snapshot's text without what may differ: wall times, the stored options, and the file's own checksum,
/// which depends on them.
pub fn checksum(text: &str) -> String {
    // The line of all regularized systems ends with a time.
    let without_time = |line: &'_ str| match line.starts_with("hermite.regularized ") {
        true => line.rsplit_once(' ').expect("it has words").0.to_owned(),
        false => line.to_owned(),
    };
    let others = ["run.seconds ", "run.wall ", "run.told ", "end "];
    let same = text
        .lines()
        .filter(|l| !others.iter().any(|head| l.starts_with(head)))
        .map(without_time);
    let mut sum = Sha256::new();
    same.for_each(|line| sum.update(format!("{line}\n")));
    format!("{:x}", sum.finalize())
}

/// The checksum of a file.
pub fn checksum_of(path: &str) -> String {
    let text = std::fs::read_to_string(Path::new(path)).expect("the snapshot was written");
    checksum(&text)
}

/// The checksum of what `hermite` comes to with `n` stars at `t_end`.
pub fn hermite_checksum(n: u64, t_end: f64) -> String {
    checksum_by_hermite(&["--n", &n.to_string()], t_end)
}

/// The checksum of what `hermite` comes to with these options at `t_end`.
pub fn checksum_by_hermite(arguments: &[&str], t_end: f64) -> String {
    let (_turn, grape) = grape();
    let options = Options::parse_from([&["parallel"], arguments].concat()).run;
    let settings = options.settings(None).unwrap();
    let bodies = options.bodies(&settings.galaxy).unwrap();
    let integrator = Integrator::start(&grape, settings, 0.0, bodies).unwrap();
    checksum_at(Run::new(integrator, options.start.log()).unwrap(), t_end)
}

/// The checksum of what `hermite` comes to with these options at `t_end` from the state at `path`.
pub fn checksum_by_hermite_from(path: &str, arguments: &[&str], t_end: f64) -> String {
    let (_turn, grape) = grape();
    let options = Options::parse_from([&["parallel"], arguments].concat()).run;
    let state = Snapshot::load(path.as_ref()).unwrap();
    let saved = checkpoint::settings(&state).unwrap();
    let settings = options.settings(saved).unwrap();
    let library = Library::open(&grape).unwrap();
    let (integrator, log) = checkpoint::resume(library, settings, state).unwrap();
    checksum_at(Run::new(integrator, log).unwrap(), t_end)
}

fn checksum_at(mut run: Run<Integrator<Library<'_>>>, t_end: f64) -> String {
    run.evolve(t_end, &RunOutputs::default(), &|| false, &|_| ())
        .unwrap();
    let mut text = Vec::new();
    run.save().unwrap().write(&mut text).unwrap();
    checksum(&String::from_utf8(text).unwrap())
}
