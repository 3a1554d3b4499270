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
use crate::replace::replace;
use crate::snapshot::parts::Manifest;

/// The kinds of files.
#[derive(Clone, Copy, Debug)]
pub enum FileKind {
    /// The state of the run.
    Checkpoint,
    /// A snapshot of a series.
    Snapshot,
    /// A picture of a film.
    Frame,
    /// The table of the records.
    Table,
    /// The lines of the records on stdout.
    Log,
}

/// What a run could not write.
#[derive(Debug, Default)]
pub struct Failures {
    /// Whether the last file of each kind could not be written.
    last: [bool; 5],
    /// Number of files that nothing can bring back.
    lost: usize,
    /// Why the first of them was not written.
    first: String,
}

impl Failures {
    /// A file of this `kind` was written, or not; in words. Returns what the user is to hear.
    pub fn add(&mut self, kind: FileKind, written: Result<(), String>) -> Option<String> {
        let failed = &mut self.last[kind as usize];
        let Err(why) = written else {
            *failed = false;
            return None;
        };
        let is_new = !std::mem::replace(failed, true);
        let next = match kind {
            FileKind::Checkpoint => "the next state is tried again",
            FileKind::Snapshot | FileKind::Frame => "the next one is tried again",
            FileKind::Table => "the next line is tried again, with this one",
            FileKind::Log => "the next line is tried again",
        };
        if let FileKind::Snapshot | FileKind::Frame | FileKind::Log = kind {
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

    /// Adds the last of the `records`, which have these `numbers`, to the table. Returns what the user is to hear.
    pub fn add_to_table<R>(
        &mut self,
        table: &mut Option<Table>,
        records: &[R],
        numbers: impl Fn(&R) -> Vec<f64>,
    ) -> Option<String> {
        let file = table.as_mut()?;
        let written = file.write(records, numbers);
        if let Err(why) = &written
            && is_device(&file.path)
        {
            // What a pipe or a device has lost cannot be written again.
            self.lose(why);
            *table = None;
            return Some(format!("{why}; the run goes on without the table"));
        }
        self.add(FileKind::Table, written)
    }

    /// Ends the table, and writes what it lacks of the `records`.
    pub fn close_table<R>(
        &mut self,
        table: Option<Table>,
        records: &[R],
        numbers: impl Fn(&R) -> Vec<f64>,
    ) {
        if let Some(mut table) = table
            && table.file.is_none()
            && let Err(why) = table.write(records, numbers)
        {
            self.lose(&why);
        }
    }

    /// What was not written, and has not been since; in words.
    pub fn unwritten(&self) -> Option<String> {
        let Self { lost, first, .. } = self;
        match lost {
            0 => None,
            1 => Some(format!("a file was not written: {first}")),
            _ => Some(format!("{lost} files were not written; the first: {first}")),
        }
    }
}

/// The table of the diagnostics. It has no file where that could not be written last.
pub struct Table {
    path: PathBuf,
    columns: Columns,
    pub(super) file: Option<Csv>,
}

impl Table {
    /// The table of a run that has these `records` so far.
    ///
    /// # Errors
    ///
    /// It cannot be written; in words.
    pub fn begin<R>(
        path: &Path,
        columns: Columns,
        records: &[R],
        numbers: impl Fn(&R) -> Vec<f64>,
    ) -> Result<Self, String> {
        let mut table = Self {
            path: path.to_owned(),
            columns,
            file: None,
        };
        table.file = Some(table.create(path, records, numbers)?);
        Ok(table)
    }

    /// Writes the last of the `records`, or all of them if the file does not have the others.
    fn write<R>(&mut self, records: &[R], numbers: impl Fn(&R) -> Vec<f64>) -> Result<(), String> {
        let columns = &self.columns;
        let written = match (&mut self.file, records.last()) {
            (Some(file), Some(last)) => file.write(&columns.line(numbers(last))),
            (Some(_), None) => Ok(()),
            (None, _) => self
                .renew(records, numbers)
                .map(|file| self.file = Some(file)),
        };
        if written.is_err() {
            self.file = None;
        }
        written
    }

    /// A file at `path` with all `records`.
    fn create<R>(
        &self,
        path: &Path,
        records: &[R],
        numbers: impl Fn(&R) -> Vec<f64>,
    ) -> Result<Csv, String> {
        let lines = records.iter().map(|r| self.columns.line(numbers(r)));
        Csv::create(path, &self.columns.names(), lines)
    }

    /// A new file with all `records`, which takes the place of the old one when it is whole.
    fn renew<R>(&self, records: &[R], numbers: impl Fn(&R) -> Vec<f64>) -> Result<Csv, String> {
        let write = |partial: &Path| self.create(partial, records, numbers);
        replace(&self.path, write, named(&self.path))
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
                self.note(FileKind::Checkpoint, written);
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
            self.note(FileKind::Frame, written);
        }
    }

    /// Writes `bodies`, which are at `t`, as snapshot `number` of the `plan`.
    pub(super) fn snapshot(&mut self, number: i64, t: f64, bodies: Vec<Body>, plan: &RunOutputs) {
        if let (Some(plan), true) = (&plan.snapshots, self.writes()) {
            let notes = self.integration.notes();
            let written = plan.save(number, t, self.integration.eps(), bodies, notes);
            self.note(FileKind::Snapshot, written);
        }
    }

    /// Adds the last record to the table.
    pub(super) fn add_to_table(&mut self) {
        let all = Record::all_numbers;
        let line = self
            .failures
            .add_to_table(&mut self.table, &self.records, all);
        self.tell(line);
    }

    /// Ends the table, and writes what it lacks.
    pub(super) fn close_table(&mut self) {
        let (table, all) = (self.table.take(), Record::all_numbers);
        self.failures.close_table(table, &self.records, all);
    }

    /// What was written or not.
    pub(super) fn note(&mut self, kind: FileKind, written: Result<(), String>) {
        let line = self.failures.add(kind, written);
        self.tell(line);
    }

    fn tell(&mut self, line: Option<String>) {
        if let Some(line) = line
            && self.writes()
        {
            (self.say)(&line);
        }
    }

    /// What the run could not write on its way, and has not written since; in words, on the rank that writes.
    pub fn unwritten(&self) -> Option<String> {
        self.failures.unwritten()
    }
}
