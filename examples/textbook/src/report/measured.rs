//! The programs, run as their users run them and timed by themselves.

use std::process::Command;

use kirin_kit::comparison::Budget;
use kirin_report::repeat::{Repetitions, Spread};

/// A time in seconds, or why there is none.
pub type Cell = Result<Spread, String>;

/// Nine rounds of a row that takes seconds, one of a row that takes minutes.
const PATIENCE: Repetitions = Repetitions {
    least: 1,
    most: 9,
    seconds: 30.0,
};

/// Time step of all runs, in s.
const DT: &str = "1000";

/// What the programs are run on.
pub struct Runs {
    /// The time that is left for them.
    pub budget: Budget,
    /// Cores that this process may use.
    pub cores: usize,
    /// Time steps of the runs by workers.
    pub steps: u64,
}

/// One cell: which program, with how many workers.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Its name and options, without the problem.
    pub program: &'static [&'static str],
    /// Threads or processes.
    pub workers: usize,
    /// How the program learns their number.
    pub workers_from: WorkersFrom,
}

/// How a program learns its number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkersFrom {
    /// It has one
    Nothing,
    /// By its first argument
    KernelArgument,
    /// By `--ranks`, or by the MPI launcher
    Ranks,
    /// By `KIRIN_THREADS`
    Environment,
}

impl Runs {
    /// Times of the programs on a disc of `n` particles; each program runs once in every round. `expected` are the
    /// seconds of one run, where known, and decide whether there is time for a program.
    pub fn row(&self, subjects: &[Subject], n: usize, steps: u64, expected: &[f64]) -> Vec<Cell> {
        let allowed = subjects.iter().zip(expected).map(|(subject, &expected)| {
            if subject.workers > self.cores {
                Err(format!("{} cores here", self.cores))
            } else if self.budget.allows(expected) {
                Ok(Vec::new())
            } else {
                Err(format!("about {expected:.0} s"))
            }
        });
        let mut times: Vec<Result<Vec<f64>, String>> = allowed.collect();
        let mut spent = 0.0;
        for round in 0..PATIENCE.most {
            if round >= PATIENCE.least && (spent >= PATIENCE.seconds || !self.budget.allows(spent))
            {
                break;
            }
            for (subject, times) in subjects.iter().zip(&mut times) {
                let Ok(values) = times else { continue };
                match run(subject, n, steps) {
                    Ok(seconds) => {
                        spent += seconds;
                        values.push(seconds);
                    }
                    Err(why) => *times = Err(why),
                }
            }
        }
        let median = |values: Vec<f64>| Spread::of(values).ok_or("not run".to_owned());
        times
            .into_iter()
            .map(|times| times.and_then(median))
            .collect()
    }
}

/// Seconds that a program says it computed.
fn run(subject: &Subject, n: usize, steps: u64) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let workers = subject.workers.to_string();
    let (name, options) = subject.program.split_first().expect("a program has a name");
    let mut command = match (subject.workers_from, cfg!(feature = "mpi")) {
        (WorkersFrom::Ranks, true) => {
            let mut launcher = Command::new("mpirun");
            launcher.args(["-n", &workers]).arg(program);
            launcher
        }
        _ => Command::new(program),
    };
    command.arg(name);
    match subject.workers_from {
        WorkersFrom::KernelArgument => drop(command.arg(&workers)),
        WorkersFrom::Ranks if !cfg!(feature = "mpi") => drop(command.args(["--ranks", &workers])),
        WorkersFrom::Environment => drop(command.env("KIRIN_THREADS", &workers)),
        WorkersFrom::Nothing | WorkersFrom::Ranks => {}
    }
    command
        .args([&n.to_string(), &steps.to_string(), DT, "--no-output"])
        .args(options);
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let elapsed = said.lines().find_map(|line| {
        line.strip_prefix("elapsed: ")?
            .strip_suffix(" s")?
            .parse()
            .ok()
    });
    match elapsed {
        Some(seconds) if output.status.success() => Ok(seconds),
        _ => {
            let last = said
                .lines()
                .rev()
                .find_map(|line| line.strip_prefix("textbook: "));
            Err(last.unwrap_or("it failed").to_owned())
        }
    }
}
