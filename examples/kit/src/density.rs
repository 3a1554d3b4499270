//! Density around each body, and with it the core of a cluster, after Casertano and Hut (1985,
//! ApJ 298, 80).

use rstar::RTree;
use rstar::primitives::GeomWithData;

use crate::body::Body;
use crate::diagnostics::{alike, with_mass};
use crate::rows::rows;
use crate::vector::{Vec3, add_scaled, norm, sub};

/// Number of the neighbour that bounds the volume: Casertano and Hut's recommendation.
const NEIGHBOUR: usize = 6;

/// Centre, size and density of a cluster's core.
///
/// All are NaN for fewer than seven bodies, and where seven share one place. If seven or more have mass, the others do not
/// count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Core {
    /// Density centre: mean position weighted by density (their equation III.3).
    pub centre: Vec3,
    /// Core radius: mean distance from the density centre, weighted by density.
    ///
    /// 0.4 for Plummer's sphere in standard units.
    pub radius: f64,
    /// Core density: mean density weighted by density, as defined.
    ///
    /// The density estimate of one body scatters: the mean of its square is 5/4 of the square of its mean. So this
    /// core density is 5/4 of the one that the smooth density of the cluster would give.
    pub density: f64,
}

impl Core {
    /// The core of the `bodies` with mass. If fewer than seven have mass, the core of all: each counts the same, and the
    /// density is 0. O(N log N), on all processors; the bits do not depend on their number.
    pub fn of(bodies: &[Body]) -> Self {
        let has_density = bodies.iter().filter(|b| b.mass != 0.0).count() > NEIGHBOUR;
        let bodies = &*if has_density {
            with_mass(bodies)
        } else {
            alike(bodies)
        };
        let unit = f64::from(u8::from(has_density));
        let densities = densities(bodies);
        let total: f64 = densities.iter().sum();
        let weighted = || bodies.iter().zip(&densities);
        let mut centre = [0.0; 3];
        for (body, density) in weighted() {
            add_scaled(&mut centre, density / total, &body.x);
        }
        let distances = weighted().map(|(body, density)| density * norm(&sub(&body.x, &centre)));
        Self {
            centre,
            radius: distances.sum::<f64>() / total,
            density: unit * densities.iter().map(|d| d * d).sum::<f64>() / total,
        }
    }
}

/// Density around each body: the mass of its five nearest neighbours over the volume of the sphere
/// out to the sixth, an estimate without bias (their equation II.2; its own mass does not count).
///
/// 0 everywhere for fewer than seven bodies.
pub fn densities(bodies: &[Body]) -> Vec<f64> {
    let points = bodies.iter().enumerate();
    let tree = RTree::bulk_load(points.map(|(i, b)| GeomWithData::new(b.x, i)).collect());
    rows(bodies.len(), |i| {
        let mut mass = 0.0;
        let others = tree
            .nearest_neighbor_iter_with_distance_2(bodies[i].x)
            .filter(|(other, _)| other.data != i);
        for (number, (other, distance2)) in (1..).zip(others) {
            if number == NEIGHBOUR {
                let volume = 4.0 / 3.0 * std::f64::consts::PI * distance2 * distance2.sqrt();
                return mass / volume;
            }
            mass += bodies[other.data].mass;
        }
        0.0
    })
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::models::plummer;

    fn body(mass: f64, x: f64) -> Body {
        Body {
            mass,
            x: [x, 0.0, 0.0],
            ..Body::default()
        }
    }

    #[test]
    fn a_density_by_hand() {
        let bodies: Vec<Body> = [0.0, 1.0, -1.5, 2.0, -2.5, 3.0, -4.0, 100.0]
            .iter()
            .zip(1..)
            .map(|(x, m)| body(f64::from(m), *x))
            .collect();
        // The five nearest of the first have the masses 2 to 6; the sixth is at the distance 4.
        let expected = 20.0 / (4.0 / 3.0 * PI * 64.0);
        assert!((densities(&bodies)[0] / expected - 1.0).abs() < 1e-15);
    }

    /// With all pairs sorted instead of a tree.
    #[test]
    fn neighbours_are_the_nearest() {
        let bodies = plummer(700, 3);
        for (i, found) in densities(&bodies).iter().enumerate() {
            let mut distances: Vec<f64> = bodies
                .iter()
                .map(|b| norm(&sub(&b.x, &bodies[i].x)))
                .collect();
            distances.sort_by(f64::total_cmp);
            let expected = 5.0 / 700.0 / (4.0 / 3.0 * PI * distances[6].powi(3));
            assert!((found / expected - 1.0).abs() < 1e-12, "{i}");
        }
    }

    /// By integrals over Plummer's density the core radius is 256/(120 pi) scale lengths. The density weighted by
    /// itself is 0.4631 of the central one: 0.541 in standard units.
    #[test]
    fn the_core_of_plummers_sphere() {
        let core = Core::of(&plummer(20_000, 1));
        assert!((core.radius / 0.4 - 1.0).abs() < 0.02, "{core:?}");
        assert!(
            (core.density / (1.25 * 0.541) - 1.0).abs() < 0.05,
            "{core:?}"
        );
        assert!(norm(&core.centre) < 0.02, "{core:?}");
    }

    /// The centre is that of the dense part, which the centre of mass is not.
    #[test]
    fn the_density_centre_is_where_the_bodies_are_dense() {
        let mut bodies = plummer(2000, 2);
        for b in &mut bodies {
            b.x[0] += 7.0;
        }
        bodies.extend((0..200).map(|k| body(0.01, -10.0 - 5.0 * f64::from(k))));
        let core = Core::of(&bodies);
        assert!((core.centre[0] - 7.0).abs() < 0.05, "{core:?}");
        assert!((core.radius / 0.4 - 1.0).abs() < 0.06, "{core:?}");
    }

    /// Test particles are no stars of the core, and have one of their own where nobody has mass.
    #[test]
    fn bodies_without_mass_are_not_counted() {
        let stars = plummer(200, 1);
        let light = stars.iter().map(|b| Body { mass: 0.0, ..*b });
        let light: Vec<Body> = light.collect();
        let expected = Core::of(&stars);
        assert_eq!(Core::of(&[&light[..], &stars].concat()), expected);
        // Nor have a few with mass a core without them.
        for few in 0..=6 {
            let core = Core::of(&[&stars[..few], &light[few..]].concat());
            assert!((core.radius / expected.radius - 1.0).abs() < 1e-12);
            assert_eq!(core.density, 0.0);
        }
    }

    #[test]
    fn few_or_coincident_bodies_have_no_core() {
        for n in [0, 1, 6] {
            assert!(Core::of(&plummer(n, 1)).radius.is_nan(), "{n}");
        }
        assert!(Core::of(&plummer(7, 1)).radius > 0.0);
        assert!(Core::of(&[body(1.0, 2.0); 9]).radius.is_nan());
    }
}
