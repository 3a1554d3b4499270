//! The least, mean and greatest of a number over all ranks: a run takes as long as its slowest rank.

use serde_json::{Value, json};

use super::{Communicator, Operation, Result};

/// A number over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverRanks {
    /// On the rank that has least.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// On the rank that has most.
    pub greatest: f64,
}

impl OverRanks {
    /// These numbers of all ranks, the same on every rank.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn of<C: Communicator>(world: &C, numbers: &[f64]) -> Result<Vec<Self>> {
        let all = |operation| {
            let mut joined = numbers.to_vec();
            world.all_reduce(operation, &mut joined).map(|()| joined)
        };
        let (least, sum, greatest) = (
            all(Operation::Min)?,
            all(Operation::Sum)?,
            all(Operation::Max)?,
        );
        let number = |k: usize| Self {
            least: least[k],
            mean: sum[k] / world.size() as f64,
            greatest: greatest[k],
        };
        Ok((0..numbers.len()).map(number).collect())
    }

    /// The number in parts of `unit`.
    pub fn per(self, unit: f64) -> Self {
        Self {
            least: self.least / unit,
            mean: self.mean / unit,
            greatest: self.greatest / unit,
        }
    }

    /// For programs.
    pub fn json(self) -> Value {
        json!({"least": self.least, "mean": self.mean, "greatest": self.greatest})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::threads;

    #[test]
    fn least_mean_and_greatest() {
        let all = threads::run(3, |world| {
            let rank = world.rank() as f64;
            OverRanks::of(&world, &[rank * rank, -rank])
        });
        let expected = |least, mean, greatest| OverRanks {
            least,
            mean,
            greatest,
        };
        for numbers in all.unwrap() {
            let [squares, negatives] = numbers[..] else {
                panic!("two numbers")
            };
            assert_eq!(squares, expected(0.0, 5.0 / 3.0, 4.0));
            assert_eq!(negatives.per(2.0), expected(-1.0, -0.5, 0.0));
        }
    }
}
