//! The structure of a system: single stars, binaries, and binaries of these, with the stability of hierarchies.

use super::kepler::Orbit;
use super::secular::{Ellipse, add_product};
use crate::body::Body;
use crate::vector::{Vec3, add_scaled, cross, dot, norm, sub};

/// A body, or two nodes that are bound to each other and move as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Mass.
    pub mass: f64,
    /// Position of the centre of mass.
    pub x: Vec3,
    /// Its velocity.
    pub v: Vec3,
    /// The one body or the two parts.
    pub kind: Kind,
}

/// How many times the distance of its parts the apocentre of an orbit may be that lasts, to count in the mean: it is more on
/// orbits of e > 0.6 near the pericentre only.
const LASTING: f64 = 4.0;

/// What a [`Node`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The body at this place of the list.
    Single(usize),
    /// Two nodes and their orbit.
    Binary(Box<[Node; 2]>, Orbit),
}

impl Node {
    /// All of it as one body, without a label.
    pub(super) fn body(&self) -> Body {
        Body {
            index: 0,
            mass: self.mass,
            x: self.x,
            v: self.v,
        }
    }

    /// The bodies of this node, as places in the list, in ascending order.
    pub fn members(&self) -> Vec<usize> {
        match &self.kind {
            Kind::Single(i) => vec![*i],
            Kind::Binary(parts, _) => {
                let mut members = [parts[0].members(), parts[1].members()].concat();
                members.sort_unstable();
                members
            }
        }
    }

    /// The orbit of the two parts; `None` for one body.
    pub fn orbit(&self) -> Option<&Orbit> {
        match &self.kind {
            Kind::Single(_) => None,
            Kind::Binary(_, orbit) => Some(orbit),
        }
    }

    /// The orbits of this node and of its parts, from the outside in.
    pub fn orbits(&self) -> Vec<(Vec<usize>, Orbit)> {
        match &self.kind {
            Kind::Single(_) => Vec::new(),
            Kind::Binary(parts, orbit) => {
                let own = vec![(self.members(), *orbit)];
                [own, parts[0].orbits(), parts[1].orbits()].concat()
            }
        }
    }

    /// Adds the sum of m x x over the bodies of this node about its centre. Orbits of at most `size`, and four times this where
    /// they last, count in the mean over a revolution. Wider ones count as the bodies stand: the mean of an orbit on which a body has
    /// just been caught may be any length.
    pub(super) fn add_moment(&self, size: f64, moment: &mut [Vec3; 3]) {
        let Kind::Binary(parts, orbit) = &self.kind else {
            return;
        };
        let [a, b] = &**parts;
        let (x, v) = (sub(&b.x, &a.x), sub(&b.v, &a.v));
        let widest = match self.is_stable() {
            true => LASTING * size,
            false => size,
        };
        let ellipse = match orbit.apocentre() <= widest {
            true => Ellipse::of(&x, &v, [a.mass, b.mass]),
            false => None,
        };
        match ellipse.map(|ellipse| ellipse.moment()) {
            Some(own) => (0..3).for_each(|k| add_scaled(&mut moment[k], 1.0, &own[k])),
            None => add_product(moment, a.mass * b.mass / self.mass, &x, &x),
        }
        for part in parts.iter() {
            part.add_moment(size, moment);
        }
    }

    /// Whether it lasts: it is one body or a binary, or a hierarchy that is stable by the criterion of Mardling and
    /// Aarseth (2001) on each level.
    pub fn is_stable(&self) -> bool {
        let Kind::Binary(parts, outer) = &self.kind else {
            return true;
        };
        let limit = parts[0].least_pericentre(&parts[1], outer);
        let limit = limit.max(parts[1].least_pericentre(&parts[0], outer));
        parts.iter().all(Self::is_stable) && outer.pericentre() > limit
    }

    /// The pericentre that the orbit of the node `other` around this one must exceed.
    fn least_pericentre(&self, other: &Self, outer: &Orbit) -> f64 {
        let Some(inner) = self.orbit() else {
            return 0.0;
        };
        let single = stability_limit(inner, outer, other.mass / self.mass);
        // Of two binaries the wider one counts, a little wider for the size of the other.
        match other.orbit() {
            Some(second) if second.axis <= inner.axis => {
                single * (1.0 + 0.1 * second.axis / inner.axis)
            }
            Some(_) => 0.0,
            None => single,
        }
    }
}

/// Smallest pericentre of a stable outer orbit around a binary (Mardling and Aarseth 2001), with their factor for
/// the inclination: 1 - 0.3 i / 180 degrees. `ratio` is the mass of the outer body over that of the binary.
pub fn stability_limit(inner: &Orbit, outer: &Orbit, ratio: f64) -> f64 {
    let e = outer.eccentricity;
    if e >= 1.0 {
        return f64::INFINITY;
    }
    let factor = 1.0 - 0.3 * inclination(inner, outer) / std::f64::consts::PI;
    2.8 * factor * ((1.0 + ratio) * (1.0 + e) / (1.0 - e).sqrt()).powf(0.4) * inner.axis
}

/// The nodes of `bodies`: the tightest two that are bound to each other become one, again and again.
pub fn nodes(bodies: &[Body]) -> Vec<Node> {
    let single = |(i, b): (usize, &Body)| Node {
        mass: b.mass,
        x: b.x,
        v: b.v,
        kind: Kind::Single(i),
    };
    let mut nodes: Vec<Node> = bodies.iter().enumerate().map(single).collect();
    while let Some((i, j, orbit)) = tightest(&nodes) {
        let second = nodes.remove(j);
        let first = nodes.remove(i);
        nodes.insert(i, join(first, second, orbit));
    }
    nodes
}

/// The two bound nodes with the smallest semi-major axis.
fn tightest(nodes: &[Node]) -> Option<(usize, usize, Orbit)> {
    let mut best: Option<(usize, usize, Orbit)> = None;
    for (i, a) in nodes.iter().enumerate() {
        for (j, b) in nodes.iter().enumerate().skip(i + 1) {
            let orbit = Orbit::of(&sub(&b.x, &a.x), &sub(&b.v, &a.v), a.mass + b.mass);
            if orbit.is_bound() && best.as_ref().is_none_or(|(_, _, o)| orbit.axis < o.axis) {
                best = Some((i, j, orbit));
            }
        }
    }
    best
}

fn join(a: Node, b: Node, orbit: Orbit) -> Node {
    let mass = a.mass + b.mass;
    let (mut x, mut v) = (a.x, a.v);
    add_scaled(&mut x, b.mass / mass, &sub(&b.x, &a.x));
    add_scaled(&mut v, b.mass / mass, &sub(&b.v, &a.v));
    Node {
        mass,
        x,
        v,
        kind: Kind::Binary(Box::new([a, b]), orbit),
    }
}

/// Whether an isolated system has dissolved for ever: each node is stable, and any two nodes recede from each other,
/// faster than the escape speed from the total mass, at a distance above `far` times the size of the larger one.
pub fn is_dissolved(nodes: &[Node], far: f64) -> bool {
    let size = |node: &Node| node.orbit().map_or(0.0, Orbit::apocentre);
    // Three bodies may be bound although no two of them are.
    let mass: f64 = nodes.iter().map(|node| node.mass).sum();
    let parts = |a: &Node, b: &Node| {
        let (x, v) = (sub(&b.x, &a.x), sub(&b.v, &a.v));
        let is_open = 0.5 * dot(&v, &v) > mass / norm(&x);
        is_open && dot(&x, &v) > 0.0 && norm(&x) > far * size(a).max(size(b))
    };
    nodes.iter().all(Node::is_stable)
        && nodes
            .iter()
            .enumerate()
            .all(|(i, a)| nodes[i + 1..].iter().all(|b| parts(a, b)))
}

/// Angle between the planes of two orbits, from 0 to pi; 0 where one is radial and has no plane.
pub fn inclination(a: &Orbit, b: &Orbit) -> f64 {
    // The arcus cosine would lose the digits of small angles.
    let sine = norm(&cross(&a.momentum, &b.momentum));
    sine.atan2(dot(&a.momentum, &b.momentum))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(mass: f64, x: f64, v: f64) -> Body {
        let (x, v) = ([x, 0.0, 0.0], [0.0, v, 0.0]);
        Body {
            mass,
            x,
            v,
            ..Body::default()
        }
    }

    /// Two bodies on a circle of radius `a` about each other, whose centre is at `x` with the velocity `v`.
    fn circle(mass: f64, a: f64, x: f64, v: f64) -> [Body; 2] {
        let speed = (mass / a).sqrt();
        [0.5, -0.5].map(|side| body(0.5 * mass, x + side * a, v + side * speed))
    }

    /// The limit of an outer circle with equal masses: 2.8 (1 + 1/2)^0.4 = 3.293.
    #[test]
    fn triples_are_stable_beyond_the_published_limit() {
        for (distance, is_stable) in [(3.2, false), (3.4, true)] {
            let speed = (1.5_f64 / distance).sqrt();
            let pair = circle(1.0, 1.0, 0.0, 0.0);
            let bodies = [pair[0], body(0.5, distance, speed), pair[1]];
            let nodes = nodes(&bodies);
            assert_eq!(nodes.len(), 1);
            let orbits = nodes[0].orbits();
            assert_eq!(orbits[0].0, [0, 1, 2]);
            assert_eq!(orbits[1].0, [0, 2]);
            assert!((orbits[0].1.axis - distance).abs() < 1e-12);
            assert!((orbits[1].1.axis - 1.0).abs() < 1e-12);
            assert_eq!(nodes[0].is_stable(), is_stable, "{distance}");
        }
    }

    /// A retrograde orbit may be closer: the factor is 0.7.
    #[test]
    fn retrograde_triples_may_be_closer() {
        let [outer, inner] =
            [3.0, 1.0].map(|a: f64| Orbit::of(&[a, 0.0, 0.0], &[0.0, a.powf(-0.5), 0.0], 1.0));
        let back = Orbit::of(&[3.0, 0.0, 0.0], &[0.0, -(3.0_f64.powf(-0.5)), 0.0], 1.0);
        let (with, against) = (
            stability_limit(&inner, &outer, 0.5),
            stability_limit(&inner, &back, 0.5),
        );
        assert!(
            (with - 2.8 * 1.5_f64.powf(0.4)).abs() < 1e-12 && (against / with - 0.7).abs() < 1e-12
        );
    }

    #[test]
    fn two_binaries_and_an_escaper() {
        let [a, b] = circle(1.0, 0.1, 0.0, 0.0);
        let [c, d] = circle(1.0, 0.2, 10.0, 0.4);
        let fast = Body {
            v: [-5.0, 0.0, 0.0],
            ..body(1.0, -50.0, 0.0)
        };
        let nodes = nodes(&[a, c, fast, d, b]);
        assert_eq!(nodes.len(), 2);
        assert_eq!(nodes[0].members(), [0, 1, 3, 4]);
        assert!(nodes[0].is_stable() && nodes[1].kind == Kind::Single(2));
        assert!(is_dissolved(&nodes, 3.0) && !is_dissolved(&nodes, 30.0));
    }

    /// At the corners of a triangle with sides of 1 the escape speed from one other is 2, from both 2.45.
    #[test]
    fn three_bodies_may_be_bound_though_no_two_are() {
        for (speed, parts) in [(1.9, false), (2.2, false), (2.5, true)] {
            // Relative speeds of those who leave a common centre radially are as their distances.
            let corner = |k: usize| {
                let angle = std::f64::consts::TAU * k as f64 / 3.0;
                let at = [angle.cos(), angle.sin(), 0.0].map(|c| c / 3.0_f64.sqrt());
                Body {
                    mass: 1.0,
                    x: at,
                    v: at.map(|c| c * speed),
                    ..Body::default()
                }
            };
            let bodies = [0, 1, 2].map(corner);
            let nodes = nodes(&bodies);
            assert_eq!(nodes.len() == 3, speed > 2.0, "{nodes:?}");
            assert_eq!(is_dissolved(&nodes, 3.0), parts, "{speed}");
        }
    }
}
