//! Which stars get a new position in a step. A heavy star can make the step short; then the other stars do not need a new position in every step.
//!
//! Whether a star gets one depends on nothing that changes along its orbit. So a star stays as long at each radius on average, and
//! its positions have the same distribution as with a new one in every step.

use crate::settings::Settings;

/// The stars that get a new position in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Renewal {
    /// Part of the lightest stars that get one: the length of the step over that without the term for friction.
    pub part: f64,
    /// Largest mass of a star. All stars of this mass get one.
    pub heaviest: f64,
    /// Number of the step.
    pub step: u64,
}

impl Renewal {
    /// All stars.
    pub const ALL: Self = Self {
        part: 1.0,
        heaviest: 1.0,
        step: 0,
    };

    /// Of a step, given the least relaxation times with the term for friction and without it, and the largest mass. Where positions matter for more than
    /// relaxation, all stars get one: around a black hole, and where stars collide.
    pub fn of(settings: &Settings, [with, without]: [f64; 2], heaviest: f64, step: u64) -> Self {
        match settings.black_hole.is_some() || settings.radius > 0.0 {
            true => Self::ALL,
            false => Self {
                part: with / without,
                heaviest,
                step,
            },
        }
    }

    /// Whether a star gets one. Friction takes a heavy star's velocity at a rate that is proportional to its mass, so the part of the stars of a mass is
    /// proportional to it. Chance decides, by the star's label and the number of the step.
    #[inline]
    pub fn has(&self, id: u64, mass: f64) -> bool {
        let part = self.part.max(mass / self.heaviest);
        part >= 1.0 || chance(id, self.step) < part
    }
}

/// A number from 0 to 1, from SplitMix64 (Steele, Lea and Flood 2014).
#[inline]
fn chance(id: u64, step: u64) -> f64 {
    let z = mixed(mixed(id.wrapping_add(1)).wrapping_add(step));
    // A power of two.
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

#[inline]
fn mixed(x: u64) -> u64 {
    let mut z = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts are those that are asked for, for the stars of a step and for the steps of a star, and steps are independent.
    #[test]
    fn each_mass_has_its_part() {
        let renewal = |step| Renewal {
            part: 0.05,
            heaviest: 8.0,
            step,
        };
        for (mass, part) in [(0.1, 0.05), (2.0, 0.25), (8.0, 1.0), (9.0, 1.0)] {
            for fixed in [0, 1, 7, 1_000_000] {
                let count = 100_000;
                let stars = (0..count)
                    .filter(|&id| renewal(fixed).has(id, mass))
                    .count();
                let steps = (0..count)
                    .filter(|&step| renewal(step).has(fixed, mass))
                    .count();
                let twice = (0..count)
                    .filter(|&step| {
                        renewal(step).has(fixed, mass) && renewal(step + 1).has(fixed, mass)
                    })
                    .count();
                for (found, expected) in [(stars, part), (steps, part), (twice, part * part)] {
                    let found = found as f64 / count as f64;
                    // Five standard deviations.
                    assert!(
                        (found - expected).abs() <= 0.008 * (1.0 - part),
                        "{mass} {found}"
                    );
                }
            }
        }
        assert!((0..1000).all(|id| Renewal::ALL.has(id, 1e-9)));
    }
}
