//! The child's side of a worker: one library in a process of its own, so that a crash of the library does not end the
//! run.
//!
//! A request is a line of JSON on stdin. The reply is a line of JSON on the stdout with which the process was
//! started. Whatever the library prints to stdout goes to stderr instead.

mod parent;
mod protocol;

pub use self::parent::Worker;
pub use self::protocol::{Opened, Reply, Request};

use std::fs::File;
use std::io::{BufRead, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::process::ExitCode;

use kirin::client::{Grape, Grape5, Nbody6};
use kirin_core::cpu;
use kirin_core::process::settings;

use crate::bench::{self, Bench, Bench5, BenchNbody6};
use crate::candidate::MeasuredInterface;
use crate::check;
use crate::replay::{Player, PlayerNbody6};

/// The cluster of measurements.
pub const CLUSTER: i32 = 0;

/// The id by which the worker opens this cluster. Other libraries may know small ids only. In kirin an id that was never
/// opened stands for the only open cluster, so the worker opens none that the client of a trace may use: `CLUSTER`
/// stands for the opened one.
pub fn opened_as(grape: &Grape) -> i32 {
    match grape.is_kirin() {
        true => i32::MIN,
        false => CLUSTER,
    }
}

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
    match library {
        Some(Library::Grape6 { grape, .. }) => drop(grape.close(opened_as(&grape))),
        Some(Library::Grape5 { grape, .. }) => grape.close(),
        Some(Library::Nbody6 { library, .. }) => library.close(),
        None => {}
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

/// The library that is open, and what is kept for it.
enum Library {
    Grape6 {
        grape: Grape,
        bench: Bench,
        player: Option<Box<Player>>,
    },
    Grape5 {
        grape: Grape5,
        bench: Bench5,
    },
    Nbody6 {
        library: Nbody6,
        bench: BenchNbody6,
        player: Option<Box<PlayerNbody6>>,
    },
}

fn answer(library: &mut Option<Library>, request: Request) -> Result<Reply, String> {
    if let Request::Open { path, interface } = &request {
        let (opened, opened_library) = open(path.as_deref().map(Path::new), *interface)?;
        *library = Some(opened_library);
        return Ok(Reply::Opened(opened));
    }
    match library.as_mut().ok_or("no library is open")? {
        Library::Grape6 {
            grape,
            bench,
            player,
        } => answer_grape6(grape, bench, player, request),
        Library::Grape5 { grape, bench } => Ok(match request {
            Request::Load { n, seed } => {
                bench.load(grape, n, seed);
                Reply::Loaded
            }
            Request::Sample(what) => Reply::Sample(bench.sample(grape, &what)?),
            Request::Peak { seconds } => Reply::Peak(bench::peak(bench::chosen_set(), seconds)),
            Request::Forces(scene) => Reply::Forces(check::forces_of_grape5(grape, &scene)),
            _ => return Err("GRAPE-5 has no such calls".to_owned()),
        }),
        Library::Nbody6 {
            library,
            bench,
            player,
        } => Ok(match request {
            Request::Load { n, seed } => {
                bench.load(library, n, seed);
                Reply::Loaded
            }
            Request::Sample(what) => Reply::Sample(bench.sample(library, &what)?),
            Request::Peak { seconds } => Reply::Peak(bench::peak(bench::chosen_set(), seconds)),
            Request::Forces(scene) => Reply::Forces(check::forces_of_nbody6(library, &scene)),
            Request::Lists(scene) => Reply::Lists(check::lists_of_nbody6(library, &scene)),
            Request::Replay { trace, .. } => {
                *player = Some(Box::new(PlayerNbody6::new(Path::new(&trace))?));
                Reply::Opening
            }
            Request::Continue { seconds } => {
                let player = player.as_mut().ok_or("no trace is open")?;
                Reply::Replayed(player.play(library, seconds))
            }
            _ => return Err("NBODY6++ has no such calls".to_owned()),
        }),
    }
}

fn open(path: Option<&Path>, interface: MeasuredInterface) -> Result<(Opened, Library), String> {
    let linked = path.is_none();
    Ok(match interface {
        MeasuredInterface::Grape6 => {
            let grape = Grape::linked_or(path).map_err(|e| e.to_string())?;
            let id = opened_as(&grape);
            grape.open(id);
            let opened = describe(
                grape.backend(id),
                grape.precision(id),
                grape.npipes(),
                [grape.is_kirin(), linked],
            );
            let bench = Bench::default();
            let player = None;
            let library = Library::Grape6 {
                grape,
                bench,
                player,
            };
            (opened, library)
        }
        MeasuredInterface::Grape5 => {
            let grape = Grape5::linked_or(path).map_err(|e| e.to_string())?;
            grape.open();
            let opened = describe(
                grape.backend(),
                grape.precision(),
                grape.npipes(),
                [grape.is_kirin(), linked],
            );
            let bench = Bench5::default();
            (opened, Library::Grape5 { grape, bench })
        }
        MeasuredInterface::Nbody6 => {
            let library = Nbody6::linked_or(path).map_err(|e| e.to_string())?;
            let opened = describe(
                library.backend(),
                library.precision(),
                Nbody6::LARGEST_BLOCK,
                [library.is_kirin(), linked],
            );
            let bench = BenchNbody6::default();
            let player = None;
            let library = Library::Nbody6 {
                library,
                bench,
                player,
            };
            (opened, library)
        }
    })
}

fn answer_grape6(
    grape: &Grape,
    bench: &mut Bench,
    player: &mut Option<Box<Player>>,
    request: Request,
) -> Result<Reply, String> {
    Ok(match request {
        Request::Open { .. } => unreachable!("answered before"),
        Request::Load { n, seed } => {
            bench.load(grape, n, seed);
            Reply::Loaded
        }
        Request::Sample(what) => Reply::Sample(bench.sample(grape, &what)?),
        Request::Peak { seconds } => Reply::Peak(bench::peak(bench::chosen_set(), seconds)),
        Request::Forces(scene) => Reply::Forces(check::forces(grape, &scene)),
        Request::Lists(scene) => Reply::Lists(check::lists(grape, &scene)?),
        Request::Replay { trace, pipelines } => {
            let opened = Player::new(grape, Path::new(&trace), pipelines)?;
            *player = Some(Box::new(opened));
            Reply::Opening
        }
        Request::Continue { seconds } => {
            let player = player.as_mut().ok_or("no trace is open")?;
            Reply::Replayed(player.play(grape, seconds))
        }
    })
}

fn describe(
    backend: String,
    precision: String,
    npipes: usize,
    [is_kirin, linked]: [bool; 2],
) -> Opened {
    Opened {
        precision,
        is_kirin,
        npipes,
        // Only the linked library is known to follow the settings that this process sees.
        threads: (linked && backend.starts_with("cpu "))
            .then(|| cpu::threads(settings::settings().threads)),
        backend,
    }
}
