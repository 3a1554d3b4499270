//! Where on its orbit a star is put: at a radius with the probability that it is there, dr / |v_r|, by von
//! Neumann's rejection (equations 13 to 15).
//!
//! The probability is infinite at both ends. With r = (r_min + r_max) / 2 + (r_max - r_min) (3 s - s^3) / 4
//! it is g(s) = (3/4) (r_max - r_min) (1 - s^2) / |v_r| for s from -1 to 1, which is finite (Joshi, Rasio and
//! Portegies Zwart 2000), at the ends sqrt(3 (r_max - r_min) / |Q'|).

use crate::orbit::{Apsis, Star};
use crate::potential::Potential;
use crate::random::Stream;

/// By how much the bound stands above g at both ends.
const MARGIN: f64 = 1.2;

/// Part of the radius below which an orbit is a circle: rounding decides about the rest.
const CIRCLE: f64 = 1e-13;

/// A place on an orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Radius.
    pub r: f64,
    /// Radial velocity there, inwards or outwards with equal probability.
    pub vr: f64,
    /// Potential of the other stars there.
    pub phi: f64,
}

/// Draws a place between pericentre and apocentre; `None` on a circle.
///
/// Where g is found above its bound the drawing begins anew under a higher one, and `exceeded` grows.
pub fn sample(
    potential: &Potential,
    radii: &[f64],
    star: &Star,
    [near, far]: [Apsis; 2],
    stream: &mut Stream,
    exceeded: &mut u32,
) -> Option<Place> {
    let width = far.r - near.r;
    if width <= CIRCLE * far.r {
        return None;
    }
    let at_end = |apsis: &Apsis| apsis.r * (1.5 * width / apsis.slope).sqrt();
    let ends = [at_end(&near), at_end(&far)];
    // A slope of 0 belongs to no orbit of finite width but for rounding.
    let mut bound = MARGIN
        * ends
            .into_iter()
            .filter(|g| g.is_finite())
            .fold(0.0, f64::max);
    let middle = 0.5 * (near.r + far.r);
    loop {
        let s = 2.0 * stream.uniform() - 1.0;
        let height = stream.uniform();
        let r = middle + 0.25 * width * s * (3.0 - s * s);
        let index = near.index + potential.index(&radii[near.index..far.index], r);
        let (felt, u) = (star.felt(potential, index), 1.0 / r);
        let q = star.q(&felt, u);
        // Rounding next to an end.
        if q <= 0.0 || !q.is_finite() {
            continue;
        }
        let speed = q.sqrt();
        let g = 0.75 * width * (1.0 - s * s) / speed;
        if g > bound {
            bound = MARGIN * g;
            *exceeded += 1;
            continue;
        }
        if bound * height < g {
            let inwards = stream.next() >> 31 == 1;
            return Some(Place {
                r,
                vr: if inwards { -speed } else { speed },
                phi: felt.phi(u),
            });
        }
    }
}
