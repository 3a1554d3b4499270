//! The backends on GPUs. CUDA's has what only that driver needs; the plans of launches, the structures that kernels
//! read and the joining of their sums know nothing of it.

mod combine;
pub mod cuda;
mod layout;
mod plan;
