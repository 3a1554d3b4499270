//! The report `--report chapter`: the times of Tables 7.3, 7.5, 7.6 and 7.7 of the chapter, the times of the same
//! programs on this machine, and those of the library on it.

mod document;
mod measured;
mod published;

use kirin::client::Grape;
use kirin_kit::command::Files;
use kirin_kit::comparison::{Budget, Circumstances, publish};
use kirin_report::machine::Machine;

use document::{CHAPTER_STEPS, Document, OneWorker, Table};
use measured::{Cell, Runs, Subject, WorkersFrom};
use published::{TABLE_7_3, TABLE_7_5, TABLE_7_6, TABLE_7_7};

/// Which report, and where it goes.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportOptions {
    /// Make a report: Markdown, to stdout or the --output
    #[arg(long, value_enum, value_name = "NAME")]
    pub report: Option<Publication>,
    /// Leave out of the report what would make it last longer [default: 3]
    #[arg(long, value_name = "M", requires = "report", value_parser = kirin_kit::number::number)]
    pub minutes: Option<f64>,
    /// Time steps of the runs by threads and processes [default: 1000, as in the chapter]
    #[arg(long, value_name = "T", requires = "report", value_parser = kirin_kit::number::count)]
    pub steps: Option<u64>,
    /// Write the report to this file
    #[arg(long, value_name = "FILE", requires = "report")]
    pub output: Option<std::path::PathBuf>,
    /// Write its figures as JSON
    #[arg(long, value_name = "FILE", requires = "report")]
    pub json: Option<std::path::PathBuf>,
}

/// A report that the program can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Publication {
    /// The run times of the chapter beside those of this machine
    Chapter,
}

/// Makes the report, and writes it to stdout or its files.
///
/// # Errors
///
/// A file or stdout cannot be written; in words.
pub fn report(options: &ReportOptions) -> Result<(), String> {
    let files = Files {
        output: options.output.clone(),
        json: options.json.clone(),
        ..Files::default()
    };
    // Before the minutes of the runs, not after them.
    files.validate_report()?;
    let machine = Machine::here();
    let (backend, precision, library) = forces();
    let circumstances = Circumstances {
        backend,
        precision,
        library,
        ..Circumstances::begin(env!("CARGO_PKG_VERSION"))
    };
    let minutes = options
        .minutes
        .unwrap_or(kirin_kit::comparison::DEFAULT_MINUTES);
    let runs = Runs {
        budget: Budget::new(Some(60.0 * minutes)),
        cores: machine.cores,
        of_row: 60.0 * minutes / ROWS,
        steps: options.steps.unwrap_or(CHAPTER_STEPS),
    };
    let (one_worker, pace) = one_worker(&runs);
    let document = Document {
        circumstances,
        one_worker,
        tables: measure(&runs, pace),
        steps: runs.steps,
    };
    publish(
        &files,
        &document.markdown(),
        || document.json(),
        || unreachable!("there is no --plot"),
    )
}

/// What computes the forces of the library's column.
fn forces() -> (String, String, String) {
    let grape = Grape::linked();
    let opened = grape.open(0) == 0;
    let description = (
        grape.backend(0),
        grape.precision(0),
        grape.name().to_owned(),
    );
    if opened {
        grape.close(0);
    }
    description
}

/// Rows of all tables that share the time, and of the solvers with one worker; those of Table 7.6 are made of Table 7.5's.
const ROWS: f64 = (TABLE_7_3.len() + TABLE_7_5.len() + TABLE_7_7.len() + ONE_WORKER.len()) as f64;

/// A program of the tables.
const fn subject(program: &'static [&'static str], workers_from: WorkersFrom) -> Subject {
    Subject {
        program,
        workers: 1,
        workers_from,
    }
}

const LIBRARY: Subject = subject(&["library"], WorkersFrom::Environment);
const BASIC_THREADS: Subject = subject(&["basic-threads"], WorkersFrom::KernelArgument);
const REDUCED_THREADS: Subject = subject(
    &["reduced-threads", "--schedule=forces-cyclic"],
    WorkersFrom::KernelArgument,
);
const BASIC_RANKS: Subject = subject(&["basic-ranks"], WorkersFrom::Ranks);
const REDUCED_RANKS: Subject = subject(&["reduced-ranks"], WorkersFrom::Ranks);

/// What section 7.1.6 rejects.
const CRITICAL: Subject = subject(
    &[
        "reduced-threads",
        "--schedule=forces-cyclic",
        "--sums=critical",
    ],
    WorkersFrom::KernelArgument,
);
const LOCKS: Subject = subject(
    &[
        "reduced-threads",
        "--schedule=forces-cyclic",
        "--sums=locks",
    ],
    WorkersFrom::KernelArgument,
);

/// Where the chapter compares the serial solvers with one worker: section, worker, particles, and both solvers with it.
type ComparedWithOne = (&'static str, &'static str, usize, [Subject; 2]);

const ONE_WORKER: [ComparedWithOne; 2] = [
    ("7.1.7", "thread", 400, [BASIC_THREADS, REDUCED_THREADS]),
    ("7.1.11", "process", 800, [BASIC_RANKS, REDUCED_RANKS]),
];

/// Seconds of the serial solvers for a pair of particles and a step. They tell about how long the first row of a table takes. Zeros
/// before the first runs: these are made in any case.
#[derive(Clone, Copy, Default)]
struct Pace {
    basic: f64,
    reduced: f64,
}

impl Pace {
    /// Pairs and steps, of which each particle has one with itself.
    fn work(n: usize, steps: u64) -> f64 {
        (n as f64).powi(2) * steps.max(1) as f64
    }

    /// Seconds of both solvers for so many particles and steps.
    fn seconds(self, n: usize, steps: u64) -> [f64; 2] {
        [self.basic, self.reduced].map(|seconds| seconds * Self::work(n, steps))
    }
}

/// The serial solvers beside those with one worker, by turns; and what these runs tell of the others.
fn one_worker(runs: &Runs) -> (Vec<OneWorker>, Pace) {
    let mut pace = Pace::default();
    let of = |&(section, worker, particles, ones): &ComparedWithOne| {
        let serial = [&["basic"][..], &["reduced"]].map(|p| subject(p, WorkersFrom::Serial));
        let subjects = [serial[0], ones[0], serial[1], ones[1]];
        let [basic, reduced] = pace.seconds(particles, runs.steps);
        let expected = [basic, basic, reduced, reduced];
        let cells = runs.row(&subjects, particles, runs.steps, &expected);
        for (pace, cell) in [(&mut pace.basic, &cells[0]), (&mut pace.reduced, &cells[2])] {
            if let Ok(spread) = &cell.elapsed {
                *pace = spread.median / Pace::work(particles, runs.steps);
            }
        }
        let line = |(cells, solver): (&[Cell], &'static str)| OneWorker {
            section,
            worker,
            particles,
            solver,
            serial: cells[0].longest.clone(),
            one: cells[1].longest.clone(),
        };
        let lines = cells.chunks(2).zip(["basic", "reduced"]).map(line);
        lines.collect::<Vec<_>>()
    };
    let lines = ONE_WORKER.iter().flat_map(of).collect();
    (lines, pace)
}

/// All tables. The first rows tell how long the others take, and `pace` how long the first ones.
fn measure(runs: &Runs, pace: Pace) -> Vec<Table> {
    let threads = [
        BASIC_THREADS,
        subject(
            &["reduced-threads", "--schedule=default"],
            WorkersFrom::KernelArgument,
        ),
        REDUCED_THREADS,
        subject(
            &["reduced-threads", "--schedule=all-cyclic"],
            WorkersFrom::KernelArgument,
        ),
        CRITICAL,
        LOCKS,
        LIBRARY,
    ];
    let both = [
        BASIC_THREADS,
        REDUCED_THREADS,
        BASIC_RANKS,
        REDUCED_RANKS,
        LIBRARY,
    ];
    // Those with locks take longer than the reduced solver, and the library less time than the basic one.
    let [basic, reduced] = pace.seconds(400, runs.steps);
    let first = [basic, reduced, reduced, reduced, basic, basic, basic];
    let mut tables = vec![Table::new(
        "7.3",
        "Threads, 400 particles. The chapter's columns are OpenMP's. It has no times for the last two ways to sum the forces: one critical \
         section for all pairs, and a lock for each particle (with cyclic forces).",
        "threads",
        &["basic", "reduced, default", "forces cyclic", "all cyclic"],
        &["critical section", "locks", "library"],
        &TABLE_7_3,
        &scaled(runs, &TABLE_7_3.map(|row| row.0), &threads, 400, &first),
    )];
    let workers = TABLE_7_5.map(|row| row.0);
    let [basic, reduced] = pace.seconds(800, runs.steps);
    let first = [basic, reduced, basic, reduced, basic];
    let measured = scaled(runs, &workers, &both, 800, &first);
    let columns = |of: &[usize]| -> Vec<Vec<Cell>> {
        measured
            .iter()
            .map(|row| of.iter().map(|&k| row[k].clone()).collect())
            .collect()
    };
    tables.push(Table::new(
        "7.5",
        match cfg!(feature = "mpi") {
            true => "Processes under mpirun on this machine, 800 particles.",
            false => "Processes are threads of one program (built without the feature `mpi`), 800 particles.",
        },
        "processes",
        &["basic", "reduced"],
        &["library"],
        &TABLE_7_5,
        &columns(&[2, 3, 4]),
    ));
    tables.push(Table::new(
        "7.6",
        "Threads and processes, 800 particles; the runs are those of Table 7.5.",
        "workers",
        &[
            "basic, threads",
            "reduced, threads",
            "basic, processes",
            "reduced, processes",
        ],
        &["library"],
        &TABLE_7_6,
        &columns(&[0, 1, 2, 3, 4]),
    ));
    tables.push(Table::new(
        "7.7",
        "One step; the chapter does not say of how many steps its times are. Serial here is in double precision, the GPU and the \
         chapter in single. On a GPU a run here begins with opening it.",
        "particles",
        &["serial", "GPU"],
        &["library"],
        &TABLE_7_7,
        &by_size(runs, &TABLE_7_7.map(|row| row.0), pace),
    ));
    tables
}

/// Rows of more and more workers. A run of each program in the first row takes about the `first` seconds.
fn scaled(
    runs: &Runs,
    workers: &[usize],
    subjects: &[Subject],
    n: usize,
    first: &[f64],
) -> Vec<Vec<Cell>> {
    let mut expected = first.to_vec();
    let row = |&workers: &usize| {
        let these: Vec<Subject> = subjects.iter().map(|s| Subject { workers, ..*s }).collect();
        let cells = runs.row(&these, n, runs.steps, &expected);
        for (expected, cell) in expected.iter_mut().zip(&cells) {
            *expected = cell
                .elapsed
                .as_ref()
                .map_or(*expected, |spread| spread.median);
        }
        cells
    };
    workers.iter().map(row).collect()
}

/// Rows of more and more particles: serial, GPU, library with all cores.
fn by_size(runs: &Runs, sizes: &[usize], pace: Pace) -> Vec<Vec<Cell>> {
    let subjects = [
        subject(&["basic"], WorkersFrom::Nothing),
        subject(&["basic-gpu", "--float"], WorkersFrom::Nothing),
        subject(&["library"], WorkersFrom::Nothing),
    ];
    let mut known: Vec<Vec<(usize, f64)>> = vec![Vec::new(); subjects.len()];
    let row = |&n: &usize| {
        // What is not known yet takes less time than the serial solver. A GPU takes most of it for being opened, whatever the size.
        let serial = |n| pace.seconds(n, 1)[0];
        let unknown = [serial(n), serial(sizes[0]), serial(n)];
        let expected: Vec<f64> = known
            .iter()
            .zip(unknown)
            .map(|(known, unknown)| expected(known, n).unwrap_or(unknown))
            .collect();
        let cells = runs.row(&subjects, n, 1, &expected);
        for (known, cell) in known.iter_mut().zip(&cells) {
            known.extend(cell.elapsed.as_ref().ok().map(|spread| (n, spread.median)));
        }
        cells
    };
    sizes.iter().map(row).collect()
}

/// Expected seconds for `n` particles, if any size was measured: a power law through the two largest sizes measured, with an exponent of at
/// least 0 and at most two. (On a GPU the exponent is small for few particles, because most of the time goes into
/// opening the device.)
fn expected(known: &[(usize, f64)], n: usize) -> Option<f64> {
    let (before, &[.., (few, seconds)]) = (known.iter().rev().nth(1), known) else {
        return None;
    };
    let slope =
        |&(fewer, less): &(usize, f64)| (seconds / less).ln() / (few as f64 / fewer as f64).ln();
    let power = before.map_or(0.0, slope).clamp(0.0, 2.0);
    Some(seconds * (n as f64 / few as f64).powf(power))
}

#[cfg(test)]
mod tests {
    use super::expected;

    #[test]
    fn a_time_grows_as_it_did() {
        assert_eq!(expected(&[], 1024), None);
        // Of one size nothing is known of the growth.
        assert_eq!(expected(&[(1024, 0.3)], 2048), Some(0.3));
        let pairs = expected(&[(512, 9.0), (1024, 1.0), (2048, 4.0)], 32768).unwrap();
        assert!((pairs / 1024.0 - 1.0).abs() < 1e-12, "{pairs}");
        // A GPU that has only been opened yet, and faster at that the second time.
        assert_eq!(expected(&[(1024, 0.3), (2048, 0.29)], 1 << 20), Some(0.29));
    }
}
