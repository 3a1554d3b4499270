//! Shared by the tests: the program in a process of its own, and one library in this process.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

pub mod systems;

use std::process::Output;
use std::sync::{Mutex, MutexGuard};

use hermite::checkpoint;
use hermite::integrator::Integrator;
use hermite::settings::Settings;
use hermite::sources::Library;
use kirin::client::Grape;
use kirin_kit::Snapshot;
use kirin_kit::run::Run;
use kirin_testing::Program;
use serde_json::Value;

/// The linked library, for one test at a time: all of them use its cluster 0.
pub fn grape() -> (MutexGuard<'static, ()>, Grape) {
    static TURN: Mutex<()> = Mutex::new(());
    // A failed test leaves nothing behind that the next could see.
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    (turn, Grape::linked())
}

/// The program, computing its forces in double precision.
pub const PROGRAM: Program = Program {
    path: env!("CARGO_BIN_EXE_hermite"),
    environment: &[
        ("KIRIN_BACKEND", "reference"),
        ("KIRIN_PRECISION", "double"),
    ],
};

/// A cluster in which half of the stars are binaries.
pub const BINARIES: [&str; 7] = [
    "--n",
    "48",
    "--binary-fraction",
    "0.5",
    "--eps",
    "0",
    "--regularize",
];

/// Runs the program, which must succeed.
pub fn succeed(arguments: &[&str]) -> Output {
    PROGRAM.succeed(arguments)
}

/// Runs the program, which must fail, and returns what it said on stderr.
pub fn fail(arguments: &[&str]) -> String {
    PROGRAM.fail(arguments)
}

/// Runs the program and returns its JSON.
pub fn figures(test: &str, arguments: &[&str]) -> Value {
    PROGRAM.figures(test, arguments)
}

/// The run as it goes on from the text of its checkpoint.
pub fn through_text<'g>(
    grape: &'g Grape,
    run: Run<Integrator<Library<'g>>>,
) -> Run<Integrator<Library<'g>>> {
    through_text_with(grape, run, |settings| settings)
}

/// The same with other settings, which follow from the saved ones.
pub fn through_text_with<'g>(
    grape: &'g Grape,
    run: Run<Integrator<Library<'g>>>,
    others: impl Fn(Settings) -> Settings,
) -> Run<Integrator<Library<'g>>> {
    let text = as_text(&run);
    // The library's memory goes with the run: nothing but the text is left.
    drop(run);
    of_text(grape, &text, others)
}

/// The state of a run as a file has it.
pub fn as_text(run: &Run<Integrator<Library<'_>>>) -> Vec<u8> {
    let mut text = Vec::new();
    run.save().unwrap().write(&mut text).unwrap();
    text
}

/// The run that goes on from such a state.
pub fn of_text<'g>(
    grape: &'g Grape,
    text: &[u8],
    others: impl Fn(Settings) -> Settings,
) -> Run<Integrator<Library<'g>>> {
    let snapshot = Snapshot::parse(text).unwrap();
    let settings = checkpoint::settings(&snapshot).unwrap().unwrap();
    let library = Library::open(grape).unwrap();
    let (integrator, log) = checkpoint::resume(library, others(settings), snapshot).unwrap();
    Run::new(integrator, log).unwrap()
}
