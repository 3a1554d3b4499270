//! What a run is reported as: a table, a JSON object, a figure.

use kirin_kit::command::Ended;
use kirin_kit::diagnostics::Energy;
use kirin_kit::history::{self, FLOPS_PER_PAIR, FRACTIONS};
use kirin_kit::plot::{Data, Figure, Panel, Scale};
use kirin_kit::report::{Table, duration, grouped, si};
use serde_json::{Value, json};

use crate::run::Run;

/// The end of a run.
pub struct Report<'a, 'g> {
    /// The run.
    pub run: &'a Run<'g>,
    /// Time at which it was to end.
    pub t_end: f64,
    /// Time that it reached.
    pub time: f64,
    /// Energy then.
    pub energy: Energy,
    /// Whether it got to its end.
    pub ended: Ended,
    /// Seed of the model, where the run began with one.
    pub seed: Option<u64>,
    /// The library that was used.
    pub library: &'a str,
}

impl Report<'_, '_> {
    fn pairs_per_second(&self) -> f64 {
        let pairs = self.run.integrator.counts().pairs as f64;
        if self.run.seconds > 0.0 {
            pairs / self.run.seconds
        } else {
            0.0
        }
    }

    /// |E - E0| / |E0| at the end.
    pub fn energy_error(&self) -> f64 {
        self.energy.error(self.run.energy0)
    }

    fn forces(&self) -> String {
        let integrator = &self.run.integrator;
        let (backend, precision) = (integrator.backend(), integrator.precision());
        format!("{backend}, {precision} precision: {}", self.library)
    }

    /// The figures for people.
    pub fn table(&self) -> Table {
        let counts = self.run.integrator.counts();
        let rate = self.pairs_per_second();
        let mut table = Table::default();
        table
            .row(
                "particles",
                grouped(self.run.integrator.bodies().len() as u64),
            )
            .row("time", self.ended.reached(self.time, self.t_end))
            .row("forces", self.forces())
            .row("steps", grouped(counts.steps))
            .row("block steps", grouped(counts.block_steps))
            .row(
                "mean block size",
                format!("{:.1}", counts.mean_block_size()),
            )
            .row("pairs", grouped(counts.pairs))
            .row(
                "pairs/s",
                format!("{} ({}flop/s)", si(rate), si(rate * FLOPS_PER_PAIR)),
            )
            .row("wall time", duration(self.run.seconds))
            .row("energy error", format!("{:.2e}", self.energy_error()))
            .row("virial ratio", format!("{:.4}", self.energy.virial_ratio()));
        table
    }

    /// The figures for programs. Numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let integrator = &self.run.integrator;
        let (settings, counts) = (integrator.settings(), integrator.counts());
        json!({
            "n": integrator.bodies().len(),
            "eps": settings.eps,
            "eta": settings.eta,
            "eta_start": settings.eta_start,
            "dt_max": settings.dt_max,
            "shared_step": settings.shared.then_some(settings.dt_max),
            "seed": self.seed,
            "t_end": self.t_end,
            "time": self.time,
            "interrupted": self.ended == Ended::Interrupted,
            "steps": counts.steps,
            "block_steps": counts.block_steps,
            "mean_block_size": counts.mean_block_size(),
            "block_sizes": counts.block_sizes,
            "pairs": counts.pairs,
            "seconds": self.run.seconds,
            "pairs_per_second": self.pairs_per_second(),
            "initial_energy": self.run.energy0,
            "energy": self.energy.total(),
            "energy_error": self.energy_error(),
            "virial_ratio": self.energy.virial_ratio(),
            "library": self.library,
            "backend": integrator.backend(),
            "precision": integrator.precision(),
            "mass_fractions": FRACTIONS,
            "records": history::json(&self.run.records),
        })
    }

    /// Energy error and Lagrangian radii over time, and the histogram of block sizes.
    pub fn figure(&self) -> Figure {
        let integrator = &self.run.integrator;
        let settings = integrator.settings();
        let steps = if settings.shared {
            format!("one step of {}", settings.dt_max)
        } else {
            format!("η = {}", settings.eta)
        };
        let sizes = &integrator.counts().block_sizes;
        let bars = sizes
            .iter()
            .enumerate()
            .map(|(k, count)| ((1_u64 << k).to_string(), *count as f64))
            .collect();
        let blocks = Panel {
            title: "Number of blocks by their size".to_owned(),
            x_label: "particles in a block, up to the next bar's".to_owned(),
            x_scale: Scale::Linear,
            scale: Scale::Linear,
            data: Data::Bars(bars),
        };
        Figure {
            title: format!(
                "A cluster of {} stars to t = {}",
                grouped(integrator.bodies().len() as u64),
                self.time
            ),
            subtitle: format!("ε = {}, {steps}; {}", settings.eps, self.forces()),
            columns: vec![history::panels(&self.run.records), vec![blocks]],
        }
    }
}
