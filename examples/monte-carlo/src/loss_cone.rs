//! The loss cone of a black hole. A star is in the loss cone if its pericentre is within the radius at which the hole
//! takes it; the hole takes it at its next pericentre passage.
//!
//! A step usually has many orbital periods. A star can therefore enter the loss cone and leave it again between two
//! passages, or be taken on its way to an orbit outside of the cone. Freitag and Benz (2002) divide the deflection of
//! the step into a random walk of the star's direction, whose steps are those of one period. Here the walk is that of
//! the transverse velocity during each encounter, and it ends where the encounter has put the star (a Brownian
//! bridge). So the stars that are left, too, have the distribution of stars that were not taken.
//!
//! Both limits follow: with deflections a period that are large against the cone, stars are taken from a full cone at
//! the rate of passages (Lightman and Shapiro 1977); with small ones, by diffusion towards an empty cone (Cohn and
//! Kulsrud 1978).

use crate::black_hole::BlackHole;
use crate::orbit::{Star, find_apsides};
use crate::partition::BIN;
use crate::position::Orbit;
use crate::potential::Potential;
use crate::random::Stream;

/// Length of a part of the walk, as a part of the distance from the cone: with this, a part comes into the cone
/// between its ends with a probability below 1e-4.
const SAFE: f64 = 1.0 / 3.0;

/// Exponent of the probability that a walk reaches a line, beyond which no star is followed: e^-18 is 1.5e-8.
const UNLIKELY: f64 = 18.0;

/// Most periods of an encounter that are told apart; with more, the walk is as good as continuous.
const MOST_ORBITS: f64 = 1e12;

/// Part of the radius below which an orbit counts as a circle.
const CIRCLE: f64 = 1e-6;

/// Points of the integral of the orbital period.
const POINTS: usize = 16;

/// The loss cone during one step.
#[derive(Clone, Copy, Debug)]
pub struct LossCone<'a> {
    /// The hole.
    pub hole: BlackHole,
    /// Its mass now.
    pub mass: f64,
    /// Mean mass of the stars.
    pub mean_mass: f64,
    /// Time step.
    pub dt: f64,
    /// Radii of all stars.
    pub radii: &'a [f64],
    /// Potential of all stars and the hole.
    pub potential: &'a Potential,
}

/// The stars of a bin during a step.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Radii within which they are taken.
    reach: [f64; BIN],
    /// Periods until they are at their pericentres next; NaN where not drawn yet.
    passage: [f64; BIN],
    /// Whether the hole takes them.
    pub taken: [bool; BIN],
}

/// The transverse velocity before and after an encounter, in any directions at right angles to the radius.
pub type Displacement = [[f64; 2]; 2];

impl LossCone<'_> {
    /// The stars of a bin, of these masses, before the step.
    pub fn watch(&self, masses: &[f64]) -> Watched {
        let mut reach = [0.0; BIN];
        for (reach, mass) in reach.iter_mut().zip(masses) {
            *reach = self.hole.reach(self.mass, *mass, self.mean_mass);
        }
        Watched {
            reach,
            passage: [f64::NAN; BIN],
            taken: [false; BIN],
        }
    }

    /// The largest transverse velocity with which this star comes within the radius `reach`. Infinite if all its orbit is there.
    pub fn edge(&self, star: &Star, reach: f64) -> f64 {
        if reach * star.u >= 1.0 {
            return f64::INFINITY;
        }
        let felt = star.felt(
            self.potential,
            self.potential.star_inside(self.radii, reach),
        );
        let square = 2.0 * (star.energy + felt.outside + felt.inside / reach);
        square.max(0.0).sqrt() * reach * star.u
    }

    /// Notes that the star in this place of its bin is taken, if it is, during an encounter of the part `part` of the step.
    /// `star` is the star before the encounter.
    pub fn pass(
        &self,
        watched: &mut Watched,
        place: usize,
        star: &Star,
        displacement: &Displacement,
        part: f64,
        stream: &mut Stream,
    ) {
        let reach = watched.reach[place];
        if watched.taken[place] || reach == 0.0 || star.energy >= 0.0 {
            return;
        }
        let edge = self.edge(star, reach);
        if edge == 0.0 || cannot_enter(displacement, edge) {
            return;
        }
        let passage = &mut watched.passage[place];
        if passage.is_nan() {
            *passage = stream.uniform();
        }
        let period = radial_period(self.potential, self.radii, star);
        let orbits = (part * self.dt / period).min(MOST_ORBITS);
        watched.taken[place] = is_taken(displacement, edge, orbits, passage, stream);
    }
}

/// Whether a walk between the ends of the displacement practically never comes into the disc of radius `edge`. It would have to
/// cross the line that touches the disc in the direction of the beginning; with a at the beginning and b at the end from this line
/// and the displacement s, the probability is exp(-4 a b / s^2).
fn cannot_enter([from, to]: &Displacement, edge: f64) -> bool {
    let length = from[0].hypot(from[1]);
    let begins = length - edge;
    let ends = (from[0] * to[0] + from[1] * to[1]) / length - edge;
    begins > 0.0 && ends > 0.0 && {
        let step = distance(from, to);
        4.0 * begins * ends > UNLIKELY * step * step
    }
}

fn distance(a: &[f64; 2], b: &[f64; 2]) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

/// Whether a star comes into the cone, which is the disc of radius `edge`, at one of the pericentre passages of so many `orbits`. In this time the
/// star walks at random from the one end of the displacement to the other. The next passage is after `next` periods, and
/// afterwards `next` is what is left of this.
pub fn is_taken(
    [from, to]: &Displacement,
    edge: f64,
    orbits: f64,
    next: &mut f64,
    stream: &mut Stream,
) -> bool {
    // In units of the period: the time, and that of the next passage.
    let (mut time, mut passage) = (0.0, *next);
    let square = distance(from, to).powi(2) / orbits;
    let mut at = *from;
    while passage < orbits {
        let left = orbits - time;
        let to_go = distance(&at, to);
        let safe = SAFE * (at[0].hypot(at[1]) - edge);
        if safe > 0.0 {
            let by_walk = safe * safe / square;
            let by_drift = safe * left / to_go;
            let free = by_walk.min(by_drift);
            passage += (free - (passage - time)).max(0.0).floor();
            if passage >= orbits {
                break;
            }
        }
        let gone = passage - time;
        let spread = (square * gone * (left - gone) / left).sqrt();
        // The square of a displacement by two normal numbers is distributed exponentially.
        let length = spread * (-stream.uniform().ln()).sqrt();
        let (cos, sin) = stream.angle();
        let part = gone / left;
        at = [
            at[0] + part * (to[0] - at[0]) + length * cos,
            at[1] + part * (to[1] - at[1]) + length * sin,
        ];
        if at[0].hypot(at[1]) < edge {
            return true;
        }
        (time, passage) = (passage, passage + 1.0);
    }
    *next = (*next - orbits).rem_euclid(1.0);
    false
}

/// Time from pericentre to pericentre of a bound star, of a circular orbit once around. The points of the integral of
/// dr / v_r are those of Gauss and Chebyshev.
pub fn radial_period(potential: &Potential, radii: &[f64], star: &Star) -> f64 {
    let mut orbits = [Orbit::of(*star, 0)];
    find_apsides(potential, &mut orbits);
    let [near, far] = &orbits[0].ends;
    let (middle, half) = (0.5 * (near.r + far.r), 0.5 * (far.r - near.r));
    if half <= CIRCLE * middle {
        return std::f64::consts::TAU * middle * middle / star.momentum;
    }
    let mut sum = 0.0;
    for k in 0..POINTS {
        let angle = std::f64::consts::PI * (k as f64 + 0.5) / POINTS as f64;
        let (sin, cos) = angle.sin_cos();
        let r = middle + half * cos;
        let index = potential.star_inside(radii, r).clamp(near.index, far.index);
        let square = star.q(&star.felt(potential, index), 1.0 / r);
        if square > 0.0 {
            sum += half * sin / square.sqrt();
        }
    }
    std::f64::consts::TAU / POINTS as f64 * sum
}
