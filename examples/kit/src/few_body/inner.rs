//! Tight binaries inside a larger system, whose orbits the other members change in the mean only.
//!
//! Such an *inner binary* moves as one body among the other members: both are *nodes*. The tide of the other nodes changes
//! eccentricity and orientation of its orbit in the mean over many revolutions ([`secular`]) and leaves the semi-major
//! axis alone. While this lasts, the stored orbit's energy includes the potential energy of its two stars in that tide. So
//! the energy of all members is that of the nodes plus those of the inner orbits, and does not jump when the mean motion
//! begins or ends.
//!
//! What is left out: the nodes move as points, so the outer orbit does not feel the quadrupole of an inner binary, nor
//! the angular momentum that the binary gains or loses. The tide is that of the quadrupole, without octupole. The tide of
//! stars outside the system is left out, too: the mean motion begins only if it is below [`OUTSIDE`].

use super::Alone;
use super::chain::Chain;
use super::kepler::{Orbit, drift};
use super::multiple::{Place, mean};
use super::pair::{MANY, MEAN, Pull};
use super::secular::{self, Tensor};
use super::system::{Error, System};
use crate::vector::{Vec3, add_scaled, dot, norm, sub};

/// Step in which the tide on an inner binary is summed, in parts of the time in which the tide changes.
const STEP: f64 = 0.25;

/// Angle by which the summed tide may turn an inner orbit before it does.
const ANGLE: f64 = 1e-3;

/// Perturbation of an inner binary by others than the members: below the first number a mean motion may begin, above the
/// second one it ends. The binary's energy in their tide is not counted; it is about this fraction of its own energy.
const OUTSIDE: [f64; 2] = [1e-7, 1e-6];

/// The limits to which a mean motion is held when it begins, and while it goes on.
const BEGINNING: usize = 0;
const GOING_ON: usize = 1;

/// Rounds in which the energy of an inner orbit in the tide is found.
const ROUNDS: usize = 4;

/// The members along a chain, and those two and two that are inner binaries. The two are neighbours in the chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members {
    /// From each star to the next one along the chain.
    pub chain: Chain,
    /// Inner binaries, as places in the list of members.
    pub inner: Vec<[usize; 2]>,
}

/// One star, or an inner binary.
#[derive(Clone, Debug)]
struct Node {
    stars: Vec<usize>,
    mass: f64,
    /// Of an inner binary the second star from the first, and the masses of the two.
    orbit: Option<(Place, [f64; 2])>,
    /// The tide of the other nodes, summed over the time since it acted last, and that time.
    tide: [Vec3; 3],
    time: f64,
    /// Whether the mean motion of an inner binary has ended.
    is_open: bool,
}

/// The nodes of a system, in the order in which they are along the chain at first.
pub(super) struct Nodes {
    nodes: Vec<Node>,
    system: System,
}

/// Two nodes that are neighbours along the chain.
pub(super) struct Link {
    /// Position and velocity of the second from the first.
    pub place: Place,
    /// Mass of both.
    pub mass: f64,
    /// The first star of each, as a place in the list of members.
    pub stars: [usize; 2],
}

impl Members {
    /// Moves members of these masses by `dt`.
    ///
    /// # Errors
    ///
    /// Two members are at one place.
    pub(super) fn advance(&mut self, masses: &[f64], dt: f64) -> Result<(), Error> {
        if dt < 0.0 && !self.inner.is_empty() {
            // Tides are summed forwards only: backwards each revolution is followed.
            *self = self.osculating(masses);
        }
        let mut rest = dt;
        while rest > 0.0 && !self.inner.is_empty() {
            let mut nodes = Nodes::of(masses, self);
            rest = nodes.advance(rest)?;
            *self = nodes.members();
        }
        if self.inner.is_empty() {
            let mut system = System::along(masses.to_vec(), std::mem::take(&mut self.chain));
            system.advance(rest, &mut Alone)?;
            self.chain = system.into_chain();
        }
        Ok(())
    }

    /// Any two neighbours along the chain, of which an inner binary is one.
    pub(super) fn links(&self, masses: &[f64]) -> Vec<Link> {
        if !self.inner.is_empty() {
            return Nodes::of(masses, self).neighbours();
        }
        let Chain { order, x, v } = &self.chain;
        let link = |(both, (x, v)): (&[usize], (&Vec3, &Vec3))| Link {
            place: (*x, *v),
            mass: masses[both[0]] + masses[both[1]],
            stars: [both[0], both[1]],
        };
        order.windows(2).zip(x.iter().zip(v)).map(link).collect()
    }

    /// The members with the orbits that the inner binaries have at present, none of which moves in the mean.
    pub(super) fn osculating(&self, masses: &[f64]) -> Self {
        let mut nodes = Nodes::of(masses, self);
        (0..nodes.nodes.len()).for_each(|p| nodes.open(p));
        nodes.members()
    }

    /// Makes inner binaries of those neighbours in the chain that the other members hardly perturb, now and when they are
    /// closest. `outside` is the perturbation of two members by others than the members, and `tides` are the accelerations
    /// of the members by these. Returns the new ones.
    pub(super) fn join(
        &mut self,
        masses: &[f64],
        tides: &[Pull],
        outside: impl Fn(usize, usize) -> f64,
    ) -> Vec<[usize; 2]> {
        let mut new = Vec::new();
        let neighbours: Vec<[usize; 2]> =
            self.chain.order.windows(2).map(|k| [k[0], k[1]]).collect();
        for both in neighbours {
            let is_free = !self.inner.as_flattened().iter().any(|k| both.contains(k));
            if !is_free || masses.len() < 3 || outside(both[0], both[1]) >= OUTSIDE[BEGINNING] {
                continue;
            }
            let mut joined = self.clone();
            joined.inner.push(both);
            let mut nodes = Nodes::of(masses, &joined);
            let Some(p) = nodes.nodes.iter().position(|node| node.stars == both) else {
                continue;
            };
            if nodes.is_hardly_perturbed(p, BEGINNING)
                && nodes.outside(p, tides) < OUTSIDE[BEGINNING]
            {
                nodes.close(p);
                *self = nodes.members();
                new.push(both);
            }
        }
        new
    }

    /// Ends the mean motion of inner binaries that others than the members perturb. `tides` are the accelerations of the
    /// members by these.
    pub(super) fn divide(&mut self, masses: &[f64], tides: &[Pull]) {
        if self.inner.is_empty() {
            return;
        }
        let mut nodes = Nodes::of(masses, self);
        let is_disturbed = |&p: &usize| nodes.outside(p, tides) > OUTSIDE[GOING_ON];
        let disturbed: Vec<usize> = (0..nodes.nodes.len()).filter(is_disturbed).collect();
        if !disturbed.is_empty() {
            disturbed.into_iter().for_each(|p| nodes.open(p));
            *self = nodes.members();
        }
    }
}

impl Nodes {
    /// The nodes of members with these masses.
    pub(super) fn of(masses: &[f64], members: &Members) -> Self {
        let Chain { order, x, v } = &members.chain;
        let mut nodes: Vec<Node> = Vec::new();
        let mut chain = Chain::default();
        let mut k = 0;
        while k < order.len() {
            let two = order.get(k..k + 2).filter(|two| {
                let is_same = |both: &&[usize; 2]| two.iter().all(|star| both.contains(star));
                members.inner.iter().any(|both| is_same(&both))
            });
            let stars = two.unwrap_or(&order[k..=k]).to_vec();
            let orbit = two.map(|two| ((x[k], v[k]), [masses[two[0]], masses[two[1]]]));
            let node = Node {
                mass: stars.iter().map(|&star| masses[star]).sum(),
                stars,
                orbit,
                tide: [[0.0; 3]; 3],
                time: 0.0,
                is_open: false,
            };
            if let Some(before) = nodes.last() {
                let link = k - 1;
                let (from, to) = (before.star(before.stars.len() - 1), node.star(0));
                let along = |link: &Vec3, from: &Vec3, to: &Vec3| {
                    let mut link = *link;
                    add_scaled(&mut link, 1.0, &sub(from, to));
                    link
                };
                chain.x.push(along(&x[link], &from.0, &to.0));
                chain.v.push(along(&v[link], &from.1, &to.1));
            }
            k += node.stars.len();
            nodes.push(node);
        }
        chain.order = (0..nodes.len()).collect();
        let masses = nodes.iter().map(|node| node.mass).collect();
        let system = System::along(masses, chain);
        Self { nodes, system }
    }

    /// The members again.
    fn members(&self) -> Members {
        let along = self.system.chain();
        let mut chain = Chain::default();
        let mut inner = Vec::new();
        for (k, &p) in along.order.iter().enumerate() {
            let node = &self.nodes[p];
            if k > 0 {
                let before = &self.nodes[along.order[k - 1]];
                let (from, to) = (before.star(before.stars.len() - 1), node.star(0));
                let link = |link: &Vec3, from: &Vec3, to: &Vec3| {
                    let mut link = *link;
                    add_scaled(&mut link, 1.0, &sub(to, from));
                    link
                };
                chain.x.push(link(&along.x[k - 1], &from.0, &to.0));
                chain.v.push(link(&along.v[k - 1], &from.1, &to.1));
            }
            chain.order.extend(&node.stars);
            if let Some(((x, v), _)) = node.orbit {
                chain.x.push(x);
                chain.v.push(v);
            }
            if node.orbit.is_some() && !node.is_open {
                inner.push([node.stars[0], node.stars[1]]);
            }
        }
        Members { chain, inner }
    }

    /// Any two neighbours along the chain.
    fn neighbours(&self) -> Vec<Link> {
        let neighbours = self.nodes.windows(2).enumerate();
        let link = |(p, both): (usize, &[Node])| Link {
            place: self.system.relative(p, p + 1),
            mass: both[0].mass + both[1].mass,
            stars: [both[0].stars[0], both[1].stars[0]],
        };
        neighbours.map(link).collect()
    }

    /// Moves the nodes by `dt`, or less if the tide on an inner binary becomes too strong for its mean motion, which then
    /// ends. Returns the time that is left.
    fn advance(&mut self, dt: f64) -> Result<f64, Error> {
        let (mut rest, mut is_whole) = (dt, true);
        while rest > 0.0 && is_whole {
            let step = self.step().min(rest);
            self.system.advance(0.5 * step, &mut Alone)?;
            self.add_tides(step);
            self.system.advance(0.5 * step, &mut Alone)?;
            rest -= step;
            let mut inner = (0..self.nodes.len()).filter(|&p| self.nodes[p].orbit.is_some());
            is_whole = inner.all(|p| self.is_hardly_perturbed(p, GOING_ON));
        }
        for node in &mut self.nodes {
            node.turn();
            if let Some(((x, v), _)) = &mut node.orbit {
                (*x, *v) = drift(x, v, node.mass, dt - rest);
            }
        }
        for p in 0..self.nodes.len() {
            if self.nodes[p].orbit.is_some() && !self.is_hardly_perturbed(p, GOING_ON) {
                self.open(p);
            }
        }
        Ok(rest)
    }

    /// Position and velocity of node `q` from node `p`, and its mass, for each other node.
    fn others(&self, p: usize) -> impl Iterator<Item = (Place, f64)> {
        let others = (0..self.nodes.len()).filter(move |q| *q != p);
        others.map(move |q| (self.system.relative(p, q), self.nodes[q].mass))
    }

    /// Time in which the tides on inner binaries do not change much.
    fn step(&self) -> f64 {
        let mut step = f64::INFINITY;
        for (p, node) in self.nodes.iter().enumerate() {
            if node.orbit.is_none() {
                continue;
            }
            for ((x, v), mass) in self.others(p) {
                let r = norm(&x);
                let orbital = (r.powi(3) / (mass + node.mass)).sqrt();
                step = step.min(orbital).min(r / norm(&v));
            }
        }
        STEP * step
    }

    /// Sums the present tides on inner binaries over the time `dt`.
    fn add_tides(&mut self, dt: f64) {
        for p in 0..self.nodes.len() {
            if self.nodes[p].orbit.is_none() {
                continue;
            }
            let mut sum = self.nodes[p].tide;
            for ((x, _), mass) in self.others(p) {
                let r2 = dot(&x, &x);
                let factor = dt * mass / (r2 * r2.sqrt());
                for (k, row) in sum.iter_mut().enumerate() {
                    add_scaled(row, 3.0 * factor * x[k] / r2, &x);
                    row[k] -= factor;
                }
            }
            let node = &mut self.nodes[p];
            node.tide = sum;
            node.time += dt;
            if node.angle() > ANGLE {
                node.turn();
            }
        }
    }

    /// Whether the other nodes perturb the two stars of node `p` little enough for a mean motion that is [`BEGINNING`] or
    /// [`GOING_ON`]. The two must be bound. Where the others are closest to them, the tide must be a small part of the
    /// attraction at the apocentre of the two, and must change slowly.
    fn is_hardly_perturbed(&self, p: usize, limit: usize) -> bool {
        let node = &self.nodes[p];
        let Some(orbit) = node.elements() else {
            return false;
        };
        let mut tides = 0.0;
        for (place, mass) in self.others(p) {
            let both = mass + node.mass;
            let (r, time) = closest(&place, both);
            tides += 2.0 * mass / r.powi(3);
            // With NaN the comparison does not hold.
            let is_slow = MANY[limit] * orbit.period() < time;
            if !is_slow {
                return false;
            }
        }
        orbit.is_bound() && tides * orbit.apocentre().powi(3) / node.mass < MEAN[limit]
    }

    /// The perturbation of the inner binary `p` by others than the members, whose accelerations of the members are
    /// `tides`. While the two stars of the binary move in the mean they have one acceleration, so the perturbation follows from
    /// that of the other nodes.
    fn outside(&self, p: usize, tides: &[Pull]) -> f64 {
        let node = &self.nodes[p];
        let Some(orbit) = node.elements() else {
            return 0.0;
        };
        let acceleration = |k: usize| {
            let Node { stars, orbit, .. } = &self.nodes[k];
            match orbit {
                Some((_, masses)) => mean(masses, &[tides[stars[0]], tides[stars[1]]]).0,
                None => tides[stars[0]].0,
            }
        };
        let others = (0..self.nodes.len()).filter(|q| *q != p);
        let tides = others.map(|q| {
            let tide = sub(&acceleration(q), &acceleration(p));
            norm(&tide) / norm(&self.system.relative(p, q).0)
        });
        tides.fold(0.0, f64::max) * orbit.apocentre().powi(3) / node.mass
    }

    /// Potential energy of the stars of node `p`, which has the relative position `x` of its two, in the attraction of
    /// the other nodes, less that of their whole mass at the centre.
    fn tidal_energy(&self, p: usize, x: &Vec3, masses: [f64; 2]) -> f64 {
        let whole = masses[0] + masses[1];
        let mut energy = 0.0;
        for ((place, _), mass) in self.others(p) {
            let to = |part: f64| {
                let mut to = place;
                add_scaled(&mut to, part, x);
                1.0 / norm(&to)
            };
            let [a, b] = masses;
            // The second star is at a / whole of x from the centre, the first at -b / whole.
            energy -= mass * (a * (to(b / whole) - to(0.0)) + b * (to(-a / whole) - to(0.0)));
        }
        energy
    }

    /// Adds the potential energy of an inner binary in the tide to the energy of its orbit.
    fn close(&mut self, p: usize) {
        let Some(((x, v), masses)) = self.nodes[p].orbit else {
            return;
        };
        let own = inner_energy(&x, &v, masses);
        let tidal = self.tidal_energy(p, &x, masses);
        self.nodes[p].scale(own / (own + tidal));
    }

    /// Takes the potential energy of an inner binary in the tide out of the energy of its orbit. What was a node are two
    /// stars afterwards.
    fn open(&mut self, p: usize) {
        let Some(((x, v), masses)) = self.nodes[p].orbit else {
            return;
        };
        let own = inner_energy(&x, &v, masses);
        let mut factor = 1.0;
        for _ in 0..ROUNDS {
            let tidal = self.tidal_energy(p, &x.map(|c| factor * c), masses);
            factor = own / (own - tidal);
        }
        self.nodes[p].scale(factor);
        self.nodes[p].is_open = true;
    }
}

impl Node {
    /// Position and velocity of a star of this node from its centre.
    fn star(&self, k: usize) -> Place {
        let part = |masses: &[f64; 2]| match k {
            0 => -masses[1] / self.mass,
            _ => masses[0] / self.mass,
        };
        self.orbit.map_or(Place::default(), |((x, v), masses)| {
            (x.map(|c| part(&masses) * c), v.map(|c| part(&masses) * c))
        })
    }

    /// The orbit of an inner binary.
    fn elements(&self) -> Option<Orbit> {
        self.orbit.map(|((x, v), _)| Orbit::of(&x, &v, self.mass))
    }

    /// Makes the orbit larger by this factor.
    fn scale(&mut self, factor: f64) {
        // Two that are not bound, as a checkpoint may claim, stay as they are.
        if let Some(((x, v), _)) = &mut self.orbit
            && factor > 0.0
        {
            *x = x.map(|c| factor * c);
            *v = v.map(|c| c / factor.sqrt());
        }
    }

    /// About the angle by which the summed tide turns the orbit.
    fn angle(&self) -> f64 {
        let sum: f64 = self.tide.iter().map(|row| dot(row, row)).sum();
        let orbit = self.elements();
        orbit.map_or(0.0, |o| sum.sqrt() * (o.axis.powi(3) / o.mass).sqrt())
    }

    /// Turns the orbit by the summed tide.
    fn turn(&mut self) {
        let (Some(((x, v), _)), true) = (&mut self.orbit, self.time > 0.0) else {
            return;
        };
        let tensor = Tensor {
            tide: self.tide.map(|row| row.map(|c| c / self.time)),
            ..Tensor::default()
        };
        (*x, *v) = secular::turn(x, v, self.mass, &tensor, self.time);
        (self.tide, self.time) = ([[0.0; 3]; 3], 0.0);
    }
}

/// The least distance on the orbit of a node at this place, where `mass` is that of both, and the time r / v there. It is the
/// present one of a node that goes away for good.
fn closest((x, v): &Place, mass: f64) -> (f64, f64) {
    let (r, orbit) = (norm(x), Orbit::of(x, v, mass));
    match orbit.pericentre() < r && (orbit.is_bound() || dot(x, v) < 0.0) {
        // At the pericentre r / v is sqrt(r^3 / ((1 + e) M)).
        true => {
            let r = orbit.pericentre();
            (r, (r.powi(3) / (mass * (1.0 + orbit.eccentricity))).sqrt())
        }
        false => (r, (r.powi(3) / mass).sqrt().min(r / norm(v))),
    }
}

/// Energy of two stars about their centre.
fn inner_energy(x: &Vec3, v: &Vec3, [a, b]: [f64; 2]) -> f64 {
    a * b * (0.5 * dot(v, v) / (a + b) - 1.0 / norm(x))
}

#[cfg(test)]
#[path = "inner_tests.rs"]
mod tests;
