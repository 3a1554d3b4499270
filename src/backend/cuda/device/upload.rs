//! What a block needs on the device, gathered in pinned memory and sent in one copy, or read by the
//! first kernel of the block where it lies.

use crate::backend::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};
use crate::backend::cuda::driver::{Current, Result, Stream};
use crate::backend::cuda::layout::{Plain, Pointer};

/// Every array begins at a multiple of this.
const ALIGNMENT: usize = 16;

/// Bytes of the buffers at least.
const LEAST: usize = 64 << 10;

/// Bytes up to which the kernel `advance` reads from the memory of the host. It gets them more slowly
/// than a copy would (some 10 instead of 25 GB/s over PCIe 4: 4 microseconds more for so many), but a
/// copy is one more call and one more thing to wait for, some 2 microseconds each; no GPU was asked yet.
const READ_BY_KERNEL: usize = 64 << 10;

/// Bytes of which a thread fetches one at a time.
const VECTOR: usize = 16;

/// Arrays on their way to the device.
#[derive(Default)]
pub struct Upload {
    pinned: PinnedBuffer,
    device: DeviceBuffer,
    used: usize,
    /// Where the kernels find what is added.
    base: Pointer,
    /// Where that begins which `advance` fetches for the kernels behind it, if it reads from the host.
    fetched: Option<usize>,
}

/// What the kernel `advance` fetches: from the host, to the device, so many vectors.
pub type Fetch = (Pointer, Pointer, u32);

/// Bytes that an array of `count` items takes, with those lost to alignment.
pub fn bytes_of<T: Plain>(count: usize) -> usize {
    count * size_of::<T>() + ALIGNMENT
}

impl Upload {
    /// Begins anew, with room for `bytes` bytes. What was sent before must have been used. With
    /// `advance` the kernel of that name is the first to use what is added, until [`Upload::behind`].
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn begin(&mut self, current: &Current<'_>, bytes: usize, advance: bool) -> Result<()> {
        self.used = 0;
        let capacity = bytes.max(LEAST).next_power_of_two();
        self.pinned.reserve(current, capacity)?;
        self.device.reserve(current, capacity)?;
        let mapped = self.pinned.mapped();
        let read = mapped.filter(|_| advance && bytes <= READ_BY_KERNEL);
        self.base = read.unwrap_or(self.device.address());
        self.fetched = read.map(|_| 0);
        Ok(())
    }

    /// What is added from here on is for the kernels behind `advance`.
    pub fn behind(&mut self) {
        self.used = self.used.next_multiple_of(VECTOR);
        self.base = self.device.address();
        self.fetched = self.fetched.map(|_| self.used);
    }

    /// What `advance` has to fetch; nothing if a copy was sent.
    pub fn fetch(&self) -> Fetch {
        match (self.fetched, self.pinned.mapped()) {
            (Some(at), Some(mapped)) => (
                mapped + at as Pointer,
                self.device.address() + at as Pointer,
                (self.used - at).div_ceil(VECTOR) as u32,
            ),
            _ => (0, 0, 0),
        }
    }

    /// Adds an array; returns where it will be on the device.
    ///
    /// # Panics
    ///
    /// There is less room than was asked for.
    pub fn put<T: Plain>(&mut self, items: &[T]) -> Pointer {
        let at = self.take::<T>(items.len());
        // SAFETY: `take` gave this room to us, aligned for `T`; `T` has no padding.
        unsafe {
            let to = self.pinned.start().add(at).cast::<T>();
            std::ptr::copy_nonoverlapping(items.as_ptr(), to, items.len());
        }
        self.base + at as u64
    }

    /// As [`Upload::put`], for the first `count` of items that are made one by one. Where there are
    /// fewer, the rest is what was there before.
    ///
    /// # Panics
    ///
    /// There is less room than was asked for.
    pub fn put_each<T: Plain>(&mut self, count: usize, items: impl Iterator<Item = T>) -> Pointer {
        let at = self.take::<T>(count);
        for (n, item) in items.take(count).enumerate() {
            // SAFETY: as above; `n` is below `count`.
            unsafe { self.pinned.start().add(at).cast::<T>().add(n).write(item) };
        }
        self.base + at as u64
    }

    fn take<T: Plain>(&mut self, count: usize) -> usize {
        const { assert!(align_of::<T>() <= ALIGNMENT) };
        let at = self.used.next_multiple_of(ALIGNMENT);
        let bytes = count * size_of::<T>();
        assert!(
            at + bytes <= self.pinned.bytes(),
            "the room was counted before"
        );
        self.used = at + bytes;
        at
    }

    /// Queues the copy of everything added, unless a kernel reads it where it is.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn send(&self, stream: &Stream) -> Result<()> {
        if self.used == 0 || self.fetched.is_some() {
            return Ok(());
        }
        // SAFETY: both buffers have room for `used` bytes; nothing is added before the next `begin`.
        unsafe { stream.upload(self.device.address(), self.pinned.start(), self.used) }
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.pinned.free(current);
        self.device.free(current);
    }
}
