//! The cold uniform sphere: it collapses, bounces and relaxes violently.

use super::random::Random;
use super::units::to_centre_of_mass;
use crate::body::Body;

/// Radius at which the potential energy -3/5 M^2 / R is the total energy -1/4.
const RADIUS: f64 = 12.0 / 5.0;

/// A uniform sphere of `n` bodies of mass 1/n, all at rest.
///
/// The energy is that of the sphere it is a sample of, so it differs from -1/4 by noise of order
/// 1/sqrt(n). It collapses at the time pi/2 sqrt(R^3 / 2) = 4.13. Labels count from 0.
pub fn uniform_sphere(n: usize, seed: u64) -> Vec<Body> {
    let mut random = Random::new(seed);
    let mut bodies: Vec<Body> = (0..n)
        .map(|i| {
            let r = RADIUS * random.uniform().cbrt();
            Body {
                index: i32::try_from(i).expect("labels are 32-bit integers"),
                mass: 1.0 / n as f64,
                x: random.direction(r),
                v: [0.0; 3],
            }
        })
        .collect();
    if n > 1 {
        to_centre_of_mass(&mut bodies);
    }
    bodies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Energy, lagrangian_radii};

    #[test]
    fn it_is_cold_uniform_and_bound() {
        let bodies = uniform_sphere(4000, 3);
        let energy = Energy::of(&bodies, 0.0);
        assert_eq!(energy.kinetic, 0.0);
        assert!((energy.potential + 0.25).abs() < 0.005, "{energy:?}");
        let radii = lagrangian_radii(&bodies, &[0.125, 0.5, 1.0]);
        for (r, expected) in radii.iter().zip([0.5, 0.5_f64.cbrt(), 1.0]) {
            assert!((r / RADIUS / expected - 1.0).abs() < 0.04, "{radii:?}");
        }
    }
}
