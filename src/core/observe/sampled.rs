//! Estimates the time of all blocks from the times of a sample.
//!
//! Small blocks are sorted into classes; in a class the numbers of pairs differ by less than a factor of two. Some
//! blocks of each class are timed, and their median is taken for all blocks of the class. In a mean, one timed block
//! that another process interrupted would count for all blocks that it stands for. Large blocks are all timed, and
//! their times are added.

use crate::force::Phases;
use crate::random::Random;

/// Blocks with fewer pairs are small.
pub const SMALL: u64 = 1 << 17;

/// The first blocks of a class are all timed, and later one in so many.
const FIRST: u64 = 16;
const SAMPLED: u32 = 64;

/// Numbers of pairs below 1, 2, 4, ..., `SMALL`.
const CLASSES: usize = SMALL.ilog2() as usize + 1;

/// A time beyond so many times the median of its class is another process's.
pub const OUTLYING: f64 = 3.0;

/// Times that are kept of each class. With more, a later one takes the place of a random one.
const KEPT: usize = 24;

/// A time: the whole, transfer, prediction, joining, and again.
const PARTS: usize = 5;
type Parts<T> = [T; PARTS];

/// Small blocks with about the same number of pairs.
#[derive(Clone, Copy)]
struct Class {
    blocks: u64,
    timed: u64,
    /// Times of timed blocks in seconds; `timed` of them, at most `KEPT`.
    samples: [Parts<f32>; KEPT],
}

/// The blocks of a cluster.
pub struct Sampled {
    small: [Class; CLASSES],
    large: Parts<f64>,
    large_blocks: u64,
    /// How many small blocks are left until the next timed one.
    until_timed: u32,
    random: Random,
}

/// What all blocks took, as far as the timed ones tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// All of it.
    pub seconds: f64,
    /// The standard error of that.
    pub error: f64,
    /// Copies between host and device.
    pub transfer: f64,
    /// Prediction.
    pub prediction: f64,
    /// Joining of partial sums.
    pub joining: f64,
    /// Leaves summed again, of all threads together.
    pub again: f64,
    /// Small blocks.
    pub blocks: u64,
    /// Those of them that were timed.
    pub timed: u64,
}

impl Default for Sampled {
    fn default() -> Self {
        let class = Class {
            blocks: 0,
            timed: 0,
            samples: [[0.0; PARTS]; KEPT],
        };
        Self {
            small: [class; CLASSES],
            large: [0.0; PARTS],
            large_blocks: 0,
            until_timed: 0,
            random: Random::default(),
        }
    }
}

/// The class of small blocks; `None` for large ones.
#[inline]
fn class(pairs: u64) -> Option<usize> {
    (pairs < SMALL).then(|| (u64::BITS - pairs.leading_zeros()) as usize)
}

impl Sampled {
    /// Whether the next block, which has so many pairs, is to be timed.
    #[inline]
    pub fn wants(&mut self, pairs: u64) -> bool {
        let Some(class) = class(pairs) else {
            return true;
        };
        if self.small[class].timed < FIRST {
            return true;
        }
        if self.until_timed > 0 {
            self.until_timed -= 1;
            return false;
        }
        // At random, since clients repeat themselves.
        self.until_timed = self.random.below(2 * SAMPLED - 1);
        true
    }

    /// Counts a block that was not timed.
    #[inline]
    pub fn count(&mut self, pairs: u64) {
        if let Some(class) = class(pairs) {
            self.small[class].blocks += 1;
        }
    }

    /// Counts a block that took so many seconds.
    pub fn add(&mut self, pairs: u64, seconds: f64, phases: Phases) {
        let time = [
            seconds,
            phases.transfer.as_secs_f64(),
            phases.prediction.as_secs_f64(),
            phases.joining.as_secs_f64(),
            phases.again.as_secs_f64(),
        ];
        let Some(class) = class(pairs) else {
            self.large_blocks += 1;
            for (sum, part) in self.large.iter_mut().zip(time) {
                *sum += part;
            }
            return;
        };
        let class = &mut self.small[class];
        let place = match class.timed {
            timed if timed < KEPT as u64 => timed as usize,
            timed => self.random.below(timed.min(u32::MAX.into()) as u32) as usize,
        };
        if let Some(sample) = class.samples.get_mut(place) {
            *sample = time.map(|part| part as f32);
        }
        class.blocks += 1;
        class.timed += 1;
    }

    /// The median time of the blocks with about so many pairs, where enough of them were timed to know it.
    pub fn usual(&self, pairs: u64) -> Option<f64> {
        let class = &self.small[class(pairs)?];
        (class.timed >= FIRST / 2).then(|| class.median().0)
    }

    /// What all blocks took.
    pub fn estimate(&self) -> Estimate {
        let mut sums = self.large;
        let mut variance = 0.0;
        let (mut blocks, mut timed) = (0, 0);
        for class in self.small.iter().filter(|c| c.timed > 0) {
            let count = class.blocks as f64;
            let (median, error) = class.median();
            for (sum, part) in sums.iter_mut().zip(class.parts(median)) {
                *sum += part * count;
            }
            variance += (error * count).powi(2);
            blocks += class.blocks;
            timed += class.timed;
        }
        let [seconds, transfer, prediction, joining, again] = sums;
        Estimate {
            seconds,
            error: variance.sqrt(),
            transfer,
            prediction,
            joining,
            again,
            blocks,
            timed,
        }
    }
}

impl Class {
    fn kept(&self) -> &[Parts<f32>] {
        &self.samples[..self.timed.min(KEPT as u64) as usize]
    }

    /// The median time, and its standard error.
    fn median(&self) -> (f64, f64) {
        let count = self.kept().len();
        let mut values = [0.0; KEPT];
        for (value, sample) in values.iter_mut().zip(self.kept()) {
            *value = f64::from(sample[0]);
        }
        let values = &mut values[..count];
        values.sort_unstable_by(f64::total_cmp);
        if values.is_empty() {
            return (0.0, 0.0);
        }
        let median = (values[(count - 1) / 2] + values[count / 2]) / 2.0;
        // Of a normal distribution the quartiles are 1.35 standard deviations apart, and the median's error is
        // 1.25 times that of the mean.
        let deviation = (values[count - 1 - count / 4] - values[count / 4]) / 1.35;
        (median, 1.25 * deviation / (count as f64).sqrt())
    }

    /// The parts of the median time, in the proportions that they have in the sum of the kept times. Interrupted times
    /// are left out of this sum. (A median of each part would be wrong: a block with prediction may be followed by
    /// several without, and the median of the prediction would be 0.)
    fn parts(&self, median: f64) -> Parts<f64> {
        let mut sums = [0.0; PARTS];
        let undisturbed = |sample: &&Parts<f32>| f64::from(sample[0]) <= OUTLYING * median;
        for sample in self.kept().iter().filter(undisturbed) {
            for (sum, part) in sums.iter_mut().zip(sample) {
                *sum += f64::from(*part);
            }
        }
        sums.map(|sum| median * sum / sums[0].max(f64::MIN_POSITIVE))
    }
}

impl Estimate {
    /// The same where no more than `limit` seconds can have been spent: the shares stay.
    pub fn at_most(self, limit: f64) -> Self {
        let factor = match self.seconds > limit {
            true => limit.max(0.0) / self.seconds,
            false => 1.0,
        };
        Self {
            seconds: self.seconds * factor,
            error: self.error.min(limit.max(0.0)),
            transfer: self.transfer * factor,
            prediction: self.prediction * factor,
            joining: self.joining * factor,
            again: self.again * factor,
            ..self
        }
    }

    /// What is neither transfer nor prediction nor joining.
    pub fn force(&self) -> f64 {
        (self.seconds - self.transfer - self.prediction - self.joining).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const NONE: Phases = Phases {
        transfer: Duration::ZERO,
        prediction: Duration::ZERO,
        joining: Duration::ZERO,
        again: Duration::ZERO,
    };

    /// Blocks of these numbers of pairs, whose times `time` tells.
    fn run(blocks: impl Iterator<Item = u64>, mut time: impl FnMut(u64) -> f64) -> Sampled {
        let mut sampled = Sampled::default();
        for pairs in blocks {
            let seconds = time(pairs);
            match sampled.wants(pairs) {
                true => sampled.add(pairs, seconds, NONE),
                false => sampled.count(pairs),
            }
        }
        sampled
    }

    #[test]
    fn blocks_of_every_size_are_estimated_from_a_few() {
        let sizes = [0, 1, 100, 1000, 30_000, 100_000];
        let mut all = 0.0;
        let blocks = (0..60_000).map(|k| sizes[k % sizes.len()]);
        let sampled = run(blocks, |pairs| {
            let seconds = 1e-7 + pairs as f64 * 1e-9;
            all += seconds;
            seconds
        });
        let found = sampled.estimate();
        assert_eq!(found.blocks, 60_000);
        assert!((700..1500).contains(&found.timed), "{}", found.timed);
        assert!((found.seconds / all - 1.0).abs() < 1e-4, "{found:?}, {all}");
    }

    #[test]
    fn interruptions_are_not_multiplied() {
        // One block in 20 waits for another process: a mean of the timed ones is 30 times too large.
        let mut k = 0_u32;
        let sampled = run(std::iter::repeat_n(1000, 20_000), |_| {
            k += 1;
            let noise = f64::from(k * 7 % 11) * 1e-8;
            1e-6 + noise + if k % 20 == 7 { 6e-4 } else { 0.0 }
        });
        let found = sampled.estimate();
        assert!((found.seconds / 0.021 - 1.0).abs() < 0.1, "{found:?}");
        assert!((1e-5..2e-3).contains(&found.error), "{found:?}");
        assert!(sampled.usual(1000).is_some_and(|t| t < 1.2e-6));
        assert_eq!(sampled.usual(60), None);
    }

    #[test]
    fn a_part_that_few_blocks_have_is_not_lost() {
        let mut sampled = Sampled::default();
        for block in 0..FIRST {
            // Every fourth one predicts; one was interrupted there.
            let (prediction, interruption) = match block {
                8 => (5.0, 5.0),
                block if block % 4 == 0 => (0.4, 0.4),
                _ => (0.0, 0.0),
            };
            let prediction = Duration::from_secs_f64(prediction);
            sampled.add(100, 1.0 + interruption, Phases { prediction, ..NONE });
        }
        let found = sampled.estimate();
        assert_eq!(found.seconds, FIRST as f64);
        let share = found.prediction / found.seconds;
        assert!((share - 1.2 / 16.2).abs() < 1e-6, "{share}");
    }

    #[test]
    fn times_of_large_blocks_are_added() {
        let mut sampled = Sampled::default();
        for seconds in [1.0, 2.0, 6.0] {
            assert!(sampled.wants(SMALL));
            let transfer = Duration::from_secs_f64(seconds / 2.0);
            sampled.add(SMALL, seconds, Phases { transfer, ..NONE });
        }
        let found = sampled.estimate();
        assert_eq!(
            (found.seconds, found.transfer, found.error),
            (9.0, 4.5, 0.0)
        );
        assert_eq!(found.force(), 4.5);
        let less = found.at_most(6.0);
        assert_eq!((less.seconds, less.transfer, less.force()), (6.0, 3.0, 3.0));
        assert_eq!(found.at_most(10.0), found);
    }
}
