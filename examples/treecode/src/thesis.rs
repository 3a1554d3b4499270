//! Table 4.4 of the thesis, with this machine's times beside the published ones.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::command::{Ended, catch_interruption, interrupted, named};
use kirin_kit::models::Model;
use kirin_kit::progress::Progress;
use serde_json::{Value, json};

use crate::forces::Engine;
use crate::integrator::Integrator;
use crate::options::{DEFAULT_T_END, Options};
use crate::output::time_split;
use crate::run::Run;
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

/// Makes the table.
///
/// # Errors
///
/// Those of a run; a file cannot be written.
pub fn report(options: &Options) -> Result<Ended, Box<dyn Error>> {
    options.files.check()?;
    let grape = Grape::linked_or(options.library.as_deref())?;
    let engine = || match options.host {
        true => Engine::Host,
        false => Engine::Library(&grape),
    };
    catch_interruption()?;
    let t_end = options.t_end.unwrap_or(DEFAULT_T_END);
    let mut rows = Vec::new();
    let mut out = std::io::stdout();
    for (n, published) in PUBLISHED.iter().filter(|row| row.0 <= options.largest) {
        let bodies = Model::Plummer.make(*n, options.start.seed());
        let settings = best(&engine, options.settings(), &bodies)?;
        let mut run = Run::start(engine(), settings, 0.0, &bodies, false)?;
        let first = *run.integrator.forces().work();
        if rows.is_empty() {
            let _ = write!(out, "{}", heading(&run, options, t_end));
        }
        let progress = Progress::new("treecode", 0.0, t_end);
        let ended = run.evolve(t_end, None, &interrupted, &|t| progress.advance(t));
        progress.finish();
        if ended? == Ended::Interrupted {
            return Ok(Ended::Interrupted);
        }
        let row = Row::new(*n, published, &run, first.pairs);
        // A reader that has gone away spoils nothing.
        let _ = writeln!(out, "{}", row.text());
        rows.push(row.json());
    }
    if let Some(path) = &options.files.json {
        let text = format!("{:#}\n", Value::Array(rows));
        std::fs::write(path, text).map_err(named(path))?;
    }
    Ok(Ended::Complete)
}

/// The settings with the group size whose forces take the shortest time.
fn best<'g>(
    engine: &dyn Fn() -> Engine<'g>,
    settings: Settings,
    bodies: &[Body],
) -> Result<Settings, Box<dyn Error>> {
    let mut best = (f64::INFINITY, settings);
    for n_crit in GROUPS {
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

fn heading(run: &Run<'_>, options: &Options, t_end: f64) -> String {
    let settings = run.integrator.settings();
    let (name, precision) = run.integrator.forces().description();
    format!(
        "Table 4.4 of the thesis: seconds for Plummer spheres to t = 1 (published: GRAPE-6Af, kirin on\n\
         a GeForce 8800GTX as it was and without jerk and neighbour, and a CPU of 2007)\n\
         This machine: {name}, {precision} precision, to t = {t_end}, dt = {}, theta = {}, eps = {}{}\n\n\
         {:>8} {:>9} {:>9} {:>9} {:>8} | {:>9} {:>6} {:>5} {:>5} {:>9} {:>6} {:>10} {:>9} {:>9}\n",
        settings.dt,
        settings.theta,
        settings.eps,
        if options.quadrupoles {
            ", quadrupoles"
        } else {
            ""
        },
        "N",
        "GRAPE-6Af",
        "kirin",
        "optimized",
        "CPU",
        "here",
        "n_crit",
        "tree",
        "walk",
        "transfer",
        "force",
        "pairs/step",
        "pairs/s",
        "dE/E"
    )
}

/// One row of the table.
struct Row<'a> {
    n: usize,
    published: &'a [f64; 4],
    n_crit: usize,
    seconds: f64,
    shares: Vec<f64>,
    split: Value,
    pairs_per_step: f64,
    pairs_per_second: f64,
    energy_error: f64,
}

impl<'a> Row<'a> {
    /// The row of a run, which had `before` pairs behind it when its steps began.
    fn new(n: usize, published: &'a [f64; 4], run: &Run<'_>, before: u64) -> Self {
        let work = run.integrator.forces().work();
        let parts = work.times.parts();
        let all: f64 = parts.iter().map(|p| p.1).sum();
        let pairs = (work.pairs - before) as f64;
        Self {
            n,
            published,
            n_crit: run.integrator.settings().n_crit,
            seconds: run.seconds,
            shares: parts.iter().map(|p| 100.0 * p.1 / all).collect(),
            split: time_split(&work.times),
            pairs_per_step: pairs / run.integrator.steps() as f64,
            pairs_per_second: pairs / run.seconds,
            energy_error: run.integrator.energy().error(run.energy0),
        }
    }

    fn text(&self) -> String {
        let [grape, kirin, optimized, cpu] = self.published;
        let [tree, walk, transfer, force] = self.shares[..] else {
            unreachable!("there are four parts");
        };
        format!(
            "{:>8} {grape:>9} {kirin:>9} {optimized:>9} {cpu:>8} | {:>9.3} {:>6} {tree:>4.0}% {walk:>4.0}% \
             {transfer:>8.0}% {force:>5.0}% {:>10.3e} {:>9.2e} {:>9.1e}",
            self.n,
            self.seconds,
            self.n_crit,
            self.pairs_per_step,
            self.pairs_per_second,
            self.energy_error
        )
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
            "pairs_per_second": self.pairs_per_second,
            "energy_error": self.energy_error,
        })
    }
}
