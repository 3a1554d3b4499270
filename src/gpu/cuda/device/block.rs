//! Queues one block as planned: sends the data, launches the kernels, fetches the results.

use super::{Current, DeviceJob, DeviceQueue, Queued, Result, bytes_of, i_record};
use crate::gpu::layout::{AdvanceArgs, ForceArgs, IRecord};
use crate::gpu::plan::LaunchPlan;
use crate::gpu::plan::block::{BlockPlan, Buffers, Sent, Wanted};

impl DeviceQueue {
    /// Bytes to send for a block besides changed j-particles.
    pub(super) fn block_bytes(&self, job: &DeviceJob<'_>, division: &LaunchPlan) -> usize {
        let tree = &self.trees.by_parts[&division.parts];
        bytes_of::<IRecord>(job.particles.len())
            + bytes_of::<u32>(job.pages)
            + bytes_of::<u8>(tree.joins.len())
            + bytes_of::<u32>(tree.first_sum.len())
            + bytes_of::<[u32; 2]>(tree.steps.len())
            + bytes_of::<u32>(tree.rounds.len())
            + bytes_of::<u32>(tree.kept.len())
    }

    /// Adds to the upload what [`DeviceQueue::block_bytes`] counts.
    fn put_block(&mut self, job: &DeviceJob<'_>, division: &LaunchPlan) -> Sent {
        let Self {
            store,
            upload,
            trees,
            ..
        } = self;
        let tree = &trees.by_parts[&division.parts];
        Sent {
            particles: upload.put_each(job.particles.len(), job.particles.iter().map(i_record)),
            order: upload.put_each(job.pages, job.run.iter().map(|&p| store.place(p))),
            joins: upload.put(&tree.joins),
            first_sum: upload.put(&tree.first_sum),
            steps: upload.put(&tree.steps),
            rounds: upload.put(&tree.rounds),
            kept: upload.put_each(tree.kept.len(), tree.kept.iter().map(|&(_, sum)| sum)),
        }
    }

    /// Reserves the buffers; returns where they lie, and whether the kernels write the results to the host's memory.
    fn reserve_block(
        &mut self,
        current: &Current<'_>,
        plan: &BlockPlan,
    ) -> Result<(Buffers, bool)> {
        let bytes = plan.results.bytes();
        self.pinned.reserve(current, bytes)?;
        let mapped = self.pinned.mapped().filter(|_| plan.may_write_to_host);
        if mapped.is_none() {
            self.answer.reserve(current, bytes)?;
        }
        self.sums.reserve(current, plan.sum_bytes())?;
        self.candidates.reserve(current, plan.candidate_bytes())?;
        self.redone.reserve(current, &self.stream)?;
        let buffers = Buffers {
            results: mapped.unwrap_or(self.answer.address()),
            sums: self.sums.address(),
            candidates: self.candidates.address(),
        };
        Ok((buffers, mapped.is_some()))
    }

    /// Queues the forces on the i-particles, and the copy of the results.
    pub(super) fn block(
        &mut self,
        current: &Current<'_>,
        job: &DeviceJob<'_>,
        division: &LaunchPlan,
        advance: Option<AdvanceArgs>,
    ) -> Result<Queued> {
        let tree = &self.trees.by_parts[&division.parts];
        let kept = tree.kept.clone();
        let wanted = Wanted {
            ni: job.particles.len(),
            precision: self.precision,
            jerk: job.jerk,
            nearest: job.nearest,
            join: job.join,
        };
        let plan = BlockPlan::new(wanted, division, tree);
        let sent = self.put_block(job, division);
        let (buffers, is_on_host) = self.reserve_block(current, &plan)?;
        let args = ForceArgs {
            j: self.store.sources(job.units),
            redone: self.redone.address(),
            root: self.root,
            inverse_root: 1.0 / self.root,
            minus_three: (-3.0 / (self.root * self.root)) as f32,
            nj: job.nj as u64,
            ti: job.ti,
            pages: job.pages as u32,
            ..plan.arguments(&sent, &buffers)
        };

        self.upload.send(&self.stream)?;
        self.launch_advance(current, advance)?;
        self.expect(division.clocks);
        for launch in plan.launches() {
            let kernel = self.kernel(current, launch.module, launch.kernel)?;
            // SAFETY: these are the kernels' arguments. Sources, uploads and buffers have the sizes that the plan and
            // the tree give, and stay until the queue was waited for.
            unsafe {
                self.stream
                    .launch(kernel, launch.grid, launch.block, &args)?;
            }
        }
        if !is_on_host {
            let (to, bytes) = (self.pinned.start(), plan.results.bytes());
            // SAFETY: both buffers have this size; the pinned one is not touched before the next wait.
            unsafe { self.stream.download(to, buffers.results, bytes)? };
        }
        self.redone.fetch(&self.stream)?;
        Ok(Queued {
            ni: wanted.ni,
            unjoined: plan.host_joins.then_some(division.parts),
            kept,
            results: plan.results,
        })
    }
}
