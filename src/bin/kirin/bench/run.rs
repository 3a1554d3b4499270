//! The run of a benchmark: libraries take turns within each round, round after round.

use std::process::ExitCode;
use std::time::Instant;

use clap::ValueEnum;
use kirin_core::cpu;
use kirin_report::company::{Company, Watch};
use kirin_report::machine::{Machine, command_line};
use kirin_report::plot::check_path;
use kirin_report::repeat::Spread;
use kirin_report::text::si_unit;
use serde::Serialize;

use super::Options;
use super::figure;
use super::measure::{Case, Measurement, Sample, Size};
use super::peak::{self, Peak};
use super::table;
use crate::candidate::{Candidate, MeasuredInterface};
use crate::report::{self, Table};
use crate::worker::{Reply, Request};

/// One row of the table: what is measured, on how much.
#[derive(Serialize)]
pub struct Row {
    /// Number of j-particles.
    pub n: usize,
    /// What is measured.
    pub case: Case,
    /// Number of i-particles.
    pub ni: Size,
    /// One entry for each library.
    pub figures: Vec<Reading>,
}

/// What one library did in one row.
#[derive(Default, Serialize)]
pub struct Reading {
    /// Seconds for one block (of `full`: one call), or one set_j_particle.
    pub seconds: Option<Spread>,
    /// Pairs (or writes) per second.
    pub rate: Option<Spread>,
    /// Rate over that of the base, round by round.
    pub ratio: Option<Spread>,
    /// The rate divided by the peak. The peak is the rate of cores that do nothing but the arithmetic of the pairs. The
    /// first number is for processors with separate pipes for additions, the second for those on which additions share
    /// the pipes of the multiplications.
    pub of_limit: Option<[f64; 2]>,
    /// Why there is no figure.
    pub error: Option<String>,
    #[serde(skip)]
    samples: Vec<Option<Sample>>,
}

/// What goes into the file.
#[derive(Serialize)]
pub struct Document {
    kind: &'static str,
    /// Whose calls were measured.
    pub interface: MeasuredInterface,
    version: &'static str,
    command: Vec<String>,
    /// Where it was measured.
    pub machine: Machine,
    /// Who else used that, where the system tells.
    pub company: Option<Company>,
    rounds: u32,
    eps: f64,
    /// Whether seconds are processor time.
    pub processor_time: bool,
    seed: u64,
    /// Length of the run.
    pub seconds: f64,
    /// The libraries.
    pub libraries: Vec<Candidate>,
    /// Library that ratios refer to.
    pub base: Option<usize>,
    /// Fused multiply-adds per second of one core, in each library's process.
    pub fma_per_second: Vec<Option<Spread>>,
    /// In `mixed`.
    arithmetic_per_pair: f64,
    multiplications_per_pair: f64,
    /// The figures.
    pub cells: Vec<Row>,
}

/// Runs the subcommand.
///
/// # Errors
///
/// There is nothing to measure, or the file cannot be written.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    if options.peak {
        return peaks(options);
    }
    let mut cells = options.rows()?;
    if let Some(plot) = &options.plot {
        check_path(plot)?;
        if !cells.iter().any(|cell| cell.case == Case::Force) {
            return Err(
                "--plot draws the case `force`, which --cases or --ni leaves out".to_owned(),
            );
        }
    }
    let machine = Machine::here();
    let watch = Watch::start();
    let Some(mut candidates) = options.common.candidates() else {
        return Ok(ExitCode::FAILURE);
    };
    let begin = Instant::now();
    for cell in &mut cells {
        cell.figures.resize_with(candidates.len(), Reading::default);
    }
    let samples = cells.len() * candidates.len() * options.rounds as usize;
    let seconds = options.seconds / samples.max(1) as f64;
    let mut peaks = vec![Vec::new(); candidates.len()];
    let mut sizes = options.n.clone();
    // A library with fixed arrays may end at some size: the smaller ones first.
    sizes.sort_unstable();
    sizes.dedup();
    for n in sizes {
        for candidate in &mut candidates {
            // A library that fails here has said so and is not asked again.
            let _ = candidate.ask(&Request::Load {
                n,
                seed: options.common.seed,
            });
        }
        for round in 0..options.rounds {
            for (candidate, peaks) in candidates.iter_mut().zip(&mut peaks) {
                if let Ok(Reply::Peak(Peak { fma_per_second, .. })) =
                    candidate.ask(&Request::Peak { seconds: 0.002 })
                {
                    peaks.push(fma_per_second);
                }
            }
            for cell in cells.iter_mut().filter(|c| c.n == n) {
                let what = Measurement {
                    case: cell.case,
                    ni: cell.ni,
                    eps2: options.eps * options.eps,
                    seconds,
                    processor_time: options.processor_time,
                };
                // No library is always the one that finds the machine as another left it.
                for k in 0..candidates.len() {
                    let k = (k + round as usize) % candidates.len();
                    cell.figures[k].sample(&mut candidates[k], what);
                }
            }
        }
    }
    let alive = candidates.iter().any(Candidate::is_alive);
    candidates.iter_mut().for_each(Candidate::dismiss);
    let mut document = Document {
        kind: "bench",
        interface: options.common.interface,
        version: env!("CARGO_PKG_VERSION"),
        command: command_line(),
        machine,
        company: watch.company(),
        rounds: options.rounds,
        eps: options.eps,
        processor_time: options.processor_time,
        seed: options.common.seed,
        seconds: begin.elapsed().as_secs_f64(),
        base: base(&candidates),
        libraries: candidates,
        fma_per_second: peaks.into_iter().map(Spread::of).collect(),
        arithmetic_per_pair: peak::MIXED.arithmetic,
        multiplications_per_pair: peak::MIXED.multiplications,
        cells,
    };
    document.evaluate();
    let printed = report::print(&table::text(&document));
    if let Some(file) = &options.common.json {
        report::save(file, &document)?;
    }
    if let Some(plot) = &options.plot {
        figure::figure(&document).save(plot)?;
    }
    printed?;
    match alive {
        true => Ok(ExitCode::SUCCESS),
        false => Err("every library was lost on the way".to_owned()),
    }
}

/// The library that ratios refer to: the first foreign one, or the first of several with kirin's own.
fn base(candidates: &[Candidate]) -> Option<usize> {
    let foreign = candidates.iter().position(Candidate::is_foreign);
    foreign.or((candidates.len() > 1).then_some(0))
}

/// `--peak`: every instruction set of this processor.
fn peaks(options: &Options) -> Result<ExitCode, String> {
    let mut table = Table::default();
    let mut found = Vec::new();
    for set in cpu::available() {
        let values = (0..options.rounds).map(|_| peak::peak(set, 0.01).fma_per_second);
        let spread = Spread::of(values.collect()).expect("there is a round");
        table.row(vec![
            set.to_string(),
            si_unit(spread.median, "FMA/s"),
            format!("+-{} %", spread.percent()),
        ]);
        found.push((set.to_string(), spread));
    }
    let printed = report::print(&format!(
        "single-precision fused multiply-adds of one core, all lanes counted\n{table}"
    ));
    if let Some(file) = &options.common.json {
        #[derive(Serialize)]
        struct Peaks {
            kind: &'static str,
            command: Vec<String>,
            machine: Machine,
            fma_per_second: Vec<(String, Spread)>,
        }
        report::save(
            file,
            &Peaks {
                kind: "peak",
                command: command_line(),
                machine: Machine::here(),
                fma_per_second: found,
            },
        )?;
    }
    printed?;
    Ok(ExitCode::SUCCESS)
}

impl Options {
    /// The rows of the table.
    ///
    /// # Errors
    ///
    /// There are none, or the libraries have no such case.
    fn rows(&self) -> Result<Vec<Row>, String> {
        let known = Case::of(self.common.interface);
        let name = |case: &Case| {
            let value = case.to_possible_value();
            value.map_or_else(String::new, |value| value.get_name().to_owned())
        };
        if let Some(case) = self.cases.iter().find(|case| !known.contains(case)) {
            let names: Vec<String> = known.iter().map(name).collect();
            return Err(format!(
                "--cases {}: libraries of this interface have only {}",
                name(case),
                names.join(", ")
            ));
        }
        let rows: Vec<Row> = self.n.iter().flat_map(|&n| self.cells(n)).collect();
        match rows.is_empty() {
            true => Err(
                "nothing to measure: each NI of --ni is above each N of --n, or these cases have no full blocks"
                    .to_owned(),
            ),
            false => Ok(rows),
        }
    }

    /// The rows for one N.
    fn cells(&self, n: usize) -> Vec<Row> {
        let cases = match self.cases.as_slice() {
            [] => Case::of(self.common.interface),
            some => some,
        };
        let cell = |case, ni| Row {
            n,
            case,
            ni,
            figures: Vec::new(),
        };
        let mut cells = Vec::new();
        for &case in cases {
            if !case.is_force() {
                cells.push(cell(case, Size::Block(1)));
                continue;
            }
            for &ni in self.ni.iter().filter(|&&ni| case.wants(ni)) {
                if !matches!(ni, Size::Block(ni) if ni > n) {
                    cells.push(cell(case, ni));
                }
            }
        }
        cells
    }
}

impl Reading {
    fn sample(&mut self, candidate: &mut Candidate, what: Measurement) {
        let sample = match candidate.ask(&Request::Sample(what)) {
            Ok(Reply::Sample(sample)) => Some(sample),
            Ok(_) => None,
            Err(why) => {
                // The first reason is the cause of the later ones.
                self.error.get_or_insert(why);
                None
            }
        };
        self.samples.push(sample);
    }

    /// Rounds without a sample have none.
    fn rates(&self) -> Vec<Option<f64>> {
        let rate = |s: &Sample| s.units / s.seconds;
        self.samples.iter().map(|s| s.as_ref().map(rate)).collect()
    }
}

impl Document {
    /// Medians, ratios and fractions from the samples.
    fn evaluate(&mut self) {
        for cell in &mut self.cells {
            let base = self.base.map(|base| cell.figures[base].rates());
            let base = base.unwrap_or_default();
            for (k, figure) in cell.figures.iter_mut().enumerate() {
                let seconds = figure.samples.iter().flatten().map(|s| s.seconds);
                figure.seconds = Spread::of(seconds.collect());
                let rates = figure.rates();
                figure.rate = Spread::of(rates.iter().flatten().copied().collect());
                let pairs = rates.iter().zip(&base);
                let ratios = pairs.filter_map(|(&own, &other)| Some(own? / other?));
                if Some(k) != self.base {
                    figure.ratio = Spread::of(ratios.collect());
                }
                let Some(opened) = &self.libraries[k].opened else {
                    continue;
                };
                let (Some(rate), Some(fma), Some(threads)) =
                    (figure.rate, self.fma_per_second[k], opened.threads)
                else {
                    continue;
                };
                let precision = match opened.precision.as_str() {
                    "auto" | "adaptive" if cell.n > cpu::DOUBLE_UP_TO => "mixed",
                    "auto" | "adaptive" => "double",
                    always => always,
                };
                let counted =
                    match self.interface == MeasuredInterface::Grape6 && cell.case.is_force() {
                        true => peak::operations(precision, &opened.backend),
                        false => None,
                    };
                if let Some(operations) = counted {
                    // Processor time is that of all threads together.
                    let cores = match self.processor_time {
                        true => fma.median,
                        false => fma.median * threads as f64,
                    };
                    figure.of_limit = Some(
                        [operations.multiplications, operations.arithmetic]
                            .map(|operations| rate.median * operations / cores),
                    );
                }
            }
        }
    }
}
