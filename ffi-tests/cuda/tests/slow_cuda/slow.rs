//! A slow device: a line on stderr says so while the client waits.

use std::ffi::OsStr;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda;

use crate::driver;

#[test]
fn a_long_wait_is_told_once() {
    let (Some(driver), Some(client)) = (driver(), compile("reopen.c", Link::Shared)) else {
        return;
    };
    // Two kernels are launched.
    let settings = [("FAKE_CUDA_DELAY", "2700"), ("KIRIN_PRECISION", "mixed")];
    let run = fake_cuda::run(driver, &client, &["1", "0"].map(OsStr::new), &settings);
    assert!(run.success && run.err.lines().count() == 1, "{run:?}");
    assert!(run.err.contains("has been at work for 5.") && run.err.contains("KIRIN_GPU_TIMEOUT"));
}
