//! Writing of snapshots.

use std::io::{self, Write};

use crc32fast::Hasher;

use super::{BODY_COLUMNS, MAGIC, STATE_COLUMNS, Snapshot};

/// The text of `snapshot`. See the module's description of the format.
///
/// # Panics
///
/// States are not as many as bodies, or a key or value would not be read back as it is.
pub(super) fn write(snapshot: &Snapshot, out: &mut impl Write) -> io::Result<()> {
    let mut summed = Summed {
        out,
        hasher: Hasher::new(),
    };
    body(snapshot, &mut summed)?;
    let sum = summed.hasher.finalize();
    writeln!(out, "end {sum:08x}")
}

/// Passes on what is written, and sums over it.
struct Summed<'a, W> {
    out: &'a mut W,
    hasher: Hasher,
}

impl<W: Write> Write for Summed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Everything before the last line.
fn body(snapshot: &Snapshot, out: &mut impl Write) -> io::Result<()> {
    let Snapshot {
        time,
        bodies,
        states,
        run,
        remark: _,
    } = snapshot;
    writeln!(out, "{MAGIC}")?;
    writeln!(out, "n {}", bodies.len())?;
    writeln!(out, "time {time:?}")?;
    for (key, value) in run {
        assert!(is_application_key(key), "not a key: {key:?}");
        assert!(
            value.trim() == value && !value.is_empty() && !value.contains(['\n', '\r', '#']),
            "not a value: {value:?}"
        );
        writeln!(out, "{key} {value}")?;
    }
    write!(out, "columns index {}", BODY_COLUMNS.join(" "))?;
    if let Some(states) = states {
        assert_eq!(states.len(), bodies.len(), "each body has a state");
        write!(out, " {}", STATE_COLUMNS.join(" "))?;
    }
    writeln!(out)?;
    for (i, b) in bodies.iter().enumerate() {
        write!(out, "{} {:?}", b.index, b.mass)?;
        let mut numbers = |values: &[f64]| values.iter().try_for_each(|v| write!(out, " {v:?}"));
        numbers(&b.x)?;
        numbers(&b.v)?;
        if let Some(states) = states {
            let s = &states[i];
            numbers(&[s.t, s.dt])?;
            numbers(&s.acc)?;
            numbers(&s.jerk)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Whether `key` is one that an application may use.
pub(super) fn is_application_key(key: &str) -> bool {
    key.contains('.') && !key.contains(|c: char| c.is_whitespace() || c == '#')
}
