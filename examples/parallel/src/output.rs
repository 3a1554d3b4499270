//! What a run is reported as: hermite's figures, and what the ranks did.

use kirin_kit::communicator::counted::Tally;
use kirin_kit::communicator::{Communicator, Operation};
use kirin_kit::summary::{ForceFacts, Summary};
use kirin_report::plot::{Data, Figure, Panel};
use kirin_report::text::{Table, grouped, si};
use serde_json::{Value, json};

use crate::error::Error;
use crate::integrator::Integrator;
use crate::machine::{Arrangement, Times};

/// The names of the steps of section 3.3.
pub const STEPS: [&str; 8] = [
    "active list",
    "lengths and times",
    "split",
    "share along row",
    "partial forces",
    "sum over row",
    "share along column",
    "integrate",
];

/// The end of a run, the same on every rank.
pub struct Report<'a> {
    summary: &'a Summary,
    forces: ForceFacts,
    rows: Vec<(&'static str, String)>,
    figures: Value,
    plan: Arrangement,
    /// Mean over the ranks.
    times: Times,
    /// Mean over the ranks of what each received, bytes and messages.
    received: (f64, f64),
    /// Of rank 0.
    tally: Tally,
    blocks: f64,
}

impl<'a> Report<'a> {
    /// The end of a run whose forces came from `library`.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn new<C: Communicator>(
        summary: &'a Summary,
        integrator: &Integrator<'_, C>,
        library: &str,
    ) -> Result<Self, Error> {
        let machine = integrator.machine();
        let tally = *integrator.tally();
        let total = tally.total();
        let mut numbers = machine.times.0.to_vec();
        numbers.extend([total.bytes as f64, total.messages as f64]);
        machine.world.all_reduce(Operation::Sum, &mut numbers)?;
        let mean = |k: usize| numbers[k] / machine.world.size() as f64;
        let (backend, precision) = machine.sources.described();
        Ok(Self {
            summary,
            forces: ForceFacts {
                library: library.to_owned(),
                backend,
                precision,
                pairs: integrator.counts().pairs as f64,
            },
            rows: hermite::output::rows(integrator.counts()),
            figures: hermite::output::figures(integrator.settings(), integrator.counts()),
            plan: machine.plan,
            times: Times(std::array::from_fn(mean)),
            received: (mean(8), mean(9)),
            tally,
            blocks: integrator.blocks().max(1) as f64,
        })
    }

    fn ranks(&self) -> String {
        let Arrangement {
            grid,
            algorithm,
            sums,
        } = self.plan;
        let sums = match sums {
            crate::machine::Joining::Tree => "sums along kirin's tree",
            crate::machine::Joining::Mpi => "sums by MPI",
        };
        format!("{} as {grid}, {}, {sums}", grid.ranks(), algorithm.name())
    }

    /// The figures for people.
    pub fn table(&self) -> Table {
        let mut own = self.rows.clone();
        let microseconds = |seconds: f64| format!("{:.1} us", 1e6 * seconds / self.blocks);
        let (bytes, messages) = self.received;
        own.extend([
            ("ranks", self.ranks()),
            ("calculation/block", microseconds(self.times.calculation())),
            (
                "communication/block",
                microseconds(self.times.communication()),
            ),
            (
                "received/block, rank",
                format!(
                    "{}B in {:.1} messages",
                    si(bytes / self.blocks),
                    messages / self.blocks
                ),
            ),
        ]);
        self.summary.table(&self.forces, own)
    }

    /// The figures for programs. Numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let mut own = self.figures.clone();
        let Arrangement {
            grid,
            algorithm,
            sums,
        } = self.plan;
        let steps: serde_json::Map<_, _> = STEPS
            .iter()
            .zip(self.times.0)
            .map(|(name, seconds)| ((*name).to_owned(), json!(seconds)))
            .collect();
        let more = json!({
            "ranks": grid.ranks(),
            "grid": grid.to_string(),
            "algorithm": algorithm.name(),
            "sums": if sums == crate::machine::Joining::Tree { "tree" } else { "mpi" },
            "blocks_of_this_part": self.blocks,
            "step_seconds": steps,
            "bytes_per_block": self.received.0 / self.blocks,
            "messages_per_block": self.received.1 / self.blocks,
            "collectives_of_rank_0": self.tally.json(),
        });
        if let (Some(own), Value::Object(more)) = (own.as_object_mut(), more) {
            own.extend(more);
        }
        self.summary.json(&self.forces, own)
    }

    /// Diagnostics over time, where the ranks' time went, and the stars from above.
    pub fn figure(&self) -> Figure {
        let bars = STEPS
            .iter()
            .zip(self.times.0)
            .enumerate()
            .map(|(k, (_, seconds))| ((k + 1).to_string(), 1e6 * seconds / self.blocks));
        let work = Panel {
            title: "Microseconds of a block by its steps".to_owned(),
            y_label: "microseconds".to_owned(),
            x_label:
                "step of section 3.3 of Nitadori, Makino and Abe (2006); 2, 4, 6 and 7 communicate"
                    .to_owned(),
            data: Data::Bars(bars.collect()),
            ..Panel::default()
        };
        let settings = format!("{}; {} blocks", self.ranks(), grouped(self.blocks as u64));
        self.summary.figure(&self.forces, &settings, work)
    }
}
