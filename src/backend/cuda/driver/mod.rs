//! The CUDA driver as kirin uses it: loaded at run time, every failure an error.
//!
//! [`devices`] looks for the driver first, and nothing else here is called before it has succeeded.

pub mod functions;
pub mod memory;
pub mod modules;

use once_cell::sync::OnceCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::sys;

use self::functions::driver;
use self::modules::Module;
use crate::process;
use crate::process::lock::Lock;

/// Result of a call of the driver.
pub type Result<T> = std::result::Result<T, Failure>;

/// A call of the driver that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    call: &'static str,
    code: c_int,
    /// What the driver had to say besides.
    log: String,
}

impl Failure {
    fn new(call: &'static str, code: c_int) -> Self {
        Self {
            call,
            code,
            log: String::new(),
        }
    }

    /// Whether the device does not answer: every further call might wait for it for ever.
    pub fn is_hang(&self) -> bool {
        self.code == NOT_READY
    }

    /// Whether the device is as good as before: there was not enough memory, and nothing else.
    pub fn is_harmless(&self) -> bool {
        use sys::CUresult as Code;
        // The second is that of a launch for whose threads the driver finds no stack.
        [
            Code::CUDA_ERROR_OUT_OF_MEMORY,
            Code::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        ]
        .map(|code| code as c_int)
        .contains(&self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, driver().describe(self.code))?;
        match self.log.as_str() {
            "" => Ok(()),
            log => write!(f, ": {log}"),
        }
    }
}

/// Turns the code of a call into a result.
pub(super) fn check(call: &'static str, code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(Failure::new(call, code)),
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

/// One device. Its primary context, which it shares with the client should that use CUDA too, and the
/// kernels in it stay from the first use to the end of the process: clients open and close often.
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
    /// Whether kernels that take long are ended, the device having a display.
    pub is_watched: bool,
    /// The mean of its approximate reciprocal root, times the root, once it was measured.
    pub root: OnceCell<f64>,
    /// Whether it reads and writes memory of the host.
    maps: bool,
    /// Why it did not even tell what it is.
    broken: Option<Failure>,
    device: sys::CUdevice,
    usage: Lock<Usage>,
    failed: AtomicBool,
    missed: AtomicBool,
}

/// What is held on a device.
#[derive(Default)]
struct Usage {
    users: usize,
    context: Option<Context>,
    kernels: HashMap<String, Kernel>,
    /// Time that loading them took.
    loading: Duration,
}

/// A primary context, and the number that tells it from the one that follows a reset.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Context(sys::CUcontext, u64);

// SAFETY: a context may be made current in any thread.
unsafe impl Send for Context {}

impl Context {
    fn with_number(handle: sys::CUcontext) -> Result<Self> {
        let mut number = 0;
        // SAFETY: retained, or so once; the driver checks it, and writes a number.
        let code = unsafe { (driver().cuCtxGetId)(handle, &raw mut number) };
        check("cuCtxGetId", code).map(|()| Self(handle, number))
    }

    /// Whether it is what it was: the client may reset the device while nobody here uses it.
    fn is_alive(self) -> bool {
        Self::with_number(self.0).is_ok_and(|now| now == self)
    }
}

/// Why a child of a fork has no device: no driver works in two processes at once.
pub const OF_THE_PARENT: &str = "the GPUs belong to the process that this one was forked from";

/// The devices of this machine, or why none can be used. The first call loads the driver.
pub fn devices() -> std::result::Result<&'static [Device], &'static str> {
    static DEVICES: OnceCell<std::result::Result<Vec<Device>, String>> = OnceCell::new();
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
    let count: c_int = ask!(cuDeviceGetCount())?;
    let mut devices = Vec::new();
    for ordinal in 0..count {
        devices.push(Device::new(ordinal).unwrap_or_else(|why| Device::broken(ordinal, why)));
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
            is_watched: attribute(Attribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)? != 0,
            maps: attribute(Attribute::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY)? != 0,
            root: OnceCell::new(),
            broken: None,
            device,
            usage: Lock::default(),
            failed: AtomicBool::new(false),
            missed: AtomicBool::new(false),
        })
    }

    /// A device that keeps its number among the others and can do nothing.
    fn broken(ordinal: c_int, why: Failure) -> Self {
        Self {
            ordinal: ordinal as usize,
            name: "unknown".to_owned(),
            capability: (0, 0),
            multiprocessors: 0,
            memory: 0,
            clock: 0.0,
            is_watched: false,
            maps: false,
            root: OnceCell::new(),
            broken: Some(why),
            device: 0,
            usage: Lock::default(),
            failed: AtomicBool::new(true),
            missed: AtomicBool::new(false),
        }
    }

    #[cold]
    fn tell_slow(&self, waited: Duration, patience: Patience) {
        let Patience { planned, timeout } = patience;
        let advice = match timeout {
            Some(_) => "",
            None => "; KIRIN_GPU_TIMEOUT=SECONDS would give it up",
        };
        process::log::line(format_args!(
            "device {} ({}) has been at work for {:.1} s on what was planned to take {:.3} s{advice}",
            self.ordinal,
            self.name,
            waited.as_secs_f64(),
            planned.as_secs_f64()
        ));
    }

    /// Why the device cannot be used, if it cannot.
    pub fn objection(&self) -> Option<String> {
        if let Some(why) = &self.broken {
            return Some(why.to_string());
        }
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

    /// Remembers that the device is not to be trusted any more, which the caller tells.
    pub fn mark_failed(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.missed.store(true, Ordering::Relaxed);
    }

    /// Does not use the device again; unlike after [`Device::mark_failed`] it is still to be told.
    pub fn give_up(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether nobody was told yet that others compute without the device.
    pub fn is_first_missed(&self) -> bool {
        !self.missed.swap(true, Ordering::Relaxed)
    }

    /// Takes the device into use.
    ///
    /// # Errors
    ///
    /// The device does not let us, being in somebody's exclusive use for example.
    pub fn open(&'static self) -> Result<Lease> {
        let mut usage = self.usage.lock();
        if usage.users == 0 && usage.context.is_some_and(|context| !context.is_alive()) {
            *usage = Usage::default();
            self.release();
        }
        let context = match usage.context {
            Some(context) => context,
            None => {
                let handle = ask!(cuDevicePrimaryCtxRetain(self.device))?;
                Context::with_number(handle).inspect_err(|_| self.release())?
            }
        };
        usage.context = Some(context);
        usage.users += 1;
        Ok(Lease {
            device: self,
            context,
        })
    }

    fn release(&self) {
        // SAFETY: retained by `open`, which does not use this context any more.
        unsafe { (driver().cuDevicePrimaryCtxRelease_v2)(self.device) };
    }

    /// A kernel, loaded at its first use on this device.
    ///
    /// # Errors
    ///
    /// The driver does not take it.
    pub fn kernel(&self, _: &Current<'_>, module: Module, name: &str) -> Result<Kernel> {
        let mut usage = self.usage.lock();
        if let Some(&kernel) = usage.kernels.get(name) {
            return Ok(kernel);
        }
        let begin = Instant::now();
        let text = module.kernel(name).unwrap_or_default();
        let loaded = load(&text)?;
        let symbol = CString::new(name).unwrap_or_default();
        // SAFETY: the module stays loaded; the name ends in a zero byte.
        let kernel = Kernel(ask!(cuModuleGetFunction(loaded, symbol.as_ptr()))?);
        usage.kernels.insert(name.to_owned(), kernel);
        usage.loading += begin.elapsed();
        Ok(kernel)
    }

    /// How many kernels have been loaded, and how long that took.
    pub fn loading(&self) -> (usize, Duration) {
        let usage = self.usage.lock();
        (usage.kernels.len(), usage.loading)
    }
}

/// Has the driver compile PTX.
fn load(text: &CStr) -> Result<sys::CUmodule> {
    use sys::CUjit_option_enum as Option;
    let mut log = [0u8; 1024];
    let mut options = [
        Option::CU_JIT_ERROR_LOG_BUFFER,
        Option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // The size stands in the place of an address; a byte is left for the zero at the end.
    let mut values = [
        log.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(1023),
    ];
    // SAFETY: the text ends in a zero byte, and the options have as many values.
    let loaded = ask!(cuModuleLoadDataEx(
        text.as_ptr().cast(),
        2,
        options.as_mut_ptr(),
        values.as_mut_ptr()
    ));
    loaded.map_err(|failure| {
        let said = CStr::from_bytes_until_nul(&log).unwrap_or_default();
        let said = String::from_utf8_lossy(said.to_bytes());
        let words: Vec<&str> = said.split_whitespace().collect();
        Failure {
            log: words.join(" "),
            ..failure
        }
    })
}

/// A device in use. The context outlives it.
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
        // SAFETY: the context is retained.
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
        self.device.usage.lock().users -= 1;
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

/// The answer of a stream that is at work.
const NOT_READY: c_int = sys::CUresult::CUDA_ERROR_NOT_READY as c_int;

/// How long a wait only asks; after that it sleeps a small part of what it has lasted.
const SPIN: Duration = Duration::from_millis(10);

/// What a wait may last beyond ten times its plan before somebody is told.
const SLOW: Duration = Duration::from_secs(5);

/// How long a wait is expected to last, and how much more than ten times as long it may.
#[derive(Clone, Copy)]
pub struct Patience {
    pub planned: Duration,
    pub timeout: Option<Duration>,
}

impl Patience {
    fn limit(self, beyond: Duration) -> Duration {
        self.planned.saturating_mul(10).saturating_add(beyond)
    }
}

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

    /// Waits until everything queued has been done. The thread asks again and again, as the driver would
    /// itself, but gives the processor away in long waits.
    ///
    /// # Errors
    ///
    /// Some of it failed, or is not done when there is no patience left.
    pub fn wait(&self, current: &Current<'_>, patience: Patience) -> Result<()> {
        let begin = Instant::now();
        let mut is_told = false;
        loop {
            // SAFETY: the stream lives.
            let code = unsafe { (driver().cuStreamQuery)(self.0) };
            if code != NOT_READY {
                return check("cuStreamQuery", code);
            }
            let waited = begin.elapsed();
            if patience.timeout.is_some_and(|t| waited > patience.limit(t)) {
                let mut failure = Failure::new("cuStreamQuery", code);
                failure.log = format!("no answer for {:.1} s", waited.as_secs_f64());
                return Err(failure);
            }
            if !is_told && waited > patience.limit(SLOW) {
                is_told = true;
                current.device.tell_slow(waited, patience);
            }
            match waited < SPIN {
                true => std::hint::spin_loop(),
                false => std::thread::sleep((waited / 256).min(SPIN)),
            }
        }
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
