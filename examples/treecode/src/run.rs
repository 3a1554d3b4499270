//! A run: an integration with its clock and diagnostics, up to the end or an interruption.

use std::time::Instant;

use kirin_kit::command::Ended;
use kirin_kit::diagnostics::Energy;
use kirin_kit::history::{Record, next_record};
use kirin_kit::{Body, Snapshot};

use crate::error::Error;
use crate::forces::Engine;
use crate::integrator::Integrator;
use crate::settings::Settings;

/// Key of the energy at the start of a run, in its snapshot, and of the softening it belongs to.
const ENERGY0: &str = "treecode.energy0";

/// An integration, what it has cost, and what was seen on the way.
pub struct Run<'g> {
    /// The integration.
    pub integrator: Integrator<'g>,
    /// Energy at the very start, before any interruption.
    pub energy0: f64,
    /// The same over all pairs, where it was asked for.
    pub direct_energy0: Option<f64>,
    /// Wall time of the steps, without diagnostics.
    pub seconds: f64,
    /// Diagnostics in order of time.
    pub records: Vec<Record>,
}

impl<'g> Run<'g> {
    /// Starts from `bodies` at `time`. With `direct` the energy is also summed over all pairs, which
    /// takes a time that grows with their number.
    ///
    /// # Errors
    ///
    /// Those of [`Integrator::start`].
    pub fn start(
        engine: Engine<'g>,
        settings: Settings,
        time: f64,
        bodies: &[Body],
        direct: bool,
    ) -> Result<Self, Error> {
        let integrator = Integrator::start(engine, settings, time, bodies)?;
        let eps2 = settings.eps * settings.eps;
        Ok(Self {
            energy0: integrator.energy().total(),
            direct_energy0: direct.then(|| Energy::of(bodies, eps2).total()),
            integrator,
            seconds: 0.0,
            records: Vec::new(),
        })
    }

    /// Starts from a snapshot. One that [`save`](Self::save) made is continued: the energy error
    /// refers to its start, unless the softening is another.
    ///
    /// # Errors
    ///
    /// Those of [`Run::start`]; the snapshot's bodies are at different times.
    pub fn resume(
        engine: Engine<'g>,
        settings: Settings,
        snapshot: &Snapshot,
        direct: bool,
    ) -> Result<Self, Error> {
        let mut states = snapshot.states.iter().flatten();
        if states.any(|state| state.t != snapshot.time) {
            return Err(Error::Refused(
                "the bodies are at times of their own: a leapfrog starts with all at one"
                    .to_owned(),
            ));
        }
        let mut run = Self::start(engine, settings, snapshot.time, &snapshot.bodies, direct)?;
        if let Some(line) = snapshot.value(ENERGY0) {
            let numbers: Option<Vec<f64>> = line.split(' ').map(|w| w.parse().ok()).collect();
            let Some([energy0, eps]) = numbers.as_deref() else {
                return Err(Error::Refused(format!(
                    "cannot make sense of the snapshot's line `{ENERGY0} {line}`"
                )));
            };
            if *eps == settings.eps {
                run.energy0 = *energy0;
            }
        }
        Ok(run)
    }

    /// All that is needed to go on with the same bits.
    pub fn save(&self) -> Snapshot {
        let eps = self.integrator.settings().eps;
        let energy0 = kirin_kit::report::exact(&[self.energy0, eps]);
        Snapshot {
            time: self.integrator.time(),
            bodies: self.integrator.bodies(),
            states: None,
            run: vec![(ENERGY0.to_owned(), energy0)],
        }
    }

    /// Takes steps up to `t_end`, unless `stop` says not to take another.
    ///
    /// Diagnostics are recorded at the start, after the first step that reaches each multiple of
    /// `every`, and at the end. `watch` hears each step's time.
    ///
    /// # Errors
    ///
    /// Those of [`Integrator::step`].
    pub fn evolve(
        &mut self,
        t_end: f64,
        every: Option<f64>,
        stop: &dyn Fn() -> bool,
        watch: &dyn Fn(f64),
    ) -> Result<Ended, Error> {
        let mut due = every.map(|_| f64::NEG_INFINITY);
        loop {
            let time = self.integrator.time();
            if let (Some(t), Some(dt)) = (due, every)
                && (time >= t || time >= t_end)
            {
                self.record();
                due = Some(next_record(time, dt));
            }
            if stop() && time < t_end {
                return Ok(Ended::Interrupted);
            }
            let began = Instant::now();
            if !self.integrator.step(t_end)? {
                return Ok(Ended::Complete);
            }
            self.seconds += began.elapsed().as_secs_f64();
            watch(self.integrator.time());
        }
    }

    fn record(&mut self) {
        let energy = self.integrator.energy();
        let bodies = self.integrator.bodies();
        let time = self.integrator.time();
        self.records
            .push(Record::of(time, &bodies, &energy, self.energy0));
    }

    /// |E - E0| / |E0| over all pairs, where the energy at the start is known.
    pub fn direct_energy_error(&self) -> Option<f64> {
        let energy0 = self.direct_energy0?;
        let eps = self.integrator.settings().eps;
        Some(Energy::of(&self.integrator.bodies(), eps * eps).error(energy0))
    }
}
