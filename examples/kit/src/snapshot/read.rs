//! Reading of snapshots.

use std::str::FromStr;

use super::write::is_application_key;
use super::{BODY_COLUMNS, MAGIC, STATE_COLUMNS, Snapshot, SnapshotError, State};
use crate::body::Body;

/// The snapshot in `text`, or the first line that spoils it.
pub(super) fn parse(text: &[u8]) -> Result<Snapshot, SnapshotError> {
    let mut lines = Lines {
        rest: text.split(|&b| b == b'\n'),
        line: 0,
    };
    let sum = checksum(text);
    if let Some((expected, found)) = sum
        && expected != found
    {
        // Checked first: a damaged digit may have made another valid number.
        lines.line = text.iter().filter(|&&b| b == b'\n').count();
        let advice = match text.split(|&b| b == b'\n').any(is_settings) {
            true => "a run goes on only from what its program wrote",
            false => "where it was changed on purpose, write `end` alone in the last line",
        };
        return lines.refuse(format!(
            "the file is damaged: its checksum is {found:08x}, and was {expected:08x}; {advice}"
        ));
    }
    if lines.next()? != Some(MAGIC) {
        return lines.refuse(format!(
            "a snapshot begins with the line `{MAGIC}`, a table with the names of its columns, m x y z vx vy vz"
        ));
    }
    let (n, mut snapshot, layout) = header(&mut lines)?;
    let mut states = Vec::new();
    for i in 0..n {
        let text = lines.next()?.filter(|text| !is_end(text));
        let Some(text) = text else {
            return lines.refuse(format!("the file ends after {i} of {n} bodies"));
        };
        let (body, state) = layout.body(&lines, text, i)?;
        snapshot.bodies.push(body);
        states.extend(state);
    }
    snapshot.states = layout.state.map(|_| states);
    match lines.next()? {
        // Whoever writes bodies by hand need not sum; a run was written by a program.
        Some("end") if sum.is_none() && is_run(&snapshot) => {
            return lines.refuse("the file is damaged: the checksum after `end` is missing");
        }
        Some("end") => {}
        Some(last) if sum.is_some() && last.starts_with("end ") => {}
        Some(_) => return lines.refuse(format!("expected `end` after {n} bodies")),
        None => return lines.refuse("the file ends without `end`"),
    }
    match lines.next()? {
        None => Ok(snapshot),
        Some(_) => lines.refuse("there is text after `end`"),
    }
}

/// Whether a line is the last one.
fn is_end(text: &str) -> bool {
    text.split_whitespace().next() == Some("end")
}

/// Whether it is the run of a program, and not bodies alone.
pub(super) fn is_run(snapshot: &Snapshot) -> bool {
    let mut keys = snapshot.run.iter().map(|(key, _)| key);
    keys.any(|key| is_settings(key.as_bytes()))
}

/// Whether a line or its key names the settings of a program.
fn is_settings(line: &[u8]) -> bool {
    let key = line.trim_ascii_start().split(|&b| b == b' ').next();
    key.is_some_and(|key| key.ends_with(b".settings"))
}

/// The checksum in the last line, where there is one, and that of all lines before.
fn checksum(text: &[u8]) -> Option<(u32, u32)> {
    let lines = text.strip_suffix(b"\n").unwrap_or(text);
    let begin = lines.iter().rposition(|&b| b == b'\n')? + 1;
    let sum = std::str::from_utf8(lines[begin..].strip_prefix(b"end ")?).ok()?;
    let expected = u32::from_str_radix(sum, 16).ok()?;
    Some((expected, crc32fast::hash(&text[..begin])))
}

/// Lines without comments, counted.
struct Lines<'a, I: Iterator<Item = &'a [u8]>> {
    rest: I,
    line: usize,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Lines<'a, I> {
    /// The next line with something on it, trimmed.
    fn next(&mut self) -> Result<Option<&'a str>, SnapshotError> {
        for bytes in self.rest.by_ref() {
            self.line += 1;
            let Ok(text) = std::str::from_utf8(bytes) else {
                return self.refuse("not text in UTF-8");
            };
            let text = text.split('#').next().unwrap_or_default().trim();
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    fn refuse<T>(&self, what: impl Into<String>) -> Result<T, SnapshotError> {
        Err(SnapshotError::Line {
            line: self.line.max(1),
            what: what.into(),
        })
    }

    fn number<T: FromStr>(&self, name: &str, text: &str) -> Result<T, SnapshotError> {
        text.parse()
            .or_else(|_| self.refuse(format!("{name}: `{text}` is not a number of its kind")))
    }

    fn finite(&self, name: &str, text: &str) -> Result<f64, SnapshotError> {
        let number: f64 = self.number(name, text)?;
        if number.is_finite() {
            Ok(number)
        } else {
            self.refuse(format!("{name}: `{text}` is not finite"))
        }
    }
}

/// Everything up to and including `columns`.
fn header<'a, I: Iterator<Item = &'a [u8]>>(
    lines: &mut Lines<'a, I>,
) -> Result<(usize, Snapshot, Layout), SnapshotError> {
    let mut snapshot = Snapshot::default();
    let (mut n, mut time) = (None, None);
    loop {
        let Some(text) = lines.next()? else {
            return lines.refuse("the file ends before `columns`");
        };
        let (key, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let value = value.trim_start();
        if value.is_empty() {
            return lines.refuse(format!("`{key}` has no value"));
        }
        if key == "n" && n.is_some() || key == "time" && time.is_some() {
            return lines.refuse(format!("`{key}` is given twice"));
        }
        match key {
            "n" => n = Some(lines.number("n", value)?),
            "time" => time = Some(lines.finite("time", value)?),
            "columns" => {
                let Some(n) = n else {
                    return lines.refuse("`n`, the number of bodies, must come before `columns`");
                };
                snapshot.time = time.unwrap_or(0.0);
                return Ok((n, snapshot, Layout::new(lines, value)?));
            }
            _ if is_application_key(key) => snapshot.run.push((key.to_owned(), value.to_owned())),
            _ => {
                return lines.refuse(format!(
                    "`{key}` is neither n, time, columns nor a key with a dot"
                ));
            }
        }
    }
}

/// Where in a body's line each of its numbers is.
struct Layout {
    width: usize,
    index: Option<usize>,
    body: [usize; 7],
    state: Option<[usize; 8]>,
}

impl Layout {
    fn new<'a, I: Iterator<Item = &'a [u8]>>(
        lines: &Lines<'a, I>,
        text: &str,
    ) -> Result<Self, SnapshotError> {
        let names: Vec<&str> = text.split_whitespace().collect();
        let place = |name: &str| names.iter().position(|n| *n == name);
        for (k, name) in names.iter().enumerate() {
            if *name != "index" && !BODY_COLUMNS.contains(name) && !STATE_COLUMNS.contains(name) {
                return lines.refuse(format!("unknown column `{name}`"));
            }
            if place(name) != Some(k) {
                return lines.refuse(format!("column `{name}` is given twice"));
            }
        }
        let required = |name: &&str| {
            place(name).map_or_else(|| lines.refuse(format!("column `{name}` is missing")), Ok)
        };
        let mut body = [0; 7];
        for (slot, name) in body.iter_mut().zip(&BODY_COLUMNS) {
            *slot = required(name)?;
        }
        let mut state = None;
        if STATE_COLUMNS.iter().any(|name| place(name).is_some()) {
            let mut places = [0; 8];
            for (slot, name) in places.iter_mut().zip(&STATE_COLUMNS) {
                *slot = required(name)?;
            }
            state = Some(places);
        }
        Ok(Self {
            width: names.len(),
            index: place("index"),
            body,
            state,
        })
    }

    fn body<'a, I: Iterator<Item = &'a [u8]>>(
        &self,
        lines: &Lines<'a, I>,
        text: &str,
        i: usize,
    ) -> Result<(Body, Option<State>), SnapshotError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() != self.width {
            return lines.refuse(format!(
                "{} numbers where `columns` names {}",
                words.len(),
                self.width
            ));
        }
        let mut b = [0.0; 7];
        for ((value, place), name) in b.iter_mut().zip(&self.body).zip(&BODY_COLUMNS) {
            *value = lines.finite(name, words[*place])?;
        }
        if b[0] < 0.0 {
            return lines.refuse(format!("the mass {} is negative", b[0]));
        }
        let index = match self.index {
            Some(place) => lines.number("index", words[place])?,
            None => lines.number("index", &i.to_string())?,
        };
        let body = Body {
            index,
            mass: b[0],
            x: [b[1], b[2], b[3]],
            v: [b[4], b[5], b[6]],
        };
        let Some(places) = &self.state else {
            return Ok((body, None));
        };
        let mut s = [0.0; 8];
        for ((value, place), name) in s.iter_mut().zip(places).zip(&STATE_COLUMNS) {
            *value = lines.finite(name, words[*place])?;
        }
        let state = State {
            t: s[0],
            dt: s[1],
            acc: [s[2], s[3], s[4]],
            jerk: [s[5], s[6], s[7]],
        };
        Ok((body, Some(state)))
    }
}
