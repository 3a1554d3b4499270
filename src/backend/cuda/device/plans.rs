//! Plans and trees, made once and remembered.

use std::collections::HashMap;

use super::{DeviceQueue, Job};
use crate::backend::cuda::plan::LaunchPlan;
use crate::backend::cuda::plan::chip::Conditions;
use crate::backend::cuda::plan::tree::Tree;

/// Plans that are remembered.
const MOST_PLANS: usize = 4096;

/// Trees by the number of parts, for the pages that they were made for.
#[derive(Default)]
pub struct Trees {
    numbers: Vec<u32>,
    ends: (u32, Option<u32>),
    pub by_parts: HashMap<usize, Tree>,
}

impl DeviceQueue {
    /// The plan for so many i-particles and pages, made if this is the first time.
    pub(super) fn plan(&mut self, ni: usize, pages: usize) -> LaunchPlan {
        if self.plans.len() >= MOST_PLANS {
            self.plans.clear();
        }
        let conditions = Conditions {
            multiprocessors: self.device.multiprocessors,
            capability: self.device.capability,
            precision: self.precision,
            split: self.split,
        };
        let new = || LaunchPlan::new(ni, pages, &conditions);
        *self.plans.entry((ni, pages)).or_insert_with(new)
    }

    /// The tree for so many parts, made if this is the first time.
    pub(super) fn grow_tree(&mut self, job: &Job<'_>, parts: usize) {
        let numbers = || {
            job.run[..job.pages]
                .iter()
                .map(|&p| job.memory.page(p).number())
        };
        let trees = &mut self.trees;
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
            .or_insert_with(|| Tree::new(numbers, parts, ends.0, ends.1));
    }
}
