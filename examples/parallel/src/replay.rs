//! How long the recorded blocks of a run would take on another machine with many ranks.

use kirin_kit::history::FLOPS_PER_PAIR;
use kirin_report::text::{MarkdownTable, digits, grouped, si};

use crate::cost::{Costs, Machine, Prediction};
use crate::division::Division;
use crate::grid::Grid;
use crate::machine::{Algorithm, Arrangement, Joining};
use crate::recording::Recording;

/// Mean seconds of a recorded block, of which each takes as long as its slowest rank.
pub fn mean(recording: &Recording, plan: Arrangement, costs: &Costs) -> Prediction {
    let division = Division::new(recording.n, plan);
    let (mut calculation, mut communication) = (0.0, 0.0);
    for lengths in recording.lengths(plan.grid.columns) {
        let block = division.block(&lengths, costs);
        calculation += block.calculation;
        communication += block.communication;
    }
    let blocks = recording.blocks.len() as f64;
    Prediction {
        calculation: calculation / blocks,
        communication: communication / blocks,
    }
}

/// The grid of so many ranks on which the blocks take the least time, and how long they take there.
pub fn best(
    recording: &Recording,
    ranks: usize,
    algorithm: Algorithm,
    sums: Joining,
    costs: &Costs,
) -> (Grid, Prediction) {
    let only = algorithm.grid(ranks);
    let grids = Grid::all(ranks).filter(|grid| only.is_none_or(|only| only == *grid));
    let timed = grids.map(|grid| {
        let plan = Arrangement {
            grid,
            algorithm,
            sums,
        };
        (grid, mean(recording, plan, costs))
    });
    timed
        .min_by(|(_, p), (_, q)| p.total().total_cmp(&q.total()))
        .expect("one row is a grid")
}

/// The blocks on each number of `ranks` by each algorithm, as Markdown.
pub fn document(
    recording: &Recording,
    machine: &Machine,
    ranks: &[usize],
    sums: Joining,
) -> String {
    let mut table = MarkdownTable::new([
        "ranks",
        "algorithm",
        "grid",
        "block [us]",
        "calculation [us]",
        "communication [us]",
        "speed [flop/s]",
        "efficiency",
    ]);
    let costs = &machine.costs;
    let of = |ranks, algorithm| best(recording, ranks, algorithm, sums, costs);
    let alone = of(1, Algorithm::TwoD).1.total();
    let flops = recording.mean() * recording.n as f64 * FLOPS_PER_PAIR;
    let microseconds = |seconds: f64| digits(1e6 * seconds);
    for &ranks in ranks {
        for algorithm in [Algorithm::TwoD, Algorithm::Copy, Algorithm::JParallel] {
            let (grid, block) = of(ranks, algorithm);
            table.row(vec![
                grouped(ranks as u64),
                algorithm.name().to_owned(),
                grid.to_string(),
                microseconds(block.total()),
                microseconds(block.calculation),
                microseconds(block.communication),
                si(flops / block.total()),
                format!("{:.3}", alone / block.total() / ranks as f64),
            ]);
        }
    }
    format!(
        "# Recorded blocks on another machine\n\nN = {}, {} blocks of {:.1} particles. Machine: {}\n\n\
         Computed by the cost model, not measured: each block takes as long as its slowest rank. The grid of two-d is the \
         fastest one.\n\n{table}",
        grouped(recording.n as u64),
        grouped(recording.blocks.len() as u64),
        recording.mean(),
        machine.source,
    )
}
