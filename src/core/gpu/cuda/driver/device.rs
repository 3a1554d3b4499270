//! One device: its properties, whether it can be used, and the resources held on it.

use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::sys;
use once_cell::sync::OnceCell;

use super::context::Context;
use super::failure::{ask, result_of};
use super::functions::driver;
use super::modules;
use super::{Current, Failure, Kernel, Result, RetainedContext};
use crate::gpu::plan::Module;
use crate::process::lock::Lock;

/// One device. From its first use to the end of the process we keep its primary context and the kernels loaded
/// into it, because clients open and close often. A client that uses CUDA itself shares that context.
pub struct Device {
    /// Its number in the driver's list, by which users name it.
    pub ordinal: usize,
    /// The driver's name for it.
    pub name: String,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Streaming multiprocessors.
    pub multiprocessors: usize,
    /// Bytes of memory.
    pub memory: usize,
    /// Greatest clock rate, GHz.
    pub clock: f64,
    /// Whether the driver ends long kernels, because the device has a display.
    pub is_watched: bool,
    /// Mean of `rsqrt(x) * sqrt(x)` over its approximate reciprocal square roots, once measured.
    pub root: OnceCell<f64>,
    /// Whether kernels can read and write pinned host memory.
    pub(super) maps: bool,
    /// Why its properties could not be read.
    broken: Option<Failure>,
    device: sys::CUdevice,
    usage: Lock<Usage>,
    failed: AtomicBool,
    missed: AtomicBool,
    hangs: AtomicBool,
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

impl Device {
    /// The device with this number, its properties read from the driver.
    ///
    /// # Errors
    ///
    /// The driver does not tell them.
    pub(super) fn new(ordinal: c_int) -> Result<Self> {
        use sys::CUdevice_attribute_enum as Attribute;
        let device: sys::CUdevice = ask!(cuDeviceGet(ordinal))?;
        let attribute = |which| attribute(device, which);
        let mut name = [0u8; 128];
        // SAFETY: the array has the length given.
        let code = unsafe { (driver().cuDeviceGetName)(name.as_mut_ptr().cast(), 128, device) };
        result_of("cuDeviceGetName", code)?;
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
            hangs: AtomicBool::new(false),
        })
    }

    /// A device whose properties cannot be read: it keeps its number, and is never used.
    pub(super) fn broken(ordinal: c_int, why: Failure) -> Self {
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
            hangs: AtomicBool::new(false),
        }
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

    /// Whether the device can run all thread blocks of a kernel at a time, so that they may wait for each other.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn cooperates(&self) -> Result<bool> {
        let which = sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
        Ok(attribute(self.device, which)? != 0)
    }

    /// Bars the device from further use. The caller reports the loss.
    pub fn mark_failed(&self) {
        self.failed.store(true, Ordering::Relaxed);
        self.missed.store(true, Ordering::Relaxed);
    }

    /// Bars the device from further use, as [`Device::mark_failed`], with the loss still to be reported.
    pub fn give_up(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Notes that the device did not answer in time. Nobody calls the driver for it any more: even freeing memory waits for all that the device
    /// is at.
    pub(super) fn mark_hanging(&self) {
        self.hangs.store(true, Ordering::Relaxed);
    }

    /// Whether the device did not answer in time, to whomever of this process.
    pub fn hangs(&self) -> bool {
        self.hangs.load(Ordering::Relaxed)
    }

    /// Whether the loss of the device is still to be reported; `false` from the second call on.
    pub fn is_first_missed(&self) -> bool {
        !self.missed.swap(true, Ordering::Relaxed)
    }

    /// Takes the device into use.
    ///
    /// # Errors
    ///
    /// The driver refuses, for instance because another process has the device for itself.
    pub fn open(&'static self) -> Result<RetainedContext> {
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
        Ok(RetainedContext::new(self, context))
    }

    fn release(&self) {
        // SAFETY: `open` retained the context once, and nobody here uses it any more.
        unsafe { (driver().cuDevicePrimaryCtxRelease_v2)(self.device) };
    }

    /// Ends a use that [`Device::open`] began.
    pub(super) fn leave(&self) {
        self.usage.lock().users -= 1;
    }

    /// A kernel, loaded at its first use on this device.
    ///
    /// # Errors
    ///
    /// The driver cannot compile or load it.
    pub fn kernel(&self, current: &Current<'_>, module: Module, name: &str) -> Result<Kernel> {
        let mut usage = self.usage.lock();
        if let Some(&kernel) = usage.kernels.get(name) {
            return Ok(kernel);
        }
        let begin = Instant::now();
        let text = module.kernel(name).unwrap_or_default();
        let symbol = CString::new(name).unwrap_or_default();
        let kernel = modules::Loaded::new(current, &text)?.kernel(&symbol)?;
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

fn attribute(device: sys::CUdevice, which: sys::CUdevice_attribute) -> Result<c_int> {
    ask!(cuDeviceGetAttribute(which, device))
}
