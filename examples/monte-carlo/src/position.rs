//! The new position of a star on its orbit. The radius is drawn with a probability proportional to dr / |v_r|, by von
//! Neumann's rejection (equations 13 to 15).
//!
//! This probability density is infinite at both ends of the orbit. Therefore r is replaced by s, which goes from -1
//! to 1, with r = (r_min + r_max) / 2 + (r_max - r_min) (3 s - s^3) / 4 (Joshi, Rasio and Portegies Zwart 2000). The
//! density of s is proportional to g(s) = (3/4) (r_max - r_min) (1 - s^2) / |v_r|, which is finite. Its value at the
//! ends is sqrt(3 (r_max - r_min) / |Q'|).

use crate::bisection::{STARS_TOGETHER, Search, bisect};
use crate::orbit::{Apsis, Star};
use crate::potential::{Between, Potential};
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

/// The largest number of points that are drawn for one orbit. Usually one of the first few is accepted. None may be
/// accepted if rounding leaves no digits of the potential, as with one star of 10^15 times the mass of the others.
const MOST_ROUNDS: u32 = 100_000;

/// A star between its apsides, and where it is put.
#[derive(Clone, Copy, Debug, Default)]
pub struct Orbit {
    /// The star.
    pub star: Star,
    /// Index of the bin whose random numbers it takes.
    pub bin: usize,
    /// Pericentre and apocentre.
    pub ends: [Apsis; 2],
    /// The drawn place; `None` on a circle.
    pub place: Option<Place>,
    /// How often g was found above its bound. The drawing then began anew under a higher one.
    pub exceeded: u32,
    /// Bound of g.
    bound: f64,
}

/// A point under the bound of g.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    s: f64,
    /// Part of the bound.
    height: f64,
    r: f64,
}

impl Orbit {
    /// That of a star of which the apsides are not known yet.
    pub fn of(star: Star, bin: usize) -> Self {
        Self {
            star,
            bin,
            ..Self::default()
        }
    }

    /// Half the distance of its ends is the unit of length of s.
    fn width(&self) -> f64 {
        self.ends[1].r - self.ends[0].r
    }

    fn is_circle(&self) -> bool {
        self.width() <= CIRCLE * self.ends[1].r
    }

    fn set_bound(&mut self) {
        let at_end = |apsis: &Apsis| apsis.r * (1.5 * self.width() / apsis.slope).sqrt();
        // A slope of 0 belongs to no orbit of finite width but for rounding.
        let finite = |g: f64| if g.is_finite() { g } else { 0.0 };
        let [near, far] = &self.ends;
        self.bound = MARGIN * finite(at_end(near)).max(finite(at_end(far)));
    }

    #[inline(always)]
    fn draw(&self, stream: &mut Stream) -> Point {
        let s = 2.0 * stream.uniform() - 1.0;
        let height = stream.uniform();
        let middle = 0.5 * (self.ends[0].r + self.ends[1].r);
        let r = middle + 0.25 * self.width() * s * (3.0 - s * s);
        Point { s, height, r }
    }

    /// Whether this point, about which the potential is `felt`, is under g: then it is the star's place.
    #[inline(always)]
    fn accept(&mut self, felt: &Between, point: &Point, stream: &mut Stream) -> bool {
        let u = 1.0 / point.r;
        let q = self.star.q(felt, u);
        // Rounding next to an end.
        if q <= 0.0 || !q.is_finite() {
            return false;
        }
        let speed = q.sqrt();
        let g = 0.75 * self.width() * (1.0 - point.s * point.s) / speed;
        if g > self.bound {
            self.bound = MARGIN * g;
            self.exceeded += 1;
            return false;
        }
        if self.bound * point.height >= g {
            return false;
        }
        let inwards = stream.next() >> 31 == 1;
        self.place = Some(Place {
            r: point.r,
            vr: if inwards { -speed } else { speed },
            phi: felt.phi(u),
        });
        true
    }
}

/// Draws a place on each of the orbits, whose pericentres and apocentres are known. There are at most
/// [`STARS_TOGETHER`] orbits. The random numbers are those of each orbit's bin in `streams`.
///
/// In each round every orbit without a place draws a point, until all have one. An orbit that has none after the
/// last round stays without a place; its star is treated as if its orbit were a circle.
pub fn sample(potential: &Potential, radii: &[f64], orbits: &mut [Orbit], streams: &mut [Stream]) {
    let mut waiting = [0; STARS_TOGETHER];
    let mut points = [Point::default(); STARS_TOGETHER];
    let mut searches = [Search::default(); STARS_TOGETHER];
    let mut felt = [Between::default(); STARS_TOGETHER];
    let mut count = 0;
    for (k, orbit) in orbits.iter_mut().enumerate() {
        if !orbit.is_circle() {
            orbit.set_bound();
            waiting[count] = k;
            count += 1;
        }
    }
    let mut rounds = 0;
    while count > 0 && rounds < MOST_ROUNDS {
        rounds += 1;
        for k in 0..count {
            let orbit = &orbits[waiting[k]];
            points[k] = orbit.draw(&mut streams[orbit.bin]);
            searches[k] = potential.index.range(points[k].r);
        }
        bisect(&mut searches[..count], |k, at| radii[at] <= points[k].r);
        // In a loop without branches the processor waits for many values at the same time.
        for k in 0..count {
            let orbit = &orbits[waiting[k]];
            let [near, far] = &orbit.ends;
            let index = searches[k].found.clamp(near.index, far.index);
            felt[k] = orbit.star.felt(potential, index);
        }
        let mut left = 0;
        for k in 0..count {
            let orbit = &mut orbits[waiting[k]];
            let stream = &mut streams[orbit.bin];
            if !orbit.accept(&felt[k], &points[k], stream) {
                waiting[left] = waiting[k];
                left += 1;
            }
        }
        count = left;
    }
}
