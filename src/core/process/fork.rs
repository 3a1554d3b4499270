//! Forks while other threads are in calls: the child has all data, but none of those threads.
//!
//! A fork waits until the data are at rest, but only for a limited time. If another thread still uses some of them,
//! the child repairs or replaces these; each [`Subject`] knows how.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

use super::{allocation, cancellation, entry};

/// How long a fork waits for each subject. Something may hold up a call, such as a disk.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a thread sleeps before it looks again.
const GLANCE: Duration = Duration::from_micros(50);

/// The number of forks under way.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Data of the process that a child goes on with.
pub trait Subject: Sync {
    /// Bytes of memory that `prepare` takes, above a few.
    fn room(&self) -> usize;
    /// Before the fork: keeps other threads from the data, as far as they let go of it in time.
    fn prepare(&'static self, deadline: &Deadline) -> Box<dyn Prepared>;
}

/// Data from which other threads are kept while the process forks. Dropping this ends that.
pub trait Prepared {
    /// In the parent, after the fork.
    fn resume(&mut self);
    /// In the child: makes the data usable that another thread had.
    ///
    /// # Safety
    ///
    /// This is the only thread, in a child of a fork that was prepared so.
    unsafe fn inherit(&mut self);
}

/// How long a fork goes on waiting.
pub struct Deadline {
    began: Instant,
}

impl Deadline {
    /// What `attempt` finds; tries again until it does or the deadline is over.
    pub fn wait_for<T>(&self, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            let found = attempt();
            if found.is_some() || self.began.elapsed() >= PATIENCE {
                return found;
            }
            thread::sleep(GLANCE);
        }
    }
}

/// Waits while another thread forks. Without this, a thread that makes call after call would leave a fork no moment.
pub fn let_pass() {
    while FORKS.load(Ordering::Acquire) > 0 {
        thread::sleep(GLANCE);
    }
}

/// A subject in the list of all.
struct SubjectNode {
    subject: &'static dyn Subject,
    /// Tells the subject from others: those without data may have one address.
    known: &'static AtomicBool,
    next: *const SubjectNode,
}

static ENTRIES: AtomicPtr<SubjectNode> = AtomicPtr::new(ptr::null_mut());

/// Each subject once.
fn subjects() -> impl Iterator<Item = &'static dyn Subject> {
    entries()
        .filter(|entry| {
            // Of two entries of one subject the older one counts.
            let mut older = std::iter::successors(older(entry), |e| older(e));
            older.all(|e| !ptr::eq(e.known, entry.known))
        })
        .map(|entry| entry.subject)
}

fn entries() -> impl Iterator<Item = &'static SubjectNode> {
    // SAFETY: entries are never freed, and are complete before they can be reached.
    let newest = unsafe { ENTRIES.load(Ordering::Acquire).as_ref() };
    std::iter::successors(newest, |entry| older(entry))
}

fn older(entry: &SubjectNode) -> Option<&'static SubjectNode> {
    // SAFETY: entries are never freed, and are complete before they can be reached.
    unsafe { entry.next.as_ref() }
}

/// Registers the handlers that run when this process forks.
///
/// The handlers are registered before any lock is taken that a child would need. Otherwise another thread could
/// fork while the lock is held and no handler runs.
///
/// If two threads call this at once, both register the handlers. These then run twice at each fork, and the second time
/// they do nothing. No lock prevents this: in the child of a fork, the thread that holds the lock might not exist.
fn register() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if REGISTERED.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: the handlers are functions of this library, which is never unloaded.
    let failed = unsafe { libc::pthread_atfork(Some(prepare), Some(resume), Some(inherit)) };
    // Fails only if there is no memory; then forks are not prepared yet.
    REGISTERED.store(failed == 0, Ordering::Release);
}

/// See [`super::generation`].
static GENERATION: AtomicU32 = AtomicU32::new(0);

pub(super) fn generation() -> u32 {
    register();
    known_generation()
}

#[inline]
pub(super) fn known_generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Makes forks prepare `subject` from here on. Call it before the subject's first lock is taken. `known` belongs to
/// the subject and is false before the first call.
#[inline]
pub fn watch(subject: &'static dyn Subject, known: &'static AtomicBool) {
    if !known.load(Ordering::Acquire) {
        enter(subject, known);
    }
}

/// Two threads at once, or a child that was forked in between, may enter a subject twice.
#[cold]
fn enter(subject: &'static dyn Subject, known: &'static AtomicBool) {
    register();
    let next = ENTRIES.load(Ordering::Acquire);
    // Without memory forks are not prepared yet.
    let Ok(mut entry) = allocation::boxed(
        SubjectNode {
            subject,
            known,
            next,
        },
        "a fork",
    ) else {
        return;
    };
    loop {
        let next = entry.next.cast_mut();
        let made = Box::into_raw(entry);
        match ENTRIES.compare_exchange(next, made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break,
            Err(newer) => {
                // SAFETY: made a moment ago, and nobody else has it.
                entry = unsafe { Box::from_raw(made) };
                entry.next = newer;
            }
        }
    }
    known.store(true, Ordering::Release);
    // A fork that is under way has seen the entry, or is seen here: then it goes on without the subject, which must not
    // be locked before it ends.
    fence(Ordering::SeqCst);
    entry::hold_cancellation();
    let_pass();
}

/// What the forking thread has prepared.
type Held = Vec<Box<dyn Prepared>>;

thread_local! {
    static HELD: Cell<*mut Held> = const { Cell::new(ptr::null_mut()) };
    /// Whether this thread is between the first handler before a fork and the first one after it.
    static FORKING: Cell<bool> = const { Cell::new(false) };
}

extern "C" fn prepare() {
    if FORKING.replace(true) {
        return;
    }
    // A signal handler forks. This thread may have any of the data, and has it in the child too.
    if entry::is_inside() {
        return;
    }
    // Where there is no memory, the fork is not prepared.
    let room = subjects().map(Subject::room).sum();
    if allocation::spare(room, "a fork").is_err() {
        return;
    }
    FORKS.fetch_add(1, Ordering::AcqRel);
    fence(Ordering::SeqCst);
    let prepare = |subject: &'static dyn Subject| {
        subject.prepare(&Deadline {
            began: Instant::now(),
        })
    };
    // It may sleep.
    let held = cancellation::without(|| subjects().map(prepare).collect());
    HELD.set(Box::into_raw(Box::new(held)));
}

fn take() -> Option<Box<Held>> {
    let held = HELD.replace(ptr::null_mut());
    // SAFETY: made by `prepare` in this thread, and taken once.
    (!held.is_null()).then(|| unsafe { Box::from_raw(held) })
}

extern "C" fn resume() {
    if !FORKING.replace(false) {
        return;
    }
    if let Some(mut held) = take() {
        FORKS.fetch_sub(1, Ordering::AcqRel);
        held.iter_mut().for_each(|subject| subject.resume());
    }
}

extern "C" fn inherit() {
    if !FORKING.replace(false) {
        return;
    }
    GENERATION.fetch_add(1, Ordering::Relaxed);
    // Other forks of the parent, whose threads are not here.
    FORKS.store(0, Ordering::Release);
    for subject in take().iter_mut().flat_map(|held| held.iter_mut()) {
        // SAFETY: this is the child's only thread, and its parent's fork prepared the subject.
        unsafe { subject.inherit() };
    }
}
