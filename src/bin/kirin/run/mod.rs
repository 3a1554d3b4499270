//! `kirin run`: runs a program with kirin in place of its GRAPE-6 library.
//!
//! kirin is preloaded, so its symbols come before those of any library of the program. The program replaces this
//! process (`exec`): signals, status and streams are its own.

mod elf;
mod libraries;
mod program;
mod stand_in;
mod start;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use kirin_core::process::settings;

use self::libraries::Findings;
pub use self::libraries::{Linked, linked};
use self::program::Program;
pub use self::stand_in::{clear as clear_stand_ins, folders as folders_of_stand_ins};
use crate::library::{self, SONAME};

/// Options of the subcommand.
#[derive(Args)]
pub struct Options {
    /// What computes the forces (KIRIN_BACKEND)
    #[arg(long)]
    backend: Option<String>,
    /// Which GPUs to use (KIRIN_DEVICES)
    #[arg(long)]
    devices: Option<String>,
    /// Arithmetic of the forces (KIRIN_PRECISION)
    #[arg(long)]
    precision: Option<String>,
    /// Number of pipelines [default: 48]; 256 or more for programs without fixed arrays (KIRIN_NPIPES)
    #[arg(long, alias = "npipes")]
    pipelines: Option<String>,
    /// Threads of the cpu backend (KIRIN_THREADS)
    #[arg(long)]
    threads: Option<String>,
    /// Prints statistics on stderr at the end (KIRIN_STATS=1)
    #[arg(long)]
    stats: bool,
    /// Also replaces the library of this file name, whether it exists or not; may be repeated. Needed only for
    /// libraries that a program opens while it runs, and for missing libraries of programs that a script starts
    #[arg(long, value_name = "NAME")]
    replace: Vec<String>,
    /// Also replaces NBODY6's library in programs that a script starts. If PROGRAM itself uses that library, it is
    /// replaced without this option
    #[arg(long)]
    nbody6: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    words: Vec<OsString>,
}

/// Exit statuses if kirin refuses to start the program, if the program cannot be started, and if it does not exist.
/// `env` and `nohup` use the same numbers.
const REFUSED: u8 = 125;
const NOT_STARTED: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Runs the subcommand.
pub fn run(options: Options) -> ExitCode {
    let (why, status) = match prepare(&options) {
        Ok(()) => {
            let name = options.words[0].display().to_string();
            let missing = program::find(&options.words[0]).is_none();
            let error = start::instead(options.words);
            let status = match error.kind() {
                io::ErrorKind::NotFound => NOT_FOUND,
                _ => NOT_STARTED,
            };
            let place = match status == NOT_FOUND && !name.contains('/') && missing {
                true if Path::new(&name).is_file() => {
                    format!("; the one in this folder is ./{name}")
                }
                true => "; no folder of PATH has it".to_owned(),
                false => String::new(),
            };
            (format!("{name}: {error}{place}"), status)
        }
        Err(why) => (why, REFUSED),
    };
    eprintln!("kirin: {why}");
    ExitCode::from(status)
}

/// Sets the environment in which the program is to start.
fn prepare(options: &Options) -> Result<(), String> {
    let settings = settings(options)?;
    let taken = look(&options.words)?;
    // SAFETY: this process has one thread.
    let set = |name: &str, value: &OsStr| unsafe { std::env::set_var(name, value) };
    if taken.is_some() || options.nbody6 || !options.replace.is_empty() {
        set(
            "LD_PRELOAD",
            &preloaded(taken.unwrap_or_default(), options)?,
        );
    }
    for (name, value) in settings {
        set(name, value.as_ref());
    }
    Ok(())
}

/// The value of `LD_PRELOAD` for a program of which kirin takes the place of `taken`.
fn preloaded(taken: Taken, options: &Options) -> Result<OsString, String> {
    let Taken {
        mut replaced,
        mut companions,
    } = taken;
    replaced.extend(options.replace.iter().cloned());
    companions.extend(options.nbody6.then_some("kirin_nbody6"));

    let library = library::shared()?;
    let mut preload = vec![library.clone()];
    for name in companions {
        preload.push(library::companion(&library, name)?);
    }
    if !replaced.is_empty() || !preload.iter().all(|p| stand_in::can_be_preloaded(p)) {
        let folder = stand_in::folder(&library)?;
        let failed = |e: io::Error| format!("{}: {e}", folder.display());
        for library in &mut preload {
            if !stand_in::can_be_preloaded(library) {
                *library = stand_in::link(&folder, library).map_err(failed)?;
            }
        }
        for name in &replaced {
            preload.push(stand_in::file(&folder, name, SONAME).map_err(failed)?);
        }
    }
    Ok(joined(&preload))
}

/// What of a program kirin takes the place of.
#[derive(Default)]
struct Taken {
    /// Names of the libraries to replace.
    replaced: BTreeSet<String>,
    /// Libraries of forwarded names to preload.
    companions: BTreeSet<&'static str>,
}

impl Taken {
    /// What kirin takes the place of in a program that calls the interface.
    ///
    /// # Errors
    ///
    /// The program needs forces that kirin does not have; in words.
    fn of(program: &Path, findings: Findings) -> Result<Self, String> {
        match findings.lacking {
            Some(call) => Err(refusal(
                program,
                &format!(
                    "it calls {call}, and kirin has no forces with a cutoff and no quadrupoles"
                ),
            )),
            None => Ok(Self {
                replaced: findings.replaced,
                companions: findings.companions,
            }),
        }
    }
}

fn refusal(program: &Path, why: &str) -> String {
    format!(
        "{}: kirin cannot take part in this program: {why}",
        program.display()
    )
}

/// A look at the program. `None` if kirin is linked into it: nothing is to be preloaded.
fn look(words: &[OsString]) -> Result<Option<Taken>, String> {
    // A program that cannot be found or read is the system's to complain about.
    let Some(path) = program::find(&words[0]) else {
        return Ok(Some(Taken::default()));
    };
    let program = match program::examine(&path, SONAME) {
        Some(Program::Dynamic(findings)) if findings.calls => {
            return Taken::of(&path, findings).map(Some);
        }
        Some(Program::Own) => return Ok(None),
        Some(Program::Contains(why)) => return Err(refusal(&path, &why)),
        program => program,
    };
    // mpirun, nice, a shell: what they start is among their arguments.
    let mut refused = None;
    for word in &words[1..] {
        match argument(word) {
            Some(Program::Dynamic(findings)) if findings.calls => {
                return Taken::of(Path::new(word), findings).map(Some);
            }
            // Another argument may be the program that can be served.
            Some(Program::Contains(why)) => {
                refused.get_or_insert_with(|| refusal(Path::new(word), &why));
            }
            // A child that needs no library. Another child may.
            Some(Program::Own) => return Ok(Some(Taken::default())),
            _ => {}
        }
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    match program {
        Some(Program::OutOfReach(why) | Program::Contains(why)) => Err(refusal(&path, &why)),
        Some(Program::Dynamic(_)) => {
            eprintln!(
                "kirin: {}: neither this program nor its libraries call the GRAPE-6 interface; \
                 only programs that it starts and libraries that it opens can meet kirin",
                path.display()
            );
            Ok(Some(Taken::default()))
        }
        Some(Program::Own | Program::Script) | None => Ok(Some(Taken::default())),
    }
}

fn argument(word: &OsStr) -> Option<Program> {
    let path = program::find(word).or_else(|| {
        let here = Path::new(".").join(word);
        here.is_file().then_some(here)
    })?;
    program::examine(&path, SONAME)
}

/// The variables that the options set.
fn settings(options: &Options) -> Result<Vec<(&'static str, String)>, String> {
    let given = [
        ("backend", "KIRIN_BACKEND", &options.backend),
        ("devices", "KIRIN_DEVICES", &options.devices),
        ("precision", "KIRIN_PRECISION", &options.precision),
        ("pipelines", "KIRIN_NPIPES", &options.pipelines),
        ("threads", "KIRIN_THREADS", &options.threads),
    ];
    let mut settings = Vec::new();
    for (option, name, value) in given {
        let Some(value) = value else { continue };
        let (_, wrong) = settings::from_variables([(name.into(), value.into())]);
        if !wrong.is_empty() {
            let setting = settings::SETTINGS.iter().find(|s| s.name == name);
            return Err(format!(
                "--{option} {value} is not one of: {}",
                setting.map_or("", |s| s.values)
            ));
        }
        settings.push((name, value.clone()));
    }
    if options.stats {
        settings.push(("KIRIN_STATS", "1".to_owned()));
    }
    Ok(settings)
}

/// The value of `LD_PRELOAD`: ours, then what was there.
fn joined(ours: &[PathBuf]) -> OsString {
    let before = std::env::var_os("LD_PRELOAD").filter(|v| !v.is_empty());
    let all: Vec<OsString> = ours
        .iter()
        .map(|p| p.clone().into_os_string())
        .chain(before)
        .collect();
    all.join(OsStr::new(":"))
}
