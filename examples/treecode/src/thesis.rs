//! Table 4.4 of the thesis, with this device's times beside the published ones.

use std::error::Error as AnyError;
use std::time::Instant;

use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::command::Ended;
use kirin_kit::communicator::Communicator;
use kirin_kit::comparison::{Circumstances, publish};
use kirin_kit::interrupt::interrupted;
use kirin_kit::models::Model;
use kirin_kit::progress::Progress;
use kirin_kit::run::{Log, Run, RunOutputs};
use kirin_report::plot::{Curve, Figure, Panel};
use kirin_report::repeat::{Repetitions, Spread, repeat};
use kirin_report::text::{MarkdownTable, digits, si, time_split};
use serde_json::{Value, json};

use crate::error::Error;
use crate::forces::{Counts, Engine, Forces};
use crate::integrator::Integrator;
use crate::machines;
use crate::options::{DEFAULT_T_END, Options};
use crate::settings::Settings;

/// N, then the seconds of GRAPE-6Af, of kirin as it was, of kirin without jerk and neighbour, of the CPU.
const PUBLISHED: [(usize, [f64; 4]); 13] = [
    (256, [0.85, 0.40, 0.39, 0.34]),
    (512, [1.25, 0.47, 0.46, 0.78]),
    (1024, [0.71, 0.59, 0.57, 1.61]),
    (2048, [2.69, 0.85, 0.79, 3.58]),
    (4096, [5.07, 1.58, 1.28, 8.27]),
    (8192, [10.7, 3.77, 2.65, 19.9]),
    (16384, [23.9, 10.2, 5.57, 45.6]),
    (32768, [51.4, 16.9, 11.7, 104.0]),
    (65536, [109.0, 42.3, 25.4, 249.0]),
    (131_072, [266.0, 117.0, 59.9, 564.0]),
    (262_144, [682.0, 379.0, 169.0, 1230.0]),
    (524_288, [1033.0, 563.0, 394.0, 2752.0]),
    (1_048_576, [2004.0, 1247.0, 733.0, 5985.0]),
];

/// Group sizes of which the fastest is taken.
const GROUPS: [usize; 8] = [128, 256, 512, 1024, 2048, 4096, 8192, 16384];

/// Runs: a second one only where it takes moments.
const RUNS: Repetitions = Repetitions {
    least: 1,
    most: 3,
    seconds: 2.0,
};

/// Largest factor by which the time of a row grows from one to the next.
const GROWTH: f64 = 2.6;

/// What the published columns were measured on.
const HARDWARE: &str = "\
Seconds for Plummer spheres over one unit of time. The published columns are those of J. Bédorf's thesis (Amsterdam, 2007):

* GRAPE-6Af: a PCI board with four GRAPE-6 chips
* kirin, optimized: on an NVIDIA GeForce 8800GTX; `optimized` leaves out jerks and nearest neighbours
* CPU: the host, without either

+- is half the distance between the quartiles of the trials, in percent of the median; tree, walk, transfer and force are shares
of the last run.
";

/// Makes the table: what there is of it, if something goes wrong on the way.
///
/// # Errors
///
/// Those of a run; a file cannot be written.
pub fn report<C: Communicator>(world: C, options: &Options) -> Result<Ended, Box<dyn AnyError>> {
    options
        .control
        .files
        .validate_report()
        .map_err(Error::Refused)?;
    options.settings(None)?.validate()?;
    if world.size() > 1 {
        return machines::report(&world, options);
    }
    let grape = Grape::linked_or(options.control.own.library())?;
    let engine = || match options.control.own.host {
        true => Engine::Host,
        false => Engine::Library(&grape),
    };
    let circumstances = circumstances(engine(), &grape, options)?;
    let mut rows = Vec::new();
    let ended = measure(options, &engine, &circumstances.backend, &mut rows);
    publish(
        &options.control.files,
        &markdown(options, &circumstances, &rows),
        || {
            json!({
                "circumstances": circumstances.json(),
                "rows": rows.iter().map(Row::json).collect::<Value>(),
            })
        },
        || figure(&circumstances, &rows),
    )?;
    ended
}

/// What one must know to judge the figures.
///
/// # Errors
///
/// The library refuses.
pub fn circumstances(
    engine: Engine<'_>,
    grape: &Grape,
    options: &Options,
) -> Result<Circumstances, Error> {
    let (backend, precision) = Forces::new(engine, Counts::default())?.description();
    Ok(Circumstances {
        backend,
        precision,
        library: match options.control.own.host {
            true => "none",
            false => grape.name(),
        }
        .to_owned(),
        ..Circumstances::begin(env!("CARGO_PKG_VERSION"))
    })
}

/// Adds the rows for which there is time, smallest first.
fn measure<'g>(
    options: &Options,
    engine: &dyn Fn() -> Engine<'g>,
    backend: &str,
    rows: &mut Vec<Row>,
) -> Result<Ended, Box<dyn AnyError>> {
    let budget = options.comparison.limits.budget(backend);
    let t_end = options.control.t_end(DEFAULT_T_END, None)?;
    let mut last = 0.0;
    for (n, published) in PUBLISHED {
        if !options.comparison.limits.wants(n) || !budget.allows(GROWTH * last) {
            break;
        }
        let began = Instant::now();
        let bodies = Model::Plummer.make(n, options.start.seed());
        let settings = best(engine, options.settings(None)?, &bodies, n)?;
        let mut row = None;
        let progress = Progress::new("treecode", 0.0, t_end);
        let spreads = repeat(RUNS, [()], |()| {
            let integrator = Integrator::start(engine(), settings, 0.0, &bodies)?;
            let mut run = Run::new(integrator, Log::default())?;
            let first = *run.integration.forces().work();
            run.evolve(t_end, &RunOutputs::default(), &interrupted, &|t| {
                progress.tell(t, format!("N = {n}, t = {t:.4}"));
            })?;
            row = Row::new(n, published, &run, first.pairs);
            Ok::<f64, Box<dyn AnyError>>(run.seconds)
        });
        progress.finish();
        let spreads = spreads?;
        if interrupted() {
            return Ok(Ended::Interrupted);
        }
        rows.extend(row.map(|row| Row {
            seconds: spreads[0],
            ..row
        }));
        last = began.elapsed().as_secs_f64();
    }
    Ok(Ended::Complete)
}

/// The settings with the group size, of those up to `most`, whose forces take the shortest time on one rank.
///
/// # Errors
///
/// Those of a run.
pub fn best<'g>(
    engine: &dyn Fn() -> Engine<'g>,
    settings: Settings,
    bodies: &[Body],
    most: usize,
) -> Result<Settings, Error> {
    let mut best = (f64::INFINITY, settings);
    for n_crit in GROUPS.into_iter().filter(|n| *n <= most.max(GROUPS[0])) {
        let settings = Settings { n_crit, ..settings };
        let mut trial = Integrator::start(engine(), settings, 0.0, bodies)?;
        // The second step: memory is warm, and the times have not begun to differ.
        trial.step(f64::INFINITY)?;
        let began = Instant::now();
        trial.step(f64::INFINITY)?;
        let seconds = began.elapsed().as_secs_f64();
        if seconds < best.0 {
            best = (seconds, settings);
        }
        // Larger groups would be the same ones.
        if n_crit >= bodies.len() {
            break;
        }
    }
    Ok(best.1)
}

/// One row of the table.
struct Row {
    n: usize,
    published: [f64; 4],
    n_crit: usize,
    seconds: Spread,
    shares: Vec<f64>,
    split: Value,
    pairs_per_step: f64,
    steps: u64,
    energy_error: f64,
}

impl Row {
    /// The row of a run, which had `before` pairs behind it when its steps began.
    fn new(n: usize, published: [f64; 4], run: &Run<Integrator<'_>>, before: u64) -> Option<Self> {
        let work = run.integration.forces().work();
        let parts = work.times.parts();
        let all: f64 = parts.iter().map(|p| p.1).sum();
        let steps = run.integration.steps();
        Some(Self {
            n,
            published,
            n_crit: run.integration.settings().n_crit,
            seconds: Spread::of(vec![run.seconds])?,
            shares: parts.iter().map(|p| 100.0 * p.1 / all).collect(),
            split: time_split(&work.times.parts()),
            pairs_per_step: (work.pairs - before) as f64 / steps as f64,
            steps,
            energy_error: run.integration.energy().ok()?.error(run.start.energy),
        })
    }

    fn pairs_per_second(&self) -> f64 {
        self.pairs_per_step * self.steps as f64 / self.seconds.median
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.n.to_string()];
        cells.extend(self.published.map(|seconds| seconds.to_string()));
        cells.extend([
            digits(self.seconds.median),
            self.seconds.percent(),
            self.seconds.trials.to_string(),
            format!("{:.2}", self.published[1] / self.seconds.median),
            self.n_crit.to_string(),
        ]);
        cells.extend(self.shares.iter().map(|share| format!("{share:.0} %")));
        cells.extend([
            si(self.pairs_per_step),
            si(self.pairs_per_second()),
            format!("{:.1e}", self.energy_error),
        ]);
        cells
    }

    fn json(&self) -> Value {
        let [grape, kirin, optimized, cpu] = self.published;
        json!({
            "n": self.n,
            "published": {"grape_6af": grape, "kirin": kirin, "kirin_optimized": optimized, "cpu": cpu},
            "n_crit": self.n_crit,
            "seconds": self.seconds,
            "time_split": self.split,
            "pairs_per_step": self.pairs_per_step,
            "pairs_per_second": self.pairs_per_second(),
            "energy_error": self.energy_error,
        })
    }
}

fn markdown(options: &Options, circumstances: &Circumstances, rows: &[Row]) -> String {
    let mut table = MarkdownTable::new([
        "N",
        "GRAPE-6Af [s]",
        "kirin [s]",
        "optimized [s]",
        "CPU [s]",
        "here [s]",
        "+- %",
        "trials",
        "x kirin",
        "n_crit",
        "tree",
        "walk",
        "transfer",
        "force",
        "pairs/step",
        "pairs/s",
        "dE/E",
    ]);
    for row in rows {
        table.row(row.cells());
    }
    format!(
        "# Table 4.4 of the thesis and this device\n\n{}{}\n\n{HARDWARE}\n{table}",
        circumstances.markdown(),
        runs(options),
    )
}

/// The line that tells which runs were made.
pub fn runs(options: &Options) -> String {
    let settings = options.settings(None).unwrap_or_default();
    let t_end = options.control.t_end(DEFAULT_T_END, None);
    format!(
        "* runs: Plummer spheres, seed {}, to t = {}, dt = {}, theta = {}, eps = {}{}",
        options.start.seed(),
        t_end.unwrap_or(DEFAULT_T_END),
        settings.dt,
        settings.theta,
        settings.eps,
        match settings.quadrupoles {
            true => ", quadrupoles",
            false => "",
        },
    )
}

/// Seconds over N.
fn figure(circumstances: &Circumstances, rows: &[Row]) -> Figure {
    let published = |label: &str, column: usize| {
        Curve::published(label, PUBLISHED.map(|row| (row.0, row.1[column])))
    };
    let here = rows.iter().map(|row| (row.n, row.seconds.median));
    let curves = vec![
        published("GRAPE", 0),
        published("kirin", 1),
        published("optimized", 2),
        published("CPU", 3),
        Curve::over_n("here", here),
    ];
    let panel = Panel::logarithmic("One unit of time", "N", curves).with_y("seconds");
    Figure {
        title: "Table 4.4 of the thesis (2007) and this device".to_owned(),
        subtitle: circumstances.forces(),
        columns: vec![vec![panel]],
    }
}
