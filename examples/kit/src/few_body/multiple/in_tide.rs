//! Parts of a system in a linear tide: binaries and hierarchies whose orbits no step needs to follow.
//!
//! The tide of distant stars on a part is linear in the place. It is known at both ends of a step from the forces at four places
//! about the centre of the part, and in between it is a cubic in time. Within the step it acts along all orbits of the part
//! (`nested.rs`), as on a [`pair`]. So steps follow the change of the tide and the motion of the part as a
//! whole, and not the orbits within it.

use super::super::chain::Chain;
use super::super::hierarchy::{self, Kind, Node};
use super::super::kepler::drift;
use super::super::linear::Course;
use super::super::nested::is_nested;
use super::super::pair::{self, Pair, Pull};
use super::super::secular::{Ellipse, Tensor};
use super::super::{Error, Perturbation};
use super::{Multiple, Place, is_faint, kick, mean, predict_kick};
use crate::vector::{Vec3, add_scaled, dot, sub};

/// Limits of a linear tide on a part, in parts of those on a [`pair`]: the orbits around it multiply what the linear part leaves out.
const STRICTER: f64 = 0.1;

/// The places of the forces follow from two parts that move as points if their mean square radii together are below this part of the
/// square of their distance.
const POINT: f64 = 1e-4;

/// Most places at which the forces on a system are wanted at once.
pub const MOST_PLACES: usize = 16;

/// A part of a system, and the linear tide on it.
#[derive(Clone, Debug, PartialEq)]
pub struct InTide {
    /// Its stars, as places in the list of members, in ascending order.
    pub stars: Vec<usize>,
    /// The tide at present.
    pub tensor: Tensor,
}

/// A linear tide over a step.
#[derive(Clone, Debug)]
pub(in crate::few_body) struct Tide {
    /// The stars that it acts on, and their masses.
    pub(in crate::few_body) stars: Vec<usize>,
    masses: Vec<f64>,
    course: Course,
}

/// Linear tides over a step, on parts that have no star in common.
#[derive(Clone, Debug, Default)]
pub(in crate::few_body) struct Tides(pub(in crate::few_body) Vec<Tide>);

/// A part for which the forces at four places are wanted.
#[derive(Clone, Debug)]
pub(super) struct Site {
    stars: Vec<usize>,
    ellipse: Ellipse,
    /// Whether the tide on it is linear in this step. Otherwise it may be from the next one on.
    is_linear: bool,
}

impl Tide {
    /// The tide `t` after the beginning of the step.
    pub(in crate::few_body) fn at(&self, t: f64) -> Tensor {
        self.course.at(t)
    }
}

impl Perturbation for Tides {
    fn accelerations(&mut self, t: f64, x: &[Vec3], acc: &mut [Vec3]) {
        for tide in &self.0 {
            let tensor = tide.at(t);
            let places: Vec<Place> = tide.stars.iter().map(|&k| (x[k], [0.0; 3])).collect();
            let (centre, _) = mean(&tide.masses, &places);
            for (&k, (x, _)) in tide.stars.iter().zip(&places) {
                let (pull, _) = tensor.pull(&sub(x, &centre), &[0.0; 3]);
                add_scaled(&mut acc[k], 1.0, &pull);
            }
        }
    }
}

impl Multiple {
    /// The parts in a linear tide.
    pub fn linear(&self) -> &[InTide] {
        &self.linear
    }

    /// Puts one more part into a linear tide; `None`, and nothing changes, if it has no two stars, or one that another part has.
    pub fn add_linear(&mut self, mut part: InTide) -> Option<()> {
        part.stars.sort_unstable();
        let is_member = |star: &usize| *star < self.masses.len();
        let is_free = part
            .stars
            .iter()
            .all(|k| is_member(k) && !self.is_in_tide(*k));
        let are_apart = part.stars.is_sorted_by(|a, b| a < b) && part.stars.len() > 1;
        (is_free && are_apart).then(|| self.linear.push(part))
    }

    /// Leaves the linear tides of those parts only that are bound parts of a hierarchy.
    pub(super) fn check_linear(&mut self) {
        if !self.linear.is_empty() {
            let nodes = self.nodes();
            self.linear.retain(|part| {
                let same = nodes.iter().find(|(stars, _)| *stars == part.stars);
                same.is_some_and(|(_, node)| ellipse(node).is_some())
            });
        }
    }

    /// Binaries and hierarchies among the members with their stars, from the outside in.
    fn nodes(&self) -> Vec<(Vec<usize>, Node)> {
        fn add(node: Node, to: &mut Vec<(Vec<usize>, Node)>) {
            if let Kind::Binary(parts, _) = &node.kind {
                let parts = parts.clone();
                to.push((node.members(), node));
                parts.into_iter().for_each(|part| add(part, to));
            }
        }
        let mut nodes = Vec::new();
        for node in hierarchy::nodes(&self.stars()) {
            add(node, &mut nodes);
        }
        nodes
    }

    /// Whether the members are a hierarchy that moves on Kepler orbits, with at most this part of the most kicks in a revolution. Only its
    /// parts may be in a linear tide.
    pub fn is_nested(&self, part: f64) -> bool {
        self.members.inner.is_empty() && is_nested(&self.masses, &self.members.chain, part)
    }

    /// The parts for which the forces at four places are wanted in this step: those in a linear tide, in their order, and those that
    /// may be from the next step on.
    pub(super) fn find_sites(&self) -> Vec<Site> {
        if self.linear.is_empty() && !self.is_nested(1.0) {
            return Vec::new();
        }
        let nodes = self.nodes();
        let of_part = |part: &InTide| {
            let (stars, node) = nodes.iter().find(|(stars, _)| *stars == part.stars)?;
            Some(Site {
                stars: stars.clone(),
                ellipse: ellipse(node)?,
                is_linear: true,
            })
        };
        let mut sites: Vec<Site> = self.linear.iter().filter_map(of_part).collect();
        let in_parts: usize = sites.iter().map(|site| site.stars.len()).sum();
        let mut places = self.masses.len() - in_parts + 4 * sites.len();
        for (stars, node) in &nodes {
            let is_within = |part: &InTide| stars.iter().all(|star| part.stars.contains(star));
            if places + 4 > MOST_PLACES || self.linear.iter().any(is_within) {
                continue;
            }
            if let Some(pair) = self.pair_of(node)
                && !is_faint(&pair)
                && pair.greatest_perturbation() < STRICTER * pair::LINEAR[0]
                && let Some(ellipse) = ellipse(node)
            {
                places += 4;
                sites.push(Site {
                    stars: stars.clone(),
                    ellipse,
                    is_linear: false,
                });
            }
        }
        sites
    }

    /// The two parts of a node with the tide between them.
    fn pair_of(&self, node: &Node) -> Option<Pair> {
        let Kind::Binary(parts, _) = &node.kind else {
            return None;
        };
        let [first, second] = parts
            .each_ref()
            .map(|part| (part.body(), self.mean_of(&part.members(), &self.tides)));
        let (_, mut pair) = Pair::of(&first.0, &second.0);
        pair.tide = sub(&second.1.0, &first.1.0);
        pair.tide_rate = sub(&second.1.1, &first.1.1);
        Some(pair)
    }

    fn is_in_tide(&self, star: usize) -> bool {
        self.linear.iter().any(|part| part.stars.contains(&star))
    }

    /// Where the forces of all others are wanted `dt` after the beginning of a step of the length `step`, from the centre: at the
    /// stars outside linear tides, and at four places about each part that is in such a tide, or may be from the next step on.
    ///
    /// # Errors
    ///
    /// Two members are at one place.
    pub fn places(&self, dt: f64, step: f64) -> Result<Vec<Place>, Error> {
        let n = self.masses.len();
        let members = match self.simple_places(dt, step) {
            Some(members) => members,
            None => self.predict(dt, step)?,
        };
        let alone = (0..n).filter(|k| !self.is_in_tide(*k));
        let mut places: Vec<Place> = alone.map(|k| members[k]).collect();
        self.use_sites(|sites| {
            for site in sites {
                let (centre, velocity) = self.mean_of(&site.stars, &members);
                for mut x in site.ellipse.places() {
                    add_scaled(&mut x, 1.0, &centre);
                    places.push((x, velocity));
                }
            }
        });
        Ok(places)
    }

    /// Where the members are, each at the centre of its part, if there are one or two parts: parts in linear tides and single stars. Two
    /// parts move as two bodies. `None` if there are more parts, or one of the two is too large for that.
    fn simple_places(&self, dt: f64, step: f64) -> Option<Vec<Place>> {
        let n = self.masses.len();
        if self.linear.iter().any(|part| part.stars.len() == n) {
            return Some(vec![Place::default(); n]);
        }
        let first = &self.linear.first()?.stars;
        let second: Vec<usize> = (0..n).filter(|k| !first.contains(k)).collect();
        let is_one = second.len() == 1 || self.linear.iter().any(|part| part.stars == second);
        if !is_one {
            return None;
        }
        let places = self.members.chain.bodies(&self.masses);
        let both = [first, &second].map(|stars| {
            let centre = self.mean_of(stars, &places);
            let moment = stars.iter().map(|&k| {
                let d = sub(&places[k].0, &centre.0);
                self.masses[k] * dot(&d, &d)
            });
            let mass: f64 = stars.iter().map(|&k| self.masses[k]).sum();
            (mass, centre, moment.sum::<f64>() / mass)
        });
        let [(mass, a, square), (other, b, other_square)] = both;
        let mut chain = Chain {
            order: vec![0, 1],
            x: vec![sub(&b.0, &a.0)],
            v: vec![sub(&b.1, &a.1)],
        };
        let distance2 = dot(&chain.x[0], &chain.x[0]);
        if square + other_square > POINT * distance2 {
            return None;
        }
        let common = self.common(&self.tides);
        let tides = [common[first[0]], common[second[0]]];
        kick(&mut chain, &tides, step, -1.0);
        (chain.x[0], chain.v[0]) = drift(&chain.x[0], &chain.v[0], mass + other, dt);
        predict_kick(&mut chain, &tides, dt, step);
        let ends = chain.bodies(&[mass, other]);
        Some(
            (0..n)
                .map(|k| ends[usize::from(!first.contains(&k))])
                .collect(),
        )
    }

    /// The pull on each star, from those at the [`places`](Self::places), and the tides on the parts. The stars of a part in a linear
    /// tide have its mean pull.
    pub(super) fn read(&self, pulls: &[Pull]) -> (Vec<Pull>, Vec<InTide>) {
        let n = self.masses.len();
        let mut of_star = vec![Pull::default(); n];
        let alone: Vec<usize> = (0..n).filter(|k| !self.is_in_tide(*k)).collect();
        let (own, rest) = pulls.split_at(alone.len());
        alone
            .iter()
            .zip(own)
            .for_each(|(&k, pull)| of_star[k] = *pull);
        let parts = self.use_sites(|sites| {
            let of_site = |(site, pulls): (&Site, &[Pull])| {
                if site.is_linear {
                    let pull = mean(&[1.0; 4], pulls);
                    site.stars.iter().for_each(|&k| of_star[k] = pull);
                }
                InTide {
                    stars: site.stars.clone(),
                    tensor: Tensor::from_pulls(pulls, &site.ellipse),
                }
            };
            sites
                .iter()
                .zip(rest.chunks_exact(4))
                .map(of_site)
                .collect()
        });
        (of_star, parts)
    }

    /// The mean of the forces on the members, from those at the [`places`](Self::places).
    pub fn mean(&self, pulls: &[Pull]) -> Pull {
        mean(&self.masses, &self.read(pulls).0)
    }

    /// The tides on the parts over a step of `dt`, at the end of which they are `ends`.
    pub(super) fn tides_over(&self, dt: f64, ends: &[InTide]) -> Tides {
        let over = |(begin, end): (&InTide, &InTide)| Tide {
            stars: begin.stars.clone(),
            masses: begin.stars.iter().map(|&k| self.masses[k]).collect(),
            course: Course::of([&begin.tensor, &end.tensor], dt),
        };
        Tides(self.linear.iter().zip(ends).map(over).collect())
    }

    /// Decides after a step which parts are in a linear tide from now on. `eta` is the accuracy parameter of the steps.
    pub(super) fn plan_linear(&mut self, eta: f64) {
        let found = std::mem::take(&mut self.found);
        if found.is_empty() && self.linear.is_empty() {
            return;
        }
        let before = std::mem::take(&mut self.linear);
        let nodes = match self.is_nested(1.0) {
            true => self.nodes(),
            false => Vec::new(),
        };
        let mut chosen: Vec<InTide> = Vec::new();
        for (stars, node) in &nodes {
            let is_within = |part: &InTide| stars.iter().all(|star| part.stars.contains(star));
            let same = |part: &&InTide| part.stars == *stars;
            let (part, limit) = match (before.iter().find(same), found.iter().find(same)) {
                (Some(part), _) => (part, 1),
                (None, Some(part)) => (part, 0),
                (None, None) => continue,
            };
            let is_linear = node.orbit().is_some_and(|orbit| {
                let strongest = STRICTER * pair::LINEAR[limit].min(pair::linear_limit(eta));
                pair::is_linear(&part.tensor, orbit, strongest, pair::SOME[limit])
            });
            if is_linear && !chosen.iter().any(is_within) {
                chosen.push(part.clone());
            }
        }
        let places = self.members.chain.bodies(&self.masses);
        for part in before
            .iter()
            .filter(|part| !chosen.iter().any(|c| c.stars == part.stars))
        {
            // Its stars have had the mean tide.
            let centre = self.mean_of(&part.stars, &places);
            for &k in &part.stars {
                let (x, v) = &places[k];
                let (acc, jerk) = part.tensor.pull(&sub(x, &centre.0), &sub(v, &centre.1));
                add_scaled(&mut self.tides[k].0, 1.0, &acc);
                add_scaled(&mut self.tides[k].1, 1.0, &jerk);
            }
        }
        self.linear = chosen;
        self.known = std::rc::Rc::default();
    }

    /// Longest step over which the linear tides are followed.
    pub(super) fn longest_step_in_tides(&self) -> f64 {
        let steps = self
            .linear
            .iter()
            .map(|part| pair::LINEAR_STEP * part.tensor.time_scale());
        steps.fold(f64::INFINITY, f64::min)
    }
}

/// The orbit of the two parts of a node in the mean, if they are bound.
fn ellipse(node: &Node) -> Option<Ellipse> {
    let Kind::Binary(parts, _) = &node.kind else {
        return None;
    };
    let [a, b] = &**parts;
    Ellipse::of(&sub(&b.x, &a.x), &sub(&b.v, &a.v), [a.mass, b.mass])
}

#[cfg(test)]
#[path = "in_tide_tests.rs"]
mod tests;
