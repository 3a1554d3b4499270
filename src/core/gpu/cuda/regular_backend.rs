//! NBODY6's regular force and the potential on one GPU, the first usable one that the settings name. If it fails, the
//! CPU computes from then on.

use std::ops::Range;

use super::choice::{Absence, open, report_absence};
use super::device::regular::{Question, RegularQueue, Summed};
use super::driver::{self, Device};
use crate::cpu;
use crate::error::Result;
use crate::force::regular::{
    Criterion, Incoming, PURPOSE, PlainRegular, RegularForce, RegularRequest, RegularResult,
    Sources, Target,
};
use crate::process::settings::Settings;
use crate::process::{self, allocation};

/// Potentials that are computed together.
const TOGETHER: usize = 16384;

/// The backend on a device that `settings` name.
///
/// # Errors
///
/// Why no device can be used.
pub fn choose(settings: &Settings) -> std::result::Result<Box<dyn RegularForce>, Absence> {
    let (mut queues, lost) = open(settings, 1)?;
    Ok(Box::new(OnDevice {
        settings: settings.clone(),
        process: process::generation(),
        queue: queues.pop().map(RegularQueue::new),
        host: None,
        lost,
        targets: Vec::new(),
        results: Vec::new(),
    }))
}

/// The backend.
struct OnDevice {
    settings: Settings,
    /// The generation of the process that the device knows.
    process: u32,
    queue: Option<RegularQueue>,
    /// The backend that computes once the device has failed, and whether it has the sources.
    host: Option<(Box<dyn RegularForce>, bool)>,
    /// Losses of devices that were not reported yet, in words.
    lost: Vec<String>,
    targets: Vec<Target>,
    results: Vec<RegularResult>,
}

impl OnDevice {
    /// A child of the process that made the queue has no device.
    fn leave_to_parent(&mut self) {
        if self.abandon() {
            let reason = driver::OF_THE_PARENT.to_owned();
            report_absence(&self.settings, &Absence::InProcess(reason));
        }
    }

    /// Gives up the queue if it is the parent's; returns whether there was one.
    fn abandon(&mut self) -> bool {
        if self.process == process::known_generation() {
            return false;
        }
        self.queue.take().map(RegularQueue::abandon).is_some()
    }

    /// Does something on the device. `None` if there is no device, or if it fails, which one line reports.
    fn on_device<T>(
        &mut self,
        attempt: impl FnOnce(&mut RegularQueue) -> driver::Result<T>,
    ) -> Option<T> {
        let done = match attempt(self.queue.as_mut()?) {
            Ok(done) => Some(done),
            Err(failure) => {
                self.lose(&failure);
                None
            }
        };
        if !self.lost.is_empty() {
            let heir = match self.queue {
                None => "the CPU computes",
                Some(_) => "another device computes",
            };
            let lost = std::mem::take(&mut self.lost).join("; ");
            process::log::line(format_args!("{lost}; {heir} regular forces from here on"));
        }
        done
    }

    #[cold]
    fn lose(&mut self, failure: &driver::Failure) {
        let Some(lost) = self.queue.take() else {
            return;
        };
        let Device { ordinal, name, .. } = lost.queue.device;
        if !failure.is_harmless() {
            lost.queue.device.mark_failed();
        }
        if failure.is_hang() {
            lost.abandon();
        }
        self.lost
            .push(format!("device {ordinal} ({name}): {failure}"));
    }

    /// The backend that computes without a device.
    fn host(&mut self) -> &mut (Box<dyn RegularForce>, bool) {
        let settings = &self.settings;
        self.host
            .get_or_insert_with(|| (cpu::choose_regular(settings), false))
    }

    /// The potentials at some of the sources, which the device has. If the device fails they are meaningless.
    fn some_potentials(
        &mut self,
        sources: &Sources,
        range: Range<usize>,
        potentials: &mut [f64],
    ) -> Result<()> {
        let mut targets = std::mem::take(&mut self.targets);
        let mut results = std::mem::take(&mut self.results);
        targets.clear();
        allocation::reserve(&mut targets, range.len(), PURPOSE)?;
        allocation::lengthen(&mut results, range.len(), PURPOSE, RegularResult::default)?;
        targets.extend(range.map(|j| Target {
            x: sources.x(j),
            ..Target::default()
        }));
        let question = Question {
            sum: Summed::Potential,
            criterion: Criterion::Radius,
            longest: 0,
        };
        let results_of = &mut results[..targets.len()];
        let computed = self.on_device(|queue| queue.compute(question, &targets, results_of));
        for (to, result) in potentials.iter_mut().zip(&results) {
            *to = result.sums[6];
        }
        (self.targets, self.results) = (targets, results);
        computed.unwrap_or(Ok(()))
    }
}

impl RegularForce for OnDevice {
    fn name(&self) -> String {
        match (&self.queue, &self.host) {
            (Some(RegularQueue { queue, .. }), _) => {
                format!("cuda {} ({})", queue.device.ordinal, queue.device.name)
            }
            (None, Some((host, _))) => host.name(),
            (None, None) => "cpu".to_owned(),
        }
    }

    fn load(&mut self, sources: &mut Sources, incoming: &Incoming<'_>) -> Result<()> {
        self.leave_to_parent();
        if self.queue.is_some() {
            PlainRegular.load(sources, incoming)?;
            return self.inherit(sources);
        }
        let (host, has_sources) = self.host();
        *has_sources = false;
        host.load(sources, incoming)?;
        *has_sources = true;
        Ok(())
    }

    fn inherit(&mut self, sources: &Sources) -> Result<()> {
        if let Some((_, has_sources)) = &mut self.host {
            *has_sources = false;
        }
        self.on_device(|queue| queue.load(Summed::Force, sources));
        Ok(())
    }

    fn forces(&mut self, block: &RegularRequest<'_>, results: &mut [RegularResult]) -> Result<()> {
        self.leave_to_parent();
        let question = Question {
            sum: Summed::Force,
            criterion: block.criterion,
            longest: block.longest,
        };
        let results = &mut results[..block.targets.len()];
        if let Some(done) =
            self.on_device(|queue| queue.compute(question, block.targets, &mut *results))
        {
            return done;
        }
        let (host, has_sources) = self.host();
        if !*has_sources {
            host.inherit(block.sources)?;
            *has_sources = true;
        }
        host.forces(block, results)
    }

    fn potentials(
        &mut self,
        sources: &mut Sources,
        incoming: &Incoming<'_>,
        range: Range<usize>,
        potentials: &mut [f64],
    ) -> Result<()> {
        self.leave_to_parent();
        if self.queue.is_some() {
            PlainRegular.load(sources, incoming)?;
            self.on_device(|queue| queue.load(Summed::Potential, sources));
        }
        let batches = potentials.chunks_mut(TOGETHER);
        for (begin, batch) in range.clone().step_by(TOGETHER).zip(batches) {
            if self.queue.is_some() {
                self.some_potentials(sources, begin..begin + batch.len(), batch)?;
            }
        }
        match self.queue.is_some() {
            true => Ok(()),
            false => (self.host().0).potentials(sources, incoming, range, potentials),
        }
    }
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        self.abandon();
    }
}
