//! Cluster ids and the clusters behind them.
//!
//! An id is any integer a client comes up with; ph4 opens an uninitialised one
//! and then uses its MPI rank. So an id that was never opened stands for the sole
//! open cluster, if there is exactly one, and for a cluster of its own otherwise.
//! Finding the cluster of a known id takes no lock, and entering it none that costs anything in a
//! program that calls from one thread.

use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::Mutex;

use crate::grape::cluster::Cluster;
use crate::grape::lock::{self, Turn};
use crate::observe::trace::{self, Event};
use crate::process::settings::{self, Destination};
use crate::process::{self, log};

/// Number of lists into which ids are hashed.
const BUCKETS: usize = 64;

/// The place of one cluster; kept for the life of the process, empty while closed.
#[derive(Default)]
struct Unit {
    cluster: Turn<Option<Box<Cluster>>>,
}

/// What one id stands for. Entries are never freed, so they can be read without a lock.
struct Entry {
    id: i32,
    next: AtomicPtr<Entry>,
    /// The unit of this id or of another one; null after that was closed.
    unit: AtomicPtr<Unit>,
    own: Unit,
}

/// All ids of the process.
pub struct Registry {
    buckets: [AtomicPtr<Entry>; BUCKETS],
    /// Ids whose units are open. Also orders every change of the registry.
    open: Mutex<Vec<i32>>,
}

/// The registry behind the exported functions.
pub static REGISTRY: Registry = Registry::new();

impl Registry {
    /// A registry without clusters.
    pub const fn new() -> Self {
        Self {
            buckets: [const { AtomicPtr::new(ptr::null_mut()) }; BUCKETS],
            open: Mutex::new(Vec::new()),
        }
    }

    /// Opens the cluster of `id`. One that is open already stays as it is.
    pub fn open(&self, id: i32) {
        let mut open = self.open.lock();
        let entry = self.entry(id, &mut open);
        if !ptr::eq(entry.unit.load(Ordering::Acquire), &raw const entry.own) {
            Self::point_at_own(entry, &mut open);
        }
        let mut cluster = entry.own.cluster.lock();
        cluster.get_or_insert_with(new_cluster);
        trace::record(|| Event::Open { id });
    }

    /// Closes the cluster of `id` and forgets its memory. Nothing happens where none is open.
    pub fn close(&self, id: i32) {
        let mut open = self.open.lock();
        let Some(entry) = self.find(id) else { return };
        let unit = entry.unit.load(Ordering::Acquire);
        if unit.is_null() {
            return;
        }
        open.retain(|&other| {
            self.find(other)
                .is_none_or(|e| !ptr::eq(&raw const e.own, unit))
        });
        for e in self.entries() {
            if ptr::eq(e.unit.load(Ordering::Acquire), unit) {
                e.unit.store(ptr::null_mut(), Ordering::Release);
            }
        }
        // SAFETY: units live in entries, which are never freed.
        let mut cluster = unsafe { &*unit }.cluster.lock();
        // Under the lock: a write that comes later belongs to the next cluster of this name.
        trace::record(|| Event::Close { id });
        let dropped = cluster.take();
        drop(cluster);
        let owner = self.entries().find(|e| ptr::eq(&raw const e.own, unit));
        drop(open);
        if let (Some(mut cluster), Some(owner)) = (dropped, owner) {
            cluster.report(owner.id);
        }
    }

    /// Writes the statistics of the open clusters, at the end of the process.
    fn report(&self) {
        for entry in self.entries() {
            match entry.own.cluster.try_lock() {
                Some(mut cluster) => {
                    if let Some(cluster) = &mut *cluster {
                        cluster.report(entry.id);
                    }
                }
                // Another thread may be in a call that never returns: nobody waits for it here.
                None => log::line(format_args!(
                    "cluster {} is at work at the end of the process: it has no statistics",
                    entry.id
                )),
            }
        }
    }

    /// Runs `call` on the cluster of `id`, which is opened if need be.
    #[inline(always)]
    pub fn with<R>(&self, id: i32, call: impl FnOnce(&mut Cluster) -> R) -> R {
        call(&mut self.lock(id))
    }

    /// The cluster of `id`, opened if need be, for the calling thread alone.
    #[inline(always)]
    pub fn lock(&self, id: i32) -> Locked<'_> {
        // SAFETY: units live in entries, which are never freed.
        if let Some(unit) = unsafe { self.unit(id).as_ref() } {
            let guard = unit.cluster.lock();
            if guard.is_some() {
                return Locked(guard);
            }
        }
        self.open_and_lock(id)
    }

    #[cold]
    fn open_and_lock(&self, id: i32) -> Locked<'_> {
        loop {
            let known = self.unit(id);
            let unit = if known.is_null() {
                self.attach(id)
            } else {
                known
            };
            // SAFETY: units live in entries, which are never freed.
            let mut guard = unsafe { &*unit }.cluster.lock();
            // Another thread may have closed the cluster since: then the id has to be asked again.
            if guard.is_some() || ptr::eq(self.unit(id), unit) {
                guard.get_or_insert_with(new_cluster);
                return Locked(guard);
            }
        }
    }

    /// The ids above `id` and below `id + count` that stand for an open cluster.
    pub fn open_after(&self, id: i32, count: usize) -> impl Iterator<Item = i32> {
        let end = i64::from(id).saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        self.entries()
            .filter(move |e| e.id > id && i64::from(e.id) < end)
            .filter(|e| !e.unit.load(Ordering::Acquire).is_null())
            .map(|e| e.id)
    }

    /// What an id stands for at present; null where nothing is open.
    #[inline(always)]
    fn unit(&self, id: i32) -> *mut Unit {
        self.find(id)
            .map_or(ptr::null_mut(), |e| e.unit.load(Ordering::Acquire))
    }

    /// Finds a unit for an id that has none: the sole open one, or a new one.
    #[cold]
    fn attach(&self, id: i32) -> *mut Unit {
        let mut open = self.open.lock();
        let sole = match open[..] {
            [sole] => self.find(sole),
            _ => None,
        };
        let entry = self.entry(id, &mut open);
        let unit = entry.unit.load(Ordering::Acquire);
        if !unit.is_null() {
            return unit; // another thread was faster
        }
        match sole {
            Some(sole) => entry
                .unit
                .store((&raw const sole.own).cast_mut(), Ordering::Release),
            None => Self::point_at_own(entry, &mut open),
        }
        entry.unit.load(Ordering::Acquire)
    }

    fn point_at_own(entry: &Entry, open: &mut Vec<i32>) {
        open.push(entry.id);
        entry
            .unit
            .store((&raw const entry.own).cast_mut(), Ordering::Release);
    }

    fn bucket(&self, id: i32) -> &AtomicPtr<Entry> {
        &self.buckets[id as u32 as usize % BUCKETS]
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.buckets.iter().flat_map(|bucket| {
            // SAFETY: entries are never freed, and are complete before they can be reached.
            let first = unsafe { bucket.load(Ordering::Acquire).as_ref() };
            std::iter::successors(first, |e| {
                // SAFETY: as above.
                unsafe { e.next.load(Ordering::Acquire).as_ref() }
            })
        })
    }

    #[inline(always)]
    fn find(&self, id: i32) -> Option<&Entry> {
        let mut next = self.bucket(id).load(Ordering::Acquire);
        loop {
            // SAFETY: entries are never freed, and are complete before they can be reached.
            let entry = unsafe { next.as_ref() }?;
            if entry.id == id {
                return Some(entry);
            }
            next = entry.next.load(Ordering::Acquire);
        }
    }

    /// The entry of `id`, made if there is none. The caller holds the lock on `open`.
    fn entry(&self, id: i32, _held: &mut Vec<i32>) -> &Entry {
        if let Some(entry) = self.find(id) {
            return entry;
        }
        let bucket = self.bucket(id);
        let entry = Box::leak(Box::new(Entry {
            id,
            next: AtomicPtr::new(bucket.load(Ordering::Acquire)),
            unit: AtomicPtr::new(ptr::null_mut()),
            own: Unit::default(),
        }));
        bucket.store(entry, Ordering::Release);
        entry
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

/// An open cluster, as long as its lock is held.
pub struct Locked<'a>(lock::Guard<'a, Option<Box<Cluster>>>);

impl Deref for Locked<'_> {
    type Target = Cluster;
    #[inline(always)]
    fn deref(&self) -> &Cluster {
        match &*self.0 {
            Some(cluster) => cluster,
            None => unreachable!("it was opened when it was locked"),
        }
    }
}

impl DerefMut for Locked<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Cluster {
        match &mut *self.0 {
            Some(cluster) => cluster,
            None => unreachable!("it was opened when it was locked"),
        }
    }
}

fn new_cluster() -> Box<Cluster> {
    let settings = settings::settings();
    if settings.stats != Destination::Off {
        static AT_EXIT: Once = Once::new();
        AT_EXIT.call_once(|| process::at_exit(report_all));
    }
    Box::new(Cluster::new(settings.clone()))
}

extern "C" fn report_all() {
    process::last_words(|| REGISTRY.report());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grape::particle::JParticle;

    fn mark(registry: &Registry, id: i32, label: i32) {
        let p = JParticle {
            index: label,
            x: [f64::from(label), 0.0, 0.0],
            ..Default::default()
        };
        registry
            .with(id, |c| c.set_j_particle(0, &p))
            .expect("address 0 is legal");
    }

    fn marked(registry: &Registry, id: i32) -> Option<i32> {
        registry.with(id, |c| {
            let found = c.predicted(1).next().flatten();
            found.map(|(x, _)| x[0] as i32)
        })
    }

    #[test]
    fn an_id_never_opened_is_the_sole_open_cluster() {
        let r = Registry::new();
        r.open(32544);
        mark(&r, 0, 7);
        assert_eq!(marked(&r, 32544), Some(7));
        // ph4 opens another uninitialised id later and goes on with 0
        r.open(32727);
        assert_eq!(marked(&r, 0), Some(7));
        assert_eq!(marked(&r, 32727), None);
    }

    #[test]
    fn several_clusters_are_kept_apart() {
        let r = Registry::new();
        for id in [0, 1, 64, -5] {
            r.open(id);
            mark(&r, id, id);
        }
        for id in [0, 1, 64, -5] {
            assert_eq!(marked(&r, id), Some(id));
        }
        mark(&r, 2, 2); // never opened, not alone: its own
        assert_eq!((marked(&r, 2), marked(&r, 0)), (Some(2), Some(0)));
    }

    #[test]
    fn close_forgets_and_open_keeps() {
        let r = Registry::new();
        r.close(0);
        r.open(0);
        mark(&r, 0, 3);
        r.open(0);
        assert_eq!(marked(&r, 0), Some(3));
        r.close(0);
        r.close(0);
        assert_eq!(marked(&r, 0), None);
    }

    #[test]
    fn close_through_another_name_closes_the_cluster() {
        let r = Registry::new();
        r.open(9);
        mark(&r, 1, 4);
        r.close(1);
        assert_eq!(marked(&r, 9), None);
    }

    #[test]
    fn calls_need_no_open() {
        let r = Registry::new();
        mark(&r, 12, 1);
        assert_eq!(marked(&r, 12), Some(1));
    }

    #[test]
    fn many_threads_at_once() {
        let r = Registry::new();
        std::thread::scope(|s| {
            for t in 0..8 {
                let r = &r;
                s.spawn(move || {
                    r.open(t);
                    for k in 0..200 {
                        mark(r, t, t * 1000 + k);
                        assert_eq!(marked(r, t), Some(t * 1000 + k));
                    }
                    r.close(t);
                });
            }
        });
    }
}
