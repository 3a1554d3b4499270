//! Tables for people, files for programs, and the statistics in both.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

/// Writes to stdout; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a document to `file`.
///
/// # Errors
///
/// The file cannot be written.
pub fn save(file: &Path, document: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(document).map_err(|e| e.to_string())?;
    std::fs::write(file, text + "\n").map_err(|e| format!("{}: {e}", file.display()))
}

/// Median and quartiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Quarter of the values are below.
    pub lower: f64,
    /// Half of the values are below.
    pub median: f64,
    /// Three quarters of the values are below.
    pub upper: f64,
}

impl Spread {
    /// Of at least one value; quantiles between two values are interpolated.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let quantile = |q: f64| {
            let at = q * (values.len() - 1) as f64;
            let below = values[at.floor() as usize];
            let above = values[at.ceil() as usize];
            below + (above - below) * at.fract()
        };
        Some(Self {
            lower: quantile(0.25),
            median: quantile(0.5),
            upper: quantile(0.75),
        })
    }

    /// Half the distance between the quartiles, in percent of the median.
    pub fn percent(&self) -> f64 {
        50.0 * (self.upper - self.lower) / self.median
    }
}

/// Three digits and a prefix: `1.23 G`, `45.6 u`.
pub fn si(value: f64) -> String {
    const PREFIXES: [(f64, &str); 8] = [
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, " "),
        (1e-3, "m"),
        (1e-6, "u"),
        (1e-9, "n"),
    ];
    // Half a unit of the third digit below 1000: what would be shown as 1000 takes the next prefix.
    let (unit, prefix) = PREFIXES
        .into_iter()
        .find(|&(unit, _)| value.abs() >= unit * 0.9995)
        .unwrap_or(PREFIXES[PREFIXES.len() - 1]);
    let scaled = value / unit;
    let digits = match scaled.abs() {
        a if a >= 99.95 => 0,
        a if a >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.digits$} {prefix}")
}

/// Columns of text: the first flush left, the others flush right.
#[derive(Default)]
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// Adds a row; a row of one cell stands alone and widens nothing.
    pub fn row(&mut self, cells: Vec<String>) {
        self.0.push(cells);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut widths: Vec<usize> = Vec::new();
        for row in self.0.iter().filter(|r| r.len() > 1) {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &self.0 {
            let mut line = String::new();
            for (k, cell) in row.iter().enumerate() {
                let width = if row.len() > 1 { widths[k] } else { 0 };
                if k == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("  {cell:>width$}"));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        let s = Spread::of(vec![4.0, 1.0, 3.0, 2.0]).expect("four values");
        assert_eq!((s.lower, s.median, s.upper), (1.75, 2.5, 3.25));
        assert_eq!(s.percent(), 30.0);
        assert_eq!(Spread::of(vec![7.0]).map(|s| s.median), Some(7.0));
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn three_digits_and_a_prefix() {
        for (value, text) in [
            (2.345e9, "2.35 G"),
            (999.96e6, "1.00 G"),
            (45.6e-6, "45.6 u"),
            (1.0, "1.00  "),
            (0.0, "0.00 n"),
            (123e-9, "123 n"),
        ] {
            assert_eq!(si(value), text);
        }
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(vec!["a heading of its own".into()]);
        table.row(vec!["a".into(), "1.00".into()]);
        table.row(vec!["long".into(), "2".into()]);
        assert_eq!(
            table.to_string(),
            "a heading of its own\na     1.00\nlong     2\n"
        );
    }
}
