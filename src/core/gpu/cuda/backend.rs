//! The CUDA backend: its state between blocks, and the functions that a cluster calls.

use std::time::{Duration, Instant};

use super::device::DeviceQueue;
use super::distribution::Distribution;
use crate::error::Result;
use crate::force::{Arriving, Backend, Deliver, ForceRequest, Phases, Results};
use crate::process;
use crate::process::allocation;
use crate::process::settings::{Precision, Settings};
use crate::sources::jmemory::{BESIDE_A_PAGE, JMemory};
use crate::sources::neighbours::{ListRules, NeighbourLists};

/// What memory of the host is for, in messages.
const PURPOSE: &str = "the results of a block";

/// Number of further blocks whose nearest neighbours are computed along with the forces after a client has asked
/// for nearest neighbours once. The client's next request is then answered without another launch.
const HABIT: u32 = 64;

/// The backend.
pub struct Cuda {
    pub(super) settings: Settings,
    /// The generation of the process that opened the devices.
    pub(super) process: u32,
    pub(super) queues: Vec<DeviceQueue>,
    /// The backend that computes once no device is left.
    pub(super) host: Option<Box<dyn Backend>>,
    pub(super) distribution: Distribution,
    /// The batch that the devices compute: its first i-particle, and whether nearest neighbours are included.
    pub(super) queued: Option<(usize, bool)>,
    /// For how many more blocks nearest neighbours are computed in advance.
    pub(super) wish: u32,
    /// Losses of devices that were not reported yet, in words.
    pub(super) lost: Vec<String>,
    /// Devices lost at work.
    pub(super) recoveries: u64,
    /// Leaves that lost devices summed again in double precision, and the time that this took.
    pub(super) redone_by_lost: (u64, Duration),
    /// The same on all devices, lost ones included, up to the last finished block.
    pub(super) redone: (u64, Duration),
    /// Whether the next block is timed.
    pub(super) measured: bool,
    pub(super) phases: Phases,
}

impl Cuda {
    /// The backend on these devices, at least one. `lost` says in words why others are not used.
    pub fn new(settings: &Settings, queues: Vec<DeviceQueue>, lost: Vec<String>) -> Self {
        Self {
            settings: settings.clone(),
            process: process::generation(),
            queues,
            host: None,
            distribution: Distribution::new(settings),
            queued: None,
            wish: 0,
            lost,
            recoveries: 0,
            redone_by_lost: (0, Duration::ZERO),
            redone: (0, Duration::ZERO),
            measured: false,
            phases: Phases::default(),
        }
    }

    /// What comes before a block is queued. Returns when it began, if the block is timed.
    fn prepare(&mut self, memory: &mut JMemory, block: &ForceRequest) -> Result<Option<Instant>> {
        let begin = std::mem::take(&mut self.measured).then(Instant::now);
        self.phases = Phases::default();
        self.queued = None;
        self.leave_to_parent();
        if !self.queues.is_empty() {
            let pages = memory.page_count();
            if self.distribution.pages.len() < pages {
                // Memory for what the queues keep of each new page.
                allocation::spare(pages * BESIDE_A_PAGE, PURPOSE)?;
            }
            memory.settle();
            self.distribution
                .look_at(memory, block, self.settings.precision.arithmetic());
        }
        Ok(begin)
    }

    /// Whether the devices compute the present block: there are some, and single precision has the range that the
    /// particles need.
    fn devices_compute(&self) -> bool {
        !self.queues.is_empty() && self.distribution.scale.representable
    }

    /// What follows when a block is queued, or no device is left.
    fn started(
        &mut self,
        memory: &mut JMemory,
        block: &ForceRequest,
        begin: Option<Instant>,
    ) -> Result<()> {
        if let Some(begin) = begin {
            self.phases.transfer = begin.elapsed();
            if self.queues.is_empty() {
                self.host().measure();
            }
        }
        match self.queues.is_empty() {
            true => self.host().start(memory, block),
            false => Ok(()),
        }
    }
}

impl Backend for Cuda {
    fn name(&self) -> String {
        match self.queues.as_slice() {
            [] => self
                .host
                .as_ref()
                .map_or_else(|| "cpu".to_owned(), |host| host.name()),
            [one] => format!("cuda {} ({})", one.device.ordinal, one.device.name),
            several => {
                let numbers: Vec<_> = several
                    .iter()
                    .map(|u| u.device.ordinal.to_string())
                    .collect();
                format!("cuda {} ({})", numbers.join(","), several[0].device.name)
            }
        }
    }

    fn precision(&self) -> Precision {
        self.settings.precision.arithmetic()
    }

    fn on_gpu(&self) -> bool {
        !self.queues.is_empty()
    }

    fn measure(&mut self) {
        self.measured = true;
    }

    fn phases(&self) -> Phases {
        match &self.host {
            Some(host) if self.queues.is_empty() => host.phases(),
            _ => self.phases,
        }
    }

    fn recoveries(&self) -> u64 {
        self.recoveries
    }

    fn leaves_again(&self) -> u64 {
        self.redone.0 + self.host.as_ref().map_or(0, |host| host.leaves_again())
    }

    fn start(&mut self, memory: &mut JMemory, block: &ForceRequest) -> Result<()> {
        let begin = self.prepare(memory, block)?;
        if self.devices_compute() {
            self.distribution.look_at_targets(&block.particles);
            self.on_devices(|cuda| {
                let ni = block.particles.len();
                let batch = cuda.batch(memory, block, ni, DeviceQueue::most_for_forces);
                cuda.enqueue(memory, block, 0..batch, cuda.wish > 0)
            });
            memory.forget_changes();
        }
        self.started(memory, block, begin)
    }

    fn start_arriving(
        &mut self,
        memory: &mut JMemory,
        block: &mut ForceRequest,
        rest: &mut dyn Arriving,
    ) -> Result<()> {
        let begin = self.prepare(memory, block);
        let is_on_gpu = begin.is_ok() && self.devices_compute();
        if is_on_gpu {
            if !self.distribution.is_moving() {
                rest.fetch(usize::MAX, &mut block.particles);
                self.distribution.look_at_targets(&block.particles);
            }
            self.on_devices(|cuda| cuda.enqueue_arriving(memory, block, rest, cuda.wish > 0));
            memory.forget_changes();
        }
        rest.fetch(usize::MAX, &mut block.particles);
        self.started(memory, block, begin?)
    }

    fn cancel(&mut self) {
        self.queued = None;
        self.queues.iter_mut().for_each(DeviceQueue::cancel);
    }

    fn finish(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()> {
        self.finish_delivering(memory, block, nearest, results, &mut |_, _, _| ())
    }

    fn finish_delivering(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
        deliver: &mut Deliver<'_>,
    ) -> Result<()> {
        self.leave_to_parent();
        self.wish = match nearest {
            true => HABIT,
            false => self.wish.saturating_sub(1),
        };
        let ni = block.particles.len();
        results.make_room(ni, nearest)?;
        let computed = match self.devices_compute() {
            true => self.on_devices(|cuda| cuda.compute(memory, block, nearest, results, deliver)),
            false => None,
        };
        match computed {
            Some(()) => {
                let redone = self.redone();
                self.phases.again = redone.1.saturating_sub(self.redone.1);
                self.redone = redone;
                Ok(())
            }
            None => (self.host()).finish_delivering(memory, block, nearest, results, deliver),
        }
    }

    fn neighbour_lists(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        rules: ListRules,
    ) -> Result<NeighbourLists> {
        self.leave_to_parent();
        self.queued = None;
        match self.on_devices(|cuda| cuda.lists(memory, block, rules)) {
            Some(lists) => NeighbourLists::from_lists(lists?, rules),
            None => self.host().neighbour_lists(memory, block, rules),
        }
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        self.abandon();
    }
}
