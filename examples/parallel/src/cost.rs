//! The cost of a block step: how many bytes and messages each algorithm needs, and with them how long a
//! block should take on any grid.
//!
//! Let there be N j-particles, blocks of N_b particles, a x b ranks, and s subtrees in a column (s = 1 if columns are
//! powers of two). All columns together have c N copies of particles of other columns (c = 0 if columns are whole pages).
//! On average a rank receives from other ranks
//!
//! ```text
//! step 2, all-gather      16 (b-1)                    lengths and times; 32 (b-1) if c > 0
//!         send-receive    136 N_b c / b               moved particles on shared pages, from neighbours
//! step 4, all-gather-v    56 N_b (b-1) / (a b)        label, position, velocity
//! step 6, all-to-all-v    48 N_b s (b-1) / (a b)      acceleration and jerk, for each subtree
//!      or reduce-scatter  48 N_b (b-1) / (a b)        with the sums of MPI
//! step 7, all-gather-v    48 N_b (a-1) / (a b)        acceleration and jerk
//! ```
//!
//! bytes. Without step 2 this is proportional to N_b (r-1) / r^2 on r x r ranks. On 1 x p (j-parallel)
//! and p x 1 (copy) it is proportional to N_b (p-1) / p, which does not fall with the number of ranks. Around the ring
//! each rank passes on all lists: 56 N_b (p-1)/p bytes, and 48 N_b s (p-1)/p bytes of forces. With the sums of MPI the
//! forces travel with the list and take 48 N_b bytes.
//!
//! A block takes as long as its slowest rank. Let its row have n_a active particles, and its column N_j particles, n_j
//! of them active, in s subtrees. Without shared pages its calculation takes
//!
//! ```text
//! t_calc = n_a N_j / R + N_j t_j + n_j t_i + s t_c
//! ```
//!
//! Here R is the number of pairs per second of a rank. The times are t_j for the prediction of a j-particle, t_i
//! for the prediction, correction and new step of an active particle, and t_c for a call of the library.
//! [`Division`] finds the largest value over the ranks, and [`network`](kirin_kit::communicator::network) has the
//! time of each operation. All the numbers are [measured](crate::measure) on the machine, or come from a
//! [file](Machine) that describes another one.

use std::path::Path;

use kirin_kit::command::named;
use kirin_kit::communicator::counted::Collective;
use kirin_kit::communicator::network::Network;
use kirin_report::repeat::Spread;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::columns::{Columns, Piece};
use crate::division::{Division, partial_forces};
use crate::grid::Grid;
use crate::integrator::COPY;
use crate::j_particles::{ACTIVE, FORCE};
use crate::machine::{Algorithm, Arrangement, Joining};

/// Bytes of a number.
pub const NUMBER: f64 = size_of::<f64>() as f64;

/// What a machine's parts cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Pairs per second of one rank, R.
    pub pair_rate: f64,
    /// Seconds to predict a j-particle, t_j.
    pub prediction: f64,
    /// Seconds of the host for an active particle, t_i.
    pub particle: f64,
    /// Seconds of a call for forces, t_c.
    pub call: f64,
    /// The network between the ranks.
    pub network: Network,
}

impl Costs {
    /// Seconds of the calls on one rank for the forces of these pieces on so many active particles.
    pub fn forces(&self, active: usize, pieces: &[Piece]) -> f64 {
        let of = |piece: &Piece| match (piece.targets(active).len(), piece.addresses.len() as f64) {
            (0, _) => 0.0,
            (targets, sources) => {
                targets as f64 * sources / self.pair_rate + sources * self.prediction + self.call
            }
        };
        pieces.iter().map(of).sum()
    }

    /// The costs as JSON.
    pub fn json(&self) -> Value {
        json!({
            "pair_rate": self.pair_rate,
            "prediction": self.prediction,
            "particle": self.particle,
            "call": self.call,
            "latency": self.network.latency,
            "bandwidth": self.network.bandwidth,
        })
    }

    /// As numbers, for a message.
    pub fn numbers(&self) -> [f64; 6] {
        [
            self.pair_rate,
            self.prediction,
            self.particle,
            self.call,
            self.network.latency,
            self.network.bandwidth,
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
            network: Network::new(latency, bandwidth),
        }
    }
}

/// A machine that a file describes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Where the numbers come from.
    pub source: String,
    /// What its parts cost.
    pub costs: Costs,
}

impl Machine {
    /// The machine in the JSON file at `path`.
    ///
    /// # Errors
    ///
    /// It cannot be read, or a number makes no sense; in words.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(named(path))?;
        Self::parse(&text).map_err(named(path))
    }

    /// The machine that `text` describes.
    ///
    /// # Errors
    ///
    /// Something is missing, or a number makes no sense; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let new: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let Costs {
            pair_rate,
            prediction,
            particle,
            call,
            network,
        } = new.costs;
        network.validate()?;
        let is_time = |seconds: f64| seconds >= 0.0 && seconds.is_finite();
        match pair_rate > 0.0 && [prediction, particle, call].into_iter().all(is_time) {
            true => Ok(new),
            false => Err(
                "pair_rate must be above 0; prediction, particle and call are times in seconds"
                    .to_owned(),
            ),
        }
    }
}

/// What a rank receives in one block, on the average over all ranks, by one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// The operation.
    pub collective: Collective,
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
    /// From N = 512 to 16384 the mean block of a Plummer sphere is 0.6 N^(2/3), to 25 % (the column "mean block" in
    /// benches/results/hermite-thesis-xeon-avx512-2vcpu.md). The paper's cluster near core collapse has smaller blocks:
    /// 404 particles of 65536, a factor of 0.25 in place of 0.6.
    pub fn typical(n: usize) -> Self {
        let block = (0.6 * (n as f64).powf(2.0 / 3.0)).max(1.0);
        Self { n, block }
    }
}

/// Partial forces of a column on an active particle, on the average over columns.
fn partial(columns: &Columns, count: usize) -> f64 {
    let of = |column: usize| partial_forces(&columns.pieces(column));
    (0..count).map(of).sum::<f64>() / count as f64
}

/// What a rank receives in a block, operation by operation.
pub fn traffic(plan: Arrangement, load: Workload) -> Vec<Traffic> {
    let Grid { rows, columns } = plan.grid;
    let (a, b) = (rows as f64, columns as f64);
    let divided = Columns::new(load.n, columns);
    let s = match plan.sums {
        Joining::Tree => partial(&divided, columns),
        Joining::Mpi => 1.0,
    };
    let copied: usize = (0..columns).map(|c| divided.copies(c)).sum();
    let told = if copied > 0 { 4.0 } else { 2.0 };
    let active = ACTIVE as f64 * NUMBER;
    let force = FORCE as f64 * NUMBER;
    // What comes from the others of a row, and of a column.
    let along_row = load.block * (b - 1.0) / (a * b);
    let along_column = load.block * (a - 1.0) / (a * b);
    let of = |collective, bytes| Traffic { collective, bytes };
    let lengths = of(Collective::AllGather, told * NUMBER * (b - 1.0));
    // Every row gets all copies.
    let copies = copied as f64 / load.n as f64 * load.block / b;
    let copies = of(Collective::Shift, COPY as f64 * NUMBER * copies);
    if plan.algorithm == Algorithm::Ring {
        let forces = match plan.sums {
            Joining::Tree => force * s * along_row,
            // The last hop brings them home.
            Joining::Mpi if columns > 1 => force * load.block,
            Joining::Mpi => 0.0,
        };
        let lists = of(Collective::Shift, active * along_row);
        return vec![lengths, copies, lists, of(Collective::Shift, forces)];
    }
    let sums = match plan.sums {
        Joining::Tree => of(Collective::AllToAllV, force * s * along_row),
        Joining::Mpi => of(Collective::ReduceScatter, force * along_row),
    };
    vec![
        lengths,
        copies,
        of(Collective::AllGatherV, active * along_row),
        sums,
        of(Collective::AllGatherV, force * along_column),
    ]
}

/// How long a block takes whose active particles are spread evenly over the columns.
pub fn predict(plan: Arrangement, load: Workload, costs: &Costs) -> Prediction {
    let division = Division::new(load.n, plan);
    let active = load.block.round().max(1.0) as usize;
    division.block(&division.evenly(active), costs)
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
pub(crate) mod tests {
    use kirin_kit::communicator::network::Algorithm::{Doubling, Pairwise};

    use super::*;

    /// No particular machine.
    pub const COSTS: Costs = Costs {
        pair_rate: 1e9,
        prediction: 2e-9,
        particle: 2e-7,
        call: 1e-6,
        network: Network {
            latency: 2e-6,
            bandwidth: 1e9,
            ranks_per_node: 1,
            all_gather: Doubling,
            all_gather_v: Doubling,
            all_to_all_v: Pairwise,
            reduce_scatter: Doubling,
        },
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
        for (r, p) in [(4, 16), (16, 256), (32, 1024)] {
            let square = bytes(plan(&format!("{r}x{r}"), Algorithm::TwoD)) * r as f64;
            let large = bytes(plan("128x128", Algorithm::TwoD)) * 128.0;
            assert!((square / large - 1.0).abs() < 1.1 / r as f64);
            let copy = bytes(plan(&format!("{p}x1"), Algorithm::Copy));
            assert!(copy > 0.9 * 404.0 * 48.0);
        }
    }

    #[test]
    fn one_rank_has_one_grid() {
        for algorithm in [Algorithm::TwoD, Algorithm::Copy, Algorithm::Ring] {
            let best = best(1, algorithm, Joining::Tree, LOAD, &COSTS);
            assert_eq!(best.grid.ranks(), 1);
            assert_eq!(predict(best, LOAD, &COSTS).communication, 0.0);
        }
    }

    #[test]
    fn a_machine_is_a_file() {
        let machine = Machine {
            source: "nowhere".to_owned(),
            costs: COSTS,
        };
        let text = serde_json::to_string(&machine).unwrap();
        assert_eq!(Machine::parse(&text), Ok(machine));
        for (from, to) in [
            ("\"call\":1e-6", "\"call\":-1e-6"),
            ("\"pair_rate\":1000000000.0", "\"pair_rate\":0.0"),
            ("\"latency\":2e-6", "\"latency\":-2e-6"),
            ("\"pairwise\"", "\"magic\""),
            ("\"particle\"", "\"host\""),
        ] {
            let bad = text.replace(from, to);
            assert!(bad != text, "{from} in {text}");
            assert!(Machine::parse(&bad).is_err(), "{bad}");
        }
    }
}
