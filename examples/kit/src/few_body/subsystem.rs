//! A few-body system inside a cluster: its members about their common centre, perturbed by the stars around it.
//!
//! The cluster's integrator moves the centre of mass and knows the stars around it. A [`Subsystem`] says who becomes a
//! member, moves the members, and says when they part. Every answer is a function of the members' places and
//! velocities, so an integration that is resumed gets the same answers.

use super::hierarchy::{self, Kind, Node};
use super::kepler::Orbit;
use super::{Alone, Error, Perturbation, System};
use crate::body::Body;
use crate::vector::{Vec3, add_scaled, dot, norm, sub};

/// Error of a step inside a subsystem, in parts of the state.
static TOLERANCE: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_TOLERANCE").ok().and_then(|v| v.parse().ok()).unwrap_or(1e-10));

/// Sizes of a binary within which a star becomes a member.
static REACH: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_REACH").ok().and_then(|v| v.parse().ok()).unwrap_or(6.0));

/// How much further apart than the distance at which they join those are who part.
static PART: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_PART").ok().and_then(|v| v.parse().ok()).unwrap_or(1.5));

/// Perturbation below which a star is not felt.
static WEAKEST: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_WEAKEST").ok().and_then(|v| v.parse().ok()).unwrap_or(1e-7));

/// Perturbation by all stars below which a binary moves alone.
static ALONE: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_ALONE").ok().and_then(|v| v.parse().ok()).unwrap_or(1e-6));

/// Perturbation up to which a binary is slowed down, the slow-down factor included.
static SLOWED: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_SLOWED").ok().and_then(|v| v.parse().ok()).unwrap_or(1e-5));

/// Parts of the time in which a perturbation changes that a slowed period may take.
static SLOWEST: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_SLOWEST").ok().and_then(|v| v.parse().ok()).unwrap_or(0.05));

/// Most members.
pub const MOST: usize = 8;

/// What determines who becomes a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Two stars of mass m become a system below this length times sqrt(m / mean).
    pub radius: f64,
    /// Mean mass of a star.
    pub mean: f64,
}

impl Limits {
    /// Distance below which two stars of together this mass become a system.
    pub fn radius_of(&self, mass: f64) -> f64 {
        self.radius * (mass / self.mean).sqrt()
    }

    /// Largest distance that the two on this orbit, now at the distance `r`, have as a system.
    fn size(&self, orbit: &Orbit, r: f64) -> f64 {
        let largest = (*PART) * self.radius_of(orbit.mass);
        orbit.apocentre().min(largest).max(r)
    }
}

/// A star that perturbs a system: its motion relative to the system's centre, from the start of an advance on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Perturber {
    /// Mass.
    pub mass: f64,
    /// Position.
    pub x: Vec3,
    /// Velocity.
    pub v: Vec3,
    /// Acceleration.
    pub acc: Vec3,
    /// Its time derivative.
    pub jerk: Vec3,
}

impl Perturber {
    /// Position after the time `t`.
    pub fn at(&self, t: f64) -> Vec3 {
        std::array::from_fn(|k| {
            self.x[k] + t * (self.v[k] + t * (self.acc[k] / 2.0 + t * (self.jerk[k] / 6.0)))
        })
    }

    /// Velocity after the time `t`.
    pub fn velocity_at(&self, t: f64) -> Vec3 {
        std::array::from_fn(|k| self.v[k] + t * (self.acc[k] + t * (self.jerk[k] / 2.0)))
    }
}

/// The tidal accelerations of perturbers.
struct Tides<'a>(&'a [Perturber]);

impl Perturbation for Tides<'_> {
    fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]) {
        for perturber in self.0 {
            let place = perturber.at(t);
            let at_centre = attraction(perturber.mass, &place);
            for (x, acc) in x.iter().zip(&mut *acc) {
                let here = attraction(perturber.mass, &sub(&place, x));
                add_scaled(acc, 1.0, &sub(&here, &at_centre));
            }
        }
    }
}

/// Acceleration towards a mass at the distance `d`.
fn attraction(mass: f64, d: &Vec3) -> Vec3 {
    let r2 = dot(d, d);
    let factor = mass / (r2 * r2.sqrt());
    d.map(|c| factor * c)
}

/// A pair of nodes that are bound to each other, for tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Binary {
    /// Labels of all members, in ascending order.
    pub labels: Vec<i32>,
    /// Their orbit.
    pub orbit: Orbit,
    /// Its energy: -m1 m2 / 2a.
    pub energy: f64,
}

/// Members about their centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Subsystem {
    bodies: Vec<Body>,
}

impl Subsystem {
    /// The system of `bodies`, and their centre: mass, place and velocity with the label of the first.
    pub fn of(bodies: &[Body]) -> (Body, Self) {
        let mass: f64 = bodies.iter().map(|b| b.mass).sum();
        let origin = bodies[0];
        // From the first body on: the distances of close ones keep their digits.
        let (mut x, mut v) = ([0.0; 3], [0.0; 3]);
        for b in bodies {
            add_scaled(&mut x, b.mass / mass, &sub(&b.x, &origin.x));
            add_scaled(&mut v, b.mass / mass, &sub(&b.v, &origin.v));
        }
        let own = |b: &Body| Body {
            x: sub(&sub(&b.x, &origin.x), &x),
            v: sub(&sub(&b.v, &origin.v), &v),
            ..*b
        };
        let system = Self {
            bodies: bodies.iter().map(own).collect(),
        };
        add_scaled(&mut x, 1.0, &origin.x);
        add_scaled(&mut v, 1.0, &origin.v);
        let index = origin.index;
        (Body { index, mass, x, v }, system)
    }

    /// The system that was saved with these members about their centre.
    pub fn saved(bodies: Vec<Body>) -> Self {
        Self { bodies }
    }

    /// The members about their centre.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The members where they are if their centre is at that of `centre`.
    pub fn around(&self, centre: &Body) -> impl Iterator<Item = Body> {
        self.bodies.iter().map(move |b| {
            let mut body = *b;
            add_scaled(&mut body.x, 1.0, &centre.x);
            add_scaled(&mut body.v, 1.0, &centre.v);
            body
        })
    }

    /// Mass of all members.
    pub fn mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.mass).sum()
    }

    /// Energy of the members about their centre.
    pub fn energy(&self) -> f64 {
        System::new(&self.bodies).energy()
    }

    /// Bound pairs of stars, and of such pairs, from the outside in.
    pub fn binaries(&self) -> Vec<Binary> {
        let mut found = Vec::new();
        for node in hierarchy::nodes(&self.bodies) {
            self.add_binaries(&node, &mut found);
        }
        found
    }

    fn add_binaries(&self, node: &Node, to: &mut Vec<Binary>) {
        let Kind::Binary(parts, orbit) = &node.kind else {
            return;
        };
        let reduced = parts[0].mass * parts[1].mass / node.mass;
        to.push(Binary {
            labels: node.members().iter().map(|&i| self.bodies[i].index).collect(),
            orbit: *orbit,
            energy: reduced * orbit.energy(),
        });
        parts.iter().for_each(|part| self.add_binaries(part, to));
    }

    /// The places, masses and sizes of what stars around it are compared with: the innermost binaries and single
    /// stars; two stars that pass each other have their distance for a size.
    fn clumps(&self, limits: &Limits) -> Vec<(Vec3, f64, f64)> {
        let mut clumps = Vec::new();
        for node in hierarchy::nodes(&self.bodies) {
            add_clumps(&node, limits, &mut clumps);
        }
        clumps
    }

    /// Distance from the centre within which a star of this mass may become a member.
    pub fn reach(&self, mass: f64, limits: &Limits) -> f64 {
        let of = |(x, own, size): &(Vec3, f64, f64)| {
            norm(x) + ((*REACH) * size).max(limits.radius_of(own + mass))
        };
        self.clumps(limits).iter().map(of).fold(0.0, f64::max)
    }

    /// Whether a star of this mass at `x` from the centre, or the centre of another system, becomes a member.
    pub fn takes_in(&self, x: &Vec3, mass: f64, limits: &Limits) -> bool {
        let near = |(place, own, size): &(Vec3, f64, f64)| {
            let least = if *size > 0.0 { 0.0 } else { limits.radius_of(own + mass) };
            norm(&sub(x, place)) < ((*REACH) * size).max(least)
        };
        self.clumps(limits).iter().any(near)
    }

    /// Diameter of the system, in the sense of tides on it.
    pub fn size(&self, limits: &Limits) -> f64 {
        match &self.bodies[..] {
            [a, b] => pair_size(a, b, limits),
            bodies => 2.0 * bodies.iter().map(|b| norm(&b.x)).fold(0.0, f64::max),
        }
    }

    /// Distance within which a star of this mass is a perturber.
    pub fn perturber_distance(&self, mass: f64, limits: &Limits) -> f64 {
        self.size(limits) * (2.0 * mass / ((*WEAKEST) * self.mass())).cbrt()
    }

    /// Perturbation of the system by a star of this mass at the distance `r`: its tide over the attraction of the
    /// members.
    fn perturbation(&self, size: f64, mass: f64, r: f64) -> f64 {
        2.0 * mass / self.mass() * (size / r).powi(3)
    }

    /// Moves the members by `dt` under the tides of `perturbers`. Returns the number of basic steps.
    ///
    /// # Errors
    ///
    /// Those of [`System::advance`].
    pub fn advance(
        &mut self,
        dt: f64,
        perturbers: &[Perturber],
        limits: &Limits,
    ) -> Result<u64, Error> {
        let size = self.size(limits);
        let mut perturbation = 0.0;
        let mut slowest = f64::INFINITY;
        let mut felt = Vec::new();
        for perturber in perturbers {
            let (x, v) = (perturber.at(0.5 * dt), perturber.v);
            let r = norm(&x);
            let own = self.perturbation(size, perturber.mass, r);
            if own > (*WEAKEST) {
                perturbation += own;
                let mass = self.mass() + perturber.mass;
                slowest = slowest.min(r / norm(&v).max((mass / r).sqrt()));
                felt.push(*perturber);
            }
        }
        let mut system = System::new(&self.bodies).with_tolerance((*TOLERANCE));
        if perturbation < (*ALONE) {
            system.advance(dt, &mut Alone)?;
        } else {
            let mut factor = 1.0;
            if let [a, b] = &self.bodies[..] {
                let orbit = pair_orbit(a, b);
                if orbit.is_bound() {
                    let longest = (*SLOWEST) * slowest / orbit.period();
                    factor = ((*SLOWED) / perturbation).min(longest).max(1.0);
                }
            }
            system.advance_slowed(dt, factor, &mut Tides(&felt))?;
        }
        for (body, (x, v)) in self.bodies.iter_mut().zip(system.bodies()) {
            (body.x, body.v) = (x, v);
        }
        Ok(system.steps())
    }

    /// The members of each part, where the system has come apart.
    pub fn parts(&self, limits: &Limits) -> Option<Vec<Vec<usize>>> {
        let mut nodes = Vec::new();
        for node in hierarchy::nodes(&self.bodies) {
            add_whole(node, limits, &mut nodes);
        }
        let mut groups: Vec<Vec<usize>> = (0..nodes.len()).map(|i| vec![i]).collect();
        for i in 0..nodes.len() {
            for j in i + 1..nodes.len() {
                let of = |node: usize| groups.iter().position(|g| g.contains(&node));
                let (Some(a), Some(b)) = (of(i), of(j)) else {
                    continue;
                };
                if a != b && !are_apart(&nodes[i], &nodes[j], limits) {
                    let more = groups.remove(a.max(b));
                    groups[a.min(b)].extend(more);
                }
            }
        }
        let members = |group: &Vec<usize>| {
            let mut all: Vec<usize> = group.iter().flat_map(|&k| nodes[k].members()).collect();
            all.sort_unstable();
            all
        };
        (groups.len() > 1).then(|| groups.iter().map(members).collect())
    }
}

/// Adds `node`, or its parts where they are apart.
fn add_whole(node: Node, limits: &Limits, to: &mut Vec<Node>) {
    match node.kind {
        Kind::Binary(parts, _) if are_apart(&parts[0], &parts[1], limits) => {
            parts.into_iter().for_each(|part| add_whole(part, limits, to));
        }
        _ => to.push(node),
    }
}

/// Whether two nodes are so far apart that they are no system.
fn are_apart(a: &Node, b: &Node, limits: &Limits) -> bool {
    let size = |node: &Node| node.orbit().map_or(0.0, |orbit| limits.size(orbit, 0.0));
    let largest = size(a).max(size(b));
    let joined = match largest > 0.0 {
        true => (*REACH) * largest,
        false => limits.radius_of(a.mass + b.mass),
    };
    norm(&sub(&b.x, &a.x)) > (*PART) * joined
}

fn add_clumps(node: &Node, limits: &Limits, to: &mut Vec<(Vec3, f64, f64)>) {
    match &node.kind {
        Kind::Single(_) => to.push((node.x, node.mass, 0.0)),
        Kind::Binary(parts, orbit) => {
            let singles = parts.iter().all(|p| matches!(p.kind, Kind::Single(_)));
            match singles {
                true => to.push((node.x, node.mass, limits.size(orbit, 0.0))),
                false => parts.iter().for_each(|part| add_clumps(part, limits, to)),
            }
        }
    }
}

/// The orbit of two stars around each other.
pub fn pair_orbit(a: &Body, b: &Body) -> Orbit {
    Orbit::of(&sub(&b.x, &a.x), &sub(&b.v, &a.v), a.mass + b.mass)
}

/// The same as a size: see [`Limits::size`].
fn pair_size(a: &Body, b: &Body, limits: &Limits) -> f64 {
    let orbit = pair_orbit(a, b);
    let r = norm(&sub(&b.x, &a.x));
    match orbit.is_bound() {
        true => limits.size(&orbit, r),
        false => r,
    }
}

/// Whether two stars at `a` and `b` become a system among `others`: they are close, bound or approaching each other,
/// and hardly anybody else is as close.
pub fn joins(a: &Body, b: &Body, others: impl Iterator<Item = Body>, limits: &Limits) -> bool {
    let (x, v) = (sub(&b.x, &a.x), sub(&b.v, &a.v));
    let mass = a.mass + b.mass;
    let largest = limits.radius_of(mass);
    let orbit = pair_orbit(a, b);
    if norm(&x) >= largest || !(orbit.is_bound() || dot(&x, &v) < 0.0) {
        return false;
    }
    let size = pair_size(a, b, limits);
    let mut centre = a.x;
    add_scaled(&mut centre, b.mass / mass, &x);
    let is_near = |c: &Body| norm(&sub(&c.x, &centre)) < (*REACH) * size;
    others.filter(is_near).take(CROWD + 1).count() <= CROWD
}

/// Stars within the reach of a pair that may become members with it.
const CROWD: usize = 2;
