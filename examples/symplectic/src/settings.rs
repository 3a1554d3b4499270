//! The settings that determine an integration, besides its initial conditions.

use clap::Args;
use kirin_kit::Body;
use kirin_kit::diagnostics::{lagrangian_radii, mass};
use kirin_kit::galaxy::{Galaxy, bound_of_input};
use kirin_kit::settings::choice;
use serde::{Deserialize, Serialize};

use crate::encounter::Changeover;
use crate::error::Error;
use crate::phase_space::Bits;
use crate::scheme::Scheme;

/// The softening as a fraction of the mean distance R / N^(1/3). The paper has 0.005 (section 2); with that a pair
/// of stars would need steps of 1e-5 at N = 1024.
const EPS: f64 = 0.2;

/// The step as a fraction of the shortest time in which a force changes. That time is the duration of a passage at
/// the softening length, or that of a fall through it, whichever is shorter.
const STEP: f64 = 1.0 / 20.0;

/// Speed of a passage in units of sqrt(M / R).
const SPEED: f64 = 1.0;

/// Step where there is no softening, in units of sqrt(R^3 / (G M)): that of the paper.
const UNSOFTENED: f64 = 5e-4;

/// A step this much longer than the one that resolves the softening leaves close encounters to the changeover.
const LONG: f64 = 4.0;

/// The changeover radius of two stars in parts of the mean distance R / N^(1/3), and the most that it may be for a long step.
const CHANGEOVER: [f64; 2] = [0.5, 1.0];

/// The changeover radius in parts of the distance at which a step is this part of the time of a passage or a fall.
const CHANGEOVER_STEPS: f64 = 2.5;

/// What a cluster is like where softening and step are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Number of stars.
    pub n: usize,
    /// Mass of the two heaviest of them, in parts of the whole.
    pub heaviest: f64,
    /// Radius of a uniform sphere with the same half-mass radius.
    pub radius: f64,
    /// Mass of the whole.
    pub mass: f64,
}

impl Scale {
    /// `n` stars of mass 1/n in a sphere of radius 1.
    pub fn of_equals(n: usize) -> Self {
        Self {
            n,
            heaviest: 2.0 / n.max(1) as f64,
            radius: 1.0,
            mass: 1.0,
        }
    }

    /// Bodies of a model, whose radius and mass are 1.
    pub fn of_model(bodies: &[Body]) -> Self {
        let (mut first, mut second) = (0.0_f64, 0.0_f64);
        for body in bodies {
            (first, second) = match body.mass {
                m if m > first => (m, first),
                m => (first, second.max(m)),
            };
        }
        let whole = mass(bodies);
        let heaviest = if whole > 0.0 {
            (first + second) / whole
        } else {
            1.0
        };
        Self {
            heaviest,
            ..Self::of_equals(bodies.len())
        }
    }

    /// Bodies of an input, in any units with G = 1, without the stars that have left the cluster. `eps` is their softening, and
    /// `in_field` says that they come from a galaxy, where tails may be long.
    pub fn of_input(bodies: &[Body], eps: f64, in_field: bool) -> Self {
        match bound_of_input(bodies, eps, in_field) {
            Some((bound, each)) => {
                let scale = Self::of_bodies(&bound.members);
                Self {
                    n: each * scale.n,
                    heaviest: scale.heaviest / each as f64,
                    ..scale
                }
            }
            None => Self::of_bodies(bodies),
        }
    }

    /// All of these bodies, in any units with G = 1.
    pub fn of_bodies(bodies: &[Body]) -> Self {
        let radius = lagrangian_radii(bodies, &[0.5])[0] * 2.0_f64.cbrt();
        let (whole, scale) = (mass(bodies), Self::of_model(bodies));
        match radius > 0.0 && whole > 0.0 {
            true => Self {
                radius,
                mass: whole,
                ..scale
            },
            false => scale,
        }
    }

    /// The time of a step for a softening of `eps`: a power of two.
    fn step(&self, eps: f64) -> f64 {
        let passage = eps / (SPEED * (self.mass / self.radius).sqrt());
        let fall = (eps.powi(3) / (self.heaviest * self.mass)).sqrt();
        (STEP * passage.min(fall)).log2().floor().exp2()
    }

    /// The softening that a step of `dt` resolves: the usual one, or more.
    fn softening(&self, dt: f64) -> f64 {
        self.usual_softening().max(self.resolved(dt))
    }

    /// The least distance at which a step of `dt` resolves a passage and a fall.
    fn resolved(&self, dt: f64) -> f64 {
        let time = dt / STEP;
        let passage = time * SPEED * (self.mass / self.radius).sqrt();
        passage.max((time * time * self.heaviest * self.mass).cbrt())
    }

    fn usual_softening(&self) -> f64 {
        EPS * self.mean_distance()
    }

    fn mean_distance(&self) -> f64 {
        self.radius / (self.n.max(1) as f64).cbrt()
    }

    /// The changeover radius of two stars for this step and softening. It is 0 if the step is at most `LONG` times the
    /// one that resolves the softening, or if the radius would be at most `LONG` times the softening.
    fn changeover(&self, dt: f64, eps: f64) -> f64 {
        let [usual, most] = CHANGEOVER.map(|part| part * self.mean_distance());
        let radius = (CHANGEOVER_STEPS * self.resolved(dt)).clamp(usual, most);
        match dt > LONG * self.step(eps) && radius > LONG * eps {
            true => radius,
            false => 0.0,
        }
    }
}

/// What determines an integration, besides its initial conditions. A state has the words of these fields, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Args, Serialize, Deserialize)]
pub struct Settings {
    /// Softening length, whose option may have a unit of the bodies.
    #[arg(skip)]
    pub eps: f64,
    /// Step of everybody, whose option may have a unit, too.
    #[arg(skip)]
    pub dt: f64,
    /// Scheme
    #[arg(long, value_enum, default_value_t)]
    #[serde(with = "choice")]
    pub scheme: Scheme,
    /// Numbers of positions and velocities
    #[arg(long, value_enum, default_value_t)]
    #[serde(with = "choice")]
    pub bits: Bits,
    /// Send positions as they are, with respect to the galaxy's centre
    #[arg(long)]
    pub uncentred: bool,
    /// What there is around the cluster.
    #[arg(skip)]
    #[serde(skip)]
    pub galaxy: Galaxy,
    /// Within which distances stars move together under the step.
    #[arg(skip)]
    #[serde(skip)]
    pub changeover: Changeover,
}

/// The settings that a resumed run may change.
pub const MAY_CHANGE: [&str; 4] = ["scheme", "dt", "changeover", "uncentred"];

impl Settings {
    /// The settings for a cluster of this scale. Softening and step are those given; a missing one is chosen such
    /// that the step resolves every passage at the softening length.
    pub fn chosen(scale: &Scale, eps: Option<f64>, dt: Option<f64>) -> Self {
        let eps = match (eps, dt) {
            (Some(eps), _) => eps,
            (None, Some(dt)) => scale.softening(dt),
            (None, None) => scale.usual_softening(),
        };
        // Without softening there is no such step.
        let step = if eps > 0.0 {
            scale.step(eps)
        } else {
            UNSOFTENED * (scale.radius.powi(3) / scale.mass).sqrt()
        };
        Self {
            eps,
            dt: dt.unwrap_or(step),
            scheme: Scheme::default(),
            bits: Bits::default(),
            galaxy: Galaxy::default(),
            changeover: Changeover::default(),
            uncentred: false,
        }
    }

    /// The changeover radii where none are given: those that the step needs.
    pub fn usual_changeover(&self, scale: &Scale) -> Changeover {
        if self.bits == Bits::Exact {
            return Changeover::default();
        }
        let (mass, eps) = (self.galaxy.black_hole, self.galaxy.black_hole_eps);
        // A fall to the hole from there takes as many steps as one through the softening.
        let time = self.dt / STEP;
        let hole = CHANGEOVER_STEPS * (time * time * mass).cbrt();
        Changeover {
            stars: scale.changeover(self.dt, self.eps),
            hole: if hole > LONG * eps { hole } else { 0.0 },
        }
    }

    /// Whether an integration can be made with these.
    ///
    /// # Errors
    ///
    /// The first setting that makes no sense; in words.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |what: &str| Err(Error::Refused(what.to_owned()));
        if !(self.eps >= 0.0 && self.eps.is_finite()) {
            return refuse("--eps: the softening must be a number from 0 on");
        }
        if !(self.dt > 0.0 && self.dt.is_finite()) {
            return refuse("--dt: the step must be a number above 0");
        }
        let Changeover { stars, hole } = self.changeover;
        if ![stars, hole].iter().all(|r| *r >= 0.0 && r.is_finite()) {
            return refuse("--changeover: a radius must be a number from 0 on");
        }
        if hole > 0.0 && self.galaxy.black_hole == 0.0 {
            return refuse("--changeover: there is no black hole for the second radius");
        }
        if self.bits == Bits::Exact && !self.changeover.is_none() {
            return refuse(
                "--changeover: what stars do within the changeover radius is rounded, and cannot be undone to the bit \
                 as --bits exact promises",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step follows the softening and the softening the step; a smaller step changes no cluster.
    #[test]
    fn softening_and_step_follow_from_each_other() {
        let scale = Scale::of_equals(1024);
        let chosen = |eps, dt| {
            let settings = Settings::chosen(&scale, eps, dt);
            (settings.eps, settings.dt)
        };
        let (eps, dt) = chosen(None, None);
        assert!((eps - 0.2 / 1024.0_f64.cbrt()).abs() < 1e-15);
        assert_eq!(dt, 1.0 / 1024.0);
        assert_eq!(chosen(None, Some(1.0 / 4096.0)), (eps, 1.0 / 4096.0));
        let (softer, _) = chosen(None, Some(1.0 / 128.0));
        assert!(softer >= 20.0 / 128.0);
        assert_eq!(chosen(Some(softer), None).1, 1.0 / 128.0);
        // The paper's softening takes steps that resolve a fall through it.
        let (_, dt) = chosen(Some(0.0005), None);
        assert!(
            dt < 0.05 * (0.0005_f64.powi(3) * 512.0).sqrt() && dt > 5e-6,
            "{dt}"
        );
        assert_eq!(chosen(Some(0.1), Some(0.5)), (0.1, 0.5));
        assert!(chosen(Some(0.0), None).1 > 0.0);
    }

    /// Only where the step is too long for the softening, and never where all is undone to the bit.
    #[test]
    fn the_changeover_is_for_steps_that_are_too_long() {
        let scale = Scale::of_equals(480);
        let neighbours = 480.0_f64.cbrt().recip();
        let usual = |settings: Settings| settings.usual_changeover(&scale);
        let chosen = |eps, dt| Settings::chosen(&scale, eps, dt);
        for (eps, dt) in [
            (None, None),
            (Some(0.005 * neighbours), None),
            (None, Some(1.0 / 64.0)),
            (Some(0.3 * neighbours), Some(0.5)),
        ] {
            assert!(usual(chosen(eps, dt)).is_none(), "{eps:?} {dt:?}");
        }
        let paper = chosen(Some(0.005 * neighbours), Some(0.0005));
        let stars = 0.5 * neighbours;
        assert_eq!(usual(paper), Changeover { stars, hole: 0.0 });
        let exact = Settings {
            bits: Bits::Exact,
            ..paper
        };
        assert!(usual(exact).is_none());
        // Long steps: as far as neighbours are, but not farther.
        let long = chosen(Some(0.0), Some(0.1));
        assert_eq!(usual(long).stars, neighbours);
        let hole = |mass: f64, eps: f64| {
            let mut settings = paper;
            settings.galaxy.black_hole = mass;
            settings.galaxy.black_hole_eps = eps;
            usual(settings).hole
        };
        assert!((hole(1e5, 0.1) / (1e-4_f64 * 1e5).cbrt() / 2.5 - 1.0).abs() < 1e-14);
        assert_eq!((hole(1.0, 0.1), hole(0.0, 0.0)), (0.0, 0.0));
    }

    /// Stars that have left make no cluster larger, also where a sample stands for all.
    #[test]
    fn tails_are_no_part_of_the_scale() {
        for n in [1000, 33_000] {
            let mut bodies = kirin_kit::models::plummer(n, 1);
            let alone = Scale::of_bodies(&bodies);
            // As many again far away, on the move.
            let left = (0..n as i32).map(|k| Body {
                index: n as i32 + k,
                mass: 1.0 / n as f64,
                x: [50.0 + 0.1 * f64::from(k % 1000), f64::from(k), 0.0],
                v: [0.0, 10.0, f64::from(k % 7)],
            });
            bodies.extend(left.collect::<Vec<_>>());
            let scale = Scale::of_input(&bodies, 0.01, true);
            assert!(
                (scale.radius / alone.radius - 1.0).abs() < 0.05,
                "{scale:?} {alone:?}"
            );
            assert!((scale.mass - 1.0).abs() < 0.02, "{scale:?}");
            assert!((scale.n as f64 / n as f64 - 1.0).abs() < 0.02, "{scale:?}");
            assert!(
                (scale.heaviest / alone.heaviest - 1.0).abs() < 0.05,
                "{scale:?}"
            );
        }
    }

    /// Twice the cluster with the same mass: twice the softening, steps of 2^(3/2) of the length.
    #[test]
    fn a_larger_cluster_is_softer() {
        let bodies = kirin_kit::models::plummer(500, 1);
        let larger: Vec<Body> = bodies
            .iter()
            .map(|b| Body {
                x: b.x.map(|c| 4.0 * c),
                ..*b
            })
            .collect();
        let [one, four] = [&bodies, &larger]
            .map(|bodies| Settings::chosen(&Scale::of_bodies(bodies), None, None));
        assert!((four.eps / one.eps - 4.0).abs() < 1e-9);
        assert_eq!(four.dt / one.dt, 8.0);
        // A heavy pair falls faster.
        let mut heavy = bodies;
        heavy[3].mass = 0.5;
        heavy[4].mass = 0.4;
        let scale = Scale::of_model(&heavy);
        assert!(scale.heaviest > 0.45, "{scale:?}");
    }
}
