//! The command `textbook`.

use std::process::ExitCode;

use clap::Parser;
use textbook::options::Options;
use textbook::run;
use textbook::storage::Counting;

/// For `textbook tables`. It costs nothing that can be noticed: no loop over particles allocates.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    match run::run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Without words where another process says it.
            if !why.is_empty() {
                eprintln!("textbook: {why}");
            }
            ExitCode::FAILURE
        }
    }
}
