//! Ids, and the objects they stand for: clusters of GRAPE-6, memories of GRAPE-5, handles of bulk forces and trees.
//!
//! Clients use any integer as an id. ph4 opens an uninitialised id and then uses its MPI rank. So if exactly one
//! GRAPE-6 cluster is open, an id that was never opened stands for this cluster; otherwise it gets a cluster of its
//! own. Looking up a known id takes no lock.
//!
//! [`Member`] is the trait of the types behind ids, with the names of the ids in messages and traces. Each interface
//! has its own such type.

mod fork;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use kirin_core::error::Result;
use kirin_core::process::biased::{self, BiasedLock, OwnersGuard};
use kirin_core::process::lock::{Guard, Lock};
use kirin_core::process::long_work::LongWork;
use kirin_core::process::settings::{self, Destination, Settings};
use kirin_core::process::{self, allocation, log};

/// The number of lists into which ids are hashed. Unused ones cost no memory.
const BUCKETS: usize = 1 << 16;

/// What the memory is for, in messages.
const PURPOSE: &str = "a cluster";

/// What the ids of an interface stand for.
pub trait Member: Send + Sized + 'static {
    /// Whether an id that was never opened stands for the only open member.
    const SOLE_STANDS_FOR_ALL: bool;

    /// All ids of the process.
    fn registry() -> &'static Registry<Self>;

    /// A new member. Long work on it is marked in `work`.
    fn new(id: i32, settings: Settings, work: &'static LongWork) -> Self;

    /// What messages call it.
    fn name(id: i32) -> String;

    /// The member of this id was opened, by a call for that or by its first use.
    fn opened(id: i32);

    /// The member of this id is about to be closed.
    fn closed(id: i32);

    /// Ends what a call of [`Registry::lock_as_left`] has left for the next call to end.
    #[inline(always)]
    fn end_run(&mut self) {}

    /// Writes its statistics, if the user wants them.
    fn report(&mut self, id: i32);

    /// Repairs the member in the child of a fork, if a thread of the parent was in the middle of a long call on it.
    fn inherit(&mut self);
}

/// An id and its member. Entries are never freed, so that they can be read without a lock.
struct Entry<M> {
    id: i32,
    next: AtomicPtr<Self>,
    /// The entry whose member the id stands for: this one, another, or none.
    stands_for: AtomicPtr<Self>,
    /// Whether the id had a member of its own once.
    had_own: AtomicBool,
    /// Whether the member was opened by a call of `open`; false if its first use made it.
    was_opened: AtomicBool,
    /// The member of this id, while it is open.
    member: BiasedLock<Option<Box<M>>>,
    /// Where long work on the member is marked.
    work: LongWork,
}

/// The ids in use.
#[derive(Default)]
struct Open {
    /// The ids whose own members are open.
    ids: BTreeSet<i32>,
    /// For such an id: the other ids that stand, or stood, for its member.
    aliases: BTreeMap<i32, Vec<i32>>,
}

/// The ids of one interface.
pub struct Registry<M: Member> {
    buckets: [AtomicPtr<Entry<M>>; BUCKETS],
    /// Held for every change of the registry. A thread that holds it never waits for a member.
    open: Lock<Open>,
    /// Whether forks are prepared for the members.
    is_watched: AtomicBool,
    /// Whether statistics will be written at the end of the process.
    reports_at_exit: AtomicBool,
}

impl<M: Member> Registry<M> {
    /// A registry without members.
    pub const fn new() -> Self {
        Self {
            buckets: [const { AtomicPtr::new(ptr::null_mut()) }; BUCKETS],
            open: Lock::new(Open {
                ids: BTreeSet::new(),
                aliases: BTreeMap::new(),
            }),
            is_watched: AtomicBool::new(false),
            reports_at_exit: AtomicBool::new(false),
        }
    }

    /// Opens the member of `id`. If it is open already, nothing changes.
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
                let mut member = entry.member.lock();
                // Another thread may have closed it since.
                if entry.stands_for_own() {
                    if member.is_none() {
                        *member = Some(self.new_member(entry)?);
                    }
                    entry.was_opened.store(true, Ordering::Relaxed);
                    M::opened(id);
                    return Ok(());
                }
            }
        })
    }

    /// Closes the member of `id` and frees its memory. If none is open, nothing happens.
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
            let mut member = owner.member.lock();
            // Told under the lock: a later write belongs to the next member with this id.
            M::closed(owner.id);
            owner.was_opened.store(false, Ordering::Relaxed);
            let closed = member.take();
            drop(member);
            if let Some(mut closed) = closed {
                closed.end_run();
                closed.report(owner.id);
            }
        });
    }

    /// Writes the statistics of the open members, at the end of the process.
    fn report(&self) {
        for entry in self.entries() {
            match entry.member.try_lock() {
                Some(mut member) => {
                    if let Some(member) = &mut *member {
                        member.end_run();
                        member.report(entry.id);
                    }
                }
                // No waiting: another thread may be in a call that never returns.
                None => log::line(format_args!(
                    "{} is at work at the end of the process: it has no statistics",
                    M::name(entry.id)
                )),
            }
        }
    }

    /// Runs `call` on the member of `id`, in the standard floating-point environment. Opens it if it is
    /// not open.
    ///
    /// # Errors
    ///
    /// Those of the call, or there is no memory for a member.
    pub fn with<R>(&self, id: i32, call: impl FnOnce(&mut M) -> Result<R>) -> Result<R> {
        process::protected(|| call(&mut *self.lock(id)?))
    }

    /// Runs `call` on the member that `id` stands for, if there is one: for calls that are refused, which open none.
    pub fn with_open(&self, id: i32, call: impl FnOnce(&mut M)) {
        if let Some(owner) = self.owner(id)
            && let Some(member) = &mut *owner.member.lock()
        {
            member.end_run();
            call(member);
        }
    }

    /// Locks the member of `id`, for calls that compute nothing. Opens it if it is not open.
    ///
    /// # Errors
    ///
    /// There is no memory.
    #[inline(always)]
    pub fn lock(&self, id: i32) -> Result<Locked<'_, M>> {
        let mut locked = self.lock_as_left(id)?;
        locked.end_run();
        Ok(locked)
    }

    /// Locks what `id` stands for, where this takes no atomic exchange: if this thread owns the lock. The member, if it is open, is as
    /// the last call has left it.
    #[inline(always)]
    pub fn lock_as_owner(&self, id: i32) -> Option<OwnersGuard<'_, Option<Box<M>>>> {
        self.owner(id)?.member.lock_as_owner()
    }

    /// As [`Registry::lock`]. The member is as the last call has left it.
    ///
    /// # Errors
    ///
    /// There is no memory.
    #[inline(always)]
    pub fn lock_as_left(&self, id: i32) -> Result<Locked<'_, M>> {
        if let Some(owner) = self.owner(id) {
            let guard = owner.member.lock();
            if guard.is_some() {
                return Ok(Locked(guard));
            }
        }
        self.open_and_lock(id)
    }

    #[cold]
    fn open_and_lock(&self, id: i32) -> Result<Locked<'_, M>> {
        loop {
            let owner = match self.owner(id) {
                Some(owner) => owner,
                None => self.attach(id)?,
            };
            let mut guard = owner.member.lock();
            // Another thread may have closed it since: then the id has to be asked again.
            if guard.is_some() || owner.stands_for_own() {
                if guard.is_none() {
                    *guard = Some(process::protected(|| self.new_member(owner))?);
                    M::opened(owner.id);
                }
                return Ok(Locked(guard));
            }
        }
    }

    /// Whether a call opened the member that `id` stands for, and not its first use.
    pub fn was_opened(&self, id: i32) -> bool {
        let asked = |owner: &Entry<M>| owner.was_opened.load(Ordering::Relaxed);
        self.owner(id).is_some_and(asked)
    }

    /// The ids between `id` and `id + count`, both left out, whose own members are open.
    pub fn open_after(&self, id: i32, count: usize) -> Vec<i32> {
        let end = i64::from(id).saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        let open = self.ids();
        let after = open.ids.range(id..).filter(|&&other| other > id);
        after
            .copied()
            .take_while(|&other| i64::from(other) < end)
            .collect()
    }

    /// The entry whose member an id stands for at present, if any.
    #[inline(always)]
    fn owner(&self, id: i32) -> Option<&'static Entry<M>> {
        let owner = self.find(id)?.stands_for.load(Ordering::Acquire);
        // SAFETY: entries are never freed.
        unsafe { owner.as_ref() }
    }

    /// Finds a member for an id that stands for none: the sole open one if it never had a member of its own, or a new one.
    #[cold]
    fn attach(&self, id: i32) -> Result<&'static Entry<M>> {
        let mut open = self.ids();
        if let Some(owner) = self.owner(id) {
            return Ok(owner); // another thread was faster
        }
        let entry = self.entry(id, &mut open)?;
        let may_be_alias = M::SOLE_STANDS_FOR_ALL && !entry.had_own.load(Ordering::Relaxed);
        let sole = match (open.ids.first(), open.ids.last()) {
            (Some(first), Some(last)) if may_be_alias && first == last => self.find(*first),
            _ => None,
        };
        Ok(match sole {
            Some(sole) => {
                open.aliases.entry(sole.id).or_default().push(id);
                entry.point_at(sole);
                sole
            }
            None => {
                Self::point_at_own(entry, &mut open);
                entry
            }
        })
    }

    /// Waits for the ids. A fork in another thread finds the lock held, so forks are prepared before.
    fn ids(&self) -> Guard<'_, Open> {
        fork::watch::<M>();
        self.open.lock()
    }

    /// The ids whose own members are open.
    pub fn open_ids(&self) -> Vec<i32> {
        self.ids().ids.iter().copied().collect()
    }

    fn new_member(&self, entry: &'static Entry<M>) -> Result<Box<M>> {
        allocation::spare(0, PURPOSE)?;
        let settings = settings::settings();
        if settings.stats != Destination::Off && !self.reports_at_exit.swap(true, Ordering::Relaxed)
        {
            process::at_exit(report::<M>);
        }
        Ok(Box::new(M::new(entry.id, settings.clone(), &entry.work)))
    }

    fn point_at_own(entry: &Entry<M>, open: &mut Open) {
        open.ids.insert(entry.id);
        entry.had_own.store(true, Ordering::Relaxed);
        entry.point_at(entry);
    }

    fn bucket(&self, id: i32) -> &AtomicPtr<Entry<M>> {
        &self.buckets[id as u32 as usize % BUCKETS]
    }

    fn entries(&self) -> impl Iterator<Item = &'static Entry<M>> {
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
    fn find(&self, id: i32) -> Option<&'static Entry<M>> {
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
    fn entry(&self, id: i32, _held: &mut Open) -> Result<&'static Entry<M>> {
        if let Some(entry) = self.find(id) {
            return Ok(entry);
        }
        // A member begins as a few small allocations: 0 bytes beyond the reserve.
        allocation::spare(0, PURPOSE)?;
        let bucket = self.bucket(id);
        let entry = Box::leak(Box::new(Entry {
            id,
            next: AtomicPtr::new(bucket.load(Ordering::Acquire)),
            stands_for: AtomicPtr::new(ptr::null_mut()),
            had_own: AtomicBool::new(false),
            was_opened: AtomicBool::new(false),
            member: BiasedLock::default(),
            work: LongWork::default(),
        }));
        bucket.store(entry, Ordering::Release);
        Ok(entry)
    }
}

impl<M> Entry<M> {
    fn point_at(&self, owner: &Self) {
        let owner = ptr::from_ref(owner).cast_mut();
        self.stands_for.store(owner, Ordering::Release);
    }

    fn stands_for_own(&self) -> bool {
        ptr::eq(self.stands_for.load(Ordering::Acquire), self)
    }
}

impl<M: Member> Default for Registry<M> {
    fn default() -> Self {
        Self::new()
    }
}

/// An open member, locked.
pub struct Locked<'a, M>(biased::Guard<'a, Option<Box<M>>>);

impl<M> Deref for Locked<'_, M> {
    type Target = M;
    #[inline(always)]
    fn deref(&self) -> &M {
        match &*self.0 {
            Some(member) => member,
            None => unreachable!("it was opened when it was locked"),
        }
    }
}

impl<M> DerefMut for Locked<'_, M> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut M {
        match &mut *self.0 {
            Some(member) => member,
            None => unreachable!("it was opened when it was locked"),
        }
    }
}

extern "C" fn report<M: Member>() {
    process::last_words(|| M::registry().report());
}
