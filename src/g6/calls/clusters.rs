//! Opening and closing clusters, and questions about the library as a whole.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::edge::pointers::{self, count};
use crate::g6::CLUSTERS;
use kirin_core::error::Result;
use kirin_core::gpu::cuda;
use kirin_core::process::entry;
use kirin_core::process::settings::{self, BackendChoice, Devices, PrecisionChoice};
use kirin_core::trace::{self, Event};

/// The cluster that the `_all` calls address: a cluster of kirin has every device already.
pub const ALL: c_int = 0;

pub fn open(id: c_int) -> Result<c_int> {
    CLUSTERS.open(id)?;
    Ok(0)
}

/// # Safety
///
/// `list` is null or has `ngpu` entries.
pub unsafe fn open_on(ngpu: c_int, list: *const c_int) -> Result<c_int> {
    // SAFETY: passed on.
    let devices = unsafe { pointers::devices(ngpu, list)? };
    open(ALL)?;
    if !devices.is_empty() {
        CLUSTERS.with(ALL, |c| {
            c.prefer_devices(Devices::These(devices));
            Ok(())
        })?;
    }
    Ok(0)
}

pub fn close(id: c_int) -> Result<c_int> {
    CLUSTERS.close(id);
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
        CLUSTERS
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

pub fn set_precision(id: c_int, precision: c_int) -> Result<c_int> {
    let choice = PrecisionChoice::by_number(precision)?;
    CLUSTERS.with(id, |c| {
        c.set_precision(choice);
        let id = c.id();
        trace::record(|| Event::SetPrecision { id, precision });
        Ok(0)
    })
}

pub fn precision_for(id: c_int, nj: c_int) -> Result<c_int> {
    let nj = count(nj, "nj")?;
    CLUSTERS.with(id, |c| {
        let taken = PrecisionChoice::Always(c.precision_for(nj));
        let number = PrecisionChoice::ALL
            .iter()
            .position(|choice| *choice == taken);
        Ok(number.map_or(0, |n| n as c_int))
    })
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
