//! A run: an integration with its clock, diagnostics and files, up to its end or an interruption.
//!
//! An application implements [`Integration`]; the rest is the same for all of them.

mod clock;
mod conduct;
mod control;
mod grid;
mod guard;
mod integration;
mod log;
mod plan;
pub mod told;
mod writing;

use std::error::Error;
use std::time::{Duration, Instant};

pub use clock::{Cadence, Clock, Interval, Timer};
pub use conduct::{check_end, conduct, tell_what_goes_on};
pub use control::{Kept, RunControl};
pub use grid::TimeGrid;
pub use guard::{Guard, Verdict};
pub use integration::{Decision, Integration};
pub use log::Log;
pub use plan::{Checkpoints, Frames, RunOutputs, Snapshots};
pub use told::Told;

use crate::body::Body;
use crate::columns::Columns;
use crate::command::{Ended, print, tell};
use crate::history::{Record, is_of_component};
use crate::interrupt;
use crate::models::light_and_heavy;
use crate::sight::{Sight, Start, energy_of};
use crate::snapshot::Snapshot;
pub use writing::{Failures, FileKind, Table};

/// An integration, what it has cost, and what was seen on the way.
pub struct Run<I> {
    /// The integration.
    pub integration: I,
    /// Energy at the very start, before any interruption.
    pub start: Start,
    /// Wall time of the steps, without diagnostics and files.
    pub seconds: f64,
    /// Wall time of all of it.
    wall: f64,
    /// Since when this part of the run goes on.
    since: Option<Instant>,
    /// Diagnostics in order of time.
    pub records: Vec<Record>,
    /// What the run was told, for one that goes on.
    pub told: Told,
    /// Who hears what the run has to say on its way.
    pub say: Box<dyn Fn(&str)>,
    /// Whether a line of each record goes to stdout, for the log of a batch job.
    pub tells_records: bool,
    /// Interval and half the width of the film's frames, known from the first one on.
    film: Option<(f64, f64)>,
    /// The table of the diagnostics, where one is written.
    table: Option<Table>,
    /// What could not be written so far.
    failures: Failures,
    /// Whether the guard has warned.
    warned: bool,
    /// What was seen last, and when.
    seen: Option<(f64, Sight)>,
    model: String,
    seed: Option<u64>,
}

impl<I: Integration> Run<I> {
    /// A new run, or the continuation of the run that `log` records. Energy errors refer to the energy at the start
    /// in the log. If the log has none, or one with another softening, they refer to the present energy.
    ///
    /// # Errors
    ///
    /// Those of [`Integration::bodies_at`].
    pub fn new(mut integration: I, log: Log) -> Result<Self, I::Error> {
        let start = match log.start {
            Some((energy, Some(own), eps)) if eps == integration.eps() => Start { energy, own },
            saved => {
                let bodies = integration.bodies_at(integration.time())?;
                let sight = Sight::of(&mut integration, &bodies)?;
                let now = Start::of(&sight.energy, &bodies, integration.within_systems());
                match saved {
                    Some((energy, None, eps)) if eps == integration.eps() => {
                        Start { energy, ..now }
                    }
                    _ => now,
                }
            }
        };
        let columns = integration.own_columns().len();
        let mut records = log.records;
        // Another application's are not ours.
        for record in records.iter_mut().filter(|r| r.own.len() != columns) {
            record.own = vec![f64::NAN; columns];
        }
        Ok(Self {
            integration,
            start,
            seconds: log.seconds,
            wall: log.wall,
            since: None,
            records,
            told: Told::default(),
            say: Box::new(tell),
            tells_records: false,
            film: log.film,
            table: None,
            failures: Failures::default(),
            warned: false,
            seen: None,
            model: log.model,
            seed: log.seed,
        })
    }

    /// What has happened so far.
    pub fn log(&self) -> Log {
        Log {
            model: self.model.clone(),
            seed: self.seed,
            start: Some((
                self.start.energy,
                Some(self.start.own),
                self.integration.eps(),
            )),
            seconds: self.seconds,
            wall: self.wall
                + self
                    .since
                    .map_or(0.0, |since| since.elapsed().as_secs_f64()),
            film: self.film,
            records: self.records.clone(),
        }
    }

    /// All that is needed to go on with the same bits: the integration's state and the log.
    ///
    /// # Errors
    ///
    /// Those of [`Integration::state`].
    pub fn save(&self) -> Result<Snapshot, I::Error> {
        let mut snapshot = self.integration.state()?;
        snapshot.run.extend(self.log().lines());
        snapshot.run.extend(self.told.lines());
        Ok(snapshot)
    }

    /// Whether this process writes the files.
    fn writes(&self) -> bool {
        self.integration.rank().0 == 0
    }

    /// Takes every step that ends by `t_end`, and writes and records what `plan` asks for. The run ends earlier if
    /// `stop` returns true, if its wall-clock time is over, or if the guard finds its energy error too large. `watch`
    /// is called with the time after each step.
    ///
    /// Diagnostics are recorded at the start, at multiples of their interval and at the end. They
    /// and the files change no bit of the integration.
    ///
    /// # Errors
    ///
    /// The integration fails, or the table of diagnostics cannot be begun. The bodies are then at the end of the last
    /// complete step and can be [saved](Self::save). A file that cannot be written on the way ends no run: it is tried
    /// again at the next chance, and [`unwritten`](Self::unwritten) tells in the end what is lost.
    pub fn evolve(
        &mut self,
        t_end: f64,
        plan: &RunOutputs,
        stop: &dyn Fn() -> bool,
        watch: &dyn Fn(f64),
    ) -> Result<Ended, Box<dyn Error>> {
        let began = Instant::now();
        self.since = Some(began);
        let ended = self.go_on(t_end, plan, stop, watch);
        self.close_table();
        self.since = None;
        self.wall += began.elapsed().as_secs_f64();
        ended
    }

    /// Adds what the program has done before the steps, such as making a model, to the wall time of the run.
    pub fn add_wall_time(&mut self, before: Duration) {
        self.wall += before.as_secs_f64();
    }

    /// [`evolve`](Self::evolve), while its clock runs.
    fn go_on(
        &mut self,
        t_end: f64,
        plan: &RunOutputs,
        stop: &dyn Fn() -> bool,
        watch: &dyn Fn(f64),
    ) -> Result<Ended, Box<dyn Error>> {
        let start = self.integration.time();
        let columns = [Record::COLUMNS, &self.integration.own_columns()].concat();
        let columns = Columns::new(&columns, self.integration.units().as_ref());
        let components = match &plan.csv {
            Some(_) => light_and_heavy(&self.integration.bodies_at(start)?).is_some(),
            None => false,
        };
        let columns = columns.only(|name| match is_of_component(name) {
            true => components,
            false => self.integration.has_column(name),
        });
        if let (Some(path), true) = (&plan.csv, self.writes()) {
            self.table = Some(Table::begin(
                path,
                columns,
                &self.records,
                Record::all_numbers,
            )?);
        }
        let n = match &plan.guard {
            Some(_) => self.integration.count(),
            None => 0,
        };
        if plan.records.is_some() && self.records.is_empty() {
            let bodies = self.integration.bodies_at(start)?;
            self.record(start, &bodies)?;
        }
        // A checkpoint may have been written just before or just after the record of its time.
        let recorded = self.records.last().map_or(f64::NEG_INFINITY, |r| r.t);
        let mut records = plan.records.map(|every| Clock::from(start, every));
        if let Some(clock) = records.as_mut().filter(|clock| clock.reached(recorded)) {
            clock.pass(recorded);
        }
        let mut snapshots = plan.snapshots.as_ref().map(|s| Clock::from(start, s.every));
        let mut frames = plan.frames.as_ref().map(|f| Clock::from(start, f.every));
        let mut checkpoints = plan.checkpoints.as_ref().map(|c| c.interval.begin(start));
        let guard = plan.guard.as_ref();
        let mut looks = guard.map(|_| Clock::after(start, Guard::interval(n, t_end - start)));
        loop {
            // What falls due before the next step, in order of time.
            while let Some(due) =
                earliest([&records, &snapshots, &frames, &looks]).filter(|t| is_before(*t, t_end))
            {
                let Some(t) = self.integration.visible(due) else {
                    break;
                };
                let bodies = self.integration.bodies_at(t)?;
                // The end of a step may be before what it stands for, by rounding.
                let now = t.max(due);
                let look = looks.as_mut().is_some_and(|clock| passes(clock, now));
                let mut error = None;
                if records.as_mut().is_some_and(|clock| passes(clock, now)) {
                    error = Some(self.record(t, &bodies)?);
                } else if look {
                    error = Some(self.own_error(&bodies)?);
                }
                if let Some(number) = number(&mut frames, now) {
                    self.frame(number, t, &bodies, plan);
                }
                if let Some(number) = number(&mut snapshots, now) {
                    self.snapshot(number, t, bodies, plan);
                }
                if look {
                    self.remark();
                }
                if let (Some(guard), Some(error)) = (guard, error)
                    && self.is_worthless(t, error, guard)?
                {
                    return Ok(Ended::EnergyError);
                }
            }
            let now = self.integration.time();
            // One clock decides for all, and a signal may come to any of them.
            let rings = self.writes() && checkpoints.as_mut().is_some_and(|timer| timer.rings(now));
            let is_over = |limit| self.writes() && interrupt::elapsed() >= limit;
            let decision = self.integration.agree(Decision {
                checkpoint: rings || interrupt::checkpoint_requested(),
                stop: stop(),
                time_limit: plan.stop_after.is_some_and(is_over),
            })?;
            if decision.checkpoint {
                self.checkpoint(plan)?;
            }
            let Some(next) = self.integration.next_time(t_end) else {
                break;
            };
            if decision.stop {
                return Ok(Ended::Interrupted);
            }
            if decision.time_limit {
                return Ok(Ended::TimeLimit);
            }
            let began = Instant::now();
            self.integration.step(t_end)?;
            self.seen = None;
            self.seconds += began.elapsed().as_secs_f64();
            watch(next);
        }
        if earliest([&records, &snapshots, &frames, &looks]).is_some() {
            let bodies = self.integration.bodies_at(t_end)?;
            let error = match records {
                Some(_) => self.record(t_end, &bodies)?,
                None => {
                    let sight = self.look(t_end, &bodies)?;
                    self.start.own_error(&sight.energy)
                }
            };
            if let Some(number) = number(&mut frames, t_end) {
                self.frame(number, t_end, &bodies, plan);
            }
            if let Some(number) = number(&mut snapshots, t_end) {
                self.snapshot(number, t_end, bodies, plan);
            }
            self.remark();
            if let Some(guard) = guard
                && self.is_worthless(t_end, error, guard)?
            {
                return Ok(Ended::EnergyError);
            }
        }
        Ok(Ended::Complete)
    }

    /// The change of the energy in parts of the cluster's own.
    fn own_error(&mut self, bodies: &[Body]) -> Result<f64, I::Error> {
        let energy = energy_of(&mut self.integration, bodies)?;
        Ok(self.start.own_error(&energy))
    }

    /// What is seen of `bodies` at `t`, as they are now.
    pub(crate) fn look(&mut self, t: f64, bodies: &[Body]) -> Result<Sight, I::Error> {
        if let Some((time, sight)) = &self.seen
            && *time == t
        {
            return Ok(sight.clone());
        }
        let sight = Sight::of(&mut self.integration, bodies)?;
        self.seen = Some((t, sight.clone()));
        Ok(sight)
    }

    /// Passes on what the integration has to say.
    fn remark(&mut self) {
        if let Some(remark) = self.integration.remark() {
            (self.say)(&remark);
        }
    }

    /// Whether the run must end because of its energy `error` at `t`; all ranks get the same answer. An error that
    /// is large but below the limit is reported once.
    fn is_worthless(&mut self, t: f64, error: f64, guard: &Guard) -> Result<bool, I::Error> {
        let error = self.integration.share(error)?;
        let verdict = guard.judge(error);
        if verdict == Verdict::Well || verdict == Verdict::Doubtful && self.warned {
            return Ok(false);
        }
        self.warned = true;
        if self.writes() {
            let error =
                format!("the energy error at t = {t} is {error:.2e} of the cluster's T + W");
            let remedy = self.integration.remedy();
            let what = match verdict {
                Verdict::Worthless => format!(
                    "{error}, above {} (--energy-limit): the run ends; {remedy}",
                    guard.limit()
                ),
                _ => format!("{error}: {remedy}"),
            };
            (self.say)(&what);
        }
        Ok(verdict == Verdict::Worthless)
    }

    /// Adds the diagnostics of `bodies` at `t`, and returns the error of the cluster's own energy. A finished run that is
    /// continued to the same end has the record of that time already.
    fn record(&mut self, t: f64, bodies: &[Body]) -> Result<f64, I::Error> {
        let sight = self.look(t, bodies)?;
        let own = self.integration.own_numbers(bodies, &sight.bound);
        let record = Record::of(t, &sight, &self.start, own);
        let error = record.own_energy_error;
        if self.records.last().is_some_and(|last| last.t >= t) {
            return Ok(error);
        }
        if self.tells_records && self.writes() {
            let wall = self
                .since
                .map_or(0.0, |since| since.elapsed().as_secs_f64());
            let line = format!(
                "t = {t}, energy error {error:.2e}, {:.1} s",
                self.wall + wall
            );
            self.note(FileKind::Log, print(&(line + "\n")));
        }
        self.records.push(record);
        self.add_to_table();
        Ok(error)
    }
}

/// The earliest of the times at which something is due.
fn earliest(clocks: [&Option<Clock>; 4]) -> Option<f64> {
    let due = clocks.into_iter().flatten().map(Clock::due);
    due.reduce(f64::min)
}

/// Whether `t` is before the end of the run, and not the same but for rounding.
fn is_before(t: f64, t_end: f64) -> bool {
    t < t_end - 1e-12 * t_end.abs()
}

/// Whether `clock` has come to a multiple at `t`; then it goes on to the next one.
fn passes(clock: &mut Clock, t: f64) -> bool {
    let reached = clock.reached(t);
    if reached {
        clock.pass(t);
    }
    reached
}

/// The number of the multiple that `clock`, if there is one, has come to at `t`; then it goes on to the next one.
fn number(clock: &mut Option<Clock>, t: f64) -> Option<i64> {
    let clock = clock.as_mut().filter(|clock| clock.reached(t))?;
    Some(clock.pass(t))
}

#[cfg(test)]
mod tests;
