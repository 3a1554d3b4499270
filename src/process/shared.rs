//! Values that the process has once, one call uses at a time, and a fork leaves usable.
//!
//! A fork waits for the calls that other threads are in. If a call takes too long, the child begins with a new
//! value in its place. (Clusters keep their particles in that case: see `grape::registry`.)

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::lock::{Guard, Lock};
use super::{allocation, entry, log};

/// How long a fork waits for the calls of other threads.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a thread sleeps before it looks again.
const GLANCE: Duration = Duration::from_micros(50);

/// The number of forks that wait for values. Calls wait while there are any: a thread that makes call after call
/// would otherwise leave a fork no moment.
static WAITING: AtomicU32 = AtomicU32::new(0);

/// A value for one call at a time.
pub struct Shared<T> {
    name: &'static str,
    lock: Lock<T>,
    known: AtomicBool,
}

impl<T: Default + Send> Shared<T> {
    /// A free value. Messages call it `name`.
    pub const fn new(name: &'static str, value: T) -> Self {
        Self {
            name,
            lock: Lock::new(value),
            known: AtomicBool::new(false),
        }
    }

    /// Waits for the value.
    pub fn lock(&'static self) -> Guard<'static, T> {
        if !self.known.swap(true, Ordering::Relaxed) {
            remember(self);
        }
        while WAITING.load(Ordering::Acquire) > 0 {
            std::thread::sleep(GLANCE);
        }
        self.lock.lock()
    }
}

/// What a fork does with a value.
trait Forked: Sync {
    /// Keeps others from it, unless another thread has it.
    fn hold(&'static self) -> Option<Box<dyn Held>>;
    /// Replaces it in the child.
    ///
    /// # Safety
    ///
    /// This is the only thread, in a child of a fork, and another thread had the value when it was made.
    unsafe fn replace(&self);
}

/// A value is kept from others as long as this lives.
trait Held {}
impl<T> Held for Guard<'_, T> {}

impl<T: Default + Send> Forked for Shared<T> {
    fn hold(&'static self) -> Option<Box<dyn Held>> {
        Some(Box::new(self.lock.try_lock()?))
    }

    unsafe fn replace(&self) {
        // SAFETY: passed on.
        let value = unsafe { self.lock.take_from_the_dead() };
        // Half-changed, so that it cannot even be dropped.
        std::mem::forget(std::mem::take(value));
        log::line(format_args!(
            "{} was at work in another thread when the process forked: it begins anew here",
            self.name
        ));
    }
}

/// A value that forks take care of.
struct Entry {
    value: &'static dyn Forked,
    next: *const Entry,
}

static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(std::ptr::null_mut());

fn entries() -> impl Iterator<Item = &'static Entry> {
    // SAFETY: entries are never freed, and are complete before they can be reached.
    let first = unsafe { ENTRIES.load(Ordering::Acquire).as_ref() };
    // SAFETY: as above.
    std::iter::successors(first, |entry| unsafe { entry.next.as_ref() })
}

fn remember(value: &'static dyn Forked) {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::Relaxed) {
        super::generation();
        // SAFETY: the handlers are functions of this library, which is never unloaded.
        unsafe {
            // Fails only if there is no memory; forks are then not prepared.
            libc::pthread_atfork(Some(prepare), Some(go_on), Some(begin));
        }
    }
    let entry = Box::leak(Box::new(Entry {
        value,
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

/// What the forking thread has taken, in the order of the entries.
type Taken = Vec<(&'static Entry, Option<Box<dyn Held>>)>;

thread_local! {
    static TAKEN: Cell<*mut Taken> = const { Cell::new(std::ptr::null_mut()) };
}

extern "C" fn prepare() {
    // A signal handler forks: this thread may have a value, and has it after the fork too.
    if entry::is_inside() {
        return;
    }
    // Where there is no memory, the fork is not prepared.
    if allocation::spare(0, "a fork").is_err() {
        return;
    }
    WAITING.fetch_add(1, Ordering::AcqRel);
    let begin = Instant::now();
    let taken = entries().map(|entry| {
        loop {
            let held = entry.value.hold();
            if held.is_some() || begin.elapsed() > PATIENCE {
                return (entry, held);
            }
            std::thread::sleep(GLANCE);
        }
    });
    TAKEN.set(Box::into_raw(Box::new(taken.collect())));
}

fn taken() -> Option<Box<Taken>> {
    let taken = TAKEN.replace(std::ptr::null_mut());
    // SAFETY: made by `prepare` in this thread, and taken once.
    (!taken.is_null()).then(|| unsafe { Box::from_raw(taken) })
}

/// In the parent.
extern "C" fn go_on() {
    if let Some(taken) = taken() {
        WAITING.fetch_sub(1, Ordering::AcqRel);
        drop(taken);
    }
}

/// In the child.
extern "C" fn begin() {
    WAITING.store(0, Ordering::Release);
    for (entry, held) in taken().into_iter().flat_map(|taken| *taken) {
        if held.is_none() {
            // SAFETY: this is the child's only thread, and another one had the value.
            unsafe { entry.value.replace() };
        }
    }
}
