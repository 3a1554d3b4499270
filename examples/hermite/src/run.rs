//! A run: an integration with its clock and diagnostics, up to the end or an interruption.

use std::time::Instant;

use kirin::client::Grape;
use kirin_kit::Body;
use kirin_kit::diagnostics::{Energy, lagrangian_radii};

use crate::error::Error;
use crate::integrator::Integrator;
use crate::settings::Settings;

/// Fractions of the mass whose radii are recorded.
pub const FRACTIONS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// What is known of the cluster at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Time.
    pub t: f64,
    /// |E - E0| / |E0|.
    pub energy_error: f64,
    /// Radii that hold the [`FRACTIONS`] of the mass.
    pub radii: [f64; FRACTIONS.len()],
}

/// How far a run got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// To the end that was asked for.
    Complete,
    /// To the block after which it was told to stop.
    Interrupted,
}

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
        let after = |t: f64, every: f64| ((t / every).floor() + 1.0) * every;
        let mut next_record = every.map(|dt| after(self.integrator.time(), dt));
        loop {
            let next = self.integrator.next_time().unwrap_or(f64::INFINITY);
            while let (Some(t), Some(dt)) = (next_record, every) {
                if t >= next || t >= t_end {
                    break;
                }
                self.record(t)?;
                next_record = Some(after(t, dt));
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
        let radii = lagrangian_radii(&bodies, &FRACTIONS);
        self.records.push(Record {
            t,
            energy_error: Energy::of(&bodies, eps * eps).error(self.energy0),
            radii: radii.try_into().expect("one radius for each fraction"),
        });
        Ok(())
    }
}
