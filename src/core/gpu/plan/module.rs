//! The modules into which the kernels are compiled.

use crate::process::settings::Precision;

/// One module of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// Kernels that are the same in every precision.
    Common,
    /// Forces and prediction of one precision.
    Forces(Precision),
    /// NBODY6's regular force: kernels that are the same in every precision.
    RegularCommon,
    /// NBODY6's regular force: pair loops of one precision.
    Regular(Precision),
}
