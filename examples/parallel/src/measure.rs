//! Measures the costs of the machine's parts on all ranks at the same time, since ranks share caches, memory and
//! cores.

use std::ops::Range;
use std::time::Instant;

use hermite::particle;
use hermite::settings::Settings;
use kirin::client::Grape;
use kirin_kit::communicator::network::Network;
use kirin_kit::communicator::{Communicator, Operation};
use kirin_kit::models::uniform_sphere;
use kirin_kit::snapshot::State;
use kirin_report::repeat::Spread;

use crate::column::Column;
use crate::columns::{PAGE, Piece};
use crate::cost::Costs;
use crate::error::Error;
use crate::fit::nonnegative;
use crate::j_particles::{ACTIVE, JParticles};

/// j-particles of the shorter and the longer column whose forces are timed.
const SOURCES: [usize; 2] = [4 * PAGE, 16 * PAGE];
/// i-particles of the larger block.
const BLOCK: usize = 256;
/// Every measurement is the median of so many trials.
const TRIALS: usize = 5;
/// Seconds of a trial: several slices of the system's scheduler, so that ranks that share a core have all had their turn.
pub const TRIAL: f64 = 0.02;
/// The same where each rank has a core of its own and only a grid is to be chosen.
pub const SHORT_TRIAL: f64 = 0.002;
/// Numbers in a long message.
const LONG: usize = 1 << 14;

/// The costs on the slowest of the ranks of `world`, the same on every rank, from trials of so many seconds. All of them take
/// some 35 times as long.
///
/// # Errors
///
/// The library fails, or a rank is lost.
pub fn costs<C: Communicator>(world: &C, grape: &Grape, trial: f64) -> Result<Costs, Error> {
    let timer = Timer { world, trial };
    let bodies = uniform_sphere(SOURCES[1], 1);
    let mut column = Column::new(0..0, bodies, vec![State::default(); SOURCES[1]], 1.0);
    for state in &mut column.states {
        state.dt = 1.0 / 1024.0;
        state.acc = [0.1, -0.2, 0.3];
        state.jerk = [0.3, 0.1, -0.2];
    }
    let requests = [(SOURCES[0], 1), (SOURCES[1], 1), (SOURCES[1], BLOCK)];
    let mut seconds = [0.0; 3];
    for (seconds, (nj, ni)) in seconds.iter_mut().zip(requests) {
        *seconds = forces(&timer, grape, &column, nj, ni)?;
    }
    let terms = requests.map(|(nj, ni)| [(nj * ni) as f64, nj as f64, 1.0]);
    let [pair, prediction, call] = nonnegative(&terms, &seconds);
    let particle = steps(&timer, grape, &mut column)?;
    let [latency, byte] = network(&timer)?;
    let mut slowest = [pair, prediction, particle, call, latency, byte];
    world.all_reduce(Operation::Max, &mut slowest)?;
    let [pair, prediction, particle, call, latency, byte] = slowest;
    Ok(Costs {
        pair_rate: 1.0 / pair,
        prediction,
        particle,
        call,
        network: Network::new(latency, 1.0 / byte),
    })
}

/// Times calls on all ranks.
struct Timer<'w, C> {
    world: &'w C,
    /// Seconds of a trial.
    trial: f64,
}

impl<C: Communicator> Timer<'_, C> {
    /// Median of the seconds of one call of `work`. In each trial all ranks begin together and make the same number of
    /// calls, and the trial ends with the slowest rank, like a block. `work` receives the number of calls made so far.
    fn median(&self, mut work: impl FnMut(usize) -> Result<(), Error>) -> Result<f64, Error> {
        let world = self.world;
        let mut calls = 0;
        let mut trial = |times: usize| -> Result<f64, Error> {
            world.barrier()?;
            let began = Instant::now();
            for _ in 0..times {
                work(calls)?;
                calls += 1;
            }
            world.barrier()?;
            Ok(began.elapsed().as_secs_f64())
        };
        // The first call fills caches and memory for the others.
        trial(1)?;
        let mut longest = [trial(1)?];
        world.all_reduce(Operation::Max, &mut longest)?;
        let times = (self.trial / longest[0].max(1e-9)).clamp(1.0, 1e4).ceil() as usize;
        let mut seconds = Vec::with_capacity(TRIALS);
        for _ in 0..TRIALS {
            seconds.push(trial(times)? / times as f64);
        }
        Ok(Spread::of(seconds).expect("there were trials").median)
    }
}

/// Seconds of one call for the forces of the first `nj` particles on `ni` of them.
fn forces<C: Communicator>(
    timer: &Timer<'_, C>,
    grape: &Grape,
    column: &Column,
    nj: usize,
    ni: usize,
) -> Result<f64, Error> {
    let mut sources = open(timer.world, grape, column, 0..nj)?;
    let mut forces = Vec::new();
    let active: Vec<f64> = (0..ni).flat_map(|i| column.predicted(i, 0.0)).collect();
    debug_assert_eq!(active.len(), ni * ACTIVE);
    timer.median(|call| {
        // Another time, so that the particles are predicted anew, as in every block.
        let t = (call + 1) as f64 / 65536.0;
        Ok(sources.partial_forces(t, &active, &mut forces)?)
    })
}

fn open<'g, C: Communicator>(
    world: &C,
    grape: &'g Grape,
    column: &Column,
    addresses: Range<usize>,
) -> Result<JParticles<'g>, Error> {
    let sources = JParticles::open(
        grape,
        world.rank(),
        vec![Piece::whole(addresses.clone())],
        addresses.end,
        1.0 / 256.0,
    )?;
    for i in addresses {
        sources.write(i, &column.bodies[i], &column.states[i]);
    }
    Ok(sources)
}

/// Seconds of the host's work for one active particle: steps 1, 3, 4 and 8.
fn steps<C: Communicator>(
    timer: &Timer<'_, C>,
    grape: &Grape,
    column: &mut Column,
) -> Result<f64, Error> {
    let settings = Settings {
        shared: true,
        ..Settings::default()
    };
    let sources = open(timer.world, grape, column, 0..SOURCES[0])?;
    let seconds = timer.median(|_| {
        let mut sent = Vec::with_capacity(SOURCES[0] * ACTIVE);
        for i in 0..SOURCES[0] {
            sent.extend(column.predicted(i, 1.0 / 1024.0));
            let (body, state) = (&mut column.bodies[i], &mut column.states[i]);
            let (acc, jerk) = (state.acc, state.jerk);
            particle::advance(&settings, state.t + state.dt, body, state, acc, jerk)?;
            sources.write(i, body, state);
            column.schedule.insert(i, 1.0 / 1024.0);
        }
        column.schedule.take_due(1.0, &mut column.active);
        Ok(())
    })?;
    Ok(seconds / SOURCES[0] as f64)
}

/// Latency of a message in seconds, and seconds for each byte; both 0 on a single rank. They are derived from gathering
/// short and long messages on all ranks, on the assumption that MPI gathers by doubling.
fn network<C: Communicator>(timer: &Timer<'_, C>) -> Result<[f64; 2], Error> {
    let world = timer.world;
    if world.size() == 1 {
        return Ok([0.0; 2]);
    }
    let mut received = Vec::new();
    let short = timer.median(|_| Ok(world.all_gather(&[1.0, 2.0], &mut received)?))?;
    let (sent, counts) = (vec![1.0; LONG], vec![LONG; world.size()]);
    let long = timer.median(|_| Ok(world.all_gather_v(&sent, &counts, &mut received)?))?;
    let doublings = f64::from(world.size().next_power_of_two().ilog2());
    let terms = [2, LONG].map(|length| {
        let bytes = (world.size() - 1) * length * size_of::<f64>();
        [doublings, bytes as f64]
    });
    Ok(nonnegative(&terms, &[short, long]))
}
