//! Objects that exist once per process: fork handlers, the exit handler, file names, settings, messages.

pub mod allocation;
pub mod biased;
pub mod cancellation;
pub mod entry;
pub mod floating;
pub mod fork;
pub mod lock;
pub mod log;
pub mod long_work;
pub mod output;
pub mod ranks;
pub mod settings;
pub mod singleton;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::panic::catch_unwind;

/// Counts the forks since the first call of this function. If this number is stored with a resource, a process can tell
/// later whether the resource is its own or its parent's.
pub fn generation() -> u32 {
    fork::generation()
}

/// What [`generation`] would return, 0 if it was never called. Does not call into the system.
#[inline]
pub fn known_generation() -> u32 {
    fork::known_generation()
}

/// Calls `hook` when the process ends by `exit` or by a return from `main`.
pub fn at_exit(hook: extern "C" fn()) {
    // SAFETY: the hook is a function of this library, which is never unloaded.
    unsafe {
        // Fails only if there is no memory; the hook is then not called.
        libc::atexit(hook);
    }
}

/// Runs `act`, which computes, reads or writes, in the standard floating-point environment. The thread's cancellation
/// is off until the end of the call.
#[inline]
pub fn protected<R>(act: impl FnOnce() -> R) -> R {
    entry::hold_cancellation();
    floating::standard(act)
}

/// Runs the body of an exit hook in the standard floating-point environment. Stops a panic.
pub fn last_words(act: impl FnOnce() + std::panic::UnwindSafe) {
    // The panic was reported on stderr already, and nobody is left to receive an error.
    let _ = floating::standard(|| catch_unwind(act));
}

/// The name of a file of this process. In `pattern` `%p` stands for the process id and `%r` for the rank
/// (0 without MPI). If it has neither and there are several ranks, the rank is appended.
pub fn file_name(pattern: &OsStr) -> OsString {
    expand(pattern, std::process::id(), ranks::rank())
}

fn expand(pattern: &OsStr, process: u32, rank: Option<u32>) -> OsString {
    let mut name = Vec::new();
    let mut rest = pattern.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after.first()) {
            (b'%', Some(b'p')) => name.extend(process.to_string().bytes()),
            (b'%', Some(b'r')) => name.extend(rank.unwrap_or(0).to_string().bytes()),
            _ => {
                name.push(*first);
                continue;
            }
        }
        rest = &after[1..];
    }
    if let Some(rank) = rank
        && name == pattern.as_bytes()
    {
        name.extend(format!(".{rank}").bytes());
    }
    OsString::from_vec(name)
}

/// The file name of the program, for messages.
pub fn program() -> String {
    std::env::current_exe()
        .ok()
        .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// The network name of this machine.
pub fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the function writes at most as many bytes as the array has.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) } != 0;
    let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    match failed || end == 0 {
        true => "unknown".to_owned(),
        false => String::from_utf8_lossy(&name[..end]).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(pattern: &str, process: u32, rank: Option<u32>) -> OsString {
        super::expand(OsStr::new(pattern), process, rank)
    }

    #[test]
    fn names_need_not_be_text() {
        let name = super::expand(OsStr::from_bytes(b"\xff%p%\xfe%"), 7, None);
        assert_eq!(name.as_bytes(), b"\xff7%\xfe%");
    }

    #[test]
    fn files_of_ranks_and_processes_differ() {
        assert_eq!(expand("stats", 7, None), "stats");
        assert_eq!(expand("stats", 7, Some(3)), "stats.3");
        assert_eq!(expand("s-%p", 7, Some(3)), "s-7");
        assert_eq!(expand("s-%r-%p.txt", 7, Some(3)), "s-3-7.txt");
        assert_eq!(expand("s-%r", 7, None), "s-0");
    }
}
