//! The reports of a run: a table, a JSON object, a figure.

use kirin_kit::Body;
use kirin_kit::bound::BoundPart;
use kirin_kit::command::tell;
use kirin_kit::diagnostics::{angular_momentum, centre_of_mass, momentum};
use kirin_kit::galaxy::Field;
use kirin_kit::galaxy::flow::Phase;
use kirin_kit::history::{Record, length_axis, time_axis};
use kirin_kit::number::fraction;
use kirin_kit::summary::{ForceFacts, Summary};
use kirin_kit::vector::norm;
use kirin_report::plot::{Curve, Figure, Form, Panel, Scale};
use kirin_report::text::{Table, grouped, shares, time_split};
use serde_json::{Value, json};

use crate::cluster;
use crate::encounter::Changeover;
use crate::integrator::Integrator;
use crate::picture;
use crate::spray::spray;
use crate::stream::{self, Track};

/// The end of a run.
pub struct Report<'a, 'g> {
    summary: &'a Summary,
    integrator: &'a Integrator<'g>,
    forces: ForceFacts,
    bodies: Vec<Body>,
    spray: bool,
}

impl<'a, 'g> Report<'a, 'g> {
    /// The end of a run whose forces came from `library`.
    /// With `spray` the figure has a stream by particle spray, too.
    pub fn new(
        summary: &'a Summary,
        integrator: &'a Integrator<'g>,
        library: &str,
        spray: bool,
    ) -> Self {
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
            spray,
        }
    }

    fn bound(&self) -> &BoundPart {
        &self.summary.sight.bound
    }

    /// |L - L0 - the integral of the torque|, and that in parts of |L0|.
    fn unexplained(&self) -> (f64, f64) {
        let balance = &self.integrator.past().balance;
        let rest = norm(&balance.unexplained(&angular_momentum(&self.bodies)));
        (rest, rest / norm(&balance.initial))
    }

    fn tidal_radius(&self) -> f64 {
        let galaxy = self.integrator.moment();
        let bound = self.bound();
        galaxy.tidal_radius(bound.mass, &bound.x, &bound.v)
    }

    /// The galaxy in words, and what computes it where that is a GPU.
    fn galaxy(&self) -> String {
        let title = self.integrator.settings().galaxy.title();
        match self.integrator.field_device().as_str() {
            "cpu" => title,
            device => format!("{title}, on {device}"),
        }
    }

    /// The figures for people.
    pub fn table(&self) -> Table {
        let settings = self.integrator.settings();
        let past = self.integrator.past();
        let (galaxy, scheme) = (&settings.galaxy, settings.scheme);
        let evaluations = scheme.table().evaluations();
        let (rest, part) = self.unexplained();
        let unexplained = format!("{rest:.2e} not explained by the torque");
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
            self.summary.softening(),
            ("galaxy", self.galaxy()),
            ("steps", grouped(past.steps)),
            ("time spent", shares(&past.work.times.parts())),
            ("momentum", format!("{:.2e}", norm(&momentum(&self.bodies)))),
            (
                "angular mom.",
                match part.is_finite() {
                    true => format!("{unexplained}, {part:.2e} of it at the start"),
                    false => unexplained,
                },
            ),
        ];
        let Changeover { stars, hole } = settings.changeover;
        if !settings.changeover.is_none() {
            let radii = [stars, hole].map(|radius| self.summary.length(radius));
            let of_hole = format!(", {} to the black hole", radii[1]);
            let of_hole = if hole > 0.0 { of_hole.as_str() } else { "" };
            own.push(("changeover", format!("{} of two stars{of_hole}", radii[0])));
        }
        if !galaxy.is_none() {
            let (x, v) = match self.bound().count() {
                0 => centre_of_mass(&self.bodies),
                _ => (self.bound().x, self.bound().v),
            };
            let units = &galaxy.units;
            own.push((
                "orbit",
                format!(
                    "{:.4} kpc from the centre, {:.2} km/s (circular: {:.2})",
                    units.to_kpc(norm(&x)),
                    norm(&v) * units.velocity(),
                    self.integrator.moment().circular_speed(&x) * units.velocity()
                ),
            ));
            let radius = self.tidal_radius();
            if radius.is_finite() {
                own.push(("tidal radius", self.summary.length(radius)));
            }
        }
        self.summary.table(&self.forces, own)
    }

    /// The figures for programs. Numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let settings = self.integrator.settings();
        let past = self.integrator.past();
        let galaxy = &settings.galaxy;
        let (rest, part) = self.unexplained();
        let own = json!({
            "order": settings.scheme.order(),
            "changeover": [settings.changeover.stars, settings.changeover.hole],
            "galaxy": galaxy.model.name(),
            "field_device": self.integrator.field_device(),
            "black_hole": galaxy.black_hole,
            "black_hole_eps": galaxy.black_hole_eps,
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
        self.summary.json(&self.forces, settings, own)
    }

    /// Energy error, what the tide leaves, angular momentum, and the stars in the plane at start and end.
    pub fn figure(&self) -> Figure {
        let settings = self.integrator.settings();
        let units = self.summary.units.as_ref();
        let (myr, time) = time_axis(units);
        let (parsecs, radius) = length_axis("radius", units);
        let column = |name: &str| cluster::Motion::COLUMNS.iter().position(|c| c.name == name);
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
        if !settings.galaxy.is_none() {
            let sprayed = if self.spray {
                self.sprayed()
            } else {
                Vec::new()
            };
            // Beside the tails the virial ratio of what is bound tells little.
            if let (Some(panel), Some(along)) = (figure.columns[0].get_mut(1), self.along(&sprayed))
            {
                *panel = along;
            }
            if !sprayed.is_empty() {
                figure.columns[2][1] = picture::of_spray(&figure.columns[2][0], &sprayed, settings);
            }
        }
        figure
    }

    /// Stars by particle spray on the orbit of the run, let go since its start with the mass that its cluster had.
    fn sprayed(&self) -> Vec<Phase> {
        let (bound, galaxy) = (self.bound(), &self.integrator.settings().galaxy);
        let masses: Vec<(f64, f64)> = self
            .summary
            .log
            .records
            .iter()
            .map(|r| (r.t, r.bound_mass))
            .collect();
        let mass = |t: f64| {
            let k = masses
                .partition_point(|(at, _)| *at < t)
                .min(masses.len().max(1) - 1);
            masses.get(k).map_or(bound.mass, |(_, mass)| *mass)
        };
        let from = masses.first().map_or(0.0, |(t, _)| *t);
        let span = (from, self.summary.time);
        let pairs = (self.bodies.len() / 2).clamp(500, 5000);
        let seed = self.summary.log.seed.unwrap_or(1);
        let stars = spray(galaxy, &(bound.x, bound.v), span, &mass, (pairs, seed));
        stars.unwrap_or_else(|why| {
            tell(&format!("symplectic: --spray: {why}"));
            Vec::new()
        })
    }

    /// Stars along the orbit, per unit of length, and of those `sprayed` as many as have left the cluster.
    fn along(&self, sprayed: &[Phase]) -> Option<Panel> {
        let (bound, galaxy) = (self.bound(), &self.integrator.settings().galaxy);
        let track = Track::of(galaxy, &(bound.x, bound.v), self.summary.time).ok()?;
        let kpc = galaxy.units.to_kpc(1.0);
        let run: Vec<f64> = track
            .places(&self.bodies)
            .iter()
            .map(|p| kpc * p.along)
            .collect();
        let mut sorted: Vec<f64> = run.iter().map(|s| s.abs()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let farthest = sorted
            .get(sorted.len() * 99 / 100)
            .copied()
            .filter(|s| *s > 0.0)?;
        let width = farthest / 40.0;
        let curve = |label: &str, along: &[f64], factor: f64| {
            let shown: Vec<f64> = along
                .iter()
                .copied()
                .filter(|s| s.abs() <= 1.25 * farthest)
                .collect();
            let points = stream::density(&shown, width)
                .into_iter()
                .map(|(s, n)| (s, factor * n));
            Curve {
                label: label.to_owned(),
                points: points.collect(),
                ..Curve::default()
            }
        };
        let mut curves = vec![curve(
            if sprayed.is_empty() { "" } else { "run" },
            &run,
            1.0,
        )];
        if !sprayed.is_empty() {
            let along: Vec<f64> = sprayed
                .iter()
                .map(|s| kpc * track.place(&s.0).along)
                .collect();
            let left = self.bodies.len() - bound.count();
            let factor = left as f64 / along.len() as f64;
            curves.push(Curve {
                form: Form::Model,
                ..curve("spray", &along, factor)
            });
        }
        Some(Panel {
            x_label: "along the orbit from the cluster in kpc, positive ahead".to_owned(),
            ..Panel::over_time("Stars along the orbit", Scale::Logarithmic, curves)
                .with_y("stars per kpc")
        })
    }
}
