//! The command line.

use std::path::PathBuf;

use clap::Parser;
use hermite::options::RunOptions;
use kirin_kit::number::number;

use crate::grid::Grid;
use crate::machine::{Algorithm, Joining};

const METHOD: &str = "\
METHOD
  The fourth-order Hermite scheme with block time steps of `hermite`, on a grid of ranks as Nitadori,
  Makino and Abe (2006, section 3.3) describe it: j-particles are divided over the columns, the active
  particles of a block over the rows. All forces come through the g6_* calls, on every rank.

  Ranks       `mpirun -n 4 parallel` (built with --features mpi), or `parallel --ranks 4`: threads
  Bits        Any grid, any number of ranks, any algorithm, threads or MPI: the trajectory of one rank, which
              is hermite's, to the bit. Not with --sums mpi, and only between equal instruction sets.
  Pairs       --eps 0 --regularize: as in hermite. Every rank moves all stars and systems; the forces are shared
  Files       Rank 0 reads and writes; snapshots are hermite's, and any grid, or hermite, goes on from them. With
              --parts each column has a file of its own
  Signals     SIGINT, SIGTERM or SIGHUP to any rank ends the run after a block, with all files; SIGUSR1 writes the
              --output

  Report      Table 1 and Figure 4 of the paper beside this machine, and the cost model of the grids:
              measured here, beside every grid that runs here, and for 800 and 100 000 ranks
  Replay      `parallel --record-blocks FILE` writes the blocks of a run, and `parallel --replay FILE --machine
              MACHINE` computes how long they take on 800, 1024 and 4096 ranks of a machine that a file describes";

/// A star cluster on many machines, with the same bits on any grid.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "parallel", version, after_help = METHOD, allow_negative_numbers = true)]
#[command(mut_arg("regularize", |arg| arg.conflicts_with("report")))]
pub struct Options {
    /// What `hermite` has too.
    #[command(flatten)]
    pub run: RunOptions,
    /// Number of ranks, as threads of this process [default: those of the grid, or 1]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    pub ranks: Option<u16>,
    /// Rows x columns of ranks [default: the grid for which the cost model expects the shortest time]
    #[arg(long, value_name = "AxB")]
    pub grid: Option<Grid>,
    /// Parallel algorithm
    #[arg(long, value_enum, default_value_t)]
    pub algorithm: Algorithm,
    /// How partial forces are summed
    #[arg(long, value_enum, default_value_t)]
    pub sums: Joining,
    /// Write the state as a manifest at the --output and a binary file for each column, so that no rank collects all
    /// particles. A run that continues from such a state writes its own in this way, too. `hermite` can also read it
    #[arg(long)]
    pub parts: bool,
    /// Go on where ranks have other instruction sets, backends or precisions: the bits then depend on the grid
    #[arg(long)]
    pub unlike_ranks: bool,
    /// Record how many active particles each page of 512 addresses has in each block, for --replay
    #[arg(long, value_name = "FILE", conflicts_with = "report")]
    pub record_blocks: Option<PathBuf>,
    /// Costs of a machine and its network, as JSON: choose the grid by it, not by measurements, or replay on it
    #[arg(long, value_name = "FILE", conflicts_with = "report")]
    pub machine: Option<PathBuf>,
    /// Compute how long recorded blocks would take on the --machine, print a table as Markdown and do nothing else
    #[arg(long, value_name = "FILE", requires = "machine")]
    #[arg(conflicts_with_all = ["record_blocks", "report", "input", "ranks", "grid", "algorithm", "parts", "unlike_ranks"])]
    #[arg(conflicts_with_all = ["n", "model", "t_end", "eps", "output", "csv", "json", "plot", "every", "snapshot_every"])]
    #[arg(conflicts_with_all = ["checkpoint_every", "frames", "force", "stop_after", "regularize", "binary_fraction"])]
    pub replay: Option<PathBuf>,
    /// Numbers of ranks of the --replay [default: 800,1024,4096]
    #[arg(long, value_name = "P,...", requires = "replay", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub on_ranks: Option<Vec<u32>>,
    /// Leave out of the --replay so many blocks at the start of the run [default: 0]
    #[arg(long, value_name = "BLOCKS", requires = "replay")]
    pub skip: Option<usize>,
    /// Make a report instead of one run: Markdown, to stdout or the --output, with --plot a figure
    #[arg(long, value_enum, value_name = "NAME")]
    #[arg(conflicts_with_all = ["input", "algorithm", "grid", "parts", "unlike_ranks", "every", "csv", "snapshot_every"])]
    #[arg(conflicts_with_all = ["checkpoint_every", "frames", "force", "stop_after", "t_end", "energy_warning", "energy_limit"])]
    pub report: Option<Publication>,
    /// Draw the algorithm as SVG and do nothing else
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub picture: Option<PathBuf>,
    /// Leave out of the report what would make it last longer [default: 3]
    #[arg(long, value_name = "M", requires = "report", value_parser = number)]
    pub minutes: Option<f64>,
}

/// A report that the program can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Publication {
    /// The figures of Nitadori, Makino and Abe (2006), beside those of this machine
    Paper,
}

impl Options {
    /// Number of ranks for a process that was not launched by MPI.
    pub fn ranks(&self) -> usize {
        match (self.ranks, self.grid) {
            (Some(ranks), _) => ranks.into(),
            (None, Some(grid)) => grid.ranks(),
            (None, None) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_testing::readme::understood;

    #[test]
    fn the_commands_of_readme_and_help_are_understood() {
        understood::<Options>(include_str!("../README.md"), "parallel");
    }

    #[test]
    fn ranks_are_given_or_follow() {
        let ranks =
            |arguments: &[&str]| Options::parse_from([&["parallel"], arguments].concat()).ranks();
        assert_eq!(ranks(&[]), 1);
        assert_eq!(ranks(&["--ranks", "4"]), 4);
        assert_eq!(ranks(&["--grid", "3x2"]), 6);
        assert!(Options::try_parse_from(["parallel", "--ranks", "0"]).is_err());
        assert!(Options::try_parse_from(["parallel", "--grid", "0x3"]).is_err());
    }
}
