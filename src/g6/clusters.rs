//! GRAPE-6's clusters by id.

use crate::registry::{Member, Registry};
use kirin_core::cluster::Cluster;
use kirin_core::process::long_work::LongWork;
use kirin_core::process::settings::Settings;
use kirin_core::trace::{self, Event};

/// The clusters of the process.
pub static CLUSTERS: Registry<Cluster> = Registry::new();

impl Member for Cluster {
    const SOLE_STANDS_FOR_ALL: bool = true;

    fn registry() -> &'static Registry<Self> {
        &CLUSTERS
    }

    fn new(id: i32, settings: Settings, work: &'static LongWork) -> Self {
        Self::new(settings).watched(work).known_as(id)
    }

    fn name(id: i32) -> String {
        format!("cluster {id}")
    }

    fn opened(id: i32) {
        trace::record(|| Event::Open { id });
    }

    fn closed(id: i32) {
        trace::record(|| Event::Close { id });
    }

    #[inline(always)]
    fn end_run(&mut self) {
        self.end_run();
    }

    fn report(&mut self, id: i32) {
        self.report(&<Self as Member>::name(id));
    }

    fn inherit(&mut self) {
        self.inherit();
    }
}

#[cfg(test)]
#[path = "clusters_tests.rs"]
mod tests;
