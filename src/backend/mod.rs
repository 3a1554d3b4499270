//! What computes forces. A backend sees the j-particle memory and one block of
//! i-particles; it knows nothing of clusters, clients or call order.

pub mod cpu;
pub mod cuda;
mod interface;
pub mod reference;
pub mod scaling;

use crate::process::settings::{BackendChoice, Settings};

pub use self::interface::{Backend, ForceRequest, Results};

/// The backend that `settings` ask for.
pub fn choose(settings: &Settings) -> Box<dyn Backend> {
    match settings.backend {
        BackendChoice::Auto | BackendChoice::Cuda => match cuda::choose(settings) {
            Ok(backend) => backend,
            Err(absence) => {
                cuda::report_absence(settings, &absence);
                cpu::choose(settings)
            }
        },
        BackendChoice::Cpu => cpu::choose(settings),
        BackendChoice::Reference => Box::new(reference::Reference),
    }
}
