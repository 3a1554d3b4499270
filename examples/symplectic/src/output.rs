//! The reports of a run: a table, a JSON object, a figure.

use kirin_kit::Body;
use kirin_kit::bound::Bound;
use kirin_kit::diagnostics::{angular_momentum, momentum};
use kirin_kit::galaxy::Field;
use kirin_kit::history::{Record, length_axis, time_axis};
use kirin_kit::number::fraction;
use kirin_kit::summary::{ForceFacts, Summary};
use kirin_kit::vector::norm;
use kirin_report::plot::{Curve, Figure, Panel, Scale};
use kirin_report::text::{Table, grouped, shares, time_split};
use serde_json::{Value, json};

use crate::cluster::COLUMNS;
use crate::integrator::Integrator;
use crate::picture;

/// The end of a run.
pub struct Report<'a, 'g> {
    summary: &'a Summary,
    integrator: &'a Integrator<'g>,
    forces: ForceFacts,
    bodies: Vec<Body>,
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
            bodies,
        }
    }

    fn bound(&self) -> &Bound {
        &self.summary.sight.bound
    }

    /// |L - L0 - the integral of the torque|, and that in parts of |L0|.
    fn unexplained(&self) -> (f64, f64) {
        let balance = &self.integrator.past().balance;
        let rest = norm(&balance.unexplained(&angular_momentum(&self.bodies)));
        (rest, rest / norm(&balance.initial))
    }

    fn tidal_radius(&self) -> f64 {
        let galaxy = &self.integrator.settings().galaxy;
        let bound = self.bound();
        galaxy.tidal_radius(bound.mass, &bound.x, &bound.v)
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
            ("softening", self.summary.length(settings.eps)),
            ("galaxy", galaxy.title()),
            ("steps", grouped(past.steps)),
            ("time spent", shares(&past.work.times.parts())),
            ("momentum", format!("{:.2e}", norm(&momentum(&self.bodies)))),
            (
                "angular mom.",
                format!("{rest:.2e} not explained by the torque, {part:.2e} of it at the start"),
            ),
        ];
        if let Some(units) = galaxy.known_units() {
            own.insert(5, ("units", units.to_string()));
        }
        if !galaxy.is_none() {
            let (r, speed) = (norm(&self.bound().x), norm(&self.bound().v));
            let units = &galaxy.units;
            own.push((
                "orbit",
                format!(
                    "{:.4} kpc from the centre, {:.2} km/s (circular: {:.2})",
                    units.to_kpc(r),
                    speed * units.velocity(),
                    galaxy.circular_speed(&self.bound().x) * units.velocity()
                ),
            ));
            own.push(("tidal radius", self.summary.length(self.tidal_radius())));
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
            "momentum": momentum(&self.bodies),
            "angular_momentum0": past.balance.initial,
            "angular_momentum": angular_momentum(&self.bodies),
            "torque_integral": past.balance.impulse.map(|sum| sum.value()),
            "unexplained_angular_momentum": rest,
            "unexplained_part": part,
            "tidal_radius": self.tidal_radius(),
        });
        self.summary.json(&self.forces, own)
    }

    /// Energy error, what the tide leaves, angular momentum, and the stars in the plane at start and end.
    pub fn figure(&self) -> Figure {
        let settings = self.integrator.settings();
        let units = self.summary.units.as_ref();
        let (myr, time) = time_axis(units);
        let (parsecs, radius) = length_axis("radius", units);
        let column = |name: &str| COLUMNS.iter().position(|c| *c == name);
        let over_time = |label: &str, value: &dyn Fn(&Record) -> f64| Curve {
            label: label.to_owned(),
            points: self
                .summary
                .log
                .records
                .iter()
                .map(|r| (myr * r.t, value(r)))
                .collect(),
            ..Curve::default()
        };
        let length = |label: &str, name: &str| {
            over_time(label, &|r| {
                column(name).map_or(f64::NAN, |k| parsecs * r.own[k])
            })
        };
        let radii = vec![
            length("half-mass", "half_mass_radius"),
            length("tidal", "tidal_radius"),
        ];
        let mass = over_time("", &|r| r.bound_mass);
        let bound = Panel {
            x_label: time.clone(),
            ..Panel::over_time("Bound mass", Scale::Linear, vec![mass])
        };
        let words = format!(
            "{}, Δt = {}; galaxy: {}",
            settings.scheme.name(),
            fraction(settings.dt),
            settings.galaxy.title()
        );
        let radii = Panel {
            x_label: time,
            ..Panel::over_time("Radii of the bound cluster", Scale::Logarithmic, radii)
        };
        let radii = radii.with_y(&radius);
        let mut figure = self.summary.figure(&self.forces, &words, radii);
        // In the place of the radii of everybody, which soon are those of the tails.
        if let Some(panel) = figure.columns.get_mut(1).and_then(|c| c.first_mut()) {
            *panel = bound;
        }
        figure.columns[2] = picture::at_end(&self.summary.views, &self.bodies, settings);
        figure
    }
}
