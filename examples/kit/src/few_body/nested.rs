//! Hierarchies of three and more stars, whose orbits are Kepler's between kicks by what disturbs them.
//!
//! Each node of the hierarchy has the relative position and velocity of its two parts (hierarchical Jacobi coordinates). The
//! Hamiltonian is the sum of the Kepler problems of the nodes and a small rest H_B: the attraction of all pairs of stars, less that
//! of parts at their centres (Wisdom and Holman 1991).
//!
//! The tightest orbit, of the length r, sets the pace: with dt = r ds the stars follow the Hamiltonian r (H - E), where E is the
//! energy at the beginning. Both of its parts are solved in closed form. Without r H_B, the tightest orbit is a Kepler orbit of a
//! slightly different mass, and equal steps of s are equal steps of its universal variable: only the other orbits, of which a
//! step is a small part, have a Kepler equation to be solved. r H_B depends on positions only, so it is a kick.
//!
//! Where the orbits perturb each other little, a revolution takes seven or more pairs of a drift and a kick, with a corrector at
//! the ends (`nested/map.rs`). Otherwise drifts and kicks are composed to the generalized order (10, 6, 4) of Blanes et al. (2013,
//! Appl. Numer. Math. 68, 58), 40 to 144 kicks a revolution. The extrapolated leapfrog of a [`System`](super::System) takes 600 to 1200
//! steps.
//!
//! Linear tides on nodes (`multiple/in_tide.rs`) are part of H_B. They depend on time, so E changes by their partial derivative in time.

mod map;
mod motion;
mod tree;

use super::chain::Chain;
use super::kepler::Equation;
use super::multiple::in_tide::{Tide, Tides};
use super::secular::{Tensor, product};
use crate::vector::{Vec3, add_scaled, dot, sub};
use motion::{Motion, add};
use tree::{Node, Scheme, Steps, Tree};

/// Drifts and the kick after each, and the drift after these (0 for none), in parts of a step.
type Moves<'a> = (&'a [[f64; 2]], f64);

/// A composed step: the second half mirrors the first.
const COMPOSED: Moves = (
    &[
        [0.038_094_497_422_412_195, 0.095_858_880_837_075_21],
        [0.145_298_716_116_913_75, 0.204_446_153_142_998_78],
        [0.207_627_695_725_541_25, 0.217_070_347_978_991_1],
        [0.435_909_703_651_526_16, -0.017_375_381_959_065_093],
        [-0.653_861_225_832_786_7, -0.017_375_381_959_065_093],
        [0.435_909_703_651_526_16, 0.217_070_347_978_991_1],
        [0.207_627_695_725_541_25, 0.204_446_153_142_998_78],
        [0.145_298_716_116_913_75, 0.095_858_880_837_075_21],
    ],
    0.038_094_497_422_412_195,
);

/// Energy error above which a flight is bad, in parts of the energy of the tightest orbit: its orbits have become others than those
/// that the steps were made for.
const BAD: f64 = 1e-7;

/// Attempts to land at a time, each of which brings it many digits closer.
const LANDINGS: u32 = 12;

/// Place of one part of the hierarchy relative to another.
type Place = (Vec3, Vec3);

/// A hierarchy on its way.
#[derive(Clone, Debug)]
pub(super) struct Nested {
    tree: Tree,
    /// The stars along the chain at the beginning.
    order: Vec<usize>,
    /// Linear tides, with the nodes that each acts on.
    tides: Vec<(Vec<usize>, Tide)>,
    scheme: Scheme,
    /// Length of a step in s, and a time that is longer than any.
    length: f64,
    longest: f64,
    now: State,
    /// Times and energies at the beginnings of the steps so far, and motions of all nodes then. With a map, all but the first are those
    /// after every eighth of its kicks.
    times: Vec<([f64; 2], f64)>,
    motions: Vec<Motion>,
    room: Room,
}

/// Time, with what was lost when it was added to, energy, and the motions of the nodes.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    t: [f64; 2],
    /// It changes with the tides only.
    energy: f64,
    motions: Vec<Motion>,
}

impl State {
    /// Becomes another state of the same nodes, in the memory that it has.
    fn set(&mut self, other: &Self) {
        (self.t, self.energy) = (other.t, other.energy);
        self.motions.copy_from_slice(&other.motions);
    }
}

/// Stars in the order of the tree: from the centre of the node that was looked at last, and the forces on them.
#[derive(Clone, Debug, Default)]
struct Room {
    places: Vec<Vec3>,
    forces: Vec<Vec3>,
}

/// Whether stars of these masses along a chain are a hierarchy for which [`Nested`] is made, with at most this part of the most kicks
/// in a revolution.
pub(super) fn is_nested(masses: &[f64], chain: &Chain, part: f64) -> bool {
    masses.len() > 2
        && Tree::of(masses, chain).is_some_and(|(_, steps)| steps.part_of_most() <= part)
}

impl Nested {
    /// Stars of these masses that are along a chain at the time 0; `None` if they are no hierarchy, or its orbits perturb each other too
    /// much.
    pub(super) fn new(masses: &[f64], chain: &Chain) -> Option<Self> {
        Self::in_tides(masses, chain, &Tides::default())
    }

    /// The same in linear tides; `None`, too, if one of them acts on members that are no node.
    pub(super) fn in_tides(masses: &[f64], chain: &Chain, tides: &Tides) -> Option<Self> {
        let (tree, steps) = Tree::of(masses, chain)?;
        let on_nodes = |tide: &Tide| Some((tree.nodes_of(&tide.stars)?, tide.clone()));
        let tides: Option<Vec<_>> = tides.0.iter().map(on_nodes).collect();
        Self::with_steps(tree, chain, steps, tides?)
    }

    /// The same with these steps.
    fn with_steps(
        tree: Tree,
        chain: &Chain,
        steps: Steps,
        tides: Vec<(Vec<usize>, Tide)>,
    ) -> Option<Self> {
        let motions = tree.motions(chain);
        let n = tree.stars.len();
        let mut new = Self {
            order: chain.order.clone(),
            tides,
            scheme: steps.scheme,
            length: 0.0,
            longest: 0.0,
            times: Vec::new(),
            now: State {
                t: [0.0; 2],
                energy: 0.0,
                motions: motions.clone(),
            },
            motions,
            room: Room {
                places: vec![[0.0; 3]; n],
                forces: vec![[0.0; 3]; n],
            },
            tree,
        };
        let energy = new.energy();
        new.now.energy = energy;
        new.times.push((new.now.t, energy));
        let beta = new.beta();
        new.length = std::f64::consts::TAU / (steps.of_revolution * beta.sqrt());
        let tightest = &new.tree.nodes[new.tree.tightest];
        new.longest = 2.2 * tightest.mass / beta * new.length;
        // With NaN this does not hold.
        (beta > 0.0 && new.length > 0.0).then_some(new)
    }

    /// The stars at the time `t`, from 0 on; `None` if their energy is not what it was.
    pub(super) fn at(&mut self, t: f64) -> Option<Chain> {
        self.fly(t)?;
        self.keep_energy()?;
        Some(self.tree.chain(&self.now.motions, &self.order))
    }

    /// The stars at the time `t` if their orbits had not perturbed each other since the beginning.
    pub(super) fn unperturbed_at(&self, t: f64) -> Chain {
        let nodes = &self.tree.nodes;
        let mut motions = self.motions[..nodes.len()].to_vec();
        for (motion, node) in motions.iter_mut().zip(nodes) {
            motion.drift(node.mass, t);
        }
        self.tree.chain(&motions, &self.order)
    }

    /// Moves the stars to the time `t`. `None` if steps get nowhere.
    fn fly(&mut self, t: f64) -> Option<()> {
        let guess = match self.scheme {
            Scheme::Map => {
                self.leave_map(t)?;
                self.guess(t)
            }
            Scheme::Composed => self.find_step(t)?,
        };
        self.land(t, guess);
        Some(())
    }

    /// Gives the tightest orbit what the energy of all lacks now, with the same shape and phase. `None` if that is too much.
    ///
    /// Steps conserve r (H - E) but for a function of places and velocities, which is of the second order in the perturbation. As r is another
    /// one at the end of a flight, H would change by a little in every flight, mostly in one direction.
    fn keep_energy(&mut self) -> Option<()> {
        let lacks = self.now.energy - self.energy();
        let node = &self.tree.nodes[self.tree.tightest];
        let motion = &mut self.now.motions[self.tree.tightest];
        let own = node.reduced * motion.energy(node.mass);
        // With NaN this does not hold.
        (lacks.abs() <= BAD * own.abs()).then(|| motion.scale(own / (own + lacks)))
    }

    /// The energy of all stars now, as by their motions.
    fn energy(&mut self) -> f64 {
        let Self {
            tree,
            tides,
            now: State { t, motions, .. },
            room,
            ..
        } = self;
        let Tree {
            nodes, tightest, ..
        } = &*tree;
        let node = &nodes[*tightest];
        let mut energy = node.reduced * motions[*tightest].energy(node.mass);
        energy += energy_of_others(nodes, motions, *tightest);
        energy += room.kick(tree, motions, 0.0);
        for (on, tide) in tides {
            let tensor = tide.at(t[0]);
            energy += kick_in_tide(&tensor, on, nodes, motions, *tightest, 0.0).0;
        }
        energy
    }

    /// Goes to the beginning of the composed step in which the time `t` is, and returns the part of s from there to about `t`. `None` if
    /// steps get nowhere.
    fn find_step(&mut self, t: f64) -> Option<f64> {
        let before = self.times.partition_point(|(time, _)| time[0] <= t);
        // The guess may take the end of a step for its inside: ask the step before, too.
        let mut k = before.saturating_sub(2);
        loop {
            self.load(k);
            // Most steps need no guess: none is longer than by the distance 2 a, which no distance exceeds.
            let is_far = t - self.times[k].0[0] > self.longest;
            let guess = if is_far { f64::INFINITY } else { self.guess(t) };
            if guess <= self.length {
                return Some(guess);
            }
            if k + 1 == self.times.len() {
                self.extend(COMPOSED)?;
            }
            if self.times[k + 1].0[0] > t {
                self.load(k);
                return Some(self.length.min(guess));
            }
            k += 1;
        }
    }

    /// Takes the step after those so far. `None` if it leads nowhere.
    fn extend(&mut self, moves: Moves) -> Option<()> {
        let before = self.last_time();
        self.load(self.times.len() - 1);
        self.go(self.length, moves);
        if self.now.t[0] <= before || !self.now.t[0].is_finite() {
            return None;
        }
        self.times.push((self.now.t, self.now.energy));
        self.motions.extend_from_slice(&self.now.motions);
        Some(())
    }

    /// The time up to which the motion is known.
    fn last_time(&self) -> f64 {
        self.times.last().map_or(0.0, |(time, _)| time[0])
    }

    /// Goes on from the beginning of step `k`.
    fn load(&mut self, k: usize) {
        let n = self.tree.nodes.len();
        (self.now.t, self.now.energy) = self.times[k];
        self.now
            .motions
            .copy_from_slice(&self.motions[k * n..][..n]);
    }

    /// The step in s from now to about the time `t`: exact without kicks.
    fn guess(&self, t: f64) -> f64 {
        let motion = &self.now.motions[self.tree.tightest];
        let beta = self.beta();
        let equation = Equation {
            r0: motion.r,
            along: dot(&motion.x, &motion.v),
            beta,
            mass: 0.5 * motion.r * (dot(&motion.v, &motion.v) + beta),
            dt: t - self.now.t[0] + self.now.t[1],
        };
        equation.solve().0
    }

    /// Moves the stars from now to the time `t`, about `guess` in s from now.
    fn land(&mut self, t: f64, guess: f64) {
        self.go(guess, COMPOSED);
        for _ in 0..LANDINGS {
            let rest = t - self.now.t[0] + self.now.t[1];
            if rest.abs() <= 2.0 * f64::EPSILON * t {
                break;
            }
            // The rest is so small that a leapfrog is as good.
            let ds = self.guess(t);
            self.go(ds, (&[[0.5, 1.0]], 0.5));
        }
    }

    /// Moves by parts of the length `h` in s, forwards or backwards.
    fn go(&mut self, h: f64, moves: Moves) {
        // Loops over a known number of nodes are unrolled.
        match (self.tree.nodes.len(), self.tree.tightest) {
            (2, 0) => self.go_of(2, 0, h, moves),
            (n, tightest) => self.go_of(n, tightest, h, moves),
        }
    }

    #[inline(always)]
    fn go_of(&mut self, n: usize, tightest: usize, h: f64, (pairs, last): Moves) {
        let State { t, energy, motions } = &mut self.now;
        let motions = &mut motions[..n];
        let nodes = &self.tree.nodes[..n];
        let scale = 2.0 / nodes[tightest].reduced;
        let drift = |t: &mut [f64; 2], energy: f64, motions: &mut [Motion], ds: f64| {
            let others = energy_of_others(nodes, motions, tightest);
            let beta = (others - energy) * scale;
            let dt = motions[tightest].drift_by(beta, ds);
            let [time, lost] = t;
            add(time, lost, dt);
            for k in (0..n).filter(|k| *k != tightest) {
                motions[k].drift(nodes[k].mass, dt);
            }
        };
        for [by, kick] in pairs {
            drift(t, *energy, motions, h * by);
            let ds = h * kick;
            match n {
                2 => kick_triple(nodes, &self.tree.masses, motions, ds),
                _ => self.room.kick(&self.tree, motions, ds),
            };
            for (on, tide) in &self.tides {
                let tensor = tide.at(t[0]);
                *energy += kick_in_tide(&tensor, on, nodes, motions, tightest, ds).1;
            }
        }
        if last != 0.0 {
            drift(t, *energy, motions, h * last);
        }
    }

    /// 2 M / r - v^2 of the tightest orbit in a drift: what the others leave of the energy.
    fn beta(&self) -> f64 {
        let Tree {
            nodes, tightest, ..
        } = &self.tree;
        let others = energy_of_others(nodes, &self.now.motions, *tightest);
        2.0 * (others - self.now.energy) / nodes[*tightest].reduced
    }
}

/// Kicks the nodes `on` by a linear tide, and the tightest one by its energy. Returns this energy, and by how much the whole energy
/// changes meanwhile.
fn kick_in_tide(
    tensor: &Tensor,
    on: &[usize],
    nodes: &[Node],
    motions: &mut [Motion],
    tightest: usize,
    ds: f64,
) -> (f64, f64) {
    let Motion { x, r, inverse, .. } = motions[tightest];
    let pace = ds * r;
    let (mut energy, mut rate) = (0.0, 0.0);
    for &k in on {
        let (motion, half) = (&mut motions[k], -0.5 * nodes[k].reduced);
        let acc = product(&tensor.tide, &motion.x);
        energy += half * dot(&motion.x, &acc);
        rate += half * dot(&motion.x, &product(&tensor.rate, &motion.x));
        motion.kick(&acc.map(|c| pace * c));
    }
    let part = -ds * energy * inverse / nodes[tightest].reduced;
    motions[tightest].kick(&x.map(|c| part * c));
    (energy, pace * rate)
}

/// Energy of all nodes but the tightest.
#[inline(always)]
fn energy_of_others(nodes: &[Node], motions: &[Motion], tightest: usize) -> f64 {
    let mut sum = 0.0;
    for k in (0..nodes.len()).filter(|k| *k != tightest) {
        sum += nodes[k].reduced * motions[k].energy(nodes[k].mass);
    }
    sum
}

/// Kicks the nodes of two stars and a third one, as [`Room::kick`] does.
#[inline(always)]
fn kick_triple(nodes: &[Node], masses: &[f64], motions: &mut [Motion], ds: f64) -> f64 {
    let [inner, outer] = [motions[0], motions[1]];
    let parts = [masses[1] / nodes[0].mass, -masses[0] / nodes[0].mass];
    let along = 2.0 * dot(&outer.x, &inner.x);
    let inverse2 = outer.inverse * outer.inverse;
    let inverse3 = inverse2 * outer.inverse;
    // The third star is at outer.x + part inner.x from a star of the inner orbit.
    let [first, second] = parts.map(|part| {
        let q = part * (along + part * inner.r * inner.r) * inverse2;
        Excess::of(q)
    });
    let energy =
        masses[2] * outer.inverse * (masses[0] * first.potential + masses[1] * second.potential);
    let pace = ds * inner.r;
    // Of the outer orbit.
    let of_x = masses[0] * first.of_x + masses[1] * second.of_x;
    let of_d = masses[0] * parts[0] * first.of_d + masses[1] * parts[1] * second.of_d;
    let scale = pace * inverse3 * masses[2] / nodes[1].reduced;
    let mut dv = outer.x.map(|c| scale * of_x * c);
    add_scaled(&mut dv, -scale * of_d, &inner.x);
    motions[1].kick(&dv);
    // Of the inner orbit.
    let scale = pace * inverse3 * masses[2];
    let of_d = parts[1] * second.of_d - parts[0] * first.of_d;
    let of_r = -ds * energy * inner.inverse / nodes[0].reduced;
    let mut dv = outer.x.map(|c| scale * (first.of_x - second.of_x) * c);
    add_scaled(&mut dv, scale * of_d + of_r, &inner.x);
    motions[0].kick(&dv);
    energy
}

/// What the attraction at x + d has more than that at x, where (x + d)^2 = (1 + q) x^2, with the digits of q.
struct Excess {
    /// r (1 / r - 1 / |x + d|).
    potential: f64,
    /// r^3 (x / r^3 - (x + d) / |x + d|^3) is this times x ...
    of_x: f64,
    /// ... less this times d.
    of_d: f64,
}

impl Excess {
    #[inline(always)]
    fn of(q: f64) -> Self {
        let square = 1.0 + q;
        let s = square.sqrt();
        let common = 1.0 / (s * (1.0 + s) * square);
        Self {
            potential: q * square * common,
            of_x: q * (1.0 + s + square) * common,
            of_d: (1.0 + s) * common,
        }
    }
}

impl Room {
    /// Kicks the nodes of a tree by the rest of the energy, which is returned.
    fn kick(&mut self, tree: &Tree, motions: &mut [Motion], ds: f64) -> f64 {
        let Tree {
            masses,
            nodes,
            tightest,
            ..
        } = tree;
        self.places.fill([0.0; 3]);
        self.forces.fill([0.0; 3]);
        let mut energy = 0.0;
        for (node, motion) in nodes.iter().zip(&*motions) {
            energy += self.disturb(node, motion, masses);
            for (stars, part) in node.parts() {
                for place in &mut self.places[stars] {
                    add_scaled(place, part, &motion.x);
                }
            }
        }
        let pace = ds * motions[*tightest].r;
        for (node, motion) in nodes.iter().zip(&mut *motions) {
            let mut dv = [0.0; 3];
            for (stars, mass) in [
                (node.begin..node.middle, -node.masses[0]),
                (node.middle..node.end, node.masses[1]),
            ] {
                for force in &self.forces[stars] {
                    add_scaled(&mut dv, pace / mass, force);
                }
            }
            motion.kick(&dv);
        }
        let Motion { x, inverse, .. } = motions[*tightest];
        let part = -ds * energy * inverse / nodes[*tightest].reduced;
        motions[*tightest].kick(&x.map(|c| part * c));
        energy
    }

    /// Adds the forces between stars of the two parts of a node, less those of the parts at their centres, and returns the energy of
    /// these. Places are those of the stars from the centre of their part.
    fn disturb(&mut self, node: &Node, motion: &Motion, masses: &[f64]) -> f64 {
        let Motion { x, inverse, .. } = motion;
        let inverse2 = inverse * inverse;
        let mut energy = 0.0;
        for i in node.begin..node.middle {
            for j in node.middle..node.end {
                let d = sub(&self.places[j], &self.places[i]);
                let mut both = d;
                add_scaled(&mut both, 2.0, x);
                let excess = Excess::of(dot(&both, &d) * inverse2);
                let pair = masses[i] * masses[j] * inverse;
                energy += pair * excess.potential;
                let pair = pair * inverse2;
                for c in 0..3 {
                    let force = pair * (excess.of_x * x[c] - excess.of_d * d[c]);
                    self.forces[i][c] -= force;
                    self.forces[j][c] += force;
                }
            }
        }
        energy
    }
}

#[cfg(test)]
#[path = "nested_tests.rs"]
pub(super) mod tests;
