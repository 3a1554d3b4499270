//! Opening and closing, and what clients ask of the library as a whole.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::abi::pointers::count;
use crate::backend::cuda;
use crate::error::{Error, Result};
use crate::grape::registry::REGISTRY;
use crate::observe::trace::{self, Event};
use crate::process::settings::{self, BackendChoice, Devices};
use crate::process::{allocation, entry};

/// The cluster that the `_all` calls address: a cluster of kirin has every device already.
pub const ALL: c_int = 0;

pub fn open(id: c_int) -> Result<c_int> {
    REGISTRY.open(id)?;
    Ok(0)
}

/// The numbers of GPUs in a list.
///
/// # Safety
///
/// `list` is null or has `ngpu` entries.
pub unsafe fn devices(ngpu: c_int, list: *const c_int) -> Result<Vec<usize>> {
    let ngpu = count(ngpu, "ngpu")?;
    let mut devices = Vec::new();
    for k in 0..if list.is_null() { 0 } else { ngpu } {
        // SAFETY: the caller vouches for the length.
        let device = count(unsafe { list.add(k).read_unaligned() }, "list")?;
        allocation::push(&mut devices, device, "a list of devices")?;
    }
    Ok(devices)
}

/// # Safety
///
/// `list` is null or has `ngpu` entries.
pub unsafe fn open_on(ngpu: c_int, list: *const c_int) -> Result<c_int> {
    // SAFETY: passed on.
    let devices = unsafe { devices(ngpu, list)? };
    open(ALL)?;
    if !devices.is_empty() {
        REGISTRY.with(ALL, |c| {
            c.prefer_devices(Devices::These(devices));
            Ok(())
        })?;
    }
    Ok(0)
}

pub fn close(id: c_int) -> Result<c_int> {
    REGISTRY.close(id);
    Ok(0)
}

/// Makes a call for cluster `id`, and for each of the `nclusters - 1` that follow it and are open.
#[inline]
pub fn to_clusters(
    id: c_int,
    nclusters: c_int,
    call: impl Fn(c_int) -> Result<c_int>,
) -> Result<c_int> {
    let nclusters = count(nclusters, "nclusters")?;
    call(id)?;
    if nclusters > 1 {
        REGISTRY
            .open_after(id, nclusters)
            .into_iter()
            .try_for_each(|other| call(other).map(drop))?;
    }
    Ok(0)
}

pub fn npipes() -> Result<c_int> {
    let count = settings::with_memory()?.npipes;
    trace::record(|| Event::Pipelines { count });
    Ok(count)
}

/// Clients stop where there is no device; the CPU counts as one where there is no GPU.
pub fn device_count() -> Result<c_int> {
    entry::hold_cancellation();
    let gpus = match settings::with_memory()?.backend {
        BackendChoice::Auto | BackendChoice::Cuda => cuda::devices().map_or(0, <[_]>::len),
        BackendChoice::Cpu | BackendChoice::Reference => 0,
    };
    Ok(c_int::try_from(gpus.max(1)).unwrap_or(c_int::MAX))
}

/// What `g6_setmccount` set.
static MCCOUNT: AtomicI32 = AtomicI32::new(1);

pub fn set_mccount(value: c_int) -> Result<c_int> {
    MCCOUNT.store(value, Ordering::Relaxed);
    Ok(0)
}

pub fn mccount() -> Result<c_int> {
    Ok(MCCOUNT.load(Ordering::Relaxed))
}

pub fn nothing() -> Result<c_int> {
    Ok(0)
}

pub fn unsupported(reason: &'static str) -> Result<c_int> {
    Err(Error::Unsupported { reason })
}
