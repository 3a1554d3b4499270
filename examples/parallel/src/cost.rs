//! The cost of a block step: how many bytes and messages each algorithm needs, and with them how long a
//! block should take on any grid.
//!
//! Let there be N j-particles, blocks of N_b particles, a x b ranks, and s subtrees in a column (s = 1 if columns are
//! powers of two). On average a rank receives from other ranks
//!
//! ```text
//! step 2, all-gather      16 (b-1)                    lengths and times
//! step 4, all-gather-v    56 N_b (b-1) / (a b)        label, position, velocity
//! step 6, all-to-all-v    48 N_b s (b-1) / (a b)      acceleration and jerk, for each subtree
//!      or reduce-scatter  48 N_b (b-1) / (a b)        with the sums of MPI
//! step 7, all-gather-v    48 N_b (a-1) / (a b)        acceleration and jerk
//! ```
//!
//! bytes. On r x r ranks this is N_b/r times (r-1)/r, the part that comes from other ranks. On 1 x p (j-parallel) and
//! p x 1 (copy) it approaches a multiple of N_b. Around the ring each rank passes on all lists: 56 N_b (p-1)/p bytes,
//! and 48 N_b s (p-1)/p bytes of forces. With the sums of MPI the forces travel with the list and take 48 N_b bytes.
//!
//! A block then takes
//!
//! ```text
//! t_calc = (N_b / a) (N / b) / R + (N / b) t_j + (N_b / b) t_i + s t_c
//! t_comm = M L + B / W
//! ```
//!
//! Here R is the number of pairs per second of a rank. The times are t_j for the prediction of a j-particle, t_i
//! for the prediction, correction and new step of an active particle, and t_c for a call of the library. B is the
//! number of bytes above, W the bandwidth, L the latency of a message, and M the number of messages one after the
//! other: ceil(log2 k) for a gathering or reduction over k ranks (recursive doubling; Thakur, Rabenseifner and
//! Gropp 2005), k - 1 for an exchange of all with all. All the numbers are [measured](crate::measure) on the
//! machine.

use kirin_kit::communicator::counted::Collective;
use kirin_report::repeat::Spread;
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::grid::Grid;
use crate::j_particles::{ACTIVE, FORCE};
use crate::machine::{Algorithm, Arrangement, Joining};

/// Bytes of a number.
const NUMBER: f64 = size_of::<f64>() as f64;

/// What a machine's parts cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Pairs per second of one rank, R.
    pub pair_rate: f64,
    /// Seconds to predict a j-particle, t_j.
    pub prediction: f64,
    /// Seconds of the host for an active particle, t_i.
    pub particle: f64,
    /// Seconds of a call for forces, t_c.
    pub call: f64,
    /// Seconds until a short message has arrived, L.
    pub latency: f64,
    /// Bytes per second into a rank, W.
    pub bandwidth: f64,
}

impl Costs {
    /// The costs as JSON.
    pub fn json(&self) -> Value {
        json!({
            "pair_rate": self.pair_rate,
            "prediction": self.prediction,
            "particle": self.particle,
            "call": self.call,
            "latency": self.latency,
            "bandwidth": self.bandwidth,
        })
    }

    /// As numbers, for a message.
    pub fn numbers(&self) -> [f64; 6] {
        [
            self.pair_rate,
            self.prediction,
            self.particle,
            self.call,
            self.latency,
            self.bandwidth,
        ]
    }

    /// The median of each number over several measurements; `None` without any.
    pub fn median(measurements: &[Self]) -> Option<Self> {
        let mut medians = [0.0; 6];
        for (k, median) in medians.iter_mut().enumerate() {
            *median = Spread::of(measurements.iter().map(|m| m.numbers()[k]).collect())?.median;
        }
        Some(Self::of_numbers(medians))
    }

    /// What [`Costs::numbers`] was made of.
    pub fn of_numbers(numbers: [f64; 6]) -> Self {
        let [pair_rate, prediction, particle, call, latency, bandwidth] = numbers;
        Self {
            pair_rate,
            prediction,
            particle,
            call,
            latency,
            bandwidth,
        }
    }
}

/// What a rank receives in one block, on the average over all ranks, by one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// The operation.
    pub collective: Collective,
    /// Messages that follow one another.
    pub messages: f64,
    /// Bytes from other ranks.
    pub bytes: f64,
}

/// Seconds of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Prediction, forces, correction.
    pub calculation: f64,
    /// Messages.
    pub communication: f64,
}

impl Prediction {
    /// Calculation and communication, seconds.
    pub fn total(&self) -> f64 {
        self.calculation + self.communication
    }
}

/// Some particles in blocks of some size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Number of particles, N.
    pub n: usize,
    /// Mean number in a block, N_b.
    pub block: f64,
}

impl Workload {
    /// The load of `n` particles whose blocks are not known yet.
    ///
    /// Plummer spheres had blocks of 0.6 N^(2/3) within a quarter from N = 512 to 16384 (the column "mean
    /// block" in benches/results/hermite-thesis-xeon-avx512-2vcpu.md). The paper's cluster near core
    /// collapse had 404 of 65536: 0.25.
    pub fn typical(n: usize) -> Self {
        let block = (0.6 * (n as f64).powf(2.0 / 3.0)).max(1.0);
        Self { n, block }
    }
}

/// Subtrees of a column, on the average over columns.
fn subtrees(n: usize, columns: usize) -> f64 {
    // More columns than pages would only be empty ones.
    let divided = Columns::new(n, columns);
    let all: usize = (0..columns).map(|c| divided.subtrees(c).len()).sum();
    all as f64 / columns as f64
}

/// Steps of a gathering over so many ranks, each twice as long as the one before.
fn doublings(ranks: usize) -> f64 {
    f64::from(ranks.next_power_of_two().ilog2())
}

/// What a rank receives in a block, operation by operation.
pub fn traffic(plan: Arrangement, load: Workload) -> Vec<Traffic> {
    let Grid { rows, columns } = plan.grid;
    let (a, b) = (rows as f64, columns as f64);
    let s = match plan.sums {
        Joining::Tree => subtrees(load.n, columns),
        Joining::Mpi => 1.0,
    };
    let active = ACTIVE as f64 * NUMBER;
    let force = FORCE as f64 * NUMBER;
    // What comes from the others of a row, and of a column.
    let along_row = load.block * (b - 1.0) / (a * b);
    let along_column = load.block * (a - 1.0) / (a * b);
    let of = |collective, messages, bytes| Traffic {
        collective,
        messages,
        bytes,
    };
    let lengths = of(
        Collective::AllGather,
        doublings(columns),
        2.0 * NUMBER * (b - 1.0),
    );
    if plan.algorithm == Algorithm::Ring {
        let forces = match plan.sums {
            Joining::Tree => of(Collective::Shift, b - 1.0, force * s * along_row),
            // The last hop brings them home.
            Joining::Mpi if columns > 1 => of(Collective::Shift, b, force * load.block),
            Joining::Mpi => of(Collective::Shift, 0.0, 0.0),
        };
        let lists = of(Collective::Shift, b - 1.0, active * along_row);
        return vec![lengths, lists, forces];
    }
    let sums = match plan.sums {
        Joining::Tree => of(Collective::AllToAllV, b - 1.0, force * s * along_row),
        Joining::Mpi => of(
            Collective::ReduceScatter,
            doublings(columns),
            force * along_row,
        ),
    };
    vec![
        lengths,
        of(
            Collective::AllGatherV,
            doublings(columns),
            active * along_row,
        ),
        sums,
        of(
            Collective::AllGatherV,
            doublings(rows),
            force * along_column,
        ),
    ]
}

/// How long a block takes.
pub fn predict(plan: Arrangement, load: Workload, costs: &Costs) -> Prediction {
    let (a, b) = (plan.grid.rows as f64, plan.grid.columns as f64);
    // Ranks have whole pages and whole particles: the slowest has at least one.
    let sources = Columns::new(load.n, plan.grid.columns).longest() as f64;
    let targets = (load.block / a).max(1.0);
    let calls = match plan.algorithm {
        Algorithm::Ring => b,
        _ => 1.0,
    };
    let subtrees = subtrees(load.n, plan.grid.columns).max(1.0);
    let calculation = targets * sources / costs.pair_rate
        + calls * sources * costs.prediction
        + (load.block / b).max(1.0) * costs.particle
        + calls * subtrees * costs.call;
    let communication = traffic(plan, load)
        .iter()
        .map(|t| t.messages * costs.latency + t.bytes / costs.bandwidth)
        .sum();
    Prediction {
        calculation,
        communication,
    }
}

/// The grid of so many ranks on which a block takes the least time.
pub fn best(
    ranks: usize,
    algorithm: Algorithm,
    sums: Joining,
    load: Workload,
    costs: &Costs,
) -> Arrangement {
    let plan = |grid| Arrangement {
        grid,
        algorithm,
        sums,
    };
    if let Some(only) = algorithm.grid(ranks) {
        return plan(only);
    }
    let time = |plan: &Arrangement| predict(*plan, load, costs).total();
    Grid::all(ranks)
        .map(plan)
        .min_by(|p, q| time(p).total_cmp(&time(q)))
        .expect("one row is a grid")
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs {
        pair_rate: 1e9,
        prediction: 2e-9,
        particle: 2e-7,
        call: 1e-6,
        latency: 2e-6,
        bandwidth: 1e9,
    };

    const LOAD: Workload = Workload {
        n: 65536,
        block: 404.0,
    };

    fn plan(grid: &str, algorithm: Algorithm) -> Arrangement {
        Arrangement {
            grid: grid.parse().unwrap(),
            algorithm,
            sums: Joining::Mpi,
        }
    }

    fn bytes(plan: Arrangement) -> f64 {
        // Without step 2, which does not depend on the block.
        traffic(plan, LOAD)[1..].iter().map(|t| t.bytes).sum()
    }

    /// By hand, for blocks of 404.
    #[test]
    fn the_equations_by_hand() {
        let expected = 404.0 * (56.0 + 48.0 + 48.0) / 4.0;
        assert!((bytes(plan("2x2", Algorithm::TwoD)) - expected).abs() < 1e-9);
        assert_eq!(bytes(plan("4x1", Algorithm::Copy)), 404.0 * 48.0 * 0.75);
        assert_eq!(
            bytes(plan("1x4", Algorithm::JParallel)),
            404.0 * 104.0 * 0.75
        );
        let one = predict(plan("1x1", Algorithm::TwoD), LOAD, &COSTS);
        assert_eq!(one.communication, 0.0);
        let expected = 404.0 * 65536.0 / 1e9 + 65536.0 * 2e-9 + 404.0 * 2e-7 + 1e-6;
        assert!((one.calculation / expected - 1.0).abs() < 1e-12);
    }

    /// Section 3.1: the one-dimensional schemes need O(N_b), the two-dimensional one O(N_b / r).
    #[test]
    fn two_dimensions_scale() {
        for (r, p) in [(4, 16), (16, 256), (28, 784)] {
            let square = bytes(plan(&format!("{r}x{r}"), Algorithm::TwoD)) * r as f64;
            let large = bytes(plan("1000x1000", Algorithm::TwoD)) * 1000.0;
            assert!((square / large - 1.0).abs() < 1.1 / r as f64);
            let copy = bytes(plan(&format!("{p}x1"), Algorithm::Copy));
            assert!(copy > 0.9 * 404.0 * 48.0);
        }
    }

    /// The paper: 800 processors of 73e6 pairs/s, 490 microseconds of calculation, and without the
    /// two-dimensional scheme at least 20 times the communication.
    #[test]
    fn the_paper_s_machine() {
        let costs = Costs {
            pair_rate: 4.4e9 / 60.0,
            ..COSTS
        };
        let best = best(800, Algorithm::TwoD, Joining::Mpi, LOAD, &costs);
        assert!(best.grid.rows > 4 && best.grid.columns > 4, "{best:?}");
        let prediction = predict(best, LOAD, &costs);
        assert!(
            (prediction.calculation / 490e-6 - 1.0).abs() < 0.2,
            "{prediction:?}"
        );
        let copy = bytes(plan("800x1", Algorithm::Copy));
        assert!(copy > 6.0 * bytes(best));
    }

    #[test]
    fn one_rank_has_one_grid() {
        for algorithm in [Algorithm::TwoD, Algorithm::Copy, Algorithm::Ring] {
            let best = best(1, algorithm, Joining::Tree, LOAD, &COSTS);
            assert_eq!(best.grid.ranks(), 1);
            assert_eq!(predict(best, LOAD, &COSTS).communication, 0.0);
        }
    }
}
