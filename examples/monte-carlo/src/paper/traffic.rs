//! The messages of a step on several ranks: which collective operations the code calls, and how many bytes come into a rank.
//! `tests/traffic.rs` compares them with the counts of running ranks.

use kirin_kit::communicator::counted::Collective;
use kirin_kit::communicator::network::{Network, Parts};

use crate::partition::{BIN, Partition};
use crate::profile::Phase;
use crate::stars::WORDS;
use crate::sums::message;
use crate::time_step::Moments;
use kirin_kit::communicator::sample_sort::{FEWEST_SAMPLES, KEY_WORDS, SAMPLES};

/// Bytes of a number in a message.
const WORD: f64 = size_of::<u64>() as f64;

/// Fraction of the stars that a step of a Plummer sphere moves to another rank. The formula was fitted to counts on
/// 2 to 128 ranks and is within 3 % of them.
fn roaming(ranks: f64) -> f64 {
    1.0 / (1.0 + 3.8 * (ranks - 1.0).powf(-0.8))
}

/// Calls of one operation in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calls {
    /// The operation.
    pub collective: Collective,
    /// The phase that calls it.
    pub phase: Phase,
    /// Number of calls.
    pub calls: f64,
    /// Bytes that come from other ranks in all calls, as [`Counted`](kirin_kit::communicator::Counted) counts them.
    pub bytes: f64,
}

impl Calls {
    /// Seconds that the calls take on the slowest of so many ranks.
    pub fn seconds(&self, ranks: usize, network: &Network) -> f64 {
        if ranks == 1 || self.calls == 0.0 {
            return 0.0;
        }
        let each = self.bytes / self.calls;
        // An all-reduce brings the numbers of each other rank, which the kit's model takes as one block.
        let total = match self.collective {
            Collective::AllReduce => each / (ranks - 1) as f64,
            _ => each,
        };
        let parts = Parts {
            ranks,
            largest: total / ranks as f64,
            least: 0.0,
            total,
        };
        self.calls * network.seconds(self.collective, parts)
    }
}

/// What the search for the splitters of a sort takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Rounds.
    pub rounds: f64,
    /// Samples of all rounds together.
    pub samples: f64,
}

impl Search {
    /// The search for the splitters of `n` stars on so many ranks. In each round random samples divide an interval
    /// around each splitter. The next interval is the two gaps beside the splitter. Its length is on average 2 /
    /// samples of the old one, with the distribution Gamma(2). After several rounds the length is a product of such
    /// numbers, so its logarithm is nearly normal. The search ends in the round in which every star of the interval is
    /// a sample.
    pub fn of(n: usize, ranks: usize) -> Self {
        // Mean and variance of the logarithm of Gamma(2): 1 - 0.5772..., pi^2 / 6 - 1.
        const MEAN: f64 = 0.4228;
        const VARIANCE: f64 = 0.6449;
        let splitters = ranks as f64 - 1.0;
        let mut search = Self {
            rounds: 0.0,
            samples: 0.0,
        };
        let (mut open, mut mean, mut variance) = (splitters, (n as f64).ln(), 0.0_f64);
        // Of the last one there is half a chance.
        while open >= 0.5 {
            let each = (SAMPLES as f64).max(FEWEST_SAMPLES as f64 / open.max(1.0));
            search.rounds += 1.0;
            search.samples += open * each.min(mean.exp());
            open = splitters * part_above(each.ln(), mean, variance);
            // The first samples are not bound to their splitter's interval.
            let of_interval = if search.rounds == 1.0 {
                each * splitters
            } else {
                each
            };
            mean += MEAN - of_interval.ln();
            variance += VARIANCE;
        }
        search
    }
}

/// Part of a normal distribution above `limit`, within some percent of it.
fn part_above(limit: f64, mean: f64, variance: f64) -> f64 {
    if variance == 0.0 {
        return f64::from(u8::from(mean > limit));
    }
    let z = (limit - mean) / variance.sqrt();
    let tail = 0.5 * (-0.717 * z.abs() - 0.416 * z * z).exp();
    if z > 0.0 { tail } else { 1.0 - tail }
}

/// The calls of a step of `n` stars without collisions and escapers, in which each bin pays for its energy correction; a mean over the ranks.
pub fn of_step(n: usize, ranks: usize) -> Vec<Calls> {
    if ranks == 1 {
        return Vec::new();
    }
    let p = ranks as f64;
    let others = 1.0 - 1.0 / p;
    let most = Partition { n, ranks }.most_bins();
    let search = Search::of(n, ranks);
    let moments = (n / BIN * Moments::default().len()) as f64;
    let call = |phase, collective, calls, words: f64| Calls {
        collective,
        phase,
        calls,
        bytes: WORD * words,
    };
    let sum = |phase, width| {
        let words = (p - 1.0) * message(width, most) as f64;
        call(phase, Collective::AllGather, 1.0, words)
    };
    let keys = KEY_WORDS as f64 * search.samples;
    vec![
        call(
            Phase::TimeStep,
            Collective::AllGatherV,
            1.0,
            others * moments,
        ),
        call(Phase::TimeStep, Collective::AllReduce, 1.0, p - 1.0),
        // Numbers of stars, and of samples in each round.
        call(
            Phase::Sort,
            Collective::AllGather,
            1.0 + search.rounds,
            (p - 1.0) * (1.0 + search.rounds),
        ),
        call(
            Phase::Sort,
            Collective::AllGatherV,
            search.rounds,
            others * keys,
        ),
        call(
            Phase::Sort,
            Collective::AllReduce,
            search.rounds,
            (p - 1.0) * search.samples,
        ),
        // Numbers of stars to come, and the stars.
        call(
            Phase::Sort,
            Collective::AllToAllV,
            2.0,
            p - 1.0 + roaming(p) * (n * WORDS) as f64 / p,
        ),
        call(
            Phase::Synchronisation,
            Collective::AllGatherV,
            2.0,
            2.0 * others * n as f64,
        ),
        sum(Phase::Correction, 1),
        // Whether anybody has escaped.
        call(Phase::Correction, Collective::AllGather, 1.0, p - 1.0),
        sum(Phase::Diagnostics, crate::diagnostics::SUMMED),
    ]
}
