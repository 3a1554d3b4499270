//! The report `--report paper`: Table 1 and Figure 4 of Nitadori, Makino and Abe (2006) beside this
//! machine, and the cost model beside every grid that runs here.

mod document;
mod figure;
mod measured;
mod published;

use kirin::client::Grape;

use kirin_kit::command::Ended;
use kirin_kit::communicator::{Communicator, Counted};
use kirin_kit::comparison::{Circumstances, publish};

use crate::error::Error;
use crate::options::Options;
use document::Document;

/// Makes the report on the ranks of `world`; rank 0 writes it.
///
/// # Errors
///
/// Senseless options; a measurement fails; a rank is lost; a file cannot be written.
pub fn report<C: Communicator>(
    world: C,
    grape: &Grape,
    options: &Options,
) -> Result<Ended, Box<dyn std::error::Error>> {
    let world = Counted::with_processor_time(world);
    options
        .run
        .control
        .files
        .validate_report()
        .map_err(Error::Refused)?;
    let begun = Circumstances::begin(env!("CARGO_PKG_VERSION"));
    let (measured, ended) = measured::measure(&world, grape, options)?;
    if world.rank() == 0 {
        let circumstances = Circumstances {
            backend: measured.backend.clone(),
            precision: measured.precision.clone(),
            library: grape.name().to_owned(),
            ..begun
        };
        let document = Document {
            circumstances,
            measured: &measured,
        };
        publish(
            &options.run.control.files,
            &document.markdown(),
            || document.json(),
            || figure::figure(&document.circumstances, &measured),
        )?;
    }
    Ok(ended)
}
