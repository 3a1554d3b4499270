//! Chooses the devices that compute, and reports why none can be used.

use std::sync::atomic::{AtomicU32, Ordering};

use super::backend::Cuda;
use super::device::DeviceQueue;
use super::driver::{self, Device, devices};
use crate::choice::Rule;
use crate::force::Backend;
use crate::gpu::plan::chip;
use crate::process::settings::{BackendChoice, Devices, Precision, PrecisionChoice, Settings};
use crate::process::{self, ranks};

/// Why no device can be used, in words.
pub enum Absence {
    /// The reason holds for the whole machine.
    OnMachine(String),
    /// The reason may hold for this process only.
    InProcess(String),
}

/// The backend on the devices that `settings` name.
///
/// # Errors
///
/// Why no device can be used.
pub fn choose(settings: &Settings) -> Result<Box<dyn Backend>, Absence> {
    let precision = settings.precision.arithmetic().without_reduced();
    let settings = &Settings {
        precision: PrecisionChoice::Always(precision),
        ..settings.clone()
    };
    let (queues, lost) = open(settings, usize::MAX)?;
    Ok(Box::new(Cuda::new(settings, queues, lost)))
}

/// Opens the devices that `settings` name. Returns the queues of at least one and at most `most` devices, and one line
/// of text for each device that cannot be used, unless it was reported before.
///
/// # Errors
///
/// Why no device can be used.
pub fn open(settings: &Settings, most: usize) -> Result<(Vec<DeviceQueue>, Vec<String>), Absence> {
    let most = match settings.devices {
        Devices::Auto(_) => most.min(1),
        Devices::All | Devices::These(_) => most,
    };
    let mut queues = Vec::new();
    let mut lost = Vec::new();
    for device in wanted(settings)? {
        if queues.len() == most {
            break;
        }
        let mut taken = false;
        let queue = match device.objection() {
            Some(objection) => Err(objection),
            None => DeviceQueue::new(device, settings).map_err(|failure| {
                taken |= failure.is_taken();
                failure.to_string()
            }),
        };
        match queue {
            Ok(queue) => queues.push(queue),
            Err(why) => {
                let what = format!("device {} ({}): {why}", device.ordinal, device.name);
                lost.push((device, what, taken));
            }
        }
    }
    let words = |lost: Vec<(_, String, _)>| -> Vec<_> {
        lost.into_iter().map(|(_, what, _)| what).collect()
    };
    if queues.is_empty() {
        return Err(Absence::InProcess(words(lost).join("; ")));
    }
    // No cluster can use these devices. Only the first that is opened reports it. That another process has a device for itself
    // is worth a line only if the user named the device.
    let is_auto = settings.devices.is_auto();
    lost.retain(|(device, _, taken)| !(is_auto && *taken) && device.is_first_missed());
    Ok((queues, words(lost)))
}

/// The devices that `settings` name; for [`Devices::Auto`] all that can be used, the cluster's own first.
///
/// # Errors
///
/// Why there are none.
pub fn wanted(settings: &Settings) -> Result<Vec<&'static Device>, Absence> {
    let present = devices().map_err(|reason| match reason {
        driver::OF_THE_PARENT => Absence::InProcess(reason.to_owned()),
        _ => Absence::OnMachine(reason.to_owned()),
    })?;
    Ok(match &settings.devices {
        Devices::Auto(seat) => {
            let mut usable: Vec<_> = present.iter().filter(|d| d.objection().is_none()).collect();
            if usable.is_empty() {
                usable.extend(present.first());
            }
            // One device for each rank, in turns; a rank's second cluster comes after the first of the last rank.
            let (rank, ranks) = ranks::local_rank().unwrap_or((0, 1));
            let turn = (rank + seat * ranks) % usable.len().max(1);
            usable.rotate_left(turn);
            usable
        }
        Devices::All => present.iter().collect(),
        Devices::These(numbers) => {
            if let Some(absent) = numbers.iter().find(|&&n| n >= present.len()) {
                return Err(Absence::OnMachine(format!(
                    "device {absent} is asked for, but there are {}",
                    present.len()
                )));
            }
            numbers.iter().map(|&n| &present[n]).collect()
        }
    })
}

/// [`Rule::of`] on the devices that `settings` name; `None` where there are none to be used.
pub fn rule(settings: &Settings) -> Option<Rule> {
    let mut wanted = wanted(settings).ok()?;
    if settings.devices.is_auto() {
        wanted.truncate(1);
    }
    let usable = wanted.iter().filter(|d| d.objection().is_none());
    // Of several devices the slowest takes longest.
    usable
        .map(|d| chip::rule(d.capability))
        .reduce(|a, b| Rule {
            up_to: a.up_to.min(b.up_to),
            better: match a.better {
                Precision::Double => b.better,
                slower => slower,
            },
            ..a
        })
}

/// Writes a line on why the CPU computes, once in a process. A reason that holds for the whole machine is reported by
/// its first rank alone. Nothing is written on a machine without a driver if no GPU was asked for.
pub fn report_absence(settings: &Settings, absence: &Absence) {
    /// One more than the generation of the process that wrote the line.
    static TOLD: AtomicU32 = AtomicU32::new(0);
    let is_asked_for = settings.backend == BackendChoice::Cuda || !settings.devices.is_auto();
    let (reason, is_mine) = match absence {
        Absence::OnMachine(reason) => (
            reason,
            ranks::local_rank().is_none_or(|(rank, _)| rank == 0),
        ),
        Absence::InProcess(reason) => (reason, true),
    };
    let me = process::generation() + 1;
    if is_mine
        && (is_asked_for || driver::functions::is_there())
        && TOLD.swap(me, Ordering::Relaxed) != me
    {
        process::log::line(format_args!("no GPU is used: {reason}; the CPU computes"));
    }
}
