//! Buffers that grow, in device memory or in pinned host memory. The owner frees them while the device's context is
//! current.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

use cudarc::driver::sys;

use super::failure::ask;
use super::functions::driver;
use super::{Current, Result, Stream};
use crate::gpu::layout::Pod;

/// A buffer on a device. Growing loses its contents.
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

    /// Grows to at least `bytes` bytes, and to twice the old size where there is memory for that. Nothing queued
    /// may still use the buffer.
    ///
    /// # Errors
    ///
    /// There is too little memory; the buffer is empty then.
    pub fn reserve(&mut self, current: &Current<'_>, bytes: usize) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let double = bytes.max(2 * self.bytes);
        self.free(current);
        let (address, bytes) = match ask!(cuMemAlloc_v2(double)) {
            Ok(address) => (address, double),
            Err(failure) if !failure.is_harmless() || double == bytes => return Err(failure),
            Err(_) => (ask!(cuMemAlloc_v2(bytes))?, bytes),
        };
        (self.address, self.bytes) = (address, bytes);
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

/// Numbers on the device, zero at first.
#[derive(Default)]
struct Counters(DeviceBuffer);

impl Counters {
    /// The first counter.
    pub fn address(&self) -> u64 {
        self.0.address()
    }

    /// As [`DeviceBuffer::reserve`]; whatever is queued afterwards finds zeros.
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
        // SAFETY: `reserve` made the buffer at least this long.
        unsafe { stream.clear(self.0.address, bytes) }.inspect_err(|_| self.free(current))
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.0.free(current);
    }
}

/// Totals, zero at first, to which kernels add and which the host reads after a wait. They are in pinned host
/// memory if kernels can reach it, else on the device with a copy on the host.
#[derive(Default)]
pub struct Tally<T> {
    host: PinnedBuffer,
    device: Counters,
    numbers: PhantomData<T>,
}

impl<T: Pod + Default> Tally<T> {
    /// Where kernels add.
    pub fn address(&self) -> u64 {
        self.host.mapped().unwrap_or(self.device.address())
    }

    /// Allocates the totals if that was not done yet.
    ///
    /// # Errors
    ///
    /// Those of the driver; there are none then.
    pub fn reserve(&mut self, current: &Current<'_>, stream: &Stream) -> Result<()> {
        self.host.reserve(current, size_of::<T>())?;
        match self.host.mapped() {
            Some(_) => Ok(()),
            None => self.device.reserve(current, stream, size_of::<T>()),
        }
    }

    /// Whether kernels add to memory of the host.
    pub fn is_on_host(&self) -> bool {
        self.host.mapped().is_some()
    }

    /// Queues the copy to the host, if one is needed, so that [`Tally::read`] is up to date after the next wait.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn fetch(&self, stream: &Stream) -> Result<()> {
        if self.is_on_host() {
            return Ok(());
        }
        let to = self.host.start();
        // SAFETY: both buffers have this size; the host's is not read before the next wait.
        unsafe { stream.download(to, self.device.address(), size_of::<T>()) }
    }

    /// The totals at the last wait or later.
    pub fn read(&self) -> T {
        if self.host.bytes() == 0 {
            return T::default();
        }
        // SAFETY: the buffer is this long and aligned for any number, and any bits are valid numbers. The read is
        // volatile because the device may be writing.
        unsafe { self.host.start().cast::<T>().read_volatile() }
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.host.free(current);
        self.device.free(current);
    }
}

/// Pinned memory of the host: the device copies to and from it at full speed.
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
    /// Size of the buffer in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The device's address of the first byte, if kernels can reach host memory.
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
    /// There is too little memory; the buffer is empty then.
    pub fn reserve(&mut self, current: &Current<'_>, bytes: usize) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let double = bytes.max(2 * self.bytes);
        self.free(current);
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let flags = if current.maps() { flags } else { 0 };
        let (start, bytes): (*mut c_void, _) = match ask!(cuMemHostAlloc(double, flags)) {
            Ok(start) => (start, double),
            Err(failure) if !failure.is_harmless() || double == bytes => return Err(failure),
            Err(_) => (ask!(cuMemHostAlloc(bytes, flags))?, bytes),
        };
        if let Some(host) = NonNull::new(start) {
            self.start = host.cast();
            self.bytes = bytes;
            if flags != 0 {
                // If the device refuses, data is copied instead.
                self.mapped = ask!(cuMemHostGetDevicePointer_v2(start, 0)).ok();
            }
            // SAFETY: just allocated with this size. From here on every byte is initialized.
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
