//! A run: an integration with its clock, diagnostics and files, up to its end or an interruption.
//!
//! An application implements [`Integration`]; the rest is the same for all of them.

mod clock;
mod conduct;
mod grid;
mod log;
mod plan;

use std::error::Error;
use std::time::Instant;

pub use clock::{Clock, Interval, Timer, simulated};
pub use conduct::conduct;
pub use grid::TimeGrid;
pub use log::Log;
pub use plan::{Checkpoints, Frames, RunOutputs, Snapshots};

use crate::body::Body;
use crate::command::Ended;
use crate::csv::Csv;
use crate::diagnostics::Energy;
use crate::history::{COLUMNS, Record};
use crate::plot::{Data, Figure, Panel, View};
use crate::snapshot::Snapshot;
use crate::summary::view;

/// What a [`Run`] asks of the method that moves its bodies.
pub trait Integration {
    /// What can stop it.
    type Error: Error + 'static;

    /// Time at which the last step ended.
    fn time(&self) -> f64;

    /// Time at which the next step ends; `None` where it would end after `t_end`.
    fn next_time(&self, t_end: f64) -> Option<f64>;

    /// Takes the step to [`next_time`](Self::next_time).
    ///
    /// # Errors
    ///
    /// The step cannot be taken: then everything is as it was before.
    fn step(&mut self, t_end: f64) -> Result<(), Self::Error>;

    /// Time for which the bodies are to be asked when they are wanted at `t`: `t` itself where the
    /// method knows them between steps, else the end of the first step that reaches `t`. `None`
    /// while another step has to be taken first.
    fn visible(&self, t: f64) -> Option<f64>;

    /// Everybody at `t`, a time that [`visible`](Self::visible) returned. The integration itself is not
    /// changed.
    ///
    /// # Errors
    ///
    /// Those of a step.
    fn bodies_at(&mut self, t: f64) -> Result<Vec<Body>, Self::Error>;

    /// Energy of the `bodies` that [`bodies_at`](Self::bodies_at) gave last.
    fn energy(&self, bodies: &[Body]) -> Energy;

    /// Names of what it records of the bodies besides what all applications do.
    fn own_columns(&self) -> &'static [&'static str] {
        &[]
    }

    /// A number for each of the [`own_columns`](Self::own_columns), of the `bodies` that
    /// [`bodies_at`](Self::bodies_at) gave last.
    fn own_numbers(&self, _bodies: &[Body]) -> Vec<f64> {
        Vec::new()
    }

    /// Lines (keys with a dot, and values) that a snapshot of bodies alone has besides.
    fn notes(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Half the width of a film of the run, of which the first frame shows `bodies`.
    fn film_half_width(&self, bodies: &[Body]) -> f64 {
        1.5 * View::half_width([&view(self.time(), bodies)])
    }

    /// A frame of the film: by default, everybody in the x-y plane.
    fn frame(&self, t: f64, bodies: &[Body], half_width: f64) -> Figure {
        let panel = Panel {
            x_label: "x".to_owned(),
            data: Data::View {
                view: view(t, bodies),
                half_width,
            },
            ..Panel::default()
        };
        Figure {
            title: format!("t = {t:.3}"),
            subtitle: format!("{} bodies in the x-y plane", bodies.len()),
            columns: vec![vec![panel]],
        }
    }

    /// Softening length.
    fn eps(&self) -> f64;

    /// All that is needed to go on with the same bits.
    ///
    /// # Errors
    ///
    /// It is elsewhere, and cannot be had.
    fn state(&self) -> Result<Snapshot, Self::Error>;

    /// The number of this process among those that integrate together, and how many they are. All of them
    /// make the same run; the first has the bodies and writes the files.
    fn rank(&self) -> (usize, usize) {
        (0, 1)
    }

    /// What all who integrate together do before the next step; `wanted` is the wish of this process. All
    /// get the same answer, and a wish may be granted some steps later.
    ///
    /// # Errors
    ///
    /// The others cannot be asked.
    fn agree(&mut self, wanted: Decision) -> Result<Decision, Self::Error> {
        Ok(wanted)
    }
}

/// What may be done between two steps, for reasons that not all processes see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// A checkpoint is written.
    pub checkpoint: bool,
    /// The run ends.
    pub stop: bool,
}

/// An integration, what it has cost, and what was seen on the way.
pub struct Run<I> {
    /// The integration.
    pub integration: I,
    /// Energy at the very start, before any interruption.
    pub energy0: f64,
    /// Wall time of the steps, without diagnostics and files.
    pub seconds: f64,
    /// Diagnostics in order of time.
    pub records: Vec<Record>,
    /// Half the width of the film's frames, known from the first one on.
    film: Option<f64>,
    model: String,
    seed: Option<u64>,
}

impl<I: Integration> Run<I> {
    /// A run that begins, or one that goes on after the past that `log` tells of. Energy errors refer to
    /// the log's energy at the start; where that is missing or belongs to another softening, to the energy
    /// now.
    ///
    /// # Errors
    ///
    /// Those of [`Integration::bodies_at`].
    pub fn new(mut integration: I, log: Log) -> Result<Self, I::Error> {
        let energy0 = match log.energy0 {
            Some((energy0, eps)) if eps == integration.eps() => energy0,
            _ => {
                let bodies = integration.bodies_at(integration.time())?;
                integration.energy(&bodies).total()
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
            energy0,
            seconds: log.seconds,
            records,
            film: None,
            model: log.model,
            seed: log.seed,
        })
    }

    /// What has happened so far.
    pub fn log(&self) -> Log {
        Log {
            model: self.model.clone(),
            seed: self.seed,
            energy0: Some((self.energy0, self.integration.eps())),
            seconds: self.seconds,
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
        Ok(snapshot)
    }

    /// Whether this process writes the files.
    fn writes(&self) -> bool {
        self.integration.rank().0 == 0
    }

    /// Takes every step that ends by `t_end`, unless `stop` says not to take another, and on the way
    /// writes and notes what `plan` asks for. `watch` hears the time of each step.
    ///
    /// Diagnostics are recorded at the start, at multiples of their interval and at the end. They
    /// and the files change no bit of the integration.
    ///
    /// # Errors
    ///
    /// Those of the integration, or a file cannot be written. The integration stands at the end of its
    /// last step, and can be [saved](Self::save).
    pub fn evolve(
        &mut self,
        t_end: f64,
        plan: &RunOutputs,
        stop: &dyn Fn() -> bool,
        watch: &dyn Fn(f64),
    ) -> Result<Ended, Box<dyn Error>> {
        let start = self.integration.time();
        let mut csv = match &plan.csv {
            Some(path) if self.writes() => {
                let columns = [&COLUMNS, self.integration.own_columns()].concat();
                let lines = self.records.iter().map(Record::numbers);
                Some(Csv::create(path, &columns, lines)?)
            }
            _ => None,
        };
        if plan.records.is_some() && self.records.is_empty() {
            let bodies = self.integration.bodies_at(start)?;
            self.record(start, &bodies, &mut csv)?;
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
        loop {
            // What falls due before the next step, in order of time.
            while let Some(due) = earliest([&records, &snapshots, &frames]).filter(|t| *t < t_end) {
                let Some(t) = self.integration.visible(due) else {
                    break;
                };
                let bodies = self.integration.bodies_at(t)?;
                if let Some(clock) = records.as_mut().filter(|clock| clock.reached(t)) {
                    self.record(t, &bodies, &mut csv)?;
                    clock.pass(t);
                }
                self.frame(t, &bodies, plan, &mut frames)?;
                self.snapshot(t, bodies, plan, &mut snapshots)?;
            }
            let now = self.integration.time();
            let decision = self.integration.agree(Decision {
                checkpoint: checkpoints.as_mut().is_some_and(|timer| timer.rings(now)),
                stop: stop(),
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
            let began = Instant::now();
            self.integration.step(t_end)?;
            self.seconds += began.elapsed().as_secs_f64();
            watch(next);
        }
        if records.is_some() || snapshots.is_some() || frames.is_some() {
            let bodies = self.integration.bodies_at(t_end)?;
            if records.is_some() {
                self.record(t_end, &bodies, &mut csv)?;
            }
            self.frame(t_end, &bodies, plan, &mut frames)?;
            self.snapshot(t_end, bodies, plan, &mut snapshots)?;
        }
        Ok(Ended::Complete)
    }

    /// Replaces the checkpoint.
    fn checkpoint(&self, plan: &RunOutputs) -> Result<(), Box<dyn Error>> {
        let snapshot = self.save()?;
        match &plan.checkpoints {
            Some(checkpoints) if self.writes() => Ok(snapshot.save_as(&checkpoints.path)?),
            _ => Ok(()),
        }
    }

    /// Adds the diagnostics of `bodies` at `t`.
    fn record(&mut self, t: f64, bodies: &[Body], csv: &mut Option<Csv>) -> Result<(), String> {
        let energy = self.integration.energy(bodies);
        let own = self.integration.own_numbers(bodies);
        let record = Record::of(t, bodies, &energy, self.energy0, own);
        if let Some(csv) = csv {
            csv.write(&record.numbers())?;
        }
        self.records.push(record);
        Ok(())
    }

    /// Draws `bodies` where one of the `plan`'s frames is due at `t`.
    fn frame(
        &mut self,
        t: f64,
        bodies: &[Body],
        plan: &RunOutputs,
        clock: &mut Option<Clock>,
    ) -> Result<(), String> {
        if let (Some(clock), Some(plan)) = (clock, &plan.frames)
            && clock.reached(t)
        {
            let number = clock.pass(t);
            let width = self
                .film
                .unwrap_or_else(|| self.integration.film_half_width(bodies));
            self.film = Some(width);
            if self.writes() {
                plan.save(number, &self.integration.frame(t, bodies, width))?;
            }
        }
        Ok(())
    }

    /// Writes `bodies` where one of the `plan`'s snapshots is due at `t`.
    fn snapshot(
        &self,
        t: f64,
        bodies: Vec<Body>,
        plan: &RunOutputs,
        clock: &mut Option<Clock>,
    ) -> Result<(), String> {
        if let (Some(clock), Some(plan)) = (clock, &plan.snapshots)
            && clock.reached(t)
        {
            let number = clock.pass(t);
            if !self.writes() {
                return Ok(());
            }
            let notes = self.integration.notes();
            plan.save(number, t, self.integration.eps(), bodies, notes)?;
        }
        Ok(())
    }
}

/// The earliest of the times at which something is due.
fn earliest(clocks: [&Option<Clock>; 3]) -> Option<f64> {
    let due = clocks.into_iter().flatten().map(Clock::due);
    due.reduce(f64::min)
}

#[cfg(test)]
mod tests;
