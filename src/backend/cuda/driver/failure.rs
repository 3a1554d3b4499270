//! A call of the driver that failed, and how calls are made so that none fails unseen.

use std::ffi::c_int;
use std::fmt;

use cudarc::driver::sys;

use super::functions::driver;

/// Result of a call of the driver.
pub type Result<T> = std::result::Result<T, Failure>;

/// The answer of a stream that is at work.
pub const NOT_READY: c_int = sys::CUresult::CUDA_ERROR_NOT_READY as c_int;

/// A call of the driver that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    call: &'static str,
    code: c_int,
    /// What the driver had to say besides.
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

    /// The same, with more words.
    pub(super) fn with_log(self, log: String) -> Self {
        Self { log, ..self }
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
        let code = unsafe { ($crate::backend::cuda::driver::functions::driver().$call)(answer.as_mut_ptr(), $($argument),*) };
        // SAFETY: written by the call, and all zero, which is valid for numbers and pointers, if not.
        $crate::backend::cuda::driver::failure::check(stringify!($call), code).map(|()| unsafe { answer.assume_init() })
    }};
}
pub(super) use ask;
