//! Why something could not be done on a device.

use std::fmt;

use kirin_core::gpu::cuda::driver;

/// A result, or why there is none.
pub type Result<T> = std::result::Result<T, Failure>;

/// An operation that failed, in words that name it: `cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(String);

impl Failure {
    /// A failure in words.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl From<driver::Failure> for Failure {
    fn from(failure: driver::Failure) -> Self {
        Self(failure.to_string())
    }
}

impl From<Failure> for String {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}
