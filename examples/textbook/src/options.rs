//! The command line: a subcommand for each program.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use kirin_kit::number::{count, number};

use crate::distribution::Distribution;
use crate::nbody::locked_threads::Sums;
use crate::nbody::reduced_threads::Schedule;
use crate::particles::Assignment;
use crate::physics::Scheme;
use crate::report::ReportOptions;
use crate::sort::keys::Order;

/// Four times as many as in the chapter's largest run.
const MOST_PARTICLES: usize = 1 << 22;
/// A gigabyte of them.
const MOST_KEYS: usize = 1 << 28;
const MOST_WORKERS: usize = 1024;

const NOTES: &str = "\
The n-body programs print positions and velocities at the end, or --every so many steps too: the time in s, then a line
for each particle with its number, position in m and velocity in m/s. An --input has a line for each particle: mass, position,
velocity, five numbers. The sorts print a key a line. All programs tell on stderr how long they computed.";

/// The parallel programs of a textbook's chapter, and the same through kirin.
#[derive(Debug, Parser)]
#[command(name = "textbook", version, after_help = NOTES)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true)]
pub struct Options {
    /// Which program.
    #[command(subcommand)]
    pub program: Option<Program>,
    /// Or a report.
    #[command(flatten)]
    pub report: ReportOptions,
}

/// The programs.
#[derive(Debug, Subcommand)]
pub enum Program {
    /// Basic n-body solver
    Basic {
        /// The problem.
        #[command(flatten)]
        problem: Problem,
    },
    /// Reduced n-body solver: each pair once
    Reduced {
        /// The problem.
        #[command(flatten)]
        problem: Problem,
    },
    /// Basic n-body solver with threads
    BasicThreads {
        /// Number of threads
        #[arg(value_parser = workers)]
        threads: usize,
        /// The problem.
        #[command(flatten)]
        problem: Problem,
        /// Distribution of the particles over the threads
        #[arg(long, value_enum, default_value_t)]
        distribution: Distribution,
    },
    /// Reduced n-body solver with threads: forces in two phases
    ReducedThreads {
        /// Number of threads
        #[arg(value_parser = workers)]
        threads: usize,
        /// The problem.
        #[command(flatten)]
        problem: Problem,
        /// Distribution of the loops over the threads
        #[arg(long, value_enum, default_value_t)]
        schedule: Schedule,
        /// How the force of a pair gets to its two particles
        #[arg(long, value_enum, default_value_t)]
        sums: Sums,
    },
    /// Basic n-body solver with message passing: everybody's positions to everybody
    BasicRanks {
        /// The problem.
        #[command(flatten)]
        problem: Problem,
        /// Number of processes, as threads of this one [default: those of the MPI launcher, or 1]
        #[arg(long, value_name = "P", value_parser = workers)]
        ranks: Option<usize>,
    },
    /// Reduced n-body solver with message passing: positions and forces around a ring
    ReducedRanks {
        /// The problem.
        #[command(flatten)]
        problem: Problem,
        /// Number of processes, as threads of this one [default: those of the MPI launcher, or 1]
        #[arg(long, value_name = "P", value_parser = workers)]
        ranks: Option<usize>,
    },
    /// Basic n-body solver on a GPU
    BasicGpu {
        /// The problem.
        #[command(flatten)]
        problem: Problem,
        /// The launch.
        #[command(flatten)]
        device: LaunchOptions,
    },
    /// Basic n-body solver on a GPU, with shared memory
    SharedGpu {
        /// The problem.
        #[command(flatten)]
        problem: Problem,
        /// The launch.
        #[command(flatten)]
        device: LaunchOptions,
    },
    /// Basic n-body solver on a GPU, many time steps in one kernel
    CooperativeGpu {
        /// The problem.
        #[command(flatten)]
        problem: Problem,
        /// The launch.
        #[command(flatten)]
        device: LaunchOptions,
        /// Number of thread blocks [default: one for every T particles, but no more than the device holds at a time]
        #[arg(long, value_name = "B", value_parser = one_or_more)]
        blocks: Option<usize>,
    },
    /// The n-body problem through the GRAPE-6 interface
    Library {
        /// The problem.
        #[command(flatten)]
        problem: Problem,
        /// Use the GRAPE-6 library in this file instead of the kirin linked into the program
        #[arg(long, value_name = "PATH")]
        library: Option<PathBuf>,
    },
    /// Sample sort
    Sort {
        /// Number of buckets
        #[arg(value_parser = workers)]
        buckets: usize,
        /// The keys.
        #[command(flatten)]
        list: KeyList,
    },
    /// Sample sort with threads
    SortThreads {
        /// Number of threads
        #[arg(value_parser = workers)]
        threads: usize,
        /// The keys.
        #[command(flatten)]
        list: KeyList,
    },
    /// Sample sort with message passing
    SortRanks {
        /// The keys.
        #[command(flatten)]
        list: KeyList,
        /// Number of processes, as threads of this one [default: those of the MPI launcher, or 1]
        #[arg(long, value_name = "P", value_parser = workers)]
        ranks: Option<usize>,
    },
    /// Sample sort on a GPU
    SortGpu {
        /// The keys.
        #[command(flatten)]
        list: KeyList,
        /// Threads of a thread block, whole warps
        #[arg(long, value_name = "T", default_value = "256", value_parser = warps)]
        block: usize,
    },
    /// Who computes which pair, and what travels when: Tables 7.1, 7.2 and 7.4. What is stored and loaded, as counted
    Tables,
}

impl Program {
    /// Whether its work is shared by processes that exchange messages.
    pub fn is_on_ranks(&self) -> bool {
        matches!(
            self,
            Self::BasicRanks { .. } | Self::ReducedRanks { .. } | Self::SortRanks { .. }
        )
    }
}

/// An n-body problem.
#[derive(Clone, Debug, Args)]
pub struct Problem {
    /// Number of particles
    #[arg(value_parser = particles)]
    pub n: usize,
    /// Number of time steps
    #[arg(value_parser = whole)]
    pub steps: usize,
    /// Time step in s
    #[arg(value_parser = number)]
    pub dt: f64,
    /// Leapfrog instead of Euler's method
    #[arg(long)]
    pub leapfrog: bool,
    /// Print before every so many steps too
    #[arg(long, value_name = "STEPS", value_parser = one_or_more)]
    pub every: Option<usize>,
    /// Print nothing on stdout
    #[arg(long, conflicts_with = "every")]
    pub no_output: bool,
    /// Read the particles from this file instead of making a star with planets
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
}

impl Problem {
    /// What the solver is to do.
    pub fn plan(&self) -> Assignment {
        let dt = self.dt;
        Assignment {
            steps: self.steps,
            scheme: match self.leapfrog {
                true => Scheme::Leapfrog { dt },
                false => Scheme::Euler { dt },
            },
            every: self.every,
        }
    }
}

/// How the GPU's kernels are launched.
#[derive(Clone, Debug, Args)]
pub struct LaunchOptions {
    /// Threads of a thread block
    #[arg(long, value_name = "T", default_value = "1024", value_parser = workers)]
    pub block: usize,
    /// Single precision, as in the chapter's Table 7.7
    #[arg(long)]
    pub float: bool,
}

/// A list of keys.
#[derive(Clone, Debug, Args)]
pub struct KeyList {
    /// Number of keys
    #[arg(value_parser = keys)]
    pub n: usize,
    /// Which keys
    #[arg(long, value_enum, default_value_t, conflicts_with = "input")]
    pub keys: Order,
    /// Seed of the random numbers
    #[arg(long, default_value = "1", value_parser = count, conflicts_with = "input")]
    pub seed: u64,
    /// Print nothing on stdout
    #[arg(long)]
    pub no_output: bool,
    /// Read the keys from this file: 32-bit integers between blanks
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
}

fn whole(text: &str) -> Result<usize, String> {
    usize::try_from(count(text)?).map_err(|e| e.to_string())
}

fn at_most(most: usize, n: usize) -> Result<usize, String> {
    match n {
        n if n > most => Err(format!("{n} is above {most}")),
        n => Ok(n),
    }
}

fn one_or_more(text: &str) -> Result<usize, String> {
    match whole(text)? {
        0 => Err("there must be at least one".to_owned()),
        n => Ok(n),
    }
}

fn particles(text: &str) -> Result<usize, String> {
    at_most(MOST_PARTICLES, one_or_more(text)?)
}

fn keys(text: &str) -> Result<usize, String> {
    at_most(MOST_KEYS, whole(text)?)
}

/// Threads, processes or buckets.
fn workers(text: &str) -> Result<usize, String> {
    at_most(MOST_WORKERS, one_or_more(text)?)
}

/// Threads of a thread block, in whole warps.
fn warps(text: &str) -> Result<usize, String> {
    match workers(text)? {
        threads if threads % 32 == 0 => Ok(threads),
        threads => Err(format!("{threads} is not a multiple of 32")),
    }
}
