//! Queues one block as planned: sends the data, launches the kernels, fetches the results.

use super::{Current, DeviceJob, DeviceQueue, Queued, Result, i_record};
use crate::gpu::layout::{AdvanceArgs, ForceArgs};
use crate::gpu::plan::LaunchPlan;
use crate::gpu::plan::block::{BlockPlan, Buffers, Sent, Wanted};

impl DeviceQueue {
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
        let particles = job.particles.iter().map(i_record);
        let sent = Sent {
            particles: self.upload.put_each(wanted.ni, particles),
            ..self.resident.schedule(
                (current, &self.stream),
                job,
                &self.store,
                (division.parts, tree),
            )?
        };
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
