//! The CUDA backend through the C interface, on a fake driver that runs the kernels' own sources.

mod agreement;
mod bits;
mod clients;
mod faults;
mod sanitizers;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::{self, Run};
use ffi_tests::library;
use ffi_tests::sets::{Set, cloud};

/// All arithmetics.
const PRECISIONS: [&str; 3] = ["double", "mixed", "single"];

/// The driver that runs kirin's kernels and a client that prints forces; `None` where there is no compiler.
fn driver_and_client() -> Option<(&'static Path, &'static Path)> {
    static CLIENT: LazyLock<Option<PathBuf>> = LazyLock::new(|| compile("forces.c", Link::Shared));
    Some((fake_cuda::driver()?, CLIENT.as_deref()?))
}

/// A file for the client.
fn input(set: &Set) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = library::workspace().join(format!("set-{number}"));
    std::fs::write(&path, set.to_text()).expect("the target folder is writable");
    path
}

/// `nj` sources and `ni` probes, most of which are sources too.
fn set(nj: usize, ni: usize, eps2: f64) -> Set {
    let mut set = cloud(nj, 5, eps2);
    let more = cloud(ni.max(1), 6, eps2);
    set.probes.extend(more.probes.into_iter().skip(nj));
    set.probes.truncate(ni);
    set
}

/// What the client prints about a file; it must succeed on the device.
fn forces(input: &Path, settings: &[(&str, &str)]) -> Option<String> {
    let (driver, client) = driver_and_client()?;
    Some(fake_cuda::succeed(
        driver,
        client,
        &[input.as_os_str()],
        settings,
    ))
}

/// A run about a file of which anything may come.
fn try_forces(driver: &Path, input: &Path, settings: &[(&str, &str)]) -> Option<Run> {
    let (_, client) = driver_and_client()?;
    Some(fake_cuda::run(
        driver,
        client,
        &[input.as_os_str()],
        settings,
    ))
}
