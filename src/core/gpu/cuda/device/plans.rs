//! Caches the plans and join schedules of a device, and the times that the plans predict.

use std::collections::HashMap;
use std::time::Duration;

use super::{DeviceJob, DeviceQueue};
use crate::gpu::plan::chip::Conditions;
use crate::gpu::plan::joins::JoinSchedule;
use crate::gpu::plan::{LEAST_COLUMNS, LaunchPlan, chunks, limit};

/// Most plans that are kept.
const MOST_PLANS: usize = 4096;

/// What tells a run of pages from others: the number of all pages, the first page of the run, how many pages it has, how
/// many of them have addresses below `nj`, and the first page of the next device. (Pages are added and never removed.)
pub type RunKey = (usize, Option<usize>, usize, usize, Option<u32>);

impl DeviceJob<'_> {
    /// The key of the job's run of pages.
    pub fn run_key(&self) -> RunKey {
        let (all, first) = (self.memory.page_count(), self.run.first().copied());
        (all, first, self.run.len(), self.pages, self.next)
    }
}

/// Join schedules by the number of parts, all for the same run of pages.
#[derive(Default)]
pub struct Trees {
    numbers: Vec<u32>,
    ends: (u32, Option<u32>),
    /// What `numbers` and `ends` were made from.
    made_from: Option<RunKey>,
    pub by_parts: HashMap<usize, JoinSchedule>,
}

impl DeviceQueue {
    /// The plan for `ni` i-particles and `pages` pages.
    pub(super) fn plan(&mut self, ni: usize, pages: usize) -> LaunchPlan {
        if self.plans.len() >= MOST_PLANS {
            self.plans.clear();
        }
        let conditions = self.conditions();
        let new = || LaunchPlan::new(ni, pages, &conditions);
        *self.plans.entry((ni, pages)).or_insert_with(new)
    }

    /// The conditions for which this device plans.
    pub(super) fn conditions(&self) -> Conditions {
        Conditions {
            multiprocessors: self.device.multiprocessors,
            capability: self.device.capability,
            precision: self.precision,
            split: self.split,
        }
    }

    /// The time of a number of clocks, seconds.
    pub(super) fn seconds(&self, clocks: f64) -> f64 {
        let clock = self.device.clock;
        // 1 GHz for a device that does not tell its clock rate.
        clocks / (if clock > 0.0 { clock } else { 1.0 } * 1e9)
    }

    /// Adds so many clocks to the predicted time of the next wait.
    pub(super) fn expect(&mut self, clocks: f64) {
        let seconds = self.seconds(clocks);
        self.planned += Duration::try_from_secs_f64(seconds).unwrap_or_default();
    }

    /// How many of `ni` i-particles a chunk has.
    pub fn chunk_size(&mut self, ni: usize, pages: usize) -> usize {
        chunks::size(ni, |n| {
            let clocks = self.plan(n, pages.max(1)).clocks;
            self.seconds(clocks)
        })
    }

    /// How many of `ni` i-particles one launch of the force kernel may have: all, unless long kernels are ended.
    pub fn most_for_forces(&mut self, ni: usize, pages: usize) -> usize {
        if !self.device.is_watched || pages == 0 {
            return ni;
        }
        let conditions = self.conditions();
        limit::most(ni, LEAST_COLUMNS, |n| {
            let plan = self.plan(n, pages);
            limit::limited(self.seconds(plan.clocks), conditions.worst_case(plan.tile))
        })
    }

    /// As [`DeviceQueue::most_for_forces`], for the kernels that make neighbour lists.
    pub fn most_for_lists(&self, ni: usize, pages: usize) -> usize {
        if !self.device.is_watched {
            return ni;
        }
        let conditions = self.conditions();
        limit::most(ni, 1, |n| self.seconds(conditions.list_clocks(n, pages)))
    }

    /// How many of `pages` pages one launch may predict.
    pub(super) fn most_predicted(&self, pages: usize) -> usize {
        if !self.device.is_watched {
            return pages;
        }
        let conditions = self.conditions();
        limit::most(pages, 1, |n| self.seconds(conditions.prediction_clocks(n)))
    }

    /// Makes the join schedule of the job's pages in `parts` parts, if there is none yet.
    pub(super) fn grow_tree(&mut self, job: &DeviceJob<'_>, parts: usize) {
        let numbers = || {
            job.run[..job.pages]
                .iter()
                .map(|&p| job.memory.header(p).number())
        };
        let trees = &mut self.trees;
        if trees.made_from == Some(job.run_key()) && trees.by_parts.contains_key(&parts) {
            return;
        }
        trees.made_from = Some(job.run_key());
        let ends = (job.first, job.next);
        if trees.ends != ends || !trees.numbers.iter().copied().eq(numbers()) {
            trees.numbers = numbers().collect();
            trees.ends = ends;
            trees.by_parts.clear();
        }
        let numbers = &trees.numbers;
        trees
            .by_parts
            .entry(parts)
            .or_insert_with(|| JoinSchedule::new(numbers, parts, ends.0, ends.1));
    }
}
