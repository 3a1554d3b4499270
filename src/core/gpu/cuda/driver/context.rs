//! Contexts of devices, and a type that proves that a context is current in this thread.

use std::marker::PhantomData;

use cudarc::driver::sys;

use super::failure::{Failure, NOT_READY, result_of};
use super::functions::driver;
use super::{Device, Result};

/// A primary context with its id, which changes when the device is reset.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Context(sys::CUcontext, u64);

// SAFETY: a context may be made current in any thread.
unsafe impl Send for Context {}

impl Context {
    pub fn with_number(handle: sys::CUcontext) -> Result<Self> {
        let mut number = 0;
        // SAFETY: the driver checks the handle, which may be of a context that is gone, and writes one number.
        let code = unsafe { (driver().cuCtxGetId)(handle, &raw mut number) };
        result_of("cuCtxGetId", code).map(|()| Self(handle, number))
    }

    /// Whether the context still exists: the client may have reset the device while nobody here used it.
    pub fn is_alive(self) -> bool {
        Self::with_number(self.0).is_ok_and(|now| now == self)
    }
}

/// A device in use, whose primary context is retained until this is dropped. The context stays after that.
pub struct RetainedContext {
    device: &'static Device,
    context: Context,
}

impl RetainedContext {
    pub(super) fn new(device: &'static Device, context: Context) -> Self {
        Self { device, context }
    }

    /// Makes the device's context current in this thread until the result is dropped. This must outlive the result.
    ///
    /// # Errors
    ///
    /// The device is lost, or hangs.
    pub fn enter(&self) -> Result<Current<'static>> {
        if self.device.hangs() {
            let log = "no answer to another queue of this process".to_owned();
            return Err(Failure::new("cuCtxPushCurrent", NOT_READY).with_log(log));
        }
        // SAFETY: the context is retained.
        result_of("cuCtxPushCurrent", unsafe {
            (driver().cuCtxPushCurrent_v2)(self.context.0)
        })?;
        Ok(Current {
            device: self.device,
            of_this_thread: PhantomData,
        })
    }
}

impl Drop for RetainedContext {
    fn drop(&mut self) {
        self.device.leave();
    }
}

/// Proof that a context is current in this thread.
pub struct Current<'a> {
    pub(super) device: &'a Device,
    of_this_thread: PhantomData<*const ()>,
}

impl Current<'_> {
    /// Whether kernels can read and write pinned host memory.
    pub fn maps(&self) -> bool {
        self.device.maps
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut before = std::ptr::null_mut();
        // SAFETY: pops what `enter` pushed. Nothing can be done about a failure.
        unsafe { (driver().cuCtxPopCurrent_v2)(&raw mut before) };
    }
}
