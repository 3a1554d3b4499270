//! The report `--report paper`: Tables 2 to 8 and Figures 2 to 5 of the paper of NBSymple beside this device.
//!
//! * `published`: what the paper has
//! * `child`: one run in a process of its own
//! * `measure`: which runs, as far as the time goes
//! * `document`: Markdown, JSON and a figure

mod child;
mod document;
mod measure;
mod published;

use std::error::Error;

use kirin::client::Grape;
use kirin_kit::command::Ended;
use kirin_kit::comparison::{Circumstances, publish};
use kirin_kit::galaxy::GalaxyOptions;
use kirin_kit::interrupt::{self, interrupted};

use crate::forces::Forces;
use crate::options::Options;
use document::Document;
use measure::Bench;

/// Makes the report: what there is of it, if something goes wrong on the way.
///
/// # Errors
///
/// No library; a measurement fails; a file cannot be written.
pub fn report(options: &Options) -> Result<Ended, Box<dyn Error>> {
    options.control.files.validate_report()?;
    if options.galaxy != GalaxyOptions::default() || options.control.own.stars.is_some() {
        return Err("a report has no galaxy, no units and no --stars".into());
    }
    interrupt::catch()?;
    let grape = Grape::linked_or(options.control.own.library.path())?;
    let (backend, _) = Forces::open(&grape)?.description();
    let circumstances = Circumstances {
        backend,
        precision: "single, mixed and double".to_owned(),
        library: grape.name().to_owned(),
        ..Circumstances::begin(env!("CARGO_PKG_VERSION"))
    };
    let budget = options.limits.budget(&circumstances.backend);
    let mut bench = Bench::new(options);
    let ended = bench.measure(budget);
    let document = Document {
        circumstances,
        seed: options.start.seed(),
        cut: ended.as_ref().err().map(String::as_str),
        measured: &bench.measured,
    };
    publish(
        &options.control.files,
        &document.markdown(),
        || document.json(),
        || document.figure(),
    )?;
    match ended {
        Ok(()) => Ok(Ended::Complete),
        Err(_) if interrupted() => Ok(Ended::Interrupted),
        Err(why) => Err(why.into()),
    }
}
