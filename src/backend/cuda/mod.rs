//! The CUDA backend: the thesis' machine, on every NVIDIA GPU from Pascal on.
//!
//! The host keeps the double-precision j-particles; each device holds the pages of its share of the
//! addresses, stores what has changed and predicts it (or is sent what the host predicted). The
//! kernels in `kernels/` sum leaves of 64 addresses; everything above a leaf is joined in double
//! precision on one tree, wherever that happens, so a result does not depend on the launch.
//! A device that fails is left out: its share is sent to the others, or the CPU takes over.

mod backend;
mod batches;
mod choice;
mod combine;
mod device;
mod driver;
mod field;
mod layout;
mod losses;
mod plan;

use std::time::Duration;

use crate::process::settings::Precision;

pub use self::choice::{choose, report_absence};
pub use self::driver::{Device, devices};
pub use self::plan::chip::Conditions;
pub use self::plan::{LaunchPlan, Limit};

/// The driver's library and version; nothing where there is none.
pub fn driver_name() -> Option<&'static str> {
    driver::functions::find()
        .ok()
        .map(|found| found.name.as_str())
}

/// Loads what a large block needs on a device: how many kernels are there by now, and how long loading
/// them took.
///
/// # Errors
///
/// In words why the device does not take them.
pub fn load_kernels(
    device: &'static Device,
    precision: Precision,
) -> Result<(usize, Duration), String> {
    device::load(device, precision).map_err(|failure| failure.to_string())?;
    Ok(device.loading())
}
