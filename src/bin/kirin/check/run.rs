//! The run of a check: each library computes each scene and is judged by the limits of its precision.

use std::process::ExitCode;

use kirin_report::machine::{Machine, command_line};
use serde::Serialize;

use super::Options;
use super::limits::{Quantity, limit};
use super::measure::{ForceErrors, ListErrors};
use super::scene::{Scene, SceneOf};
use crate::candidate::{Candidate, MeasuredInterface, legend};
use crate::report::{self, Table};
use crate::worker::{Reply, Request};

/// What one library did in one scene.
#[derive(Default, Serialize)]
struct Reading {
    forces: Option<ForceErrors>,
    lists: Option<ListErrors>,
    error: Option<String>,
}

/// One scene.
#[derive(Serialize)]
struct Row {
    scene: Scene,
    title: &'static str,
    /// One entry for each library.
    figures: Vec<Reading>,
}

/// What goes into the file.
#[derive(Serialize)]
struct Document {
    kind: &'static str,
    interface: MeasuredInterface,
    version: &'static str,
    command: Vec<String>,
    machine: Machine,
    n: u32,
    seed: u64,
    libraries: Vec<Candidate>,
    scenes: Vec<Row>,
    /// Limits that each library misses, in words.
    misses: Vec<Vec<String>>,
    /// Those of the first library.
    missed: Vec<String>,
    passed: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// The file cannot be written.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let Some(mut candidates) = options.common.candidates() else {
        return Ok(ExitCode::FAILURE);
    };
    let mut scenes: Vec<Row> = Scene::ALL
        .map(|scene| Row::new(scene, candidates.len()))
        .into();
    // Lists last: few libraries have them in working order, and a crash ends the candidate.
    let interface = options.common.interface;
    let has_lists: &[bool] = match interface {
        MeasuredInterface::Grape6 | MeasuredInterface::Nbody6 => &[false, true],
        MeasuredInterface::Grape5 => &[false],
    };
    for &lists in has_lists {
        for row in &mut scenes {
            let scene = SceneOf {
                scene: row.scene,
                n: options.n as usize,
                seed: options.common.seed,
            };
            for (candidate, figure) in candidates.iter_mut().zip(&mut row.figures) {
                figure.ask(candidate, scene, lists);
            }
        }
    }
    candidates.iter_mut().for_each(Candidate::dismiss);
    let judged = candidates.iter().enumerate();
    let judged = judged.map(|(k, candidate)| verdict(k, candidate, &scenes, options.n, interface));
    let misses: Vec<Vec<String>> = judged.collect();
    let missed = misses[0].clone();
    let document = Document {
        kind: "check",
        interface,
        version: env!("CARGO_PKG_VERSION"),
        command: command_line(),
        machine: Machine::here(),
        n: options.n,
        seed: options.common.seed,
        libraries: candidates,
        scenes,
        passed: missed.is_empty(),
        missed,
        misses,
    };
    let printed = report::print(&document.text());
    if let Some(file) = &options.common.json {
        report::save(file, &document)?;
    }
    printed?;
    Ok(ExitCode::from(u8::from(!document.passed)))
}

impl Row {
    fn new(scene: Scene, candidates: usize) -> Self {
        let mut figures = Vec::new();
        figures.resize_with(candidates, Reading::default);
        Self {
            scene,
            title: scene.title(),
            figures,
        }
    }
}

impl Reading {
    fn ask(&mut self, candidate: &mut Candidate, scene: SceneOf, lists: bool) {
        let request = match lists {
            true => Request::Lists(scene),
            false => Request::Forces(scene),
        };
        match candidate.ask(&request) {
            Ok(Reply::Forces(forces)) => self.forces = Some(forces),
            Ok(Reply::Lists(lists)) => self.lists = Some(lists),
            Ok(_) => {}
            Err(why) => {
                self.error.get_or_insert(why);
            }
        }
    }

    fn value(&self, quantity: Quantity) -> Option<f64> {
        quantity.value(self.forces.as_ref(), self.lists.as_ref())
    }
}

fn precision(candidate: &Candidate) -> &str {
    candidate
        .opened
        .as_ref()
        .map_or("unknown", |o| &o.precision)
}

/// Whether there are limits for this precision.
fn has_limits(precision: &str) -> bool {
    matches!(
        precision,
        "mixed" | "double" | "double-single" | "auto" | "adaptive"
    )
}

/// What library number `k` misses, in words; nothing if it passes.
fn verdict(
    k: usize,
    candidate: &Candidate,
    scenes: &[Row],
    n: u32,
    interface: MeasuredInterface,
) -> Vec<String> {
    let mut missed: Vec<String> = candidate.error.iter().cloned().collect();
    for row in scenes {
        for &quantity in Quantity::of(interface) {
            let precision = precision(candidate);
            let Some(limit) = limit(interface, precision, row.scene, n as usize, quantity) else {
                continue;
            };
            let title = format!("{}: {}", row.title, quantity.title());
            match row.figures[k].value(quantity) {
                Some(value) if value <= limit => {}
                Some(value) => missed.push(format!(
                    "{title} is {}, limit {}",
                    number(quantity, value),
                    number(quantity, limit)
                )),
                None => missed.push(format!("{title} is unknown")),
            }
        }
    }
    missed
}

fn number(quantity: Quantity, value: f64) -> String {
    match quantity.is_count() {
        true => value.to_string(),
        false => format!("{value:.1e}"),
    }
}

impl Document {
    /// The precisions of the libraries that have limits, each once; that of the first library if none has.
    fn precisions(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for precision in self.libraries.iter().map(precision) {
            if has_limits(precision) && !found.contains(&precision) {
                found.push(precision);
            }
        }
        if found.is_empty() {
            found.push(precision(&self.libraries[0]));
        }
        found
    }

    fn limit(&self, precision: &str, scene: Scene, quantity: Quantity) -> Option<f64> {
        limit(self.interface, precision, scene, self.n as usize, quantity)
    }

    /// The verdict on a library that has `missed` these limits.
    fn verdict(candidate: &Candidate, missed: &[String]) -> String {
        let name = &candidate.name;
        match (missed, precision(candidate)) {
            ([], known) if has_limits(known) => format!("{name} is within every limit.\n"),
            ([], other) => format!("No limits apply to {name} (precision {other}).\n"),
            _ => format!("{name} misses:\n  {}\n", missed.join("\n  ")),
        }
    }

    fn text(&self) -> String {
        let mut table = Table::default();
        let precisions = self.precisions();
        for row in &self.scenes {
            table.row(vec![format!("\n{}", row.title)]);
            let mut heading = vec![String::new()];
            heading.extend(self.libraries.iter().map(|c| c.name.clone()));
            heading.extend(precisions.iter().map(|precision| match precisions.len() {
                1 => "limit".to_owned(),
                _ => format!("limit, {precision}"),
            }));
            table.row(heading);
            for &quantity in Quantity::of(self.interface) {
                let mut cells = vec![quantity.title().to_owned()];
                for (figure, candidate) in row.figures.iter().zip(&self.libraries) {
                    let limit = self.limit(precision(candidate), row.scene, quantity);
                    cells.push(match (figure.value(quantity), limit) {
                        (Some(v), Some(limit)) if v > limit => format!("! {}", number(quantity, v)),
                        (Some(v), _) => number(quantity, v),
                        (None, _) => "-".to_owned(),
                    });
                }
                cells.extend(precisions.iter().map(|precision| {
                    let limit = self.limit(precision, row.scene, quantity);
                    limit.map_or_else(String::new, |l| number(quantity, l))
                }));
                table.row(cells);
            }
        }
        let judged = self.libraries.iter().zip(&self.misses);
        let verdicts: String = judged.map(|(c, missed)| Self::verdict(c, missed)).collect();
        format!("libraries\n{}{table}\n{verdicts}", legend(&self.libraries))
    }
}
