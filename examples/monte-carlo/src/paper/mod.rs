//! The report `--report paper`: Figures 3 to 9 of Pattabiraman et al. (2013) beside what this machine can run, and a
//! model for 1024 ranks.
//!
//! * `published`: what the paper says
//! * `measured`: steps of clusters of several sizes on 1, 2, ... ranks, and one to core collapse
//! * `cost`: the model, with equation 18 for the sort; `traffic`: its messages and network
//! * `document`: Markdown, JSON and figure

pub mod cost;
mod document;
mod measured;
mod published;
pub mod traffic;

use std::error::Error as AnyError;

use kirin_kit::command::Ended;
use kirin_kit::communicator::{Communicator, Counted};
use kirin_kit::comparison::{Circumstances, publish};

use crate::error::Error;
use crate::options::Options;
use crate::session::use_threads;
use document::Document;

/// Makes the report on the ranks of `world`; rank 0 writes it.
///
/// # Errors
///
/// Senseless options; a rank is lost; a file cannot be written.
pub fn report<C: Communicator>(world: C, options: &Options) -> Result<Ended, Box<dyn AnyError>> {
    use_threads(options, world.size())?;
    options
        .control
        .files
        .validate_report()
        .map_err(Error::Refused)?;
    options.network.validate()?;
    let begun = Circumstances::begin(env!("CARGO_PKG_VERSION"));
    let world = Counted::new(world);
    let (measured, ended) = measured::measure(&world, options)?;
    if world.rank() == 0 {
        let document = Document {
            circumstances: Circumstances {
                backend: "none".to_owned(),
                precision: "double".to_owned(),
                library: "Monte Carlo on the host".to_owned(),
                ..begun
            },
            measured: &measured,
            network: options.network.network(),
        };
        let files = &options.control.files;
        publish(
            files,
            &document.markdown(),
            || document.json(),
            || document.figure(),
        )?;
    }
    Ok(ended)
}
