//! How a run ended: a table for people, JSON for programs, a figure.

use serde_json::{Value, json};

use crate::body::Body;
use crate::command::Ended;
use crate::density::Core;
use crate::diagnostics::Energy;
use crate::history::{self, FLOPS_PER_PAIR, FRACTIONS};
use crate::models::light_and_heavy;
use crate::number::fraction;
use crate::plot::{Data, Figure, Panel, View};
use crate::report::{Table, duration, grouped, si, si_unit};
use crate::run::{Integration, Log, Run};

/// What computed the forces.
#[derive(Clone, Debug)]
pub struct ForceFacts {
    /// The library, or that none was used.
    pub library: String,
    /// What the library computes with.
    pub backend: String,
    /// Precision of the sums.
    pub precision: String,
    /// Pairs that were summed in the run's seconds.
    pub pairs: f64,
}

impl ForceFacts {
    /// Backend, precision and library.
    pub fn description(&self) -> String {
        let (backend, precision) = (&self.backend, &self.precision);
        format!("{backend}, {precision} precision: {}", self.library)
    }
}

/// How a run ended, whatever the method.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What is known of the run's past, records included.
    pub log: Log,
    /// Energy at the very start.
    pub energy0: f64,
    /// Number of bodies.
    pub n: usize,
    /// Softening length.
    pub eps: f64,
    /// Time at which the run was to end.
    pub t_end: f64,
    /// Time that it reached.
    pub time: f64,
    /// Whether that is the end.
    pub ended: Ended,
    /// Energy then.
    pub energy: Energy,
    /// The core then.
    pub core: Core,
    /// The bodies at the start of this part of the run, and at its end.
    pub views: [View; 2],
    /// Names of the application's own numbers in the records.
    own_columns: &'static [&'static str],
}

impl Summary {
    /// The end of `run`, which began with the bodies `start`.
    ///
    /// # Errors
    ///
    /// Those of [`Integration::bodies_at`].
    pub fn of<I: Integration>(
        run: &mut Run<I>,
        start: View,
        t_end: f64,
        ended: Ended,
    ) -> Result<Self, I::Error> {
        let time = match ended {
            Ended::Complete => t_end,
            Ended::Interrupted => run.integration.time(),
        };
        let bodies = run.integration.bodies_at(time)?;
        let energy = run.integration.energy(&bodies);
        Ok(Self {
            log: run.log(),
            energy0: run.energy0,
            n: bodies.len(),
            eps: run.integration.eps(),
            t_end,
            time,
            ended,
            energy,
            core: Core::of(&bodies),
            views: [start, view(time, &bodies)],
            own_columns: run.integration.own_columns(),
        })
    }

    /// |E - E0| / |E0| at the end.
    pub fn energy_error(&self) -> f64 {
        self.energy.error(self.energy0)
    }

    /// Speed of the forces.
    pub fn pairs_per_second(&self, forces: &ForceFacts) -> f64 {
        if self.log.seconds > 0.0 {
            forces.pairs / self.log.seconds
        } else {
            0.0
        }
    }

    /// The figures for people, with the method's `own` rows in the midst.
    pub fn table(&self, forces: &ForceFacts, own: Vec<(&str, String)>) -> Table {
        let rate = self.pairs_per_second(forces);
        let mut table = Table::default();
        table
            .row("particles", grouped(self.n as u64))
            .row("time", self.ended.reached(self.time, self.t_end))
            .row("forces", forces.description());
        for (name, value) in own {
            table.row(name, value);
        }
        table
            .row(
                "pairs/s",
                format!(
                    "{} ({})",
                    si(rate),
                    si_unit(rate * FLOPS_PER_PAIR, "flop/s")
                ),
            )
            .row("wall time", duration(self.log.seconds))
            .row("energy error", format!("{:.2e}", self.energy_error()))
            .row("virial ratio", format!("{:.4}", self.energy.virial_ratio()));
        if self.core.radius.is_finite() {
            table.row("core radius", format!("{:.4}", self.core.radius));
        }
        table
    }

    /// The figures for programs, with the method's `own` object's. Numbers that are not finite
    /// become null.
    pub fn json(&self, forces: &ForceFacts, own: Value) -> Value {
        let mut all = json!({
            "model": self.log.model,
            "seed": self.log.seed,
            "n": self.n,
            "eps": self.eps,
            "t_end": self.t_end,
            "time": self.time,
            "interrupted": self.ended == Ended::Interrupted,
            "seconds": self.log.seconds,
            "pairs_per_second": self.pairs_per_second(forces),
            "initial_energy": self.energy0,
            "energy": self.energy.total(),
            "energy_error": self.energy_error(),
            "virial_ratio": self.energy.virial_ratio(),
            "core_radius": self.core.radius,
            "core_density": self.core.density,
            "library": forces.library,
            "backend": forces.backend,
            "precision": forces.precision,
            "mass_fractions": FRACTIONS,
            "records": history::json(&self.log.records, self.own_columns),
        });
        if let (Some(all), Value::Object(own)) = (all.as_object_mut(), own) {
            all.extend(own);
        }
        all
    }

    /// Diagnostics over time, where the work went, and the bodies in the x-y plane. `settings`
    /// are the method's, for the line below the title.
    pub fn figure(&self, forces: &ForceFacts, settings: &str, work: Panel) -> Figure {
        let [error, virial, radii] = history::panels(&self.log.records);
        let half_width = View::half_width(&self.views);
        let views = self.views.iter().map(|view| Panel {
            title: format!(
                "x–y plane at t = {}{}",
                fraction(view.time),
                if view.heavy.is_empty() {
                    ""
                } else {
                    ", heavy bodies in red"
                }
            ),
            x_label: "x".to_owned(),
            data: Data::View {
                view: view.clone(),
                half_width,
            },
            ..Panel::default()
        });
        Figure {
            title: format!(
                "{} of {} particles to t = {}",
                self.log.model,
                grouped(self.n as u64),
                fraction(self.time)
            ),
            subtitle: format!(
                "ε = {}, {settings}; {}",
                fraction(self.eps),
                forces.description()
            ),
            columns: vec![vec![error, virial], vec![radii, work], views.collect()],
        }
    }
}

/// `bodies` as they are seen from above at `time`, the heavier of two components in a colour of their own.
pub fn view(time: f64, bodies: &[Body]) -> View {
    let above = |b: &Body| (b.x[0], b.x[1]);
    match light_and_heavy(bodies) {
        None => View::new(time, bodies.iter().map(above)),
        Some([light, heavy]) => {
            View::new(time, light.iter().map(above)).with_heavy(heavy.iter().map(above))
        }
    }
}
