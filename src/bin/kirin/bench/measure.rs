//! One measurement in the worker: one sample of one case on one loaded cluster.

use std::fmt;
use std::str::FromStr;
use std::time::Instant;

use clap::ValueEnum;
use kirin::client::{Block, Grape};
use kirin_core::sources::particle::JParticle;
use kirin_report::machine::process_seconds;
use serde::{Deserialize, Serialize};

use crate::candidate::MeasuredInterface;
use crate::model::{self, Random, Vec3};
use crate::worker::CLUSTER;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// firsthalf and lasthalf, at one time
    Force,
    /// The same without softening, of GRAPE-5
    Unsoftened,
    /// The same without softening, each i-particle at 1e-9 of its distance beside a j-particle. Single precision cannot
    /// resolve such a pair: kirin sums the pairs around it again in double precision
    Close,
    /// firsthalf and lasthalf2, at one time
    Nearest,
    /// set_ti, firsthalf and lasthalf: each block has a new time
    Predict,
    /// set_ti, firsthalf, lasthalf, and set_j_particle of the block
    Step,
    /// set_j_particle alone, address after address
    Load,
    /// set_j_particle of 32 scattered addresses after a force call, with the firsthalf that takes them in
    Update,
    /// potentials alone, of NBODY6++
    Potential,
    /// irregular forces, of NBODY6++
    Irregular,
}

impl Case {
    /// Every case of GRAPE-6.
    const ALL: &[Self] = &[
        Self::Force,
        Self::Close,
        Self::Nearest,
        Self::Predict,
        Self::Step,
        Self::Load,
        Self::Update,
    ];

    /// The cases that libraries of an interface have.
    pub fn of(interface: MeasuredInterface) -> &'static [Self] {
        match interface {
            MeasuredInterface::Grape6 => Self::ALL,
            MeasuredInterface::Grape5 => &[Self::Force, Self::Unsoftened, Self::Close, Self::Load],
            MeasuredInterface::Nbody6 => &[
                Self::Force,
                Self::Potential,
                Self::Irregular,
                Self::Load,
                Self::Update,
            ],
        }
    }

    /// Whether it asks for forces, so that its unit is a pair; else its unit is a call.
    pub fn is_force(self) -> bool {
        !matches!(self, Self::Load | Self::Update)
    }

    /// Whether this case is measured for blocks of this size. For a whole system one prediction is negligible
    /// beside the forces, so its cost is not measured there.
    pub fn wants(self, ni: Size) -> bool {
        match self {
            Self::Force
            | Self::Unsoftened
            | Self::Close
            | Self::Nearest
            | Self::Potential
            | Self::Irregular => true,
            Self::Predict | Self::Step => ni != Size::Full,
            Self::Load | Self::Update => false,
        }
    }
}

/// Number of i-particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// So many i-particles.
    Block(usize),
    /// The whole system.
    Full,
}

impl FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("full", _) => Ok(Self::Full),
            (_, Ok(ni)) if ni > 0 => Ok(Self::Block(ni)),
            _ => Err("neither `full` nor a number from 1".to_owned()),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(ni) => ni.fmt(f),
            Self::Full => f.write_str("full"),
        }
    }
}

/// A question about the loaded cluster.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Measurement {
    /// What to do.
    pub case: Case,
    /// For how many i-particles.
    pub ni: Size,
    /// Square of the softening length.
    pub eps2: f64,
    /// For about how long.
    pub seconds: f64,
    /// Whether the result is processor time of all threads together.
    pub processor_time: bool,
}

/// A position very close to `x`.
pub(super) fn beside(x: Vec3) -> Vec3 {
    x.map(|c| c * (1.0 + 1e-9))
}

impl Measurement {
    /// The square of the softening length of the case.
    pub fn eps2(&self) -> f64 {
        match self.case {
            Case::Unsoftened | Case::Close => 0.0,
            _ => self.eps2,
        }
    }

    /// Reads the clock by which operations are timed.
    fn now(&self, begin: Instant) -> f64 {
        match self.processor_time {
            true => process_seconds(),
            false => begin.elapsed().as_secs_f64(),
        }
    }
}

/// The answer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds for one operation: a block (of `full`: one call), or one set_j_particle.
    pub seconds: f64,
    /// Pairs in an operation, 1 where no force is computed.
    pub units: f64,
}

/// Blocks that a sample goes round in.
pub(super) const BLOCKS: usize = 8;
/// Addresses written by one operation of the cases without forces.
pub(super) const WRITES: usize = 32;
/// From block to block of a sample, time advances by this: little enough for a million blocks.
const TICK: f64 = 1.0 / (1_u64 << 36) as f64;

/// The cluster that samples are taken from.
#[derive(Default)]
pub struct Bench {
    stars: Vec<JParticle>,
    ti: f64,
}

/// Some i-particles, in calls of at most the library's pipelines.
struct Request {
    addresses: Vec<usize>,
    calls: Vec<Block>,
}

impl Bench {
    /// Loads a cluster of `n` stars.
    pub fn load(&mut self, grape: &Grape, n: usize, seed: u64) {
        let mut random = Random::new(seed);
        self.stars = model::plummer(n, seed);
        model::set_in_motion(&mut self.stars, false, &mut random);
        for address in 0..n {
            self.write(grape, address);
        }
        self.ti = 0.0;
        // Some libraries see what was written only after the time is set.
        grape.set_ti(CLUSTER, self.ti);
    }

    fn write(&self, grape: &Grape, address: usize) {
        let a = i32::try_from(address).expect("addresses are 32-bit integers");
        grape.set_j_particle(CLUSTER, a, 0.5_f64.powi(10), &self.stars[address]);
    }

    /// Takes a sample.
    ///
    /// # Errors
    ///
    /// The library lacks the call in question.
    pub fn sample(&mut self, grape: &Grape, what: &Measurement) -> Result<Sample, String> {
        let n = self.stars.len();
        if n == 0 {
            return Err("no cluster is loaded".to_owned());
        }
        if !Case::of(MeasuredInterface::Grape6).contains(&what.case) {
            return Err("GRAPE-6 has no such call".to_owned());
        }
        let size = match what.ni {
            _ if !what.case.is_force() => 1,
            Size::Block(ni) => ni.min(n),
            Size::Full => grape.npipes().min(n),
        };
        let mut walk = Walk::new(n);
        let mut requests: Vec<Request> = (0..BLOCKS)
            .map(|_| {
                let addresses = walk.by_ref().take(size).collect();
                self.request(what.case, addresses, grape.npipes())
            })
            .collect();
        if what.case == Case::Nearest {
            let first = &mut requests[0].calls[0];
            grape.firsthalf(CLUSTER, n, first, what.eps2());
            if grape.lasthalf2(CLUSTER, n, first, what.eps2()).is_none() {
                grape.lasthalf(CLUSTER, n, first, what.eps2());
                return Err("it has no g6calc_lasthalf2_".to_owned());
            }
        }
        let seconds = match what.case {
            Case::Load => self.time_writes(grape, what, &mut requests[0].calls[0], false),
            Case::Update => self.time_writes(grape, what, &mut requests[0].calls[0], true),
            _ => self.time_forces(grape, what, &mut requests),
        };
        let units = match what.case.is_force() {
            true => (size * n) as f64,
            false => 1.0,
        };
        Ok(Sample { seconds, units })
    }

    /// The block of the stars at `addresses`.
    fn request(&self, case: Case, addresses: Vec<usize>, npipes: usize) -> Request {
        let calls = addresses
            .chunks(npipes)
            .map(|some| {
                let mut block = Block::default();
                block.resize(some.len());
                for (k, &a) in some.iter().enumerate() {
                    let (x, v) = model::predict(&self.stars[a], self.ti);
                    (block.index[k], block.x[k], block.v[k]) = (model::label(a), x, v);
                    if case == Case::Close {
                        (block.index[k], block.x[k]) = (-1, beside(x));
                    }
                }
                block
            })
            .collect();
        Request { addresses, calls }
    }

    /// Seconds for one block.
    fn time_forces(&mut self, grape: &Grape, what: &Measurement, requests: &mut [Request]) -> f64 {
        let n = self.stars.len();
        let mut turn = 0;
        repeat(what, || {
            let Request { addresses, calls } = &mut requests[turn];
            turn = (turn + 1) % BLOCKS;
            if matches!(what.case, Case::Predict | Case::Step) {
                self.ti += TICK;
                grape.set_ti(CLUSTER, self.ti);
            }
            for block in calls {
                grape.firsthalf(CLUSTER, n, block, what.eps2());
                if what.case == Case::Nearest {
                    grape.lasthalf2(CLUSTER, n, block, what.eps2());
                } else {
                    grape.lasthalf(CLUSTER, n, block, what.eps2());
                }
            }
            if what.case == Case::Step {
                for &address in &*addresses {
                    self.stars[address].t = self.ti;
                    self.write(grape, address);
                }
            }
        })
    }

    /// Seconds for one `set_j_particle`. If a block is under way (`pending`), a library may store writes in a log and
    /// apply them at the next `firsthalf`. The time of that `firsthalf` is therefore included.
    fn time_writes(
        &mut self,
        grape: &Grape,
        what: &Measurement,
        block: &mut Block,
        pending: bool,
    ) -> f64 {
        let n = self.stars.len();
        if !pending {
            let mut addresses = (0..n).cycle();
            let seconds = repeat(what, || {
                for address in addresses.by_ref().take(WRITES) {
                    self.write(grape, address);
                }
            });
            return seconds / WRITES as f64;
        }
        let mut addresses = Walk::new(n);
        let begin = Instant::now();
        let (mut spent, mut rounds) = (0.0, 0.0);
        while rounds == 0.0 || begin.elapsed().as_secs_f64() < what.seconds {
            // One j-particle: the force itself costs next to nothing.
            grape.firsthalf(CLUSTER, 1, block, what.eps2());
            grape.lasthalf(CLUSTER, 1, block, what.eps2());
            let start = what.now(begin);
            for address in addresses.by_ref().take(WRITES) {
                self.write(grape, address);
            }
            grape.firsthalf(CLUSTER, 1, block, what.eps2());
            spent += what.now(begin) - start;
            grape.lasthalf(CLUSTER, 1, block, what.eps2());
            rounds += 1.0;
        }
        spent / (rounds * WRITES as f64)
    }
}

/// A walk that visits all of `0..n` in no obvious order, again and again.
pub(super) struct Walk {
    at: usize,
    stride: usize,
    n: usize,
}

impl Walk {
    pub(super) fn new(n: usize) -> Self {
        let mut stride = (n as f64 * 0.618) as usize | 1;
        while greatest_common_divisor(stride, n) > 1 {
            stride += 2;
        }
        let stride = stride % n;
        Self { at: 0, stride, n }
    }
}

impl Iterator for Walk {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        self.at += self.stride;
        if self.at >= self.n {
            self.at -= self.n;
        }
        Some(self.at)
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// Seconds for one operation: the mean over about the measurement's length, after one that does not count.
pub(super) fn repeat(what: &Measurement, mut operation: impl FnMut()) -> f64 {
    operation();
    let (mut batch, mut done) = (1_u32, 0_u32);
    let begin = Instant::now();
    let start = what.now(begin);
    loop {
        for _ in 0..batch {
            operation();
        }
        done += batch;
        let elapsed = begin.elapsed().as_secs_f64();
        if elapsed >= what.seconds {
            return (what.now(begin) - start) / f64::from(done);
        }
        // Looking at the clock costs as much as some operations.
        if elapsed < what.seconds / 64.0 {
            batch *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_visits_every_address() {
        for n in [2, 3, 48, 1000, 1024] {
            let mut seen = vec![false; n];
            Walk::new(n)
                .take(n)
                .for_each(|address| seen[address] = true);
            assert!(seen.iter().all(|&s| s), "{n}");
        }
    }

    #[test]
    fn the_mean_is_of_all_operations() {
        let mut count = 0;
        let what = Measurement {
            case: Case::Force,
            ni: Size::Full,
            eps2: 0.0,
            seconds: 0.01,
            processor_time: false,
        };
        let mean = repeat(&what, || {
            count += 1;
            std::thread::sleep(std::time::Duration::from_millis(1));
        });
        assert!((0.001..0.1).contains(&mean), "{mean}");
        assert!(count >= 2);
    }
}
