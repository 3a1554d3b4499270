//! The functions of the CUDA driver that are used, looked up once, before the first call.
//!
//! The types are cudarc's. Its search for the library and its functions are not used, for two reasons. cudarc prefers
//! `libcuda.so`, which may be a toolkit's stub. And it returns codes as an enumeration, in which a code of a newer
//! driver would be an invalid value. Here codes are integers.

use libloading::Library;
use once_cell::sync::OnceCell;
use std::error::Error;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUjit_option,
    CUmodule, CUstream,
};

use super::modules::LEAST_DRIVER;

/// Names of the driver's library in the order in which they are tried: the name that drivers install; the path under
/// Windows' Linux (WSL), which containers may lack in their search path; and the name for linking, under which toolkits
/// install a stub.
const NAMES: [&str; 3] = [
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "libcuda.so",
];

macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The driver.
        #[allow(non_snake_case, reason = "the driver's own names")]
        pub struct Functions {
            /// The library, and the CUDA version that it knows.
            pub name: String,
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub $name: unsafe extern "C" fn($($argument),*) -> c_int,
            )*
        }

        impl Functions {
            fn of(library: &'static Library, name: String) -> Result<Self, String> {
                Ok(Self {
                    name,
                    $($name: {
                        // SAFETY: the type is that of the driver's interface.
                        let found = unsafe { library.get(stringify!($name)) };
                        *found.map_err(|_| concat!("it lacks ", stringify!($name)))?
                    },)*
                })
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuGetErrorName(c_int, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxGetId(CUcontext, *mut c_ulonglong);
    cuCtxPushCurrent_v2(CUcontext);
    cuCtxPopCurrent_v2(*mut CUcontext);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamQuery(CUstream);
    cuStreamDestroy_v2(CUstream);
    cuEventCreate(*mut CUevent, c_uint);
    cuEventRecord(CUevent, CUstream);
    cuEventQuery(CUevent);
    cuEventDestroy_v2(CUevent);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemHostGetDevicePointer_v2(*mut CUdeviceptr, *mut c_void, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream);
    cuModuleLoadDataEx(
        *mut CUmodule, *const c_void, c_uint, *mut CUjit_option, *mut *mut c_void
    );
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuFuncGetAttribute(*mut c_int, c_int, CUfunction);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
    cuLaunchKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
        *mut *mut c_void, *mut *mut c_void
    );
    cuLaunchCooperativeKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
        *mut *mut c_void
    );
}

/// Why no driver can be used, and whether a library was found that may be a driver.
struct NoDriver {
    reason: String,
    is_library: bool,
}

static FOUND: OnceCell<Result<Functions, NoDriver>> = OnceCell::new();

/// Whether this machine has a driver, usable or not.
pub fn is_there() -> bool {
    match FOUND.get() {
        Some(Ok(_)) => true,
        Some(Err(absence)) => absence.is_library,
        // A child that was forked while its parent was searching comes here.
        None => NAMES.iter().any(|name| open(name).is_ok()),
    }
}

/// The driver of this machine, initialized, or why it cannot be used.
pub fn find() -> Result<&'static Functions, &'static str> {
    let found = FOUND.get_or_init(|| search(&NAMES));
    found.as_ref().map_err(|absence| absence.reason.as_str())
}

/// The driver. [`find`] must have succeeded: whoever has a device, a stream or a buffer knows that.
pub fn driver() -> &'static Functions {
    find().unwrap_or_else(|reason| unreachable!("{reason}"))
}

/// The first of the libraries that is a driver and initializes.
fn search(names: &[&str]) -> Result<Functions, NoDriver> {
    let mut reasons = Vec::new();
    let mut is_library = false;
    for name in names {
        let library = match open(name) {
            Ok(library) => library,
            Err(Some(reason)) => {
                reasons.push(reason);
                continue;
            }
            Err(None) => continue,
        };
        // Never unloaded: the driver's threads may run until the process ends.
        let library = Box::leak(Box::new(library));
        match initialize(library, name) {
            Ok(functions) => return Ok(functions),
            Err(Refusal { reason, is_stub }) => {
                is_library |= !is_stub;
                reasons.push(format!("{name}: {reason}"));
            }
        }
    }
    if reasons.is_empty() {
        reasons.push(format!("there is no CUDA driver ({})", names[0]));
    }
    Err(NoDriver {
        reason: reasons.join("; "),
        is_library,
    })
}

/// The library; else why it cannot be loaded, `None` if it is absent.
fn open(name: &str) -> Result<Library, Option<String>> {
    // SAFETY: loads the driver's library, which is made to be loaded.
    unsafe { Library::new(name) }.map_err(|error| {
        let error = error
            .source()
            .map_or_else(|| error.to_string(), ToString::to_string);
        let is_absent = error.contains(name) && error.contains("No such file");
        (!is_absent).then_some(error)
    })
}

/// Why a library cannot be used, and whether it is a toolkit's stub.
struct Refusal {
    reason: String,
    is_stub: bool,
}

fn initialize(library: &'static Library, name: &str) -> Result<Functions, Refusal> {
    let refusal = |reason| Refusal {
        reason,
        is_stub: false,
    };
    // First of all, because "the driver is too old" says more than the name of a function that it lacks.
    let mut version = LEAST_DRIVER;
    // SAFETY: the type is that of the driver's interface.
    let ask =
        unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>("cuDriverGetVersion") };
    // SAFETY: writes a number.
    let known = ask.is_ok_and(|ask| unsafe { ask(&raw mut version) } == 0);
    let show = |v: c_int| format!("{}.{}", v / 1000, v % 1000 / 10);
    if known && version < LEAST_DRIVER {
        return Err(refusal(format!(
            "the driver knows CUDA {}, kirin's kernels need {}",
            show(version),
            show(LEAST_DRIVER)
        )));
    }
    let name = format!("{name}, CUDA {}", show(version));
    let functions = Functions::of(library, name).map_err(refusal)?;
    // SAFETY: takes no pointers.
    match unsafe { (functions.cuInit)(0) } {
        0 => Ok(functions),
        code => Err(Refusal {
            reason: format!("cuInit: {}", functions.describe(code)),
            is_stub: code == sys::CUresult::CUDA_ERROR_STUB_LIBRARY as c_int,
        }),
    }
}

impl Functions {
    /// The driver's name for a code, and what to do about it where that is known.
    pub fn describe(&self, code: c_int) -> String {
        let mut name = std::ptr::null();
        // SAFETY: the driver writes the address of a text of its own, or none.
        let known = unsafe { (self.cuGetErrorName)(code, &raw mut name) } == 0 && !name.is_null();
        let name = match known {
            // SAFETY: a text that ends in a zero byte and stays.
            true => unsafe { CStr::from_ptr(name) }
                .to_string_lossy()
                .into_owned(),
            false => format!("error {code}"),
        };
        match advice(code) {
            Some(advice) => format!("{name} ({advice})"),
            None => name,
        }
    }
}

/// Cause or remedy of the codes that a user can do something about.
fn advice(code: c_int) -> Option<&'static str> {
    Some(match code {
        34 => "a stub out of a CUDA toolkit, no driver",
        46 => "another process has the device for itself",
        100 => "no GPU is visible to this process",
        221 => {
            "the driver's compiler, libnvidia-ptxjitcompiler.so.1, is missing; a container gets it with \
             NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        }
        223 => "CUDA_DISABLE_PTX_JIT is set",
        222 => "the driver is older than the kernels",
        802 => "the service that connects the GPUs, nvidia-fabricmanager, is not running",
        803 => {
            "libcuda and the kernel's module are of different versions: reboot after an update of the driver"
        }
        804 => "this libcuda is for another driver, and this GPU does not allow that",
        _ => return None,
    })
}
