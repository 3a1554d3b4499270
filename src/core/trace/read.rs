//! Reads a trace up to its first damage.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::chunk::{self, NoChunk};
use super::code::{Coder, Reader, Streams};
use super::event::Event;
use super::forecast::Forecast;
use super::{MAGIC, VERSION};

/// The longest line and the most lines of the head.
const HEAD: (u64, usize) = (4096, 64);

/// Why a trace, or the rest of one, cannot be read.
#[derive(Debug)]
pub enum TraceError {
    /// The file cannot be read.
    Io(io::Error),
    /// It is not a trace.
    Foreign,
    /// It is a trace of another version of the format.
    Version(String),
    /// It has no end.
    Cut,
    /// Its contents are not what was written.
    Damaged(String),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => e.fmt(f),
            Self::Foreign => f.write_str("this is no trace of kirin"),
            Self::Version(v) => write!(f, "a trace of version {v}; this kirin reads versions up to {VERSION}"),
            Self::Cut => f.write_str(
                "the trace is cut off: its program was killed, or still runs, or the file is incomplete",
            ),
            Self::Damaged(how) => write!(f, "the trace is damaged: {how}"),
        }
    }
}

impl std::error::Error for TraceError {}

/// A trace, open for reading.
pub struct Trace {
    file: BufReader<File>,
    head: Vec<(String, String)>,
    streams: Streams,
    place: [usize; 3],
    forecast: Forecast,
    ended: bool,
}

impl Trace {
    /// Opens a file and reads its head.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a trace of a version that is known.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let file = File::open(path).map_err(TraceError::Io)?;
        let mut file = BufReader::new(file);
        let first = line(&mut file)?.ok_or(TraceError::Foreign)?;
        let version = first.strip_prefix(MAGIC).ok_or(TraceError::Foreign)?;
        if !(1..=VERSION).any(|v| version == v.to_string()) {
            return Err(TraceError::Version(version.to_owned()));
        }
        let mut head = Vec::new();
        loop {
            let text = line(&mut file)?.ok_or(TraceError::Cut)?;
            if text.is_empty() {
                break;
            }
            if head.len() == HEAD.1 {
                return Err(TraceError::Foreign);
            }
            let (name, value) = text.split_once(' ').unwrap_or((&text, ""));
            head.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self {
            file,
            head,
            streams: Streams::default(),
            place: [0; 3],
            forecast: Forecast::default(),
            ended: false,
        })
    }

    /// The names and values of the head.
    pub fn head(&self) -> &[(String, String)] {
        &self.head
    }

    /// The next event; `None` after the last one of a whole trace.
    ///
    /// # Errors
    ///
    /// The trace is damaged or incomplete. No further event can be read.
    pub fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        if self.ended {
            return Ok(None);
        }
        let event = self.read();
        match &event {
            Ok(Event::End) => self.ended = true,
            Ok(_) => return event.map(Some),
            Err(_) => self.ended = true,
        }
        event.map(|_| None)
    }

    fn read(&mut self) -> Result<Event, TraceError> {
        while self.place[0] == self.streams.control.len() {
            self.read_chunk()?;
        }
        let mut reader = Reader::at(&self.streams, self.place);
        let mut kind = 0;
        let malformed = |_| TraceError::Damaged("it holds what is no event".to_owned());
        reader.whole(&mut kind).map_err(malformed)?;
        let kind = u8::try_from(kind).ok();
        let mut event = kind
            .and_then(Event::blank)
            .ok_or_else(|| TraceError::Damaged("an event of an unknown kind".to_owned()))?;
        event
            .code(&mut reader, &mut self.forecast)
            .map_err(malformed)?;
        self.place = reader.place();
        Ok(event)
    }

    fn read_chunk(&mut self) -> Result<(), TraceError> {
        self.place = [0; 3];
        chunk::unpack(&mut self.file, &mut self.streams).map_err(|e| match e {
            NoChunk::Io(e) => TraceError::Io(e),
            NoChunk::Cut => TraceError::Cut,
            NoChunk::Damaged => TraceError::Damaged("a chunk is not what was written".to_owned()),
        })
    }
}

/// A line of the head; `None` if it is too long.
fn line(file: &mut impl BufRead) -> Result<Option<String>, TraceError> {
    let mut bytes = Vec::new();
    io::Read::take(file, HEAD.0)
        .read_until(b'\n', &mut bytes)
        .map_err(TraceError::Io)?;
    if bytes.pop() != Some(b'\n') {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
