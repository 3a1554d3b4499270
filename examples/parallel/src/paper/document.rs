//! The report as Markdown and as JSON.

use std::fmt::Write as _;

use kirin_kit::comparison::Circumstances;
use kirin_kit::history::FLOPS_PER_PAIR;
use kirin_report::text::{MarkdownTable, digits, grouped, si};
use serde_json::{Value, json};

use super::measured::{Measured, Row, speed};
use super::published::{EFFICIENCIES, PEAK, TABLE_1};
use crate::cost::{Costs, Workload, best, predict};
use crate::machine::{Algorithm, Joining};

/// Ranks of the extrapolation: the paper's machine, and a large one of today.
pub const MANY: [usize; 2] = [800, 100_000];

/// Pairs per second of a GPU in the extrapolation: measured in `mixed` on an H100 (docs/gpus.md).
const GPU_PAIR_RATE: f64 = 6e11;
/// Seconds of a call on a GPU, before the pairs: measured on an H100 (docs/gpus.md).
const GPU_CALL: f64 = 18e-6;

/// The report.
pub struct Document<'a> {
    /// What its figures depend on.
    pub circumstances: Circumstances,
    /// The figures.
    pub measured: &'a Measured,
}

/// One prediction far from here.
pub struct Extrapolation {
    /// What a rank is.
    pub rank: &'static str,
    /// Number of ranks.
    pub ranks: usize,
    /// Particles and block size.
    pub load: Workload,
    /// The best grid.
    pub grid: String,
    /// Seconds of a block.
    pub seconds: f64,
    /// Part of what as many single ranks would do.
    pub efficiency: f64,
}

/// The best grids of many ranks, of this machine's kind and with a GPU each.
pub fn extrapolations(costs: &Costs) -> Vec<Extrapolation> {
    let gpu = Costs {
        pair_rate: GPU_PAIR_RATE,
        prediction: 1.0 / GPU_PAIR_RATE,
        call: GPU_CALL,
        ..*costs
    };
    let mut rows = Vec::new();
    for (rank, costs) in [("as here", costs), ("a GPU", &gpu)] {
        for ranks in MANY {
            for n in [65536, 1 << 20] {
                let load = match n {
                    65536 => Workload {
                        n,
                        block: TABLE_1.block,
                    },
                    _ => Workload::typical(n),
                };
                let plan = best(ranks, Algorithm::TwoD, Joining::Mpi, load, costs);
                let seconds = predict(plan, load, costs).total();
                let alone = best(1, Algorithm::TwoD, Joining::Mpi, load, costs);
                let one = predict(alone, load, costs).total();
                rows.push(Extrapolation {
                    rank,
                    ranks,
                    load,
                    grid: plan.grid.to_string(),
                    seconds,
                    efficiency: one / seconds / ranks as f64,
                });
            }
        }
    }
    rows
}

/// The costs used for extrapolation to many ranks: the calculation as measured on one rank, which had the machine
/// to itself, and the messages as measured on the largest number of ranks.
pub fn far(costs: &[Costs]) -> Option<Costs> {
    let (first, last) = (costs.first()?, costs.last()?);
    (costs.len() > 1).then_some(Costs {
        network: last.network,
        ..*first
    })
}

fn microseconds(seconds: f64) -> String {
    digits(1e6 * seconds)
}

impl Document<'_> {
    /// The fastest grid of the most ranks.
    fn fastest(&self) -> Option<&Row> {
        let rows = &self.measured.rows;
        let most = rows.iter().map(|r| r.plan.grid.ranks()).max()?;
        rows.iter()
            .filter(|r| r.plan.grid.ranks() == most)
            .min_by(|a, b| a.measured.total().total_cmp(&b.measured.total()))
    }

    /// The text.
    pub fn markdown(&self) -> String {
        let mut text = String::from("# The parallel Hermite code and this machine\n\n");
        text.push_str(&self.circumstances.markdown());
        if let Some(row) = self.fastest() {
            text.push_str(&table_1(row));
        }
        text.push_str(&self.costs());
        text.push_str(&self.grids());
        text.push_str(&self.figure_4());
        text.push_str(&self.many());
        text
    }

    fn costs(&self) -> String {
        let mut table = MarkdownTable::new([
            "ranks",
            "pairs/s",
            "t_j [ns]",
            "t_i [ns]",
            "t_c [us]",
            "latency [us]",
            "bandwidth",
        ]);
        for (ranks, costs) in (1..).zip(&self.measured.costs) {
            let network = |value: String| match ranks {
                1 => "-".to_owned(),
                _ => value,
            };
            table.row(vec![
                ranks.to_string(),
                si(costs.pair_rate),
                digits(1e9 * costs.prediction),
                digits(1e9 * costs.particle),
                microseconds(costs.call),
                network(microseconds(costs.network.latency)),
                network(format!("{}B/s", si(costs.network.bandwidth))),
            ]);
        }
        format!(
            "\n## Costs\n\nThe numbers of the cost model (`examples/parallel/src/cost.rs`) for one rank while all ranks work: \
             medians of all rounds, measured before the grids.\n\n{table}"
        )
    }

    fn grids(&self) -> String {
        let mut table = MarkdownTable::new([
            "ranks",
            "grid",
            "block [us]",
            "calculation",
            "communication",
            "model [us]",
            "model/measured",
            "bytes/block",
            "speed [flop/s]",
            "x one rank",
            "processor [us]",
            "x one rank",
        ]);
        let first = self.measured.rows.first();
        let one = first.map_or(f64::NAN, Row::flops);
        let alone = first.map_or(f64::NAN, Row::flops_of_processors);
        let known = |number: f64, text: String| match number.is_nan() {
            true => String::new(),
            false => text,
        };
        for row in &self.measured.rows {
            let predicted = self.measured.predicted(row);
            table.row(vec![
                row.plan.grid.ranks().to_string(),
                row.plan.grid.to_string(),
                microseconds(row.measured.total()),
                microseconds(row.measured.calculation),
                microseconds(row.measured.communication),
                microseconds(predicted.total()),
                format!("{:.2}", predicted.total() / row.measured.total()),
                digits(row.bytes),
                si(row.flops()),
                format!("{:.2}", row.flops() / one),
                known(row.processor, microseconds(row.processor)),
                known(
                    row.processor,
                    format!("{:.2}", row.flops_of_processors() / alone),
                ),
            ]);
        }
        let load = self.measured.rows.first().map(|r| (r.load, r.blocks));
        let what = load.map_or(String::new(), |(load, blocks)| {
            format!(
                "N = {}, the same {} blocks of {:.1} particles on every grid, mean over the ranks, median of \
                 the rounds. Communication includes the wait for the slowest rank. Processor: what the rank that computed longest took a \
                 block, without waiting; its speed-up is what quiet machines would show if messages took no time (empty where a rank \
                 has several threads).",
                grouped(load.n as u64),
                grouped(blocks),
                load.block
            )
        });
        format!("\n## Every grid that runs here\n\n{what}\n\n{table}")
    }

    fn figure_4(&self) -> String {
        let mut text = String::from(
            "\n## Figure 4: speed over processors\n\nThe figure's points are not printed in the paper; its text says:\n\n",
        );
        for (n, ranks, part) in EFFICIENCIES {
            let flops = part * PEAK * ranks as f64;
            writeln!(
                text,
                "* N = {}: at {ranks} processors better than {:.0} % of the peak, {}flop/s",
                grouped(n as u64),
                100.0 * part,
                si(flops)
            )
            .expect("a string takes everything");
        }
        text.push_str("\nThe speeds measured here are in the table above and, with the model's, in the figure.\n");
        text
    }

    fn many(&self) -> String {
        let Some(costs) = far(&self.measured.costs) else {
            return String::from(
                "\n## Many ranks\n\nOne rank tells nothing of messages: `--ranks 2` or more.\n",
            );
        };
        let mut table = MarkdownTable::new([
            "a rank is",
            "ranks",
            "N",
            "N_b",
            "best grid",
            "block [us]",
            "speed [flop/s]",
            "efficiency",
        ]);
        for row in extrapolations(&costs) {
            table.row(vec![
                row.rank.to_owned(),
                grouped(row.ranks as u64),
                grouped(row.load.n as u64),
                format!("{:.0}", row.load.block),
                row.grid,
                microseconds(row.seconds),
                si(speed(row.load, row.seconds)),
                format!("{:.3}", row.efficiency),
            ]);
        }
        format!(
            "\n## Many ranks, by the model\n\nThis table was computed by the equations, not measured. It uses the costs of \
             one rank of this machine, the latency and bandwidth between {} ranks of this machine, and sums by MPI. For a GPU \
             it takes {}pairs/s and {} us a call, as measured on an H100.\n\n{table}",
            self.measured.costs.len(),
            si(GPU_PAIR_RATE),
            microseconds(GPU_CALL),
        )
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let rows = self.measured.rows.iter().map(|row| {
            let predicted = self.measured.predicted(row);
            json!({
                "ranks": row.plan.grid.ranks(),
                "grid": row.plan.grid.to_string(),
                "n": row.load.n,
                "mean_block_size": row.load.block,
                "blocks": row.blocks,
                "steps": row.steps,
                "processor": row.processor,
                "calculation": row.measured.calculation,
                "communication": row.measured.communication,
                "predicted_calculation": predicted.calculation,
                "predicted_communication": predicted.communication,
                "bytes_per_block": row.bytes,
                "flops": row.flops(),
            })
        });
        let many = far(&self.measured.costs).map_or(Vec::new(), |costs| extrapolations(&costs));
        let many = many.iter().map(|row| {
            json!({
                "rank": row.rank,
                "ranks": row.ranks,
                "n": row.load.n,
                "grid": row.grid,
                "seconds": row.seconds,
                "efficiency": row.efficiency,
            })
        });
        json!({
            "circumstances": self.circumstances.json(),
            "costs": self.measured.costs.iter().map(Costs::json).collect::<Vec<_>>(),
            "grids": rows.collect::<Vec<_>>(),
            "predicted": many.collect::<Vec<_>>(),
        })
    }
}

/// Table 1 beside `row`.
fn table_1(row: &Row) -> String {
    let mut table = MarkdownTable::new(["", "paper", "here"]);
    let p = TABLE_1;
    let wall = row.measured.total() * row.blocks as f64;
    let here = row.load;
    for (name, published, found) in [
        ("ranks", p.ranks.to_string(), row.plan.grid.to_string()),
        ("particles", grouped(p.n as u64), grouped(here.n as u64)),
        ("performance [flop/s]", si(p.flops), si(row.flops())),
        (
            "per rank [flop/s]",
            si(p.flops / p.ranks as f64),
            si(row.flops() / row.plan.grid.ranks() as f64),
        ),
        ("wall-clock time [s]", digits(p.wall), digits(wall)),
        ("steps", digits(p.steps), digits(row.steps as f64)),
        (
            "block steps",
            digits(p.block_steps),
            digits(row.blocks as f64),
        ),
        (
            "calculation per block [us]",
            microseconds(p.calculation),
            microseconds(row.measured.calculation),
        ),
        (
            "communication per block [us]",
            microseconds(p.communication),
            microseconds(row.measured.communication),
        ),
        ("mean N_b", digits(p.block), digits(here.block)),
    ] {
        table.row(vec![name.to_owned(), published, found]);
    }
    let note = "The paper prints 2.37 Gflops; steps, particles and time of the same table make 2.34 Tflops.";
    let flops = FLOPS_PER_PAIR;
    format!("\n## Table 1\n\n{table}\n{note} A pair counts {flops} operations.\n")
}
