//! Memory that grows: of a device, and of the host for its use. Nobody frees it but its owner, who
//! needs the device's context for that.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

use cudarc::driver::sys;

use super::failure::ask;
use super::functions::driver;
use super::{Current, Result, Stream};
use crate::backend::cuda::layout::Plain;

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

    /// Makes sure of at least `bytes` bytes, of twice as many as before where there is memory for
    /// them. Nothing queued may use the old ones any more.
    ///
    /// # Errors
    ///
    /// There is not so much memory; the buffer is empty then.
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

/// Numbers to which kernels add, and which the host reads after it has waited for them: zero at first.
/// They are in memory of the host where the device can add to that.
#[derive(Default)]
pub struct Tally<T> {
    host: PinnedBuffer,
    device: Counters,
    numbers: PhantomData<T>,
}

impl<T: Plain + Default> Tally<T> {
    /// Where kernels find them.
    pub fn address(&self) -> u64 {
        self.host.mapped().unwrap_or(self.device.address())
    }

    /// Makes sure that they are there.
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

    /// Queues what it takes to read them after the next wait.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn fetch(&self, stream: &Stream) -> Result<()> {
        if self.host.mapped().is_some() {
            return Ok(());
        }
        let to = self.host.start();
        // SAFETY: both have the size; what is there is not read before the next wait.
        unsafe { stream.download(to, self.device.address(), size_of::<T>()) }
    }

    /// As they were at the last wait, or later.
    pub fn read(&self) -> T {
        if self.host.bytes() == 0 {
            return T::default();
        }
        // SAFETY: so many bytes are there, aligned for any number, and any bits are numbers; that the
        // device may be writing to them is why the read is volatile.
        unsafe { self.host.start().cast::<T>().read_volatile() }
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.host.free(current);
        self.device.free(current);
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
