//! The reports of a run: hermite's figures, and the work of the ranks.

use hermite::counts::Counts;
use hermite::integrator::regularized::Regularized;
use hermite::settings::Settings;
use kirin_kit::communicator::counted::{Collective, Tally};
use kirin_kit::communicator::{Communicator, OverRanks};
use kirin_kit::summary::{ForceFacts, Summary};
use kirin_report::plot::{Data, Figure, Panel};
use kirin_report::text::{Table, grouped, si};
use serde_json::{Value, json};

use crate::error::Error;
use crate::machine::{Arrangement, Node};

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

/// What a rank has done in a run.
pub struct Work<'a, 'g, C> {
    /// What it computes with.
    pub machine: &'a Node<'g, C>,
    /// The settings of the integration.
    pub settings: &'a Settings,
    /// What all ranks have done.
    pub counts: &'a Counts,
    /// The regularized systems, where there may be some.
    pub regularized: Option<&'a Regularized>,
    /// What the rank received for its blocks, without diagnostics.
    pub tally: &'a Tally,
    /// Blocks of this part of the run.
    pub blocks: u64,
}

/// The end of a run, the same on every rank.
pub struct Report<'a> {
    summary: &'a Summary,
    forces: ForceFacts,
    rows: Vec<(&'static str, String)>,
    figures: Value,
    settings: Settings,
    plan: Arrangement,
    /// Seconds of each step.
    steps: Vec<OverRanks>,
    /// Seconds of calculation and of communication.
    times: [OverRanks; 2],
    /// What each rank received: bytes and messages.
    received: [OverRanks; 2],
    /// Of the operations that were called: calls, messages, bytes and seconds.
    collectives: Vec<(Collective, [OverRanks; 4])>,
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
        work: &Work<'_, '_, C>,
        library: &str,
    ) -> Result<Self, Error> {
        let Work {
            machine,
            settings,
            counts: done,
            regularized,
            tally,
            blocks,
        } = *work;
        let total = tally.total();
        let mut numbers = machine.times.0.to_vec();
        numbers.extend([
            machine.times.calculation(),
            machine.times.communication(),
            total.bytes as f64,
            total.messages as f64,
        ]);
        let counts = |of: Collective| {
            let count = tally.of(of);
            let [calls, messages, bytes] =
                [count.calls, count.messages, count.bytes].map(|x| x as f64);
            [calls, messages, bytes, count.seconds]
        };
        numbers.extend(Collective::ALL.into_iter().flat_map(counts));
        let all = OverRanks::of(&machine.world, &numbers)?;
        let (steps, all) = all.split_at(STEPS.len());
        let (totals, all) = all.split_at(4);
        let collectives = Collective::ALL
            .into_iter()
            .zip(all.as_chunks().0)
            .map(|(collective, counts)| (collective, *counts))
            .filter(|(_, counts)| counts[0].greatest > 0.0)
            .collect();
        let (backend, precision) = machine.sources.described();
        let mut rows = [vec![summary.softening()], hermite::output::rows(done)].concat();
        rows.extend(
            regularized
                .iter()
                .flat_map(|all| all.rows(summary.log.seconds)),
        );
        Ok(Self {
            summary,
            forces: ForceFacts {
                library: library.to_owned(),
                backend,
                precision,
                pairs: done.pairs as f64,
            },
            rows,
            figures: hermite::output::figures(settings, done),
            settings: *settings,
            plan: machine.plan,
            steps: steps.to_vec(),
            times: [totals[0], totals[1]],
            received: [totals[2], totals[3]],
            collectives,
            blocks: blocks.max(1) as f64,
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
        let microseconds = |seconds: OverRanks| {
            let us = seconds.per(1e-6 * self.blocks);
            match self.plan.grid.ranks() {
                1 => format!("{:.1} us", us.mean),
                _ => format!("{:.1} us ({:.1} to {:.1})", us.mean, us.least, us.greatest),
            }
        };
        let [bytes, messages] = self.received.map(|all| all.mean);
        own.extend([
            ("ranks", self.ranks()),
            ("calculation/block", microseconds(self.times[0])),
            ("communication/block", microseconds(self.times[1])),
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
            .zip(&self.steps)
            .map(|(name, seconds)| ((*name).to_owned(), seconds.json()))
            .collect();
        let collectives: serde_json::Map<_, _> = self
            .collectives
            .iter()
            .map(|(collective, [calls, messages, bytes, seconds])| {
                let counts = json!({
                    "calls": calls.mean,
                    "messages": messages.json(),
                    "bytes": bytes.json(),
                    "seconds": seconds.json(),
                });
                (collective.name().to_owned(), counts)
            })
            .collect();
        let more = json!({
            "ranks": grid.ranks(),
            "grid": grid.to_string(),
            "algorithm": algorithm.name(),
            "sums": if sums == crate::machine::Joining::Tree { "tree" } else { "mpi" },
            "blocks_of_this_part": self.blocks,
            "step_seconds": steps,
            "bytes_per_block": self.received[0].per(self.blocks).json(),
            "messages_per_block": self.received[1].per(self.blocks).json(),
            "calculation_seconds": self.times[0].json(),
            "communication_seconds": self.times[1].json(),
            "collectives": collectives,
        });
        if let (Some(own), Value::Object(more)) = (own.as_object_mut(), more) {
            own.extend(more);
        }
        self.summary.json(&self.forces, &self.settings, own)
    }

    /// Diagnostics over time, where the ranks' time went, and the stars from above.
    pub fn figure(&self) -> Figure {
        let bars = STEPS
            .iter()
            .zip(&self.steps)
            .enumerate()
            .map(|(k, (_, seconds))| ((k + 1).to_string(), 1e6 * seconds.mean / self.blocks));
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
