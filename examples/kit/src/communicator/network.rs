//! A model of the network between ranks: how long a collective operation takes.
//!
//! A network is a part of a JSON file:
//!
//! ```json
//! {
//!   "latency": 2e-6,
//!   "bandwidth": 1e9,
//!   "ranks_per_node": 2,
//!   "all_gather": "doubling",
//!   "all_gather_v": "mpich",
//!   "all_to_all_v": "pairwise",
//!   "reduce_scatter": "mpich"
//! }
//! ```
//!
//! The last four lines name the algorithms with which an MPI library carries out its collective operations. They matter more
//! than latency and bandwidth do: the ring needs p - 1 messages one after the other where doubling needs log2 p.

use serde::{Deserialize, Serialize};

use super::counted::Collective;

/// MPICH uses doubling if all parts together have fewer bytes: the first limit is for gatherings on a number of ranks
/// that is no power of two, the second for all other operations. (Defaults of `MPIR_CVAR_ALLGATHER_SHORT_MSG_SIZE` and
/// `_LONG_MSG_SIZE`.)
const MPICH_SHORT: f64 = 81_920.0;
const MPICH_LONG: f64 = 524_288.0;

/// How an MPI library carries out a collective operation on p ranks. L is the latency, W the bandwidth of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Recursive doubling or halving, Bruck's algorithm: ceil(log2 p) rounds, each of which moves twice as much as the round
    /// before. ceil(log2 p) L + bytes / W
    Doubling,
    /// Each part is passed from neighbour to neighbour, as MPICH up to 1.2.5 gathers. A round lasts as long as its largest part:
    /// (p - 1) (L + largest / W)
    Ring,
    /// A message between each two ranks: (p - 1) L + bytes / W
    Pairwise,
    /// A reduction of everything to one rank, which then sends the parts, as MPICH up to 1.2.5 does `MPI_Reduce_scatter`:
    /// ceil(log2 p) (L + total / W) + (p - 1) L + total / W
    Root,
    /// MPICH since 1.2.6 (Thakur, Rabenseifner and Gropp 2005): doubling for short data, for long data the ring (gatherings) or pairs
    /// (reductions)
    Mpich,
}

/// The data of a collective operation: one part for each rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// Number of ranks, p.
    pub ranks: usize,
    /// Bytes of the largest part.
    pub largest: f64,
    /// Bytes of the smallest part, which is not sent to the rank that has it.
    pub least: f64,
    /// Bytes of all parts.
    pub total: f64,
}

impl Parts {
    /// Parts of `each` bytes.
    pub fn equal(ranks: usize, each: f64) -> Self {
        Self {
            ranks,
            largest: each,
            least: each,
            total: ranks as f64 * each,
        }
    }
}

/// A network and the algorithms of its MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Seconds until a short message has arrived, L.
    pub latency: f64,
    /// Bytes per second into a node.
    pub bandwidth: f64,
    /// Ranks that share the bandwidth of a node.
    pub ranks_per_node: usize,
    /// Algorithm of `MPI_Allgather`.
    pub all_gather: Algorithm,
    /// Algorithm of `MPI_Allgatherv`.
    pub all_gather_v: Algorithm,
    /// Algorithm of `MPI_Alltoallv`.
    pub all_to_all_v: Algorithm,
    /// Algorithm of `MPI_Reduce_scatter`.
    pub reduce_scatter: Algorithm,
}

impl Network {
    /// A network with one rank a node, whose MPI library has the algorithms for short messages.
    pub fn new(latency: f64, bandwidth: f64) -> Self {
        Self {
            latency,
            bandwidth,
            ranks_per_node: 1,
            all_gather: Algorithm::Doubling,
            all_gather_v: Algorithm::Doubling,
            all_to_all_v: Algorithm::Pairwise,
            reduce_scatter: Algorithm::Doubling,
        }
    }

    /// Whether there can be such a network.
    ///
    /// # Errors
    ///
    /// There cannot; in words.
    pub fn validate(&self) -> Result<(), String> {
        let is_time = self.latency >= 0.0 && self.latency.is_finite();
        match is_time && self.bandwidth > 0.0 && self.ranks_per_node > 0 {
            true => Ok(()),
            false => Err(
                "the latency of a network must be 0 or more, its bandwidth and ranks_per_node above 0"
                    .to_owned(),
            ),
        }
    }

    /// Seconds until the last rank has its data. Barrier, broadcast and gathering to one rank are modelled as doubling,
    /// a shift as one message. A reduction for all ranks is modelled as a reduction of parts, which are then gathered
    /// (Rabenseifner 2004).
    pub fn seconds(&self, collective: Collective, parts: Parts) -> f64 {
        let of = |algorithm| self.seconds_of(collective, algorithm, parts);
        match collective {
            Collective::AllGather => of(self.all_gather),
            Collective::AllGatherV => of(self.all_gather_v),
            Collective::AllToAllV => of(self.all_to_all_v),
            Collective::ReduceScatter => of(self.reduce_scatter),
            Collective::AllReduce => of(self.reduce_scatter) + of(self.all_gather),
            Collective::Shift => match parts.ranks {
                1 => 0.0,
                _ => self.latency + parts.largest / self.bandwidth_of_rank(parts.ranks),
            },
            Collective::Barrier | Collective::Broadcast | Collective::GatherV => {
                of(Algorithm::Doubling)
            }
        }
    }

    fn bandwidth_of_rank(&self, ranks: usize) -> f64 {
        self.bandwidth / self.ranks_per_node.min(ranks) as f64
    }

    fn seconds_of(&self, collective: Collective, algorithm: Algorithm, parts: Parts) -> f64 {
        let Parts {
            ranks,
            largest,
            least,
            total,
        } = parts;
        if ranks == 1 {
            return 0.0;
        }
        let (others, bandwidth) = ((ranks - 1) as f64, self.bandwidth_of_rank(ranks));
        let doublings = f64::from(ranks.next_power_of_two().ilog2());
        let (latency, transfer) = (self.latency, (total - least) / bandwidth);
        match algorithm {
            Algorithm::Doubling => doublings * latency + transfer,
            Algorithm::Ring => others * (latency + largest / bandwidth),
            Algorithm::Pairwise => others * latency + transfer,
            Algorithm::Root => {
                let all = latency + total / bandwidth;
                doublings * all + others * latency + total / bandwidth
            }
            Algorithm::Mpich => {
                let is_reduction = matches!(
                    collective,
                    Collective::ReduceScatter | Collective::AllReduce
                );
                let short = match is_reduction || ranks.is_power_of_two() {
                    true => MPICH_LONG,
                    false => MPICH_SHORT,
                };
                let chosen = match (total < short, is_reduction) {
                    (true, _) => Algorithm::Doubling,
                    (false, true) => Algorithm::Pairwise,
                    (false, false) => Algorithm::Ring,
                };
                self.seconds_of(collective, chosen, parts)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ranks share 2 GB/s.
    fn network(algorithm: Algorithm) -> Network {
        Network {
            ranks_per_node: 2,
            all_gather: Algorithm::Ring,
            all_gather_v: algorithm,
            reduce_scatter: algorithm,
            ..Network::new(1e-6, 2e9)
        }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn the_algorithms_by_hand() {
        let parts = Parts {
            ranks: 5,
            largest: 200.0,
            least: 50.0,
            total: 500.0,
        };
        let gather = |algorithm| network(algorithm).seconds(Collective::AllGatherV, parts);
        assert_near(gather(Algorithm::Doubling), 3e-6 + 450e-9);
        assert_near(gather(Algorithm::Ring), 4.0 * (1e-6 + 200e-9));
        assert_near(gather(Algorithm::Pairwise), 4e-6 + 450e-9);
        assert_near(
            gather(Algorithm::Root),
            3.0 * (1e-6 + 500e-9) + 4e-6 + 500e-9,
        );
        let all = network(Algorithm::Doubling).seconds(Collective::AllReduce, parts);
        assert_near(all, 3e-6 + 450e-9 + 4.0 * (1e-6 + 200e-9));
        let shift = network(Algorithm::Ring).seconds(Collective::Shift, parts);
        assert_near(shift, 1e-6 + 200e-9);
    }

    #[test]
    fn mpich_chooses_by_size_and_ranks() {
        use Algorithm::{Doubling, Pairwise, Ring};
        use Collective::{AllGatherV, ReduceScatter};
        for (collective, ranks, total, expected) in [
            (AllGatherV, 5, 60e3, Doubling),
            (AllGatherV, 5, 90e3, Ring),
            (AllGatherV, 4, 90e3, Doubling),
            (AllGatherV, 4, 600e3, Ring),
            (ReduceScatter, 5, 90e3, Doubling),
            (ReduceScatter, 5, 600e3, Pairwise),
        ] {
            let parts = Parts::equal(ranks, total / ranks as f64);
            let of = |algorithm| network(algorithm).seconds(collective, parts);
            assert_near(of(Algorithm::Mpich), of(expected));
        }
    }

    #[test]
    fn one_rank_sends_nothing() {
        for collective in Collective::ALL {
            let seconds = network(Algorithm::Root).seconds(collective, Parts::equal(1, 1e9));
            assert_eq!(seconds, 0.0, "{collective:?}");
        }
    }

    #[test]
    fn a_network_is_text_and_must_make_sense() {
        let text = serde_json::to_string(&network(Algorithm::Mpich)).unwrap();
        let read: Network = serde_json::from_str(&text).unwrap();
        assert_eq!(read, network(Algorithm::Mpich));
        for (from, to) in [("\"mpich\"", "\"magic\""), ("latency", "delay")] {
            let bad = text.replace(from, to);
            assert!(serde_json::from_str::<Network>(&bad).is_err(), "{bad}");
        }
        let bad = [
            Network::new(-1.0, 1e9),
            Network::new(1e-6, 0.0),
            Network::new(f64::NAN, 1e9),
            Network {
                ranks_per_node: 0,
                ..read
            },
        ];
        assert!(bad.iter().all(|network| network.validate().is_err()));
        assert_eq!(read.validate(), Ok(()));
    }
}
