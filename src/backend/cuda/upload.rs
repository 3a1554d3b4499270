//! What a block needs on the device, gathered in pinned memory and sent in one copy.

use super::driver::{Current, DeviceBuffer, PinnedBuffer, Result, Stream};
use super::layout::{Plain, Pointer};

/// Every array begins at a multiple of this.
const ALIGNMENT: usize = 16;

/// Bytes of the buffers at least.
const LEAST: usize = 64 << 10;

/// Arrays on their way to the device.
#[derive(Default)]
pub struct Upload {
    pinned: PinnedBuffer,
    device: DeviceBuffer,
    used: usize,
}

/// Bytes that an array of `count` items takes, with those lost to alignment.
pub fn bytes_of<T: Plain>(count: usize) -> usize {
    count * size_of::<T>() + ALIGNMENT
}

impl Upload {
    /// Begins anew, with room for `bytes` bytes. What was sent before must have been used.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn begin(&mut self, current: &Current<'_>, bytes: usize) -> Result<()> {
        self.used = 0;
        let capacity = bytes.max(LEAST).next_power_of_two();
        self.pinned.reserve(current, capacity)?;
        self.device.reserve(current, capacity)
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
        self.device.address() + at as u64
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
        self.device.address() + at as u64
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

    /// Queues the copy of everything added.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn send(&self, stream: &Stream) -> Result<()> {
        if self.used == 0 {
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
