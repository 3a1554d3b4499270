//! The backends on GPUs. `cuda` has the code for the CUDA driver. The other modules do not depend on the driver: the
//! plans of launches, the structures that kernels read, and the joining of sums.

mod combine;
pub mod cuda;
mod layout;
mod plan;
