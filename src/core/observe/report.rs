//! Shared by the reports of statistics: their first line, their rows, and their destination.

use std::fmt::Write as _;
use std::fs::OpenOptions;

use crate::process::output::File;
use crate::process::settings::{self, Destination};
use crate::process::{self, log, ranks};

/// Floating-point operations of one pair, by the convention of Makino and Nitadori for
/// acceleration, jerk and potential. Blocks of particles at rest, for which no jerk is computed,
/// count the same.
const FLOPS_PER_PAIR: f64 = 60.0;

/// The number of sizes that are told apart.
pub const SIZES: usize = 34;

/// The place of a block in an array of numbers of blocks with 0, 1, 2 to 3, 4 to 7, ... particles.
#[inline]
pub fn size(particles: usize) -> usize {
    (usize::BITS - particles.leading_zeros()) as usize % SIZES
}

/// The numbers of blocks of each size, where there are any.
pub fn histogram(blocks: &[u64; SIZES]) -> String {
    let mut text = String::new();
    for (bits, count) in blocks.iter().enumerate().filter(|(_, n)| **n > 0) {
        let least = (1_u64 << bits) / 2;
        let most = (1_u64 << bits) - 1;
        // Writing to a string cannot fail.
        let _ = match most > least {
            true => write!(text, " {least}-{most}: {count}"),
            false => write!(text, " {least}: {count}"),
        };
    }
    text
}

/// The first line.
pub fn head(name: &str) -> String {
    let rank = ranks::rank().map_or_else(String::new, |r| format!(", rank {r}"));
    format!(
        "statistics of {name} of {}, process {}{rank}\n",
        process::program(),
        std::process::id(),
    )
}

/// Adds a row.
pub fn row(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<12} {value}");
}

/// Pairs and operations in a second.
pub fn speed(pairs: u64, seconds: f64) -> String {
    if seconds <= 0.0 {
        return "no time".to_owned();
    }
    let rate = pairs as f64 / seconds;
    format!(
        "{rate:.3e} pairs/s, {:.2} GFLOP/s",
        rate * FLOPS_PER_PAIR * 1e-9
    )
}

/// All seconds, and which part of them went where.
pub fn shares(all: f64, parts: &[(&str, f64)]) -> String {
    let mut text = format!("{all:.3}");
    for (name, seconds) in parts {
        let percent = 100.0 * seconds / all.max(f64::MIN_POSITIVE);
        let _ = write!(text, ", {name} {seconds:.3} ({percent:.1} %)");
    }
    text
}

/// Writes a report to its destination, in one piece: several processes may share a file.
pub fn write(destination: &Destination, text: &str) {
    match destination {
        Destination::Off => {}
        Destination::Stderr => log::line(text.trim_end().replace('\n', "\nkirin: ")),
        Destination::File(pattern) => {
            let name = process::file_name(pattern);
            let written = File::open(OpenOptions::new().append(true).create(true), &name)
                .and_then(|file| file.write_all(text.as_bytes()));
            if let Err(e) = written {
                let name = settings::echo(&name);
                log::error("KIRIN_STATS", format_args!("{name}: {e}"));
            }
        }
    }
}
