//! One library in a process of its own, so that its crash costs nothing else: the child's side.
//!
//! A request is a line of JSON on stdin, the reply a line of JSON on the stdout that the
//! process was born with. Whatever the library prints to stdout goes to stderr instead.

mod parent;
mod protocol;

pub use self::parent::Worker;
pub use self::protocol::{Opened, Reply, Request};

use std::fs::File;
use std::io::{BufRead, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::process::ExitCode;

use kirin::backend::cpu;
use kirin::client::Grape;
use kirin::process::settings;

use crate::bench::{self, Bench};
use crate::check;
use crate::replay::Player;

/// The cluster that the worker opens.
pub const CLUSTER: i32 = 0;

/// Serves requests until stdin ends.
///
/// # Errors
///
/// A request that is none, or a parent that has gone.
pub fn serve() -> Result<ExitCode, String> {
    let mut replies = take_stdout().map_err(|e| e.to_string())?;
    let mut library = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let request = serde_json::from_str(&line).map_err(|e| e.to_string())?;
        let reply = answer(&mut library, request).unwrap_or_else(Reply::Refused);
        let mut text = serde_json::to_string(&reply).map_err(|e| e.to_string())?;
        text.push('\n');
        replies
            .write_all(text.as_bytes())
            .map_err(|e| e.to_string())?;
    }
    if let Some((grape, ..)) = library {
        grape.close(CLUSTER);
    }
    Ok(ExitCode::SUCCESS)
}

/// The stdout of the process; from here on number 1 is stderr.
fn take_stdout() -> std::io::Result<File> {
    let (out, error) = (std::io::stdout().as_raw_fd(), std::io::stderr().as_raw_fd());
    // SAFETY: both numbers are those of the standard streams; no memory is involved.
    let copy = unsafe { libc::fcntl(out, libc::F_DUPFD_CLOEXEC, 3) };
    // SAFETY: as above.
    if copy < 0 || unsafe { libc::dup2(error, out) } < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: `copy` was made above and belongs to nobody else.
    Ok(unsafe { File::from_raw_fd(copy) })
}

type Library = Option<(Grape, Bench, Option<Player>)>;

fn answer(library: &mut Library, request: Request) -> Result<Reply, String> {
    if let Request::Open { path } = &request {
        let grape = Grape::linked_or(path.as_deref().map(Path::new)).map_err(|e| e.to_string())?;
        grape.open(CLUSTER);
        let opened = describe(&grape, path.is_none());
        *library = Some((grape, Bench::default(), None));
        return Ok(Reply::Opened(opened));
    }
    let (grape, bench, player) = library.as_mut().ok_or("no library is open")?;
    Ok(match request {
        Request::Open { .. } => unreachable!("answered above"),
        Request::Load { n, seed } => {
            bench.load(grape, n, seed);
            Reply::Loaded
        }
        Request::Sample(what) => Reply::Sample(bench.sample(grape, &what)?),
        Request::Peak { seconds } => Reply::Peak(bench::peak(bench::chosen_set(), seconds)),
        Request::Forces(scene) => Reply::Forces(check::forces(grape, &scene)),
        Request::Lists(scene) => Reply::Lists(check::lists(grape, &scene)?),
        Request::Replay { trace, pipelines } => {
            *player = Some(Player::new(grape, Path::new(&trace), pipelines)?);
            Reply::Opening
        }
        Request::Continue { seconds } => {
            let player = player.as_mut().ok_or("no trace is open")?;
            Reply::Replayed(player.play(grape, seconds))
        }
    })
}

fn describe(grape: &Grape, linked: bool) -> Opened {
    let backend = grape.backend(CLUSTER);
    Opened {
        precision: grape.precision(CLUSTER),
        is_kirin: grape.is_kirin(),
        npipes: grape.npipes(),
        // Only the linked library is known to follow the settings that this process sees.
        threads: linked.then(|| match backend.starts_with("cpu ") {
            true => cpu::threads(settings::settings().threads),
            false => 1,
        }),
        backend,
    }
}
