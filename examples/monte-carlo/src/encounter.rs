//! An encounter of a binary with a star or with another binary, by the few-body integrator of the kit.

use std::f64::consts::TAU;

use kirin_kit::Body;
use kirin_kit::few_body::hierarchy::{Kind, Node, is_dissolved, nodes};
use kirin_kit::few_body::kepler::{Orbit, drift};
use kirin_kit::few_body::{Alone, System};
use kirin_kit::vector::{Vec3, cross, dot, norm, sub};

use crate::binaries::Binary;
use crate::random::Stream;

/// Distance at which the encounter begins, in semi-major axes of the first binary; before that both move as past a point mass.
const FAR: f64 = 40.0;
/// Distance at which stars and binaries have parted, in sizes of the binaries.
const APART: f64 = 20.0;
/// The same where one of them is a hierarchical triple, which is broken anyhow.
const APART_FROM_TRIPLES: f64 = 5.0;
/// Time between two looks, and time after which the encounter ends in any case, in units of (a^3 / G M)^(1/2) of the first binary.
const INTERVAL: f64 = 20.0;
const PATIENCE: f64 = 5000.0;
/// Apocentre of a bound party at which the encounter ends: in a cluster others would meet it on its way.
const FARTHEST: f64 = 300.0;
/// Basic steps after which it ends, too.
const MOST_STEPS: u64 = 500_000;
/// Tolerance of the integrator's steps.
const TOLERANCE: f64 = 1e-10;
/// A second binary whose semi-major axis is a smaller part of the first one's is a point mass in the encounter.
const SMALL: f64 = 0.05;

/// What moves as one in the cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Object {
    /// A single star.
    Star {
        /// Label.
        id: u64,
        /// Mass.
        mass: f64,
    },
    /// Two stars.
    Binary(Binary),
}

impl Object {
    /// Mass.
    pub fn mass(&self) -> f64 {
        match self {
            Self::Star { mass, .. } => *mass,
            Self::Binary(binary) => binary.mass(),
        }
    }

    /// Label among the stars of the cluster.
    pub fn id(&self) -> u64 {
        match self {
            Self::Star { id, .. } => *id,
            Self::Binary(binary) => binary.ids[0],
        }
    }

    /// Binding energy; of a star 0.
    pub fn binding(&self) -> f64 {
        match self {
            Self::Star { .. } => 0.0,
            Self::Binary(binary) => binary.binding(),
        }
    }
}

/// An object that leaves an encounter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub object: Object,
    /// Velocity relative to the centre of mass, but for a factor that all parts have in common. The second object came along the third axis.
    pub velocity: Vec3,
}

/// Follows the encounter of the binary `first` with `second`. `impact` is the impact parameter, and `speed` the
/// relative velocity far away; phases and orientations are random. Of two binaries the wider one sets the units. `None`
/// where the integrator fails.
///
/// If a hierarchical triple is left, it becomes a binary and a star: the inner binary shrinks by the energy that frees
/// the third star (Fregeau and Rasio 2007). If the encounter ends undecided with parties that are still bound to each
/// other, the tightest binary shrinks by twice their binding energy. Half of this frees them, and half becomes the
/// kinetic energy of their motion apart.
pub fn scatter(
    first: &Binary,
    second: &Object,
    impact: f64,
    speed: f64,
    stream: &mut Stream,
) -> Option<Vec<Part>> {
    if let Object::Binary(wider) = second
        && first.is_tighter(wider)
    {
        let mut parts = scatter(wider, &Object::Binary(*first), impact, speed, stream)?;
        for Part { velocity, .. } in &mut parts {
            // The two come from the opposite sides.
            *velocity = [velocity[0], -velocity[1], -velocity[2]];
        }
        return Some(parts);
    }
    let (mass, axis) = (first.mass(), first.axis);
    let unit = (mass / axis).sqrt();
    let scaled = Encounter {
        masses: first.masses.map(|m| m / mass),
        eccentricity: first.eccentricity,
        other: match second {
            Object::Binary(binary) if binary.axis > SMALL * axis => Party::Binary(
                binary.masses.map(|m| m / mass),
                binary.axis / axis,
                binary.eccentricity,
            ),
            _ => Party::Point(second.mass() / mass),
        },
        impact: impact / axis,
        speed: speed / unit,
    };
    let star = |binary: &Binary, k: usize| Object::Star {
        id: binary.ids[k],
        mass: binary.masses[k],
    };
    let mut leaves = vec![star(first, 0), star(first, 1)];
    match (second, scaled.other) {
        (Object::Binary(binary), Party::Binary(..)) => {
            leaves.extend([star(binary, 0), star(binary, 1)]);
        }
        _ => leaves.push(*second),
    }
    let Parted {
        nodes,
        incoming,
        bound,
    } = scaled.follow(stream)?;
    let [a, b] = around(&incoming);
    let mut parts = Vec::new();
    for node in &nodes {
        let velocity = [&a, &b, &incoming].map(|axis| dot(axis, &node.v));
        let objects = objects_of(node, &leaves, axis);
        parts.extend(objects.into_iter().map(|object| Part { object, velocity }));
    }
    parts.sort_by(|a, b| b.object.binding().total_cmp(&a.object.binding()));
    if let Object::Binary(binary) = &mut parts.first_mut()?.object {
        // As much again is for the motion afterwards.
        binary.harden(2.0 * bound * mass * mass / axis);
    }
    Some(parts)
}

/// The parts after `second` dissolves the binary `first`. Such a binary is so wide that other stars are as near as its
/// components. Its two stars get the same velocity, and their motion relative to `second` loses the binding energy.
pub fn torn(first: &Binary, second: &Object) -> Vec<Part> {
    let (m1, m2) = (first.mass(), second.mass());
    let part = |object: Object, share: f64| Part {
        object,
        velocity: [0.0, 0.0, share / (m1 + m2)],
    };
    let star = |k: usize| Object::Star {
        id: first.ids[k],
        mass: first.masses[k],
    };
    vec![part(star(0), -m2), part(star(1), -m2), part(*second, m1)]
}

/// What has parted.
struct Parted {
    nodes: Vec<Node>,
    /// Direction of the velocity of the second party.
    incoming: Vec3,
    /// Energy with which two of them are still bound to each other.
    bound: f64,
}

impl Parted {
    /// Of the nodes at the end. If all are bound together, both halves of the outermost orbit part along the line between them.
    fn of(mut nodes: Vec<Node>, incoming: Vec3) -> Self {
        let last = match nodes.len() {
            1 => nodes.pop(),
            _ => None,
        };
        let mut bound = 0.0;
        if let Some(Kind::Binary(halves, orbit)) = last.map(|node| node.kind) {
            let mut halves = *halves;
            bound = halves[0].mass * halves[1].mass / (2.0 * orbit.axis);
            halves.iter_mut().for_each(|half| half.v = half.x);
            nodes.extend(halves);
        }
        Self {
            nodes,
            incoming,
            bound,
        }
    }
}

/// The objects that a node becomes, the binary of highest energy first. Axes of orbits are in units of `axis`.
fn objects_of(node: &Node, leaves: &[Object], axis: f64) -> Vec<Object> {
    let (halves, orbit) = match &node.kind {
        Kind::Single(k) => return vec![leaves[*k]],
        Kind::Binary(halves, orbit) => (halves, orbit),
    };
    let mut objects = objects_of(&halves[0], leaves, axis);
    objects.extend(objects_of(&halves[1], leaves, axis));
    if let [
        Object::Star { id: a, mass: m1 },
        Object::Star { id: b, mass: m2 },
    ] = objects[..]
    {
        return vec![Object::Binary(Binary {
            ids: [a, b],
            masses: [m1, m2],
            axis: orbit.axis * axis,
            // Of an orbit that is nearly a line.
            eccentricity: orbit.eccentricity.min(1.0 - 1e-9),
        })];
    }
    objects.sort_by(|a, b| b.binding().total_cmp(&a.binding()));
    let mass = |objects: &[Object]| objects.iter().map(Object::mass).sum::<f64>();
    let half = |half: &Node| mass(&objects_of(half, leaves, axis));
    let outer = half(&halves[0]) * half(&halves[1]) / (2.0 * orbit.axis * axis);
    if let Object::Binary(binary) = &mut objects[0] {
        binary.harden(outer);
    }
    objects
}

/// The second party.
#[derive(Clone, Copy, Debug)]
enum Party {
    /// A point mass.
    Point(f64),
    /// Masses, semi-major axis and eccentricity.
    Binary([f64; 2], f64, f64),
}

impl Party {
    fn mass(&self) -> f64 {
        match self {
            Self::Point(mass) => *mass,
            Self::Binary([m1, m2], ..) => m1 + m2,
        }
    }
}

/// An encounter in units of the first binary's mass and semi-major axis.
#[derive(Clone, Copy, Debug)]
struct Encounter {
    masses: [f64; 2],
    eccentricity: f64,
    other: Party,
    impact: f64,
    speed: f64,
}

impl Encounter {
    /// What has parted at the end, or would. `None` where the integrator fails.
    fn follow(&self, stream: &mut Stream) -> Option<Parted> {
        let bodies = self.begin(stream);
        let (first, second) = bodies.split_at(2);
        let incoming = sub(&centre(second, |b| b.v), &centre(first, |b| b.v));
        let speed = norm(&incoming);
        let mut system = System::new(&bodies).with_tolerance(TOLERANCE);
        let mut t = 0.0;
        let nodes = loop {
            system.advance(INTERVAL, &mut Alone).ok()?;
            t += INTERVAL;
            let nodes = nodes(&system.stars());
            let wide = |o: &Orbit| o.apocentre() > FARTHEST;
            let is_wide = nodes.len() == 1 && nodes[0].orbit().is_some_and(wide);
            let is_hierarchy = |node: &Node| node.members().len() > 2;
            let far = match nodes.iter().any(is_hierarchy) {
                true => APART_FROM_TRIPLES,
                false => APART,
            };
            if is_wide || nodes.len() > 1 && is_dissolved(&nodes, far) {
                break nodes;
            }
            if t >= PATIENCE || system.steps() >= MOST_STEPS {
                break nodes;
            }
        };
        Some(Parted::of(nodes, incoming.map(|c| c / speed)))
    }

    /// Both parties on their way from far away, binaries at random phases.
    fn begin(&self, stream: &mut Stream) -> Vec<Body> {
        let Self { impact, speed, .. } = *self;
        let mut bodies = pair(self.masses, 1.0, self.eccentricity, stream).to_vec();
        let m = self.other.mass();
        let around = impact * speed / FAR;
        let inward = (speed * speed + 2.0 * (1.0 + m) / FAR - around * around)
            .max(0.0)
            .sqrt();
        let (x, v) = ([FAR, 0.0, 0.0], [-inward, around, 0.0]);
        match self.other {
            Party::Point(mass) => bodies.push(body(mass, x, v)),
            Party::Binary(masses, axis, eccentricity) => {
                for star in pair(masses, axis, eccentricity, stream) {
                    let add = |a: Vec3, b: Vec3| std::array::from_fn(|c| a[c] + b[c]);
                    bodies.push(body(star.mass, add(star.x, x), add(star.v, v)));
                }
            }
        }
        bodies
    }
}

fn body(mass: f64, x: Vec3, v: Vec3) -> Body {
    Body {
        mass,
        x,
        v,
        ..Body::default()
    }
}

fn centre(bodies: &[Body], part: fn(&Body) -> Vec3) -> Vec3 {
    let mass: f64 = bodies.iter().map(|b| b.mass).sum();
    std::array::from_fn(|c| bodies.iter().map(|b| b.mass * part(b)[c]).sum::<f64>() / mass)
}

/// A random direction.
fn direction(stream: &mut Stream) -> Vec3 {
    let cos = 2.0 * stream.uniform() - 1.0;
    let sin = (1.0 - cos * cos).sqrt();
    let (x, y) = stream.angle();
    [sin * x, sin * y, cos]
}

/// Two directions at right angles to a direction and to each other.
fn around(direction: &Vec3) -> [Vec3; 2] {
    let [x, y, _] = direction.map(f64::abs);
    let other = match x < y {
        true => [1.0, 0.0, 0.0],
        false => [0.0, 1.0, 0.0],
    };
    let a = cross(direction, &other);
    let length = norm(&a);
    let a = a.map(|c| c / length);
    [a, cross(direction, &a)]
}

/// The stars of a binary about its centre of mass, at a random phase and in a random plane.
fn pair([m1, m2]: [f64; 2], axis: f64, e: f64, stream: &mut Stream) -> [Body; 2] {
    let mass = m1 + m2;
    let towards = direction(stream);
    let across = loop {
        let across = cross(&towards, &direction(stream));
        let length = norm(&across);
        if length > 0.01 {
            break across.map(|c| c / length);
        }
    };
    // At the pericentre, and then a part of the period later.
    let fastest = (mass * (1.0 + e) / (1.0 - e) / axis).sqrt();
    let (x, v) = (
        towards.map(|c| axis * c * (1.0 - e)),
        across.map(|c| c * fastest),
    );
    let period = TAU * (axis * axis * axis / mass).sqrt();
    let (x, v) = drift(&x, &v, mass, period * stream.uniform());
    let star = |mass: f64, part: f64| body(mass, x.map(|c| c * part), v.map(|c| c * part));
    [star(m1, m2 / mass), star(m2, -m1 / mass)]
}

#[cfg(test)]
mod tests;
