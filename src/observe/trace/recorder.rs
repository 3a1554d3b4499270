//! The recording of this process: opened at the first call, ended at exit, by a write
//! error or by a fork (for the child: the file is the parent's).

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Instant;

use super::chunk;
use super::code::{Coder, Streams, Writer};
use super::event::Event;
use super::forecast::Forecast;
use super::{HOST, MAGIC, PIPELINES, VERSION};
use crate::error;
use crate::process::lock::Lock;
use crate::process::output::File;
use crate::process::{self, floating, log, settings};

/// A chunk is written when it is as long as this; a program that is killed loses so much.
const CHUNK: usize = 60 << 10;

const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
/// The process that records, by its generation.
static OWNER: AtomicU32 = AtomicU32::new(0);
static RECORDER: Lock<Option<Recorder>> = Lock::new(None);

/// A recording.
pub(super) struct Recorder {
    /// As messages show it.
    name: String,
    file: File,
    chunk: Vec<u8>,
    forecast: Forecast,
    streams: Streams,
    /// Clusters whose backends are described.
    described: Vec<i32>,
}

/// Whether calls are recorded.
#[inline]
pub fn active() -> bool {
    match STATE.load(Ordering::Relaxed) {
        OFF => false,
        ON => OWNER.load(Ordering::Relaxed) == process::known_generation(),
        _ => begin(),
    }
}

/// The time, if calls are recorded.
#[inline]
pub fn clock() -> Option<Instant> {
    active().then(Instant::now)
}

/// Records what `event` makes. Called while the cluster is locked, so that its events stand
/// in the order in which they took effect.
#[inline]
pub fn record(event: impl FnOnce() -> Event) {
    try_record(|| Ok(event()));
}

/// As [`record`], of an event for which there may be no memory: the recording ends then.
#[inline]
pub fn try_record(event: impl FnOnce() -> error::Result<Event>) {
    /// Out of the way of those that do not record.
    #[cold]
    #[inline(never)]
    fn make(event: impl FnOnce() -> error::Result<Event>) {
        floating::standard(|| match event() {
            Ok(event) => keep(event),
            Err(_) => write(|_| Err(io::ErrorKind::OutOfMemory.into())),
        });
    }
    if active() {
        make(event);
    }
}

/// Records what computes the forces of a cluster, once.
pub fn describe(id: i32, texts: impl FnOnce() -> (String, String)) {
    let mut recorder = RECORDER.lock();
    let Some(r) = &mut *recorder else { return };
    if !r.described.contains(&id) {
        r.described.push(id);
        let (backend, precision) = texts();
        drop(recorder);
        keep(Event::Description {
            id,
            backend,
            precision,
        });
    }
}

/// In a child of a fork: the recording is the parent's.
///
/// # Safety
///
/// This is the only thread.
pub unsafe fn leave_to_parent() {
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        // SAFETY: passed on; another thread of the parent may have been about to begin.
        std::mem::forget(unsafe { RECORDER.take_from_the_dead() }.take());
    }
}

#[cold]
fn begin() -> bool {
    let mut recorder = RECORDER.lock();
    if STATE.load(Ordering::Relaxed) == UNKNOWN {
        if let Some(pattern) = &settings::settings().trace {
            match Recorder::open(pattern) {
                Ok(opened) => {
                    *recorder = Some(opened);
                    OWNER.store(process::generation(), Ordering::Relaxed);
                    process::at_exit(end);
                }
                Err(e) => log::line(format_args!("nothing is recorded: {e}")),
            }
        }
        let state = if recorder.is_some() { ON } else { OFF };
        STATE.store(state, Ordering::Relaxed);
    }
    recorder.is_some()
}

fn keep(mut event: Event) {
    write(|recorder| recorder.keep(&mut event));
}

/// Writes to the recording, which ends where that fails.
fn write(act: impl FnOnce(&mut Recorder) -> io::Result<()>) {
    let mut recorder = RECORDER.lock();
    let Some(r) = &mut *recorder else { return };
    if let Err(e) = act(r) {
        log::line(format_args!("the recording ends here: {}: {e}", r.name));
        *recorder = None;
        STATE.store(OFF, Ordering::Relaxed);
    }
}

extern "C" fn end() {
    process::last_words(|| {
        // In a child the file is the parent's; and nobody waits here for a thread that records.
        if !active() {
            return;
        }
        let Some(mut recorder) = RECORDER.try_lock() else {
            return;
        };
        STATE.store(OFF, Ordering::Relaxed);
        if let Some(r) = recorder.take() {
            let name = r.name.clone();
            if let Err(e) = r.finish() {
                log::line(format_args!("the recording lacks its end: {name}: {e}"));
            }
        }
    });
}

impl Recorder {
    pub(super) fn open(pattern: &OsStr) -> Result<Self, String> {
        let (name, file) = create(process::file_name(pattern))?;
        let mut head = format!("{MAGIC}{VERSION}\n");
        for (key, value) in [
            ("kirin", env!("CARGO_PKG_VERSION").to_owned()),
            ("program", process::program().replace('\n', " ")),
            ("process", std::process::id().to_string()),
            (HOST, process::host().replace('\n', " ")),
            (PIPELINES, settings::settings().npipes.to_string()),
        ] {
            head += &format!("{key} {value}\n");
        }
        head.push('\n');
        file.write_all(head.as_bytes())
            .map_err(|e| format!("{name}: {e}"))?;
        Ok(Self {
            name,
            file,
            chunk: Vec::new(),
            forecast: Forecast::default(),
            streams: Streams::default(),
            described: Vec::new(),
        })
    }

    pub(super) fn keep(&mut self, event: &mut Event) -> io::Result<()> {
        let mut writer = Writer(&mut self.streams);
        let written = writer
            .whole(&mut event.kind().into())
            .and_then(|()| event.code(&mut writer, &mut self.forecast));
        if written.is_err() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if let Event::Close { id } = event {
            self.described.retain(|d| d != id);
            return self.write_chunk();
        }
        if self.streams.len() >= CHUNK {
            self.write_chunk()?;
        }
        Ok(())
    }

    pub(super) fn write_chunk(&mut self) -> io::Result<()> {
        chunk::pack(&mut self.streams, &mut self.chunk)?;
        self.streams.clear();
        self.file.write_all(&self.chunk)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.keep(&mut Event::End)?;
        self.write_chunk()
    }
}

/// A file that nobody's recording is lost to, with its name for messages: another name is taken where
/// one is there. What is no ordinary file, such as a pipe, is written to as it is.
fn create(name: OsString) -> Result<(String, File), String> {
    let fresh = |name: &OsStr| File::open(OpenOptions::new().write(true).create_new(true), name);
    let opened = |name: &OsStr, file: io::Result<File>| {
        let shown = settings::echo(name);
        match file {
            Ok(file) => Ok((shown, file)),
            Err(e) => Err(format!("{shown}: {e}")),
        }
    };
    match fresh(&name) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        file => return opened(&name, file),
    }
    if std::fs::metadata(&name).is_ok_and(|m| !m.is_file()) {
        let file = File::open(OpenOptions::new().write(true), &name);
        return opened(&name, file);
    }
    let mut other = name.clone();
    other.push(format!(".{}", std::process::id()));
    log::line(format_args!(
        "{} is there already: recording to {}",
        settings::echo(&name),
        settings::echo(&other)
    ));
    opened(&other, fresh(&other))
}
