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

use kirin_kit::galaxy::Units;

use crate::black_hole::BlackHole;
use crate::growth::integrals;
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

/// The loss cone during one step.
#[derive(Clone, Copy, Debug)]
pub struct LossCone<'a> {
    /// The hole.
    pub hole: BlackHole,
    /// Its mass now.
    pub mass: f64,
    /// Mean mass of the stars at the start.
    pub mean_mass: f64,
    /// Labels of white dwarfs, neutron stars and stellar black holes, and of binaries of two of them, in order.
    pub remnants: &'a [u64],
    /// Units of the stars; where there are remnants they are known.
    pub units: Option<Units>,
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
    /// The stars of a bin, of these labels and masses, before the step.
    pub fn watch(&self, labels: &[u64], masses: &[f64]) -> Watched {
        let mut reach = [0.0; BIN];
        for ((reach, label), mass) in reach.iter_mut().zip(labels).zip(masses) {
            *reach = match &self.units {
                Some(units) if self.remnants.binary_search(label).is_ok() => {
                    self.hole.reach_of_remnant(units, self.mass, *mass)
                }
                _ => self.hole.reach(self.mass, *mass, self.mean_mass),
            };
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
        if watched.taken[place] || reach == 0.0 {
            return;
        }
        let passage = &mut watched.passage[place];
        let edge = match star.energy < 0.0 {
            true => self.edge(star, reach),
            false => 0.0,
        };
        if edge == 0.0 || cannot_enter(displacement, edge) {
            // Unknown periods pass: where on its orbit the star is then is drawn anew.
            *passage = f64::NAN;
            return;
        }
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

/// Time from pericentre to pericentre of a bound star, of a circular orbit once around.
pub fn radial_period(potential: &Potential, radii: &[f64], star: &Star) -> f64 {
    let mut orbits = [Orbit::of(*star, 0)];
    find_apsides(potential, &mut orbits);
    let [period, _] = integrals(potential, radii, &orbits[0]);
    period
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::black_hole::Law;

    fn cone<'a>(potential: &'a Potential, radii: &'a [f64], law: Law) -> LossCone<'a> {
        LossCone {
            hole: BlackHole {
                mass: 1.0,
                law,
                radius: 1e-3,
                accreted: 1.0,
            },
            mass: 1.0,
            mean_mass: 1e-3,
            remnants: &[3, 8],
            units: Some(Units {
                mass: 1000.0,
                length: 0.1,
            }),
            dt: 1.0,
            radii,
            potential,
        }
    }

    /// While a star is far from the cone nobody counts its periods: then its next passage is drawn anew.
    #[test]
    fn a_passage_is_forgotten_far_from_the_cone() {
        let radii: Vec<f64> = (1..100).map(|k| 0.01 * f64::from(k)).collect();
        let mut potential = Potential::around(1.0);
        potential.update(&vec![0.0; radii.len()], &radii);
        let cone = cone(&potential, &radii, Law::Capture);
        let mut watched = cone.watch(&[1], &[1e-3]);
        let star = Star::new(&potential, 50, 0.0, [0.1, 0.5]);
        let edge = cone.edge(&star, 1e-3);
        let mut stream = Stream::of_seed(1);
        let near = [[1.5 * edge, 0.0], [1.5 * edge, 0.5 * edge]];
        cone.pass(&mut watched, 0, &star, &near, 1e-6, &mut stream);
        assert!((0.0..1.0).contains(&watched.passage[0]), "{watched:?}");
        let far = [[100.0 * edge, 0.0], [100.0 * edge, edge]];
        cone.pass(&mut watched, 0, &star, &far, 0.5, &mut stream);
        assert!(watched.passage[0].is_nan(), "{watched:?}");
        assert!(!watched.taken[0]);
    }

    /// The tide disrupts stars of the main sequence, and white dwarfs much nearer; a neutron star falls in as a whole.
    #[test]
    fn remnants_come_nearer_than_stars() {
        let (potential, radii) = (Potential::around(1.0), []);
        let reach = |law, label: u64, mass: f64| {
            let cone = cone(&potential, &radii, law);
            cone.watch(&[label], &[mass]).reach[0]
        };
        let star = reach(Law::Disruption, 1, 1e-3);
        assert!((star / 1e-2 - 1.0).abs() < 1e-12, "{star}");
        // 0.6 solar masses: 0.01278 solar radii; a parsec has 4.435e7.
        let dwarf = reach(Law::Disruption, 3, 0.6e-3);
        let expected = 0.01278 * (1000.0_f64 / 0.6).cbrt() / 4.435e7 / 0.1;
        assert!((dwarf / expected - 1.0).abs() < 0.01, "{dwarf} {expected}");
        // 8 G M / c^2 of 1000 solar masses is 11813 km.
        let neutron_star = reach(Law::Disruption, 8, 1.4e-3);
        let expected = 11_813.0 / 3.0857e13 / 0.1;
        assert!(
            (neutron_star / expected - 1.0).abs() < 1e-3,
            "{neutron_star} {expected}"
        );
        assert_eq!(reach(Law::Capture, 3, 0.6e-3), 1e-3);
    }
}
