//! Numbers and tables for people.

use serde_json::{Map, Value};

/// An integer with its thousands set apart: `1 234 567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// An amount with the prefix that leaves one to three digits before the point: `1.23 G`.
pub fn si(value: f64) -> String {
    si_unit(value, "").trim_end().to_owned()
}

/// An amount of `unit`, as [`si`] writes it: `1.23 Gpairs/s`, `45.6 us`, `1.00 s`.
pub fn si_unit(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 10] = [
        (1e18, "E"),
        (1e15, "P"),
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "u"),
        (1e-9, "n"),
    ];
    // What would be shown as 1000 takes the next prefix.
    let fits = |&(scale, _): &(f64, &str)| value.abs() >= scale * 0.9995;
    let smallest = PREFIXES[PREFIXES.len() - 1];
    let (scale, prefix) = match value {
        0.0 => (1.0, ""),
        _ => PREFIXES.into_iter().find(fits).unwrap_or(smallest),
    };
    let scaled = value / scale;
    let digits = match scaled.abs() {
        a if a >= 99.95 => 0,
        a if a >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.digits$} {prefix}{unit}")
}

/// A duration: `0.123 s`, `2 min 5 s`, `3 h 12 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.3} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// Seconds of each named part of the work, for programs.
pub fn time_split(parts: &[(&str, f64)]) -> Value {
    let entry = |&(name, seconds): &(&str, f64)| (name.to_owned(), seconds.into());
    Value::Object(Map::from_iter(parts.iter().map(entry)))
}

/// The same in per cent of their sum, for people: `force 92.1 %, tree 7.9 %`.
pub fn shares(parts: &[(&str, f64)]) -> String {
    let all: f64 = parts.iter().map(|p| p.1).sum();
    let share = |(name, s): &(&str, f64)| format!("{name} {:.1} %", 100.0 * s / all.max(1e-9));
    parts.iter().map(share).collect::<Vec<_>>().join(", ")
}

/// Rows of a name and a value, the values below one another.
#[derive(Debug, Default)]
pub struct Table(Vec<(String, String)>);

impl Table {
    /// Adds a row.
    pub fn row(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.0.push((name.into(), value.into()));
        self
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max();
        let width = width.unwrap_or(0);
        for (name, value) in &self.0 {
            writeln!(f, "  {name:<width$}  {value}")?;
        }
        Ok(())
    }
}

/// A Markdown table whose columns line up in its source too.
#[derive(Debug)]
pub struct MarkdownTable(Vec<Vec<String>>);

impl MarkdownTable {
    /// A table with these headings.
    pub fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        Self(vec![headings.into_iter().map(Into::into).collect()])
    }

    /// Adds a row of as many cells as there are headings.
    ///
    /// # Panics
    ///
    /// It has another number.
    pub fn row(&mut self, cells: Vec<String>) -> &mut Self {
        assert_eq!(cells.len(), self.0[0].len(), "a cell for each heading");
        self.0.push(cells);
        self
    }
}

impl std::fmt::Display for MarkdownTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = |column: usize| self.0.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..self.0[0].len())
            .map(|column| width(column).unwrap_or(0).max(2))
            .collect();
        for (number, row) in self.0.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                write!(f, "| {cell:>width$} ")?;
            }
            writeln!(f, "|")?;
            if number == 0 {
                let lines = widths
                    .iter()
                    .map(|width| format!("|{}:", "-".repeat(width + 1)));
                writeln!(f, "{}|", lines.collect::<String>())?;
            }
        }
        Ok(())
    }
}

/// A number with four significant digits, and with an exponent only if the number is very large or small:
/// `0.001234`, `12.34`, `1234`.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    match value.abs().log10().floor() as i32 {
        power @ -6..=2 => format!("{value:.*}", (3 - power) as usize),
        3..=8 => format!("{value:.0}"),
        _ => format!("{value:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1 000");
        assert_eq!(grouped(12_345_678), "12 345 678");
    }

    #[test]
    fn prefixes() {
        for (value, text) in [
            (0.0, "0.00"),
            (0.5, "500 m"),
            (1.0, "1.00"),
            (999.4, "999"),
            (999.6, "1.00 k"),
            (999.96e6, "1.00 G"),
            (-2.345e9, "-2.35 G"),
            (45.67e12, "45.7 T"),
            (123e-9, "123 n"),
            (1e-12, "0.00 n"),
        ] {
            assert_eq!(si(value), text);
        }
        assert_eq!(si_unit(2.345e9, "pairs/s"), "2.35 Gpairs/s");
        assert_eq!(si_unit(1.0, "s"), "1.00 s");
    }

    #[test]
    fn durations() {
        assert_eq!(duration(0.0314), "0.031 s");
        assert_eq!(duration(59.7), "1 min 0 s");
        assert_eq!(duration(3600.0 * 3.0 + 720.0), "3 h 12 min");
    }

    #[test]
    fn a_table_is_aligned() {
        let mut table = Table::default();
        table.row("a", "1").row("long", "2");
        assert_eq!(table.to_string(), "  a     1\n  long  2\n");
    }

    #[test]
    fn columns_line_up_in_markdown() {
        let mut table = MarkdownTable::new(["N", "time [s]"]);
        table.row(vec!["256".to_owned(), "0.5".to_owned()]);
        assert_eq!(
            table.to_string(),
            "|   N | time [s] |\n|----:|---------:|\n| 256 |      0.5 |\n"
        );
    }

    #[test]
    fn four_digits() {
        for (value, text) in [
            (0.0001320, "0.0001320"),
            (12.345, "12.35"),
            (0.0, "0"),
            (19975.4, "19975"),
            (3.12345e12, "3.123e12"),
            (1.5e-9, "1.500e-9"),
        ] {
            assert_eq!(digits(value), text);
        }
    }
}
