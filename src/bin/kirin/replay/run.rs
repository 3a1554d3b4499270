//! The run: the libraries take turns with the trace, and the table of what they did.

use std::path::Path;
use std::process::ExitCode;

use kirin::observe::trace::{Event, Trace, TraceError};
use kirin_kit::machine::{Machine, command_line};
use kirin_kit::report::si_unit;
use serde::Serialize;

use super::Options;
use super::summary::{Compared, Summary};
use crate::column::{Column, legend};
use crate::report::{self, Table};
use crate::worker::{Reply, Request};

/// Seconds of one turn.
const TURN: f64 = 1.0;

/// What a trace says of itself.
#[derive(Default, Serialize)]
struct Facts {
    file: String,
    head: Vec<(String, String)>,
    /// Backends and precisions of the recorded clusters.
    recorded_with: Vec<String>,
    events: u64,
    blocks: u64,
    /// Bytes of all arguments of all calls, in and out.
    raw_bytes: u64,
    file_bytes: u64,
    /// Seconds in `firsthalf` and `lasthalf` when it was recorded.
    force_seconds: f64,
    /// Why it could not be read to its end.
    damage: Option<String>,
}

#[derive(Serialize)]
struct Document {
    kind: &'static str,
    version: &'static str,
    command: Vec<String>,
    machine: Machine,
    trace: Facts,
    libraries: Vec<Column>,
    /// One for each library; none for one that was lost.
    figures: Vec<Option<Summary>>,
    /// Whether every result of the first library is the recorded one, bit for bit.
    exact: bool,
}

/// Runs the subcommand.
///
/// # Errors
///
/// There is no trace, no library could be used, or the file cannot be written.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let file = &options.trace;
    let facts = Facts::of(file).map_err(|e| format!("{}: {e}", file.display()))?;
    if let Some(damage) = &facts.damage {
        eprintln!(
            "kirin: {}: {damage}; {} events can be read",
            file.display(),
            facts.events
        );
    }
    let mut columns = options.common.columns();
    if !columns.iter().any(Column::is_alive) {
        return Err("no library can be used".to_owned());
    }
    let mut figures = Vec::new();
    for column in &mut columns {
        let trace = facts.file.clone();
        // A library that fails here has said so and is not asked again.
        let _ = column.ask(&Request::Replay { trace });
        figures.push(None::<Summary>);
    }
    loop {
        let mut busy = false;
        for (column, figure) in columns.iter_mut().zip(&mut figures) {
            if !column.is_alive() || figure.as_ref().is_some_and(|f| f.finished) {
                continue;
            }
            match column.ask(&Request::Continue { seconds: TURN }) {
                Ok(Reply::Replayed(summary)) => *figure = Some(summary),
                Ok(_) | Err(_) => continue,
            }
            busy = true;
        }
        if !busy {
            break;
        }
    }
    let document = Document {
        kind: "replay",
        version: env!("CARGO_PKG_VERSION"),
        command: command_line(),
        machine: Machine::here(),
        exact: figures[0].as_ref().is_some_and(Summary::is_exact),
        trace: facts,
        libraries: columns,
        figures,
    };
    report::print(&document.text());
    if let Some(file) = &options.common.json {
        report::save(file, &document)?;
    }
    let failed = document.trace.damage.is_some()
        || document.figures[0].is_none()
        || (options.exact && !document.exact);
    Ok(ExitCode::from(u8::from(failed)))
}

impl Facts {
    fn of(file: &Path) -> Result<Self, TraceError> {
        let mut trace = Trace::open(file)?;
        let path = std::path::absolute(file).map_err(TraceError::Io)?;
        let mut facts = Self {
            file: path.to_string_lossy().into_owned(),
            head: trace.head().to_vec(),
            file_bytes: std::fs::metadata(file).map_err(TraceError::Io)?.len(),
            ..Self::default()
        };
        let mut nanoseconds = 0;
        loop {
            let event = match trace.next_event() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(e) => {
                    facts.damage = Some(e.to_string());
                    break;
                }
            };
            facts.events += 1;
            facts.raw_bytes += event.raw_bytes();
            match event {
                Event::FirstHalf { nanoseconds: n, .. } => {
                    facts.blocks += 1;
                    nanoseconds += n;
                }
                Event::LastHalf { nanoseconds: n, .. } => nanoseconds += n,
                Event::Description {
                    id,
                    backend,
                    precision,
                } => facts
                    .recorded_with
                    .push(format!("cluster {id}: {backend}, precision {precision}")),
                _ => {}
            }
        }
        facts.force_seconds = nanoseconds as f64 * 1e-9;
        Ok(facts)
    }

    fn text(&self) -> String {
        let mut text = format!("trace {}\n", self.file);
        for (name, value) in &self.head {
            text += &format!("  {name}: {value}\n");
        }
        for cluster in &self.recorded_with {
            text += &format!("  {cluster}\n");
        }
        text += &format!(
            "  {} events, {} blocks, {} for arguments of {} ({:.1} %)\n",
            self.events,
            self.blocks,
            si_unit(self.file_bytes as f64, "B"),
            si_unit(self.raw_bytes as f64, "B"),
            100.0 * self.file_bytes as f64 / self.raw_bytes.max(1) as f64
        );
        if let Some(damage) = &self.damage {
            text += &format!("  {damage}\n");
        }
        text
    }
}

impl Document {
    fn text(&self) -> String {
        let mut table = Table::default();
        let mut heading = vec![String::new(), "recorded".to_owned()];
        heading.extend(self.libraries.iter().map(|c| c.name.clone()));
        table.row(heading);
        let mut row = |title: &str, recorded: String, value: &dyn Fn(&Summary) -> String| {
            let mut cells = vec![title.to_owned(), recorded];
            let figures = self.figures.iter();
            cells.extend(figures.map(|f| f.as_ref().map_or("-".to_owned(), value)));
            table.row(cells);
        };
        let none = String::new;
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
        format!(
            "{}libraries\n{}\n{table}",
            self.trace.text(),
            legend(&self.libraries)
        )
    }
}
