//! The measurements of the report: the same blocks on every grid of 1, 2, ... ranks.

use std::time::Instant;

use hermite::settings::Settings;
use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::command::Ended;
use kirin_kit::communicator::cores::threads_of_rank;
use kirin_kit::communicator::{Communicator, Counted, Operation};
use kirin_kit::comparison::DEFAULT_MINUTES;
use kirin_kit::history::FLOPS_PER_PAIR;
use kirin_kit::interrupt::interrupted;
use kirin_report::machine::processor_seconds;

use crate::cost::{Costs, Prediction, Workload, predict};
use crate::error::Error;
use crate::grid::Grid;
use crate::integrator::Integrator;
use crate::machine::{Algorithm, Arrangement};
use crate::measure;
use crate::options::Options;

/// Default number of particles.
const N: u64 = 16384;
/// The first blocks after the start make tiles and fill memory.
const WARM: usize = 16;
/// Rounds, in which all grids take turns, so that what disturbs the machine disturbs them alike.
const ROUNDS: usize = 3;

/// One grid, mean over its ranks and the median of the rounds by their total.
#[derive(Clone, Debug)]
pub struct Row {
    /// Grid and algorithm.
    pub plan: Arrangement,
    /// N and N_b.
    pub load: Workload,
    /// Blocks and steps that were timed.
    pub blocks: u64,
    /// Steps of particles.
    pub steps: u64,
    /// Seconds of a block.
    pub measured: Prediction,
    /// Processor time of a block on the rank that computed longest, without waiting for others; NaN where the calling thread
    /// does not compute everything.
    pub processor: f64,
    /// Bytes that a rank receives in a block.
    pub bytes: f64,
}

impl Row {
    /// Flop/s of all ranks.
    pub fn flops(&self) -> f64 {
        speed(self.load, self.measured.total())
    }

    /// The same if messages took no time and each rank had a core for itself.
    pub fn flops_of_processors(&self) -> f64 {
        speed(self.load, self.processor)
    }
}

/// Flop/s where a block takes so many seconds.
pub fn speed(load: Workload, seconds: f64) -> f64 {
    load.block * load.n as f64 * FLOPS_PER_PAIR / seconds
}

/// Everything that was measured.
pub struct Measured {
    /// The library's backend.
    pub backend: String,
    /// Its precision.
    pub precision: String,
    /// For 1, 2, ... ranks the costs, medians of the rounds.
    pub costs: Vec<Costs>,
    /// All grids, in order of ranks.
    pub rows: Vec<Row>,
}

impl Measured {
    /// Seconds of a block of this row, by the model.
    pub fn predicted(&self, row: &Row) -> Prediction {
        predict(row.plan, row.load, &self.costs[row.plan.grid.ranks() - 1])
    }
}

/// Measures on the ranks of `world`. Only rank 0 gets the rows of all.
///
/// # Errors
///
/// Senseless options; the library fails; a rank is lost.
pub fn measure<C: Communicator>(
    world: &Counted<C>,
    grape: &Grape,
    options: &Options,
) -> Result<(Measured, Ended), Error> {
    let mut start = options.run.start.clone();
    start.n.get_or_insert(N);
    let refuse = |e: &dyn std::fmt::Display| Error::Refused(e.to_string());
    let bodies = start.bodies().map_err(|e| refuse(&e))?;
    let settings = options.run.settings(None).map_err(|e| refuse(&e))?;
    let mut measured = Measured {
        backend: grape.backend(0),
        precision: grape.precision(0),
        costs: Vec::new(),
        rows: Vec::new(),
    };
    let plans: Vec<Arrangement> = (1..=world.size())
        .flat_map(Grid::all)
        .map(|grid| Arrangement {
            grid,
            algorithm: Algorithm::TwoD,
            sums: options.sums,
        })
        .collect();
    let seconds = 60.0 * options.minutes.unwrap_or(DEFAULT_MINUTES) / (plans.len() * ROUNDS) as f64;
    let blocks = blocks_in(world, grape, plans[0], settings, &bodies, seconds)?;
    let threads = threads_of_rank(world.size(), &["KIRIN_THREADS"]);
    let is_alone = threads == 1 && measured.backend.starts_with("cpu");
    // By number of ranks and by plan, a value a round.
    let mut costs: Vec<Vec<Costs>> = vec![Vec::new(); world.size()];
    let mut rounds: Vec<Vec<Row>> = vec![Vec::new(); plans.len()];
    let mut ended = Ended::Complete;
    'rounds: for _ in 0..ROUNDS {
        for ranks in 1..=world.size() {
            let group = world.split(usize::from(world.rank() >= ranks), world.rank())?;
            if world.rank() < ranks {
                costs[ranks - 1].push(measure::costs(&group, grape, measure::TRIAL)?);
            }
        }
        for (plan, rows) in plans.iter().zip(&mut rounds) {
            let ranks = plan.grid.ranks();
            let mut stop = [f64::from(u8::from(interrupted()))];
            world.all_reduce(Operation::Max, &mut stop)?;
            if stop[0] > 0.0 {
                ended = Ended::Interrupted;
                break 'rounds;
            }
            let group = world.split(usize::from(world.rank() >= ranks), world.rank())?;
            if world.rank() < ranks {
                let all = (&bodies[..], blocks, is_alone);
                rows.push(time(group, grape, *plan, settings, all)?);
            }
        }
    }
    measured.costs = costs.iter().filter_map(|c| Costs::median(c)).collect();
    for mut rows in rounds {
        rows.sort_by(|a, b| a.measured.total().total_cmp(&b.measured.total()));
        measured.rows.extend(rows.get(rows.len() / 2).cloned());
    }
    Ok((measured, ended))
}

/// How many blocks one rank takes in so many seconds: the same number on every rank.
fn blocks_in<C: Communicator>(
    world: &Counted<C>,
    grape: &Grape,
    plan: Arrangement,
    settings: Settings,
    bodies: &[Body],
    seconds: f64,
) -> Result<usize, Error> {
    let alone = world.split(usize::from(world.rank() > 0), world.rank())?;
    let mut blocks = [0_u64];
    if world.rank() == 0 {
        let began = Instant::now();
        let mut run = Integrator::start(alone, grape, plan, settings, 0.0, bodies)?;
        while blocks[0] < 2 * WARM as u64 || began.elapsed().as_secs_f64() < seconds {
            run.step()?;
            blocks[0] += 1;
        }
    }
    world.broadcast(0, &mut blocks)?;
    Ok(blocks[0] as usize)
}

/// The first `blocks` blocks on one grid. `is_alone`: the thread of a rank computes all of its forces.
fn time<C: Communicator>(
    group: Counted<C>,
    grape: &Grape,
    plan: Arrangement,
    settings: Settings,
    (bodies, blocks, is_alone): (&[Body], usize, bool),
) -> Result<Row, Error> {
    let mut run = Integrator::start(group, grape, plan, settings, 0.0, bodies)?;
    for _ in 0..WARM {
        run.step()?;
    }
    let computed = |world: &Counted<C>| match is_alone {
        true => processor_seconds() - world.tally().total().processor_seconds,
        false => f64::NAN,
    };
    let started = computed(&run.machine().world);
    let before = (run.counts().clone(), run.machine().times);
    let bytes = run.machine().world.tally().total().bytes;
    for _ in WARM..blocks {
        run.step()?;
    }
    let machine = run.machine();
    let mut longest = [computed(&machine.world) - started];
    machine.world.all_reduce(Operation::Max, &mut longest)?;
    let counts = run.counts();
    let timed = counts.block_steps - before.0.block_steps;
    let steps = counts.steps - before.0.steps;
    let mut numbers = [
        machine.times.calculation() - before.1.calculation(),
        machine.times.communication() - before.1.communication(),
        (machine.world.tally().total().bytes - bytes) as f64,
    ];
    machine.world.all_reduce(Operation::Sum, &mut numbers)?;
    let mean = numbers.map(|sum| sum / machine.world.size() as f64 / timed as f64);
    let load = Workload {
        n: bodies.len(),
        block: steps as f64 / timed as f64,
    };
    Ok(Row {
        plan,
        load,
        blocks: timed,
        steps,
        measured: Prediction {
            calculation: mean[0],
            communication: mean[1],
        },
        processor: longest[0] / timed as f64,
        bytes: mean[2],
    })
}
