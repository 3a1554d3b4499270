//! Refuses a call in a thread that is already inside a call. Otherwise a signal handler that interrupts a call and
//! makes another would wait for its own thread's locks, or find data half-changed.
//!
//! The check reads one thread-local variable; in a shared library this is a call into the loader. Two other ways were
//! considered:
//!
//! * The initial-exec model reads the variable directly. It would save 0.5 to 1 ns of the 38 ns of
//!   `g6_set_j_particle` (measured with a patched library). But stable Rust cannot ask for it, and `dlopen` may have
//!   no room for such a library.
//! * A check only where a lock is contended would cost nothing. But a handler could then allocate memory while the
//!   interrupted call is in the middle of an allocation.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{Ordering, compiler_fence};

use super::cancellation;

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ThreadPlace {
    /// In the client.
    Outside,
    /// In a call.
    Inside,
    /// In a call that has switched the thread's cancellation off, and switches it on at its end.
    Uncancelled,
}

thread_local! {
    // No destructor, so that a signal handler can read it at any moment of a thread's life.
    static PLACE: Cell<ThreadPlace> = const { Cell::new(ThreadPlace::Outside) };
}

/// Runs `call`, which must not unwind; `None` if this thread is inside another call.
#[inline(always)]
pub fn once<R>(call: impl FnOnce() -> R) -> Option<R> {
    let place = PLACE.with(ptr::from_ref);
    // SAFETY: the variable belongs to this thread, has no destructor, and is not handed to another thread.
    // (The call is not made in the closure of `with`, where the compiler would not inline it.)
    let place = unsafe { &*place };
    if place.get() != ThreadPlace::Outside {
        return None;
    }
    place.set(ThreadPlace::Inside);
    // A handler runs in this thread, so only the compiler could reorder what it sees.
    compiler_fence(Ordering::SeqCst);
    let result = call();
    compiler_fence(Ordering::SeqCst);
    if place.replace(ThreadPlace::Outside) == ThreadPlace::Uncancelled {
        cancellation::allow();
    }
    Some(result)
}

/// A number that no other thread has that is alive, and that is neither 0 nor the greatest.
#[inline(always)]
pub fn thread() -> usize {
    PLACE.with(ptr::from_ref).addr()
}

/// Switches the thread's cancellation off until the end of the call. Call this before anything that may make a system
/// call that is a cancellation point: reading, writing, sleeping. Outside of calls it does nothing.
pub fn hold_cancellation() {
    PLACE.with(|place| {
        if place.get() == ThreadPlace::Inside && cancellation::forbid() {
            place.set(ThreadPlace::Uncancelled);
        }
    });
}

/// Whether this thread is inside a call.
pub fn is_inside() -> bool {
    PLACE.get() != ThreadPlace::Outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_within_a_call_is_refused_and_the_next_one_is_not() {
        assert_eq!(once(|| once(|| 1)), Some(None));
        assert_eq!(once(is_inside), Some(true));
        assert!(!is_inside());
    }

    #[test]
    fn cancellation_is_off_until_the_end_of_the_call() {
        hold_cancellation();
        if !cancellation::forbid() {
            return; // the system has none
        }
        cancellation::allow();
        for _ in 0..2 {
            once(|| {
                hold_cancellation();
                hold_cancellation();
                assert!(!cancellation::forbid());
            });
            assert!(cancellation::forbid(), "on again");
            cancellation::allow();
        }
        // A client's own setting stays.
        cancellation::forbid();
        once(hold_cancellation);
        assert!(!cancellation::forbid());
        cancellation::allow();
    }
}
