//! The backends on GPUs. `cuda` has the code for the CUDA driver. The plans of launches, the structures that
//! kernels read, and the joining of their sums are independent of the driver.

mod combine;
pub mod cuda;
mod layout;
mod plan;
