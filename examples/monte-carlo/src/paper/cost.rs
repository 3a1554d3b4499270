//! The cost of a step on any number of ranks: work that the ranks divide, work that each of them does for itself, the sort with the terms of
//! equation 18, and the messages of [`traffic`](super::traffic) over a network.

use kirin_kit::communicator::network::Network;

use super::traffic::{Search, of_step};
use crate::profile::{Phase, Profile};

/// Work of one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Seconds a star in phases that divide among the ranks, but for the sort.
    pub divided: f64,
    /// Seconds a star for the potential and the duplicated arrays, which every rank finds for itself.
    pub potential: f64,
    /// Seconds of a comparison: of N log2 N in the sort of one rank.
    pub comparison: f64,
}

/// Seconds of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Phases that divide, without messages.
    pub divided: f64,
    /// Sort and exchange of stars, by equation 18.
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
    /// Fits the costs to the measured seconds of each phase, in steps on one rank with several numbers of stars.
    /// All measurements have the same relative weight. `None` if there are none.
    pub fn fitted(steps: &[(usize, Profile)]) -> Option<Self> {
        let mean = |ratio: &dyn Fn(f64, &Prediction) -> f64| {
            let logarithm =
                |(n, step): &(usize, Profile)| ratio(*n as f64, &parts(step)).max(1e-300).ln();
            (steps.iter().map(logarithm).sum::<f64>() / steps.len() as f64).exp()
        };
        (!steps.is_empty()).then(|| Self {
            divided: mean(&|n, parts| parts.divided / n),
            potential: mean(&|n, parts| parts.rest / n),
            comparison: mean(&|n, parts| parts.sort / (n * n.log2())),
        })
    }

    /// A step of `n` stars on so many ranks.
    pub fn predict(&self, n: usize, ranks: usize, network: &Network) -> Prediction {
        let own = n as f64 / ranks as f64;
        let mut prediction = Prediction {
            divided: self.divided * own,
            sort: self.sort_alone(own),
            rest: self.potential * n as f64,
        };
        if ranks == 1 {
            return prediction;
        }
        // The stars that a rank receives are sorted, too, and so are the samples; each rank looks for each sample among its stars.
        let samples = Search::of(n, ranks).samples;
        prediction.sort += self.sort_alone(own)
            + self.sort_alone(samples)
            + self.comparison * samples * own.max(2.0).log2();
        for calls in of_step(n, ranks) {
            let seconds = calls.seconds(ranks, network);
            match calls.phase {
                Phase::Sort => prediction.sort += seconds,
                _ => prediction.rest += seconds,
            }
        }
        prediction
    }

    fn sort_alone(&self, count: f64) -> f64 {
        self.comparison * count * count.max(2.0).log2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        Network::new(2e-6, 5e9)
    }

    fn costs() -> Costs {
        Costs {
            divided: 1e-6,
            potential: 1e-8,
            comparison: 5e-9,
        }
    }

    /// On one rank it is what was measured there.
    #[test]
    fn one_rank_costs_what_it_costs() {
        let step = Profile([0.1, 0.2, 0.3, 2.0, 0.5, 0.05, 0.2, 0.1]);
        let costs = Costs::fitted(&[(1_000_000, step)]).unwrap();
        let predicted = costs.predict(1_000_000, 1, &network());
        assert!((predicted.total() / step.total() - 1.0).abs() < 1e-12);
        assert!((predicted.sort - 0.5).abs() < 1e-12);
        assert_eq!(Costs::fitted(&[]), None);
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
        let costs = Costs::fitted(&steps).unwrap();
        assert!((costs.comparison / 3e-9 - 1.0).abs() < 1e-12);
    }

    /// Figure 9: the sort is fastest on a certain number of ranks, and this number grows with the number of stars. (In
    /// an earlier model one of p ranks had 8 p^2 samples. Its sort on 1024 ranks took the same time for all numbers of
    /// stars.)
    #[test]
    fn the_sort_has_a_best_number_of_ranks() {
        let sort = |n: usize, ranks: usize| costs().predict(n, ranks, &network()).sort;
        let best = |n: usize| {
            let ranks = (0..14).map(|k| 1_usize << k);
            ranks.min_by(|a, b| sort(n, *a).total_cmp(&sort(n, *b)))
        };
        let [few, more, many] = [100_000, 1_000_000, 10_000_000].map(best);
        assert!(
            Some(1) < few && few < more && more < many,
            "{few:?} {more:?} {many:?}"
        );
        assert!(many < Some(8192));
        assert!(sort(10_000_000, 1024) > 1.2 * sort(100_000, 1024));
    }

    /// A slower network makes each step longer, and nothing on one rank.
    #[test]
    fn the_network_counts() {
        let slow = Network::new(5e-5, 1e8);
        let total = |ranks, network: &Network| costs().predict(1_000_000, ranks, network).total();
        assert_eq!(total(1, &network()), total(1, &slow));
        // The radii and masses of all stars: 16 MB.
        assert!(total(64, &slow) - total(64, &network()) > 0.9 * 16e6 / 1e8);
    }
}
