//! A run: an integration with its clock and diagnostics, up to the end or an interruption.

use std::time::Instant;

use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::command::Ended;
use kirin_kit::diagnostics::Energy;
use kirin_kit::history::{Record, next_record};

use crate::error::Error;
use crate::integrator::Integrator;
use crate::settings::Settings;

/// An integration, what it has cost, and what was seen on the way.
pub struct Run<'g> {
    /// The integration.
    pub integrator: Integrator<'g>,
    /// Energy at the very start, before any interruption.
    pub energy0: f64,
    /// Wall time of the block steps, without diagnostics.
    pub seconds: f64,
    /// Diagnostics in order of time.
    pub records: Vec<Record>,
}

impl<'g> Run<'g> {
    /// Starts from `bodies` at `time`.
    ///
    /// # Errors
    ///
    /// Those of [`Integrator::start`].
    pub fn start(
        grape: &'g Grape,
        settings: Settings,
        time: f64,
        bodies: Vec<Body>,
    ) -> Result<Self, Error> {
        let energy0 = Energy::of(&bodies, settings.eps * settings.eps).total();
        Ok(Self {
            integrator: Integrator::start(grape, settings, time, bodies)?,
            energy0,
            seconds: 0.0,
            records: Vec::new(),
        })
    }

    /// Takes every block that ends by `t_end`, unless `stop` says not to take another.
    ///
    /// Diagnostics are recorded at the start, at every multiple of `every` and at the end, from a
    /// synchronised copy: they change no bit of the integration. `watch` hears each block's time.
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
        if every.is_some() && self.records.is_empty() {
            self.record(self.integrator.time())?;
        }
        let mut due = every.map(|dt| next_record(self.integrator.time(), dt));
        loop {
            let next = self.integrator.next_time().unwrap_or(f64::INFINITY);
            while let (Some(t), Some(dt)) = (due, every) {
                if t >= next || t >= t_end {
                    break;
                }
                self.record(t)?;
                due = Some(next_record(t, dt));
            }
            if next > t_end {
                break;
            }
            if stop() {
                return Ok(Ended::Interrupted);
            }
            let began = Instant::now();
            self.integrator.step()?;
            self.seconds += began.elapsed().as_secs_f64();
            watch(next);
        }
        if every.is_some() {
            self.record(t_end)?;
        }
        Ok(Ended::Complete)
    }

    /// Energy of everybody at `t`, a time between the last block and the next.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn energy(&mut self, t: f64) -> Result<Energy, Error> {
        let eps = self.integrator.settings().eps;
        Ok(Energy::of(&self.integrator.synchronised(t)?, eps * eps))
    }

    fn record(&mut self, t: f64) -> Result<(), Error> {
        let eps = self.integrator.settings().eps;
        let bodies = self.integrator.synchronised(t)?;
        let energy = Energy::of(&bodies, eps * eps);
        self.records
            .push(Record::of(t, &bodies, &energy, self.energy0));
        Ok(())
    }
}
