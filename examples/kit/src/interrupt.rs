//! Ctrl-C, SIGTERM and SIGHUP: the first asks a run to end in order, a later one ends the program. SIGUSR1 asks for a
//! checkpoint.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a shell returns for a program that Ctrl-C ended.
pub const EXIT_STATUS: u8 = 130;

/// Signals this close together are one request: launchers and batch systems signal the process
/// and its group, and a terminal repeats a key that is held.
const TOGETHER: Duration = Duration::from_secs(1);

static STOP: AtomicBool = AtomicBool::new(false);
static CHECKPOINT: AtomicBool = AtomicBool::new(false);
static BEGAN: OnceLock<Instant> = OnceLock::new();

/// Begins the time of [`elapsed`]: programs call it at their start.
pub fn begin() {
    BEGAN.get_or_init(Instant::now);
}

/// Catches the signals. After the first, [`interrupted`] returns true. One that comes more than a second after the
/// first ends the program. Calling this function again changes nothing, and under `nohup` SIGHUP stays ignored.
///
/// # Errors
///
/// The system refuses.
pub fn catch() -> Result<(), ctrlc::Error> {
    begin();
    catch_requests();
    let detached = ignores_hangups();
    let mut requests = Requests::default();
    let handler = move || {
        if requests.insists(Instant::now()) {
            std::process::exit(EXIT_STATUS.into());
        }
        STOP.store(true, Ordering::Relaxed);
    };
    match ctrlc::set_handler(handler) {
        // Ranks that are threads of one process all call this.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => {}
        Err(error) => return Err(error),
    }
    if detached {
        ignore_hangups();
    }
    Ok(())
}

/// Whether the program was started to outlive its terminal, as by `nohup`.
#[cfg(unix)]
fn ignores_hangups() -> bool {
    // SAFETY: all bytes zero are a `sigaction`, and without a new one the call only writes the old
    // one there.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        let known = libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut old) == 0;
        known && old.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(unix)]
fn ignore_hangups() {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe {
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
}

#[cfg(not(unix))]
fn ignores_hangups() -> bool {
    false
}

#[cfg(not(unix))]
fn ignore_hangups() {}

/// SIGUSR1 sets [`CHECKPOINT`].
#[cfg(unix)]
fn catch_requests() {
    extern "C" fn request(_: libc::c_int) {
        CHECKPOINT.store(true, Ordering::Relaxed);
    }
    // SAFETY: all bytes zero are a `sigaction` with an empty mask. The handler only stores to an atomic.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = request as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
}

#[cfg(not(unix))]
fn catch_requests() {}

/// Whether SIGUSR1 has asked for a checkpoint since the last call.
pub fn checkpoint_requested() -> bool {
    CHECKPOINT.load(Ordering::Relaxed) && CHECKPOINT.swap(false, Ordering::Relaxed)
}

/// Time since the program's start.
pub fn elapsed() -> Duration {
    BEGAN.get_or_init(Instant::now).elapsed()
}

/// Whether the run was asked to end.
pub fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// The requests so far.
#[derive(Default)]
struct Requests {
    first: Option<Instant>,
}

impl Requests {
    /// Whether the request at `now` repeats an earlier one that had time to be obeyed.
    fn insists(&mut self, now: Instant) -> bool {
        let first = *self.first.get_or_insert(now);
        now.duration_since(first) > TOGETHER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_within_a_second_count_once() {
        let start = Instant::now();
        let mut requests = Requests::default();
        for (milliseconds, insists) in [(0, false), (1, false), (999, false), (1001, true)] {
            let now = start + Duration::from_millis(milliseconds);
            assert_eq!(requests.insists(now), insists, "{milliseconds} ms");
        }
    }
}
