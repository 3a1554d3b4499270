//! One device: its share of the j-particles, its queue, and the work of one block.

mod block;
mod done;
mod lists;
mod plans;
mod prediction;
pub mod regular;
mod resident;
mod roots;
pub mod scaling;
mod standing;
mod step;
pub mod store;
mod upload;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use self::done::Done;
use self::plans::Trees;
use self::prediction::Advance;
use self::resident::Resident;
use self::store::Store;
use self::upload::{Upload, bytes_of};
use crate::force::scaling::Scaling;
use crate::gpu::combine::Share;
use crate::gpu::cuda::driver::memory::{DeviceBuffer, PinnedBuffer, Tally};
use crate::gpu::cuda::driver::{
    Current, Device, Event, Kernel, Result, RetainedContext, Stream, WaitLimits,
};
use crate::gpu::layout::{IRecord, Redone, StepArgs};
use crate::gpu::plan::LaunchPlan;
use crate::gpu::plan::Module;
use crate::gpu::plan::block::{BlockPlan, ResultLayout, Sent};
use crate::process::settings::{HostOrDevice, Precision, Settings};
use crate::sources::jmemory::JMemory;
use crate::sources::particle::IParticle;

/// Work for a device on its share of the j-particles.
pub struct DeviceJob<'a> {
    /// The j-particles.
    pub memory: &'a JMemory,
    /// Positions of the device's pages in `memory`, in address order.
    pub run: &'a [usize],
    /// How many of them, counted from the first, have addresses below `nj`.
    pub pages: usize,
    /// Number of the first page of the run; 0 for the first run of all.
    pub first: u32,
    /// Number of the first page of the next device, if that has addresses below `nj`.
    pub next: Option<u32>,
    /// The i-particles of one chunk.
    pub particles: &'a [IParticle],
    /// The number of i-particles of the batch. If the first chunk has fewer, the caller brings the others by
    /// [`DeviceQueue::add`]. These chunks have the size of the first; only the last may be smaller.
    pub expected: usize,
    /// Number of leading addresses.
    pub nj: usize,
    /// Time of the prediction.
    pub ti: f64,
    /// Units on the device.
    pub units: Scaling,
    /// Whether any particle moves; if none does, jerks are zero and not computed.
    pub jerk: bool,
    /// Whether nearest neighbours are wanted.
    pub nearest: bool,
    /// Where j-particles are predicted.
    pub predictor: HostOrDevice,
    /// Where sums are joined.
    pub join: HostOrDevice,
}

/// A device with its memory and its queue.
pub struct DeviceQueue {
    /// The device.
    pub device: &'static Device,
    context: RetainedContext,
    precision: Precision,
    /// Mean of `rsqrt(x) * sqrt(x)` over the device's approximate reciprocal square roots.
    root: f64,
    split: bool,
    stream: Stream,
    store: Store,
    upload: Upload,
    /// Arguments of a small block.
    step: Box<StepArgs>,
    /// Where the device tells that results are there.
    done: Done,
    /// Partial sums of the parts.
    sums: DeviceBuffer,
    /// The nearest neighbours that each part found.
    candidates: DeviceBuffer,
    /// Leaves summed again in double precision, counted by the kernels.
    redone: Tally<Redone>,
    /// That number at the end of the last finished job.
    known_redone: Redone,
    /// Results, on the device and on the host.
    answer: DeviceBuffer,
    pinned: PinnedBuffer,
    kernels: HashMap<String, Kernel>,
    /// Plans by numbers of i-particles and of pages.
    plans: HashMap<(usize, usize), LaunchPlan>,
    trees: Trees,
    resident: Resident,
    /// The chunks whose results were not fetched yet.
    queued: VecDeque<Queued>,
    /// How the chunks of the present batch are computed.
    chunking: Option<Chunking>,
    /// Events for the ends of chunks, those not in use.
    events: Vec<Event>,
    /// Whether there may be work that nobody has waited for.
    busy: bool,
    /// How long that work should take by the plans.
    planned: Duration,
    /// Seconds beyond ten times that after which the device is given up, if that is limited.
    timeout: Option<Duration>,
}

/// What the chunks of a batch share.
struct Chunking {
    division: LaunchPlan,
    /// The plan of all chunks but perhaps the last.
    plan: BlockPlan,
    /// Where the join schedule lies.
    sent: Sent,
    /// Bytes of the results of a chunk, at most.
    bytes: usize,
    /// Chunks and i-particles that were queued, and i-particles that are still to come.
    chunks: usize,
    left: usize,
}

/// How the results of a queued chunk lie in the pinned memory after the wait.
struct Queued {
    ni: usize,
    /// Where they begin.
    at: usize,
    /// What is waited for; the queue itself after the last chunk.
    event: Option<Event>,
    /// The number of parts if the host has to join their sums.
    unjoined: Option<usize>,
    kept: Vec<(u32, u32)>,
    results: ResultLayout,
}

/// Loads the kernels of a large block.
///
/// # Errors
///
/// The device cannot be opened, or its driver cannot compile the kernels.
pub fn load(device: &'static Device, precision: Precision) -> Result<()> {
    let context = device.open()?;
    let current = context.enter()?;
    for name in [
        format!("advance_{}", precision.in_kernels()),
        format!("force_{}_jerk_4", precision.in_kernels()),
    ] {
        device.kernel(&current, Module::Forces(precision), &name)?;
    }
    Ok(())
}

impl DeviceQueue {
    /// The device, opened, with no j-particles.
    ///
    /// # Errors
    ///
    /// The device cannot be opened, or fails at its first kernels.
    pub fn new(device: &'static Device, settings: &Settings) -> Result<Self> {
        let precision = settings.precision.arithmetic();
        let context = device.open()?;
        let current = context.enter()?;
        let stream = Stream::new(&current)?;
        let mut queue = Self {
            device,
            context,
            precision,
            root: 1.0,
            split: settings.split,
            stream,
            store: Store::default(),
            upload: Upload::default(),
            step: Box::default(),
            done: Done::default(),
            sums: DeviceBuffer::default(),
            candidates: DeviceBuffer::default(),
            redone: Tally::default(),
            known_redone: Redone::default(),
            answer: DeviceBuffer::default(),
            pinned: PinnedBuffer::default(),
            kernels: HashMap::new(),
            plans: HashMap::new(),
            trees: Trees::default(),
            resident: Resident::default(),
            queued: VecDeque::new(),
            chunking: None,
            events: Vec::new(),
            busy: false,
            planned: Duration::ZERO,
            timeout: settings.gpu_timeout.map(|s| Duration::from_secs(s.into())),
        };
        // Loaded here already, so that a driver that cannot compile our kernels is noticed at opening.
        let advance = format!("advance_{}", precision.in_kernels());
        queue.kernel(&current, Module::Forces(precision), advance)?;
        match queue.measure_root(&current) {
            Ok(()) => Ok(queue),
            Err(failure) => {
                // Freeing anything on a device that does not answer may never return, nor may opening it again.
                if failure.is_hang() {
                    device.give_up();
                    queue.abandon();
                }
                Err(failure)
            }
        }
    }

    fn kernel(&mut self, current: &Current<'_>, module: Module, name: String) -> Result<Kernel> {
        if let Some(&kernel) = self.kernels.get(&name) {
            return Ok(kernel);
        }
        let kernel = self.device.kernel(current, module, &name)?;
        self.kernels.insert(name, kernel);
        Ok(kernel)
    }

    /// Queues a job with the first chunk of a batch. Earlier work is waited for, and its results are dropped.
    ///
    /// # Errors
    ///
    /// Those of the driver; the queue must not be used again then.
    pub fn start(&mut self, job: &DeviceJob<'_>) -> Result<()> {
        let current = self.context.enter()?;
        self.settle(&current)?;
        self.busy = true;
        let plan = self.plan(job.particles.len().max(1), job.pages.max(1));
        self.grow_tree(job, plan.parts);
        let chunks = job.expected.div_ceil(job.particles.len().max(1));
        let room = chunks * bytes_of::<IRecord>(job.particles.len());
        let may_step = self.may_step(job, &plan);
        let advance = self.advance(&current, job, room, may_step)?;
        if !job.particles.is_empty() && job.pages > 0 {
            let is_step = matches!(advance, Advance::InForces);
            self.prepare(&current, job, plan, (chunks, is_step))?;
            return self.chunk(&current, job, advance);
        }
        self.upload.send(&self.stream)?;
        match advance {
            Advance::Launch(args) => self.launch_advance(&current, args),
            Advance::Nothing | Advance::InForces => Ok(()),
        }
    }

    /// Queues a further chunk of the batch that [`DeviceQueue::start`] began.
    ///
    /// # Errors
    ///
    /// Those of the driver; the queue must not be used again then.
    pub fn add(&mut self, job: &DeviceJob<'_>) -> Result<()> {
        if job.pages == 0 {
            return Ok(());
        }
        let current = self.context.enter()?;
        self.chunk(&current, job, Advance::Nothing)
    }

    /// Waits for what is queued, and drops its results.
    fn settle(&mut self, current: &Current<'_>) -> Result<()> {
        self.drop_queued();
        self.done.forget();
        if self.busy {
            self.wait(current)?;
            self.busy = false;
        }
        Ok(())
    }

    /// Drops the results of all chunks.
    fn drop_queued(&mut self) {
        self.chunking = None;
        let events = self.queued.drain(..).filter_map(|queued| queued.event);
        self.events.extend(events);
    }

    /// Waits for all that was launched, or until the device has told that the results of the present block are there.
    fn wait(&mut self, current: &Current<'_>) -> Result<()> {
        let limits = WaitLimits {
            planned: std::mem::take(&mut self.planned),
            timeout: self.timeout,
        };
        let done = self.done.tells().then_some(|| self.done.is_told());
        (self.stream).wait_or(current, limits, done)
    }

    /// The results of the next chunk; `None` if it has no pairs.
    ///
    /// # Errors
    ///
    /// Those of the driver; the queue must not be used again then.
    pub fn finish(&mut self) -> Result<Option<Share<'_>>> {
        let Some(queued) = self.queued.pop_front() else {
            return Ok(None);
        };
        let current = self.context.enter()?;
        match queued.event {
            Some(event) => {
                let limits = WaitLimits {
                    planned: self.planned,
                    timeout: self.timeout,
                };
                let passed = event.wait(&current, limits);
                self.events.push(event);
                passed?;
            }
            None => {
                self.wait(&current)?;
                self.busy = false;
                self.known_redone = self.redone.read();
            }
        }
        let Queued {
            ni,
            at,
            kept,
            results,
            ..
        } = queued;
        // SAFETY: the pinned memory has at least the bytes of the layout, the device is done writing them, each array
        // is aligned, and any bits are valid numbers.
        let (sums, r2, labels) = unsafe {
            let start = self.pinned.start().add(at);
            let (r2, labels) = (start.add(results.r2()), start.add(results.labels()));
            (
                std::slice::from_raw_parts_mut(start.cast::<f64>(), results.sums),
                std::slice::from_raw_parts(r2.cast::<f64>(), results.nearest),
                std::slice::from_raw_parts(labels.cast::<i32>(), results.nearest),
            )
        };
        if let Some(parts) = queued.unjoined {
            self.trees.by_parts[&parts].join_on_host(sums, ni);
        }
        Ok(Some(Share {
            leaves: kept.iter().map(|&(leaf, _)| leaf).collect(),
            sums,
            nearest: (r2, labels),
        }))
    }

    /// How many leaves the finished jobs summed again in double precision, and the time that took, added up over
    /// all thread blocks.
    pub fn redone(&self) -> (u64, Duration) {
        let Redone { leaves, clocks } = self.known_redone;
        let seconds = clocks as f64 * 1e-9 / self.device.clock;
        let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        (leaves, time)
    }

    /// Drops the results of what is queued, without waiting.
    pub fn cancel(&mut self) {
        self.drop_queued();
    }

    /// Frees nothing on the device: it belongs to the parent of this process, or does not answer.
    pub fn abandon(self) {
        std::mem::forget(self);
    }
}

impl Drop for DeviceQueue {
    fn drop(&mut self) {
        let Ok(current) = self.context.enter() else {
            return;
        };
        // What is queued still uses the buffers. On a lost device the wait fails, and nobody uses them any more.
        self.done.forget();
        let _ = self.wait(&current);
        if self.device.hangs() {
            return;
        }
        self.done.free(&current);
        self.store.free(&current);
        self.upload.free(&current);
        for buffer in [&mut self.sums, &mut self.candidates, &mut self.answer] {
            buffer.free(&current);
        }
        self.resident.free(&current);
        self.drop_queued();
        self.events
            .iter_mut()
            .for_each(|event| event.free(&current));
        self.redone.free(&current);
        self.pinned.free(&current);
        self.stream.free(&current);
    }
}

/// Copies number by number: a copy of a vector goes through the stack, where its load waits for two stores.
fn i_record(i: &IParticle) -> IRecord {
    let copy = |v: &[f64; 3]| [v[0], v[1], v[2]];
    IRecord {
        x: copy(&i.x),
        v: copy(&i.v),
        eps2: i.eps2,
        h2: i.h2,
        label: i.index.into(),
    }
}
