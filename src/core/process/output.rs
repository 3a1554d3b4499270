//! Writes to stderr and to the files that settings name, without harm to the client. No signal ends the client, and a
//! reader that does not read holds it up for a short time only.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use super::cancellation;

/// How long a reader of a pipe may have no room for what is written.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file that a setting names, open for writing.
pub struct File(std::fs::File);

impl File {
    /// Opens a file with `options`, which say how it is written to.
    ///
    /// # Errors
    ///
    /// Those of the system; a pipe that nobody reads is refused.
    pub fn open(options: &mut OpenOptions, name: &OsStr) -> io::Result<Self> {
        // On an ordinary file this changes nothing; to open a pipe would wait for its reader.
        let opened = options
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(name);
        match opened {
            Err(e) if e.raw_os_error() == Some(libc::ENXIO) => {
                Err(io::Error::other("nobody reads this pipe"))
            }
            opened => opened.and_then(above_streams).map(Self),
        }
    }

    /// Writes everything.
    ///
    /// # Errors
    ///
    /// Those of the system, and a reader that takes nothing for ten seconds.
    pub fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        write_all(self.0.as_raw_fd(), bytes, PATIENCE)
    }
}

/// Moves the file to a descriptor above those of the standard streams. If the client has closed a standard stream, the
/// system may have given its descriptor to the file. Whatever is then written to the stream would end up in the file.
fn above_streams(file: std::fs::File) -> io::Result<std::fs::File> {
    if file.as_raw_fd() > libc::STDERR_FILENO {
        return Ok(file);
    }
    // SAFETY: `file` is open.
    let copy = unsafe {
        libc::fcntl(
            file.as_raw_fd(),
            libc::F_DUPFD_CLOEXEC,
            libc::STDERR_FILENO + 1,
        )
    };
    match copy {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: made a moment ago, and nobody else has it.
        copy => Ok(unsafe { std::fs::File::from_raw_fd(copy) }),
    }
}

/// Writes to stderr, or not, if that is closed or full. Allocates nothing and takes no lock.
pub fn to_stderr(bytes: &[u8]) {
    // A closed stderr is no reason to fail.
    let _ = write_all(libc::STDERR_FILENO, bytes, Duration::ZERO);
}

fn write_all(file: RawFd, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
    undisturbed(|| {
        let mut begin = Instant::now();
        while !bytes.is_empty() {
            // SAFETY: as many bytes are there to be read.
            let written = unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) };
            if let Ok(written) = usize::try_from(written) {
                bytes = &bytes[written..];
                begin = Instant::now();
                continue;
            }
            let error = io::Error::last_os_error();
            match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock if begin.elapsed() < patience => wait_for_room(file),
                _ => return Err(error),
            }
        }
        Ok(())
    })
}

fn wait_for_room(file: RawFd) {
    let mut poll = libc::pollfd {
        fd: file,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one entry, which lives on this stack. If the call fails the caller tries again.
    unsafe { libc::poll(&raw mut poll, 1, 100) };
}

/// Runs `write` without the signals of writes reaching the client, and without its thread being cancelled in it.
fn undisturbed<R>(write: impl FnOnce() -> R) -> R {
    cancellation::without(|| without_signals(write))
}

/// The signals that a write may bring: a pipe without a reader, a file that has grown too long.
const OF_WRITES: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

/// Runs `write` without the signals of writes reaching the client, whose own stay what they are.
fn without_signals<R>(write: impl FnOnce() -> R) -> R {
    // SAFETY: plain calls on signal sets that live on this stack.
    unsafe {
        let errno = errno();
        let kept = *errno;
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        let mut mask: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        let mut after: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut blocked);
        for signal in OF_WRITES {
            libc::sigaddset(&raw mut blocked, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut mask);
        libc::sigpending(&raw mut before);
        let result = write();
        libc::sigpending(&raw mut after);
        for signal in OF_WRITES {
            let is_in = |set| libc::sigismember(set, signal) == 1;
            if is_in(&raw const after) && !is_in(&raw const before) {
                let mut one: libc::sigset_t = std::mem::zeroed();
                let mut taken = 0;
                libc::sigemptyset(&raw mut one);
                libc::sigaddset(&raw mut one, signal);
                // It is pending, so this does not wait.
                libc::sigwait(&raw const one, &raw mut taken);
            }
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut());
        *errno = kept;
        result
    }
}

/// The place of this thread's `errno`, which a signal handler must leave as it was.
fn errno() -> *mut libc::c_int {
    // SAFETY: takes nothing; the place lives as long as the thread.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::__errno_location()
    }
    // SAFETY: as above.
    #[cfg(not(target_os = "linux"))]
    unsafe {
        libc::__error()
    }
}
