//! Tables 4.1 and 4.2 and Figures 4.2 and 4.3 of the thesis, with this device beside the published
//! columns.
//!
//! * `published`: what the thesis has
//! * `field`: forces on blocks of any size
//! * `worker`: the processes that measure, with and without splitting
//! * `measure`: the measurements, as far as the time allows
//! * `document`, `figure`: Markdown and JSON, and a picture

mod document;
mod field;
mod figure;
mod measure;
mod published;
mod worker;

use std::error::Error;

use kirin_kit::command::Ended;
use kirin_kit::comparison::{Circumstances, publish};
use kirin_kit::galaxy::GalaxyOptions;
use kirin_kit::interrupt;
use kirin_kit::run::check_end;

use crate::options::Options;
use document::Document;
use measure::Bench;
pub use worker::serve;

/// Makes the report: what there is of it, if something goes wrong on the way.
///
/// # Errors
///
/// Senseless options; no library; a measurement fails; a file cannot be written.
pub fn report(options: &Options) -> Result<Ended, Box<dyn Error>> {
    options.run.control.files.validate_report()?;
    if options.run.galaxy != GalaxyOptions::default() {
        return Err("a report has no galaxy and no units".into());
    }
    let settings = worker::settings(options)?;
    settings.validate()?;
    let t_end = worker::t_end(options)?;
    check_end(0.0, t_end)?;
    interrupt::catch()?;
    let begun = Circumstances::begin(env!("CARGO_PKG_VERSION"));
    let mut bench = Bench::start()?;
    let described = bench.described().clone();
    let text = |key: &str| described.split[key].as_str().unwrap_or_default().to_owned();
    let circumstances = Circumstances {
        backend: text("backend"),
        precision: text("precision"),
        library: text("library"),
        ..begun
    };
    let ended = bench.measure(&options.comparison.limits);
    let document = Document {
        circumstances,
        described: &described,
        seed: options.run.start.seed(),
        settings,
        t_end,
        wanted: &options.comparison.limits,
        cut: match &ended {
            Ok(Ended::Complete | Ended::EnergyError | Ended::Unwritten) => None,
            Ok(Ended::Interrupted | Ended::TimeLimit) => Some("interrupted"),
            Err(why) => Some(why),
        },
        measured: &bench.measured,
    };
    publish(
        &options.run.control.files,
        &document.markdown(),
        || document.json(),
        || figure::figure(&document.circumstances, &bench.measured),
    )?;
    Ok(ended?)
}
