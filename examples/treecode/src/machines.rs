//! Table 5.2 of the thesis: the treecode on two machines, beside ranks here.

use std::error::Error as AnyError;
use std::time::Instant;

use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::command::Ended;
use kirin_kit::communicator::{Communicator, Operation};
use kirin_kit::comparison::{Circumstances, publish};
use kirin_kit::interrupt::interrupted;
use kirin_kit::models::Model;
use kirin_report::machine::processor_seconds;
use kirin_report::plot::{Curve, Figure, Panel};
use kirin_report::text::{MarkdownTable, digits, si};
use serde_json::{Value, json};

use crate::error::Error;
use crate::forces::Engine;
use crate::integrator::{Integrator, Origin};
use crate::options::{DEFAULT_T_END, Options};
use crate::settings::Settings;
use crate::thesis;

/// N, then the seconds of one machine and of two, each with a GeForce 8800GTX.
const PUBLISHED: [(usize, [f64; 2]); 13] = [
    (256, [0.48, 0.53]),
    (512, [0.55, 0.62]),
    (1024, [0.67, 0.64]),
    (2048, [0.89, 0.83]),
    (4096, [1.34, 1.22]),
    (8192, [2.69, 1.99]),
    (16384, [5.66, 3.38]),
    (32768, [12.3, 8.24]),
    (65536, [26.1, 15.9]),
    (131_072, [60.1, 33.8]),
    (262_144, [169.0, 90.0]),
    (524_288, [373.0, 195.0]),
    (1_048_576, [709.0, 380.0]),
];

/// Largest factor by which the time of a row grows from one to the next.
const GROWTH: f64 = 2.6;

/// Fewest groups of a rank.
const GROUPS: usize = 4;

/// What the columns are.
const COLUMNS: &str = "\
Seconds for Plummer spheres. The published columns are those of J. Bédorf's thesis (Amsterdam, 2007), for one unit of time on machines
with an NVIDIA GeForce 8800GTX each; the others are for the time of this run.

* wall: from the start of the steps to the end of the last rank's; processor: what the longest rank computed, without waiting for others (empty where
  a rank has several threads)
* speed-up: one rank's seconds over those of all ranks; by processor time it is what quiet machines would show if messages took no time
* received: bytes that came to the rank with most, in a step

";

/// The seconds of a run: what the table compares.
#[derive(Clone, Copy, Debug, Default)]
struct Seconds {
    wall: f64,
    /// Of the rank with most; NaN where a rank has several threads.
    processor: f64,
}

/// One row of the table.
struct Row {
    n: usize,
    published: [f64; 2],
    n_crit: usize,
    one: Seconds,
    all: Seconds,
    /// Bytes in a step.
    received: f64,
    /// Whether both runs ended with the same bits.
    is_same: bool,
}

/// Measures the rows of the table, and rank 0 writes it. If a row fails, the rows before it are written.
///
/// # Errors
///
/// Those of a run; a file cannot be written.
pub fn report<C: Communicator>(world: &C, options: &Options) -> Result<Ended, Box<dyn AnyError>> {
    let grape = Grape::linked_or(options.control.own.library())
        .map_err(|e| Error::Refused(e.to_string()))?;
    let engine = match options.control.own.host {
        true => Engine::Host,
        false => Engine::Library(&grape),
    };
    let circumstances = thesis::circumstances(engine, &grape, options)?;
    let mut rows = Vec::new();
    let ended = measure(world, options, engine, &circumstances.backend, &mut rows);
    if world.rank() == 0 {
        publish(
            &options.control.files,
            &markdown(options, world.size(), &circumstances, &rows),
            || {
                json!({
                    "circumstances": circumstances.json(),
                    "ranks": world.size(),
                    "rows": rows.iter().map(Row::json).collect::<Value>(),
                })
            },
            || figure(world.size(), &circumstances, &rows),
        )?;
    }
    ended
}

/// Adds the rows for which there is time, smallest first; rank 0 decides.
fn measure<C: Communicator>(
    world: &C,
    options: &Options,
    engine: Engine<'_>,
    backend: &str,
    rows: &mut Vec<Row>,
) -> Result<Ended, Box<dyn AnyError>> {
    let budget = options.comparison.limits.budget(backend);
    let t_end = options.control.t_end(DEFAULT_T_END, None)?;
    let alone = || world.split(world.rank(), 0);
    let mut last = 0.0;
    for (n, published) in PUBLISHED {
        let goes_on = options.comparison.limits.wants(n) && budget.allows(GROWTH * last);
        let mut told = [u64::from(goes_on), u64::from(interrupted())];
        world.broadcast(0, &mut told)?;
        if told[1] > 0 {
            return Ok(Ended::Interrupted);
        }
        if told[0] == 0 {
            break;
        }
        let began = Instant::now();
        let bodies = match world.rank() {
            0 => Model::Plummer.make(n, options.start.seed()),
            _ => Vec::new(),
        };
        let mut n_crit = [0];
        let settings = options.settings(None)?;
        let most = n / (GROUPS * world.size());
        if world.rank() == 0 {
            let best = thesis::best(&|| engine, settings, &bodies, most)?;
            n_crit = [best.n_crit as u64];
        }
        world.broadcast(0, &mut n_crit)?;
        let settings = Settings {
            n_crit: n_crit[0] as usize,
            ..settings
        };
        let group = alone()?;
        let first = match world.rank() {
            0 => Some(evolve(group, engine, settings, &bodies, t_end)?),
            _ => None,
        };
        world.barrier()?;
        let together = evolve(
            world.split(0, world.rank())?,
            engine,
            settings,
            &bodies,
            t_end,
        )?;
        if let Some(first) = first {
            rows.push(Row {
                n,
                published,
                n_crit: settings.n_crit,
                one: first.seconds,
                all: together.seconds,
                received: together.received,
                is_same: first.bodies == together.bodies,
            });
        }
        last = began.elapsed().as_secs_f64();
    }
    Ok(Ended::Complete)
}

/// How a run ended.
struct Outcome {
    seconds: Seconds,
    /// Bytes in a step.
    received: f64,
    /// On rank 0.
    bodies: Vec<Body>,
}

fn evolve<C: Communicator>(
    world: C,
    engine: Engine<'_>,
    settings: Settings,
    bodies: &[Body],
    t_end: f64,
) -> Result<Outcome, Error> {
    let mut run = Integrator::begin(world, engine, settings, &Origin::new(0.0, bodies))?;
    // The first sort has all bodies on one rank: its messages are no step's.
    let received = |run: &Integrator<'_, C>| run.forces().ranks().world.tally().total().bytes;
    let before = received(&run);
    run.forces().ranks().world.barrier()?;
    let (began, computed) = (Instant::now(), processor_seconds());
    while run.step(t_end)? {}
    let own = match rayon::current_num_threads() {
        1 => processor_seconds() - computed,
        _ => f64::NAN,
    };
    run.forces().ranks().world.barrier()?;
    let wall = began.elapsed().as_secs_f64();
    let per_step = (received(&run) - before) as f64 / run.steps().max(1) as f64;
    let mut most = [wall, own, per_step];
    run.forces()
        .ranks()
        .world
        .all_reduce(Operation::Max, &mut most)?;
    Ok(Outcome {
        seconds: Seconds {
            wall: most[0],
            processor: most[1],
        },
        received: most[2],
        bodies: run.bodies()?,
    })
}

/// A cell, empty where the number is not known.
fn known(number: f64, text: impl Fn(f64) -> String) -> String {
    match number.is_nan() {
        true => String::new(),
        false => text(number),
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let [one, two] = self.published;
        vec![
            self.n.to_string(),
            one.to_string(),
            two.to_string(),
            format!("{:.2}", one / two),
            self.n_crit.to_string(),
            digits(self.one.wall),
            digits(self.all.wall),
            format!("{:.2}", self.one.wall / self.all.wall),
            known(self.one.processor, digits),
            known(self.all.processor, digits),
            known(self.one.processor / self.all.processor, |x| {
                format!("{x:.2}")
            }),
            format!("{}B", si(self.received)),
            match self.is_same {
                true => "same",
                false => "differ",
            }
            .to_owned(),
        ]
    }

    fn json(&self) -> Value {
        let seconds = |s: Seconds| json!({"wall": s.wall, "processor": s.processor});
        json!({
            "n": self.n,
            "published": {"one": self.published[0], "two": self.published[1]},
            "n_crit": self.n_crit,
            "one": seconds(self.one),
            "all": seconds(self.all),
            "bytes_received_per_step": self.received,
            "same_bits": self.is_same,
        })
    }
}

fn markdown(
    options: &Options,
    ranks: usize,
    circumstances: &Circumstances,
    rows: &[Row],
) -> String {
    let here = |what: &str| format!("{ranks} ranks, {what} [s]");
    let mut table = MarkdownTable::new([
        "N".to_owned(),
        "1 GPU [s]".to_owned(),
        "2 GPUs [s]".to_owned(),
        "speed-up".to_owned(),
        "n_crit".to_owned(),
        "1 rank, wall [s]".to_owned(),
        here("wall"),
        "speed-up".to_owned(),
        "1 rank, processor [s]".to_owned(),
        here("processor"),
        "speed-up".to_owned(),
        "received".to_owned(),
        "bits".to_owned(),
    ]);
    for row in rows {
        table.row(row.cells());
    }
    format!(
        "# Table 5.2 of the thesis and {ranks} ranks here\n\n{}{}\n\n{COLUMNS}{table}",
        circumstances.markdown(),
        thesis::runs(options),
    )
}

/// Speed-up over N.
fn figure(ranks: usize, circumstances: &Circumstances, rows: &[Row]) -> Figure {
    let published = PUBLISHED.map(|(n, [one, two])| (n, one / two));
    let wall = rows.iter().map(|row| (row.n, row.one.wall / row.all.wall));
    let processor = rows
        .iter()
        .map(|row| (row.n, row.one.processor / row.all.processor));
    let curves = vec![
        Curve::published("2 GPUs", published),
        Curve::over_n("here, wall", wall),
        Curve::over_n("here, processor", processor),
    ];
    let panel = Panel::logarithmic("Several ranks beside one", "N", curves).with_y("speed-up");
    Figure {
        title: format!("Table 5.2 of the thesis (2007) and {ranks} ranks here"),
        subtitle: circumstances.forces(),
        columns: vec![vec![panel]],
    }
}
