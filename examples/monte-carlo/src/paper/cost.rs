//! The cost of a step on any number of ranks: phases that are divided, phases that are not, and equation 18 for the
//! sort.

use crate::profile::{Phase, Profile};
use crate::sample_sort::SAMPLES;
use crate::stars::WORDS;

/// Numbers of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Seconds a star in phases that divide among the ranks, but for the sort.
    pub divided: f64,
    /// Seconds a star for the potential, which every rank finds for itself.
    pub potential: f64,
    /// Seconds of a comparison: of N log2 N in the sort of one rank.
    pub comparison: f64,
    /// Seconds until a short message has arrived.
    pub latency: f64,
    /// Bytes per second into a rank.
    pub bandwidth: f64,
}

/// Seconds of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Phases that divide.
    pub divided: f64,
    /// Sort and redistribution, by equation 18.
    pub sort: f64,
    /// The rest: potential, duplicated arrays, sums.
    pub rest: f64,
}

impl Prediction {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.divided + self.sort + self.rest
    }
}

/// Phases that divide among the ranks.
const DIVIDED: [Phase; 5] = [
    Phase::TimeStep,
    Phase::Relaxation,
    Phase::Orbits,
    Phase::Correction,
    Phase::Diagnostics,
];

/// Seconds of a profile in phases that divide, in the sort, and in the rest.
pub fn parts(profile: &Profile) -> Prediction {
    let of = |phase: Phase| profile.0[phase as usize];
    Prediction {
        divided: DIVIDED.into_iter().map(of).sum(),
        sort: of(Phase::Sort),
        rest: of(Phase::Potential) + of(Phase::Synchronisation),
    }
}

impl Costs {
    /// Fitted to the seconds of each phase in a step of some numbers of stars on one rank, all of them with equal
    /// relative weight; and a network. `None` without any.
    pub fn fitted(steps: &[(usize, Profile)], latency: f64, bandwidth: f64) -> Option<Self> {
        let mean = |ratio: &dyn Fn(f64, &Prediction) -> f64| {
            let logarithm =
                |(n, step): &(usize, Profile)| ratio(*n as f64, &parts(step)).max(1e-300).ln();
            (steps.iter().map(logarithm).sum::<f64>() / steps.len() as f64).exp()
        };
        (!steps.is_empty()).then(|| Self {
            divided: mean(&|n, parts| parts.divided / n),
            potential: mean(&|n, parts| parts.rest / n),
            comparison: mean(&|n, parts| parts.sort / (n * n.log2())),
            latency,
            bandwidth,
        })
    }

    /// A step of `n` stars on so many ranks.
    pub fn predict(&self, n: usize, ranks: usize) -> Prediction {
        let (n, p) = (n as f64, ranks as f64);
        let own = n / p;
        let comparisons = |count: f64| self.comparison * count * count.max(2.0).log2();
        let star = (WORDS * size_of::<u64>()) as f64;
        let double = size_of::<f64>() as f64;
        let alone = ranks == 1;
        let network = |seconds: f64| if alone { 0.0 } else { seconds };
        // s p samples for each of s splitters a rank.
        let samples = SAMPLES as f64 * p * p;
        let sort = comparisons(own)
            + network(comparisons(own))
            + network(comparisons(samples))
            + network(self.comparison * p * own.max(2.0).log2())
            + network(2.0 * own * star / self.bandwidth + samples * 2.0 * double / self.bandwidth)
            + network(self.latency * (2.0 * p + 4.0 * p.log2()));
        let rest = self.potential * n
            + network(2.0 * double * n * (1.0 - 1.0 / p) / self.bandwidth)
            + network(8.0 * self.latency * p.log2());
        Prediction {
            divided: self.divided * own,
            sort,
            rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs() -> Costs {
        Costs {
            divided: 1e-6,
            potential: 1e-8,
            comparison: 5e-9,
            latency: 2e-6,
            bandwidth: 5e9,
        }
    }

    /// On one rank it is what was measured there.
    #[test]
    fn one_rank_costs_what_it_costs() {
        let step = Profile([0.1, 0.2, 0.3, 2.0, 0.5, 0.05, 0.2, 0.1]);
        let costs = Costs::fitted(&[(1_000_000, step)], 1e-6, 1e9).unwrap();
        let predicted = costs.predict(1_000_000, 1);
        assert!((predicted.total() / step.total() - 1.0).abs() < 1e-12);
        assert!((predicted.sort - 0.5).abs() < 1e-12);
        assert_eq!(Costs::fitted(&[], 1e-6, 1e9), None);
    }

    /// Times that follow equation 18, some of them too long and some as much too short, give its constant.
    #[test]
    fn a_fit_finds_what_a_comparison_costs() {
        let step = |n: usize, error: f64| {
            let mut step = Profile([1.0; 8]);
            step.0[Phase::Sort as usize] = 3e-9 * n as f64 * (n as f64).log2() * error;
            (n, step)
        };
        let steps = [step(10_000, 1.25), step(100_000, 1.0), step(1_000_000, 0.8)];
        let costs = Costs::fitted(&steps, 1e-6, 1e9).unwrap();
        assert!((costs.comparison / 3e-9 - 1.0).abs() < 1e-12);
    }

    /// Figure 9: the sort is fastest on some number of ranks, of which there are more where there are more stars.
    #[test]
    fn the_sort_has_a_best_number_of_ranks() {
        let best = |n: usize| {
            let ranks = (0..14).map(|k| 1_usize << k);
            ranks.min_by(|a, b| {
                costs()
                    .predict(n, *a)
                    .sort
                    .total_cmp(&costs().predict(n, *b).sort)
            })
        };
        let [few, more, many] = [100_000, 1_000_000, 10_000_000].map(best);
        assert!(
            Some(1) < few && few < more && more < many,
            "{few:?} {more:?} {many:?}"
        );
        assert!(many < Some(8192));
    }
}
