//! Failed calls of the driver as errors.

use std::ffi::c_int;
use std::fmt;

use cudarc::driver::sys;

use super::functions::driver;

/// Result of a call of the driver.
pub type Result<T> = std::result::Result<T, Failure>;

/// What `cuStreamQuery` and `cuEventQuery` return while work is left.
pub const NOT_READY: c_int = sys::CUresult::CUDA_ERROR_NOT_READY as c_int;

/// A call of the driver that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    call: &'static str,
    code: c_int,
    /// More about it, such as the log of the driver's compiler.
    log: String,
}

impl Failure {
    pub(super) fn new(call: &'static str, code: c_int) -> Self {
        Self {
            call,
            code,
            log: String::new(),
        }
    }

    /// The same failure with a further remark.
    pub(super) fn with_log(self, log: String) -> Self {
        Self { log, ..self }
    }

    /// Whether the device does not answer, so that any further call may never return.
    pub fn is_hang(&self) -> bool {
        self.code == NOT_READY
    }

    /// Whether another process has the device for itself.
    pub fn is_taken(&self) -> bool {
        self.code == sys::CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE as c_int
    }

    /// Whether only memory was lacking: the device can be used as before.
    pub fn is_harmless(&self) -> bool {
        use sys::CUresult as Code;
        // The second code is what a launch returns if there is no memory for its threads' stacks.
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

/// The result of the function `call`, which returned `code`.
pub(super) fn result_of(call: &'static str, code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(Failure::new(call, code)),
    }
}

/// Calls a function of the driver that writes its result through its first argument.
macro_rules! ask {
    ($call:ident($($argument:expr),*)) => {{
        let mut answer = std::mem::MaybeUninit::zeroed();
        // SAFETY: the function was found in the driver; its first argument points to a place
        // for the answer, and the others are as the caller's own safety comment says.
        let code = unsafe {
            let driver = $crate::gpu::cuda::driver::functions::driver();
            (driver.$call)(answer.as_mut_ptr(), $($argument),*)
        };
        // SAFETY: a number or pointer, zero until the call writes it: any bits are valid.
        $crate::gpu::cuda::driver::failure::result_of(stringify!($call), code).map(|()| unsafe { answer.assume_init() })
    }};
}
pub(super) use ask;
