//! Blocks and their neighbour lists on the devices, one batch of i-particles after the other. The devices are given a large
//! batch in chunks ([`crate::gpu::plan::chunks`]).

use std::ops::Range;

use super::backend::Cuda;
use super::device::{DeviceJob, DeviceQueue};
use super::distribution::Distribution;
use super::losses::{Attempt, Lost};
use crate::error::Result;
use crate::force::{Arriving, Deliver, ForceRequest, Results};
use crate::gpu::combine;
use crate::gpu::plan::chunks;
use crate::process::allocation;
use crate::sources::jmemory::JMemory;
use crate::sources::neighbours::{self, ListRules};

/// Most i-particles of one batch.
const BATCH: usize = 65536;

impl Cuda {
    /// Queues the chunk of a batch that begins at i-particle `begin` of the block. `run` is the batch. `each` is the
    /// number of i-particles of every chunk but the last.
    fn enqueue_chunk(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        (run, each): (&Range<usize>, usize),
        begin: usize,
        nearest: bool,
    ) -> Attempt<()> {
        self.queued = None;
        let count = self.queues.len();
        let chunk = &block.particles[begin..run.end.min(begin + each)];
        for (n, queue) in self.queues.iter_mut().enumerate() {
            let job = self
                .distribution
                .job((n, count), memory, block, chunk, nearest);
            let job = DeviceJob {
                expected: run.len(),
                ..job
            };
            let queued = match begin == run.start {
                true => queue.start(&job),
                false => queue.add(&job),
            };
            queued.map_err(|failure| Lost { queue: n, failure })?;
        }
        Ok(())
    }

    /// Queues a batch of i-particles that are all there.
    pub(super) fn enqueue(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        run: Range<usize>,
        nearest: bool,
    ) -> Attempt<()> {
        let each = self.chunk_size(memory, block, run.len());
        // At least once, as j-particles are to be sent also without i-particles.
        for begin in std::iter::once(run.start).chain((run.clone()).step_by(each).skip(1)) {
            self.enqueue_chunk(memory, block, (&run, each), begin, nearest)?;
        }
        self.queued = Some((run.start, nearest));
        Ok(())
    }

    /// Queues the first batch of a block of which i-particles are still to come, each chunk as soon as it is there.
    pub(super) fn enqueue_arriving(
        &mut self,
        memory: &JMemory,
        block: &mut ForceRequest,
        rest: &mut dyn Arriving,
        nearest: bool,
    ) -> Attempt<()> {
        let all = block.particles.len() + rest.left();
        let run = 0..self.batch(memory, block, all, DeviceQueue::most_for_forces);
        let each = self.chunk_size(memory, block, run.len());
        for begin in std::iter::once(0).chain((run.clone()).step_by(each).skip(1)) {
            let end = run.end.min(begin + each);
            rest.fetch(
                end.saturating_sub(block.particles.len()),
                &mut block.particles,
            );
            self.enqueue_chunk(memory, block, (&run, each), begin, nearest)?;
        }
        self.queued = Some((0, nearest));
        Ok(())
    }

    /// The number of pages that a device computes with.
    fn pages_of(
        distribution: &Distribution,
        device: (usize, usize),
        memory: &JMemory,
        block: &ForceRequest,
    ) -> usize {
        (distribution.job(device, memory, block, &[], false)).pages
    }

    /// The number of i-particles in a chunk of a batch of `ni`, by the plan of the device with most pages.
    fn chunk_size(&mut self, memory: &JMemory, block: &ForceRequest, ni: usize) -> usize {
        if ni < chunks::DIVIDED {
            return ni.max(1);
        }
        let count = self.queues.len();
        let pages = |n| Self::pages_of(&self.distribution, (n, count), memory, block);
        let (_, most) = (0..count).fold((0, 0), |most, n| most.max((pages(n), n)));
        let pages = pages(most);
        self.queues[most].chunk_size(ni, pages).max(1)
    }

    /// How many of the `ni` i-particles of a block make one batch. `on` gets a device's queue, a number of i-particles
    /// and a number of pages; it returns how many i-particles one launch on that device may have.
    pub(super) fn batch(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        ni: usize,
        on: impl Fn(&mut DeviceQueue, usize, usize) -> usize,
    ) -> usize {
        let count = self.queues.len();
        let most = ni.min(BATCH);
        (self.queues.iter_mut().enumerate()).fold(most, |most, (n, queue)| {
            let pages = Self::pages_of(&self.distribution, (n, count), memory, block);
            on(queue, most, pages)
        })
    }

    /// Computes the forces of a block, one batch after the other, and passes them on, one chunk after the other.
    pub(super) fn compute(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
        deliver: &mut Deliver<'_>,
    ) -> Attempt<()> {
        let ni = block.particles.len();
        let most = self.batch(memory, block, ni, DeviceQueue::most_for_forces);
        for begin in (0..ni).step_by(most.max(1)) {
            let run = begin..ni.min(begin + most.max(1));
            let is_queued = |(first, with): (usize, bool)| first == begin && (with || !nearest);
            if !self.queued.is_some_and(is_queued) {
                self.enqueue(memory, block, run.clone(), nearest)?;
            }
            self.queued = None;
            let each = self.chunk_size(memory, block, run.len());
            for begin in run.clone().step_by(each) {
                let chunk = begin..run.end.min(begin + each);
                self.collect(chunk.clone(), nearest, results)?;
                deliver(block, chunk, results);
            }
        }
        Ok(())
    }

    /// Waits for the next chunk and takes its results.
    fn collect(
        &mut self,
        chunk: Range<usize>,
        nearest: bool,
        results: &mut Results,
    ) -> Attempt<()> {
        let mut shares = Vec::with_capacity(self.queues.len());
        for (queue, device) in self.queues.iter_mut().enumerate() {
            shares.extend(device.finish().map_err(|failure| Lost { queue, failure })?);
        }
        combine::forces(&shares, &mut results.forces[chunk.clone()]);
        if nearest {
            combine::nearest(&shares, &mut results.nearest[chunk]);
        }
        Ok(())
    }

    pub(super) fn lists(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        rules: ListRules,
    ) -> Attempt<Result<Vec<Vec<i32>>>> {
        // Brings the devices up to date: one of them may have taken over pages of a device that was lost since.
        self.enqueue(memory, block, 0..0, false)?;
        self.queued = None;
        let mut lists = Vec::new();
        let ni = block.particles.len();
        if let Err(error) = allocation::lengthen(&mut lists, ni, neighbours::PURPOSE, Vec::new) {
            return Ok(Err(error));
        }
        let mut listed = 0;
        let most = self.batch(memory, block, ni, |queue, ni, pages| {
            queue.most_for_lists(ni, pages)
        });
        let most = most.max(1);
        let count = self.queues.len();
        for (n, queue) in self.queues.iter_mut().enumerate() {
            for (batch, found) in block.particles.chunks(most).zip(lists.chunks_mut(most)) {
                let job = self
                    .distribution
                    .job((n, count), memory, block, batch, false);
                let added = queue.add_lists(&job, rules, &mut listed, found);
                if let Err(error) = added.map_err(|failure| Lost { queue: n, failure })? {
                    return Ok(Err(error));
                }
            }
        }
        Ok(Ok(lists))
    }
}
