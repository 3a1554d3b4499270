//! Slow growth of the black hole in a cluster that has not begun. While a hole grows slowly, a star passes all its orbit, and its
//! energy changes by -(growth) times the mean of 1/r over the orbit. With the 1/r of a random place instead, energies near the hole would scatter: by 0.4 in
//! ln E while the mass of the hole grows by a factor of e in 20 steps. The potential of the stars changes, too; this change is that at a random place.

use crate::bisection::STARS_TOGETHER;
use crate::orbit::{Star, departing, find_apsides, put};
use crate::position::{self, Orbit, Place};
use crate::potential::Potential;
use crate::renewal::Renewal;
use crate::stars::Share;

/// Part of the radius below which an orbit counts as a circle.
const CIRCLE: f64 = 1e-6;

/// Points of the integrals over an orbit.
const POINTS: usize = 16;

/// Puts all stars of a group on their new orbits, after the hole has grown by the mass `growth`; `potential` is that with the grown hole. The random
/// numbers are those of each bin.
pub fn of_group(potential: &Potential, radii: &[f64], growth: f64, group: &mut Share<'_>) {
    let mut orbits = [Orbit::default(); STARS_TOGETHER];
    let mut stars = [Star::default(); STARS_TOGETHER];
    for begin in (0..group.r.len()).step_by(STARS_TOGETHER) {
        let end = (begin + STARS_TOGETHER).min(group.r.len());
        let orbits = departing(potential, &Renewal::ALL, group, begin..end, &mut orbits);
        find_apsides(potential, orbits);
        let mut left = 0;
        for k in 0..orbits.len() {
            let mut orbit = orbits[k];
            let [period, inverse] = integrals(potential, radii, &orbit);
            orbit.star.energy += growth * (orbit.star.u - inverse / period);
            stars[left] = orbit.star;
            match on_its_orbit(potential, &orbit.star) {
                Ok(star) => {
                    orbits[left] = Orbit::of(star, orbit.bin);
                    left += 1;
                }
                Err(place) => {
                    orbit.place = Some(place);
                    put(group, &orbit);
                }
            }
        }
        let orbits = &mut orbits[..left];
        find_apsides(potential, orbits);
        position::sample(potential, radii, orbits, group.streams);
        for (orbit, star) in orbits.iter_mut().zip(&stars) {
            orbit.star = *star;
            orbit.place = orbit.place.or_else(|| Some(on_circle(potential, star)));
            put(group, orbit);
        }
    }
}

/// The star where a star of the cluster is that its orbit passes: where it is, or, if its new energy is too low for this place, next to the
/// circular orbit of its angular momentum, which is within all orbits that have it. If the orbit passes no star there, the answer is a place on the circle. Where the
/// star is looked for, its own shell is taken for moved, too: an error of its mass over that inside.
fn on_its_orbit(potential: &Potential, star: &Star) -> Result<Star, Place> {
    let comes_by = |star: &Star| star.q(&star.felt(potential, star.index), star.u) > 0.0;
    if comes_by(star) {
        return Ok(*star);
    }
    let inner = inside_circle(potential, star);
    let neighbours = inner.max(1)..=(inner + 1).min(potential.stars());
    let moved = neighbours.map(|index| Star {
        index,
        u: potential.nodes[index].u,
        ..*star
    });
    let found = moved.into_iter().find(comes_by);
    found.ok_or_else(|| on_circle(potential, star))
}

/// Index of the last star within the circular orbit of the star's angular momentum, or 0. On the circle J^2 = M r, and M r grows outwards.
fn inside_circle(potential: &Potential, star: &Star) -> usize {
    let j2 = star.momentum * star.momentum;
    let (mut inner, mut outer) = (0, potential.stars() + 1);
    while outer - inner > 1 {
        let middle = inner.midpoint(outer);
        let inside = star.felt(potential, middle).inside;
        match inside < j2 * potential.nodes[middle].u {
            true => inner = middle,
            false => outer = middle,
        }
    }
    inner
}

/// A place on the circular orbit of the star's angular momentum, or, if it has none, where it is.
fn on_circle(potential: &Potential, star: &Star) -> Place {
    let j2 = star.momentum * star.momentum;
    if j2 == 0.0 {
        return Place {
            r: 1.0 / star.u,
            vr: 0.0,
            phi: star.phi,
        };
    }
    let inner = inside_circle(potential, star);
    let felt = star.felt(potential, inner);
    let next = potential.nodes.get(inner + 1).map_or(0.0, |node| node.u);
    let u = (felt.inside / j2).clamp(next, potential.nodes[inner].u);
    Place {
        r: 1.0 / u,
        vr: star.q(&felt, u).max(0.0).sqrt(),
        phi: felt.phi(u),
    }
}

/// Time from pericentre to pericentre, of a circular orbit once around, and the integral of dt / r over this time. The ends of the orbit are known. The
/// points of the integrals of dr / v_r are those of Gauss and Chebyshev.
pub fn integrals(potential: &Potential, radii: &[f64], orbit: &Orbit) -> [f64; 2] {
    let (star, [near, far]) = (&orbit.star, &orbit.ends);
    let (middle, half) = (0.5 * (near.r + far.r), 0.5 * (far.r - near.r));
    if half <= CIRCLE * middle {
        let period = std::f64::consts::TAU * middle * middle / star.momentum;
        return [period, period / middle];
    }
    let mut sums = [0.0; 2];
    for k in 0..POINTS {
        let angle = std::f64::consts::PI * (k as f64 + 0.5) / POINTS as f64;
        let (sin, cos) = angle.sin_cos();
        let r = middle + half * cos;
        let index = potential.star_inside(radii, r).clamp(near.index, far.index);
        let square = star.q(&star.felt(potential, index), 1.0 / r);
        if square > 0.0 {
            let time = half * sin / square.sqrt();
            sums = [sums[0] + time, sums[1] + time / r];
        }
    }
    sums.map(|sum| std::f64::consts::TAU / POINTS as f64 * sum)
}
