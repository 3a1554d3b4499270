//! The lines that an application adds to a snapshot. The words of a line are the fields of a value, in their order.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Snapshot;

/// The line of `value`: its fields as words. Numbers have as many digits as give the same bits again.
///
/// # Panics
///
/// `value` has a map, or an enumeration with fields.
pub fn words(value: &impl Serialize) -> String {
    let mut writer = csv::WriterBuilder::new()
        .delimiter(b' ')
        .quote_style(csv::QuoteStyle::Never)
        .has_headers(false)
        .from_writer(Vec::new());
    writer.serialize(value).expect("a value is made of words");
    let line = writer.into_inner().expect("a vector takes everything");
    let line = String::from_utf8(line).expect("words are UTF-8");
    line.trim_end().to_owned()
}

#[derive(Deserialize)]
struct Line<T> {
    value: T,
    #[serde(default)]
    rest: Vec<String>,
}

/// The value of the line `key words`. A field at its end that serde gives a default may be missing.
///
/// # Errors
///
/// A word is missing or makes no sense, or there are more; in words.
pub fn read<T: DeserializeOwned>(key: &str, words: &str) -> Result<T, String> {
    let record: csv::StringRecord = words.split_whitespace().collect();
    match record.deserialize::<Line<T>>(None) {
        Ok(line) if line.rest.is_empty() => Ok(line.value),
        _ => refuse(key, words),
    }
}

/// Refuses the line `key words`.
///
/// # Errors
///
/// Always: that it makes no sense, in words.
pub fn refuse<T>(key: &str, words: &str) -> Result<T, String> {
    Err(format!(
        "cannot make sense of the snapshot's line `{key} {words}`"
    ))
}

/// The seconds of a duration, for `#[serde(with = ...)]`.
pub mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    /// A number of seconds.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(time: &Duration, s: S) -> Result<S::Ok, S::Error> {
        time.as_secs_f64().serialize(s)
    }

    /// A duration of so many seconds.
    ///
    /// # Errors
    ///
    /// There is no such duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(d)?).map_err(de::Error::custom)
    }
}

impl Snapshot {
    /// The value of the first line of `key`, if there is one.
    ///
    /// # Errors
    ///
    /// It makes no sense; in words.
    pub fn line<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, String> {
        self.value(key).map(|words| read(key, words)).transpose()
    }

    /// The value of the line of `key`, without which the snapshot is no state of a run.
    ///
    /// # Errors
    ///
    /// There is none, or it makes no sense; in words.
    pub fn required<T: DeserializeOwned>(&self, key: &str) -> Result<T, String> {
        let line = self.line(key)?;
        line.ok_or_else(|| format!("the snapshot has no line `{key}`"))
    }

    /// The values of all lines of `key`.
    ///
    /// # Errors
    ///
    /// One of them makes no sense; in words.
    pub fn lines<T: DeserializeOwned>(&self, key: &str) -> Result<Vec<T>, String> {
        self.values(key).map(|words| read(key, words)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        FourthOrder,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Settings {
        eps: f64,
        kind: Kind,
        place: [[f64; 2]; 2],
        is_set: bool,
        #[serde(with = "seconds")]
        time: Duration,
        labels: Vec<i32>,
    }

    #[test]
    fn a_value_goes_through_its_line() {
        let line = Settings {
            eps: 1.0 / 3.0,
            kind: Kind::FourthOrder,
            place: [[-0.0, 1e-300], [f64::MIN_POSITIVE, -1e22]],
            is_set: true,
            time: Duration::from_millis(1500),
            labels: vec![-1, i32::MAX],
        };
        let words = words(&line);
        assert!(
            words.starts_with("0.3333333333333333 fourth-order -0.0 1e-300"),
            "{words}"
        );
        assert!(words.ends_with(" true 1.5 -1 2147483647"), "{words}");
        assert_eq!(read("line", &words), Ok(line.clone()));
        assert_eq!(read("line", &words.replace(' ', "  ")), Ok(line));
    }

    #[test]
    fn a_line_that_makes_no_sense_is_named() {
        for words in ["", "1", "x 2", "1 2 3", "1 2.5"] {
            let why = read::<(f64, u64)>("run.key", words).unwrap_err();
            assert!(why.contains(&format!("`run.key {words}`")), "{why}");
        }
        for words in ["-1", "inf", "x"] {
            #[derive(Debug, Deserialize)]
            struct Time(#[serde(with = "seconds")] Duration);
            let read = read::<Time>("run.time", words).map(|time| time.0);
            assert!(read.is_err(), "{words}");
        }
    }

    #[test]
    fn what_is_missing_at_the_end_may_be_nothing() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Both(f64, #[serde(default)] Option<f64>);
        let both = |words| read::<Both>("key", words);
        assert_eq!(both("1"), Ok(Both(1.0, None)));
        assert_eq!(both("1 2"), Ok(Both(1.0, Some(2.0))));
        assert!(both("1 2 3").is_err() && both("1 x").is_err() && both("").is_err());
        assert_eq!(words(&Both(1.0, None)), "1.0");
    }

    #[test]
    fn a_line_that_is_missing_is_named() {
        let mut snapshot = Snapshot::default();
        let why = snapshot.required::<u64>("grid");
        assert!(why.is_err_and(|why| why.contains("`grid`")));
        snapshot.run.push(("grid".to_owned(), "3".to_owned()));
        snapshot.run.push(("grid".to_owned(), "4".to_owned()));
        assert_eq!(snapshot.required::<u64>("grid"), Ok(3));
        assert_eq!(snapshot.lines::<u64>("grid"), Ok(vec![3, 4]));
    }
}
