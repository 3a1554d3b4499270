//! What happens when the process forks while other threads are in calls: the child has all
//! clusters, but none of those threads.
//!
//! The fork waits for every cluster that is in a short call. It does not wait for long work
//! (forces, lists), which changes nothing but its own results: the child begins that work anew
//! when it wants the results.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Entry, Open, Registry};
use crate::grape::cluster::Cluster;
use crate::grape::lock as turn;
use crate::observe::trace;
use crate::process::lock;
use crate::process::{self, allocation, entry, log};

/// How long a fork waits for short calls. Something may hold them up, such as a disk.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the forking thread holds while it forks.
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

thread_local! {
    static HELD: Cell<*mut Held> = const { Cell::new(ptr::null_mut()) };
}

/// From here on forks are prepared.
pub fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        process::generation();
        // SAFETY: the handlers are functions of this library, which is never unloaded.
        unsafe {
            // Fails only if there is no memory; forks are then not prepared.
            libc::pthread_atfork(Some(prepare), Some(go_on), Some(begin));
        }
    }
}

extern "C" fn prepare() {
    // A signal handler forks. This thread may hold any of the locks, and still holds them in the child.
    if entry::is_inside() {
        return;
    }
    // Without memory for the list of clusters the fork is not prepared.
    let entries = || super::all().map(|r| r.entries().map(move |e| (r, e)));
    let count: usize = entries().map(Iterator::count).iter().sum();
    if allocation::spare(count * size_of::<usize>() * 8, "a fork").is_err() {
        return;
    }
    let begin = Instant::now();
    let wait = || {
        let goes_on = begin.elapsed() < PATIENCE;
        if goes_on {
            std::thread::sleep(Duration::from_micros(50));
        }
        goes_on
    };
    let mut held = Held::default();
    for registry in super::all() {
        loop {
            if let Some(guard) = registry.open.try_lock() {
                held.open.push(guard);
                break;
            }
            if !wait() {
                held.open_elsewhere.push(registry);
                break;
            }
        }
    }
    for (registry, entry) in entries().into_iter().flatten() {
        loop {
            if let Some(guard) = entry.cluster.try_lock() {
                held.clusters.push(guard);
                break;
            }
            if entry.work.hold_up() {
                held.at_work.push((registry, entry));
                break;
            }
            if !wait() {
                held.lost.push((registry, entry));
                break;
            }
        }
    }
    HELD.set(Box::into_raw(Box::new(held)));
}

fn take() -> Option<Box<Held>> {
    let held = HELD.replace(ptr::null_mut());
    // SAFETY: made by `prepare` in this thread, and taken once.
    (!held.is_null()).then(|| unsafe { Box::from_raw(held) })
}

/// In the parent.
extern "C" fn go_on() {
    if let Some(held) = take() {
        held.at_work.iter().for_each(|(_, e)| e.work.let_go());
    }
}

/// In the child.
extern "C" fn begin() {
    let Some(held) = take() else { return };
    // SAFETY: this is the child's only thread.
    unsafe { trace::leave_to_parent() };
    for registry in &held.open_elsewhere {
        // SAFETY: as above. A thread of the parent held it.
        let _ = unsafe { registry.open.take_from_the_dead() };
    }
    for (registry, entry) in held.at_work.iter().chain(&held.lost) {
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
