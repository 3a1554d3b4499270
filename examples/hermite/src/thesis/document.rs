//! The report as Markdown and for programs.

use kirin_kit::comparison::{Circumstances, ReportLimits};
use kirin_kit::history::FLOPS_PER_PAIR;
use kirin_report::repeat::Spread;
use kirin_report::text::{MarkdownTable, digits, si};
use serde_json::{Value, json};

use super::measure::{Described, ForceTimes, Measured, Run, Times};
use super::published::{HARDWARE, PEAK, TABLE_4_1, TABLE_4_2, speed};
use super::worker::LARGEST_ENERGY;
use crate::settings::Settings;

/// Everything that the report tells.
pub struct Document<'a> {
    /// Device, library, date and so on.
    pub circumstances: Circumstances,
    /// The library in the processes that measured.
    pub described: &'a Described,
    /// Seed of the models.
    pub seed: u64,
    /// Settings of the runs.
    pub settings: Settings,
    /// End of the runs.
    pub t_end: f64,
    /// What was asked for.
    pub wanted: &'a ReportLimits,
    /// Why the measurement did not come to its end, if it did not.
    pub cut: Option<&'a str>,
    /// What was measured.
    pub measured: &'a Measured,
}

const INTRODUCTION: &str = "\
`whole` is this device with `KIRIN_SPLIT=off`: the j-particles of a block are not divided. `split` is the default: the j-particles are
divided if the i-particles alone do not fill the device. Both give the same bits. Other libraries have one column. +- is half
the distance between the quartiles, in percent of the median; the trials of both columns alternated. Rows beyond `--minutes` or `--largest`
are left out.
";

const FORCES: &str = "\
Forces, jerks and potentials by `g6calc_firsthalf` and `g6calc_lasthalf`, without nearest neighbour; 60 flops a pair (equation
4.1). The times include the transfer of the i-particles and of the results; the published times do not. The
j-particles are in memory and predicted.
";

impl Document<'_> {
    /// The report as Markdown.
    pub fn markdown(&self) -> String {
        let measured = self.measured;
        let mut text = format!(
            "# Tables 4.1 and 4.2, Figures 4.2 and 4.3 of the thesis and this device\n\n{}\
             * clusters: Plummer spheres, seed {}, softening {}\n\
             * pipelines: {}\n{}\n{HARDWARE}\n{INTRODUCTION}",
            self.circumstances.markdown(),
            self.seed,
            self.settings.eps,
            self.described.split["npipes"],
            match self.cut {
                Some(why) => format!("* not finished: {why}\n"),
                None => String::new(),
            },
        );
        let mut section = |title: &str, words: &str, table: MarkdownTable| {
            text += &format!("\n## {title}\n\n{words}\n{table}");
        };
        section(
            "Table 4.1: all N particles in one block",
            FORCES,
            table_4_1(&measured.table_4_1),
        );
        section(
            "Figure 4.2: blocks of n among N particles",
            "The thesis shows these results only as a picture. The published numbers in the table are from its text, and, where n = N, from Table 4.1.\n",
            figure_table(&measured.figure_4_2),
        );
        section(
            "Figure 4.3: blocks of 128 particles",
            "The thesis shows these results only as a picture. The published numbers in the table are from its text.\n",
            figure_table(&measured.figure_4_3),
        );
        section(
            "Table 4.2: whole runs",
            &self.runs(),
            table_4_2(&measured.table_4_2),
        );
        text
    }

    fn runs(&self) -> String {
        let settings = &self.settings;
        format!(
            "Seconds from t = {} to {} in block steps, without diagnostics; eta = {}, eta_start = {}, largest step {}. \
             The published runs cover the same time, with 0.03 and 0.01 in a time-step criterion that the thesis does not name. \
             The host computes dE/E, up to N = {LARGEST_ENERGY}.\n",
            self.t_end / 2.0,
            self.t_end,
            settings.eta,
            settings.eta_start,
            settings.dt_max,
        )
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        let measured = self.measured;
        let forces = |rows: &[ForceTimes]| -> Value { rows.iter().map(force_json).collect() };
        let settings = &self.settings;
        json!({
            "circumstances": self.circumstances.json(),
            "processes": {"split": self.described.split, "whole": self.described.whole},
            "seed": self.seed,
            "eps": settings.eps,
            "eta": settings.eta,
            "eta_start": settings.eta_start,
            "dt_max": settings.dt_max,
            "t_end": self.t_end,
            "largest": self.wanted.largest,
            "minutes": self.wanted.minutes,
            "not_finished": self.cut,
            "table_4_1": forces(&measured.table_4_1),
            "figure_4_2": forces(&measured.figure_4_2),
            "figure_4_3": forces(&measured.figure_4_3),
            "table_4_2": measured.table_4_2.iter().map(run_json).collect::<Value>(),
        })
    }
}

fn published_row<T: Copy, const K: usize>(table: &[(usize, [T; K])], n: usize) -> [T; K] {
    let row = table.iter().find(|row| row.0 == n);
    row.expect("every row that is measured was published").1
}

/// Pairs per second of so many GFLOP/s.
pub(super) fn pair_rate(gigaflops: f64) -> f64 {
    1e9 * gigaflops / FLOPS_PER_PAIR
}

fn optional(value: Option<f64>, show: impl FnOnce(f64) -> String) -> String {
    value.map_or("-".to_owned(), show)
}

/// Seconds, pairs per second and spread of a column of this device.
fn cells(spread: Option<&Spread>, pairs: f64) -> [String; 3] {
    let Some(spread) = spread else {
        return ["-", "-", "-"].map(str::to_owned);
    };
    [
        digits(spread.median),
        si(pairs / spread.median),
        spread.percent(),
    ]
}

/// The quotient of both, with two decimals.
fn factor(above: Option<f64>, below: f64) -> String {
    optional(above, |above| format!("{:.2}", above / below))
}

const HERE: [&str; 6] = [
    "whole [s]",
    "pairs/s",
    "+- %",
    "split [s]",
    "pairs/s",
    "+- %",
];

fn here_cells(times: &Times, pairs: f64) -> impl Iterator<Item = String> {
    let whole = cells(times.whole.as_ref(), pairs);
    whole.into_iter().chain(cells(Some(&times.split), pairs))
}

fn table_4_1(rows: &[ForceTimes]) -> MarkdownTable {
    let published = [
        "N",
        "base [s]",
        "GFLOP/s",
        "improved [s]",
        "GFLOP/s",
        "pairs/s",
    ];
    let mut table = MarkdownTable::new(published.into_iter().chain(HERE).chain(["x improved"]));
    for row in rows {
        let [base, base_speed, improved, improved_speed] = published_row(&TABLE_4_1, row.n);
        let mut line = vec![
            row.n.to_string(),
            base.to_string(),
            base_speed.to_string(),
            improved.to_string(),
            improved_speed.to_string(),
            si(pair_rate(improved_speed)),
        ];
        line.extend(here_cells(&row.times, row.pairs()));
        line.push(factor(Some(improved), row.times.split.median));
        table.row(line);
    }
    table
}

fn figure_table(rows: &[ForceTimes]) -> MarkdownTable {
    let published = ["N", "n", "base GFLOP/s", "improved GFLOP/s", "pairs/s"];
    let mut table = MarkdownTable::new(published.into_iter().chain(HERE).chain(["split/whole"]));
    for row in rows {
        let [base, improved] = speed(row.n, row.ni);
        let mut line = vec![
            row.n.to_string(),
            row.ni.to_string(),
            optional(base, |v| v.to_string()),
            optional(improved, |v| format!("{}{v}", about(v))),
            optional(improved, |v| format!("{}{}", about(v), si(pair_rate(v)))),
        ];
        line.extend(here_cells(&row.times, row.pairs()));
        let whole = row.times.whole.map(|whole| whole.median);
        line.push(factor(whole, row.times.split.median));
        table.row(line);
    }
    table
}

/// A sign before the peak, which the thesis gives in the text and not for this row.
fn about(speed: f64) -> &'static str {
    if speed == PEAK { "~" } else { "" }
}

fn table_4_2(rows: &[Run]) -> MarkdownTable {
    let published = [
        "N",
        "GRAPE-6Af [s]",
        "base [s]",
        "improved [s]",
        "Cg [s]",
        "Xeon [s]",
    ];
    let more = ["trials", "x improved", "mean block", "dE/E"];
    let mut table = MarkdownTable::new(published.into_iter().chain(HERE).chain(more));
    for row in rows {
        let published = published_row(&TABLE_4_2, row.n);
        let mut line = vec![row.n.to_string()];
        line.extend(published.map(|v| optional(v, |v| v.to_string())));
        line.extend(here_cells(&row.times, row.number("pairs")));
        line.push(row.times.split.trials.to_string());
        line.push(factor(published[2], row.times.split.median));
        let blocks = row.number("block_steps").max(1.0);
        line.push(format!("{:.1}", row.number("steps") / blocks));
        let error = Some(row.number("energy_error")).filter(|e| !e.is_nan());
        line.push(optional(error, |e| format!("{e:.1e}")));
        table.row(line);
    }
    table
}

fn times_json(times: &Times) -> Value {
    json!({
        "whole": times.whole,
        "split": times.split,
    })
}

fn force_json(row: &ForceTimes) -> Value {
    let [base, improved] = speed(row.n, row.ni);
    json!({
        "n": row.n,
        "ni": row.ni,
        "published_gflops": {"base": base, "improved": improved},
        "seconds": times_json(&row.times),
        "pairs_per_second": row.pairs() / row.times.split.median,
    })
}

fn run_json(row: &Run) -> Value {
    let [grape, base, improved, cg, xeon] = published_row(&TABLE_4_2, row.n);
    json!({
        "n": row.n,
        "published_seconds": {
            "grape_6af": grape, "base": base, "improved": improved, "cg": cg, "xeon": xeon,
        },
        "seconds": times_json(&row.times),
        "steps": row.figures["steps"],
        "block_steps": row.figures["block_steps"],
        "pairs": row.figures["pairs"],
        "energy_error": row.figures["energy_error"],
    })
}
