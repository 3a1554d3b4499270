//! Two components: some of the bodies of a model are heavier than the others.

use super::units::{EXACT_SCALING_LIMIT, to_centre_of_mass, to_standard_units};
use crate::body::Body;
use crate::number::rounded_up;

/// How the mass is divided over light and heavy bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// Mass of a heavy body over that of a light one.
    pub ratio: f64,
    /// Part of all mass that is in heavy bodies.
    pub fraction: f64,
}

impl Components {
    /// Number of heavy ones among `n` bodies, the nearest to the wanted fraction of the mass.
    pub fn heavy(&self, n: usize) -> usize {
        let heavy = self.fraction / self.ratio;
        (n as f64 * heavy / (heavy + 1.0 - self.fraction)).round() as usize
    }

    /// Checks that there are heavy ones among `n` bodies, if a part of the mass is to be in them.
    ///
    /// # Errors
    ///
    /// Half the mass of one heavy body would be more than their part; in words.
    pub fn check(&self, n: usize) -> Result<(), String> {
        let Self { ratio, fraction } = self;
        if self.heavy(n) > 0 || *fraction == 0.0 {
            return Ok(());
        }
        // The fraction, and the number of bodies, that make half a heavy body, which rounds to one.
        let least = ratio / (2.0 * n as f64 - 1.0 + ratio);
        let bodies = (0.5 * (ratio * (1.0 / fraction - 1.0) + 1.0)).ceil();
        Err(format!(
            "--mass-fraction {fraction}: of {n} bodies this is less than half a heavy one (--mass-ratio {ratio}); it must \
             be at least {}, or --n at least {bodies}",
            rounded_up(least)
        ))
    }

    /// Whether body `i` of `n` is one of the `heavy` ones, which stand at equal distances.
    pub fn is_heavy(i: usize, heavy: usize, n: usize) -> bool {
        let before = |i: usize| i * heavy / n;
        before(i + 1) > before(i)
    }

    /// Divides `bodies` into a heavy and a light component, with a total mass of 1. The heavy bodies are spread
    /// evenly over the list. The bodies of a model are independent of one another, so both components have the
    /// model's distribution. If the bodies move and there are at most [`EXACT_SCALING_LIMIT`] of them, they are
    /// scaled to standard units again.
    pub fn divide(&self, bodies: &mut [Body]) {
        let (n, heavy) = (bodies.len(), self.heavy(bodies.len()));
        let light = 1.0 / ((n - heavy) as f64 + self.ratio * heavy as f64);
        for (i, body) in bodies.iter_mut().enumerate() {
            let is_heavy = Self::is_heavy(i, heavy, n);
            body.mass = if is_heavy { self.ratio * light } else { light };
        }
        if n > 1 {
            to_centre_of_mass(bodies);
        }
        if n <= EXACT_SCALING_LIMIT {
            to_standard_units(bodies);
        }
    }
}

/// The lesser and the greater of two masses; `None` where there is one mass, or more than two. Test particles, of mass 0,
/// do not count.
pub fn two_masses(masses: impl Iterator<Item = f64> + Clone) -> Option<[f64; 2]> {
    let masses = masses.filter(|m| *m != 0.0);
    let least = masses.clone().fold(f64::INFINITY, f64::min);
    let most = masses.clone().fold(0.0, f64::max);
    let are_two = least < most && masses.into_iter().all(|m| m == least || m == most);
    are_two.then_some([least, most])
}

/// The light and the heavy ones of `bodies`; `None` where they have one mass, or more than two.
pub fn light_and_heavy(bodies: &[Body]) -> Option<[Vec<Body>; 2]> {
    let masses = two_masses(bodies.iter().map(|b| b.mass))?;
    let of = |mass: f64| bodies.iter().filter(|b| b.mass == mass).copied().collect();
    Some(masses.map(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Energy, centre_of_mass, lagrangian_radii, mass};
    use crate::models::{plummer, uniform_sphere};
    use crate::vector::norm;

    const PAPER: Components = Components {
        ratio: 5.0,
        fraction: 0.1,
    };

    /// Nitadori, Makino and Abe, section 5.1: 64111 light and 1425 massive particles.
    #[test]
    fn the_paper_s_numbers() {
        assert_eq!(PAPER.heavy(65536), 1425);
        let equal = Components {
            ratio: 1.0,
            fraction: 0.25,
        };
        assert_eq!(equal.heavy(1000), 250);
    }

    /// What the refusal names is enough, and a little less is not.
    #[test]
    fn no_heavy_body_is_refused() {
        let of = |fraction| Components {
            ratio: 10.0,
            fraction,
        };
        let why = of(0.05).check(64).unwrap_err();
        assert!(why.contains("at least 0.073, or --n at least 96"), "{why}");
        assert_eq!((of(0.073).check(64), of(0.05).check(96)), (Ok(()), Ok(())));
        assert!(of(0.0729).check(64).is_err() && of(0.05).check(95).is_err());
        assert_eq!(of(0.0).check(64), Ok(()));
        let why = of(4e-7).check(1_000_000).unwrap_err();
        assert!(why.contains("at least 0.000005, or"), "{why}");
        assert_eq!(of(5e-6).check(1_000_000), Ok(()));
        assert_eq!(of(1.0).check(1), Ok(()));
    }

    #[test]
    fn the_model_is_in_standard_units() {
        let mut bodies = plummer(4096, 3);
        PAPER.divide(&mut bodies);
        let [light, heavy] = light_and_heavy(&bodies).unwrap();
        assert_eq!((light.len(), heavy.len()), (4007, 89));
        assert!((heavy[0].mass / light[0].mass - 5.0).abs() < 1e-12);
        assert!((mass(&heavy) - 0.1).abs() < 1e-3, "{}", mass(&heavy));
        assert!((mass(&bodies) - 1.0).abs() < 1e-12);
        let energy = Energy::of(&bodies, 0.0);
        assert!((energy.total() + 0.25).abs() < 1e-12, "{energy:?}");
        assert!((energy.virial_ratio() - 0.5).abs() < 1e-12, "{energy:?}");
        let (x, v) = centre_of_mass(&bodies);
        assert!(norm(&x) < 1e-12 && norm(&v) < 1e-12);
    }

    /// Neither component is more concentrated at the start.
    #[test]
    fn both_components_have_one_distribution() {
        let mut bodies = plummer(6000, 5);
        let half = Components {
            ratio: 5.0,
            fraction: 0.5,
        };
        half.divide(&mut bodies);
        let radii = light_and_heavy(&bodies)
            .unwrap()
            .map(|component| lagrangian_radii(&component, &[0.5])[0]);
        // Of 1000 heavy bodies the radius is known to 4 %.
        assert!((radii[1] / radii[0] - 1.0).abs() < 0.12, "{radii:?}");
    }

    #[test]
    fn a_cold_sphere_stays_cold() {
        let mut bodies = uniform_sphere(1000, 1);
        PAPER.divide(&mut bodies);
        let speeds = bodies.iter().map(|b| norm(&b.v));
        assert!(speeds.fold(0.0, f64::max) < 1e-12);
    }

    #[test]
    fn one_mass_is_no_two_components() {
        assert!(light_and_heavy(&plummer(10, 1)).is_none());
        assert!(light_and_heavy(&[]).is_none());
        let none = Components {
            ratio: 5.0,
            fraction: 0.0,
        };
        let mut bodies = plummer(10, 1);
        none.divide(&mut bodies);
        assert!(light_and_heavy(&bodies).is_none());
        bodies[0].mass = 0.0;
        assert!(light_and_heavy(&bodies).is_none());
        bodies[1].mass *= 2.0;
        let [light, heavy] = light_and_heavy(&bodies).unwrap();
        assert_eq!((light.len(), heavy.len()), (8, 1));
    }
}
