//! Arrays on a device, and arrays of the host from which it copies.

use std::cell::Cell;
use std::marker::PhantomData;
use std::rc::Rc;

use kirin_core::gpu::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};

use crate::argument::Plain;
use crate::failure::{Failure, Result};
use crate::queue::Queue;

/// An array on a device. It is freed when it is dropped.
pub struct Array<T> {
    buffer: DeviceBuffer,
    /// The address of the first element, as kernels take it.
    start: u64,
    length: usize,
    queue: Rc<Queue>,
    of: PhantomData<T>,
}

impl<T: Plain> Array<T> {
    pub(crate) fn zeros(queue: &Rc<Queue>, length: usize) -> Result<Self> {
        let mut buffer = DeviceBuffer::default();
        // The driver knows no empty arrays.
        let bytes = bytes::<T>(length)?.max(1);
        buffer.reserve(&queue.enter()?, bytes)?;
        let start = buffer.address();
        let array = Self {
            buffer,
            start,
            length,
            queue: Rc::clone(queue),
            of: PhantomData,
        };
        // SAFETY: the buffer has this length, and stays until the queue has been waited for.
        queue.queue(|stream| unsafe { stream.clear(start, bytes) })?;
        Ok(array)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Copies `values`, as many as the array has elements, to the device, when everything queued is done.
    ///
    /// # Errors
    ///
    /// Their number is another; a kernel failed.
    pub fn copy_from(&self, values: &[T]) -> Result<()> {
        self.check(values.len())?;
        let (from, bytes) = (values.as_ptr().cast(), size_of_val(values));
        // SAFETY: both have so many bytes; the values are borrowed until the copy is done.
        self.queue.copy_now(bytes, |stream| unsafe {
            stream.upload(self.start, from, bytes)
        })
    }

    /// Copies the elements to `values`, which are as many, when everything queued is done.
    ///
    /// # Errors
    ///
    /// As for [`Array::copy_from`].
    pub fn copy_to(&self, values: &mut [T]) -> Result<()> {
        self.check(values.len())?;
        let (to, bytes) = (values.as_mut_ptr().cast(), size_of_val(values));
        // SAFETY: both have so many bytes, any of which are values; they are borrowed until the copy is done.
        self.queue.copy_now(bytes, |stream| unsafe {
            stream.download(to, self.start, bytes)
        })
    }

    /// Queues a copy of the pinned `values` to the device.
    ///
    /// # Errors
    ///
    /// They are not as many, or belong to another queue; the driver refuses.
    pub fn upload(&self, values: &Pinned<T>) -> Result<()> {
        self.check_pinned(values)?;
        let (from, bytes) = (values.buffer.start(), bytes::<T>(self.length)?);
        if bytes == 0 {
            return Ok(());
        }
        self.queue.queue(|stream| {
            // SAFETY: both have so many bytes; `values` waits for the queue before anybody writes to it or frees it.
            unsafe { stream.upload(self.start, from, bytes) }
        })?;
        values.used.set(self.queue.position());
        Ok(())
    }

    /// Queues a copy of the array to the pinned `values`.
    ///
    /// # Errors
    ///
    /// As for [`Array::upload`].
    pub fn download(&self, values: &mut Pinned<T>) -> Result<()> {
        self.check_pinned(values)?;
        let (to, bytes) = (values.buffer.start(), bytes::<T>(self.length)?);
        if bytes == 0 {
            return Ok(());
        }
        self.queue.queue(|stream| {
            // SAFETY: both have so many bytes; `values` waits for the queue before anybody looks at it or frees it.
            unsafe { stream.download(to, self.start, bytes) }
        })?;
        values.used.set(self.queue.position());
        Ok(())
    }

    fn check_pinned(&self, values: &Pinned<T>) -> Result<()> {
        if !Rc::ptr_eq(&self.queue, &values.queue) {
            return Err(Failure::new("arrays of different queues"));
        }
        self.check(values.length)
    }

    fn check(&self, others: usize) -> Result<()> {
        match others == self.length {
            true => Ok(()),
            false => Err(Failure::new(format!(
                "{others} values for an array of {}",
                self.length
            ))),
        }
    }
}

impl<T> Array<T> {
    pub(crate) fn start(&self) -> &u64 {
        &self.start
    }
}

impl<T> Drop for Array<T> {
    fn drop(&mut self) {
        // Queued work may use the array. After a failed wait the device's work has ended, unless it is lost.
        let _ = self.queue.wait_for(self.queue.position());
        if let Ok(current) = self.queue.enter() {
            self.buffer.free(&current);
        }
    }
}

/// An array in pinned memory of the host. It is freed when it is dropped.
pub struct Pinned<T> {
    buffer: PinnedBuffer,
    length: usize,
    /// The last operation that uses it.
    used: Cell<u64>,
    queue: Rc<Queue>,
    of: PhantomData<T>,
}

impl<T: Plain> Pinned<T> {
    pub(crate) fn zeros(queue: &Rc<Queue>, length: usize) -> Result<Self> {
        let mut buffer = PinnedBuffer::default();
        buffer.reserve(&queue.enter()?, bytes::<T>(length)?.max(1))?;
        Ok(Self {
            buffer,
            length,
            used: Cell::new(0),
            queue: Rc::clone(queue),
            of: PhantomData,
        })
    }

    /// The values, once the copies that use them are done.
    ///
    /// # Errors
    ///
    /// Work before such a copy failed.
    pub fn values(&self) -> Result<&[T]> {
        self.queue.wait_for(self.used.get())?;
        // SAFETY: the memory has this length, is aligned for any number and initialized, and no copy uses it now.
        Ok(unsafe { std::slice::from_raw_parts(self.buffer.start().cast(), self.length) })
    }

    /// The same, to be written.
    ///
    /// # Errors
    ///
    /// As for [`Pinned::values`].
    pub fn values_mut(&mut self) -> Result<&mut [T]> {
        self.queue.wait_for(self.used.get())?;
        // SAFETY: as in `values`; the borrow is exclusive.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.buffer.start().cast(), self.length) })
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        let _ = self.queue.wait_for(self.used.get());
        if let Ok(current) = self.queue.enter() {
            self.buffer.free(&current);
        }
    }
}

fn bytes<T>(length: usize) -> Result<usize> {
    let bytes = length.checked_mul(size_of::<T>());
    bytes
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or_else(|| Failure::new(format!("an array of {length} elements is too long")))
}
