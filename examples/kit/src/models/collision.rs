//! Two Plummer spheres that fall together.

use super::plummer::plummer;
use super::units::to_centre_of_mass;
use crate::body::Body;
use crate::vector::{Vec3, add_scaled};

/// Distance of the two centres.
const DISTANCE: f64 = 4.0;
/// Smallest distance on the way of two points of their masses.
const PERICENTRE: f64 = 0.25;

/// Two equal Plummer spheres of `n` bodies together, on a parabolic orbit towards each other.
///
/// Each sphere has half the mass and half the size of the standard one, so each has the energy -1/8 by itself. The
/// orbit has the energy 0 and lies in the xy plane. Two points in place of the spheres would be closest at the time
/// 4.1, at the distance 1/4. Labels count from 0; those of the second sphere begin at half of `n`, rounded up.
pub fn collision(n: usize, seed: u64) -> Vec<Body> {
    // Relative velocity on a parabola, with all mass 1: v^2 = 2/d, and (v_t d)^2 = 2 p.
    let across = (2.0 * PERICENTRE).sqrt() / DISTANCE;
    let along = (2.0 / DISTANCE - across * across).sqrt();
    let (x, v): (Vec3, Vec3) = ([DISTANCE, 0.0, 0.0], [-along, across, 0.0]);
    let first = n.div_ceil(2);
    let mut bodies = plummer(first, seed);
    // Another stream: twins would be mirror images of each other.
    bodies.extend(plummer(n - first, seed.wrapping_add(1 << 63)));
    for (i, body) in bodies.iter_mut().enumerate() {
        body.index = i32::try_from(i).expect("labels are 32-bit integers");
        body.mass = 1.0 / n as f64;
        body.x = body.x.map(|c| 0.5 * c);
        let side = if i < first { -0.5 } else { 0.5 };
        add_scaled(&mut body.x, side, &x);
        add_scaled(&mut body.v, side, &v);
    }
    if n > 1 {
        to_centre_of_mass(&mut bodies);
    }
    bodies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Energy, angular_momentum, centre_of_mass};
    use crate::vector::norm;

    #[test]
    fn two_bound_spheres_on_a_parabola() {
        let bodies = collision(2001, 1);
        let (left, right) = bodies.split_at(1001);
        for sphere in [left, right] {
            let mut sphere = sphere.to_vec();
            to_centre_of_mass(&mut sphere);
            let energy = Energy::of(&sphere, 0.0).total();
            assert!((energy + 0.125).abs() < 0.001, "{energy}");
        }
        // The spheres bind each other by a little less than two points would.
        let energy = Energy::of(&bodies, 0.0).total();
        assert!((energy + 0.25).abs() < 0.01, "{energy}");
        let (x, v) = centre_of_mass(&bodies);
        assert!(norm(&x) < 1e-12 && norm(&v) < 1e-12);
        let orbit = angular_momentum(&bodies)[2];
        let expected = 0.25 * (2.0 * PERICENTRE).sqrt();
        assert!((orbit / expected - 1.0).abs() < 0.1, "{orbit} {expected}");
        assert!((0..).zip(&bodies).all(|(i, b)| b.index == i));
    }
}
