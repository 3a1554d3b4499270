//! The command line: a subcommand for each program.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use kirin_kit::number::{count, number};

use crate::distribution::Distribution;
use crate::nbody::reduced_threads::Schedule;
use crate::particles::Plan;
use crate::physics::Scheme;

const NOTES: &str = "\
The n-body programs print positions and velocities at the end, or --every so many steps too: the time in s, then a line
for each particle with its number, position in m and velocity in m/s. An --input has a line for each particle: mass, position,
velocity, five numbers. All programs tell on stderr how long they computed.";

/// The parallel programs of a textbook's chapter, and the same through kirin.
#[derive(Debug, Parser)]
#[command(name = "textbook", version, after_help = NOTES)]
#[command(arg_required_else_help = true, subcommand_required = true)]
pub struct Options {
    /// Which program.
    #[command(subcommand)]
    pub program: Program,
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
    /// Who computes which pair, and what travels when: Tables 7.1, 7.2 and 7.4
    Tables,
}

/// An n-body problem.
#[derive(Clone, Debug, Args)]
pub struct Problem {
    /// Number of particles
    #[arg(value_parser = size)]
    pub n: usize,
    /// Number of time steps
    #[arg(value_parser = size_or_none)]
    pub steps: usize,
    /// Time step in s
    #[arg(value_parser = number)]
    pub dt: f64,
    /// Leapfrog instead of Euler's method
    #[arg(long)]
    pub leapfrog: bool,
    /// Print before every so many steps too
    #[arg(long, value_name = "STEPS", value_parser = size)]
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
    pub fn plan(&self) -> Plan {
        let dt = self.dt;
        Plan {
            steps: self.steps,
            scheme: match self.leapfrog {
                true => Scheme::Leapfrog { dt },
                false => Scheme::Euler { dt },
            },
            every: self.every,
        }
    }
}

fn size_or_none(text: &str) -> Result<usize, String> {
    usize::try_from(count(text)?).map_err(|e| e.to_string())
}

/// At least one of something that is kept in arrays.
fn size(text: &str) -> Result<usize, String> {
    match size_or_none(text)? {
        0 => Err("there must be at least one".to_owned()),
        n if n > i32::MAX as usize => Err(format!("{n} is above {}", i32::MAX)),
        n => Ok(n),
    }
}

/// Threads or processes.
fn workers(text: &str) -> Result<usize, String> {
    match size(text)? {
        p if p > 1024 => Err(format!("{p} is above 1024")),
        p => Ok(p),
    }
}
