//! The recording of this process. It begins at the first call and ends at exit or at a write error. The
//! child of a fork does not record: the file is its parent's.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::Instant;

use super::chunk;
use super::code::{Coder, Streams, Writer};
use super::event::Event;
use super::forecast::Forecast;
use super::{HOST, MAGIC, PIPELINES, VERSION};
use crate::error;
use crate::process::fork::{Deadline, Prepared, Subject};
use crate::process::lock::Lock;
use crate::process::output::File;
use crate::process::{self, entry, fork, log, settings};

/// The length at which a chunk is written, in bytes. A program that is killed loses at most this much.
const CHUNK: usize = 60 << 10;

const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
/// The generation of the process that records.
static OWNER: AtomicU32 = AtomicU32::new(0);
static RECORDER: Lock<Option<Recorder>> = Lock::new(None);

/// A recording.
pub(super) struct Recorder {
    /// The file's name, for messages.
    name: String,
    file: File,
    chunk: Vec<u8>,
    forecast: Forecast,
    streams: Streams,
    /// The clusters whose backends have been described, with the precision.
    described: Vec<(i32, String)>,
}

/// Whether calls are recorded.
#[inline(always)]
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

/// Records an event, which `event` makes if calls are recorded. Called while the cluster is locked, so that
/// events are in the order in which they took effect.
#[inline]
pub fn record(event: impl FnOnce() -> Event) {
    try_record(|| Ok(event()));
}

/// As [`record`], for an event whose memory may not be had; the recording then ends.
#[inline(always)]
pub fn try_record(event: impl FnOnce() -> error::Result<Event>) {
    /// Not inlined: most processes do not record.
    #[cold]
    #[inline(never)]
    fn make(event: impl FnOnce() -> error::Result<Event>) {
        process::protected(|| match event() {
            Ok(event) => keep(event),
            Err(_) => write(|_| Err(io::ErrorKind::OutOfMemory.into())),
        });
    }
    if active() {
        make(event);
    }
}

/// Records what computes the forces of a cluster, once for each change of its precision.
pub fn describe(id: i32, precision: String, backend: impl FnOnce() -> String) {
    let mut recorder = RECORDER.lock();
    let Some(r) = &mut *recorder else { return };
    let known = r.described.iter().any(|(d, p)| *d == id && *p == precision);
    if !known {
        r.described.retain(|(d, _)| *d != id);
        r.described.push((id, precision.clone()));
        drop(recorder);
        let backend = backend();
        keep(Event::Description {
            id,
            backend,
            precision,
        });
    }
}

/// What a fork has to know of the recording.
struct Recording;

impl Subject for Recording {
    fn room(&self) -> usize {
        0
    }

    fn prepare(&'static self, _: &Deadline) -> Box<dyn Prepared> {
        Box::new(Self)
    }
}

impl Prepared for Recording {
    fn resume(&mut self) {}

    unsafe fn inherit(&mut self) {
        if STATE.load(Ordering::Relaxed) == UNKNOWN {
            // SAFETY: the caller's promise. Another thread of the parent may have been about to begin.
            std::mem::forget(unsafe { RECORDER.take_from_the_dead() }.take());
        }
    }
}

#[cold]
fn begin() -> bool {
    entry::hold_cancellation();
    static WATCHED: AtomicBool = AtomicBool::new(false);
    fork::watch(&Recording, &WATCHED);
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

/// Writes to the recording; ends it if that fails.
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
        // In a child the file is the parent's. Does not wait for a thread that is recording.
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
            self.described.retain(|(d, _)| d != id);
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

/// Creates the file, and returns it with its name for messages. Never overwrites: if the file exists, another
/// name is taken. Something else than an ordinary file, such as a pipe, is opened as it is.
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
