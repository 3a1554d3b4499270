//! Clients on the fake driver, which interprets the PTX that is shipped.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::{self, Run};

use crate::inputs::with_pipelines;

/// The folder of the driver that interprets kirin's modules; `None` where there is no compiler.
pub fn driver() -> Option<&'static Path> {
    fake_cuda::driver()
}

/// Runs a client, which must succeed on the device; returns what it prints.
pub fn succeed(client: &Path, arguments: &[&OsStr], settings: &[(&str, &str)]) -> Option<String> {
    Some(fake_cuda::succeed(driver()?, client, arguments, settings))
}

/// The client that prints forces.
pub fn client() -> Option<&'static Path> {
    static CLIENT: LazyLock<Option<PathBuf>> = LazyLock::new(|| compile("forces.c", Link::Shared));
    CLIENT.as_deref()
}

/// Runs that client on a file; it must succeed on the device. Returns what it prints.
pub fn forces(input: &Path, settings: &[(&str, &str)]) -> Option<String> {
    succeed(client()?, &[input.as_os_str()], &with_pipelines(settings))
}

/// Runs that client on a file, with any outcome.
pub fn try_forces(driver: &Path, input: &Path, settings: &[(&str, &str)]) -> Option<Run> {
    let arguments = [input.as_os_str()];
    let settings = with_pipelines(settings);
    Some(fake_cuda::run(driver, client()?, &arguments, &settings))
}
