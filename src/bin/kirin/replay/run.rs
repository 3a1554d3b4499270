//! The run of a replay: the libraries take turns with the trace, and the results go into a table.

use std::path::Path;
use std::process::ExitCode;

use kirin_report::company::{Company, Watch};
use kirin_report::machine::{Machine, command_line};
use serde::Serialize;

use super::Options;
use super::facts::TraceFacts;
use super::notes;
use super::summary::Summary;
use super::table;
use crate::candidate::{Candidate, MeasuredInterface, legend};
use crate::report;
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
    /// Whose calls were replayed.
    interface: MeasuredInterface,
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
/// There is no trace, or the file cannot be written.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let file = &options.trace;
    let facts = TraceFacts::of(file).map_err(|e| format!("{}: {e}", file.display()))?;
    if file.to_str().is_none() || !Path::new(&facts.file).exists() {
        return Err(format!(
            "{}: the name or its folder's is no UTF-8: rename the trace",
            file.display()
        ));
    }
    if let Some(damage) = &facts.damage {
        eprintln!(
            "kirin: {}: {damage}; {} events can be read",
            file.display(),
            facts.events
        );
    }
    let interface = facts.interface(options.common.interface);
    // The number of pipelines decides whether kirin's lists have the particle itself.
    let pipelines = facts.pipelines.iter();
    let variables: Vec<_> = pipelines
        .map(|count| ("KIRIN_NPIPES".to_owned(), count.to_string()))
        .collect();
    let watch = Watch::start();
    let Some(mut candidates) = options.common.candidates_with(interface, &variables) else {
        return Ok(ExitCode::FAILURE);
    };
    let mut figures = Vec::new();
    for candidate in &mut candidates {
        let begun = candidate.ask(&Request::Replay {
            trace: facts.file.clone(),
            pipelines: facts.pipelines,
        });
        // A library that is lost has said so and is not asked again.
        if let Err(why) = begun
            && candidate.is_alive()
        {
            candidate.give_up(why);
        }
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
        interface,
        trace: facts,
        libraries: candidates,
        figures,
    };
    let printed = report::print(&document.text());
    if let Some(file) = &options.common.json {
        report::save(file, &document)?;
    }
    printed?;
    let failed = document.trace.damage.is_some()
        || document.libraries.iter().any(Candidate::is_lost)
        || document.figures[0].is_none()
        || (options.exact && !document.exact);
    Ok(ExitCode::from(u8::from(failed)))
}

impl Document {
    fn text(&self) -> String {
        let table = table::of(self.interface, &self.trace, &self.libraries, &self.figures);
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
