//! What a run is reported as: a table, a JSON object, a figure.

use kirin_kit::command::Ended;
use kirin_kit::diagnostics::Energy;
use kirin_kit::history::{self, FRACTIONS};
use kirin_kit::plot::{Data, Figure, Panel, Scale};
use kirin_kit::report::{Table, duration, grouped, si};
use serde_json::{Map, Value, json};

use crate::forces::{Times, Work};
use crate::run::Run;

/// The end of a run.
pub struct Report<'a, 'g> {
    /// The run.
    pub run: &'a Run<'g>,
    /// Time at which it was to end.
    pub t_end: f64,
    /// Energy then.
    pub energy: Energy,
    /// Error of the energy over all pairs, where it was asked for.
    pub direct_energy_error: Option<f64>,
    /// Whether it got to its end.
    pub ended: Ended,
    /// What the bodies were at the start.
    pub model: &'a str,
    /// Seed of the model, where the run began with one.
    pub seed: Option<u64>,
    /// The library that was used, or that none was.
    pub library: &'a str,
}

impl Report<'_, '_> {
    fn work(&self) -> &Work {
        self.run.integrator.forces().work()
    }

    /// Forces on everybody: one for each step, and the first. `seconds` does not hold the first.
    fn pairs_per_step(&self) -> f64 {
        self.work().pairs as f64 / self.work().evaluations.max(1) as f64
    }

    fn pairs_per_second(&self) -> f64 {
        let pairs = self.pairs_per_step() * self.run.integrator.steps() as f64;
        if self.run.seconds > 0.0 {
            pairs / self.run.seconds
        } else {
            0.0
        }
    }

    fn energy_error(&self) -> f64 {
        self.energy.error(self.run.energy0)
    }

    fn forces(&self) -> String {
        let (name, precision) = self.run.integrator.forces().description();
        format!("{name}, {precision} precision: {}", self.library)
    }

    /// The figures for people.
    pub fn table(&self) -> Table {
        let (run, work) = (self.run, self.work());
        let settings = run.integrator.settings();
        let time = run.integrator.time();
        let mut table = Table::default();
        let particles = run.integrator.particles().len() as u64;
        let per_group = particles as f64 * work.evaluations as f64 / work.groups.max(1) as f64;
        let per_list = work.entries as f64 / work.groups.max(1) as f64;
        table
            .row("particles", grouped(particles))
            .row("time", self.ended.reached(time, self.t_end))
            .row("forces", self.forces())
            .row("opening angle", settings.theta.to_string())
            .row("steps", grouped(run.integrator.steps()))
            .row(
                "group, list",
                format!("{per_group:.0} particles, {per_list:.0} entries on average"),
            )
            .row("pairs per step", format!("{:.4e}", self.pairs_per_step()))
            .row("pairs/s", si(self.pairs_per_second()))
            .row("wall time", duration(run.seconds))
            .row("of it", shares(&work.times))
            .row("energy error", format!("{:.2e}", self.energy_error()));
        if let Some(error) = self.direct_energy_error {
            table.row("over all pairs", format!("{error:.2e}"));
        }
        table.row("virial ratio", format!("{:.4}", self.energy.virial_ratio()));
        table
    }

    /// The figures for programs. Numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let (run, work) = (self.run, self.work());
        let settings = run.integrator.settings();
        let (name, precision) = run.integrator.forces().description();
        json!({
            "n": run.integrator.particles().len(),
            "eps": settings.eps,
            "theta": settings.theta,
            "dt": settings.dt,
            "n_crit": settings.n_crit,
            "quadrupoles": settings.quadrupoles,
            "model": self.model,
            "seed": self.seed,
            "t_end": self.t_end,
            "time": run.integrator.time(),
            "interrupted": self.ended == Ended::Interrupted,
            "steps": run.integrator.steps(),
            "groups": work.groups,
            "list_entries": work.entries,
            "evaluations": work.evaluations,
            "pairs": work.pairs,
            "pairs_per_step": self.pairs_per_step(),
            "seconds": run.seconds,
            "pairs_per_second": self.pairs_per_second(),
            "time_split": time_split(&work.times),
            "initial_energy": run.energy0,
            "energy": self.energy.total(),
            "energy_error": self.energy_error(),
            "direct_energy_error": self.direct_energy_error,
            "virial_ratio": self.energy.virial_ratio(),
            "library": self.library,
            "backend": name,
            "precision": precision,
            "mass_fractions": FRACTIONS,
            "records": history::json(&run.records),
        })
    }

    /// Energy error and Lagrangian radii over time, and where the time of a step goes.
    pub fn figure(&self) -> Figure {
        let (run, work) = (self.run, self.work());
        let settings = run.integrator.settings();
        let evaluations = work.evaluations.max(1) as f64;
        let bars = work
            .times
            .parts()
            .map(|(name, seconds)| (name.to_owned(), 1e3 * seconds / evaluations));
        let split = Panel {
            title: "Milliseconds of a step by what they are spent on".to_owned(),
            x_label: "part of a step".to_owned(),
            x_scale: Scale::Linear,
            scale: Scale::Linear,
            data: Data::Bars(bars.to_vec()),
        };
        let particles = grouped(run.integrator.particles().len() as u64);
        Figure {
            title: format!(
                "{} of {particles} particles to t = {}",
                self.model,
                run.integrator.time()
            ),
            subtitle: format!(
                "ε = {}, θ = {}, Δt = {}, groups of up to {}; {}",
                settings.eps,
                settings.theta,
                settings.dt,
                settings.n_crit,
                self.forces()
            ),
            columns: vec![history::panels(&run.records), vec![split]],
        }
    }
}

/// Seconds of each part.
pub fn time_split(times: &Times) -> Value {
    let parts = times.parts().map(|(name, s)| (name.to_owned(), s.into()));
    Value::Object(Map::from_iter(parts))
}

/// Per cent of each part.
fn shares(times: &Times) -> String {
    let parts = times.parts();
    let all: f64 = parts.iter().map(|p| p.1).sum();
    let share = |(name, s): &(&str, f64)| format!("{name} {:.0} %", 100.0 * s / all.max(1e-9));
    parts.iter().map(share).collect::<Vec<_>>().join(", ")
}
