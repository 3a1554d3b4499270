//! The options of a run, kept in its state so that a continued run has the same ones.
//!
//! ```text
//! run.told NAME VALUE    an option of the command line; paths as seen from the state's folder
//! ```

use std::path::{Path, PathBuf};

use crate::snapshot::Snapshot;

/// Key of the lines.
const KEY: &str = "run.told";

/// Options by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told(Vec<(String, String)>);

impl Told {
    /// Those of these names and values.
    pub fn new(options: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let owned = |(name, value): (&str, String)| (name.to_owned(), value);
        Self(options.into_iter().map(owned).collect())
    }

    /// What the run was told that `snapshot` was saved from.
    pub fn of(snapshot: &Snapshot) -> Self {
        let pair = |line: &str| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), decoded(value)))
        };
        Self(snapshot.values(KEY).filter_map(pair).collect())
    }

    /// The lines of a snapshot: keys and values.
    pub fn lines(&self) -> impl Iterator<Item = (String, String)> {
        let line = |(name, value): &(String, String)| {
            (KEY.to_owned(), format!("{name} {}", encoded(value)))
        };
        self.0.iter().map(line)
    }

    /// The value of an option.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(n, _)| n == name)?;
        Some(&found.1)
    }

    /// The `given` option, or that of the name which the run was told.
    ///
    /// # Errors
    ///
    /// The value makes no sense; in words.
    pub fn or<T>(
        &self,
        given: Option<T>,
        name: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        match (given, self.get(name)) {
            (None, Some(value)) => {
                let refuse = |why| format!("{KEY} {name} {value}: {why}");
                parse(value).map(Some).map_err(refuse)
            }
            (given, _) => Ok(given),
        }
    }
}

/// `path` as seen from the folder of `state`, where it is in it; else from the root.
pub(crate) fn seen_from(state: &Path, path: &Path) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (state, path) = (absolute(state), absolute(path));
    let inside = state
        .parent()
        .and_then(|folder| path.strip_prefix(folder).ok());
    inside.unwrap_or(&path).to_string_lossy().into_owned()
}

/// The path that was seen from the folder of `state` as `text`.
pub(crate) fn beside(state: &Path, text: &str) -> PathBuf {
    state
        .parent()
        .map_or_else(|| text.into(), |folder| folder.join(text))
}

/// `text` without what a line of a snapshot cannot hold.
fn encoded(text: &str) -> String {
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

fn decoded(line: &str) -> String {
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

    #[test]
    fn options_go_through_a_snapshot() {
        let paths = ["run.csv", "a b#c%d;e\n.svg", "täl/%41;"];
        let told = Told::new(paths.map(|path| ("csv", path.to_owned())));
        let mut snapshot = Snapshot::default();
        snapshot.run.extend(told.lines());
        let mut text = Vec::new();
        snapshot.write(&mut text).unwrap();
        let again = Told::of(&Snapshot::parse(&text).unwrap());
        assert_eq!(again, told);
        assert_eq!(again.get("csv"), Some("run.csv"));
        assert_eq!(again.or(None, "every", |_| Ok(1)), Ok(None));
        assert_eq!(again.or(Some(2), "csv", |_| Ok(1)), Ok(Some(2)));
        assert!(
            again
                .or(None, "csv", |_| Err::<u8, _>("no".to_owned()))
                .is_err()
        );
    }

    #[test]
    fn paths_are_seen_from_the_state() {
        let state = Path::new("a/run.txt");
        assert_eq!(seen_from(state, Path::new("a/b/run.csv")), "b/run.csv");
        assert!(Path::new(&seen_from(state, Path::new("c/run.csv"))).is_absolute());
        assert_eq!(
            beside(Path::new("/x/run.txt"), "b/run.csv"),
            Path::new("/x/b/run.csv")
        );
        assert_eq!(
            beside(Path::new("run.txt"), "run.csv"),
            Path::new("run.csv")
        );
        assert_eq!(beside(state, "/y/run.csv"), Path::new("/y/run.csv"));
    }
}
