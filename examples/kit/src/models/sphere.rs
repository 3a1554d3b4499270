//! Uniform spheres. The cold one collapses, bounces and relaxes violently; a warm one does so mildly.

use super::random::Random;
use super::units::{set_virial_ratio, to_centre_of_mass};
use crate::body::Body;

/// Radius at which the potential energy -3/5 M^2 / R is the total energy -1/4.
const RADIUS: f64 = 12.0 / 5.0;

/// A uniform sphere of radius 1 of `n` bodies of mass 1/n, the model of NBSymple (section 3). The velocities have
/// random directions. The speeds are uniform from 0 to the largest one, which makes 2 T / |W| equal to `virial_ratio`.
/// Labels count from 0.
pub fn warm_sphere(n: usize, seed: u64, virial_ratio: f64) -> Vec<Body> {
    let mut random = Random::new(seed);
    let mut bodies: Vec<Body> = (0..n)
        .map(|i| {
            let (r, v) = (random.uniform().cbrt(), random.uniform());
            Body {
                index: i32::try_from(i).expect("labels are 32-bit integers"),
                mass: 1.0 / n as f64,
                x: random.direction(r),
                v: random.direction(v),
            }
        })
        .collect();
    if n > 1 {
        to_centre_of_mass(&mut bodies);
    }
    set_virial_ratio(&mut bodies, virial_ratio);
    bodies
}

/// A uniform sphere of `n` bodies of mass 1/n, all at rest.
///
/// The sphere of which this is a sample has the energy -1/4; the energy of the sample differs from it by noise of order
/// 1/sqrt(n). The sphere collapses at the time pi/2 sqrt(R^3 / 2) = 4.13. Labels count from 0.
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
    fn a_warm_sphere_has_its_virial_ratio() {
        for ratio in [0.3, 1.0] {
            let bodies = warm_sphere(2000, 2, ratio);
            let energy = Energy::of(&bodies, 0.0);
            assert!((2.0 * energy.virial_ratio() - ratio).abs() < 1e-12);
            // -3/5 of a smooth sphere.
            assert!((energy.potential + 0.6).abs() < 0.02, "{energy:?}");
            let radii = lagrangian_radii(&bodies, &[0.125, 1.0]);
            assert!(
                (radii[0] - 0.5).abs() < 0.03 && radii[1] < 1.03,
                "{radii:?}"
            );
        }
        assert_eq!(warm_sphere(1, 1, 0.3).len(), 1);
    }

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
