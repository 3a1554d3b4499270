//! Who is bound to whom in a hierarchy, and how many steps its revolutions take.

use super::super::chain::Chain;
use super::super::hierarchy::{self, Kind};
use super::super::kepler::Orbit;
use super::{COMPOSED, Motion, Place};
use crate::body::Body;
use crate::vector::{Vec3, add_scaled, norm, sub};

/// Perturbation of an orbit by the next one out above which a hierarchy is none for these steps.
const GREATEST: f64 = 0.1;

/// Fewest kicks of a map and of composed steps, and most kicks, for a revolution of the tightest orbit.
const FEWEST: [f64; 2] = [7.0, 40.0];
const MOST: f64 = 144.0;

/// Kicks in the time of a pericentre passage of any other orbit, at least.
const IN_A_PASSAGE: f64 = 10.0;

/// How drifts and kicks follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// A drift and a kick in turn, with correctors where the map begins and where it is looked at.
    Map,
    /// Composed steps.
    Composed,
}

/// In which steps a hierarchy moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) scheme: Scheme,
    /// How many a revolution of the tightest orbit takes.
    pub(super) of_revolution: f64,
}

impl Steps {
    /// Kicks in a revolution, in parts of the most that a hierarchy may have.
    pub(super) fn part_of_most(&self) -> f64 {
        let kicks = match self.scheme {
            Scheme::Map => 1.0,
            Scheme::Composed => COMPOSED.0.len() as f64,
        };
        kicks * self.of_revolution / MOST
    }
}

/// Two parts of the hierarchy. The stars of the first are those from `begin` to `middle` in the order of the tree, those of the second
/// the next ones to `end`.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) begin: usize,
    pub(super) middle: usize,
    pub(super) end: usize,
    pub(super) masses: [f64; 2],
    pub(super) mass: f64,
    pub(super) reduced: f64,
}

/// Who is bound to whom.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Stars in the order of the tree.
    pub(super) stars: Vec<usize>,
    /// Their masses.
    pub(super) masses: Vec<f64>,
    /// Parts before the nodes that they are parts of.
    pub(super) nodes: Vec<Node>,
    /// The node with the smallest orbit.
    pub(super) tightest: usize,
}

impl Node {
    /// The stars of each part, and where its centre is from that of the node, in parts of the vector from the first to the second.
    pub(super) fn parts(&self) -> [(std::ops::Range<usize>, f64); 2] {
        [
            (self.begin..self.middle, -self.masses[1] / self.mass),
            (self.middle..self.end, self.masses[0] / self.mass),
        ]
    }
}

impl Tree {
    /// The hierarchy of stars, and in which steps it moves.
    pub(super) fn of(masses: &[f64], chain: &Chain) -> Option<(Self, Steps)> {
        let star = |(k, (x, v)): (usize, Place)| Body {
            index: 0,
            mass: masses[k],
            x,
            v,
        };
        let bodies = chain.bodies(masses).into_iter().enumerate();
        let bodies: Vec<Body> = bodies.map(star).collect();
        let nodes = hierarchy::nodes(&bodies);
        let [root] = &nodes[..] else {
            return None;
        };
        if masses.len() < 3 {
            return None;
        }
        let mut tree = Self {
            stars: Vec::new(),
            masses: Vec::new(),
            nodes: Vec::new(),
            tightest: 0,
        };
        let mut axes = Vec::new();
        tree.add(root, &mut axes);
        tree.masses = tree.stars.iter().map(|&k| masses[k]).collect();
        let tightest = (0..axes.len()).min_by(|&a, &b| axes[a].total_cmp(&axes[b]))?;
        tree.tightest = tightest;
        Some((tree, steps(root)?))
    }

    /// The node of exactly these stars and all nodes within it; `None` if there is none.
    pub(super) fn nodes_of(&self, stars: &[usize]) -> Option<Vec<usize>> {
        let is_of = |node: &Node| {
            let own = &self.stars[node.begin..node.end];
            own.len() == stars.len() && own.iter().all(|star| stars.contains(star))
        };
        let root = self.nodes.iter().find(|node| is_of(node))?;
        let is_within = |k: &usize| {
            let node = &self.nodes[*k];
            root.begin <= node.begin && node.end <= root.end
        };
        Some((0..self.nodes.len()).filter(is_within).collect())
    }

    /// Adds a node after its parts, and the axes of their orbits.
    fn add(&mut self, node: &hierarchy::Node, axes: &mut Vec<f64>) {
        match &node.kind {
            Kind::Single(star) => self.stars.push(*star),
            Kind::Binary(parts, orbit) => {
                // A triple is always two stars and a third one.
                let [mut first, mut second] = [&parts[0], &parts[1]];
                if first.members().len() < second.members().len() {
                    (first, second) = (second, first);
                }
                let begin = self.stars.len();
                self.add(first, axes);
                let middle = self.stars.len();
                self.add(second, axes);
                let masses = [first.mass, second.mass];
                let mass = masses[0] + masses[1];
                self.nodes.push(Node {
                    begin,
                    middle,
                    end: self.stars.len(),
                    masses,
                    mass,
                    reduced: masses[0] * masses[1] / mass,
                });
                axes.push(orbit.axis);
            }
        }
    }

    /// The motions of the nodes of stars along a chain. A node of two neighbours has the digits of their link.
    pub(super) fn motions(&self, chain: &Chain) -> Vec<Motion> {
        let place = |star: &usize| chain.order.iter().position(|k| k == star).unwrap_or(0);
        let along: Vec<usize> = self.stars.iter().map(place).collect();
        // Of each star in the order of the tree, from the centre of the part that it belongs to so far.
        let mut from_centre = vec![Place::default(); self.stars.len()];
        let of_node = |node: &Node| {
            // The two stars of the parts that have the fewest links between them.
            let pairs = (node.begin..node.middle)
                .flat_map(|i| (node.middle..node.end).map(move |j| (i, j)));
            let (i, j) = pairs
                .min_by_key(|&(i, j)| along[i].abs_diff(along[j]))
                .unwrap_or_default();
            let between = |links: &[Vec3], part: fn(&Place) -> Vec3| {
                let mut d = Chain::between(links, along[i], along[j]);
                add_scaled(
                    &mut d,
                    1.0,
                    &sub(&part(&from_centre[i]), &part(&from_centre[j])),
                );
                d
            };
            let x = between(&chain.x, |p| p.0);
            let v = between(&chain.v, |p| p.1);
            move_to_centre(node, &x, &v, &mut from_centre);
            let r = norm(&x);
            Motion {
                x,
                v,
                lost: Place::default(),
                r,
                inverse: 1.0 / r,
            }
        };
        self.nodes.iter().map(of_node).collect()
    }

    /// The chain through stars in this `order`.
    pub(super) fn chain(&self, motions: &[Motion], order: &[usize]) -> Chain {
        let mut from_centre = vec![Place::default(); self.stars.len()];
        // Each link is found where its two stars first belong to one node.
        let place = |star: &usize| self.stars.iter().position(|k| k == star).unwrap_or(0);
        let along: Vec<usize> = order.iter().map(place).collect();
        let mut chain = Chain {
            order: order.to_vec(),
            x: vec![[0.0; 3]; order.len() - 1],
            v: vec![[0.0; 3]; order.len() - 1],
        };
        for (node, motion) in self.nodes.iter().zip(motions) {
            for (k, both) in along.windows(2).enumerate() {
                let is_first = |p: usize| (node.begin..node.middle).contains(&p);
                let is_second = |p: usize| (node.middle..node.end).contains(&p);
                let (i, j, sign) = match (both[0], both[1]) {
                    (i, j) if is_first(i) && is_second(j) => (i, j, 1.0),
                    (j, i) if is_first(i) && is_second(j) => (i, j, -1.0),
                    _ => continue,
                };
                let link = |x: &Vec3, part: fn(&Place) -> Vec3| {
                    let mut link = *x;
                    let inner = sub(&part(&from_centre[j]), &part(&from_centre[i]));
                    add_scaled(&mut link, 1.0, &inner);
                    link.map(|c| sign * c)
                };
                chain.x[k] = link(&motion.x, |p| p.0);
                chain.v[k] = link(&motion.v, |p| p.1);
            }
            move_to_centre(node, &motion.x, &motion.v, &mut from_centre);
        }
        chain
    }
}

/// Places of stars of the parts of a node, from the centres of these, become those from the centre of the node.
fn move_to_centre(node: &Node, x: &Vec3, v: &Vec3, places: &mut [Place]) {
    for (stars, part) in node.parts() {
        for place in &mut places[stars] {
            add_scaled(&mut place.0, part, x);
            add_scaled(&mut place.1, part, v);
        }
    }
}

/// The steps of a hierarchy: `None` where its orbits perturb each other too much.
///
/// Over several revolutions of the outer orbit the energy error is about 7e-6 p^2 (64 / n)^6.7 of the energy of the tightest orbit with n
/// kicks of composed steps, p being the perturbation, and 0.05 p^2 (8 / n)^2 with those of the map. This is 1e-9 for the numbers below,
/// in the median of random triples of one p; nine of ten have less than four times that.
///
/// Only the tightest orbit has more kicks near its pericentre. Kicks must be closer than the pericentre passage of any other lasts.
fn steps(root: &hierarchy::Node) -> Option<Steps> {
    let orbits = root.orbits();
    let (_, tightest) = orbits
        .iter()
        .min_by(|(_, a), (_, b)| a.axis.total_cmp(&b.axis))?;
    let others = orbits.iter().filter(|(_, orbit)| orbit != tightest);
    let passage = |orbit: &Orbit| {
        (orbit.pericentre().powi(3) / (orbit.mass * (1.0 + orbit.eccentricity))).sqrt()
    };
    let shortest = others
        .map(|(_, orbit)| passage(orbit))
        .fold(f64::INFINITY, f64::min);
    let perturbation = perturbation(root);
    let least = IN_A_PASSAGE * tightest.period() / shortest;
    let of_map = (5.7e4 * perturbation).max(FEWEST[0]).max(least);
    let composed = 68.0 * (84.0 * perturbation).powf(0.3);
    let composed = composed.max(FEWEST[1]).max(least);
    let (scheme, of_revolution) = match of_map < composed {
        true => (Scheme::Map, of_map),
        false => (Scheme::Composed, composed / COMPOSED.0.len() as f64),
    };
    (perturbation < GREATEST && of_map.min(composed) <= MOST).then_some(Steps {
        scheme,
        of_revolution,
    })
}

/// How much the orbits of a hierarchy perturb each other, where they are closest: the tide of the outer part at the apocentre of the
/// inner orbit, in parts of the attraction there. The quadrupole of the inner orbit, in parts of the attraction by its whole mass,
/// counts less, as the outer orbit has little energy.
fn perturbation(node: &hierarchy::Node) -> f64 {
    let Kind::Binary(parts, outer) = &node.kind else {
        return 0.0;
    };
    let of_part = |part: &hierarchy::Node, other: &hierarchy::Node| match &part.kind {
        Kind::Single(_) => 0.0,
        Kind::Binary(inner, orbit) => {
            let ratio = orbit.apocentre() / outer.pericentre();
            let tide = 2.0 * other.mass / part.mass * ratio.powi(3);
            let moment = inner[0].mass * inner[1].mass / (part.mass * part.mass);
            let quadrupole = 0.2 * moment * ratio * ratio;
            tide.max(quadrupole).max(perturbation(part))
        }
    };
    of_part(&parts[0], &parts[1]).max(of_part(&parts[1], &parts[0]))
}
