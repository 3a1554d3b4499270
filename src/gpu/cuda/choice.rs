//! Chooses the devices that compute, and reports why none can be used.

use std::sync::atomic::{AtomicU32, Ordering};

use super::backend::Cuda;
use super::device::DeviceQueue;
use super::driver::{self, Device, devices};
use crate::choice::Rule;
use crate::force::Backend;
use crate::gpu::plan::chip;
use crate::process::settings::{BackendChoice, Devices, Precision, Settings};
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
    let (queues, lost) = open(settings, usize::MAX)?;
    Ok(Box::new(Cuda::new(settings, queues, lost)))
}

/// The queues of the devices that `settings` name, one at least and `most` at most, and what is wrong with the devices
/// that cannot be used, unless that was reported before.
///
/// # Errors
///
/// Why no device can be used.
pub fn open(settings: &Settings, most: usize) -> Result<(Vec<DeviceQueue>, Vec<String>), Absence> {
    let wanted = wanted(settings)?;
    let mut queues = Vec::new();
    let mut lost = Vec::new();
    for device in wanted {
        if queues.len() == most {
            break;
        }
        let queue = match device.objection() {
            Some(objection) => Err(objection),
            None => DeviceQueue::new(device, settings).map_err(|failure| failure.to_string()),
        };
        match queue {
            Ok(queue) => queues.push(queue),
            Err(why) => {
                let what = format!("device {} ({}): {why}", device.ordinal, device.name);
                lost.push((device, what));
            }
        }
    }
    let words = |lost: Vec<(_, String)>| lost.into_iter().map(|(_, what)| what).collect::<Vec<_>>();
    if queues.is_empty() {
        return Err(Absence::InProcess(words(lost).join("; ")));
    }
    // No cluster can use these devices. Only the first that is opened reports it.
    lost.retain(|(device, _)| device.is_first_missed());
    Ok((queues, words(lost)))
}

/// The devices that `settings` name.
fn wanted(settings: &Settings) -> Result<Vec<&'static Device>, Absence> {
    let present = devices().map_err(|reason| match reason {
        driver::OF_THE_PARENT => Absence::InProcess(reason.to_owned()),
        _ => Absence::OnMachine(reason.to_owned()),
    })?;
    Ok(match &settings.devices {
        Devices::Auto => {
            let usable: Vec<_> = present.iter().filter(|d| d.objection().is_none()).collect();
            // One device for each rank, in turns.
            let turn = ranks::local_rank().map_or(0, |(rank, _)| rank) % usable.len().max(1);
            usable
                .get(turn)
                .copied()
                .or(present.first())
                .into_iter()
                .collect()
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
    let wanted = wanted(settings).ok()?;
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
            on_gpu: true,
        })
}

/// Writes a line on why the CPU computes, once in a process. A reason that holds for the whole machine is reported by
/// its first rank alone. Nothing is written on a machine without a driver if no GPU was asked for.
pub fn report_absence(settings: &Settings, absence: &Absence) {
    /// One more than the generation of the process that wrote the line.
    static TOLD: AtomicU32 = AtomicU32::new(0);
    let is_asked_for = settings.backend == BackendChoice::Cuda || settings.devices != Devices::Auto;
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
