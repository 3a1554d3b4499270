//! The files that a run writes on its way. One that cannot be written now ends no run: the user is told once, and it is
//! tried again at the next chance.

use std::error::Error;
use std::path::{Path, PathBuf};

use super::{Integration, Run, RunOutputs};
use crate::body::Body;
use crate::claim::is_device;
use crate::columns::Columns;
use crate::command::named;
use crate::csv::Csv;
use crate::history::Record;
use crate::snapshot::parts::Manifest;

/// The kinds of files.
#[derive(Clone, Copy)]
enum Kind {
    Checkpoint,
    Snapshot,
    Frame,
    Table,
}

/// What a run could not write.
#[derive(Default)]
pub(super) struct Failures {
    /// Whether the last file of each kind could not be written.
    last: [bool; 4],
    /// Number of files that nothing can bring back.
    lost: usize,
    /// Why the first of them was not written.
    first: String,
}

impl Failures {
    /// A file of this `kind` was written, or not; in words. Returns what the user is to hear.
    fn add(&mut self, kind: Kind, written: Result<(), String>) -> Option<String> {
        let failed = &mut self.last[kind as usize];
        let Err(why) = written else {
            *failed = false;
            return None;
        };
        let is_new = !std::mem::replace(failed, true);
        let next = match kind {
            Kind::Checkpoint => "the next state is tried again",
            Kind::Snapshot | Kind::Frame => "the next one is tried again",
            Kind::Table => "the next line is tried again, with this one",
        };
        if let Kind::Snapshot | Kind::Frame = kind {
            self.lose(&why);
        }
        is_new.then(|| format!("{why}; the run goes on, and {next}"))
    }

    fn lose(&mut self, why: &str) {
        self.lost += 1;
        if self.lost == 1 {
            why.clone_into(&mut self.first);
        }
    }
}

/// The table of the diagnostics. It has no file where that could not be written last.
pub(super) struct Table {
    path: PathBuf,
    columns: Columns,
    pub(super) file: Option<Csv>,
}

impl Table {
    /// The table of a run that has these `records` so far.
    pub(super) fn begin(path: &Path, columns: Columns, records: &[Record]) -> Result<Self, String> {
        let mut table = Self {
            path: path.to_owned(),
            columns,
            file: None,
        };
        table.file = Some(table.create(path, records)?);
        Ok(table)
    }

    /// Writes the last of the `records`, or all of them if the file does not have the others.
    fn write(&mut self, records: &[Record]) -> Result<(), String> {
        let columns = &self.columns;
        let written = match (&mut self.file, records.last()) {
            (Some(file), Some(last)) => file.write(&columns.line(last.all_numbers())),
            (Some(_), None) => Ok(()),
            (None, _) => self.renew(records).map(|file| self.file = Some(file)),
        };
        if written.is_err() {
            self.file = None;
        }
        written
    }

    /// A file at `path` with all `records`.
    fn create(&self, path: &Path, records: &[Record]) -> Result<Csv, String> {
        let lines = records.iter().map(|r| self.columns.line(r.all_numbers()));
        Csv::create(path, &self.columns.names(), lines)
    }

    /// A new file with all `records`, which takes the place of the old one when it is whole.
    fn renew(&self, records: &[Record]) -> Result<Csv, String> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let partial = self.path.with_file_name(name);
        let renewed = self.create(&partial, records).and_then(|file| {
            std::fs::rename(&partial, &self.path).map_err(named(&self.path))?;
            Ok(file)
        });
        if renewed.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        renewed
    }
}

impl<I: Integration> Run<I> {
    /// Writes what [`save`](Self::save) returns to `path`, as one file or in parts. All who integrate together take part.
    ///
    /// # Errors
    ///
    /// Those of the integration; a file cannot be written.
    pub fn save_to(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        Ok(self.write_state(path)??)
    }

    /// The same, with the errors of the files, in words, apart.
    fn write_state(&self, path: &Path) -> Result<Result<(), String>, I::Error> {
        let lines: Vec<_> = self
            .log()
            .lines()
            .into_iter()
            .chain(self.told.lines())
            .collect();
        if let Some(written) = self.integration.save_in_parts(&lines, path)? {
            return Ok(written);
        }
        let snapshot = self.save()?;
        if !self.writes() {
            return Ok(Ok(()));
        }
        // The state that is replaced may be one in parts.
        let before = Manifest::at(path);
        let written = snapshot.save_as(path);
        if let (Ok(()), Some(before)) = (&written, before) {
            before.remove(path);
        }
        Ok(written)
    }

    /// Replaces the checkpoint.
    pub(super) fn checkpoint(&mut self, plan: &RunOutputs) -> Result<(), I::Error> {
        let path = plan.checkpoints.as_ref().map(|c| &c.path);
        match path.or(plan.output.as_ref()) {
            Some(path) => {
                let written = self.write_state(path)?;
                self.note(Kind::Checkpoint, written);
            }
            None if self.writes() => {
                (self.say)("SIGUSR1: there is no --output for a checkpoint");
            }
            None => {}
        }
        Ok(())
    }

    /// Draws `bodies`, which are at `t`, as frame `number` of the `plan`'s film.
    pub(super) fn frame(&mut self, number: i64, t: f64, bodies: &[Body], plan: &RunOutputs) {
        let Some(plan) = &plan.frames else {
            return;
        };
        let width = match self.film {
            Some((_, width)) => width,
            None => self.integration.film_half_width(bodies),
        };
        self.film = Some((plan.every, width));
        if self.writes() {
            let written = plan.save(number, &self.integration.frame(t, bodies, width));
            self.note(Kind::Frame, written);
        }
    }

    /// Writes `bodies`, which are at `t`, as snapshot `number` of the `plan`.
    pub(super) fn snapshot(&mut self, number: i64, t: f64, bodies: Vec<Body>, plan: &RunOutputs) {
        if let (Some(plan), true) = (&plan.snapshots, self.writes()) {
            let notes = self.integration.notes();
            let written = plan.save(number, t, self.integration.eps(), bodies, notes);
            self.note(Kind::Snapshot, written);
        }
    }

    /// Adds the last record to the table.
    pub(super) fn add_to_table(&mut self) {
        if let Some(table) = &mut self.table {
            let written = table.write(&self.records);
            if let Err(why) = &written
                && is_device(&table.path)
            {
                // What a pipe or a device has lost cannot be written again.
                self.failures.lose(why);
                (self.say)(&format!("{why}; the run goes on without the table"));
                self.table = None;
                return;
            }
            self.note(Kind::Table, written);
        }
    }

    /// Ends the table, and writes what it lacks.
    pub(super) fn close_table(&mut self) {
        if let Some(mut table) = self.table.take()
            && table.file.is_none()
            && let Err(why) = table.write(&self.records)
        {
            self.failures.lose(&why);
        }
    }

    /// What was written or not.
    fn note(&mut self, kind: Kind, written: Result<(), String>) {
        if let Some(line) = self.failures.add(kind, written)
            && self.writes()
        {
            (self.say)(&line);
        }
    }

    /// What the run could not write on its way, and has not written since; in words, on the rank that writes.
    pub fn unwritten(&self) -> Option<String> {
        let Failures { lost, first, .. } = &self.failures;
        match lost {
            0 => None,
            1 => Some(format!("a file was not written: {first}")),
            _ => Some(format!("{lost} files were not written; the first: {first}")),
        }
    }
}
