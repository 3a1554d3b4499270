//! Kernels of an application's own on a GPU.
//!
//! A [`Gpu`] is a device with a queue of work. [`Array`]s lie in its memory, [`Pinned`] arrays in memory of the host from
//! which a device copies at full speed. A [`Kernel`] comes from PTX, which `kernels/build.py` makes. Copies and launches are
//! queued: they are done in their order, while the host goes on. [`Gpu::wait`], and whatever looks at copied numbers, waits
//! for the queue.
//!
//! ```no_run
//! # use std::ffi::CStr;
//! # fn double(ptx: &CStr, numbers: &mut [f64]) -> Result<(), kirin_device::Failure> {
//! let gpu = kirin_device::Gpu::open()?;
//! let kernel = gpu.module(ptx)?.kernel("double_all")?;
//! let array = gpu.array(numbers)?;
//! let n = numbers.len() as i32;
//! // SAFETY: the kernel takes an array and its length, and writes nowhere else.
//! unsafe { gpu.launch(&kernel, numbers.len().div_ceil(256), 256, &[&array, &n])? };
//! array.copy_to(numbers)
//! # }
//! ```
//!
//! The driver, its devices and the patience with a device that does not answer are the library's
//! ([`kirin_core::gpu::cuda::driver`]): `KIRIN_DEVICES` chooses the device, and `KIRIN_GPU_TIMEOUT` says after how many seconds
//! it is given up. Nothing here panics where there is no driver.

mod argument;
mod arrays;
mod failure;
mod queue;

pub use argument::{Argument, Plain};
pub use arrays::{Array, Pinned};
pub use failure::{Failure, Result};
pub use queue::{Gpu, Kernel, Module};

/// The PTX `kernels/prebuilt/NAME.ptx` of the package that uses the macro, as `kernels/build.py` made it.
#[macro_export]
macro_rules! ptx {
    ($name:literal) => {{
        const TEXT: &str = concat!(
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/kernels/prebuilt/",
                $name,
                ".ptx"
            )),
            "\0"
        );
        match std::ffi::CStr::from_bytes_with_nul(TEXT.as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("PTX has no zero bytes"),
        }
    }};
}
