//! Cluster ids and the clusters behind them.
//!
//! Clients use any integer as an id. ph4 opens an uninitialised one and then uses its MPI
//! rank: so if exactly one cluster is open, an id that was never opened stands for that one.
//! Otherwise it gets a cluster of its own. Finding the cluster of a known id takes no lock.

mod fork;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::error::Result;
use crate::grape::cluster::Cluster;
use crate::grape::grape5;
use crate::grape::jmemory::SourceKind;
use crate::grape::lock::{self, Turn};
use crate::grape::work::LongWork;
use crate::observe::trace::{self, Event};
use crate::process::lock::{Guard, Lock};
use crate::process::settings::{self, Destination};
use crate::process::{self, allocation, log};

/// The number of lists into which ids are hashed. Unused ones cost no memory.
const BUCKETS: usize = 1 << 16;

/// What the memory is for, in messages.
const PURPOSE: &str = "a cluster";

/// An id and its cluster. Entries are never freed, so that they can be read without a lock.
struct Entry {
    id: i32,
    next: AtomicPtr<Entry>,
    /// The entry whose cluster the id stands for: this one, another, or none.
    stands_for: AtomicPtr<Entry>,
    /// The cluster of this id, while it is open.
    cluster: Turn<Option<Box<Cluster>>>,
    /// Where long work on the cluster is marked.
    work: LongWork,
}

/// The ids in use.
#[derive(Default)]
struct Open {
    /// The ids whose own clusters are open.
    ids: BTreeSet<i32>,
    /// For such an id: the other ids that stand, or stood, for its cluster.
    aliases: BTreeMap<i32, Vec<i32>>,
}

/// Whose ids they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interface {
    /// Clusters of GRAPE-6.
    Grape6,
    /// Memories of GRAPE-5, see [`grape5`].
    Grape5,
}

/// All ids of the process.
pub struct Registry {
    interface: Interface,
    buckets: [AtomicPtr<Entry>; BUCKETS],
    /// Held for every change of the registry. A thread that holds it never waits for a cluster.
    open: Lock<Open>,
}

/// The registry behind the calls of GRAPE-6.
pub static REGISTRY: Registry = Registry::new();

/// The registry behind the calls of GRAPE-5.
pub static GRAPE5: Registry = Registry::of(Interface::Grape5);

/// Every registry of the process.
fn all() -> [&'static Registry; 2] {
    [&REGISTRY, &GRAPE5]
}

impl Registry {
    /// A registry of GRAPE-6 without clusters.
    pub const fn new() -> Self {
        Self::of(Interface::Grape6)
    }

    const fn of(interface: Interface) -> Self {
        Self {
            interface,
            buckets: [const { AtomicPtr::new(ptr::null_mut()) }; BUCKETS],
            open: Lock::new(Open {
                ids: BTreeSet::new(),
                aliases: BTreeMap::new(),
            }),
        }
    }

    /// Opens the cluster of `id`. If it is open already, nothing changes.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn open(&self, id: i32) -> Result<()> {
        process::protected(|| {
            loop {
                let mut open = self.ids();
                let entry = self.entry(id, &mut open)?;
                Self::point_at_own(entry, &mut open);
                drop(open);
                let mut cluster = entry.cluster.lock();
                // Another thread may have closed it since.
                if entry.stands_for_own() {
                    if cluster.is_none() {
                        *cluster = Some(self.new_cluster(entry)?);
                    }
                    self.record(id, |id| Event::Open { id });
                    return Ok(());
                }
            }
        })
    }

    /// Closes the cluster of `id` and frees its memory. If none is open, nothing happens.
    pub fn close(&self, id: i32) {
        process::protected(|| {
            let mut open = self.ids();
            let Some(owner) = self.owner(id) else { return };
            open.ids.remove(&owner.id);
            let aliases = open.aliases.remove(&owner.id).unwrap_or_default();
            for name in aliases.into_iter().chain([owner.id]) {
                if let Some(entry) = self.find(name)
                    && ptr::eq(entry.stands_for.load(Ordering::Acquire), owner)
                {
                    entry.stands_for.store(ptr::null_mut(), Ordering::Release);
                }
            }
            drop(open);
            let mut cluster = owner.cluster.lock();
            // Recorded under the lock: a later write belongs to the next cluster with this id.
            self.record(id, |id| Event::Close { id });
            let closed = cluster.take();
            drop(cluster);
            if let Some(mut closed) = closed {
                closed.report(&self.name(owner.id));
            }
        });
    }

    /// Writes the statistics of the open clusters, at the end of the process.
    fn report(&self) {
        for entry in self.entries() {
            match entry.cluster.try_lock() {
                Some(mut cluster) => {
                    if let Some(cluster) = &mut *cluster {
                        cluster.report(&self.name(entry.id));
                    }
                }
                // No waiting: another thread may be in a call that never returns.
                None => log::line(format_args!(
                    "{} is at work at the end of the process: it has no statistics",
                    self.name(entry.id)
                )),
            }
        }
    }

    /// Runs `call` on the cluster of `id`, in the standard floating-point environment. Opens the
    /// cluster if it is not open.
    ///
    /// # Errors
    ///
    /// Those of the call, or there is no memory for a cluster.
    pub fn with<R>(&self, id: i32, call: impl FnOnce(&mut Cluster) -> Result<R>) -> Result<R> {
        process::protected(|| call(&mut *self.lock(id)?))
    }

    /// Locks the cluster of `id`, for calls that compute nothing. Opens it if it is not open.
    ///
    /// # Errors
    ///
    /// There is no memory.
    #[inline(always)]
    pub fn lock(&self, id: i32) -> Result<Locked<'_>> {
        if let Some(owner) = self.owner(id) {
            let guard = owner.cluster.lock();
            if guard.is_some() {
                return Ok(Locked(guard));
            }
        }
        self.open_and_lock(id)
    }

    #[cold]
    fn open_and_lock(&self, id: i32) -> Result<Locked<'_>> {
        loop {
            let owner = match self.owner(id) {
                Some(owner) => owner,
                None => self.attach(id)?,
            };
            let mut guard = owner.cluster.lock();
            // Another thread may have closed the cluster since: then the id has to be asked again.
            if guard.is_some() || owner.stands_for_own() {
                if guard.is_none() {
                    *guard = Some(process::protected(|| self.new_cluster(owner))?);
                }
                return Ok(Locked(guard));
            }
        }
    }

    /// The ids between `id` and `id + count`, both left out, whose own clusters are open.
    pub fn open_after(&self, id: i32, count: usize) -> Vec<i32> {
        let end = i64::from(id).saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        let open = self.ids();
        let after = open.ids.range(id..).filter(|&&other| other > id);
        after
            .copied()
            .take_while(|&other| i64::from(other) < end)
            .collect()
    }

    /// The entry whose cluster an id stands for at present, if any.
    #[inline(always)]
    fn owner(&self, id: i32) -> Option<&'static Entry> {
        let owner = self.find(id)?.stands_for.load(Ordering::Acquire);
        // SAFETY: entries are never freed.
        unsafe { owner.as_ref() }
    }

    /// Finds a cluster for an id that stands for none: the sole open one, or a new one.
    #[cold]
    fn attach(&self, id: i32) -> Result<&'static Entry> {
        let mut open = self.ids();
        if let Some(owner) = self.owner(id) {
            return Ok(owner); // another thread was faster
        }
        let sole = match (open.ids.first(), open.ids.last()) {
            // GRAPE-5 knows what its ids mean.
            _ if self.interface == Interface::Grape5 => None,
            (Some(first), Some(last)) if first == last => self.find(*first),
            _ => None,
        };
        let entry = self.entry(id, &mut open)?;
        Ok(match sole {
            Some(sole) => {
                open.aliases.entry(sole.id).or_default().push(id);
                entry.point_at(sole);
                sole
            }
            None => {
                Self::point_at_own(entry, &mut open);
                if self.interface == Interface::Grape5 {
                    // A replay of it knows nothing of that.
                    self.record(id, |id| Event::Open { id });
                }
                entry
            }
        })
    }

    /// Waits for the ids. A fork in another thread finds the lock held, so forks are prepared before.
    fn ids(&self) -> Guard<'_, Open> {
        fork::watch();
        self.open.lock()
    }

    /// The ids whose own clusters are open.
    pub fn open_ids(&self) -> Vec<i32> {
        self.ids().ids.iter().copied().collect()
    }

    /// Records an event of the cluster that traces know by another id, or not at all.
    fn record(&self, id: i32, event: impl FnOnce(i32) -> Event) {
        let traced = match self.interface {
            Interface::Grape6 => Some(id),
            Interface::Grape5 => grape5::traced(id),
        };
        if let Some(id) = traced {
            trace::record(|| event(id));
        }
    }

    /// What messages call a cluster.
    fn name(&self, id: i32) -> String {
        match self.interface {
            Interface::Grape6 => format!("cluster {id}"),
            Interface::Grape5 => grape5::name(id),
        }
    }

    fn new_cluster(&self, entry: &'static Entry) -> Result<Box<Cluster>> {
        allocation::spare(0, PURPOSE)?;
        let settings = settings::settings();
        if settings.stats != Destination::Off {
            static AT_EXIT: AtomicBool = AtomicBool::new(false);
            if !AT_EXIT.swap(true, Ordering::Relaxed) {
                process::at_exit(report_all);
            }
        }
        let sources = match self.interface {
            Interface::Grape6 => SourceKind::Moving,
            Interface::Grape5 => grape5::sources(entry.id),
        };
        let cluster = Cluster::of(sources, settings.clone()).watched(&entry.work);
        Ok(Box::new(cluster))
    }

    fn point_at_own(entry: &Entry, open: &mut Open) {
        open.ids.insert(entry.id);
        entry.point_at(entry);
    }

    fn bucket(&self, id: i32) -> &AtomicPtr<Entry> {
        &self.buckets[id as u32 as usize % BUCKETS]
    }

    fn entries(&self) -> impl Iterator<Item = &'static Entry> {
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
    fn find(&self, id: i32) -> Option<&'static Entry> {
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

    /// The entry of `id`; makes it if there is none. The caller holds the lock on `open`.
    fn entry(&self, id: i32, _held: &mut Open) -> Result<&'static Entry> {
        if let Some(entry) = self.find(id) {
            return Ok(entry);
        }
        // A cluster begins as a few small allocations: 0 bytes beyond the reserve.
        allocation::spare(0, PURPOSE)?;
        let bucket = self.bucket(id);
        let entry = Box::leak(Box::new(Entry {
            id,
            next: AtomicPtr::new(bucket.load(Ordering::Acquire)),
            stands_for: AtomicPtr::new(ptr::null_mut()),
            cluster: Turn::default(),
            work: LongWork::default(),
        }));
        bucket.store(entry, Ordering::Release);
        Ok(entry)
    }
}

impl Entry {
    fn point_at(&self, owner: &Self) {
        let owner = ptr::from_ref(owner).cast_mut();
        self.stands_for.store(owner, Ordering::Release);
    }

    fn stands_for_own(&self) -> bool {
        ptr::eq(self.stands_for.load(Ordering::Acquire), self)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

/// An open cluster, locked.
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

extern "C" fn report_all() {
    process::last_words(|| all().into_iter().for_each(Registry::report));
}

#[cfg(test)]
mod tests;
