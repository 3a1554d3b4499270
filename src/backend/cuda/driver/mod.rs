//! The CUDA driver as kirin uses it: loaded at run time, every failure an error.
//!
//! [`devices`] looks for the driver first, and nothing else here is called before it has succeeded.

pub mod functions;
pub mod memory;
pub mod modules;

use std::ffi::{CString, c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cudarc::driver::sys;

use self::functions::driver;
use self::modules::Module;
use crate::process;
use crate::process::lock::Lock;

/// Result of a call of the driver.
pub type Result<T> = std::result::Result<T, Failure>;

/// A call of the driver that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    call: &'static str,
    code: c_int,
}

impl Failure {
    /// Whether the device is as good as before: there was not enough memory, and nothing else.
    pub fn is_harmless(&self) -> bool {
        self.code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY as c_int
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, functions::name_of(self.code))
    }
}

/// Turns the code of a call into a result.
pub(super) fn check(call: &'static str, code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(Failure { call, code }),
    }
}

/// Calls a function of the driver that returns something through its first argument.
macro_rules! ask {
    ($call:ident($($argument:expr),*)) => {{
        let mut answer = std::mem::MaybeUninit::zeroed();
        // SAFETY: the function was found in the driver; its first argument points to a place
        // for the answer, and the others are as the caller's own safety comment says.
        let code = unsafe { (driver().$call)(answer.as_mut_ptr(), $($argument),*) };
        // SAFETY: written by the call, and all zero, which is valid for numbers and pointers, if not.
        check(stringify!($call), code).map(|()| unsafe { answer.assume_init() })
    }};
}
pub(super) use ask;

/// One device. Its primary context is retained while it is in use, and shared with the client
/// should that use CUDA too.
pub struct Device {
    /// The number by which users name it.
    pub ordinal: usize,
    /// What it calls itself.
    pub name: String,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Streaming multiprocessors.
    pub multiprocessors: usize,
    /// Bytes of memory.
    pub memory: usize,
    /// Most of its clock, in GHz.
    pub clock: f64,
    /// Whether it reads and writes memory of the host.
    maps: bool,
    device: sys::CUdevice,
    usage: Lock<Usage>,
    failed: AtomicBool,
}

/// What is held on a device while somebody uses it.
#[derive(Default)]
struct Usage {
    users: usize,
    context: Option<Context>,
    modules: Vec<(Module, Loaded)>,
}

#[derive(Clone, Copy)]
struct Context(sys::CUcontext);

// SAFETY: a context may be made current in any thread.
unsafe impl Send for Context {}

#[derive(Clone, Copy)]
struct Loaded(sys::CUmodule);

// SAFETY: modules belong to the context, not to a thread.
unsafe impl Send for Loaded {}

/// Why a child of a fork has no device: no driver works in two processes at once.
pub const OF_THE_PARENT: &str = "the GPUs belong to the process that this one was forked from";

/// The devices of this machine, or why none can be used. The first call loads the driver.
pub fn devices() -> std::result::Result<&'static [Device], &'static str> {
    static DEVICES: OnceLock<std::result::Result<Vec<Device>, String>> = OnceLock::new();
    /// One more than the generation of the process that looked first.
    static USER: AtomicU32 = AtomicU32::new(0);
    let me = process::generation() + 1;
    let known = match USER.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Err(user) if user != me => match DEVICES.get() {
            Some(Err(reason)) => return Err(reason),
            // Also where the parent was about to look, which it will never have done here.
            _ => return Err(OF_THE_PARENT),
        },
        _ => DEVICES.get_or_init(probe),
    };
    match known {
        Ok(devices) => Ok(devices),
        Err(reason) => Err(reason),
    }
}

fn probe() -> std::result::Result<Vec<Device>, String> {
    functions::find()?;
    list().map_err(|failure| format!("the CUDA driver refuses: {failure}"))?
}

fn list() -> Result<std::result::Result<Vec<Device>, String>> {
    // SAFETY: takes no pointers.
    check("cuInit", unsafe { (driver().cuInit)(0) })?;
    let version: c_int = ask!(cuDriverGetVersion())?;
    if version < modules::LEAST_DRIVER {
        let show = |v: c_int| format!("{}.{}", v / 1000, v % 1000 / 10);
        return Ok(Err(format!(
            "the driver knows CUDA {}, kirin's kernels need {}",
            show(version),
            show(modules::LEAST_DRIVER)
        )));
    }
    let count: c_int = ask!(cuDeviceGetCount())?;
    let mut devices = Vec::new();
    for ordinal in 0..count {
        devices.push(Device::new(ordinal)?);
    }
    if devices.is_empty() {
        return Ok(Err("the CUDA driver finds no device".to_owned()));
    }
    Ok(Ok(devices))
}

impl Device {
    fn new(ordinal: c_int) -> Result<Self> {
        use sys::CUdevice_attribute_enum as Attribute;
        let device: sys::CUdevice = ask!(cuDeviceGet(ordinal))?;
        let attribute = |which| -> Result<c_int> { ask!(cuDeviceGetAttribute(which, device)) };
        let mut name = [0u8; 128];
        // SAFETY: the array has the length given.
        let code = unsafe { (driver().cuDeviceGetName)(name.as_mut_ptr().cast(), 128, device) };
        check("cuDeviceGetName", code)?;
        let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
        Ok(Self {
            ordinal: ordinal as usize,
            name: String::from_utf8_lossy(&name[..end]).into_owned(),
            capability: (
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1)
                as usize,
            memory: ask!(cuDeviceTotalMem_v2(device))?,
            clock: f64::from(attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?) * 1e-6,
            maps: attribute(Attribute::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY)? != 0,
            device,
            usage: Lock::default(),
            failed: AtomicBool::new(false),
        })
    }

    /// Why the device cannot be used, if it cannot.
    pub fn objection(&self) -> Option<String> {
        if self.capability < modules::LEAST_CAPABILITY {
            let (major, minor) = self.capability;
            return Some(format!(
                "its compute capability {major}.{minor} is below 6.0"
            ));
        }
        self.failed
            .load(Ordering::Relaxed)
            .then(|| "it failed before".to_owned())
    }

    /// Remembers that the device is not to be trusted any more.
    pub fn mark_failed(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Takes the device into use.
    ///
    /// # Errors
    ///
    /// The device does not let us, being in somebody's exclusive use for example.
    pub fn open(&'static self) -> Result<Lease> {
        let mut usage = self.usage.lock();
        let context = match usage.context {
            Some(context) => context,
            None => Context(ask!(cuDevicePrimaryCtxRetain(self.device))?),
        };
        usage.context = Some(context);
        usage.users += 1;
        Ok(Lease {
            device: self,
            context,
        })
    }

    /// A kernel, its module loaded at the first use of any of its kernels.
    ///
    /// # Errors
    ///
    /// The driver does not accept the module.
    pub fn kernel(&self, _: &Current<'_>, module: Module, name: &str) -> Result<Kernel> {
        let modules = &mut self.usage.lock().modules;
        let loaded = match modules.iter().find(|(m, _)| *m == module) {
            Some(&(_, Loaded(handle))) => handle,
            None => {
                // SAFETY: the text ends in a zero byte.
                let handle = ask!(cuModuleLoadData(module.text().as_ptr().cast()))?;
                modules.push((module, Loaded(handle)));
                handle
            }
        };
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the module stays loaded while the context is current; the name ends in a zero byte.
        let handle = ask!(cuModuleGetFunction(loaded, name.as_ptr()))?;
        Ok(Kernel(handle))
    }
}

/// A device in use. When the last one goes, nothing of ours is left on the device.
pub struct Lease {
    device: &'static Device,
    context: Context,
}

impl Lease {
    /// Makes the device's context current in this thread for the life of the result, which is not to
    /// outlive the lease.
    ///
    /// # Errors
    ///
    /// The device is lost.
    pub fn enter(&self) -> Result<Current<'static>> {
        // SAFETY: the context is retained as long as the lease lives.
        check("cuCtxPushCurrent", unsafe {
            (driver().cuCtxPushCurrent_v2)(self.context.0)
        })?;
        Ok(Current {
            device: self.device,
            of_this_thread: PhantomData,
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut usage = self.device.usage.lock();
        usage.users -= 1;
        if usage.users > 0 {
            return;
        }
        let Usage { modules, .. } = std::mem::take(&mut *usage);
        if let Ok(_current) = self.enter() {
            for (_, Loaded(handle)) in modules {
                // SAFETY: loaded, and its kernels are not used any more.
                unsafe { (driver().cuModuleUnload)(handle) };
            }
        }
        // SAFETY: retained by `open`. A lost device refuses; so be it.
        unsafe { (driver().cuDevicePrimaryCtxRelease_v2)(self.device.device) };
    }
}

/// Proof that a context is current in this thread.
pub struct Current<'a> {
    device: &'a Device,
    of_this_thread: PhantomData<*const ()>,
}

impl Current<'_> {
    /// Whether kernels can use memory of the host.
    pub fn maps(&self) -> bool {
        self.device.maps
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut before = std::ptr::null_mut();
        // SAFETY: pops what `enter` pushed. A failure leaves nothing to be done.
        unsafe { (driver().cuCtxPopCurrent_v2)(&raw mut before) };
    }
}

/// A kernel of a loaded module.
#[derive(Clone, Copy)]
pub struct Kernel(sys::CUfunction);

// SAFETY: functions belong to the context, not to a thread.
unsafe impl Send for Kernel {}

/// A queue of work.
pub struct Stream(sys::CUstream);

// SAFETY: a stream may be used from any thread in which its context is current.
unsafe impl Send for Stream {}

impl Stream {
    /// An empty queue that does not wait for the client's own work on the device.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn new(_: &Current<'_>) -> Result<Self> {
        let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        ask!(cuStreamCreate(flags)).map(Self)
    }

    /// Waits until everything queued has been done.
    ///
    /// # Errors
    ///
    /// Some of it failed.
    pub fn wait(&self, _: &Current<'_>) -> Result<()> {
        // SAFETY: the stream lives.
        check("cuStreamSynchronize", unsafe {
            (driver().cuStreamSynchronize)(self.0)
        })
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
        check("cuMemcpyHtoDAsync", code)
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
        check("cuMemcpyDtoHAsync", code)
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
        // SAFETY: one parameter, copied by the call; the rest is passed on.
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
        check("cuLaunchKernel", code)
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
        check("cuMemsetD8Async", code)
    }

    /// Gives the queue back.
    pub fn free(&mut self, _: &Current<'_>) {
        // SAFETY: the stream lives and is not used again. A lost device refuses; so be it.
        unsafe { (driver().cuStreamDestroy_v2)(self.0) };
    }
}
