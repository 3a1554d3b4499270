//! What a run is reported as: a table, a JSON object, a figure.

use kirin_kit::Body;
use kirin_kit::diagnostics::{angular_momentum, momentum};
use kirin_kit::galaxy::Field;
use kirin_kit::number::fraction;
use kirin_kit::plot::{Curve, Figure, Panel, Scale};
use kirin_kit::report::{Table, grouped, shares, time_split};
use kirin_kit::summary::{ForceFacts, Summary};
use kirin_kit::vector::norm;
use serde_json::{Value, json};

use crate::cluster::{Bound, COLUMNS};
use crate::integrator::Integrator;
use crate::picture;

/// The end of a run.
pub struct Report<'a, 'g> {
    summary: &'a Summary,
    integrator: &'a Integrator<'g>,
    forces: ForceFacts,
    bodies: Vec<Body>,
    bound: Bound,
}

impl<'a, 'g> Report<'a, 'g> {
    /// The end of a run whose forces came from `library`.
    pub fn new(summary: &'a Summary, integrator: &'a Integrator<'g>, library: &str) -> Self {
        let (backend, precision) = integrator.description();
        let bodies = integrator.bodies();
        Self {
            summary,
            integrator,
            forces: ForceFacts {
                library: library.to_owned(),
                backend,
                precision,
                pairs: integrator.past().work.pairs as f64,
            },
            bound: integrator.bound(&bodies),
            bodies,
        }
    }

    /// The change of the energy in parts of the cluster's own at the start.
    fn own_energy_error(&self) -> f64 {
        let change = self.summary.energy.total() - self.summary.energy0;
        change.abs() / self.integrator.past().own_energy0.abs()
    }

    /// |L - L0 - the integral of the torque|, and that in parts of |L0|.
    fn unexplained(&self) -> (f64, f64) {
        let balance = &self.integrator.past().balance;
        let rest = norm(&balance.unexplained(&angular_momentum(&self.bodies)));
        (rest, rest / norm(&balance.initial))
    }

    fn tidal_radius(&self) -> f64 {
        let galaxy = &self.integrator.settings().galaxy;
        galaxy.tidal_radius(self.bound.mass, &self.bound.x, &self.bound.v)
    }

    /// The figures for people.
    pub fn table(&self) -> Table {
        let settings = self.integrator.settings();
        let past = self.integrator.past();
        let (galaxy, scheme) = (&settings.galaxy, settings.scheme);
        let evaluations = scheme.table().evaluations();
        let (rest, part) = self.unexplained();
        let mut own = vec![
            (
                "scheme",
                format!(
                    "{}: order {}, {evaluations} forces a step",
                    scheme.name(),
                    scheme.order()
                ),
            ),
            ("step", fraction(settings.dt)),
            ("bits", settings.bits.name().to_owned()),
            ("softening", format!("{:.4e}", settings.eps)),
            ("galaxy", galaxy.title()),
            ("units", galaxy.units.to_string()),
            ("steps", grouped(past.steps)),
            ("time spent", shares(&past.work.times.parts())),
            (
                "own energy",
                format!(
                    "error {:.2e} of the cluster's T + W",
                    self.own_energy_error()
                ),
            ),
            ("momentum", format!("{:.2e}", norm(&momentum(&self.bodies)))),
            (
                "angular mom.",
                format!("{rest:.2e} not explained by the torque, {part:.2e} of it at the start"),
            ),
            (
                "bound",
                format!(
                    "mass {:.4}, half of it within {:.4}",
                    self.bound.mass, self.bound.half_mass_radius
                ),
            ),
        ];
        if !galaxy.is_none() {
            let (r, speed) = (norm(&self.bound.x), norm(&self.bound.v));
            let units = &galaxy.units;
            own.push((
                "orbit",
                format!(
                    "{:.4} kpc from the centre, {:.2} km/s (circular: {:.2})",
                    units.to_kpc(r),
                    speed * units.velocity(),
                    galaxy.circular_speed(&self.bound.x) * units.velocity()
                ),
            ));
            own.push(("tidal radius", format!("{:.4}", self.tidal_radius())));
        }
        self.summary.table(&self.forces, own)
    }

    /// The figures for programs. Numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let settings = self.integrator.settings();
        let past = self.integrator.past();
        let (galaxy, units) = (&settings.galaxy, &settings.galaxy.units);
        let (rest, part) = self.unexplained();
        let own = json!({
            "scheme": settings.scheme.name(),
            "order": settings.scheme.order(),
            "dt": settings.dt,
            "bits": settings.bits.name(),
            "uncentred": settings.uncentred,
            "galaxy": galaxy.model.name(),
            "black_hole": galaxy.black_hole,
            "black_hole_eps": galaxy.black_hole_eps,
            "units": {
                "solar_masses": units.mass,
                "pc": units.length,
                "myr": units.time(),
                "km_s": units.velocity(),
            },
            "steps": past.steps,
            "evaluations": past.work.evaluations,
            "pairs": past.work.pairs,
            "time_split": time_split(&past.work.times.parts()),
            "own_energy0": past.own_energy0,
            "own_energy_error": self.own_energy_error(),
            "momentum": momentum(&self.bodies),
            "angular_momentum0": past.balance.initial,
            "angular_momentum": angular_momentum(&self.bodies),
            "torque_integral": past.balance.impulse.map(|sum| sum.value()),
            "unexplained_angular_momentum": rest,
            "unexplained_part": part,
            "bound_mass": self.bound.mass,
            "half_mass_radius": self.bound.half_mass_radius,
            "tidal_radius": self.tidal_radius(),
        });
        self.summary.json(&self.forces, own)
    }

    /// Energy error, what the tide leaves, angular momentum, and the stars in the plane at start and end.
    pub fn figure(&self) -> Figure {
        let settings = self.integrator.settings();
        let column = |name: &str| COLUMNS.iter().position(|c| *c == name);
        let over_time = |label: &str, name: &str| Curve {
            label: label.to_owned(),
            points: self
                .summary
                .log
                .records
                .iter()
                .map(|r| (r.t, column(name).map_or(f64::NAN, |k| r.own[k])))
                .collect(),
        };
        let radii = vec![
            over_time("half-mass", "half_mass_radius"),
            over_time("tidal", "tidal_radius"),
        ];
        let bound = Panel::over_time(
            "Bound mass",
            Scale::Linear,
            vec![over_time("", "bound_mass")],
        );
        let words = format!(
            "{}, Δt = {}; galaxy: {}",
            settings.scheme.name(),
            fraction(settings.dt),
            settings.galaxy.title()
        );
        let radii = Panel::over_time("Radii of the bound cluster", Scale::Logarithmic, radii);
        let mut figure = self.summary.figure(&self.forces, &words, radii);
        // In the place of the radii of everybody, which soon are those of the tails.
        if let Some(panel) = figure.columns.get_mut(1).and_then(|c| c.first_mut()) {
            *panel = bound;
        }
        figure.columns[2] = picture::at_end(&self.summary.views, &self.bodies, settings);
        figure
    }
}
