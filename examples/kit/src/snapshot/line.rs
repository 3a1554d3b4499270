//! Reads the value of a snapshot's line word by word, for the lines that an application adds.

use std::str::{FromStr, SplitWhitespace};
use std::time::Duration;

use super::Snapshot;

/// The value of a line, taken word by word. What cannot be read is refused with the line.
#[derive(Clone)]
pub struct Line<'a> {
    key: &'a str,
    value: &'a str,
    words: SplitWhitespace<'a>,
}

impl<'a> Line<'a> {
    /// The line of `key` with this `value`.
    pub fn new(key: &'a str, value: &'a str) -> Self {
        let words = value.split_whitespace();
        Self { key, value, words }
    }

    /// The first line of `key`.
    pub fn of(snapshot: &'a Snapshot, key: &'a str) -> Option<Self> {
        Some(Self::new(key, snapshot.value(key)?))
    }

    /// The first line of `key`, without which the snapshot is no state of a run.
    ///
    /// # Errors
    ///
    /// There is none; in words.
    pub fn required(snapshot: &'a Snapshot, key: &'a str) -> Result<Self, String> {
        Self::of(snapshot, key).ok_or_else(|| format!("the snapshot has no line `{key}`"))
    }

    /// The next word.
    ///
    /// # Errors
    ///
    /// There is none, or it is no `T`; in words.
    pub fn word<T: FromStr>(&mut self) -> Result<T, String> {
        match self.words.next().and_then(|word| word.parse().ok()) {
            Some(value) => Ok(value),
            None => self.refuse(),
        }
    }

    /// The next word, a number of seconds.
    ///
    /// # Errors
    ///
    /// There is none, or it is no duration; in words.
    pub fn seconds(&mut self) -> Result<Duration, String> {
        let seconds = Duration::try_from_secs_f64(self.word()?);
        seconds.or_else(|_| self.refuse())
    }

    /// All words that are left.
    ///
    /// # Errors
    ///
    /// One of them is no `T`; in words.
    pub fn rest<T: FromStr>(self) -> Result<Vec<T>, String> {
        let values = self.words.clone().map(|word| word.parse().ok());
        values
            .collect::<Option<_>>()
            .map_or_else(|| self.refuse(), Ok)
    }

    /// Checks that no word is left.
    ///
    /// # Errors
    ///
    /// There is one; in words.
    pub fn end(mut self) -> Result<(), String> {
        match self.words.next() {
            None => Ok(()),
            Some(_) => self.refuse(),
        }
    }

    /// Refuses the line.
    ///
    /// # Errors
    ///
    /// Always: what is wrong, in words.
    pub fn refuse<T>(&self) -> Result<T, String> {
        let Self { key, value, .. } = self;
        Err(format!(
            "cannot make sense of the snapshot's line `{key} {value}`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_durations() {
        let mut line = Line::new("times", "1.5 -1 inf x");
        assert_eq!(line.seconds(), Ok(Duration::from_millis(1500)));
        for _ in 0..4 {
            assert!(line.seconds().is_err_and(|why| why.contains("times 1.5")));
        }
    }

    #[test]
    fn a_line_that_is_missing_is_named() {
        let mut snapshot = Snapshot::default();
        let why = Line::required(&snapshot, "grid").err();
        assert!(why.is_some_and(|why| why.contains("`grid`")));
        snapshot.run.push(("grid".to_owned(), "3".to_owned()));
        let line = Line::required(&snapshot, "grid");
        assert_eq!(line.and_then(|mut line| line.word()), Ok(3));
    }
}
