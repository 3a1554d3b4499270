//! The distribution of the iterations of a loop over the threads (the chapter's `Loop_schedule`).

use std::ops::Range;

/// How `n` particles are distributed over workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Distribution {
    /// Each worker gets a run of neighbours; the first `n % workers` of them one more than the others
    #[default]
    Block,
    /// Particles are dealt like cards: worker r gets r, r + workers, ...
    Cyclic,
}

impl Distribution {
    /// The particles of worker `rank`, in order.
    pub fn of(self, rank: usize, workers: usize, n: usize) -> std::iter::StepBy<Range<usize>> {
        match self {
            Self::Block => block(rank, workers, n).step_by(1),
            Self::Cyclic => (rank.min(n)..n).step_by(workers),
        }
    }

    /// How many particles each worker has.
    pub fn counts(self, workers: usize, n: usize) -> Vec<usize> {
        (0..workers).map(|r| self.of(r, workers, n).len()).collect()
    }
}

/// The block of worker `rank`.
pub fn block(rank: usize, workers: usize, n: usize) -> Range<usize> {
    let (each, rest) = (n / workers, n % workers);
    let begin = |r: usize| r * each + r.min(rest);
    begin(rank)..begin(rank + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_someones() {
        for (n, workers) in [(6, 3), (7, 3), (1, 4), (0, 2), (100, 7)] {
            for distribution in [Distribution::Block, Distribution::Cyclic] {
                let parts = (0..workers).map(|r| distribution.of(r, workers, n));
                let mut all: Vec<usize> = parts.flatten().collect();
                all.sort_unstable();
                assert_eq!(all, (0..n).collect::<Vec<_>>(), "{distribution:?} {n}");
                let counts = distribution.counts(workers, n);
                assert_eq!(counts.iter().sum::<usize>(), n);
                assert!(counts[0] - counts[workers - 1] <= 1, "{counts:?}");
            }
        }
        let of = |d: Distribution, r| d.of(r, 3, 7).collect::<Vec<_>>();
        assert_eq!(of(Distribution::Block, 1), [3, 4]);
        assert_eq!(of(Distribution::Cyclic, 0), [0, 3, 6]);
    }
}
