//! `pthread_cancel`: a thread that is cancelled inside the library ends at the client's next cancellation point, not here.
//!
//! A cancelled thread is unwound from its next system call that POSIX names a cancellation point, such as a write or
//! a sleep. Rust can neither let this unwinding pass nor stop it, so the process would abort. Therefore cancellation
//! is off around such system calls. Switching it off and on takes some nanoseconds. Short calls usually make no
//! system call; they switch it off only where they are about to make one: see [`super::entry::hold_cancellation`].
//!
//! This is for the deferred type of cancellation, which every thread begins with. POSIX allows no library to be called
//! by a thread of the asynchronous type.

/// Runs `act` with cancellation off.
pub fn without<R>(act: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            if self.0 {
                unit::allow();
            }
        }
    }
    let _restore = Restore(forbid());
    act()
}

/// Switches cancellation off in this thread. Returns whether it was on.
pub fn forbid() -> bool {
    unit::forbid()
}

/// Switches it on again. A thread that was cancelled meanwhile ends at its next cancellation point.
pub fn allow() {
    unit::allow();
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod unit {
    use std::ffi::c_int;
    use std::ptr;

    const ENABLE: c_int = if cfg!(target_os = "linux") { 0 } else { 1 };
    const DISABLE: c_int = 1 - ENABLE;

    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }

    pub fn forbid() -> bool {
        let mut before = DISABLE;
        // SAFETY: writes to a variable of this function.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
        before == ENABLE
    }

    pub fn allow() {
        // SAFETY: the old state is not asked for.
        unsafe { pthread_setcancelstate(ENABLE, ptr::null_mut()) };
    }
}

/// Other systems, such as Android, have no cancellation.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod unit {
    pub fn forbid() -> bool {
        false
    }

    pub fn allow() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_off_stays_off() {
        if forbid() {
            assert!(!forbid());
            assert!(!without(forbid));
            allow();
            without(|| assert!(!forbid()));
            assert!(forbid(), "it was on again");
            allow();
        }
    }
}
