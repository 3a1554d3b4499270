//! A fork while other threads are at work: the child has none of them, but all their clusters.
//!
//! Before the fork every cluster is waited for that is in a short call. Long work (forces, lists)
//! changes nothing but its own results: its cluster is taken as it is, and the child begins the
//! work anew when it wants the results.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Entry, Open, REGISTRY};
use crate::grape::cluster::Cluster;
use crate::grape::lock as turn;
use crate::observe::trace;
use crate::process::lock;
use crate::process::{self, allocation, entry, log};

/// How long a fork waits for calls that are short unless something holds them up, such as a disk.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the forking thread holds while it forks.
#[derive(Default)]
struct Held {
    open: Option<lock::Guard<'static, Open>>,
    clusters: Vec<turn::Guard<'static, Option<Box<Cluster>>>>,
    /// Those on which work of other threads is held up.
    at_work: Vec<&'static Entry>,
    /// Others that other threads have.
    lost: Vec<&'static Entry>,
}

thread_local! {
    static HELD: Cell<*mut Held> = const { Cell::new(ptr::null_mut()) };
}

/// Has forks prepared from here on.
pub fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        process::generation();
        // SAFETY: the handlers are functions of this library, which is never unloaded.
        unsafe {
            // Fails for want of memory only; forks are then as they would be without this file.
            libc::pthread_atfork(Some(prepare), Some(go_on), Some(begin));
        }
    }
}

extern "C" fn prepare() {
    // A signal handler forks: this thread may have any of the locks, and has them after the fork too.
    if entry::is_inside() {
        return;
    }
    // Where there is no memory, the fork is not prepared.
    if allocation::spare(
        REGISTRY.entries().count() * size_of::<usize>() * 8,
        "a fork",
    )
    .is_err()
    {
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
    loop {
        held.open = REGISTRY.open.try_lock();
        if held.open.is_some() || !wait() {
            break;
        }
    }
    for entry in REGISTRY.entries() {
        loop {
            if let Some(guard) = entry.cluster.try_lock() {
                held.clusters.push(guard);
                break;
            }
            if entry.work.hold_up() {
                held.at_work.push(entry);
                break;
            }
            if !wait() {
                held.lost.push(entry);
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
        held.at_work.iter().for_each(|entry| entry.work.let_go());
    }
}

/// In the child.
extern "C" fn begin() {
    let Some(held) = take() else { return };
    // SAFETY: this is the child's only thread.
    unsafe { trace::leave_to_parent() };
    if held.open.is_none() {
        // SAFETY: as above; another thread had it, waiting for memory or the processor.
        let _ = unsafe { REGISTRY.open.take_from_the_dead() };
    }
    for entry in held.at_work.iter().chain(&held.lost) {
        // SAFETY: as above.
        let cluster = unsafe { entry.cluster.take_from_the_dead() };
        if entry.work.forget() {
            cluster.iter_mut().for_each(|cluster| cluster.inherit());
        } else if let Some(cluster) = cluster.take() {
            // Half-changed, so that it cannot even be dropped.
            std::mem::forget(cluster);
            log::line(format_args!(
                "cluster {} was being changed by another thread when the process forked: it is empty here",
                entry.id
            ));
        }
    }
}
