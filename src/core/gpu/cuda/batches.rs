//! Blocks and their neighbour lists on the devices, one batch of i-particles after the other.

use super::backend::Cuda;
use super::device::DeviceQueue;
use super::losses::{Attempt, Lost};
use crate::error::Result;
use crate::force::{ForceRequest, Results};
use crate::gpu::combine;
use crate::process::allocation;
use crate::sources::jmemory::JMemory;
use crate::sources::neighbours::{self, ListRules};
use crate::sources::particle::IParticle;

/// Most i-particles of one batch.
const BATCH: usize = 65536;

impl Cuda {
    /// Queues a batch of i-particles, the first of which is number `begin` of the block.
    pub(super) fn enqueue(
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
            let job = self
                .distribution
                .job((n, count), memory, block, batch, nearest);
            queue
                .start(&job)
                .map_err(|failure| Lost { queue: n, failure })?;
        }
        self.queued = Some((begin, nearest));
        Ok(())
    }

    /// The number of i-particles in a batch of a block. For a number of i-particles and of pages, `on` returns how
    /// many i-particles one launch on a device may have.
    pub(super) fn batch(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        on: impl Fn(&mut DeviceQueue, usize, usize) -> usize,
    ) -> usize {
        let count = self.queues.len();
        let most = block.particles.len().min(BATCH);
        (self.queues.iter_mut().enumerate()).fold(most, |most, (n, queue)| {
            let pages = self
                .distribution
                .job((n, count), memory, block, &[], false)
                .pages;
            on(queue, most, pages)
        })
    }

    /// Computes the forces of a block, one batch after the other.
    pub(super) fn compute(
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

    pub(super) fn lists(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        rules: ListRules,
    ) -> Attempt<Result<Vec<Vec<i32>>>> {
        // Brings the devices up to date: one of them may have taken over pages of a device that was lost since.
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
