//! Encounters of a binary with a third star of the same mass, as Hut and Bahcall (1983) sampled them.
//!
//! Units: G = 1, the stars' masses and the binary's semi-major axis are 1. Speeds are in units of the critical velocity
//! v_c, at which the energy of all three is 0.

use super::hierarchy::{Kind, is_dissolved, nodes};
use super::{Alone, Error, System};
use crate::body::Body;
use crate::models::Random;
use crate::vector::{Vec3, cross, norm};

/// Distance at which the third star's encounter begins: before that it moves as past a point mass.
const FAR: f64 = 50.0;

/// Distance at which stars have parted, in sizes of the binary that is left.
const APART: f64 = 20.0;

/// Time between two looks at whether the stars have parted.
const INTERVAL: f64 = 20.0;

/// Tolerance of the steps.
const TOLERANCE: f64 = 1e-10;

/// How encounters ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ends {
    /// Speed at infinity.
    pub speed: f64,
    /// The binary has the stars it had.
    pub fly_bys: u64,
    /// It has the third star.
    pub exchanges: u64,
    /// There is no binary.
    pub ionizations: u64,
    /// The three were still together when the time was over.
    pub open: u64,
    /// Greatest change of an encounter's energy.
    pub energy_error: f64,
}

/// A number with its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard deviation.
    pub error: f64,
}

impl Ends {
    /// Number of encounters.
    pub fn count(&self) -> u64 {
        self.fly_bys + self.exchanges + self.ionizations + self.open
    }

    /// Cross section of what happened `times` times, in units of pi a^2 (v_c / v)^2.
    pub fn section(&self, times: u64) -> Estimate {
        let area = (largest_impact(self.speed) * self.speed).powi(2);
        let (count, part) = (self.count() as f64, times as f64 / self.count() as f64);
        Estimate {
            value: area * part,
            error: area * (part * (1.0 - part) / count).sqrt(),
        }
    }
}

/// The largest impact parameter that is sampled: no exchange comes from beyond (Hut and Bahcall 1983).
fn largest_impact(speed: f64) -> f64 {
    4.0 / speed + 0.6
}

/// `count` encounters of circular binaries with a star of this `speed` at infinity: impact parameters uniform in area,
/// random phases and orientations. Each is given up after the time `patience`.
///
/// # Errors
///
/// No step converges.
pub fn scatter(count: u64, speed: f64, seed: u64, patience: f64) -> Result<Ends, Error> {
    let mut ends = Ends {
        speed,
        ..Ends::default()
    };
    for number in 0..count {
        let mut random = Random::of_part(seed, number);
        let impact = largest_impact(speed) * random.uniform().sqrt();
        let bodies = encounter(&mut random, impact, speed * 1.5_f64.sqrt());
        let mut system = System::new(&bodies).with_tolerance(TOLERANCE);
        let energy = system.energy();
        *match binary_at_the_end(&mut system, patience)? {
            None => &mut ends.open,
            Some(None) => &mut ends.ionizations,
            Some(Some(members)) if members.contains(&2) => &mut ends.exchanges,
            Some(Some(_)) => &mut ends.fly_bys,
        } += 1;
        ends.energy_error = ends.energy_error.max((system.energy() - energy).abs());
    }
    Ok(ends)
}

/// A binary of random phase and orientation, and a star on its way from infinity with this impact parameter and velocity.
fn encounter(random: &mut Random, impact: f64, velocity: f64) -> [Body; 3] {
    let around = impact * velocity / FAR;
    let inward = -(velocity * velocity + 2.0 * 3.0 / FAR - around * around)
        .max(0.0)
        .sqrt();
    let (x, pole) = (random.direction(1.0), random.direction(1.0));
    let across = cross(&pole, &x);
    let scale = 2.0_f64.sqrt() / norm(&across);
    let star = |x: Vec3, v: Vec3| Body {
        mass: 1.0,
        x,
        v,
        ..Body::default()
    };
    let half = |side: f64| star(x.map(|c| c * side), across.map(|c| c * scale * side));
    [
        half(0.5),
        half(-0.5),
        star([FAR, 0.0, 0.0], [inward, around, 0.0]),
    ]
}

/// The stars of the binary that is left, if one is; `None` where they have not parted by the time `patience`.
fn binary_at_the_end(
    system: &mut System,
    patience: f64,
) -> Result<Option<Option<Vec<usize>>>, Error> {
    let mut t = 0.0;
    while t < patience {
        system.advance(INTERVAL, &mut Alone)?;
        t += INTERVAL;
        let nodes = nodes(&system.stars());
        if nodes.len() > 1 && is_dissolved(&nodes, APART) {
            let binary = nodes.iter().find(|n| matches!(n.kind, Kind::Binary(..)));
            return Ok(Some(binary.map(super::hierarchy::Node::members)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IAS15's exchange cross section at v = v_c is 2.76 +- 0.13 (FEW_BODY.md); `tests/long_few_body.rs` takes 10^4.
    #[test]
    fn a_few_hundred_encounters_end_as_they_should() {
        let ends = scatter(400, 1.0, 7, 2000.0).unwrap();
        assert_eq!(ends.count(), 400);
        let exchange = ends.section(ends.exchanges);
        assert!(
            (exchange.value - 2.7).abs() < 4.0 * exchange.error,
            "{ends:?}"
        );
        assert!(
            exchange.error < 0.5 && ends.open < 12 && ends.ionizations == 0,
            "{ends:?}"
        );
        assert!(ends.energy_error < 1e-9, "{ends:?}");
    }

    /// A fast star gives one star of the binary an impulse. The cross section in which this parts the two is 40/9 (Hut 1983,
    /// FEW_BODY.md).
    #[test]
    fn fast_stars_part_binaries_by_an_impulse() {
        let ends = scatter(4000, 12.0, 1983, 1000.0).unwrap();
        let parted = ends.section(ends.ionizations);
        let off = parted.value - 40.0 / 9.0;
        assert!(
            parted.error < 0.5 && off.abs() < 2.5 * parted.error,
            "{parted:?} {ends:?}"
        );
    }

    /// A star with the speed v_c at infinity, and its binary at rest with it, have no energy together.
    #[test]
    fn encounters_begin_with_their_energy_and_impact_parameter() {
        let mut random = Random::new(3);
        for impact in [0.0, 2.0, 4.6] {
            let system = System::new(&encounter(&mut random, impact, 1.5_f64.sqrt()));
            // The tide of the binary on the star at 50 a: 3 a^2 / 4 r^3.
            assert!(system.energy().abs() < 1e-5, "{}", system.energy());
            let [a, b, c] = encounter(&mut random, impact, 1.5_f64.sqrt());
            assert_eq!([0, 1, 2].map(|k| a.x[k] + b.x[k]), [0.0; 3]);
            let h = norm(&cross(&c.x, &c.v));
            assert!((h - impact * 1.5_f64.sqrt()).abs() < 1e-12);
        }
    }
}
