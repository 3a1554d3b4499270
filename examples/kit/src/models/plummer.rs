//! Plummer's sphere, the usual test of collisional N-body codes.

use std::f64::consts::PI;

use super::random::Random;
use super::sphere_of_stars;
use crate::body::Body;

/// Fraction of the infinite sphere's mass that is sampled: the rest lies beyond 38.7 scale
/// lengths, where one body would set the size of the plot and the length of the longest orbit.
const MASS_CUT: f64 = 0.999;

/// A Plummer sphere of `n` bodies of mass 1/n, in virial equilibrium.
///
/// Up to [`EXACT_SCALING_LIMIT`](super::EXACT_SCALING_LIMIT) bodies the sample is scaled so that its own
/// unsoftened energies are T = 1/4 and W = -1/2 exactly. Larger samples keep
/// the scaling of the infinite sphere, from which they differ by sampling
/// noise of order 1/sqrt(n). Labels count from 0.
pub fn plummer(n: usize, seed: u64) -> Vec<Body> {
    sphere_of_stars(n, seed, plummer_star)
}

/// Radius and speed of one star of the infinite sphere, in standard units.
pub fn plummer_star(random: &mut Random) -> (f64, f64) {
    // In Plummer's own units (scale length 1) the energy is -3 pi/64; in standard ones -1/4.
    const LENGTH: f64 = 3.0 * PI / 16.0;
    let velocity = (1.0 / LENGTH).sqrt();
    // The mass within r is (1 + r^-2)^(-3/2).
    let fraction = MASS_CUT * random.uniform().max(f64::MIN_POSITIVE);
    let root = fraction.cbrt();
    let r = (1.0 / (1.0 / (root * root) - 1.0)).sqrt();
    let escape = (2.0 / (1.0 + r * r).sqrt()).sqrt();
    let speed = escape * fraction_of_escape_speed(random);
    (LENGTH * r, velocity * speed)
}

/// A deviate q in [0, 1] with density proportional to q^2 (1 - q^2)^(7/2), by rejection.
fn fraction_of_escape_speed(random: &mut Random) -> f64 {
    // The density's maximum is 0.0922, at q^2 = 2/9.
    const BOUND: f64 = 0.0925;
    loop {
        let (q, height) = (random.uniform(), random.uniform());
        let p = 1.0 - q * q;
        if BOUND * height < q * q * p * p * p * p.sqrt() {
            return q;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Energy, centre_of_mass, lagrangian_radii, mass};
    use crate::vector::{add_scaled, norm};

    #[test]
    fn standard_units() {
        for (n, seed) in [(2, 5), (256, 1), (2000, 2)] {
            let bodies = plummer(n, seed);
            let energy = Energy::of(&bodies, 0.0);
            let (x, v) = centre_of_mass(&bodies);
            assert!((mass(&bodies) - 1.0).abs() < 1e-12);
            assert!((energy.total() + 0.25).abs() < 1e-12, "{energy:?}");
            assert!((energy.virial_ratio() - 0.5).abs() < 1e-12, "{energy:?}");
            assert!(norm(&x) < 1e-12 && norm(&v) < 1e-12);
        }
    }

    #[test]
    fn the_profile_is_plummers() {
        // A tenth of the mass is within 0.52 scale lengths, half within 1.3, nine tenths within 3.7.
        let radii = lagrangian_radii(&plummer(20_000, 4), &[0.1, 0.5, 0.9]);
        for (r, expected) in radii.iter().zip([0.523, 1.305, 3.69]) {
            let expected = expected * 3.0 * PI / 16.0;
            assert!((r / expected - 1.0).abs() < 0.05, "{r} {expected}");
        }
    }

    #[test]
    fn velocities_are_isotropic_and_bound() {
        let bodies = plummer(5000, 9);
        let mut square = [0.0; 3];
        for b in &bodies {
            let squares = b.v.map(|c| c * c);
            add_scaled(&mut square, b.mass, &squares);
        }
        for s in square {
            assert!((s / (0.5 / 3.0) - 1.0).abs() < 0.08, "{square:?}");
        }
        let fastest = bodies.iter().map(|b| norm(&b.v)).fold(0.0, f64::max);
        // The escape speed from the centre is sqrt(2 * 16 / 3 pi) = 1.84.
        assert!(fastest < 1.9, "{fastest}");
    }

    #[test]
    fn a_seed_names_one_cluster() {
        assert_eq!(plummer(50, 3), plummer(50, 3));
        assert_ne!(plummer(50, 3), plummer(50, 4));
    }

    #[test]
    fn one_body_is_a_model_too() {
        let bodies = plummer(1, 1);
        assert_eq!(bodies.len(), 1);
        assert!(
            bodies[0]
                .x
                .iter()
                .chain(&bodies[0].v)
                .all(|c| c.is_finite())
        );
        assert!(plummer(0, 1).is_empty());
    }
}
