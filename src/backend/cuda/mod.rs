//! The CUDA backend: the thesis' machine, on every NVIDIA GPU from Pascal on.
//!
//! The host keeps the double-precision j-particles; each device holds the pages of its share of the
//! addresses, stores what has changed and predicts it (or is sent what the host predicted). The
//! kernels in `kernels/` sum leaves of 64 addresses; everything above a leaf is joined in double
//! precision on one tree, wherever that happens, so a result does not depend on the launch.
//! A device that fails is left out: its share is sent to the others, or the CPU takes over.

mod combine;
mod device;
mod driver;
mod field;
mod layout;
mod plan;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use self::device::DeviceQueue;
use self::driver::Failure;
use self::field::Field;
use super::{Backend, ForceRequest, Results, cpu};
use crate::error::Result;
use crate::grape::jmemory::{BESIDE_A_PAGE, JMemory};
use crate::grape::neighbours::{self, ListRules, NeighbourLists};
use crate::grape::particle::IParticle;
use crate::observe::statistics::Phases;
use crate::process;
use crate::process::settings::{BackendChoice, Devices, Precision, Settings};
use crate::process::{allocation, ranks};

pub use self::driver::{Device, devices};
pub use self::plan::chip::Conditions;
pub use self::plan::{LaunchPlan, Limit};

/// What memory of the host is for, in messages.
const PURPOSE: &str = "the results of a block";

/// i-particles that are computed together, at most; more go one batch after the other.
const BATCH: usize = 65536;

/// Blocks for which nearest neighbours are computed before anybody has asked, once somebody did.
const HABIT: u32 = 64;

/// Why no device can be used, in words.
pub enum Absence {
    /// For a reason that holds for the whole machine.
    OnMachine(String),
    /// For one that may hold for this process only.
    InProcess(String),
}

/// The backend on the devices that `settings` name.
///
/// # Errors
///
/// Why no device can be used.
pub fn choose(settings: &Settings) -> std::result::Result<Box<dyn Backend>, Absence> {
    let present = devices().map_err(|reason| match reason {
        driver::OF_THE_PARENT => Absence::InProcess(reason.to_owned()),
        _ => Absence::OnMachine(reason.to_owned()),
    })?;
    let wanted: Vec<&'static Device> = match &settings.devices {
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
    };
    let mut queues = Vec::new();
    let mut lost = Vec::new();
    for device in wanted {
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
    // Every cluster that is opened misses it.
    lost.retain(|(device, _)| device.is_first_missed());
    let lost = words(lost);
    Ok(Box::new(Cuda {
        settings: settings.clone(),
        process: process::generation(),
        queues,
        host: None,
        field: Field::new(settings),
        queued: None,
        wish: 0,
        lost,
        recoveries: 0,
        redone_by_lost: (0, Duration::ZERO),
        redone: (0, Duration::ZERO),
        measured: false,
        phases: Phases::default(),
    }))
}

/// The driver's library and version; nothing where there is none.
pub fn driver_name() -> Option<&'static str> {
    driver::functions::find()
        .ok()
        .map(|found| found.name.as_str())
}

/// Loads what a large block needs on a device: how many kernels are there by now, and how long loading
/// them took.
///
/// # Errors
///
/// In words why the device does not take them.
pub fn load_kernels(
    device: &'static Device,
    precision: Precision,
) -> std::result::Result<(usize, Duration), String> {
    device::load(device, precision).map_err(|failure| failure.to_string())?;
    Ok(device.loading())
}

/// Says that the CPU computes although a GPU was welcome, and why: once in a process; of what holds for
/// all ranks of a machine the first one tells; and nothing where no GPU was asked for and no driver
/// is there, since who has none knows.
pub fn report_absence(settings: &Settings, absence: &Absence) {
    /// One more than the generation of the process that has told.
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

/// The backend.
struct Cuda {
    settings: Settings,
    /// The generation of the process that the devices know.
    process: u32,
    queues: Vec<DeviceQueue>,
    /// What computes once no device is left.
    host: Option<Box<dyn Backend>>,
    field: Field,
    /// What the devices are at: the first i-particle, and whether with nearest neighbours.
    queued: Option<(usize, bool)>,
    /// Blocks for which nearest neighbours are still expected to be wanted.
    wish: u32,
    /// What happened to devices, as far as it was not told yet.
    lost: Vec<String>,
    /// Devices lost at work.
    recoveries: u64,
    /// Leaves summed again in double precision, and the time that took: by devices that were lost since,
    /// and by all when a block was last finished.
    redone_by_lost: (u64, Duration),
    redone: (u64, Duration),
    /// Whether the next block is timed.
    measured: bool,
    phases: Phases,
}

/// A device that failed, by its place in the list.
struct Lost {
    queue: usize,
    failure: Failure,
}

type Attempt<T> = std::result::Result<T, Lost>;

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
        self.settings.precision
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
        let begin = std::mem::take(&mut self.measured).then(Instant::now);
        self.phases = Phases::default();
        self.queued = None;
        self.leave_to_parent();
        if !self.queues.is_empty() {
            let pages = memory.page_count();
            if self.field.pages.len() < pages {
                // What the queues remember of new pages is many small things.
                allocation::spare(pages * BESIDE_A_PAGE, PURPOSE)?;
            }
            self.field.look_at(memory, block, self.settings.precision);
            self.on_devices(|cuda| {
                let batch = cuda.batch(memory, block, DeviceQueue::most_for_forces);
                cuda.enqueue(memory, block, 0, &block.particles[..batch], cuda.wish > 0)
            });
            for &position in &self.field.pages {
                memory.forget_changes(position);
            }
        }
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
        self.leave_to_parent();
        self.wish = match nearest {
            true => HABIT,
            false => self.wish.saturating_sub(1),
        };
        let ni = block.particles.len();
        results.restart(ni, nearest)?;
        let computed = match self.field.scale.representable {
            true => self.on_devices(|cuda| cuda.compute(memory, block, nearest, results)),
            false => None,
        };
        match computed {
            Some(()) => {
                let redone = self.redone();
                self.phases.again = redone.1.saturating_sub(self.redone.1);
                self.redone = redone;
                Ok(())
            }
            None => self.host().finish(memory, block, nearest, results),
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

impl Cuda {
    /// The backend for when no device is left.
    fn host(&mut self) -> &mut dyn Backend {
        let settings = &self.settings;
        &mut **self.host.get_or_insert_with(|| cpu::choose(settings))
    }

    /// A child of the process that made the queues has no devices.
    fn leave_to_parent(&mut self) {
        if self.abandon() {
            let reason = driver::OF_THE_PARENT.to_owned();
            report_absence(&self.settings, &Absence::InProcess(reason));
        }
    }

    /// Gives up the queues if they are the parent's; returns whether there were any.
    fn abandon(&mut self) -> bool {
        let theirs = self.process != process::known_generation() && !self.queues.is_empty();
        if theirs {
            self.queues.drain(..).for_each(DeviceQueue::abandon);
        }
        theirs
    }

    /// Tries something until no device fails at it; `None` once there is no device. Whatever was lost
    /// on the way is told in one line.
    fn on_devices<T>(&mut self, mut attempt: impl FnMut(&mut Self) -> Attempt<T>) -> Option<T> {
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

    /// Leaves summed again by all devices that there were, and the time of that.
    fn redone(&self) -> (u64, Duration) {
        let of_units = self.queues.iter().map(DeviceQueue::redone);
        of_units.fold(self.redone_by_lost, sum)
    }

    /// Goes on without a device.
    #[cold]
    fn lose(&mut self, Lost { queue, failure }: Lost) {
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

    /// Queues a batch of i-particles, the first of which is number `begin` of the block.
    fn enqueue(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        begin: usize,
        batch: &[IParticle],
        nearest: bool,
    ) -> Attempt<()> {
        self.queued = None;
        let count = self.queues.len();
        for (n, queue) in self.queues.iter_mut().enumerate() {
            let job = self.field.job((n, count), memory, block, batch, nearest);
            queue
                .start(&job)
                .map_err(|failure| Lost { queue: n, failure })?;
        }
        self.queued = Some((begin, nearest));
        Ok(())
    }

    /// How many of a block's i-particles are computed together, where a launch on each device may have so
    /// many for its pages.
    fn batch(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        on: impl Fn(&mut DeviceQueue, usize, usize) -> usize,
    ) -> usize {
        let count = self.queues.len();
        let most = block.particles.len().min(BATCH);
        (self.queues.iter_mut().enumerate()).fold(most, |most, (n, queue)| {
            let pages = self.field.job((n, count), memory, block, &[], false).pages;
            on(queue, most, pages)
        })
    }

    /// Computes the block, a batch after the other.
    fn compute(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Attempt<()> {
        let most = self.batch(memory, block, DeviceQueue::most_for_forces);
        for (n, batch) in block.particles.chunks(most.max(1)).enumerate() {
            let begin = n * most;
            let is_queued = |(first, with): (usize, bool)| first == begin && (with || !nearest);
            if !self.queued.is_some_and(is_queued) {
                self.enqueue(memory, block, begin, batch, nearest)?;
            }
            self.queued = None;
            let mut shares = Vec::with_capacity(self.queues.len());
            for (queue, device) in self.queues.iter_mut().enumerate() {
                shares.extend(device.finish().map_err(|failure| Lost { queue, failure })?);
            }
            let end = begin + batch.len();
            combine::forces(&shares, &mut results.forces[begin..end]);
            if nearest {
                combine::nearest(&shares, &mut results.nearest[begin..end]);
            }
        }
        Ok(())
    }

    fn lists(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        rules: ListRules,
    ) -> Attempt<Result<Vec<Vec<i32>>>> {
        // A device may have got another's share since.
        self.enqueue(memory, block, 0, &[], false)?;
        self.queued = None;
        let mut lists = Vec::new();
        let ni = block.particles.len();
        if let Err(error) = allocation::lengthen(&mut lists, ni, neighbours::PURPOSE, Vec::new) {
            return Ok(Err(error));
        }
        let mut listed = 0;
        let most = self.batch(memory, block, |queue, ni, pages| {
            queue.most_for_lists(ni, pages)
        });
        let most = most.max(1);
        let count = self.queues.len();
        for (n, queue) in self.queues.iter_mut().enumerate() {
            for (batch, found) in block.particles.chunks(most).zip(lists.chunks_mut(most)) {
                let job = self.field.job((n, count), memory, block, batch, false);
                let added = queue.add_lists(&job, rules, &mut listed, found);
                if let Err(error) = added.map_err(|failure| Lost { queue: n, failure })? {
                    return Ok(Err(error));
                }
            }
        }
        Ok(Ok(lists))
    }
}

fn sum(a: (u64, Duration), b: (u64, Duration)) -> (u64, Duration) {
    (a.0 + b.0, a.1 + b.1)
}

impl Drop for Cuda {
    fn drop(&mut self) {
        self.abandon();
    }
}
