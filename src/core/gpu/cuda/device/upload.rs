//! The data of a block, collected in pinned memory. They are sent to the device in one copy, or the block's first
//! kernel reads them from there.

use std::marker::PhantomData;

use crate::gpu::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};
use crate::gpu::cuda::driver::{Current, Result, Stream};
use crate::gpu::layout::{Pod, Pointer};

/// Alignment of every array, bytes.
const ALIGNMENT: usize = 16;

/// Least size of the buffers, bytes.
const LEAST: usize = 64 << 10;

/// Up to this many bytes the kernel `advance` reads the upload from host memory. This saves a copy: one call and one
/// operation in the queue, some 2 microseconds each. Reading is slower than copying (some 10 instead of 25 GB/s over
/// PCIe 4); for this many bytes the difference is 4 microseconds. Not yet measured on a GPU.
const READ_BY_KERNEL: usize = 64 << 10;

/// Bytes that a thread of `advance` fetches at a time.
const VECTOR: usize = 16;

/// Arrays on their way to the device.
#[derive(Default)]
pub struct Upload {
    pinned: PinnedBuffer,
    device: DeviceBuffer,
    used: usize,
    /// How many of the bytes used are on their way already.
    sent: usize,
    /// Where kernels find the start of the buffer.
    base: Pointer,
    /// Where `advance` reads from the host: the offset from which on it copies the data to the device for later kernels.
    fetched: Option<usize>,
}

/// An array of an upload that is still to be written, item by item.
pub struct Reserved<T> {
    /// Where kernels find it.
    address: Pointer,
    /// Where its next item goes, and its end, in bytes from the start of the upload.
    next: usize,
    end: usize,
    items: PhantomData<T>,
}

impl<T> Reserved<T> {
    /// Where kernels find the array.
    pub fn address(&self) -> Pointer {
        self.address
    }
}

/// What the kernel `advance` copies for later kernels: the address on the host, the address on the device, and the
/// number of vectors.
pub type Fetch = (Pointer, Pointer, u32);

/// Most bytes that an array of `count` items takes, alignment included.
pub fn bytes_of<T: Pod>(count: usize) -> usize {
    count * size_of::<T>() + ALIGNMENT
}

impl Upload {
    /// Empties the upload and makes room for `bytes` bytes. The device must be done with what was sent before. With
    /// `advance`, the kernel `advance` itself reads the data that is added before the call of [`Upload::behind`].
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub fn begin(&mut self, current: &Current<'_>, bytes: usize, advance: bool) -> Result<()> {
        (self.used, self.sent) = (0, 0);
        let capacity = bytes.max(LEAST).next_power_of_two();
        self.pinned.reserve(current, capacity)?;
        self.device.reserve(current, capacity)?;
        let mapped = self.pinned.mapped();
        let read = mapped.filter(|_| advance && bytes <= READ_BY_KERNEL);
        self.base = read.unwrap_or(self.device.address());
        self.fetched = read.map(|_| 0);
        Ok(())
    }

    /// What is added from here on is for the kernels after `advance`.
    pub fn behind(&mut self) {
        self.used = self.used.next_multiple_of(VECTOR);
        self.base = self.device.address();
        self.fetched = self.fetched.map(|_| self.used);
    }

    /// The start of the buffer on the device.
    pub fn address(&self) -> Pointer {
        self.device.address()
    }

    /// What `advance` has to copy; nothing if the upload is sent as a copy.
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

    /// Adds an array; returns where kernels will find it.
    ///
    /// # Panics
    ///
    /// More is added than `begin` made room for.
    pub fn put<T: Pod>(&mut self, items: &[T]) -> Pointer {
        let at = self.take::<T>(items.len());
        // SAFETY: `take` reserved this room, aligned for `T`; `T` has no padding.
        unsafe {
            let to = self.pinned.start().add(at).cast::<T>();
            std::ptr::copy_nonoverlapping(items.as_ptr(), to, items.len());
        }
        self.base + at as u64
    }

    /// As [`Upload::put`], for the first `count` items of an iterator. If it has fewer, the rest of the array keeps
    /// older data.
    ///
    /// # Panics
    ///
    /// More is added than `begin` made room for.
    pub fn put_each<T: Pod>(&mut self, count: usize, items: impl Iterator<Item = T>) -> Pointer {
        let at = self.take::<T>(count);
        for (n, item) in items.take(count).enumerate() {
            // SAFETY: as above; `n` is below `count`.
            unsafe { self.pinned.start().add(at).cast::<T>().add(n).write(item) };
        }
        self.base + at as u64
    }

    /// As [`Upload::put`], for `count` items that `write` writes one by one into their places.
    ///
    /// # Panics
    ///
    /// More is added than `begin` made room for.
    pub fn put_with<T: Pod>(&mut self, count: usize, write: impl FnOnce(&mut [T])) -> Pointer {
        let at = self.take::<T>(count);
        // SAFETY: `take` reserved this room, aligned for `T`. Every byte of the buffer is initialized, and any are a valid `T`.
        write(unsafe {
            let to = self.pinned.start().add(at).cast::<T>();
            std::slice::from_raw_parts_mut(to, count)
        });
        self.base + at as u64
    }

    /// Makes room for an array, to be written by [`Upload::write`].
    ///
    /// # Panics
    ///
    /// More is added than `begin` made room for.
    pub fn reserve<T: Pod>(&mut self, count: usize) -> Reserved<T> {
        let next = self.take::<T>(count);
        Reserved {
            address: self.base + next as u64,
            next,
            end: self.used,
            items: PhantomData,
        }
    }

    /// Writes the next item of a reserved array.
    ///
    /// # Panics
    ///
    /// The array is full.
    pub fn write<T: Pod>(&mut self, array: &mut Reserved<T>, item: T) {
        let end = array.next + size_of::<T>();
        assert!(end <= array.end && end <= self.used, "the array has room");
        // SAFETY: `take` reserved this room, aligned for `T`.
        unsafe { (self.pinned.start().add(array.next).cast::<T>()).write(item) };
        array.next = end;
    }

    fn take<T: Pod>(&mut self, count: usize) -> usize {
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

    /// Queues the copy of everything added since the last one, unless `advance` reads it from the host.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn send(&mut self, stream: &Stream) -> Result<()> {
        let begin = std::mem::replace(&mut self.sent, self.used);
        if begin == self.used || self.fetched.is_some() {
            return Ok(());
        }
        // SAFETY: both buffers have room for `used` bytes. What is added later lies behind them.
        unsafe {
            let (to, from) = (self.device.address() + begin as u64, self.pinned.start());
            stream.upload(to, from.add(begin), self.used - begin)
        }
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.pinned.free(current);
        self.device.free(current);
    }
}
