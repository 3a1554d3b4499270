//! The measurements of the report: steps of clusters of several sizes on 1, 2, ... up to all ranks, and one cluster to
//! core collapse, as far as `--minutes` allow.

use std::error::Error as AnyError;
use std::time::Instant;

use kirin_kit::command::{Ended, Start};
use kirin_kit::communicator::network::Network;
use kirin_kit::communicator::{Communicator, Counted};
use kirin_kit::comparison::Budget;
use kirin_kit::interrupt::interrupted;

use crate::error::Error;
use crate::options::Options;
use crate::output::Summary;
use crate::profile::{Phase, Profile};
use crate::session::{Ending, begin};

/// Stars of the clusters, and steps of each at most (section 4.3).
const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
const STEPS: u64 = 50;

/// Part of the time that is for the cluster to collapse.
const COLLAPSE: f64 = 0.5;

/// Elements of a message that shows the bandwidth.
const LONG: usize = 1 << 18;

/// Steps of one cluster on one number of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Number of stars.
    pub n: usize,
    /// Number of ranks.
    pub ranks: usize,
    /// Number of steps.
    pub steps: u64,
    /// Seconds of each phase in the fastest step.
    pub step: Profile,
}

/// What was measured.
pub struct Measured {
    /// Steps.
    pub rows: Vec<Row>,
    /// The cluster that was to collapse; how far it came.
    pub collapse: Option<Summary>,
    /// What messages among the ranks take here; `None` on one rank.
    pub network: Option<Network>,
}

/// Minutes that a report takes where no option says otherwise.
const DEFAULT_MINUTES: f64 = 5.0;

/// Measures as long as `options.minutes` last; all ranks return the same rows.
///
/// # Errors
///
/// A rank is lost.
pub fn measure<C: Communicator>(
    world: &Counted<C>,
    options: &Options,
) -> Result<(Measured, Ended), Box<dyn AnyError>> {
    let budget = Budget::new(Some(60.0 * options.minutes.unwrap_or(DEFAULT_MINUTES)));
    let mut measured = Measured {
        rows: Vec::new(),
        collapse: None,
        network: network(world)?,
    };
    let steps = budget.share(1.0 - COLLAPSE);
    'sizes: for n in SIZES {
        for ranks in 1..=world.size() {
            // By what the size before took, on rank 0's clock.
            let last = measured.rows.iter().rev().find(|row| row.ranks == ranks);
            let expected = last.map_or(0.0, |row| row.step.total() * n as f64 / row.n as f64);
            let mut goes_on = [f64::from(u8::from(
                steps.allows(4.0 * expected) && !interrupted(),
            ))];
            world.broadcast(0, &mut goes_on)?;
            if goes_on[0] == 0.0 {
                break 'sizes;
            }
            let mut count = [(0.3 * steps.left() / expected.max(1e-9))
                .clamp(2.0, STEPS as f64)
                .floor()];
            world.broadcast(0, &mut count)?;
            let group = world.split(usize::from(world.rank() >= ranks), world.rank())?;
            let mut numbers = Profile::default().0;
            if world.rank() < ranks {
                numbers = some_steps(group, options, n, count[0] as u64)?.0;
            }
            world.broadcast(0, &mut numbers)?;
            measured.rows.push(Row {
                n: n as usize,
                ranks,
                steps: count[0] as u64,
                step: Profile(numbers),
            });
        }
    }
    measured.collapse = Some(collapse(world, options, &budget)?);
    let ended = if interrupted() {
        Ended::Interrupted
    } else {
        Ended::Complete
    };
    Ok((measured, ended))
}

/// Seconds of each phase in one step of a Plummer sphere. The first step only warms up; of the others the fastest counts, because slower
/// ones may have waited for other programs.
fn some_steps<C: Communicator>(
    world: Counted<C>,
    options: &Options,
    n: u64,
    steps: u64,
) -> Result<Profile, Error> {
    let options = Options {
        start: Start {
            n: Some(n),
            ..Start::default()
        },
        // Those of a King model.
        tidal_boundary: None,
        tidal_radius: None,
        ..options.clone()
    };
    let mut cluster = begin(world, &options, None)?.cluster;
    cluster.step(f64::INFINITY)?;
    let mut fastest = Profile([f64::INFINITY; Phase::ALL.len()]);
    for _ in 0..steps {
        cluster.profile = Profile::default();
        cluster.step(f64::INFINITY)?;
        if cluster.profile.total() < fastest.total() {
            fastest = cluster.profile;
        }
    }
    Ok(fastest)
}

/// A cluster on its way to core collapse until the time is over.
fn collapse<C: Communicator>(
    world: &Counted<C>,
    options: &Options,
    budget: &Budget,
) -> Result<Summary, Box<dyn AnyError>> {
    let mut run = begin(world.split(0, world.rank())?, options, None)?;
    let stop = || interrupted() || !budget.allows(0.0) || budget.left() == 0.0;
    let ending: Ending = run.evolve_until(options, &stop)?;
    Ok(Summary::of(&run, ending)?)
}

/// Latency and bandwidth of the fastest of some messages.
fn network<C: Communicator>(world: &C) -> Result<Option<Network>, Error> {
    if world.size() == 1 {
        return Ok(None);
    }
    let mut received = Vec::new();
    let mut seconds = |length: usize, times: usize| -> Result<f64, Error> {
        let sent = vec![1.0; length];
        let mut fastest = f64::INFINITY;
        for _ in 0..times {
            world.barrier()?;
            let began = Instant::now();
            world.all_gather(&sent, &mut received)?;
            fastest = fastest.min(began.elapsed().as_secs_f64());
        }
        Ok(fastest)
    };
    let latency = seconds(1, 1000)? / (world.size() as f64).log2().ceil();
    let bytes = ((world.size() - 1) * LONG * size_of::<f64>()) as f64;
    let mut network = [latency, bytes / (seconds(LONG, 20)? - latency).max(1e-9)];
    world.broadcast(0, &mut network)?;
    let [latency, bandwidth] = network;
    Ok(Some(Network::new(latency, bandwidth)))
}
