//! The report as Markdown, as JSON and as a figure.

use kirin_kit::communicator::network::Network;
use kirin_kit::comparison::Circumstances;
use kirin_report::plot::{Curve, Figure, Form, Panel};
use kirin_report::text::{MarkdownTable, digits, duration, grouped};
use serde_json::{Value, json};

use super::cost::{Costs, parts};
use super::measured::{Measured, Row};
use super::published::{CLUSTERS, ENERGY_ERROR};
use crate::profile::Phase;
use crate::{output, slopes};

/// Ranks of the model.
const RANKS: [usize; 6] = [1, 16, 64, 128, 256, 1024];

/// A network in words.
fn words(network: &Network) -> String {
    format!(
        "{} us latency and {} GB/s into each rank",
        digits(1e6 * network.latency),
        digits(1e-9 * network.bandwidth)
    )
}

/// The report.
pub struct Document<'a> {
    /// What its figures depend on.
    pub circumstances: Circumstances,
    /// The figures.
    pub measured: &'a Measured,
    /// The network of the model.
    pub network: Network,
}

impl Document<'_> {
    fn alone(&self) -> impl Iterator<Item = &Row> {
        self.measured.rows.iter().filter(|row| row.ranks == 1)
    }

    /// The model, fitted to all clusters on one rank.
    fn costs(&self) -> Option<Costs> {
        let steps: Vec<_> = self.alone().map(|row| (row.n, row.step)).collect();
        Costs::fitted(&steps)
    }

    /// The text.
    pub fn markdown(&self) -> String {
        let mut text = String::from("# Henon's Monte Carlo method on this machine\n\n");
        text.push_str(&self.circumstances.markdown());
        text.push_str(&self.collapse());
        text.push_str(&self.phases());
        text.push_str(&self.ranks());
        text.push_str(&self.many());
        text
    }

    fn collapse(&self) -> String {
        let mut table = MarkdownTable::new([
            "",
            "N",
            "collapse [t_rh]",
            "energy error",
            "slope of rho_c(r_c)",
            "of rho(r)",
            "processors",
            "wall time",
        ]);
        for cluster in CLUSTERS {
            table.row(vec![
                "paper".to_owned(),
                grouped(cluster.n as u64),
                cluster.collapse.to_string(),
                format!("{ENERGY_ERROR:.0e}"),
                slopes::COLLAPSE.to_string(),
                slopes::TAIL.to_string(),
                cluster.run.0.to_string(),
                duration(cluster.run.1),
            ]);
        }
        let mut note = String::new();
        if let Some(summary) = &self.measured.collapse {
            let last = &summary.last;
            let words = |slope: Option<f64>| slope.map_or("-".to_owned(), |s| format!("{s:.2}"));
            let slope = slopes::collapse_slope(&summary.history.records);
            table.row(vec![
                "here".to_owned(),
                grouped(summary.start.0 as u64),
                format!("{:.2}", last.t),
                format!("{:.1e}", summary.worst_energy_error()),
                words(slope),
                words(slopes::tail_slope(&summary.history)),
                format!("{} x {}", summary.ranks.0, summary.ranks.1),
                duration(summary.seconds),
            ]);
            note = format!("The run here ended by: {}.\n", summary.ending.words());
        }
        format!(
            "\n## Figures 3, 4 and 5: core collapse\n\n{table}\n{note}The curves are in the figure (`--plot`).\n"
        )
    }

    fn phases(&self) -> String {
        let mut table = MarkdownTable::new(["N", "ranks", "steps", "phase", "s/step", "ns/star"]);
        for row in &self.measured.rows {
            for phase in Phase::ALL {
                let seconds = row.step.0[phase as usize];
                table.row(vec![
                    grouped(row.n as u64),
                    row.ranks.to_string(),
                    row.steps.to_string(),
                    phase.name().to_owned(),
                    digits(seconds),
                    digits(1e9 * seconds / row.n as f64),
                ]);
            }
        }
        format!("\n## Figure 8: phases\n\n{table}")
    }

    fn ranks(&self) -> String {
        let mut table = MarkdownTable::new([
            "N",
            "ranks",
            "s/step",
            "x one rank",
            "model",
            "sort [s]",
            "equation 18 [s]",
            "ratio",
        ]);
        let Some(costs) = self.costs() else {
            return String::new();
        };
        let here = self.measured.network.unwrap_or(self.network);
        for row in &self.measured.rows {
            let one = self
                .alone()
                .find(|one| one.n == row.n)
                .map_or(f64::NAN, |one| one.step.total());
            let predicted = costs.predict(row.n, row.ranks, &here);
            table.row(vec![
                grouped(row.n as u64),
                row.ranks.to_string(),
                digits(row.step.total()),
                format!("{:.2}", one / row.step.total()),
                digits(predicted.total()),
                digits(parts(&row.step).sort),
                digits(predicted.sort),
                format!("{:.2}", parts(&row.step).sort / predicted.sort),
            ]);
        }
        let network = self.measured.network.map_or(String::new(), |network| {
            format!(
                " The fastest messages among the ranks had {}.",
                words(&network)
            )
        });
        format!(
            "\n## Figures 6, 7 and 9 on the ranks of this machine\n\n\
             Measured: the columns `s/step`, `x one rank` (the speedup) and `sort`, all from the fastest of the steps.{network}\n\n\
             Modelled: the columns `model` and `equation 18`. The work of one rank is fitted to all clusters on one rank. Equation 18 is \
             the time of the sort. The fit gives {} ns for each of the N log2 N comparisons on one rank. With several ranks a \
             comparison takes the same time; each rank sorts its own N/p stars, the stars that it receives, and the samples, and \
             looks for each sample among its stars. The messages are those that the code sends (`tests/traffic.rs` counts them).\n\n{table}",
            digits(1e9 * costs.comparison)
        )
    }

    fn many(&self) -> String {
        let Some(costs) = self.costs() else {
            return String::new();
        };
        let mut table = MarkdownTable::new([
            "N",
            "ranks",
            "divided [s]",
            "sort [s]",
            "rest [s]",
            "s/step",
            "speedup",
            "paper's best",
        ]);
        for cluster in CLUSTERS {
            let one = costs.predict(cluster.n, 1, &self.network).total();
            for ranks in RANKS {
                let predicted = costs.predict(cluster.n, ranks, &self.network);
                table.row(vec![
                    grouped(cluster.n as u64),
                    ranks.to_string(),
                    digits(predicted.divided),
                    digits(predicted.sort),
                    digits(predicted.rest),
                    digits(predicted.total()),
                    format!("{:.1}", one / predicted.total()),
                    format!("{:.0}", cluster.speedup),
                ]);
            }
        }
        format!(
            "\n## Figures 6 to 9 for 1024 ranks, by the model\n\n\
             These times are modelled, not measured. The columns are the work that the ranks divide, the sort by equation 18, and the rest, \
             which every rank does for itself. The sort and the rest include the code's messages over a network of {} (`--latency`, \
             `--bandwidth`).\n\n{table}",
            words(&self.network)
        )
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let rows = self.measured.rows.iter().map(|row| {
            json!({
                "n": row.n,
                "ranks": row.ranks,
                "steps": row.steps,
                "phases": Phase::ALL.map(|phase| (phase.name(), row.step.0[phase as usize])),
            })
        });
        json!({
            "circumstances": self.circumstances.json(),
            "rows": rows.collect::<Vec<_>>(),
            "network": {
                "latency": self.network.latency,
                "bandwidth": self.network.bandwidth,
            },
            "collapse": self.measured.collapse.as_ref().map(output::Summary::json),
        })
    }

    /// Figures 3 to 5 of the run here, and Figures 7 and 9.
    pub fn figure(&self) -> Figure {
        let mut figure = self.measured.collapse.as_ref().map_or_else(
            || Figure {
                title: String::new(),
                subtitle: String::new(),
                columns: Vec::new(),
            },
            output::Summary::figure,
        );
        let Some(costs) = self.costs() else {
            return figure;
        };
        let powers = || (0..=10).map(|k| 1_usize << k);
        let curves = |value: &dyn Fn(usize, usize) -> f64| -> Vec<Curve> {
            let curve = |n: usize| Curve {
                label: format!("{:.0e}", n as f64),
                points: powers().map(|p| (p as f64, value(n, p))).collect(),
                form: Form::Model,
            };
            CLUSTERS.iter().map(|cluster| curve(cluster.n)).collect()
        };
        let speedup = |n, p| {
            costs.predict(n, 1, &self.network).total() / costs.predict(n, p, &self.network).total()
        };
        figure.columns.pop();
        figure.columns.push(vec![
            Panel::logarithmic(
                "Speedup, by the model (Pattabiraman+ 2013, Figure 7)",
                "ranks",
                curves(&speedup),
            )
            .with_y("speedup"),
            Panel::logarithmic(
                "Sort, by equation 18 (Pattabiraman+ 2013, Figure 9)",
                "ranks",
                curves(&|n, p| costs.predict(n, p, &self.network).sort),
            )
            .with_y("seconds"),
        ]);
        figure
    }
}
