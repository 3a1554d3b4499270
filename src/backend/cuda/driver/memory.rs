//! Memory that grows: of a device, and of the host for its use. Nobody frees it but its owner, who
//! needs the device's context for that.

use std::ffi::c_void;
use std::ptr::NonNull;

use cudarc::driver::sys;

use crate::backend::cuda::driver::functions::driver;
use crate::backend::cuda::driver::{Current, Result, Stream, ask, check};

/// Memory of a device that grows when it must; its contents are lost then.
#[derive(Default)]
pub struct DeviceBuffer {
    address: u64,
    bytes: usize,
}

impl DeviceBuffer {
    /// The first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Makes sure of at least `bytes` bytes. Nothing queued may use the old ones any more.
    ///
    /// # Errors
    ///
    /// There is not so much memory; the buffer is empty then.
    pub fn reserve(&mut self, current: &Current<'_>, bytes: usize) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        self.free(current);
        self.address = ask!(cuMemAlloc_v2(bytes))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Gives the memory back.
    pub fn free(&mut self, _: &Current<'_>) {
        if self.bytes > 0 {
            // SAFETY: allocated by `reserve`, and nothing queued uses it.
            unsafe { (driver().cuMemFree_v2)(self.address) };
        }
        *self = Self::default();
    }
}

/// Counters on the device that begin at zero. Who counts with them leaves them so.
#[derive(Default)]
pub struct Counters(DeviceBuffer);

impl Counters {
    /// The first.
    pub fn address(&self) -> u64 {
        self.0.address()
    }

    /// As [`DeviceBuffer::reserve`]; work that is queued behind finds zeros.
    ///
    /// # Errors
    ///
    /// Those of the driver; there are no counters then.
    pub fn reserve(&mut self, current: &Current<'_>, stream: &Stream, bytes: usize) -> Result<()> {
        if bytes <= self.0.bytes {
            return Ok(());
        }
        let bytes = bytes.max(4096).next_power_of_two();
        self.0.reserve(current, bytes)?;
        // SAFETY: so many bytes are there.
        unsafe { stream.clear(self.0.address, bytes) }.inspect_err(|_| self.free(current))
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.0.free(current);
    }
}

/// Memory of the host that the device reads and writes at full speed.
pub struct PinnedBuffer {
    start: NonNull<u8>,
    bytes: usize,
    mapped: Option<u64>,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for PinnedBuffer {}

impl Default for PinnedBuffer {
    fn default() -> Self {
        Self {
            start: NonNull::<u64>::dangling().cast(),
            bytes: 0,
            mapped: None,
        }
    }
}

impl PinnedBuffer {
    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where the device's kernels find the first byte, if they can use memory of the host.
    pub fn mapped(&self) -> Option<u64> {
        self.mapped
    }

    /// The first byte; aligned for any number.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// As [`DeviceBuffer::reserve`].
    ///
    /// # Errors
    ///
    /// There is not so much memory; the buffer is empty then.
    pub fn reserve(&mut self, current: &Current<'_>, bytes: usize) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        self.free(current);
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let flags = if current.maps() { flags } else { 0 };
        let start: *mut c_void = ask!(cuMemHostAlloc(bytes, flags))?;
        if let Some(host) = NonNull::new(start) {
            self.start = host.cast();
            self.bytes = bytes;
            if flags != 0 {
                // A device that refuses is sent copies.
                self.mapped = ask!(cuMemHostGetDevicePointer_v2(start, 0)).ok();
            }
            // SAFETY: just allocated; from here on every byte has a value.
            unsafe { self.start.write_bytes(0, bytes) };
        }
        Ok(())
    }

    /// Gives the memory back.
    pub fn free(&mut self, _: &Current<'_>) {
        if self.bytes > 0 {
            // SAFETY: allocated by `reserve`, and nothing queued uses it.
            unsafe { (driver().cuMemFreeHost)(self.start.as_ptr().cast()) };
        }
        *self = Self::default();
    }
}
