//! The run: the libraries take turns with the trace, and the table of what they did.

use std::process::ExitCode;

use kirin_kit::company::{Company, Watch};
use kirin_kit::machine::{Machine, command_line};
use kirin_kit::report::si_unit;
use serde::Serialize;

use super::Options;
use super::facts::TraceFacts;
use super::notes;
use super::summary::{Compared, Summary};
use crate::candidate::{Candidate, legend};
use crate::report::{self, Table};
use crate::worker::{Reply, Request};

/// Seconds of one turn.
const TURN: f64 = 1.0;

#[derive(Serialize)]
struct Document {
    kind: &'static str,
    version: &'static str,
    command: Vec<String>,
    machine: Machine,
    /// Who else used the machine, where the system tells.
    company: Option<Company>,
    trace: TraceFacts,
    libraries: Vec<Candidate>,
    /// One for each library; none for one that was lost.
    figures: Vec<Option<Summary>>,
    /// Whether every result of the first library is the recorded one, bit for bit.
    exact: bool,
    /// What must not be compared, and why.
    notes: Vec<String>,
}

/// Runs the subcommand.
///
/// # Errors
///
/// There is no trace, no library could be used, or the file cannot be written.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let file = &options.trace;
    let facts = TraceFacts::of(file).map_err(|e| format!("{}: {e}", file.display()))?;
    if let Some(damage) = &facts.damage {
        eprintln!(
            "kirin: {}: {damage}; {} events can be read",
            file.display(),
            facts.events
        );
    }
    // The number of pipelines decides whether kirin's lists have the particle itself.
    let pipelines = facts.pipelines.iter();
    let variables: Vec<(String, String)> = pipelines
        .map(|count| ("KIRIN_NPIPES".to_owned(), count.to_string()))
        .collect();
    let watch = Watch::start();
    let mut candidates = options.common.candidates_with(&variables);
    if !candidates.iter().any(Candidate::is_alive) {
        return Err("no library can be used".to_owned());
    }
    let mut figures = Vec::new();
    for candidate in &mut candidates {
        // A library that fails here has said so and is not asked again.
        let _ = candidate.ask(&Request::Replay {
            trace: facts.file.clone(),
            pipelines: facts.pipelines,
        });
        figures.push(None::<Summary>);
    }
    loop {
        let mut busy = false;
        for (candidate, figure) in candidates.iter_mut().zip(&mut figures) {
            if !candidate.is_alive() || figure.as_ref().is_some_and(|f| f.finished) {
                continue;
            }
            match candidate.ask(&Request::Continue { seconds: TURN }) {
                Ok(Reply::Replayed(summary)) => *figure = Some(summary),
                Ok(_) | Err(_) => continue,
            }
            busy = true;
        }
        if !busy {
            break;
        }
    }
    candidates.iter_mut().for_each(Candidate::dismiss);
    let document = Document {
        kind: "replay",
        version: env!("CARGO_PKG_VERSION"),
        command: command_line(),
        notes: notes::of(&facts, &candidates, &figures),
        machine: Machine::here(),
        company: watch.company(),
        exact: figures[0].as_ref().is_some_and(Summary::is_exact),
        trace: facts,
        libraries: candidates,
        figures,
    };
    report::print(&document.text());
    if let Some(file) = &options.common.json {
        report::save(file, &document)?;
    }
    let failed = document.trace.damage.is_some()
        || document.libraries.iter().any(Candidate::is_lost)
        || document.figures[0].is_none()
        || (options.exact && !document.exact);
    Ok(ExitCode::from(u8::from(failed)))
}

impl Document {
    fn text(&self) -> String {
        let mut table = Table::default();
        let mut heading = vec![String::new(), "recorded".to_owned()];
        heading.extend(self.libraries.iter().map(|c| c.name.clone()));
        table.row(heading);
        let count = |n: Option<usize>| n.map_or("unknown".to_owned(), |n| n.to_string());
        let mut pipelines = vec!["pipelines".to_owned(), count(self.trace.pipelines)];
        let opened = self.libraries.iter().map(|c| c.opened.as_ref());
        pipelines.extend(opened.map(|o| o.map_or("-".to_owned(), |o| o.npipes.to_string())));
        table.row(pipelines);
        let mut row = |title: &str, recorded: String, value: &dyn Fn(&Summary) -> String| {
            let mut cells = vec![title.to_owned(), recorded];
            let figures = self.figures.iter();
            cells.extend(figures.map(|f| f.as_ref().map_or("-".to_owned(), value)));
            table.row(cells);
        };
        let none = String::new;
        row("blocks in several calls", none(), &|s| s.split.to_string());
        row("forces", none(), &|s| s.forces.compared.to_string());
        row("  different bits", none(), &|s| {
            s.forces.different.to_string()
        });
        row("  not finite", none(), &|s| s.not_finite.to_string());
        for (title, errors) in [
            ("acc", (|s| s.acc) as fn(&Summary) -> _),
            ("jerk", |s| s.jerk),
            ("pot", |s| s.pot),
        ] {
            row(&format!("  {title} rms"), none(), &|s| {
                format!("{:.1e}", errors(s).rms)
            });
            row(&format!("  {title} max"), none(), &|s| {
                format!("{:.1e}", errors(s).max)
            });
        }
        for (title, compared) in [
            (
                "other neighbours",
                (|s| s.neighbours) as fn(&Summary) -> Compared,
            ),
            ("other lists", |s| s.lists),
            ("other predictions", |s| s.predicted),
        ] {
            row(title, none(), &|s| {
                let Compared {
                    compared,
                    different,
                } = compared(s);
                format!("{different} of {compared}")
            });
        }
        let seconds = |s: f64| si_unit(s, "s");
        row(
            "firsthalf, lasthalf",
            seconds(self.trace.force_seconds),
            &|s| seconds(s.force_seconds),
        );
        row("set_j_particle", none(), &|s| seconds(s.write_seconds));
        let mut text = format!(
            "{}libraries\n{}\n{table}",
            self.trace.text(),
            legend(&self.libraries)
        );
        if let Some(company) = &self.company {
            text += &format!("Other load: {company}.\n");
        }
        if !self.notes.is_empty() {
            text += "\nnot to be compared\n";
        }
        for note in &self.notes {
            text += &format!("  {note}\n");
        }
        text
    }
}
