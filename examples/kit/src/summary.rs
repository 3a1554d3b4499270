//! How a run ended: a table for people, JSON for programs, a figure.

use serde::Serialize;
use serde_json::{Value, json};

use crate::body::Body;
use crate::columns::Column;
use crate::command::Ended;
use crate::galaxy::Units;
use crate::history::{self, FLOPS_PER_PAIR, FRACTIONS};
use crate::models::two_masses;
use crate::number::fraction;
use crate::run::{Integration, Log, Run};
use crate::sight::{Sight, Start};
use kirin_report::plot::{Data, Figure, Panel, View};
use kirin_report::text::{Table, digits, duration, grouped, si, si_unit};

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

/// What the energy of a run includes besides the cluster's own T + W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// Nothing.
    Nothing,
    /// The energy of the cluster's orbit in a galaxy.
    Orbit,
    /// The energies within systems of stars that move as one particle each.
    Systems,
}

impl Others {
    /// Those of `integration`, of the bodies that it returned last.
    fn of<I: Integration>(integration: &I) -> Self {
        match integration.galaxy() {
            Some(galaxy) if !galaxy.is_none() => Self::Orbit,
            _ if !integration.systems().is_empty() => Self::Systems,
            _ => Self::Nothing,
        }
    }

    /// The errors of the cluster's `own` energy and of `all` energy, for people.
    fn errors(self, own: f64, all: f64) -> String {
        if own.is_nan() {
            // A single body or system has no energy of a cluster.
            return format!("{all:.2e} of all energy");
        }
        let own = format!("{own:.2e} of the cluster's T + W");
        match self {
            Self::Nothing => own,
            Self::Orbit => format!("{own}, {all:.2e} with that of its orbit"),
            Self::Systems => format!("{own}, {all:.2e} of all energy, with that within systems"),
        }
    }
}

/// How a run ended, whatever the method.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What is known of the run's past, records included.
    pub log: Log,
    /// Energy at the very start.
    pub start: Start,
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
    /// Energy then, and who is bound.
    pub sight: Sight,
    /// The units of the bodies, where they are known.
    pub units: Option<Units>,
    /// What else the energy includes besides the cluster's own.
    others: Others,
    /// The bodies at the start of this part of the run, and at its end.
    pub views: [View; 2],
    /// The columns of the application's own numbers in the records.
    own_columns: Vec<Column>,
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
            Ended::Complete | Ended::Unwritten => t_end,
            Ended::Interrupted | Ended::TimeLimit | Ended::EnergyError => run.integration.time(),
        };
        let bodies = run.integration.bodies_at(time)?;
        let sight = run.look(time, &bodies)?;
        Ok(Self {
            log: run.log(),
            start: run.start,
            n: bodies.len(),
            eps: run.integration.eps(),
            t_end,
            time,
            ended,
            sight,
            units: run.integration.units(),
            others: Others::of(&run.integration),
            views: [start, view(time, &bodies)],
            own_columns: run.integration.own_columns(),
        })
    }

    /// |E - E0| / |E0| at the end.
    pub fn energy_error(&self) -> f64 {
        self.sight.energy.error(self.start.energy)
    }

    /// The change of the energy in parts of the cluster's own at the start.
    pub fn own_energy_error(&self) -> f64 {
        self.start.own_error(&self.sight.energy)
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
            .row(
                "time",
                self.ended.reached(self.time, self.t_end) + &self.in_units(" (", ")"),
            )
            .row("forces", forces.description());
        if let Some(units) = &self.units {
            table.row("units", units.to_string());
        }
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
            .row(
                "wall time",
                format!(
                    "{}, steps {}",
                    duration(self.log.wall),
                    duration(self.log.seconds)
                ),
            );
        let (own, all) = (self.own_energy_error(), self.energy_error());
        table.row("energy error", self.others.errors(own, all));
        let bound = &self.sight.bound;
        let count = grouped(bound.count() as u64);
        table.row("bound", format!("{count} stars, mass {:.4}", bound.mass));
        if bound.virial_ratio.is_finite() {
            table.row(
                "virial ratio T/|W|",
                format!("{:.4} (bound stars)", bound.virial_ratio),
            );
        }
        for (name, radius) in [
            ("half-mass radius", bound.half_mass_radius()),
            ("core radius", self.sight.core.radius),
        ] {
            if radius.is_finite() {
                table.row(name, self.length(radius));
            }
        }
        table
    }

    /// A length, also in pc where the units are known.
    pub fn length(&self, length: f64) -> String {
        match &self.units {
            Some(units) => format!("{} ({} pc)", four(length), four(length * units.length)),
            None => four(length),
        }
    }

    /// The row of the softening length.
    pub fn softening(&self) -> (&'static str, String) {
        ("softening", self.length(self.eps))
    }

    /// The time in Myr between these words; nothing where the units are not known.
    fn in_units(&self, before: &str, after: &str) -> String {
        self.units.map_or_else(String::new, |units| {
            format!("{before}{:.4} Myr{after}", self.time * units.time())
        })
    }

    /// The summary as JSON, together with the method's `settings` and `own` figures, whose fields stand beside those of all
    /// methods. NaN and infinite numbers become null.
    pub fn json(&self, forces: &ForceFacts, settings: &impl Serialize, own: Value) -> Value {
        let mut all = json!({
            "model": self.log.model,
            "seed": self.log.seed,
            "n": self.n,
            "eps": self.eps,
            "t_end": self.t_end,
            "time": self.time,
            "interrupted": self.ended == Ended::Interrupted,
            "ended_by_time_limit": self.ended == Ended::TimeLimit,
            "ended_by_energy_error": self.ended == Ended::EnergyError,
            "seconds": self.log.seconds,
            "wall_seconds": self.log.wall,
            "pairs_per_second": self.pairs_per_second(forces),
            "initial_energy": self.start.energy,
            "energy": self.sight.energy.total(),
            "energy_error": self.energy_error(),
            "own_energy_scale": self.start.own,
            "own_energy_error": self.own_energy_error(),
            "bound": self.sight.bound.count(),
            "bound_mass": self.sight.bound.mass,
            "half_mass_radius": self.sight.bound.half_mass_radius(),
            "virial_ratio": self.sight.bound.virial_ratio,
            "core_radius": self.sight.core.radius,
            "core_density": self.sight.core.density,
            "library": forces.library,
            "backend": forces.backend,
            "precision": forces.precision,
            "units": self.units.as_ref().map(Units::json),
            "mass_fractions": FRACTIONS,
            "records": history::json(&self.log.records, &self.own_columns),
        });
        for more in [json!(settings), own] {
            if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
                all.extend(more);
            }
        }
        all
    }

    /// Diagnostics over time, where the work went, and the bodies in the x-y plane. `settings`
    /// are the method's, for the line below the title.
    pub fn figure(&self, forces: &ForceFacts, settings: &str, work: Panel) -> Figure {
        let units = self.units.as_ref();
        let [error, virial, radii] = history::panels(&self.log.records, units);
        let half_width = View::half_width(&self.views);
        let views = self.views.iter().map(|view| {
            let heavy = match view.heavy.is_empty() {
                true => "",
                false => ", heavy bodies in red",
            };
            let title = format!("x–y plane at t = {}{heavy}", fraction(view.time));
            view_panel(title, view.clone(), half_width, units)
        });
        Figure {
            title: format!(
                "{} of {} particles to t = {}",
                self.log.model,
                grouped(self.n as u64),
                short(self.time)
            ),
            subtitle: format!(
                "ε = {}, {settings}; {}",
                short(self.eps),
                forces.description()
            ),
            columns: vec![vec![error, virial], vec![radii, work], views.collect()],
        }
    }
}

/// A length with four digits: those after the point, or where it is small those of a power of ten.
fn four(length: f64) -> String {
    match length.abs() {
        0.0 => "0".to_owned(),
        small if small < 1e-2 => format!("{length:.3e}"),
        _ => format!("{length:.4}"),
    }
}

/// A number, with four digits where it is no short one.
fn short(value: f64) -> String {
    match fraction(value) {
        text if text.len() > 8 => digits(value),
        text => text,
    }
}

/// A panel of bodies in the plane; its axes are in pc or kpc where the units are known.
pub fn view_panel(title: String, view: View, half_width: f64, units: Option<&Units>) -> Panel {
    let (factor, x_label, y_label) = match units {
        Some(units) if units.to_kpc(half_width) > 1.0 => (
            units.to_kpc(1.0),
            "x in kpc".to_owned(),
            "y in kpc".to_owned(),
        ),
        _ => {
            let (factor, x_label) = history::length_axis("x", units);
            (factor, x_label, history::length_axis("y", units).1)
        }
    };
    Panel {
        title,
        x_label,
        y_label,
        data: Data::View {
            view: view.scaled(factor),
            half_width: factor * half_width,
        },
        ..Panel::default()
    }
}

/// `bodies` as they are seen from above at `time`, the heavier of two components in a colour of their own.
pub fn view(time: f64, bodies: &[Body]) -> View {
    let heavy = two_masses(bodies.iter().map(|b| b.mass)).map(|[_, heavy]| heavy);
    // Test particles are drawn with the light ones.
    let is_heavy = |b: &&Body| Some(b.mass) == heavy;
    let (heavy, others): (Vec<&Body>, Vec<&Body>) = bodies.iter().partition(is_heavy);
    let above = |b: &Body| (b.x[0], b.x[1]);
    View::new(time, others.into_iter().map(above)).with_heavy(heavy.into_iter().map(above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_energy_error_says_what_it_is_a_part_of() {
        for (others, own, expected) in [
            (Others::Nothing, 2e-9, "2.00e-9 of the cluster's T + W"),
            (
                Others::Orbit,
                2e-9,
                "2.00e-9 of the cluster's T + W, 1.00e-12 with that of its orbit",
            ),
            (
                Others::Systems,
                2e-9,
                "2.00e-9 of the cluster's T + W, 1.00e-12 of all energy, with that within systems",
            ),
            (Others::Systems, f64::NAN, "1.00e-12 of all energy"),
        ] {
            assert_eq!(others.errors(own, 1e-12), expected);
        }
    }

    #[test]
    fn a_small_length_has_digits() {
        for (length, text) in [
            (0.0, "0"),
            (1.5, "1.5000"),
            (0.02, "0.0200"),
            (4e-3, "4.000e-3"),
            (1e-12, "1.000e-12"),
        ] {
            assert_eq!(four(length), text);
        }
    }
}
