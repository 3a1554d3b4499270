//! A subsystem: two or more stars that the integrator of a cluster moves as one particle, with their motion about their
//! centre of mass.

use super::multiple::{Multiple, Place};
use super::pair::{CROWDED, Pair, Pull, pull};
use super::{Error, kepler::Orbit, secular};
use crate::body::Body;
use crate::vector::{Vec3, add_scaled, norm};

/// Perturbation by a star above which it feels the members, wherever they are followed along their orbits: what acts on
/// them acts back.
const FELT: f64 = 1e-8;

/// Sizes of a system within which every star feels the members. Further out it feels the quadrupole of their mean orbits, and
/// the octupole, which it does not feel, is below 2e-6 of the system's attraction.
const NEAR: f64 = 30.0;

/// The same for members that have no mean orbit.
const NEAR_UNBOUND: f64 = 1000.0;

/// A star feels the quadrupole if it may exceed this part of its whole acceleration.
const NOTICED: f64 = 1e-6;

/// An outer orbit is narrow below this times the size of the inner one.
const NARROW: f64 = 12.0;

/// Two or more stars about their centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub enum Subsystem {
    /// Two.
    Pair(Pair),
    /// More than two.
    Multiple(Multiple),
}

/// What stars around a system feel of it beside the attraction of its centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    near2: f64,
    reach6: f64,
    /// Sum of m x x over the members, in the mean over their revolutions.
    moment: [Vec3; 3],
    most: f64,
}

/// How far a system is felt otherwise than by its centre: within the greatest of three distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// By every star.
    pub near: f64,
    /// By a star of the mass 1; by others in proportion to the cube root of their mass.
    pub members: f64,
    /// By a star of the acceleration 1; by others in inverse proportion to the fourth root of theirs.
    pub quadrupole: f64,
}

/// What a star feels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Felt {
    /// The members where they are.
    Members,
    /// The [`quadrupole`](Surroundings::quadrupole) of their mean orbits.
    Quadrupole,
    /// Their centre.
    Centre,
}

impl Surroundings {
    /// What a star of this mass feels at a distance of which `r2` is the square. `acceleration` is that of the star by all others.
    pub fn felt(&self, r2: f64, mass: f64, acceleration: f64) -> Felt {
        if r2 < self.near2 || r2 * r2 * r2 < self.reach6 * mass * mass {
            return Felt::Members;
        }
        match r2 * r2 * acceleration < self.most {
            true => Felt::Quadrupole,
            false => Felt::Centre,
        }
    }

    /// The distances beyond which [`felt`](Self::felt) is [`Felt::Centre`].
    pub fn reach(&self) -> Reach {
        Reach {
            near: self.near2.sqrt(),
            members: self.reach6.cbrt().sqrt(),
            quadrupole: self.most.sqrt().sqrt(),
        }
    }

    /// The force of the quadrupole on a star, where `x` and `v` are position and velocity of the centre relative to the star.
    pub fn quadrupole(&self, x: &Vec3, v: &Vec3) -> Pull {
        secular::quadrupole(&self.moment, x, v)
    }
}

impl Subsystem {
    /// Two or more stars at one time, and their centre, with the label of the first.
    pub fn of(stars: &[Body]) -> (Body, Self) {
        if let [a, b] = stars {
            let (centre, pair) = Pair::of(a, b);
            return (centre, Self::Pair(pair));
        }
        let (centre, multiple) = Multiple::of(stars);
        (centre, Self::Multiple(multiple))
    }

    /// Labels of the members.
    pub fn labels(&self) -> &[i32] {
        match self {
            Self::Pair(pair) => &pair.labels,
            Self::Multiple(multiple) => &multiple.labels,
        }
    }

    /// Masses of the members.
    pub fn masses(&self) -> &[f64] {
        match self {
            Self::Pair(pair) => &pair.masses,
            Self::Multiple(multiple) => &multiple.masses,
        }
    }

    /// Mass of all members.
    pub fn mass(&self) -> f64 {
        self.masses().iter().sum()
    }

    /// Energy of the members about their centre.
    pub fn energy(&self) -> f64 {
        match self {
            Self::Pair(pair) => pair.energy(),
            Self::Multiple(multiple) => multiple.energy(),
        }
    }

    /// Potential energy of the members by each other.
    pub fn potential(&self) -> f64 {
        self.pairs().map(|(_, _, energy)| energy).sum()
    }

    /// Each two members, as places in their list, and the potential energy of the two.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let masses = self.masses();
        let pairs = (0..masses.len()).flat_map(|i| (i + 1..masses.len()).map(move |j| (i, j)));
        pairs.map(move |(i, j)| {
            let distance = norm(&self.relative(i, j).0);
            (i, j, -masses[i] * masses[j] / distance)
        })
    }

    /// The members where they are if their centre is at that of `centre`.
    pub fn stars(&self, centre: &Body) -> Vec<Body> {
        match self {
            Self::Pair(pair) => pair.stars(centre).to_vec(),
            Self::Multiple(multiple) => {
                let mut stars = multiple.stars();
                for star in &mut stars {
                    add_scaled(&mut star.x, 1.0, &centre.x);
                    add_scaled(&mut star.v, 1.0, &centre.v);
                }
                stars
            }
        }
    }

    /// Position and velocity of member `j` from member `i`.
    pub fn relative(&self, i: usize, j: usize) -> Place {
        match self {
            Self::Pair(pair) => {
                let sign = j as f64 - i as f64;
                (pair.x.map(|c| sign * c), pair.v.map(|c| sign * c))
            }
            Self::Multiple(multiple) => multiple.relative(i, j),
        }
    }

    /// Takes the relative positions and velocities of members that were in the system `other` at this time from that
    /// system. They have more digits there than as differences of positions in the cluster.
    pub fn refine(&mut self, other: &Self) {
        let labels = self.labels().to_vec();
        let place = |label: &i32| other.labels().iter().position(|l| l == label);
        let known = |k: usize| Some((k, place(&labels[k])?));
        let known: Vec<(usize, usize)> = (0..labels.len()).filter_map(known).collect();
        for (n, &(i, old_i)) in known.iter().enumerate() {
            for &(j, old_j) in &known[n + 1..] {
                let relative = other.relative(old_i, old_j);
                match self {
                    Self::Pair(pair) => (pair.x, pair.v) = relative,
                    Self::Multiple(multiple) => multiple.set_relative(i, j, relative),
                }
            }
        }
    }

    /// The members with the energy that they have at present: see [`Pair::osculating`] and [`Multiple::osculating`].
    pub fn osculating(self) -> Self {
        match self {
            Self::Pair(pair) => Self::Pair(pair.osculating()),
            Self::Multiple(multiple) => Self::Multiple(multiple.osculating()),
        }
    }

    /// Where the members are for those that feel them, `dt` after the beginning of a step of the length `step`, about their
    /// centre.
    ///
    /// # Errors
    ///
    /// Two members are at one place.
    pub fn felt(&self, dt: f64, step: f64) -> Result<Vec<Place>, Error> {
        match self {
            Self::Pair(pair) => Ok(pair.members(dt).to_vec()),
            Self::Multiple(multiple) => multiple.felt(dt, step),
        }
    }

    /// Where the forces of all others are wanted `dt` after the beginning of a step of the length `step`, from the centre.
    ///
    /// # Errors
    ///
    /// Those of [`felt`](Self::felt).
    pub fn places(&self, dt: f64, step: f64) -> Result<Vec<Place>, Error> {
        match self {
            Self::Pair(pair) => Ok(pair.places(dt)),
            Self::Multiple(multiple) => multiple.places(dt, step),
        }
    }

    /// The force on the centre, from those at the [`places`](Self::places).
    pub fn mean(&self, pulls: &[Pull]) -> Pull {
        match self {
            Self::Pair(pair) => pair.mean(pulls),
            Self::Multiple(multiple) => multiple.mean(pulls),
        }
    }

    /// Takes the members to the end of a step of `dt`. `pulls` are the forces at the [`places`](Self::places) of this
    /// step.
    ///
    /// # Errors
    ///
    /// Those of [`felt`](Self::felt).
    pub fn advance(&mut self, dt: f64, pulls: &[Pull]) -> Result<(), Error> {
        match self {
            Self::Pair(pair) => pair.advance(dt, pulls),
            Self::Multiple(multiple) => multiple.advance(dt, pulls)?,
        }
        Ok(())
    }

    /// Decides after a step how the next one of `dt` is made, where the forces on the centre change within the time `scale`. `eta`
    /// is the accuracy parameter of the steps.
    pub fn plan(&mut self, scale: f64, dt: f64, eta: f64) {
        match self {
            Self::Pair(pair) => pair.plan(scale, dt, eta),
            Self::Multiple(multiple) => multiple.plan(eta),
        }
    }

    /// Longest step over which the tide is followed, with the accuracy parameter `eta` of the steps, and for which little is
    /// integrated in vain.
    pub fn longest_step(&self, eta: f64) -> f64 {
        match self {
            Self::Pair(pair) => pair.longest_step(eta),
            Self::Multiple(multiple) => multiple.longest_step(eta).min(multiple.cheapest_step()),
        }
    }

    /// Whether the tide on the members is followed along their orbits, which limits the steps of the centre.
    pub fn is_followed(&self) -> bool {
        match self {
            Self::Pair(pair) => pair.is_perturbed,
            Self::Multiple(_) => true,
        }
    }

    /// Whether another star is so near that the motion of the centre needs shorter steps than usual.
    pub fn is_crowded(&self) -> bool {
        match self {
            Self::Pair(pair) => pair.is_crowded(),
            Self::Multiple(multiple) => multiple.greatest_perturbation() > CROWDED,
        }
    }

    /// Apocentre of two that are bound, else the largest distance of two members.
    pub fn size(&self) -> f64 {
        match self {
            Self::Pair(pair) => pair.size(),
            Self::Multiple(multiple) => multiple.size(),
        }
    }

    /// How stars around it feel the system. `size` is the [`size`](Self::size).
    pub fn surroundings(&self, size: f64) -> Surroundings {
        let moment = match self {
            Self::Pair(pair) => pair.moment(),
            Self::Multiple(multiple) => Some(multiple.moment()),
        };
        let near = match moment {
            Some(_) => NEAR * size,
            None => NEAR_UNBOUND * size,
        };
        let reach = match self.is_followed() {
            true => self.distance_of(size, 1.0, FELT),
            false => 0.0,
        };
        let moment = moment.unwrap_or_default();
        let trace: f64 = (0..3).map(|k| moment[k][k]).sum();
        Surroundings {
            near2: near * near,
            reach6: reach.powi(6),
            moment,
            most: 4.5 * trace / NOTICED,
        }
    }

    /// Distance at which the tide of this mass is the part `perturbation` of the attraction of the members. `size` is the
    /// [`size`](Self::size).
    pub fn distance_of(&self, size: f64, mass: f64, perturbation: f64) -> f64 {
        size * (2.0 * mass / (perturbation * self.mass())).cbrt()
    }

    /// The force of the members at these `places` on a star, minus the force of their whole mass at the centre. `x` and
    /// `v` are position and velocity of the centre relative to the star.
    pub fn correction(&self, places: &[Place], x: &Vec3, v: &Vec3) -> Pull {
        let (mut acc, mut jerk) = pull(-self.mass(), x, v);
        for (mass, place) in self.masses().iter().zip(places) {
            let (mut x, mut v) = (*x, *v);
            add_scaled(&mut x, 1.0, &place.0);
            add_scaled(&mut v, 1.0, &place.1);
            let (a, j) = pull(*mass, &x, &v);
            add_scaled(&mut acc, 1.0, &a);
            add_scaled(&mut jerk, 1.0, &j);
        }
        (acc, jerk)
    }

    /// Orbits of members around one another that are bound: labels, orbit and energy, from the inside out.
    pub fn orbits(&self) -> Vec<(Vec<i32>, Orbit, f64)> {
        let orbits = match self {
            Self::Pair(pair) => vec![(vec![0, 1], pair.orbit())],
            Self::Multiple(multiple) => multiple.orbits(),
        };
        let of = |members: &[usize]| -> (Vec<i32>, f64) {
            let label = |k: &usize| self.labels()[*k];
            let mass = members.iter().map(|k| self.masses()[*k]).sum();
            (members.iter().map(label).collect(), mass)
        };
        let mut found = Vec::new();
        for (members, orbit) in orbits.iter().rev().filter(|(_, orbit)| orbit.is_bound()) {
            // The parts of an orbit are the largest ones before it whose members are its own.
            let inner: Option<&(Vec<usize>, Orbit)> = orbits
                .iter()
                .filter(|(m, _)| m.len() < members.len() && m.iter().all(|k| members.contains(k)))
                .max_by_key(|(m, _)| m.len());
            let first = match inner {
                Some((part, _)) => of(part).1,
                None => self.masses()[members[0]],
            };
            let (labels, mass) = of(members);
            let energy = orbit.energy() * first * (mass - first) / mass;
            found.push((labels, *orbit, energy));
        }
        found
    }
}

/// The tide of each of two bodies or subsystems on the other, divided by the other's internal attraction. The result is
/// the greater of the two values. `a` and `b` are mass and size of the two, and `outer` is their orbit about each
/// other. On a narrow orbit the tide at the pericentre counts; otherwise a triple would be grouped anew twice in each
/// revolution.
pub fn influence(a: (f64, f64), b: (f64, f64), outer: &Pair) -> f64 {
    let (orbit, mut distance) = (outer.orbit(), norm(&outer.x));
    if orbit.is_bound() && orbit.apocentre() < NARROW * a.1.max(b.1) {
        distance = distance.min(orbit.pericentre());
    }
    influence_at(distance, a, b)
}

/// The same where they are at this distance.
pub fn influence_at(distance: f64, a: (f64, f64), b: (f64, f64)) -> f64 {
    let on = |own: (f64, f64), other: f64| 2.0 * other / own.0 * (own.1 / distance).powi(3);
    on(a, b.0).max(on(b, a.0))
}
