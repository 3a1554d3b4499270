//! Sums whose error does not grow with the number of terms.

use std::iter::FromIterator;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// A sum that keeps what its additions round off (Neumaier 1974, ZAMM 54, 39): the result is as if it
/// had been summed with twice the digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// The sum as it is rounded.
    pub rounded: f64,
    /// What was rounded off.
    pub lost: f64,
}

impl Sum {
    /// The sum.
    pub fn value(&self) -> f64 {
        self.rounded + self.lost
    }
}

impl AddAssign<f64> for Sum {
    fn add_assign(&mut self, term: f64) {
        let sum = self.rounded + term;
        self.lost += if self.rounded.abs() >= term.abs() {
            (self.rounded - sum) + term
        } else {
            (term - sum) + self.rounded
        };
        self.rounded = sum;
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum += term);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rounded_off_is_kept() {
        let sum: Sum = [1.0, 1e100, 1.0, -1e100].into_iter().collect();
        assert_eq!(sum.value(), 2.0);
        let tenths: Sum = (0..1_000_000).map(|_| 0.1).collect();
        assert!((tenths.value() - 100_000.0).abs() < 1e-10);
    }
}
