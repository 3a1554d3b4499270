//! Queues the chunks of a batch as planned: sends the data, launches the kernels, fetches the results.
//!
//! The chunks share one upload and one buffer for the results. They also share the buffers of partial sums, because the
//! device computes one chunk after the other. While the device computes a chunk, the host gathers the next one and
//! hands out the results of the one before.

use super::prediction::Advance;
use super::{Chunking, Current, DeviceJob, DeviceQueue, Queued, Result, i_record};
use crate::gpu::cuda::driver::Event;
use crate::gpu::layout::ForceArgs;
use crate::gpu::plan::LaunchPlan;
use crate::gpu::plan::block::{BlockPlan, Buffers, Launch, Sent, Wanted};

/// Alignment of the results of a chunk, bytes.
const ALIGNMENT: usize = 256;

impl DeviceQueue {
    /// The plan of a job's chunk under this division.
    fn chunk_plan(&self, job: &DeviceJob<'_>, division: &LaunchPlan, step: bool) -> BlockPlan {
        let wanted = Wanted {
            ni: job.particles.len(),
            precision: self.precision,
            jerk: job.jerk,
            nearest: job.nearest,
            join: job.join,
            step,
        };
        BlockPlan::new(wanted, division, &self.trees.by_parts[&division.parts])
    }

    /// Reserves the buffers of all chunks, and sends the join schedule if the device does not have it. `job` is the
    /// first chunk, which is the largest. `is_step` tells whether a kernel `step_*` computes its forces.
    pub(super) fn prepare(
        &mut self,
        current: &Current<'_>,
        job: &DeviceJob<'_>,
        division: LaunchPlan,
        (chunks, is_step): (usize, bool),
    ) -> Result<()> {
        let plan = self.chunk_plan(job, &division, is_step);
        let bytes = plan.results.bytes().next_multiple_of(ALIGNMENT);
        self.pinned.reserve(current, chunks * bytes)?;
        if self.pinned.mapped().is_none() || !plan.may_write_to_host {
            self.answer.reserve(current, chunks * bytes)?;
        }
        self.sums.reserve(current, plan.sum_bytes())?;
        self.candidates.reserve(current, plan.candidate_bytes())?;
        self.redone.reserve(current, &self.stream)?;
        let tree = &self.trees.by_parts[&division.parts];
        let sent = self.resident.schedule(
            (current, &self.stream),
            job,
            &self.store,
            (division.parts, tree),
        )?;
        self.chunking = Some(Chunking {
            division,
            plan,
            sent,
            bytes,
            chunks: 0,
            left: job.expected,
        });
        Ok(())
    }

    /// Queues the forces on the i-particles of one chunk, and the copy of the results.
    pub(super) fn chunk(
        &mut self,
        current: &Current<'_>,
        job: &DeviceJob<'_>,
        advance: Advance,
    ) -> Result<()> {
        let Some(mut chunking) = self.chunking.take() else {
            unreachable!("a batch was begun");
        };
        let ni = job.particles.len();
        let at = chunking.chunks * chunking.bytes;
        chunking.chunks += 1;
        chunking.left -= ni;
        let (is_last, sent) = (chunking.left == 0, chunking.sent);
        let division = chunking.division.for_chunk(ni);
        let smaller = !chunking.plan.is_for(ni);
        let smaller = smaller.then(|| self.chunk_plan(job, &division, false));
        let plan = smaller.as_ref().unwrap_or(&chunking.plan);
        assert!(
            plan.results.bytes() <= chunking.bytes,
            "no chunk is larger than the first"
        );
        let is_step = matches!(advance, Advance::InForces);
        let sent = Sent {
            particles: match is_step {
                // The kernel copies them there from its arguments.
                true => self.upload.address(),
                false => (self.upload).put_each(ni, job.particles.iter().map(i_record)),
            },
            ..sent
        };
        let mapped = self.pinned.mapped().filter(|_| plan.may_write_to_host);
        let buffers = Buffers {
            results: mapped.unwrap_or(self.answer.address()) + at as u64,
            sums: self.sums.address(),
            candidates: self.candidates.address(),
        };
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
        if let Advance::Launch(advance) = advance {
            self.launch_advance(current, advance)?;
        }
        self.expect(division.clocks);
        let may_tell = is_last && chunking.chunks == 1 && mapped.is_some();
        self.launch(current, job, plan, args, (is_step, may_tell))?;
        if mapped.is_none() {
            // SAFETY: both buffers have this size; the pinned one is not touched before the next wait.
            unsafe {
                let to = self.pinned.start().add(at);
                (self.stream).download(to, buffers.results, plan.results.bytes())?;
            }
        }
        let event = match is_last {
            true => {
                self.redone.fetch(&self.stream)?;
                None
            }
            false => Some(self.record(current)?),
        };
        let tree = &self.trees.by_parts[&division.parts];
        self.queued.push_back(Queued {
            ni,
            at,
            event,
            unjoined: plan.host_joins.then_some(division.parts),
            kept: tree.kept.clone(),
            results: plan.results,
        });
        self.chunking = (!is_last).then_some(chunking);
        Ok(())
    }

    /// Launches the kernels of a chunk. `is_step` tells whether the first one is a kernel `step_*`, `may_tell` whether
    /// the last one may tell the host that the results are there.
    fn launch(
        &mut self,
        current: &Current<'_>,
        job: &DeviceJob<'_>,
        plan: &BlockPlan,
        mut args: ForceArgs,
        (is_step, may_tell): (bool, bool),
    ) -> Result<()> {
        let launches = plan.launches();
        let last = launches.len() - 1;
        for (n, launch) in launches.into_iter().enumerate() {
            let Launch {
                module,
                kernel,
                grid,
                block,
            } = launch;
            let kernel = self.kernel(current, module, kernel)?;
            if n == last && may_tell && self.redone.is_on_host() {
                let blocks = (grid.0 * grid.1) as usize;
                (args.done, args.number) = self.done.begin(current, blocks)?.unwrap_or_default();
            }
            // SAFETY: these are the kernels' arguments. Sources, uploads and buffers have the sizes that the plan and
            // the tree give, and stay until the queue was waited for.
            unsafe {
                match is_step && n == 0 {
                    true => {
                        self.complete_step(job, args);
                        self.stream.launch(kernel, grid, block, &*self.step)?;
                    }
                    false => self.stream.launch(kernel, grid, block, &args)?,
                }
            }
        }
        Ok(())
    }

    /// An event behind everything queued.
    fn record(&mut self, current: &Current<'_>) -> Result<Event> {
        let event = match self.events.pop() {
            Some(event) => event,
            None => Event::new(current)?,
        };
        event.record(&self.stream)?;
        Ok(event)
    }
}
