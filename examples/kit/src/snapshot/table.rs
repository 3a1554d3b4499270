//! Bodies as plain columns: a line with the names of the columns, then one line for each body.

use super::{Snapshot, SnapshotError};
use crate::body::Body;

/// The columns, each with the names that it may have. The first is the label, the others are in the order of
/// [`BODY_COLUMNS`](super::BODY_COLUMNS).
const COLUMNS: [&[&str]; 8] = [
    &["id", "index", "key", "iord"],
    &["mass", "m"],
    &["x"],
    &["y"],
    &["z"],
    &["vx"],
    &["vy"],
    &["vz"],
];

/// The bodies of a table; `None` if the first line does not name columns, so that the text is something else.
pub(super) fn parse(text: &[u8]) -> Option<Result<Snapshot, SnapshotError>> {
    let mut lines = text
        .split(|&b| b == b'\n')
        .enumerate()
        .filter_map(|(number, bytes)| {
            let line = std::str::from_utf8(bytes).unwrap_or("\u{fffd}").trim();
            (!line.is_empty()).then_some((number + 1, line))
        });
    let (number, first) = lines.next()?;
    let names = words(first.trim_start_matches('#'));
    let is_column = |name: &&str| place(&[*name], COLUMNS[1]).is_some();
    // A snapshot's first line has no such name.
    if !names.iter().any(is_column) && place(&names, COLUMNS[2]).is_none() {
        return None;
    }
    Some(Layout::new(number, &names).and_then(|layout| layout.bodies(lines)))
}

/// The words of a line, which are separated by blanks or commas. Nothing between two commas, or before the first one, is an empty word: pandas
/// writes its index as a column without a name.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in line.strip_suffix(',').unwrap_or(line).split(',') {
        match part.trim() {
            "" => words.push(""),
            part => words.extend(part.split_whitespace()),
        }
    }
    words
}

/// The place in `names` of a column that may have any of these `aliases`.
fn place(names: &[&str], aliases: &[&str]) -> Option<usize> {
    let is_alias = |name: &&str| aliases.iter().any(|a| a.eq_ignore_ascii_case(name));
    names.iter().position(is_alias)
}

fn refuse<T>(line: usize, what: String) -> Result<T, SnapshotError> {
    Err(SnapshotError::Line { line, what })
}

/// Where in a line each number of a body is.
struct Layout {
    width: usize,
    index: Option<usize>,
    body: [usize; 7],
}

impl Layout {
    fn new(line: usize, names: &[&str]) -> Result<Self, SnapshotError> {
        // pandas calls a column of row numbers `index`, beside the labels.
        let labels: &[&str] = match place(names, &["id"]) {
            Some(_) => &["id"],
            None => COLUMNS[0],
        };
        for aliases in std::iter::once(labels).chain(COLUMNS[1..].iter().copied()) {
            let found = names
                .iter()
                .filter(|name| place(&[**name], aliases).is_some());
            if found.count() > 1 {
                return refuse(line, format!("column `{}` is given twice", aliases[0]));
            }
        }
        let mut body = [0; 7];
        for (slot, aliases) in body.iter_mut().zip(&COLUMNS[1..]) {
            let Some(found) = place(names, aliases) else {
                return refuse(
                    line,
                    format!("column `{}` is missing", aliases.join("` or `")),
                );
            };
            *slot = found;
        }
        Ok(Self {
            width: names.len(),
            index: place(names, labels),
            body,
        })
    }

    /// The bodies of the lines after the first one. Lines that begin with a hash are comments.
    fn bodies<'a>(
        &self,
        lines: impl Iterator<Item = (usize, &'a str)>,
    ) -> Result<Snapshot, SnapshotError> {
        let mut snapshot = Snapshot {
            remark: Some(
                "units of a table are not read: G = 1 is assumed; --physical is for solar masses, pc and km/s",
            ),
            ..Snapshot::default()
        };
        for (number, line) in lines.filter(|(_, line)| !line.starts_with('#')) {
            let i = snapshot.bodies.len();
            snapshot.bodies.push(self.body(number, line, i)?);
        }
        Ok(snapshot)
    }

    fn body(&self, number: usize, line: &str, i: usize) -> Result<Body, SnapshotError> {
        let mut words = words(line);
        // pandas leaves the last value out, too.
        if words.len() + 1 == self.width && line.ends_with(',') {
            words.push("");
        }
        if words.len() != self.width {
            let (found, width) = (words.len(), self.width);
            return refuse(
                number,
                format!("{found} numbers where the first line names {width} columns"),
            );
        }
        let mut numbers = [0.0; 7];
        for ((slot, place), aliases) in numbers.iter_mut().zip(&self.body).zip(&COLUMNS[1..]) {
            let (word, name) = (words[*place], aliases[0]);
            *slot = match word.parse::<f64>() {
                Ok(value) if value.is_finite() => value,
                Ok(_) => return refuse(number, format!("{name}: `{word}` is not finite")),
                Err(_) => return refuse(number, format!("{name}: `{word}` is not a number")),
            };
        }
        let [mass, x, y, z, vx, vy, vz] = numbers;
        if mass < 0.0 {
            return refuse(number, format!("the mass {mass} is negative"));
        }
        let label = self
            .index
            .map_or_else(|| i.to_string(), |place| words[place].to_owned());
        let Ok(index) = label.parse() else {
            return refuse(
                number,
                format!("id: `{label}` is not a whole number of up to 2147483647"),
            );
        };
        Ok(Body {
            index,
            mass,
            x: [x, y, z],
            v: [vx, vy, vz],
        })
    }
}
