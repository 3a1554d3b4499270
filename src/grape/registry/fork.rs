//! The clusters of a process that forks while other threads are in calls: the child has all of them.
//!
//! The fork waits for every cluster that is in a short call. It does not wait for long work
//! (forces, lists), which changes nothing but its own results: the child begins that work anew
//! when it wants the results.

use std::sync::atomic::AtomicBool;

use super::{Entry, Open, Registry};
use crate::grape::cluster::Cluster;
use crate::grape::lock as turn;
use crate::process::fork::{self, Patience, Prepared, Subject};
use crate::process::{lock, log};

/// All clusters of all registries.
struct Clusters;

/// The clusters while the process forks.
#[derive(Default)]
struct Held {
    open: Vec<lock::Guard<'static, Open>>,
    /// Whose ids another thread has.
    open_elsewhere: Vec<&'static Registry>,
    clusters: Vec<turn::Guard<'static, Option<Box<Cluster>>>>,
    /// Clusters on which other threads are at long work, which cannot end until the fork is made.
    at_work: Vec<(&'static Registry, &'static Entry)>,
    /// Clusters that other threads did not release in time.
    lost: Vec<(&'static Registry, &'static Entry)>,
}

/// From here on forks are prepared.
pub fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    fork::watch(&Clusters, &WATCHED);
}

fn entries() -> impl Iterator<Item = (&'static Registry, &'static Entry)> {
    let of = |registry: &'static Registry| registry.entries().map(move |entry| (registry, entry));
    super::all().into_iter().flat_map(of)
}

impl Subject for Clusters {
    /// For the lists of clusters.
    fn room(&self) -> usize {
        entries().count() * size_of::<usize>() * 8
    }

    fn prepare(&'static self, patience: &Patience) -> Box<dyn Prepared> {
        let mut held = Held::default();
        for registry in super::all() {
            match patience.wait_for(|| registry.open.try_lock()) {
                Some(guard) => held.open.push(guard),
                None => held.open_elsewhere.push(registry),
            }
        }
        for (registry, entry) in entries() {
            let attempt = || match entry.cluster.try_lock() {
                Some(guard) => Some(Some(guard)),
                // Long work on it is held up: no guard, and nothing to wait for.
                None => entry.work.hold_up().then_some(None),
            };
            match patience.wait_for(attempt) {
                Some(Some(guard)) => held.clusters.push(guard),
                Some(None) => held.at_work.push((registry, entry)),
                None => held.lost.push((registry, entry)),
            }
        }
        Box::new(held)
    }
}

impl Prepared for Held {
    fn resume(&mut self) {
        self.at_work.iter().for_each(|(_, e)| e.work.let_go());
    }

    unsafe fn inherit(&mut self) {
        for registry in &self.open_elsewhere {
            // SAFETY: passed on: this is the child's only thread. A thread of the parent held it.
            let _ = unsafe { registry.open.take_from_the_dead() };
        }
        for guard in self.clusters.drain(..) {
            // SAFETY: as above. Another thread may have begun to wait for it.
            unsafe { guard.end_in_child() };
        }
        for (registry, entry) in self.at_work.iter().chain(&self.lost) {
            // SAFETY: as above.
            let cluster = unsafe { entry.cluster.take_from_the_dead() };
            if entry.work.forget() {
                cluster.iter_mut().for_each(|cluster| cluster.inherit());
            } else if let Some(cluster) = cluster.take() {
                // Half-changed, so that it cannot even be dropped.
                std::mem::forget(cluster);
                log::line(format_args!(
                    "{} was being changed by another thread when the process forked: it is empty here",
                    registry.name(entry.id)
                ));
            }
        }
    }
}
