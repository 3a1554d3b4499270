//! The report as Markdown and as JSON.

use std::fmt::Write as _;

use kirin_kit::comparison::Circumstances;
use kirin_report::text::{MarkdownTable, digits, grouped};
use serde_json::{Value, json};

use super::measured::{Cell, Times};
use super::published::Row;

/// Time steps of the chapter's runs by threads and processes.
pub const CHAPTER_STEPS: u64 = 1000;

/// The report.
pub struct Document {
    /// What its figures depend on.
    pub circumstances: Circumstances,
    /// The serial solvers beside one worker.
    pub one_worker: Vec<OneWorker>,
    /// The tables.
    pub tables: Vec<Table>,
    /// Time steps of the runs by threads and processes.
    pub steps: u64,
}

/// The processor time of a serial solver, and of the same solver with one worker: "less than 1%" apart in the chapter.
pub struct OneWorker {
    /// Section of the chapter.
    pub section: &'static str,
    /// What the worker is.
    pub worker: &'static str,
    /// Number of particles.
    pub particles: usize,
    /// Which solver.
    pub solver: &'static str,
    /// Its time alone.
    pub serial: Times,
    /// Its time with one worker.
    pub one: Times,
}

impl OneWorker {
    /// How much longer the one worker takes, in percent.
    fn difference(&self) -> Option<f64> {
        let (serial, one) = (self.serial.as_ref().ok()?, self.one.as_ref().ok()?);
        Some(100.0 * (one.median / serial.median - 1.0))
    }

    fn table(all: &[Self]) -> String {
        let headings = "section,solver,particles,one,serial here,quartiles %,one worker here,quartiles %,difference: chapter,here";
        let mut table = MarkdownTable::new(headings.split(','));
        for line in all {
            let times = [&line.serial, &line.one]
                .into_iter()
                .flat_map(|times| match times {
                    Ok(spread) => [digits(spread.median), spread.percent()],
                    Err(why) => [why.clone(), "-".to_owned()],
                });
            let mut cells = [line.section, line.solver].map(str::to_owned).to_vec();
            cells.extend([grouped(line.particles as u64), line.worker.to_owned()]);
            cells.extend(times);
            cells.push("below 1 %".to_owned());
            let difference = line.difference().map(|percent| format!("{percent:+.1} %"));
            cells.push(difference.unwrap_or("-".to_owned()));
            table.row(cells);
        }
        format!(
            "\n## One worker and none\n\nThe chapter leaves out the serial solvers, since their times differ by less than 1 % from those with one \
             thread (section 7.1.7) or process (7.1.11). Seconds of processor time, and half the distance of their quartiles in percent of \
             the median:\n\n{table}"
        )
    }

    fn json(&self) -> Value {
        let time = |times: &Times| match times {
            Ok(spread) => json!(spread),
            Err(why) => json!({"not_run": why}),
        };
        json!({
            "section": self.section,
            "solver": self.solver,
            "particles": self.particles,
            "worker": self.worker,
            "serial": time(&self.serial),
            "one": time(&self.one),
            "published_percent": {"below": 1.0},
            "percent": self.difference(),
        })
    }
}

/// One of the chapter's tables beside this machine.
pub struct Table {
    number: &'static str,
    what: &'static str,
    /// What the rows are by.
    by: &'static str,
    /// What the chapter has, too.
    columns: Vec<&'static str>,
    /// What only this machine has.
    others: Vec<&'static str>,
    rows: Vec<Line>,
}

/// One row.
struct Line {
    by: usize,
    published: Vec<f64>,
    /// The same columns here, and those that only this machine has.
    here: Vec<Cell>,
}

impl Table {
    /// A table of the chapter with a row of `here` for each of its own: a cell for each column and for each of the `others`.
    pub fn new<const N: usize>(
        number: &'static str,
        what: &'static str,
        by: &'static str,
        columns: &[&'static str; N],
        others: &[&'static str],
        published: &[Row<N>],
        here: &[Vec<Cell>],
    ) -> Self {
        let line = |(row, here): (&Row<N>, &Vec<Cell>)| Line {
            by: row.0,
            published: row.1.to_vec(),
            here: here.clone(),
        };
        Self {
            number,
            what,
            by,
            columns: columns.to_vec(),
            others: others.to_vec(),
            rows: published.iter().zip(here).map(line).collect(),
        }
    }

    fn is_by_workers(&self) -> bool {
        self.by != "particles"
    }

    /// Times, and speed-up with efficiency where the rows are by workers.
    fn markdown(&self) -> String {
        let elapsed = |cell: &Cell| cell.elapsed.clone();
        let mut text = format!(
            "\n## Table {}\n\n{} Seconds:\n\n{}",
            self.number,
            self.what,
            self.times(&elapsed)
        );
        if self.is_by_workers() {
            let longest = |cell: &Cell| cell.longest.clone();
            write!(
                text,
                "\nSpeed-up over one (efficiency):\n\n{}\nSeconds of processor time of the worker that computed longest. Waiting for \
                 others does not count. If there are more workers than cores, they take turns:\n\n{}\nSpeed-up of these times over one \
                 (efficiency):\n\n{}",
                self.speed_ups(&elapsed),
                self.times(&longest),
                self.speed_ups(&longest),
            )
            .expect("a string takes everything");
        }
        text
    }

    fn headings(&self) -> Vec<String> {
        let mut headings = vec![self.by.to_owned()];
        for column in &self.columns {
            headings.extend([format!("{column}: chapter"), "here".to_owned()]);
        }
        headings.extend(self.others.iter().map(|other| format!("{other} here")));
        headings
    }

    fn times(&self, of: &dyn Fn(&Cell) -> Times) -> MarkdownTable {
        let mut table = MarkdownTable::new(self.headings());
        for line in &self.rows {
            let here = |cell: &Cell| match of(cell) {
                Ok(spread) => digits(spread.median),
                Err(why) => why,
            };
            table.row(line.cells(|k| digits(line.published[k]), here));
        }
        table
    }

    fn speed_ups(&self, of: &dyn Fn(&Cell) -> Times) -> MarkdownTable {
        let mut table = MarkdownTable::new(self.headings());
        let first = &self.rows[0];
        for line in &self.rows[1..] {
            let told = |one: f64, these: f64| {
                let speed_up = one / these;
                format!("{speed_up:.2} ({:.2})", speed_up / line.by as f64)
            };
            let published = |k: usize| told(first.published[k], line.published[k]);
            let mut ones = first.here.iter();
            let here = |cell: &Cell| match (ones.next().map(of), of(cell)) {
                (Some(Ok(one)), Ok(these)) => told(one.median, these.median),
                _ => "-".to_owned(),
            };
            table.row(line.cells(published, here));
        }
        table
    }

    fn json(&self) -> Value {
        let rows = self.rows.iter().map(|line| {
            let here = line.here.iter().map(|cell| {
                let mut value = match &cell.elapsed {
                    Ok(spread) => json!(spread),
                    Err(why) => json!({"not_run": why}),
                };
                if let Ok(longest) = &cell.longest {
                    value["longest_worker"] = json!(longest);
                }
                value
            });
            json!({
                self.by: line.by,
                "published": line.published,
                "here": here.collect::<Vec<_>>(),
            })
        });
        json!({
            "table": self.number,
            "columns": self.columns,
            "others": self.others,
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}

impl Line {
    /// Chapter and here by turns, and last what only this machine has.
    fn cells(
        &self,
        published: impl Fn(usize) -> String,
        mut here: impl FnMut(&Cell) -> String,
    ) -> Vec<String> {
        let mut cells = vec![grouped(self.by as u64)];
        for (k, cell) in self.here.iter().enumerate() {
            if k < self.published.len() {
                cells.push(published(k));
            }
            cells.push(here(cell));
        }
        cells
    }
}

impl Document {
    /// The text.
    pub fn markdown(&self) -> String {
        let mut text = String::from("# The chapter's run times and this machine\n\n");
        text += &self.circumstances.markdown();
        if self.steps != CHAPTER_STEPS {
            writeln!(
                text,
                "* time steps: {}, where the chapter has {CHAPTER_STEPS}",
                self.steps
            )
            .expect("a string takes everything");
        }
        text += "\nEvery cell is the median of one to nine runs of one of the programs, in turns with those beside it. A cell without a \
                 number says why it was not run: how many cores there are, about how long it would have taken, what is missing.\n";
        text += &OneWorker::table(&self.one_worker);
        text.extend(self.tables.iter().map(Table::markdown));
        text
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        json!({
            "circumstances": self.circumstances.json(),
            "steps": self.steps,
            "one_worker": self.one_worker.iter().map(OneWorker::json).collect::<Vec<_>>(),
            "tables": self.tables.iter().map(Table::json).collect::<Vec<_>>(),
        })
    }
}
