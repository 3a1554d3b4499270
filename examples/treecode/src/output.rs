//! The reports of a run: a table, a JSON object, a figure.

use kirin_kit::number::fraction;
use kirin_kit::summary::{ForceFacts, Summary};
use kirin_report::plot::{Data, Figure, Panel};
use kirin_report::text::{Table, grouped, shares, time_split};
use serde_json::{Value, json};

use crate::forces::Counts;
use crate::integrator::Integrator;

/// The end of a run.
pub struct Report<'a, 'g> {
    summary: &'a Summary,
    integrator: &'a Integrator<'g>,
    forces: ForceFacts,
    direct_energy_error: Option<f64>,
}

impl<'a, 'g> Report<'a, 'g> {
    /// The end of a run whose forces came from `library`, with the error of the energy over all
    /// pairs where it was asked for.
    pub fn new(
        summary: &'a Summary,
        integrator: &'a Integrator<'g>,
        library: &str,
        direct_energy_error: Option<f64>,
    ) -> Self {
        let (backend, precision) = integrator.forces().description();
        let pairs = pairs_per_step(integrator.forces().work()) * integrator.steps() as f64;
        Self {
            summary,
            integrator,
            forces: ForceFacts {
                library: library.to_owned(),
                backend,
                precision,
                pairs,
            },
            direct_energy_error,
        }
    }

    fn work(&self) -> &Counts {
        self.integrator.forces().work()
    }

    /// The figures for people.
    pub fn table(&self) -> Table {
        let work = self.work();
        let groups = work.groups.max(1) as f64;
        let per_group = self.summary.n as f64 * work.evaluations as f64 / groups;
        let per_list = work.entries as f64 / groups;
        let mut own = vec![
            (
                "opening angle",
                self.integrator.settings().theta.to_string(),
            ),
            ("steps", grouped(self.integrator.steps())),
            (
                "group, list",
                format!("{per_group:.0} particles, {per_list:.0} entries on average"),
            ),
            ("pairs per step", format!("{:.4e}", pairs_per_step(work))),
            ("time spent", shares(&work.times.parts())),
        ];
        if let Some(error) = self.direct_energy_error {
            own.push(("over all pairs", format!("{error:.2e} (energy error)")));
        }
        self.summary.table(&self.forces, own)
    }

    /// The figures for programs. Numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let work = self.work();
        let settings = self.integrator.settings();
        let own = json!({
            "theta": settings.theta,
            "dt": settings.dt,
            "n_crit": settings.n_crit,
            "quadrupoles": settings.quadrupoles,
            "steps": self.integrator.steps(),
            "groups": work.groups,
            "list_entries": work.entries,
            "evaluations": work.evaluations,
            "pairs": work.pairs,
            "pairs_per_step": pairs_per_step(work),
            "time_split": time_split(&work.times.parts()),
            "direct_energy_error": self.direct_energy_error,
        });
        self.summary.json(&self.forces, own)
    }

    /// Diagnostics over time, where the time of a step goes, and the particles from above.
    pub fn figure(&self) -> Figure {
        let work = self.work();
        let settings = self.integrator.settings();
        let evaluations = work.evaluations.max(1) as f64;
        let bars = work
            .times
            .parts()
            .map(|(name, seconds)| (name.to_owned(), 1e3 * seconds / evaluations));
        let split = Panel {
            title: "Milliseconds of a step by what they are spent on".to_owned(),
            y_label: "milliseconds".to_owned(),
            x_label: "part of a step".to_owned(),
            data: Data::Bars(bars.to_vec()),
            ..Panel::default()
        };
        let words = format!(
            "θ = {}, {}, Δt = {}, groups of up to {}",
            settings.theta,
            match settings.quadrupoles {
                true => "quadrupoles",
                false => "monopoles",
            },
            fraction(settings.dt),
            settings.n_crit
        );
        self.summary.figure(&self.forces, &words, split)
    }
}

/// Mean number of pairs of one evaluation of the forces on everybody.
fn pairs_per_step(work: &Counts) -> f64 {
    work.pairs as f64 / work.evaluations.max(1) as f64
}
