//! A queue of work on a device, points in it, and how the host waits for both.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use cudarc::driver::sys;

use super::failure::{NOT_READY, ask, result_of};
use super::functions::driver;
use super::{Current, Device, Failure, Kernel, Result};
use crate::process;

/// How long a wait polls without pause. Later it sleeps between two polls: for 1/256 of the time waited so far, and
/// at most for this.
const SPIN: Duration = Duration::from_millis(10);

/// Where the host can see in its own memory that work is done: looks at it for each question to the driver. A look and
/// the pause after it take some 50 nanoseconds.
const LOOKS: u32 = 32;

/// Seconds beyond ten times its planned time after which a line on stderr reports a wait.
const SLOW: Duration = Duration::from_secs(5);

/// Limits of a wait. `planned` is the time that it should take. The device is given up after ten times that time plus
/// `timeout`, if there is one.
#[derive(Clone, Copy)]
pub struct WaitLimits {
    /// The time that the work should take.
    pub planned: Duration,
    /// What it may take beyond ten times that; `None`: for ever.
    pub timeout: Option<Duration>,
}

impl WaitLimits {
    fn limit(self, beyond: Duration) -> Duration {
        self.planned.saturating_mul(10).saturating_add(beyond)
    }
}

/// Reports a wait that takes much longer than planned.
#[cold]
fn tell_slow(device: &Device, waited: Duration, limits: WaitLimits) {
    let WaitLimits { planned, timeout } = limits;
    let advice = match timeout {
        Some(_) => "",
        None => "; KIRIN_GPU_TIMEOUT=SECONDS would give it up",
    };
    process::log::line(format_args!(
        "device {} ({}) has been at work for {:.1} s on what was planned to take {:.3} s{advice}",
        device.ordinal,
        device.name,
        waited.as_secs_f64(),
        planned.as_secs_f64()
    ));
}

/// Calls `query`, the driver's function `name`, until it answers that work is done. The thread polls, as the driver's own
/// wait would, but sleeps between the polls of a long wait.
fn poll(
    name: &'static str,
    query: impl Fn(Duration) -> c_int,
    current: &Current<'_>,
    limits: WaitLimits,
) -> Result<()> {
    let begin = Instant::now();
    let mut waited = Duration::ZERO;
    let mut is_told = false;
    loop {
        let code = query(waited);
        if code != NOT_READY {
            return result_of(name, code);
        }
        waited = begin.elapsed();
        let is_late = limits.timeout.is_some_and(|t| waited > limits.limit(t));
        let is_slow = !is_told && waited > limits.limit(SLOW);
        if is_late || is_slow {
            // The process may have been stopped since the driver was asked.
            let code = query(waited);
            if code != NOT_READY {
                return result_of(name, code);
            }
        }
        if is_late {
            current.device.mark_hanging();
            let log = format!("no answer for {:.1} s", waited.as_secs_f64());
            return Err(Failure::new(name, code).with_log(log));
        }
        if is_slow {
            is_told = true;
            tell_slow(current.device, waited, limits);
        }
        match waited < SPIN {
            true => std::hint::spin_loop(),
            false => std::thread::sleep((waited / 256).min(SPIN)),
        }
    }
}

/// A point in a queue, which the device passes when all that was queued before is done.
pub struct Event(sys::CUevent);

// SAFETY: an event may be used from any thread in which its context is current.
unsafe impl Send for Event {}

impl Event {
    /// An event that no queue has.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn new(_: &Current<'_>) -> Result<Self> {
        let flags = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32;
        ask!(cuEventCreate(flags)).map(Self)
    }

    /// Puts the event behind everything queued.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        // SAFETY: both live, in the same context.
        result_of("cuEventRecord", unsafe {
            (driver().cuEventRecord)(self.0, stream.0)
        })
    }

    /// Waits until the device has passed the event, as [`Stream::wait`].
    ///
    /// # Errors
    ///
    /// Part of the work failed, or it is not done within the timeout.
    pub fn wait(&self, current: &Current<'_>, limits: WaitLimits) -> Result<()> {
        // SAFETY: the event lives.
        let query = |_| unsafe { (driver().cuEventQuery)(self.0) };
        poll("cuEventQuery", query, current, limits)
    }

    /// Gives the event back. A second call does nothing.
    pub fn free(&mut self, _: &Current<'_>) {
        let event = std::mem::replace(&mut self.0, std::ptr::null_mut());
        if !event.is_null() {
            // SAFETY: the event exists, and nobody has its address any more. Nothing can be done if a lost device refuses.
            unsafe { (driver().cuEventDestroy_v2)(event) };
        }
    }
}

/// A queue of work.
pub struct Stream(sys::CUstream);

// SAFETY: a stream may be used from any thread in which its context is current.
unsafe impl Send for Stream {}

impl Stream {
    /// An empty queue, independent of the client's own work on the device.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn new(_: &Current<'_>) -> Result<Self> {
        let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        ask!(cuStreamCreate(flags)).map(Self)
    }

    /// Waits until everything queued is done.
    ///
    /// # Errors
    ///
    /// Part of the work failed, or it is not done within the timeout.
    pub fn wait(&self, current: &Current<'_>, limits: WaitLimits) -> Result<()> {
        self.wait_or(current, limits, None::<fn() -> bool>)
    }

    /// Waits until everything queued is done, or until `is_done` says that it is, if there is such a function. A look at memory
    /// takes less time than a question to the driver, so with `is_done` the driver is asked only now and then: it tells of
    /// failures.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::wait`].
    pub fn wait_or(
        &self,
        current: &Current<'_>,
        limits: WaitLimits,
        is_done: Option<impl Fn() -> bool>,
    ) -> Result<()> {
        let looks = Cell::new(0);
        let query = |waited| {
            if is_done.as_ref().is_some_and(|is_done| is_done()) {
                return 0;
            }
            let look = looks.replace((looks.get() + 1) % LOOKS);
            match look == 0 || waited >= SPIN || is_done.is_none() {
                // SAFETY: the stream lives.
                true => unsafe { (driver().cuStreamQuery)(self.0) },
                false => NOT_READY,
            }
        };
        poll("cuStreamQuery", query, current, limits)
    }

    /// Queues a copy to the device.
    ///
    /// # Safety
    ///
    /// `bytes` bytes lie within both buffers, and those of the host are not written to until the copy is done.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub unsafe fn upload(&self, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: passed on.
        let code = unsafe { (driver().cuMemcpyHtoDAsync_v2)(to, from.cast(), bytes, self.0) };
        result_of("cuMemcpyHtoDAsync", code)
    }

    /// Queues a copy from the device.
    ///
    /// # Safety
    ///
    /// As for [`Stream::upload`].
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub unsafe fn download(&self, to: *mut u8, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: passed on.
        let code = unsafe { (driver().cuMemcpyDtoHAsync_v2)(to.cast(), from, bytes, self.0) };
        result_of("cuMemcpyDtoHAsync", code)
    }

    /// Queues a kernel with thread blocks of `block` threads on a grid of `grid`.
    ///
    /// # Safety
    ///
    /// `args` is what the kernel takes, and what it points to is there until the kernel is done.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub unsafe fn launch<A>(
        &self,
        kernel: Kernel,
        grid: (u32, u32),
        block: (u32, u32),
        args: &A,
    ) -> Result<()> {
        let mut parameters = [std::ptr::from_ref(args).cast_mut().cast::<c_void>()];
        // SAFETY: one parameter; the rest is passed on.
        unsafe { self.launch_with(kernel, grid, block, &mut parameters) }
    }

    /// As [`Stream::launch`], for a kernel with several parameters.
    ///
    /// # Safety
    ///
    /// `parameters` has the address of each parameter that the kernel takes; the call copies them. What they point to is there
    /// until the kernel is done.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub unsafe fn launch_with(
        &self,
        kernel: Kernel,
        grid: (u32, u32),
        block: (u32, u32),
        parameters: &mut [*mut c_void],
    ) -> Result<()> {
        // SAFETY: passed on.
        let code = unsafe {
            (driver().cuLaunchKernel)(
                kernel.0,
                grid.0,
                grid.1,
                1,
                block.0,
                block.1,
                1,
                0,
                self.0,
                parameters.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        result_of("cuLaunchKernel", code)
    }

    /// As [`Stream::launch_with`], for a kernel whose thread blocks wait for each other: the device runs all of them at a time, or
    /// refuses.
    ///
    /// # Safety
    ///
    /// As for [`Stream::launch_with`].
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub unsafe fn launch_cooperative(
        &self,
        kernel: Kernel,
        grid: (u32, u32),
        block: (u32, u32),
        parameters: &mut [*mut c_void],
    ) -> Result<()> {
        // SAFETY: passed on.
        let code = unsafe {
            (driver().cuLaunchCooperativeKernel)(
                kernel.0,
                grid.0,
                grid.1,
                1,
                block.0,
                block.1,
                1,
                0,
                self.0,
                parameters.as_mut_ptr(),
            )
        };
        result_of("cuLaunchCooperativeKernel", code)
    }

    /// Queues a fill with zeros.
    ///
    /// # Safety
    ///
    /// `bytes` bytes lie within the buffer.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub unsafe fn clear(&self, to: u64, bytes: usize) -> Result<()> {
        // SAFETY: passed on.
        let code = unsafe { (driver().cuMemsetD8Async)(to, 0, bytes, self.0) };
        result_of("cuMemsetD8Async", code)
    }

    /// Gives the queue back. A second call does nothing.
    pub fn free(&mut self, _: &Current<'_>) {
        let stream = std::mem::replace(&mut self.0, std::ptr::null_mut());
        if !stream.is_null() {
            // SAFETY: the stream exists, and nobody has its address any more. Nothing can be done if a lost device refuses.
            unsafe { (driver().cuStreamDestroy_v2)(stream) };
        }
    }
}
