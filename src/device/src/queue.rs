//! A device with a queue of work, its modules and kernels.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_void};
use std::rc::Rc;
use std::time::Duration;

use kirin_core::gpu::cuda::driver::modules::Loaded;
use kirin_core::gpu::cuda::driver::{self, Current, Device, RetainedContext, Stream, WaitLimits};
use kirin_core::gpu::cuda::{Absence, wanted};
use kirin_core::process::settings::settings;

use crate::argument::{Argument, Plain};
use crate::arrays::{Array, Pinned};
use crate::failure::{Failure, Result};

/// What queued work should take at most, beside what [`Gpu::plan`] adds.
const PLANNED: Duration = Duration::from_millis(100);

/// A device with a queue of work. It belongs to one thread, and not to a child of a fork. Who wants two queues opens it twice.
pub struct Gpu(pub(crate) Rc<Queue>);

/// The queue, which stays while there are arrays of it.
pub(crate) struct Queue {
    context: RetainedContext,
    device: &'static Device,
    stream: Stream,
    /// Work queued so far, and how much of it was done when the host waited last.
    queued: Cell<u64>,
    done: Cell<u64>,
    /// How long the work that nobody has waited for should take.
    planned: Cell<Duration>,
    /// Whether the device does not answer, so that a further call might not return.
    is_lost: Cell<bool>,
}

/// One of the driver's launches of a kernel: [`Stream::launch_with`] or [`Stream::launch_cooperative`].
type Launch = unsafe fn(
    &Stream,
    driver::Kernel,
    (u32, u32),
    (u32, u32),
    &mut [*mut c_void],
) -> driver::Result<()>;

impl Gpu {
    /// The first device that `KIRIN_DEVICES` names and that can be used. Without that setting ranks of an MPI program on one
    /// machine take its devices in turn, as in the library.
    ///
    /// # Errors
    ///
    /// There is no driver, or no device that can be used.
    pub fn open() -> Result<Self> {
        let devices = wanted(settings()).map_err(|absence| match absence {
            Absence::OnMachine(why) | Absence::InProcess(why) => Failure::new(why),
        })?;
        let mut reasons = Vec::new();
        for device in devices {
            match Self::on(device) {
                Ok(gpu) => return Ok(gpu),
                Err(why) => {
                    let (number, name) = (device.ordinal, &device.name);
                    reasons.push(format!("device {number} ({name}): {why}"));
                }
            }
        }
        match reasons.is_empty() {
            true => Err(Failure::new("there is no device")),
            false => Err(Failure::new(reasons.join("; "))),
        }
    }

    fn on(device: &'static Device) -> Result<Self> {
        if let Some(objection) = device.objection() {
            return Err(Failure::new(objection));
        }
        let context = device.open()?;
        let stream = Stream::new(&context.enter()?)?;
        Ok(Self(Rc::new(Queue {
            context,
            device,
            stream,
            queued: Cell::new(0),
            done: Cell::new(0),
            planned: Cell::new(PLANNED),
            is_lost: Cell::new(false),
        })))
    }

    /// Its number in the driver's list, and its name.
    pub fn device(&self) -> (usize, &str) {
        (self.0.device.ordinal, &self.0.device.name)
    }

    /// Loads PTX. Each call loads the module anew, and it stays on the device until the process ends.
    ///
    /// # Errors
    ///
    /// The driver cannot compile it; with the compiler's words.
    pub fn module(&self, ptx: &CStr) -> Result<Module> {
        let loaded = Loaded::new(&self.0.enter()?, ptx)?;
        Ok(Module {
            loaded,
            queue: Rc::clone(&self.0),
        })
    }

    /// An array of zeros on the device.
    ///
    /// # Errors
    ///
    /// The device has no room for it.
    pub fn zeros<T: Plain>(&self, length: usize) -> Result<Array<T>> {
        Array::zeros(&self.0, length)
    }

    /// An array on the device that holds `values`.
    ///
    /// # Errors
    ///
    /// The device has no room for it.
    pub fn array<T: Plain>(&self, values: &[T]) -> Result<Array<T>> {
        let array = Array::zeros(&self.0, values.len())?;
        array.copy_from(values)?;
        Ok(array)
    }

    /// An array of zeros in pinned memory of the host.
    ///
    /// # Errors
    ///
    /// There is no room for it.
    pub fn pinned<T: Plain>(&self, length: usize) -> Result<Pinned<T>> {
        Pinned::zeros(&self.0, length)
    }

    /// Says that what is queued next takes so long, where that is more than a tenth of a second. The next wait gives the
    /// device up after ten times what was planned and `KIRIN_GPU_TIMEOUT`.
    pub fn plan(&self, time: Duration) {
        let planned = self.0.planned.get().saturating_add(time);
        self.0.planned.set(planned);
    }

    /// Queues a kernel: so many thread blocks of so many threads. No device takes more than 1024 threads, and some kernels take
    /// fewer. No blocks are no work.
    ///
    /// # Safety
    ///
    /// The kernel takes as many arguments, and of these types. Arrays belong to this `Gpu`, and the kernel keeps within them.
    ///
    /// # Errors
    ///
    /// The kernel belongs to another `Gpu`, or there are no threads or too many; the driver refuses.
    pub unsafe fn launch(
        &self,
        kernel: &Kernel,
        blocks: usize,
        threads: usize,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        self.check_threads(kernel, threads)?;
        // SAFETY: passed on.
        unsafe { self.queue_kernel(Stream::launch_with, kernel, blocks, threads, arguments) }
    }

    /// Queues a kernel whose thread blocks may wait for each other, because the device runs all of them at a time. There are
    /// at most [`Gpu::resident_blocks`] of them.
    ///
    /// # Safety
    ///
    /// As for [`Gpu::launch`].
    ///
    /// # Errors
    ///
    /// As for [`Gpu::launch`] and [`Gpu::resident_blocks`]; there are too many thread blocks.
    pub unsafe fn launch_cooperative(
        &self,
        kernel: &Kernel,
        blocks: usize,
        threads: usize,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        let resident = self.resident_blocks(kernel, threads)?;
        // The driver's refusal would bar the device.
        if blocks > resident {
            return Err(Failure::new(format!(
                "{blocks} thread blocks of {threads} threads are to wait for each other; the device holds {resident} at a time"
            )));
        }
        let launch = Stream::launch_cooperative;
        // SAFETY: passed on.
        unsafe { self.queue_kernel(launch, kernel, blocks, threads, arguments) }
    }

    /// Queues a kernel, of which the rest is checked, by one of the driver's launches.
    ///
    /// # Safety
    ///
    /// As for [`Gpu::launch`].
    unsafe fn queue_kernel(
        &self,
        launch: Launch,
        kernel: &Kernel,
        blocks: usize,
        threads: usize,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        if blocks == 0 {
            return Ok(());
        }
        let (grid, block) = ((size(blocks)?, 1), (size(threads)?, 1));
        let mut addresses: Vec<*mut c_void> = arguments.iter().map(|a| a.address()).collect();
        self.0.queue(|stream| {
            // SAFETY: the addresses are those of the arguments; the rest is the caller's promise. Arrays wait for the queue before
            // they give their memory back.
            unsafe { launch(stream, kernel.kernel, grid, block, &mut addresses) }
        })
    }

    /// Thread blocks of so many threads that the device holds at a time, as many as [`Gpu::launch_cooperative`] takes. There is
    /// one at least.
    ///
    /// # Errors
    ///
    /// The device cannot run all thread blocks of a kernel at a time, or has no room for one; and as for [`Gpu::launch`].
    pub fn resident_blocks(&self, kernel: &Kernel, threads: usize) -> Result<usize> {
        self.check_threads(kernel, threads)?;
        let device = self.0.device;
        let _current = self.0.enter()?;
        if !self.0.seen(device.cooperates())? {
            return Err(Failure::new(format!(
                "device {} ({}) has no cooperative launches: thread blocks cannot wait for each other",
                device.ordinal, device.name
            )));
        }
        let threads_asked = size(threads)?.cast_signed();
        let of_one = self.0.seen(kernel.kernel.resident_blocks(threads_asked))?;
        match of_one * device.multiprocessors {
            0 => Err(Failure::new(format!(
                "the device has no room for a thread block of {threads} threads of this kernel"
            ))),
            resident => Ok(resident),
        }
    }

    fn check_threads(&self, kernel: &Kernel, threads: usize) -> Result<()> {
        if !Rc::ptr_eq(&self.0, &kernel.queue) {
            return Err(Failure::new("a kernel of another queue"));
        }
        // The driver's refusal would bar the device.
        if !(1..=kernel.most_threads).contains(&threads) {
            let most = kernel.most_threads;
            return Err(Failure::new(format!(
                "a thread block of {threads} threads; the kernel takes 1 to {most}"
            )));
        }
        Ok(())
    }

    /// Waits until everything queued is done.
    ///
    /// # Errors
    ///
    /// Some of it failed, or the device does not answer within `KIRIN_GPU_TIMEOUT`.
    pub fn wait(&self) -> Result<()> {
        self.0.wait()
    }
}

impl Queue {
    /// Makes the device's context current.
    pub(crate) fn enter(&self) -> Result<Current<'static>> {
        match self.is_lost.get() {
            true => Err(Failure::new("the device does not answer")),
            false => Ok(self.context.enter()?),
        }
    }

    /// Queues an operation.
    pub(crate) fn queue(
        &self,
        operation: impl FnOnce(&Stream) -> driver::Result<()>,
    ) -> Result<()> {
        let _current = self.enter()?;
        self.queued.set(self.queued.get() + 1);
        self.seen(operation(&self.stream))
    }

    /// Waits for what is queued, and then copies these bytes at once. The driver copies memory that is not pinned while it is
    /// called, so that a call behind a kernel that never ends would not return; and the host must not go on before the
    /// device has stopped using the memory, so this wait has no limit.
    pub(crate) fn copy_now(
        &self,
        bytes: usize,
        copy: impl FnOnce(&Stream) -> driver::Result<()>,
    ) -> Result<()> {
        self.wait()?;
        match bytes {
            0 => Ok(()),
            _ => self.queue(copy).and_then(|()| self.wait_at_most(None)),
        }
    }

    /// A result of the driver. A device that failed is barred from further use in this process, as by the library.
    fn seen<T>(&self, result: driver::Result<T>) -> Result<T> {
        if let Err(why) = &result
            && !why.is_harmless()
        {
            self.is_lost.set(why.is_hang());
            self.device.mark_failed();
        }
        Ok(result?)
    }

    /// The number of operations queued so far.
    pub(crate) fn position(&self) -> u64 {
        self.queued.get()
    }

    /// Waits until the operations up to this number are done.
    pub(crate) fn wait_for(&self, position: u64) -> Result<()> {
        match self.done.get() < position {
            true => self.wait(),
            false => Ok(()),
        }
    }

    pub(crate) fn wait(&self) -> Result<()> {
        let timeout = settings().gpu_timeout;
        self.wait_at_most(timeout.map(|s| Duration::from_secs(s.into())))
    }

    fn wait_at_most(&self, timeout: Option<Duration>) -> Result<()> {
        let current = self.enter()?;
        let planned = self.planned.replace(PLANNED);
        self.seen(self.stream.wait(&current, WaitLimits { planned, timeout }))?;
        self.done.set(self.queued.get());
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // On a device that does not answer even this might not return.
        if let Ok(current) = self.enter() {
            self.stream.free(&current);
        }
    }
}

/// The number of thread blocks, or of their threads, as the driver takes it.
fn size(n: usize) -> Result<u32> {
    i32::try_from(n)
        .map(i32::cast_unsigned)
        .map_err(|e| Failure::new(format!("{n}: {e}")))
}

/// A module of kernels on a device.
pub struct Module {
    loaded: Loaded,
    queue: Rc<Queue>,
}

impl Module {
    /// The kernel of this name.
    ///
    /// # Errors
    ///
    /// The module has none.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let symbol = CString::new(name).map_err(|e| Failure::new(format!("{name}: {e}")))?;
        let _current = self.queue.enter()?;
        let kernel = self.loaded.kernel(&symbol);
        let kernel = kernel.map_err(|why| Failure::new(format!("{name}: {why}")))?;
        Ok(Kernel {
            kernel,
            most_threads: kernel.most_threads()?,
            queue: Rc::clone(&self.queue),
        })
    }
}

/// A kernel.
pub struct Kernel {
    kernel: driver::Kernel,
    most_threads: usize,
    queue: Rc<Queue>,
}
