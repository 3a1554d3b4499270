//! Small blocks in one launch: i-particles and changed j-particles are arguments of the kernel that computes the forces,
//! and this kernel predicts.

use super::store::Prediction;
use super::{DeviceJob, DeviceQueue, i_record};
use crate::gpu::layout::{FEW, ForceArgs};
use crate::gpu::plan::LaunchPlan;
use crate::process::settings::HostOrDevice;

impl DeviceQueue {
    /// Whether the kernels `step_*` can compute the forces of a job with this plan: each page must belong to one thread
    /// block, which brings it up to date for itself.
    pub(super) fn may_step(&self, job: &DeviceJob<'_>, plan: &LaunchPlan) -> bool {
        let ni = job.particles.len();
        let is_small = ni <= FEW && ni == job.expected && (plan.tile, plan.blocks) == (1, 1);
        // Without parts one thread block would predict all pages, and a watched device ends kernels that take long.
        let divides = self.split && !self.device.is_watched;
        let has_pairs = job.jerk && ni > 0 && job.pages > 0;
        is_small && divides && has_pairs && job.predictor != HostOrDevice::Host
    }

    /// Puts the changed particles into the arguments of a step. Returns `false` if they are too many, or if more has
    /// changed than particles.
    pub(super) fn take_few(
        &mut self,
        job: &DeviceJob<'_>,
        stamp: [u64; 3],
        prediction: &Prediction,
    ) -> bool {
        let Self { store, step, .. } = self;
        let todo = &prediction.todo;
        let records: usize = todo.iter().map(|todo| todo.records).sum();
        if !prediction.only_changed || records > FEW {
            return false;
        }
        let mut count = 0;
        for todo in todo {
            let page = job.memory.header(todo.position);
            let before = store.info(todo);
            let particles = job.memory.particles(todo.position);
            let work = store.note((page, &particles), todo, 0, stamp, self.precision);
            // The kernel looks at pages with addresses below `nj`, and does not change what is known of them.
            if before != Some(work.info) || page.first_address() >= job.nj {
                return false;
            }
            for slot in page.changed().iter() {
                step.place[count] = todo.place;
                step.record[count] = match particles.rows() {
                    Some(rows) => rows[slot].0,
                    None => particles.row(slot, true).0,
                };
                count += 1;
            }
        }
        step.records = count as u32;
        step.predicts = u32::from(prediction.standing.is_some());
        if prediction.standing.is_some() {
            self.expect(self.conditions().prediction_clocks(job.pages));
        }
        true
    }

    /// Completes the arguments of a step that computes these forces.
    pub(super) fn complete_step(&mut self, job: &DeviceJob<'_>, force: ForceArgs) {
        for (to, particle) in self.step.particles.iter_mut().zip(job.particles) {
            *to = i_record(particle);
        }
        self.step.force = force;
    }
}
