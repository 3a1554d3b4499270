//! The first GPU of this machine, used as in CUDA's introductory programs: arrays are copied there and back, and
//! kernels run one after the other.

use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;

use cudarc::driver::{result, sys};

/// A result, or why the driver refused.
pub type Result<T> = std::result::Result<T, String>;

/// Why CUDA's call did not do what it should.
fn failed(call: &str) -> impl Fn(result::DriverError) -> String {
    move |e| format!("{call}: {:?}", e.0)
}

/// A device with a module of kernels loaded.
pub struct Gpu {
    device: sys::CUdevice,
    module: sys::CUmodule,
}

impl Gpu {
    /// The first device, with the kernels of this PTX.
    ///
    /// # Errors
    ///
    /// There is no driver or no device, or it does not take the module; in words.
    pub fn open(ptx: &CStr) -> Result<Self> {
        // SAFETY: looks for the driver's library, which is made to be loaded.
        if !unsafe { sys::is_culib_present() } {
            return Err("there is no CUDA driver (libcuda.so.1)".to_owned());
        }
        result::init().map_err(failed("cuInit"))?;
        let device = result::device::get(0).map_err(failed("cuDeviceGet"))?;
        // SAFETY: the device was just found.
        let context = unsafe { result::primary_ctx::retain(device) };
        let context = context.map_err(failed("cuDevicePrimaryCtxRetain"))?;
        let mut gpu = Self {
            device,
            module: std::ptr::null_mut(),
        };
        // SAFETY: the context is retained until `gpu` is dropped; the text ends in a zero byte.
        unsafe {
            result::ctx::set_current(context).map_err(failed("cuCtxSetCurrent"))?;
            gpu.module = result::module::load_data(ptx.as_ptr().cast())
                .map_err(failed("cuModuleLoadData"))?;
        }
        Ok(gpu)
    }

    /// An array on the device that holds what `values` does.
    ///
    /// # Errors
    ///
    /// The device has no room for it.
    pub fn array<T: Pod>(&self, values: &[T]) -> Result<Array<'_, T>> {
        let array = self.room(values.len())?;
        // SAFETY: the array is as long as the values.
        unsafe { result::memcpy_htod_sync(array.at, values) }.map_err(failed("cuMemcpyHtoD"))?;
        Ok(array)
    }

    /// An array of this length on the device, holding anything.
    ///
    /// # Errors
    ///
    /// The device has no room for it.
    pub fn room<T: Pod>(&self, length: usize) -> Result<Array<'_, T>> {
        // The driver knows no empty arrays.
        let bytes = length.max(1) * size_of::<T>();
        // SAFETY: `open` made the device's context current.
        let at = unsafe { result::malloc_sync(bytes) }.map_err(failed("cuMemAlloc"))?;
        Ok(Array {
            at,
            length,
            of: PhantomData,
        })
    }

    /// `kernel<<<blocks, threads>>>(arguments)`: behind what was launched before, and not waited for.
    ///
    /// # Safety
    ///
    /// The kernel takes such arguments, and keeps within the arrays.
    ///
    /// # Errors
    ///
    /// There is no such kernel, or no such launch.
    pub unsafe fn launch(
        &self,
        kernel: &str,
        blocks: usize,
        threads: usize,
        arguments: &[&dyn KernelArgument],
    ) -> Result<()> {
        let name = CString::new(kernel).map_err(|e| e.to_string())?;
        let dimension = |n: usize| u32::try_from(n).map_err(|e| format!("{kernel}: {e}"));
        let (grid, block) = ((dimension(blocks)?, 1, 1), (dimension(threads)?, 1, 1));
        let mut addresses: Vec<*mut c_void> = arguments.iter().map(|a| a.address()).collect();
        // SAFETY: the module is loaded; the addresses are those of the arguments, which the call copies. The rest is the
        // caller's promise.
        unsafe {
            let function = result::module::get_function(self.module, name)
                .map_err(failed("cuModuleGetFunction"))?;
            let stream = result::stream::null();
            result::launch_kernel(function, grid, block, 0, stream, &mut addresses)
                .map_err(failed("cuLaunchKernel"))
        }
    }

    /// `cudaDeviceSynchronize`: waits for all kernels.
    ///
    /// # Errors
    ///
    /// One of them failed.
    pub fn synchronize(&self) -> Result<()> {
        result::ctx::synchronize().map_err(failed("cuCtxSynchronize"))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: `open` loaded the module, if it is there, and retained the context. No array outlives the borrow of this.
        unsafe {
            if !self.module.is_null() {
                let _ = result::module::unload(self.module);
            }
            let _ = result::primary_ctx::release(self.device);
        }
    }
}

/// An array in the memory of the device.
pub struct Array<'g, T> {
    at: sys::CUdeviceptr,
    length: usize,
    of: PhantomData<(&'g Gpu, T)>,
}

impl<T: Pod> Array<'_, T> {
    /// Copies it to `values`, which is as long, when all kernels are done.
    ///
    /// # Errors
    ///
    /// A kernel failed.
    ///
    /// # Panics
    ///
    /// `values` has another length.
    pub fn copy_to(&self, values: &mut [T]) -> Result<()> {
        assert_eq!(values.len(), self.length, "a place for every element");
        // SAFETY: the array is as long as the values, and any bytes are such.
        unsafe { result::memcpy_dtoh_sync(values, self.at) }.map_err(failed("cuMemcpyDtoH"))
    }
}

impl<T> Drop for Array<'_, T> {
    fn drop(&mut self) {
        // SAFETY: allocated by `room`, and used by nobody after this: the driver waits for kernels.
        let _ = unsafe { result::free_sync(self.at) };
    }
}

/// What arrays consist of: every pattern of bytes is one, on the device as here.
pub trait Pod: Copy {}
impl Pod for i32 {}
impl Pod for f32 {}
impl Pod for f64 {}
impl Pod for [f32; 2] {}
impl Pod for [f64; 2] {}

/// What a kernel takes.
pub trait KernelArgument {
    /// Where it stands.
    fn address(&self) -> *mut c_void;
}

impl<T> KernelArgument for Array<'_, T> {
    fn address(&self) -> *mut c_void {
        std::ptr::from_ref(&self.at).cast_mut().cast()
    }
}

/// Numbers are taken by value.
macro_rules! by_value {
    ($($number:ty)*) => {
        $(impl KernelArgument for $number {
            fn address(&self) -> *mut c_void {
                std::ptr::from_ref(self).cast_mut().cast()
            }
        })*
    };
}
by_value!(i32 f32 f64);

/// The PTX of a module of `kernels/`, as `kernels/build.py` made it.
#[macro_export]
macro_rules! ptx {
    ($name:literal) => {{
        const TEXT: &str = concat!(
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/kernels/prebuilt/",
                $name,
                ".ptx"
            )),
            "\0"
        );
        match std::ffi::CStr::from_bytes_with_nul(TEXT.as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("PTX has no zero bytes"),
        }
    }};
}
