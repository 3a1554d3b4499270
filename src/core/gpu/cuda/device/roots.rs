//! Measures the mean error of a device's approximate reciprocal square roots. The sums are corrected for it.
//!
//! PTX allows `rsqrt.approx.ftz.f32` a relative error of 2^-22.9 (1.3e-7). The mean of the error does not cancel in a
//! sum over r^-3; there it is three times as large.

use super::{Current, DeviceQueue, Module, Result};
use crate::cpu::{SAMPLES, products, samples};
use crate::gpu::cuda::driver::Failure;
use crate::gpu::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};
use crate::gpu::layout::{Pointer, RootArgs};
use crate::process::settings::Precision;
use crate::sources::jmemory::PAGE;

/// Threads of a thread block of `reciprocal_roots`, as in the sources.
const ROOT_THREADS: u32 = 256;

/// Bytes of the numbers, and as many of their roots.
const BYTES: usize = SAMPLES * size_of::<f32>();

impl DeviceQueue {
    /// Measures the mean error of the approximate reciprocal square roots, once for each device of a process. It does
    /// so only for the precisions `mixed` and `single`: double precision has no such error, and double-single takes the
    /// error out of each pair.
    pub(super) fn measure_root(&mut self, current: &Current<'_>) -> Result<()> {
        if matches!(self.precision, Precision::Mixed | Precision::Single) {
            let device = self.device;
            self.root = *device.root.get_or_try_init(|| self.mean_root(current))?;
        }
        Ok(())
    }

    fn mean_root(&mut self, current: &Current<'_>) -> Result<f64> {
        let (mut pinned, mut buffer) = (PinnedBuffer::default(), DeviceBuffer::default());
        let mean = self.mean_root_in(current, &mut pinned, &mut buffer);
        if !mean.as_ref().is_err_and(Failure::is_hang) {
            buffer.free(current);
            pinned.free(current);
        }
        mean
    }

    fn mean_root_in(
        &mut self,
        current: &Current<'_>,
        pinned: &mut PinnedBuffer,
        buffer: &mut DeviceBuffer,
    ) -> Result<f64> {
        pinned.reserve(current, BYTES)?;
        buffer.reserve(current, 2 * BYTES)?;
        let numbers: Vec<f32> = (0..SAMPLES).step_by(PAGE).flat_map(samples).collect();
        let args = RootArgs {
            x: buffer.address(),
            y: buffer.address() + BYTES as Pointer,
            count: SAMPLES as u32,
            unused: 0,
        };
        let name = "reciprocal_roots".to_owned();
        let kernel = self.kernel(current, Module::Common, name)?;
        let blocks = args.count.div_ceil(ROOT_THREADS);
        let start = pinned.start();
        // SAFETY: the pinned buffer has BYTES and the other twice as many, both aligned for any number.
        unsafe {
            std::ptr::copy_nonoverlapping(numbers.as_ptr(), start.cast(), SAMPLES);
            self.stream.upload(args.x, start, BYTES)?;
            self.busy = true;
            self.stream
                .launch(kernel, (blocks, 1), (ROOT_THREADS, 1), &args)?;
            self.stream.download(start, args.y, BYTES)?;
        }
        self.settle(current)?;
        // SAFETY: the copy that was waited for wrote so many numbers; any bits are valid.
        let roots = unsafe { std::slice::from_raw_parts(start.cast::<f32>(), SAMPLES) };
        Ok(products(&numbers, roots) / SAMPLES as f64)
    }
}
