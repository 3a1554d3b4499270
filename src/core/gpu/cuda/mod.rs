//! The CUDA backend: GRAPE-6 on every NVIDIA GPU from Pascal on.
//!
//! The host keeps the j-particles in double precision. Each device has a run of their pages. It receives the changed
//! particles and predicts them, or receives particles that the host predicted. The kernels in `kernels/` sum leaves
//! of 64 addresses. All sums above a leaf are added in double precision along one tree, on the device or on the host,
//! so results do not depend on how the work is divided. If a device fails, its pages are sent to the others; if none
//! is left, the CPU computes.

mod backend;
mod batches;
mod choice;
mod device;
mod distribution;
pub mod driver;
mod losses;
mod regular_backend;

use std::time::Duration;

use crate::process::settings::Precision;

pub use self::choice::{Absence, choose, report_absence, rule, wanted};
pub use self::driver::{Device, devices};
pub use self::regular_backend::choose as choose_regular;
pub use crate::gpu::plan::chip::Conditions;
pub use crate::gpu::plan::{LaunchPlan, Limit};

/// The driver's library and version; nothing where there is none.
pub fn driver_name() -> Option<&'static str> {
    driver::functions::find()
        .ok()
        .map(|found| found.name.as_str())
}

/// Loads the kernels of a large block on a device. Returns how many kernels are loaded there, and how long that took.
///
/// # Errors
///
/// Why the device cannot load them, in words.
pub fn load_kernels(
    device: &'static Device,
    precision: Precision,
) -> Result<(usize, Duration), String> {
    device::load(device, precision).map_err(|failure| failure.to_string())?;
    Ok(device.loading())
}
