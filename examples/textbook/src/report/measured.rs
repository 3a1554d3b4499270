//! The programs, run as their users run them and timed by themselves.

use std::process::Command;
use std::time::Instant;

use kirin_kit::comparison::Budget;
use kirin_report::repeat::{Repetitions, Spread};
use kirin_report::text::si_unit;

/// Times in seconds, or why there are none.
pub type Times = Result<Spread, String>;

/// The times of one program with so many workers.
#[derive(Clone, Debug)]
pub struct Cell {
    /// From the start to the end.
    pub elapsed: Times,
    /// Processor time of the worker that computed longest. What a worker waits for others does not count, so workers may take turns
    /// on fewer cores.
    pub longest: Times,
}

impl Cell {
    /// What was not run.
    fn none(why: &str) -> Self {
        Self {
            elapsed: Err(why.to_owned()),
            longest: Err(why.to_owned()),
        }
    }
}

/// What a run says: the time from start to end, and the processor time of the worker that computed longest, if there are several.
type Said = (f64, Option<f64>);

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
    /// Seconds of a row beyond which it has no further round.
    pub of_row: f64,
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
    /// It has one, whose processor time it does not say
    Nothing,
    /// It is a serial program
    Serial,
    /// By its first argument
    KernelArgument,
    /// By `--ranks`, or by the MPI launcher
    Ranks,
    /// By `KIRIN_THREADS`
    Environment,
}

impl Subject {
    /// Whether it says how long its longest worker computed.
    fn says_longest(&self) -> bool {
        matches!(
            self.workers_from,
            WorkersFrom::KernelArgument | WorkersFrom::Ranks | WorkersFrom::Serial
        )
    }

    /// The cell of what its runs said on so many cores.
    fn cell(&self, said: &[Said], cores: usize) -> Cell {
        let spread = |values: Vec<f64>| Spread::of(values).ok_or("not run".to_owned());
        Cell {
            elapsed: match self.workers > cores {
                true => Err(format!("{cores} cores here")),
                false => spread(said.iter().map(|said| said.0).collect()),
            },
            longest: match self.says_longest() {
                true => spread(said.iter().filter_map(|said| said.1).collect()),
                false => Err("-".to_owned()),
            },
        }
    }
}

impl Runs {
    /// Times of the programs on a disc of `n` particles; each program runs once in every round. `expected` are the
    /// seconds of one run, where known, and decide whether there is time for a program.
    pub fn row(&self, subjects: &[Subject], n: usize, steps: u64, expected: &[f64]) -> Vec<Cell> {
        let allowed = subjects.iter().zip(expected).map(|(subject, &expected)| {
            if subject.workers > self.cores && !subject.says_longest() {
                Err(format!("{} cores here", self.cores))
            } else if self.budget.allows(expected) {
                Ok(Vec::new())
            } else {
                Err(match expected {
                    short if short < 1.0 => format!("about {}", si_unit(short, "s")),
                    long => format!("about {long:.0} s"),
                })
            }
        });
        let mut times: Vec<Result<Vec<Said>, String>> = allowed.collect();
        let mut spent = 0.0;
        for round in 0..PATIENCE.most {
            let patience = PATIENCE.seconds.min(self.of_row);
            if round >= PATIENCE.least && (spent >= patience || !self.budget.allows(spent)) {
                break;
            }
            for (subject, times) in subjects.iter().zip(&mut times) {
                let Ok(values) = times else { continue };
                let began = Instant::now();
                match run(subject, n, steps) {
                    Ok(said) => values.push(said),
                    Err(why) => *times = Err(why),
                }
                spent += began.elapsed().as_secs_f64();
            }
        }
        let cell = |(subject, times): (&Subject, &Result<Vec<Said>, String>)| match times {
            Ok(said) => subject.cell(said, self.cores),
            Err(why) => Cell::none(why),
        };
        subjects.iter().zip(&times).map(cell).collect()
    }
}

/// The seconds that a program says it took.
fn run(subject: &Subject, n: usize, steps: u64) -> Result<Said, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let workers = subject.workers.to_string();
    let (name, options) = subject.program.split_first().expect("a program has a name");
    let mut command = match (subject.workers_from, cfg!(feature = "mpi")) {
        (WorkersFrom::Ranks, true) => {
            let mut launcher = Command::new("mpirun");
            // Open MPI's word for more ranks than cores, which take turns.
            launcher.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
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
        WorkersFrom::Nothing | WorkersFrom::Serial | WorkersFrom::Ranks => {}
    }
    command
        .args([&n.to_string(), &steps.to_string(), DT, "--no-output"])
        .args(options);
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let seconds = |begin: &str, end: &str| {
        let number = |line: &str| line.strip_prefix(begin)?.strip_suffix(end)?.parse().ok();
        said.lines().find_map(number)
    };
    match seconds("elapsed: ", " s") {
        Some(elapsed) if output.status.success() => {
            Ok((elapsed, seconds("longest worker: ", " s of processor time")))
        }
        _ => Err(reason(&said)),
    }
}

/// Why a program failed that said this on stderr: its own last words, or the first of its launcher, which follow a rule.
fn reason(said: &str) -> String {
    let own = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("textbook: "));
    let words = |line: &&str| line.contains(char::is_alphabetic);
    let first = || said.lines().find(words).map(str::trim);
    own.or_else(first).unwrap_or("it failed").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launchers_words_are_told() {
        let rule = "-".repeat(20);
        let launcher = format!("{rule}\nmpirun does not run as root.\n\nMore.\n{rule}\n");
        assert_eq!(reason(&launcher), "mpirun does not run as root.");
        let own = format!("textbook: no memory\n{launcher}");
        assert_eq!(reason(&own), "no memory");
        assert_eq!(reason(""), "it failed");
    }

    #[test]
    fn workers_beyond_the_cores_take_turns() {
        let subject = |workers, workers_from| Subject {
            program: &["x"],
            workers,
            workers_from,
        };
        let said = [(3.0, Some(0.5)), (5.0, Some(0.7)), (4.0, Some(0.6))];
        let median = |times: &Times| times.as_ref().map(|spread| spread.median).ok();
        let few = subject(2, WorkersFrom::KernelArgument).cell(&said, 2);
        assert_eq!(
            (median(&few.elapsed), median(&few.longest)),
            (Some(4.0), Some(0.6))
        );
        let many = subject(4, WorkersFrom::Ranks).cell(&said, 2);
        assert_eq!(many.elapsed, Err("2 cores here".to_owned()));
        assert_eq!(median(&many.longest), Some(0.6));
        let serial = subject(1, WorkersFrom::Nothing).cell(&[(3.0, None)], 2);
        assert_eq!(
            (median(&serial.elapsed), median(&serial.longest)),
            (Some(3.0), None)
        );
    }
}
