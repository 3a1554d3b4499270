//! Moves the work of a device that fails during a block to the other devices or the CPU.

use std::time::Duration;

use super::backend::Cuda;
use super::choice::{Absence, report_absence};
use super::device::DeviceQueue;
use super::driver::{self, Device, Failure};
use crate::cpu;
use crate::force::Backend;
use crate::process;

/// A device that failed: its place among the queues, and how.
pub struct Lost {
    pub queue: usize,
    pub failure: Failure,
}

/// The result of work on the devices.
pub type Attempt<T> = Result<T, Lost>;

impl Cuda {
    /// The backend that computes when no device is left.
    pub(super) fn host(&mut self) -> &mut dyn Backend {
        let settings = &self.settings;
        &mut **self.host.get_or_insert_with(|| cpu::choose(settings))
    }

    /// Gives up the devices in a child of the process that opened them, and reports that.
    pub(super) fn leave_to_parent(&mut self) {
        if self.abandon() {
            let reason = driver::OF_THE_PARENT.to_owned();
            report_absence(&self.settings, &Absence::InProcess(reason));
        }
    }

    /// Gives up the queues if a parent process made them; returns whether there were any.
    pub(super) fn abandon(&mut self) -> bool {
        let theirs = self.process != process::known_generation() && !self.queues.is_empty();
        if theirs {
            self.queues.drain(..).for_each(DeviceQueue::abandon);
        }
        theirs
    }

    /// Repeats `attempt`, without the devices that fail at it, until it succeeds; `None` if no device is left. One
    /// line reports what was lost.
    pub(super) fn on_devices<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> Attempt<T>,
    ) -> Option<T> {
        let mut done = None;
        while done.is_none() && !self.queues.is_empty() {
            match attempt(self) {
                Ok(result) => done = Some(result),
                Err(failed) => self.lose(failed),
            }
        }
        if !self.lost.is_empty() {
            let heir = match self.queues.is_empty() {
                true => "the CPU computes",
                false => "the other devices compute",
            };
            let lost = std::mem::take(&mut self.lost).join("; ");
            process::log::line(format_args!("{lost}; {heir} from here on"));
        }
        done
    }

    /// Leaves summed again by all devices, lost ones included, and the time that took.
    pub(super) fn redone(&self) -> (u64, Duration) {
        let of_units = self.queues.iter().map(DeviceQueue::redone);
        of_units.fold(self.redone_by_lost, sum)
    }

    /// Removes a device from the queues.
    #[cold]
    pub(super) fn lose(&mut self, Lost { queue, failure }: Lost) {
        self.queued = None;
        self.recoveries += 1;
        let queue = self.queues.remove(queue);
        self.redone_by_lost = sum(self.redone_by_lost, queue.redone());
        let Device { ordinal, name, .. } = queue.device;
        if !failure.is_harmless() {
            queue.device.mark_failed();
        }
        if failure.is_hang() {
            queue.abandon();
        }
        self.lost
            .push(format!("device {ordinal} ({name}): {failure}"));
    }
}

fn sum(a: (u64, Duration), b: (u64, Duration)) -> (u64, Duration) {
    (a.0 + b.0, a.1 + b.1)
}
