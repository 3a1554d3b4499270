//! NBODY6's regular force and the potential on one device: pair loop, decisions, sums and lists of a batch of targets.

mod layout;
mod plan;
mod sources;

use self::layout::{RegularArgs, RegularTarget};
use self::plan::Shape;
use self::sources::{DeviceSources, STAGED};
use super::upload::bytes_of;
use super::{Current, DeviceQueue, Module, Result};
use crate::cpu::UncertainBand;
use crate::error;
use crate::force::regular::{Criterion, PURPOSE, RegularResult, Sources, Target};
use crate::gpu::cuda::driver::memory::DeviceBuffer;
use crate::gpu::layout::{Pointer, SUMS};
use crate::gpu::plan::block::Launch;
use crate::gpu::plan::limit;
use crate::process::allocation;
use crate::process::settings::Precision;
use crate::sources::jmemory::PAGE;

/// Threads of the kernels, as in the sources.
const PREPARE_THREADS: u32 = 256;
const DECIDE_THREADS: u32 = 128;
/// Targets of a thread block of the kernel that joins, and threads for each of them.
const JOIN_COLUMNS: u32 = 8;
const JOIN_LANES: u32 = 32;

/// Most bytes for the words, sums and lists of the targets of one batch.
const BATCH: usize = 256 << 20;

/// What is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summed {
    /// The regular force.
    Force,
    /// The potential alone.
    Potential,
}

/// What is asked of a batch.
#[derive(Clone, Copy)]
pub struct Question {
    /// What is summed.
    pub sum: Summed,
    /// Who is a neighbour.
    pub criterion: Criterion,
    /// Longer lists are counted and cut.
    pub longest: usize,
}

/// Targets that are computed together.
struct Batch {
    question: Question,
    ni: usize,
    pages: usize,
    shape: Shape,
    /// Most labels in the lists.
    most_listed: usize,
    /// Labels that are fetched together with the sums: as many as the batch before had.
    foreseen: usize,
}

impl Batch {
    fn new(question: Question, ni: usize, pages: usize, shape: Shape, listed: usize) -> Self {
        let most_listed = match question.sum {
            Summed::Force => ni * question.longest,
            Summed::Potential => 0,
        };
        Self {
            question,
            ni,
            pages,
            shape,
            most_listed,
            foreseen: listed.min(most_listed),
        }
    }

    /// Bytes of a sum of every quantity for each target.
    fn sum_bytes(&self) -> usize {
        SUMS * self.ni * 8
    }

    /// Bytes of the sums and of the numbers of neighbours.
    fn answer_bytes(&self) -> usize {
        (self.sum_bytes() + self.ni * 4).next_multiple_of(16)
    }

    /// The kernels, in the order of their launches.
    fn launches(&self, precision: Precision) -> Vec<Launch> {
        let (loops, decide) = match self.question.sum {
            Summed::Force => ("regular", "decide_neighbours"),
            Summed::Potential => ("potential", "add_close"),
        };
        let (ni, shape) = (self.ni as u32, self.shape);
        let mut launches = vec![Launch {
            module: Module::Regular(precision),
            kernel: format!("{loops}_{}_{}", precision.in_kernels(), shape.tile),
            grid: (self.pages as u32, self.ni.div_ceil(shape.targets()) as u32),
            block: (shape.columns as u32, shape.rows as u32),
        }];
        let mut also = |kernel: &str, grid, block| {
            launches.push(Launch {
                module: Module::RegularCommon,
                kernel: kernel.to_owned(),
                grid,
                block,
            });
        };
        also(decide, (ni, 1), (DECIDE_THREADS, 1));
        let join = (ni.div_ceil(JOIN_COLUMNS), SUMS as u32);
        also("join_regular", join, (JOIN_COLUMNS, JOIN_LANES));
        if self.most_listed > 0 {
            also("list_regular", (ni, 1), (DECIDE_THREADS, 1));
        }
        launches
    }
}

/// A device at work on regular forces.
pub struct RegularQueue {
    /// The device, its queue, and memory for whatever is asked.
    pub queue: DeviceQueue,
    forces: DeviceSources,
    potentials: DeviceSources,
    list: DeviceBuffer,
    /// Neighbours that the last batch had: the next one may have as many.
    listed: usize,
}

impl RegularQueue {
    /// A device without sources.
    pub fn new(queue: DeviceQueue) -> Self {
        Self {
            queue,
            forces: DeviceSources::default(),
            potentials: DeviceSources::default(),
            list: DeviceBuffer::default(),
            listed: 0,
        }
    }

    /// Sends sources to the device. The copy may still be under way on return.
    ///
    /// # Errors
    ///
    /// Those of the driver; the queue is of no use then.
    pub fn load(&mut self, sum: Summed, sources: &Sources) -> Result<()> {
        let Self {
            queue,
            forces,
            potentials,
            ..
        } = self;
        let store = match sum {
            Summed::Force => forces,
            Summed::Potential => potentials,
        };
        let current = queue.context.enter()?;
        queue.settle(&current)?;
        store.count = sources.len();
        let pages = sources.pages().len();
        if pages == 0 {
            return Ok(());
        }
        queue.busy = true;
        store.reserve(&current, pages, queue.precision)?;
        for first in (0..pages).step_by(STAGED) {
            if first > 0 {
                queue.wait(&current)?;
            }
            store.send(&queue.stream, sources, first, queue.precision)?;
        }
        let name = format!("prepare_{}", queue.precision.in_kernels());
        let kernel = queue.kernel(&current, Module::Regular(queue.precision), name)?;
        queue.expect(queue.conditions().prediction_clocks(pages));
        let args = store.arguments();
        // SAFETY: what the kernel takes; the store has so many pages.
        unsafe {
            queue
                .stream
                .launch(kernel, (args.pages, 1), (PREPARE_THREADS, 1), &args)
        }
    }

    /// The sums for some targets, with the lists of their neighbours.
    ///
    /// # Errors
    ///
    /// Those of the driver; the queue is of no use then. Inside: the host has no memory for the lists.
    pub fn compute(
        &mut self,
        question: Question,
        targets: &[Target],
        results: &mut [RegularResult],
    ) -> Result<error::Result<()>> {
        let current = self.queue.context.enter()?;
        let count = self.store(question.sum).count;
        if count == 0 {
            results.iter_mut().for_each(RegularResult::restart);
            return Ok(Ok(()));
        }
        let question = Question {
            longest: question.longest.min(count),
            ..question
        };
        let most = self.most(question, targets.len(), count.div_ceil(PAGE));
        for (targets, results) in targets.chunks(most).zip(results.chunks_mut(most)) {
            if let Err(error) = self.batch(&current, question, targets, results)? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    /// How many targets are computed together.
    fn most(&self, question: Question, ni: usize, pages: usize) -> usize {
        let conditions = self.queue.conditions();
        let shape = Shape::new(ni, pages, &conditions);
        let each = pages * shape.bytes_of_page() + question.longest * 4;
        let most = (BATCH / each).clamp(1, ni.max(1));
        // Whole thread blocks, and as many of them as a watchdog allows.
        let most = match most < ni && most > shape.targets() {
            true => most - most % shape.targets(),
            false => most,
        };
        if !self.queue.device.is_watched {
            return most;
        }
        limit::most(most, shape.targets().min(most), |n| {
            let clocks = Shape::new(n, pages, &conditions).clocks(n, pages, &conditions);
            self.queue.seconds(clocks)
        })
    }

    fn batch(
        &mut self,
        current: &Current<'_>,
        question: Question,
        targets: &[Target],
        results: &mut [RegularResult],
    ) -> Result<error::Result<()>> {
        let (ni, pages) = (targets.len(), self.store(question.sum).count.div_ceil(PAGE));
        let shape = Shape::new(ni, pages, &self.queue.conditions());
        let batch = Batch::new(question, ni, pages, shape, self.listed);
        let args = self.send(current, &batch, targets)?;
        self.launch(current, &batch, &args)?;
        self.fetch(current, &batch, args.list, results)
    }

    fn store(&self, sum: Summed) -> &DeviceSources {
        match sum {
            Summed::Force => &self.forces,
            Summed::Potential => &self.potentials,
        }
    }

    /// Reserves the buffers and queues the upload; returns the kernels' arguments.
    fn send(
        &mut self,
        current: &Current<'_>,
        batch: &Batch,
        targets: &[Target],
    ) -> Result<RegularArgs> {
        let of_sources = self.store(batch.question.sum).arguments();
        let Self { queue, list, .. } = self;
        let (ni, rows, precision) = (batch.ni, batch.shape.rows, queue.precision);
        let of_sums = batch.sum_bytes();
        queue
            .upload
            .begin(current, bytes_of::<RegularTarget>(ni), false)?;
        queue.busy = true;
        let words = ni * batch.pages * (PAGE / 8);
        queue.candidates.reserve(current, words)?;
        // The sums of the decided pairs lie before those of the pages.
        let sums = of_sums + batch.pages * rows * of_sums;
        queue.sums.reserve(current, sums)?;
        queue.answer.reserve(current, batch.answer_bytes())?;
        let fetched = batch.answer_bytes() + batch.foreseen * 4;
        queue.pinned.reserve(current, fetched)?;
        list.reserve(current, batch.most_listed * 4)?;
        let described = targets.iter().map(|target| described(target, precision));
        let args = RegularArgs {
            targets: queue.upload.put_each(ni, described),
            words: queue.candidates.address(),
            sums: queue.sums.address() + of_sums as Pointer,
            exact: queue.sums.address(),
            results: queue.answer.address(),
            counts: queue.answer.address() + of_sums as Pointer,
            list: list.address(),
            inverse_root: 1.0 / queue.root,
            doubt: 1.0 + UncertainBand::OF_H2,
            absolute: UncertainBand::OF_ERROR,
            on_the_way: UncertainBand::OF_WAY,
            ni: ni as u32,
            rows: rows as u32,
            longest: batch.question.longest as u32,
            by_mass: (batch.question.criterion == Criterion::MassAndRadius).into(),
            minus_three: (-3.0 / (queue.root * queue.root)) as f32,
            ..of_sources
        };
        queue.upload.send(&queue.stream)?;
        Ok(args)
    }

    /// Queues the kernels.
    fn launch(&mut self, current: &Current<'_>, batch: &Batch, args: &RegularArgs) -> Result<()> {
        let queue = &mut self.queue;
        let conditions = queue.conditions();
        let clocks = batch.shape.clocks(batch.ni, batch.pages, &conditions);
        queue.expect(clocks + conditions.list_clocks(batch.ni, batch.pages));
        for launch in batch.launches(queue.precision) {
            let kernel = queue.kernel(current, launch.module, launch.kernel)?;
            // SAFETY: what these kernels take. The buffers have the sizes that they ask for, and stay until the queue
            // was waited for.
            unsafe {
                queue
                    .stream
                    .launch(kernel, launch.grid, launch.block, args)?;
            }
        }
        Ok(())
    }

    /// Waits for the sums and counts, then for what is missing of the lists.
    fn fetch(
        &mut self,
        current: &Current<'_>,
        batch: &Batch,
        list: Pointer,
        results: &mut [RegularResult],
    ) -> Result<error::Result<()>> {
        let queue = &mut self.queue;
        let (ni, answer) = (batch.ni, batch.answer_bytes());
        let start = queue.pinned.start();
        // SAFETY: the buffers have these sizes; the pinned one is not touched before the wait.
        unsafe {
            let from = queue.answer.address();
            queue.stream.download(start, from, answer)?;
            if batch.foreseen > 0 {
                let to = start.add(answer);
                queue.stream.download(to, list, batch.foreseen * 4)?;
            }
        }
        queue.wait(current)?;
        // SAFETY: written by the copy that was waited for, aligned, and any bits are numbers.
        let (sums, counts) = unsafe {
            (
                std::slice::from_raw_parts(start.cast::<f64>(), SUMS * ni),
                std::slice::from_raw_parts(start.add(batch.sum_bytes()).cast::<u32>(), ni),
            )
        };
        let longest = batch.question.longest;
        let mut total = 0;
        for (i, result) in results.iter_mut().enumerate() {
            let [ax, ay, az, pot, jx, jy, jz] = std::array::from_fn(|c| sums[c * ni + i]);
            result.restart();
            result.sums = [ax, ay, az, jx, jy, jz, pot];
            result.neighbours = counts[i] as usize;
            total += result.neighbours.min(longest);
        }
        let mut at = answer;
        if total > batch.foreseen {
            at = 0;
            queue.pinned.reserve(current, total * 4)?;
            // SAFETY: as above; the kernel has written so many.
            unsafe {
                let to = queue.pinned.start();
                queue.stream.download(to, list, total * 4)?;
            }
            queue.wait(current)?;
        }
        queue.busy = false;
        if batch.question.sum == Summed::Force {
            self.listed = total;
        }
        // SAFETY: as above.
        let mut labels = unsafe {
            std::slice::from_raw_parts(queue.pinned.start().add(at).cast::<i32>(), total)
        };
        for result in results {
            let (mine, others) = labels.split_at(result.neighbours.min(longest));
            if let Err(error) = allocation::reserve(&mut result.list, mine.len(), PURPOSE) {
                return Ok(Err(error));
            }
            result.list.extend_from_slice(mine);
            labels = others;
        }
        Ok(Ok(()))
    }

    /// Leaves everything as it is: the process was forked, and the device belongs to the parent.
    pub fn abandon(self) {
        std::mem::forget(self);
    }
}

/// A target as the kernels take it.
fn described(target: &Target, precision: Precision) -> RegularTarget {
    let Target { x, v, h2, dtr } = *target;
    let UncertainBand {
        error,
        error_of_speed,
        closest2,
        speed,
    } = UncertainBand::of(target, precision);
    RegularTarget {
        x,
        v,
        speed,
        h2,
        dtr,
        error,
        error_of_speed,
        closest2,
    }
}

impl Drop for RegularQueue {
    fn drop(&mut self) {
        let Ok(current) = self.queue.context.enter() else {
            return;
        };
        // What is queued still uses the buffers.
        let _ = self.queue.wait(&current);
        if self.queue.device.hangs() {
            return;
        }
        self.forces.free(&current);
        self.potentials.free(&current);
        self.list.free(&current);
    }
}
