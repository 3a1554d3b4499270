//! A file of comma-separated values to which a run appends a line at a time, so that a user can watch it.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::command::named;

/// The file.
pub struct Csv {
    path: PathBuf,
    file: File,
}

impl Csv {
    /// A file with the names of the columns, and the `lines` so far.
    ///
    /// # Errors
    ///
    /// It cannot be written; in words.
    pub fn create(
        path: &Path,
        columns: &[&str],
        lines: impl IntoIterator<Item = Vec<f64>>,
    ) -> Result<Self, String> {
        let mut csv = Self {
            path: path.to_owned(),
            file: File::create(path).map_err(named(path))?,
        };
        csv.line(&columns.join(","))?;
        for numbers in lines {
            csv.write(&numbers)?;
        }
        Ok(csv)
    }

    /// Adds a line, with as many digits as give the same bits again. What is no finite number is left empty.
    ///
    /// # Errors
    ///
    /// It cannot be written; in words.
    pub fn write(&mut self, numbers: &[f64]) -> Result<(), String> {
        self.write_after(&[], numbers)
    }

    /// The same, with whole numbers before the others.
    ///
    /// # Errors
    ///
    /// It cannot be written; in words.
    pub fn write_after(&mut self, whole: &[i32], numbers: &[f64]) -> Result<(), String> {
        let word = |x: &f64| match x.is_finite() {
            true => format!("{x:?}"),
            false => String::new(),
        };
        let whole = whole.iter().map(i32::to_string);
        let words: Vec<String> = whole.chain(numbers.iter().map(word)).collect();
        self.line(&words.join(","))
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        writeln!(self.file, "{line}").map_err(named(&self.path))
    }
}
