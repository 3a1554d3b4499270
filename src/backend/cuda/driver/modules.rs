//! The compiled kernels, embedded. `kernels/build.py` makes them.

use crate::process::settings::Precision;

/// The CUDA version that a driver must know, as `cuDriverGetVersion` counts: that of the NVRTC
/// which wrote the modules.
pub const LEAST_DRIVER: i32 = 12010;

/// The oldest devices for which the modules are compiled.
pub const LEAST_CAPABILITY: (i32, i32) = (6, 0);

/// One module of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// What is the same in every precision.
    Common,
    /// Forces and prediction of one precision.
    Forces(Precision),
}

impl Module {
    /// The text in PTX, with a zero byte at its end.
    pub fn text(self) -> &'static str {
        macro_rules! text {
            ($name:literal) => {
                concat!(
                    include_str!(concat!(
                        env!("CARGO_MANIFEST_DIR"),
                        "/kernels/prebuilt/",
                        $name,
                        ".ptx"
                    )),
                    "\0"
                )
            };
        }
        match self {
            Self::Common => text!("common"),
            Self::Forces(Precision::Mixed) => text!("mixed"),
            Self::Forces(Precision::Double) => text!("double"),
            Self::Forces(Precision::Single) => text!("single"),
        }
    }
}
