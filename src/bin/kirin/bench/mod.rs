//! `kirin bench`: the speed of GRAPE-6 libraries, side by side in one interleaved run.

mod figure;
mod grape5;
mod measure;
mod nbody6;
mod peak;
mod run;
mod table;

pub use self::grape5::Bench5;
pub use self::measure::{Bench, Case, Measurement, Sample, Size};
pub use self::nbody6::BenchNbody6;
pub use self::peak::{Peak, chosen_set, peak};
pub use self::run::run;

use std::path::PathBuf;

use clap::Args;

use crate::candidate::{Common, positive};

/// Compares the speed of GRAPE-6 libraries through their public symbols.
///
/// Every library runs in a process of its own. The libraries take turns sample by sample, so a change of the machine's
/// clock or load affects all of them. The table shows the median, half the distance between the quartiles in percent,
/// and a ratio. The ratio is the speed divided by that of the first library other than the linked kirin (or of the
/// first library if there is no other); it is the median over all rounds.
///
/// Threads and everything else are what each library's own environment says.
///
/// With `--interface grape5` GRAPE-5 libraries are measured: forces, and the load of all j-particles. `full` is one
/// call for all i-particles.
///
/// With `--interface nbody6` libraries of NBODY6++ are measured. `force` is the regular force on particles with about
/// 100 neighbours each; `full` means calls of 1024 particles. Potentials, and irregular forces of 100 neighbours, are
/// measured, too. `load` sends the sources of the regular force, and `update` the stars of the irregular force.
#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    /// Numbers of j-particles
    #[arg(long, value_name = "N,...", value_delimiter = ',',
          default_values_t = [1024, 4096, 16384, 65536], value_parser = count)]
    n: Vec<usize>,
    /// Numbers of i-particles in a block. `full` means all particles, in calls of as many as the library has pipelines
    #[arg(long, value_name = "NI,...", value_delimiter = ',',
          default_values = ["1", "8", "32", "full"])]
    ni: Vec<Size>,
    /// What to measure; everything if not given
    #[arg(long, value_name = "CASE,...", value_delimiter = ',')]
    cases: Vec<Case>,
    /// Softening length
    #[arg(long, default_value_t = 1.0 / 256.0, value_parser = softening)]
    eps: f64,
    /// Time for all samples together, about; a sample has at least one block
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive)]
    seconds: f64,
    /// Counts the processor time of a library's process instead of the time that passes. Meant for one thread on a
    /// machine that has other work, too
    #[arg(long)]
    processor_time: bool,
    /// Samples of each figure
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// Draws pairs per second of the case `force` over the size of a block: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Measures only how many fused multiply-adds a core makes with each instruction set
    #[arg(long, conflicts_with_all = ["libraries", "interface", "seed", "timeout", "n", "ni", "cases", "eps", "seconds",
                                      "processor_time", "plot"])]
    peak: bool,
}

/// A softening length.
fn softening(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(eps) if (0.0..1e9).contains(&eps) => Ok(eps),
        _ => Err("neither 0 nor a positive number".to_owned()),
    }
}

/// A number of particles: one that addresses and labels have room for.
fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (2..=1 << 26).contains(&n) => Ok(n),
        _ => Err("not a number from 2 to 67108864".to_owned()),
    }
}
