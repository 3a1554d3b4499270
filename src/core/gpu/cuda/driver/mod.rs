//! The CUDA driver as kirin uses it: loaded at run time, every failure an error.
//!
//! [`devices`] looks for the driver first, and nothing else here is called before it has succeeded.

mod context;
mod device;
mod devices;
mod failure;
pub mod functions;
pub mod memory;
pub mod modules;
mod stream;

pub use self::context::{Current, RetainedContext};
pub use self::device::Device;
pub use self::devices::{OF_THE_PARENT, devices};
pub use self::failure::{Failure, Result};
pub use self::modules::Kernel;
pub use self::stream::{Event, Stream, WaitLimits};
