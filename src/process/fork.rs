//! Forks while other threads are in calls: the child has all data, but none of those threads.
//!
//! A fork waits until the data is at rest, yet not for ever. What another thread still had by then is
//! repaired or replaced in the child; each [`Subject`] knows how.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{allocation, entry};

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
    fn prepare(&'static self, patience: &Patience) -> Box<dyn Prepared>;
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
pub struct Patience {
    began: Instant,
}

impl Patience {
    /// What `attempt` finds; tries again until it does or the patience is over.
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
struct Entry {
    subject: &'static dyn Subject,
    next: *const Entry,
}

static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

fn subjects() -> impl Iterator<Item = &'static dyn Subject> {
    // SAFETY: entries are never freed, and are complete before they can be reached.
    let first = unsafe { ENTRIES.load(Ordering::Acquire).as_ref() };
    // SAFETY: as above.
    std::iter::successors(first, |entry| unsafe { entry.next.as_ref() }).map(|entry| entry.subject)
}

/// From here on forks prepare `subject`. `known` belongs to it, and is false before the first call.
pub fn watch(subject: &'static dyn Subject, known: &AtomicBool) {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if known.swap(true, Ordering::Relaxed) {
        return;
    }
    if !WATCHED.swap(true, Ordering::Relaxed) {
        // The child's handlers run in the order of their registration: when it inherits, its generation is counted.
        super::generation();
        // SAFETY: the handlers are functions of this library, which is never unloaded.
        unsafe {
            // Fails only if there is no memory; forks are then not prepared.
            libc::pthread_atfork(Some(prepare), Some(resume), Some(inherit));
        }
    }
    let entry = Box::leak(Box::new(Entry {
        subject,
        next: ENTRIES.load(Ordering::Acquire),
    }));
    loop {
        let next = entry.next.cast_mut();
        match ENTRIES.compare_exchange(next, entry, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(newer) => entry.next = newer,
        }
    }
}

/// What the forking thread has prepared.
type Held = Vec<Box<dyn Prepared>>;

thread_local! {
    static HELD: Cell<*mut Held> = const { Cell::new(ptr::null_mut()) };
}

extern "C" fn prepare() {
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
    let held = subjects().map(|subject| {
        subject.prepare(&Patience {
            began: Instant::now(),
        })
    });
    HELD.set(Box::into_raw(Box::new(held.collect())));
}

fn take() -> Option<Box<Held>> {
    let held = HELD.replace(ptr::null_mut());
    // SAFETY: made by `prepare` in this thread, and taken once.
    (!held.is_null()).then(|| unsafe { Box::from_raw(held) })
}

extern "C" fn resume() {
    if let Some(mut held) = take() {
        FORKS.fetch_sub(1, Ordering::AcqRel);
        held.iter_mut().for_each(|subject| subject.resume());
    }
}

extern "C" fn inherit() {
    // Other forks of the parent, whose threads are not here.
    FORKS.store(0, Ordering::Release);
    for subject in take().iter_mut().flat_map(|held| held.iter_mut()) {
        // SAFETY: this is the child's only thread, and its parent's fork prepared the subject.
        unsafe { subject.inherit() };
    }
}
