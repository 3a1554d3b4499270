//! The options of a run. They are kept in its state so that a continued run has the same ones.
//!
//! ```text
//! run.told NAME VALUE    an option of the command line; paths as seen from the state's folder
//! monte-carlo.told ...   the same, of a program whose times have another unit
//! ```

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::snapshot::Snapshot;

/// Key of the lines, where a program has none of its own.
pub const KEY: &str = "run.told";

/// Options by name, as the text that the command line would have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    key: &'static str,
    options: Map<String, Value>,
}

impl Told {
    /// Those of `options` that are given: its fields by their serde names, each of which is a text or nothing.
    ///
    /// # Errors
    ///
    /// An option has no text; in words.
    pub fn of_options(key: &'static str, options: &impl Serialize) -> Result<Self, String> {
        match serde_json::to_value(options) {
            Ok(Value::Object(mut options)) => {
                options.retain(|_, value| !value.is_null());
                Ok(Self { key, options })
            }
            Ok(other) => Err(format!("{other} is no set of options")),
            Err(why) => Err(why.to_string()),
        }
    }

    /// What the run was told that `snapshot` was saved from, in lines of this key.
    pub fn of(key: &'static str, snapshot: &Snapshot) -> Self {
        let pair = |line: &str| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), Value::String(decoded(value))))
        };
        let options = snapshot.values(key).filter_map(pair).collect();
        Self { key, options }
    }

    /// Whether nothing was told.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty()
    }

    /// The lines of a snapshot: keys and values.
    pub fn lines(&self) -> impl Iterator<Item = (String, String)> {
        let text = |value: &Value| match value {
            Value::String(text) => encoded(text),
            other => encoded(&other.to_string()),
        };
        let line = move |(name, value): (&String, &Value)| {
            (self.key.to_owned(), format!("{name} {}", text(value)))
        };
        self.options.iter().map(line)
    }

    /// The `given` options, and where they say nothing these.
    pub fn under(mut self, given: Self) -> Self {
        self.options.extend(given.options);
        self
    }

    /// As options. Names that they do not have are left out.
    ///
    /// # Errors
    ///
    /// A value makes no sense; in words.
    pub fn options<O: DeserializeOwned>(&self) -> Result<O, String> {
        let all = Value::Object(self.options.clone());
        serde_json::from_value(all).map_err(|why| format!("{}: {why}", self.key))
    }
}

/// Options that are a text in a state: how each kind is written and read.
macro_rules! texts {
    ($($(#[$doc:meta])* $kind:ident: $type:ty, $write:expr, $read:expr;)+) => {$(
        $(#[$doc])*
        pub mod $kind {
            use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

            /// The option as a text.
            ///
            /// # Errors
            ///
            /// Those of the serializer.
            pub fn serialize<S: Serializer>(given: &Option<$type>, s: S) -> Result<S::Ok, S::Error> {
                given.as_ref().map($write).serialize(s)
            }

            /// The option of a text.
            ///
            /// # Errors
            ///
            /// The text is none.
            pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<$type>, D::Error> {
                let text = Option::<String>::deserialize(d)?;
                let read = |text: String| {
                    $read(&text).map_err(|why| de::Error::custom(format!("`{text}`: {why}")))
                };
                text.map(read).transpose()
            }
        }
    )+};
}

texts! {
    /// A time.
    time: crate::quantity::Quantity, ToString::to_string, crate::quantity::time;
    /// A length.
    length: crate::quantity::Quantity, ToString::to_string, crate::quantity::length;
    /// An interval of simulated time.
    interval: crate::quantity::Quantity, ToString::to_string, crate::quantity::told_interval;
    /// An interval, of either clock.
    cadence: crate::run::Cadence, ToString::to_string, crate::run::Cadence::parse;
    /// A time on the wall.
    wall: std::time::Duration, |time: &std::time::Duration| humantime::format_duration(*time).to_string(),
        crate::run::control::wall_time;
    /// A number from 0 on.
    number: f64, |x: &f64| format!("{x:?}"), crate::number::number;
    /// A number from 0 on, or `none`: without limit.
    limit: f64, |x: &f64| if x.is_finite() { format!("{x:?}") } else { "none".to_owned() }, crate::run::guard::limit;
    /// A whole number from 0 on.
    count: u64, ToString::to_string, crate::number::count;
    /// Where the Sun is.
    sun: crate::galaxy::sky::Sun, ToString::to_string, crate::galaxy::sky::Sun::parse;
    /// A path, which the system may not call a text.
    path: std::path::PathBuf, |path: &std::path::PathBuf| path.to_string_lossy().into_owned(),
        |text: &str| Ok::<_, String>(text.into());
}

/// A switch: a state holds those that are on.
pub mod switch {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// The switch as a text.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(is_on: &bool, s: S) -> Result<S::Ok, S::Error> {
        is_on.then_some("on").serialize(s)
    }

    /// The switch of a text.
    ///
    /// # Errors
    ///
    /// There is no text.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<bool, D::Error> {
        Ok(Option::<String>::deserialize(d)?.is_some_and(|text| text == "on"))
    }
}

/// `path` as seen from the folder of `state`, where it is in it; else from the root. The folder itself is `.`, since a
/// value in a snapshot is not empty.
pub(crate) fn seen_from(state: &Path, path: &Path) -> PathBuf {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (state, path) = (absolute(state), absolute(path));
    let inside = state
        .parent()
        .and_then(|folder| path.strip_prefix(folder).ok());
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => PathBuf::from("."),
        Some(inside) => inside.to_owned(),
        None => path,
    }
}

/// The path that was seen from the folder of `state`.
pub(crate) fn beside(state: &Path, path: &Path) -> PathBuf {
    state
        .parent()
        .map_or_else(|| path.into(), |folder| folder.join(path))
}

/// `text` without what a line of a snapshot cannot hold.
pub(crate) fn encoded(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-+/,:=~".contains(c);
    let mut line = String::new();
    for c in text.chars() {
        match plain(c) {
            true => line.push(c),
            false => line.push_str(&format!("%{:x};", u32::from(c))),
        }
    }
    line
}

pub(crate) fn decoded(line: &str) -> String {
    let mut parts = line.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once(';').unwrap_or(("", part));
        let code = u32::from_str_radix(code, 16).ok();
        text.extend(code.and_then(char::from_u32));
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn options_go_through_a_snapshot() {
        let paths = ["run.csv", "a b#c%d;e\n.svg", "täl/%41;"];
        let given: BTreeMap<String, &str> = paths
            .iter()
            .map(|path| (format!("file-{}", path.len()), *path))
            .collect();
        let told = Told::of_options(KEY, &given).unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.run.extend(told.lines());
        let mut text = Vec::new();
        snapshot.write(&mut text).unwrap();
        let again = Told::of(KEY, &Snapshot::parse(&text).unwrap());
        assert_eq!(again, told);
        let other = Told::of_options(KEY, &BTreeMap::from([("file-7", "x")])).unwrap();
        let all: BTreeMap<String, String> = again.under(other).options().unwrap();
        assert_eq!((all.len(), &*all["file-7"]), (3, "x"));
    }

    #[test]
    fn paths_are_seen_from_the_state() {
        let state = Path::new("a/run.txt");
        let [inside, outside] = ["a/b/run.csv", "c/run.csv"].map(|p| seen_from(state, p.as_ref()));
        assert_eq!(inside, Path::new("b/run.csv"));
        assert!(outside.is_absolute());
        assert_eq!(seen_from(state, "a".as_ref()), Path::new("."));
        assert_eq!(seen_from("run.txt".as_ref(), ".".as_ref()), Path::new("."));
        for (state, path, expected) in [
            ("/x/run.txt", "b/run.csv", "/x/b/run.csv"),
            ("run.txt", "run.csv", "run.csv"),
            ("a/run.txt", "/y/run.csv", "/y/run.csv"),
        ] {
            assert_eq!(beside(state.as_ref(), path.as_ref()), Path::new(expected));
        }
    }
}
