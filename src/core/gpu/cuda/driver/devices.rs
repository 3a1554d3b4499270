//! The devices of this machine, searched for once in a process.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use once_cell::sync::OnceCell;

use super::failure::{Result, ask};
use super::{Device, functions};
use crate::process;

/// Why a child of a fork has no device: no driver works in two processes at once.
pub const OF_THE_PARENT: &str = "the GPUs belong to the process that this one was forked from";

/// The devices of this machine, or why none can be used. The first call loads the driver.
pub fn devices() -> std::result::Result<&'static [Device], &'static str> {
    static DEVICES: OnceCell<std::result::Result<Vec<Device>, String>> = OnceCell::new();
    /// One more than the generation of the process that looked first.
    static USER: AtomicU32 = AtomicU32::new(0);
    let me = process::generation() + 1;
    let known = match USER.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Err(user) if user != me => match DEVICES.get() {
            Some(Err(reason)) => return Err(reason),
            // Also if the parent's search was under way when it forked: here nobody completes it.
            _ => return Err(OF_THE_PARENT),
        },
        _ => DEVICES.get_or_init(probe),
    };
    match known {
        Ok(devices) => Ok(devices),
        Err(reason) => Err(reason),
    }
}

fn probe() -> std::result::Result<Vec<Device>, String> {
    functions::find()?;
    list().map_err(|failure| format!("the CUDA driver refuses: {failure}"))?
}

fn list() -> Result<std::result::Result<Vec<Device>, String>> {
    let count: c_int = ask!(cuDeviceGetCount())?;
    let mut devices = Vec::new();
    for ordinal in 0..count {
        devices.push(Device::new(ordinal).unwrap_or_else(|why| Device::broken(ordinal, why)));
    }
    if devices.is_empty() {
        return Ok(Err("the CUDA driver finds no device".to_owned()));
    }
    Ok(Ok(devices))
}
