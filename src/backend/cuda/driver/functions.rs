//! The functions of the CUDA driver that are used, looked up once, before the first call.
//!
//! cudarc finds the library and names the types. Its own functions return their codes as an
//! enumeration, of which a code that only a newer driver knows would be no value; here they are
//! numbers.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUfunction, CUmodule, CUstream, culib,
    is_culib_present,
};

macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The driver.
        #[allow(non_snake_case, reason = "the driver's own names")]
        pub struct Functions {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub $name: unsafe extern "C" fn($($argument),*) -> c_int,
            )*
        }

        impl Functions {
            fn find() -> Result<Self, String> {
                if !is_there() {
                    return Err("there is no CUDA driver (libcuda.so.1)".to_owned());
                }
                // SAFETY: loads the driver's library, which is made to be loaded; it is there, so this
                // does not panic.
                let library = unsafe { culib() };
                Ok(Self {
                    $($name: {
                        // SAFETY: the type is that of the driver's interface.
                        let found = unsafe { library.get(stringify!($name).as_bytes()) };
                        *found.map_err(|_| concat!("the CUDA driver lacks ", stringify!($name)))?
                    },)*
                })
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuGetErrorName(c_int, *mut *const c_char);
    cuDriverGetVersion(*mut c_int);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxPushCurrent_v2(CUcontext);
    cuCtxPopCurrent_v2(*mut CUcontext);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamSynchronize(CUstream);
    cuStreamDestroy_v2(CUstream);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemHostGetDevicePointer_v2(*mut CUdeviceptr, *mut c_void, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream);
    cuModuleLoadData(*mut CUmodule, *const c_void);
    cuModuleUnload(CUmodule);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuLaunchKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
        *mut *mut c_void, *mut *mut c_void
    );
}

/// Whether this machine has a driver, of use or not.
pub fn is_there() -> bool {
    // SAFETY: loads the driver's library, which is made to be loaded.
    unsafe { is_culib_present() }
}

/// The driver of this machine, or why it cannot be used.
pub fn find() -> Result<&'static Functions, &'static str> {
    static FOUND: OnceLock<Result<Functions, String>> = OnceLock::new();
    FOUND
        .get_or_init(Functions::find)
        .as_ref()
        .map_err(String::as_str)
}

/// The driver, which was found before there could be anything to call it about.
pub fn driver() -> &'static Functions {
    find().unwrap_or_else(|reason| unreachable!("{reason}"))
}

/// The driver's name for a code.
pub fn name_of(code: c_int) -> String {
    let mut name = std::ptr::null();
    // SAFETY: the driver writes the address of a text of its own, or none.
    let known = unsafe { (driver().cuGetErrorName)(code, &raw mut name) } == 0 && !name.is_null();
    match known {
        // SAFETY: a text that ends in a zero byte and stays.
        true => unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned(),
        false => format!("error {code}"),
    }
}
