//! A few-body system as the stars around it see it: a centre from far, its members from near.
//!
//! The library holds the centre of a system. Stars so near that the tide on the system exceeds a limit feel the
//! members instead, and the centre feels these stars by the force on the members: the two corrections are opposite,
//! so that nothing is lost of momentum. A close binary within a larger system counts as one member.

use super::hierarchy::{self, Kind, Node};
use super::kepler::{Orbit, drift};
use super::subsystem::{Limits, Perturber, Subsystem};
use crate::vector::{Vec3, add_scaled, dot, norm, sub};

/// Tide, in parts of the attraction within the system, above which the members are felt.
static RESOLVED: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_RESOLVED").ok().and_then(|v| v.parse().ok()).unwrap_or(3e-4));

/// Distance of the nearest other part, in sizes of a binary, beyond which that binary counts as one.
static ONE: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_ONE").ok().and_then(|v| v.parse().ok()).unwrap_or(4.0));

/// Part of the time of a system's motion in which its members are felt with one force.
static SAMPLED: std::sync::LazyLock<f64> = std::sync::LazyLock::new(|| std::env::var("FB_SAMPLED").ok().and_then(|v| v.parse().ok()).unwrap_or(0.1));

/// Acceleration and jerk.
pub type Pull = (Vec3, Vec3);

/// What is felt of a system, from the time on at which its members were known.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    mass: f64,
    /// Diameter.
    pub size: f64,
    /// Distance within which a star of the greatest mass may become a member.
    pub reach: f64,
    /// Largest step of the centre where its members are felt.
    pub step: f64,
    points: Vec<Perturber>,
}

impl Shape {
    /// That of a `system` among stars up to the mass `heaviest`.
    pub fn of(system: &Subsystem, heaviest: f64, limits: &Limits) -> Self {
        let mut points = Vec::new();
        match system.bodies() {
            [a, b] => points.extend([a, b].map(|b| point(b.mass, b.x, b.v))),
            bodies => {
                let nodes = hierarchy::nodes(bodies);
                for node in &nodes {
                    add_points(node, f64::INFINITY, &mut points);
                }
            }
        }
        let mut shape = Self {
            mass: system.mass(),
            size: system.size(limits),
            reach: system.reach(heaviest, limits),
            step: f64::INFINITY,
            points,
        };
        shape.accelerate();
        shape
    }

    /// Finds the accelerations and the time scale of the points.
    fn accelerate(&mut self) {
        let mut time = f64::INFINITY;
        for i in 0..self.points.len() {
            for j in 0..self.points.len() {
                if i == j {
                    continue;
                }
                let (a, b) = (self.points[i], self.points[j]);
                let (x, v) = (sub(&b.x, &a.x), sub(&b.v, &a.v));
                let (acc, jerk) = pull(b.mass, &x, &v);
                add_scaled(&mut self.points[i].acc, 1.0, &acc);
                add_scaled(&mut self.points[i].jerk, 1.0, &jerk);
                let orbit = Orbit::of(&x, &v, a.mass + b.mass);
                let own = match self.points.len() == 2 && orbit.is_bound() {
                    // Points of two bodies are predicted on their orbit.
                    true => (orbit.axis.powi(3) / orbit.mass).sqrt(),
                    false => (norm(&x).powi(3) / orbit.mass).sqrt().min(norm(&x) / norm(&v)),
                };
                time = time.min(own);
            }
        }
        self.step = (*SAMPLED) * time;
    }

    /// Whether a star of this mass at the distance `r` from the centre feels the members.
    pub fn is_felt(&self, mass: f64, r: f64) -> bool {
        r < self.distance(mass)
    }

    /// Distance within which a star of this mass feels the members.
    pub fn distance(&self, mass: f64) -> f64 {
        self.size * (2.0 * mass / ((*RESOLVED) * self.mass)).cbrt()
    }

    /// Whether the places of the members are still known after the time `t`.
    pub fn is_known(&self, t: f64) -> bool {
        self.points.len() == 2 || t <= 4.0 * self.step
    }

    /// Masses, places and velocities of the members about the centre after the time `t`.
    pub fn at(&self, t: f64) -> Vec<(f64, Vec3, Vec3)> {
        if let [a, b] = &self.points[..] {
            let mass = a.mass + b.mass;
            let (x, v) = drift(&sub(&b.x, &a.x), &sub(&b.v, &a.v), mass, t);
            let part = |own: f64, part: f64| (own, x.map(|c| part * c), v.map(|c| part * c));
            return vec![part(a.mass, -b.mass / mass), part(b.mass, a.mass / mass)];
        }
        let of = |p: &Perturber| (p.mass, p.at(t), p.velocity_at(t));
        self.points.iter().map(of).collect()
    }

    /// What a star feels more than the attraction of the centre, which is at `x` and `v` from the star, with the
    /// members at `points` about it.
    pub fn correction(&self, points: &[(f64, Vec3, Vec3)], x: &Vec3, v: &Vec3) -> Pull {
        let (mut acc, mut jerk) = pull(-self.mass, x, v);
        for (mass, place, velocity) in points {
            let (mut x, mut v) = (*x, *v);
            add_scaled(&mut x, 1.0, place);
            add_scaled(&mut v, 1.0, velocity);
            let (a, j) = pull(*mass, &x, &v);
            add_scaled(&mut acc, 1.0, &a);
            add_scaled(&mut jerk, 1.0, &j);
        }
        (acc, jerk)
    }
}

/// Acceleration and jerk by a mass at `x` with the velocity `v`.
fn pull(mass: f64, x: &Vec3, v: &Vec3) -> Pull {
    let r2 = dot(x, x);
    let factor = mass / (r2 * r2.sqrt());
    let along = 3.0 * dot(x, v) / r2;
    let jerk = std::array::from_fn(|k| factor * (v[k] - along * x[k]));
    (x.map(|c| factor * c), jerk)
}

fn point(mass: f64, x: Vec3, v: Vec3) -> Perturber {
    Perturber {
        mass,
        x,
        v,
        ..Perturber::default()
    }
}

/// Adds the points of a node, `distance` from the nearest other part.
fn add_points(node: &Node, distance: f64, to: &mut Vec<Perturber>) {
    match &node.kind {
        Kind::Binary(parts, orbit) if (*ONE) * orbit.apocentre() > distance.min(f64::MAX) || distance == f64::INFINITY => {
            let apart = norm(&sub(&parts[1].x, &parts[0].x));
            parts.iter().for_each(|part| add_points(part, apart.min(distance), to));
        }
        _ => to.push(point(node.mass, node.x, node.v)),
    }
}
