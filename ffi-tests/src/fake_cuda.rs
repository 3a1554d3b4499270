//! The fake CUDA driver with kirin's kernels.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use fake_cuda::*;

use crate::generate::repository;

/// The folder of a fake driver that runs the kernels' C++ sources. If it has a sanitizer, a client has to load the
/// sanitizer's library first.
pub fn driver_from_source(sanitizer: Sanitizer) -> Option<&'static Path> {
    static DRIVERS: [OnceLock<Option<PathBuf>>; 3] = [const { OnceLock::new() }; 3];
    let make = || {
        build(
            Product::Driver,
            sanitizer,
            &with_driver(&kirin_kernels()),
            &[],
        )
    };
    DRIVERS[sanitizer as usize].get_or_init(make).as_deref()
}

/// Kirin's kernels: `kernels/*.cu`.
pub fn kirin_kernels() -> Vec<PathBuf> {
    files(&repository().join("kernels"), &["cu"])
}
