//! Three or more stars inside a cluster that move about their centre of mass, perturbed by the tide of all others.
//!
//! The motion between two times is that of a [`System`] alone, with kicks of the tide at both ends: the same rule as for a
//! [`pair`](super::pair), with an error of fifth order and in proportion to the tide. The integrator of the cluster moves
//! the centre of mass and finds the tide at the ends.
//!
//! The motion in a step is integrated once (`flight.rs`). Predictions within the step follow it, too: the kick at
//! the beginning is that of the whole step, and what it lacks or exceeds by then is added as a polynomial in time.
//!
//! The state is the vectors along a chain of neighbours: a binary at a pericentre of 1e-8 inside a system of size 0.1 would
//! lose its energy if its stars were stored about the centre.
//!
//! A tight binary in a wide orbit around other members would make every step of these expensive: it moves in the mean
//! (`inner.rs`).
//! The other members and the stars of the cluster feel the two as one star.
//!
//! Steps follow only those orbits that the tide perturbs. Members that it hardly perturbs feel one common tide, and parts of a
//! hierarchy that it perturbs little a linear one (`in_tide.rs`).

pub mod in_tide;
mod part;

use std::cell::RefCell;
use std::rc::Rc;

use super::chain::Chain;
use super::flight::Flight;
use super::hierarchy;
use super::inner::{Link, Members};
use super::kepler::Orbit;
use super::pair::Pull;
use super::secular;
use super::system::{Error, System};
use crate::body::Body;
use crate::vector::{Vec3, add_scaled, dot, norm, sub};
use in_tide::{InTide, Site};
use part::{Part, dominates, is_dominated, is_faint, pairs};

/// Error of a step of the integration, in parts of the state. A binary with a third star keeps its axis over 1e6 orbits.
const TOLERANCE: f64 = 1e-13;

/// Periods of the closest two members in the longest step.
const PERIODS: f64 = 4.0;

/// The same for a hierarchy that [`Nested`](super::nested::Nested) moves, whose revolutions cost less.
const NESTED_PERIODS: f64 = 128.0;

/// Position and velocity of a member about the centre of mass.
pub type Place = (Vec3, Vec3);

/// Three or more stars about their centre of mass.
#[derive(Clone, Debug)]
pub struct Multiple {
    /// Labels of the stars.
    pub labels: Vec<i32>,
    /// Their masses.
    pub masses: Vec<f64>,
    /// From each star to the next one along the chain, and the binaries that move in the mean.
    members: Members,
    /// Accelerations by all others, less that of the centre, and their time derivatives.
    pub tides: Vec<Pull>,
    /// Parts in a linear tide.
    linear: Vec<InTide>,
    /// The tides at the end of the last step on parts for which [`Multiple::plan`] decides whether they are linear.
    found: Vec<InTide>,
    known: Rc<RefCell<Known>>,
}

/// What follows from the other fields, as far as it is known.
#[derive(Clone, Debug, Default)]
struct Known {
    /// [`Multiple::parts`].
    parts: Option<Vec<Part>>,
    /// [`Multiple::find_sites`].
    sites: Option<Vec<Site>>,
    on_its_way: Option<OnItsWay>,
}

/// The motion in a step, as far as it is known. It follows from the system and the length of the step.
#[derive(Clone, Debug)]
struct OnItsWay {
    step: f64,
    /// The tides at its beginning as they act on the members.
    tides: Vec<Pull>,
    /// Of members without binaries that move in the mean.
    flight: Option<Flight>,
    /// The time and the digits that were asked for last, and the members then.
    last: Option<(f64, Digits, Members)>,
}

/// How exact places are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digits {
    All,
    /// Without what the orbits of a hierarchy do to each other within the step.
    Few,
}

impl PartialEq for Multiple {
    fn eq(&self, other: &Self) -> bool {
        let parts = |m: &Self| {
            (
                m.labels.clone(),
                m.masses.clone(),
                m.members.clone(),
                m.tides.clone(),
                m.linear.clone(),
            )
        };
        parts(self) == parts(other)
    }
}

impl Multiple {
    /// Stars at one time, and their centre: mass, place and velocity with the label of the first.
    pub fn of(stars: &[Body]) -> (Body, Self) {
        let mass: f64 = stars.iter().map(|star| star.mass).sum();
        let mut centre = Body { mass, ..stars[0] };
        for star in &stars[1..] {
            add_scaled(&mut centre.x, star.mass / mass, &sub(&star.x, &stars[0].x));
            add_scaled(&mut centre.v, star.mass / mass, &sub(&star.v, &stars[0].v));
        }
        let about = |star: &Body| (sub(&star.x, &centre.x), sub(&star.v, &centre.v));
        let (x, v): (Vec<Vec3>, Vec<Vec3>) = stars.iter().map(about).unzip();
        let new = Self {
            labels: stars.iter().map(|star| star.index).collect(),
            masses: stars.iter().map(|star| star.mass).collect(),
            members: Members {
                chain: Chain::new(&x, &v),
                inner: Vec::new(),
            },
            tides: vec![Pull::default(); stars.len()],
            linear: Vec::new(),
            found: Vec::new(),
            known: Rc::default(),
        };
        (centre, new)
    }

    /// A system from its saved parts. `order` has the members along the chain, as places in their list. `links` are
    /// position and velocity of each member of the chain relative to the one before. `inner` are the binaries that move in
    /// the mean, as places in the list. `None` if the parts do not fit together, or two neighbours are at one place.
    pub fn from_parts(
        labels: Vec<i32>,
        masses: Vec<f64>,
        order: Vec<usize>,
        links: Vec<Place>,
        inner: Vec<[usize; 2]>,
        tides: Vec<Pull>,
    ) -> Option<Self> {
        let n = labels.len();
        let is_whole = masses.len() == n && tides.len() == n && links.len() + 1 == n;
        let has_each = (0..n).all(|k| order.contains(&k)) && order.len() == n;
        let (x, v): (Vec<Vec3>, Vec<Vec3>) = links.into_iter().unzip();
        let is_apart = x.iter().all(|x| *x != [0.0; 3]);
        let are_neighbours = |both: &[usize; 2]| order.windows(2).any(|two| two == both);
        let all = inner.as_flattened();
        let are_inner = inner.iter().all(are_neighbours)
            && all
                .iter()
                .enumerate()
                .all(|(k, star)| !all[..k].contains(star));
        (n > 2 && is_whole && has_each && is_apart && are_inner).then(|| Self {
            labels,
            masses,
            members: Members {
                chain: Chain { order, x, v },
                inner,
            },
            tides,
            linear: Vec::new(),
            found: Vec::new(),
            known: Rc::default(),
        })
    }

    /// The members along the chain, as places in their list, and position and velocity from each to the next.
    pub fn links(&self) -> (&[usize], impl Iterator<Item = Place>) {
        let Chain { order, x, v } = &self.members.chain;
        (order, x.iter().copied().zip(v.iter().copied()))
    }

    /// The binaries that move in the mean, as places in the list of members. The energies of their stored orbits include
    /// those of their stars in the tide of the other members.
    pub fn inner(&self) -> &[[usize; 2]] {
        &self.members.inner
    }

    /// The members with the orbits that they have at present. No binary moves in the mean.
    pub fn osculating(self) -> Self {
        if self.members.inner.is_empty() {
            return self;
        }
        Self {
            members: self.members.osculating(&self.masses),
            known: Rc::default(),
            ..self
        }
    }

    /// The same with other masses. Parts that are none with these are not in a linear tide any more.
    pub fn with_masses(self, masses: Vec<f64>) -> Self {
        let mut new = Self {
            masses,
            known: Rc::default(),
            ..self
        };
        new.check_linear();
        new
    }

    /// Position and velocity of member `j` from member `i`, with the digits of the chain.
    pub fn relative(&self, i: usize, j: usize) -> Place {
        self.members.chain.relative(i, j)
    }

    /// If the members `i` and `j` are neighbours along the chain, stores position and velocity of `j` from `i` with all
    /// digits. Otherwise nothing changes.
    pub fn set_relative(&mut self, i: usize, j: usize, (new_x, new_v): Place) {
        let Chain { order, x, v } = &mut self.members.chain;
        let is_here = |k: &usize| {
            let both = [order[*k], order[*k + 1]];
            both == [i, j] || both == [j, i]
        };
        if let Some(k) = (0..order.len() - 1).find(is_here) {
            let sign = if order[k] == i { 1.0 } else { -1.0 };
            x[k] = new_x.map(|c| sign * c);
            v[k] = new_v.map(|c| sign * c);
        }
        self.known = Rc::default();
    }

    /// Mass of all members.
    pub fn mass(&self) -> f64 {
        self.masses.iter().sum()
    }

    /// The members as stars about their centre.
    pub fn stars(&self) -> Vec<Body> {
        let star = |(k, (x, v)): (usize, Place)| Body {
            index: self.labels[k],
            mass: self.masses[k],
            x,
            v,
        };
        let places = self.members.chain.bodies(&self.masses);
        places.into_iter().enumerate().map(star).collect()
    }

    /// Energy of the members about their centre, by their stored orbits.
    pub fn energy(&self) -> f64 {
        System::along(self.masses.clone(), self.members.chain.clone()).energy()
    }

    /// Largest distance of two members.
    pub fn size(&self) -> f64 {
        let distances = self.pairs().map(|(i, j)| self.distance(i, j));
        distances.fold(0.0, f64::max)
    }

    fn distance(&self, i: usize, j: usize) -> f64 {
        norm(&self.members.chain.position(i, j))
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let n = self.masses.len();
        (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
    }

    /// Where the members are `dt` after the beginning of a step of the length `step`, about their centre. The stars of binaries
    /// that move in the mean are at the centres of these.
    ///
    /// # Errors
    ///
    /// Two members are at one place.
    pub fn predict(&self, dt: f64, step: f64) -> Result<Vec<Place>, Error> {
        self.predict_with(Digits::All, dt, step)
    }

    /// The same for those around that feel the members. If parts of the system are in a linear tide, those around are far away from these
    /// parts, which are not integrated for their sake.
    ///
    /// # Errors
    ///
    /// Two members are at one place.
    pub fn felt(&self, dt: f64, step: f64) -> Result<Vec<Place>, Error> {
        let digits = match self.linear.is_empty() {
            true => Digits::All,
            false => Digits::Few,
        };
        self.predict_with(digits, dt, step)
    }

    fn predict_with(&self, digits: Digits, dt: f64, step: f64) -> Result<Vec<Place>, Error> {
        let mut members = self.on_its_way(digits, dt, step)?;
        if let Some(way) = &self.known.borrow().on_its_way {
            predict_kick(&mut members.chain, &way.tides, dt, step);
        }
        let mut places = members.chain.bodies(&self.masses);
        for both in members.inner {
            let masses = both.map(|k| self.masses[k]);
            let centre = mean(&masses, &both.map(|k| places[k]));
            both.iter().for_each(|&k| places[k] = centre);
        }
        Ok(places)
    }

    /// Takes the members to the end of a step of `dt`, where the forces at the [`places`](Self::places) were found to be `pulls`.
    ///
    /// # Errors
    ///
    /// Two members are at one place.
    pub fn advance(&mut self, dt: f64, pulls: &[Pull]) -> Result<(), Error> {
        let (pulls, parts) = self.read(pulls);
        let mut members = self.at_the_end(dt, &parts)?;
        let mean = mean(&self.masses, &pulls);
        let tide = |pull: &Pull| (sub(&pull.0, &mean.0), sub(&pull.1, &mean.1));
        let tides: Vec<Pull> = pulls.iter().map(tide).collect();
        kick(&mut members.chain, &self.common(&tides), dt, 1.0);
        self.tides = tides;
        if members.inner.is_empty() {
            members.chain.renew();
        }
        self.members = members;
        self.found = parts;
        self.linear = self.found.drain(..self.linear.len()).collect();
        self.known = Rc::default();
        Ok(())
    }

    /// Where the kick at the beginning of a step of the length `step`, and then their own motion, bring the members after `dt`.
    fn on_its_way(&self, digits: Digits, dt: f64, step: f64) -> Result<Members, Error> {
        if !self.is_planned(step) {
            let tides = self.common(&self.tides);
            self.known.borrow_mut().on_its_way = Some(OnItsWay {
                step,
                tides,
                flight: None,
                last: None,
            });
        }
        let mut known = self.known.borrow_mut();
        let way = known.on_its_way.as_mut().expect("it was made");
        match &way.last {
            Some((t, known, members)) if (*t, *known) == (dt, digits) => Ok(members.clone()),
            _ => {
                let members = self.flown(digits, dt, step, &way.tides, &mut way.flight)?;
                way.last = Some((dt, digits, members.clone()));
                Ok(members)
            }
        }
    }

    /// The same for the end of a step of `dt`, which may be shorter than was planned, with the linear tides, which are `ends` then.
    fn at_the_end(&self, dt: f64, ends: &[InTide]) -> Result<Members, Error> {
        if !self.linear.is_empty() && dt != 0.0 {
            let mut members = self.members.clone();
            kick(&mut members.chain, &self.common(&self.tides), dt, -1.0);
            let (masses, mut tides) = (self.masses.clone(), self.tides_over(dt, ends));
            members.chain = Flight::in_tides(masses, members.chain, TOLERANCE, &mut tides, dt)?;
            return Ok(members);
        }
        match self.is_planned(dt) {
            true => self.on_its_way(Digits::All, dt, dt),
            false => self.flown(Digits::All, dt, dt, &self.common(&self.tides), &mut None),
        }
    }

    /// Whether the motion in a step of this length has been asked for.
    fn is_planned(&self, step: f64) -> bool {
        let known = self.known.borrow();
        known
            .on_its_way
            .as_ref()
            .is_some_and(|way| way.step == step)
    }

    fn flown(
        &self,
        digits: Digits,
        dt: f64,
        step: f64,
        tides: &[Pull],
        flight: &mut Option<Flight>,
    ) -> Result<Members, Error> {
        let begin = || {
            let mut members = self.members.clone();
            kick(&mut members.chain, tides, step, -1.0);
            members
        };
        if !self.members.inner.is_empty() || dt <= 0.0 {
            let mut members = begin();
            members.advance(&self.masses, dt)?;
            return Ok(members);
        }
        let new = || Flight::new(self.masses.clone(), begin().chain, TOLERANCE);
        let flight = flight.get_or_insert_with(new);
        let chain = match digits {
            Digits::All => flight.at(dt)?,
            Digits::Few => flight.unperturbed_at(dt)?,
        };
        Ok(Members {
            chain,
            inner: Vec::new(),
        })
    }

    /// Decides after a step which parts are in a linear tide from now on, and which binaries move in the mean. `eta` is the accuracy
    /// parameter of the steps.
    pub fn plan(&mut self, eta: f64) {
        self.plan_linear(eta);
        if !self.linear.is_empty() {
            return;
        }
        let mut members = self.members.clone();
        members.divide(&self.masses, &self.tides);
        let outside = |i, j| self.perturbation(i, j);
        for both in members.join(&self.masses, &self.tides, outside) {
            let common = mean(&both.map(|k| self.masses[k]), &both.map(|k| self.tides[k]));
            both.iter().for_each(|&k| self.tides[k] = common);
        }
        self.members = members;
        self.known = Rc::default();
    }

    /// The `tides` at an end of a step, with one common tide for the members of each part. The parts are those at the
    /// beginning of the step, for which it was planned: what began without a kick ends without one.
    fn common(&self, tides: &[Pull]) -> Vec<Pull> {
        let mut common = tides.to_vec();
        self.use_parts(|parts| {
            for Part { stars, .. } in parts.iter().filter(|part| part.stars.len() > 1) {
                let tide = self.mean_of(stars, tides);
                stars.iter().for_each(|&k| common[k] = tide);
            }
        });
        common
    }

    /// The mean by mass over these stars of what all members have: places or pulls.
    fn mean_of(&self, stars: &[usize], all: &[(Vec3, Vec3)]) -> (Vec3, Vec3) {
        let own = |&k: &usize| (self.masses[k], all[k]);
        let (masses, own): (Vec<f64>, Vec<_>) = stars.iter().map(own).unzip();
        mean(&masses, &own)
    }

    /// Finds the [`parts`](Self::parts) unless they are known, and passes them to `user`.
    fn use_parts<R>(&self, user: impl FnOnce(&[Part]) -> R) -> R {
        let mut known = self.known.borrow_mut();
        user(known.parts.get_or_insert_with(|| self.parts()))
    }

    /// The same with the [`sites`](Self::find_sites).
    fn use_sites<R>(&self, user: impl FnOnce(&[Site]) -> R) -> R {
        let mut known = self.known.borrow_mut();
        user(known.sites.get_or_insert_with(|| self.find_sites()))
    }

    /// The members, joined to parts which the tide hardly perturbs. The closest are joined first, so a binary is one part
    /// before its orbit about a third star is looked at. Kicks move the parts only, and steps follow the motion of these.
    /// A kick between members whose orbit the steps do not follow would meet it at any phase, and change its energy by
    /// much more than the tide does.
    fn parts(&self) -> Vec<Part> {
        let star = |(k, (x, v)): (usize, Place)| Part {
            stars: vec![k],
            centre: Body {
                index: self.labels[k],
                mass: self.masses[k],
                x,
                v,
            },
            tide: self.tides[k],
        };
        let places = self.members.chain.bodies(&self.masses).into_iter();
        let mut parts: Vec<Part> = places.enumerate().map(star).collect();
        for InTide { stars, .. } in &self.linear {
            let is_of = |part: &Part| part.stars.iter().all(|star| stars.contains(star));
            let (own, others): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(is_of);
            parts = others;
            parts.extend(own.into_iter().reduce(|mut all, part| {
                all.join(part);
                all
            }));
        }
        loop {
            let faint = pairs(&parts).filter(|(_, pair)| is_faint(pair));
            let closest = faint.min_by(|(_, a), (_, b)| norm(&a.x).total_cmp(&norm(&b.x)));
            let Some(([p, q], _)) = closest else {
                return parts;
            };
            let other = parts.remove(q);
            parts[p].join(other);
        }
    }

    /// The tide between two members in parts of their attraction, at the greatest distance on their orbit.
    fn perturbation(&self, i: usize, j: usize) -> f64 {
        let tide = sub(&self.tides[j].0, &self.tides[i].0);
        perturbation(self.relative(i, j), self.masses[i] + self.masses[j], &tide)
    }

    /// The greatest perturbation of two neighbours along the chain that no third member dominates. Binaries that move in the mean
    /// count as one star.
    pub fn greatest_perturbation(&self) -> f64 {
        let links = self.members.links(&self.masses);
        let is_dominated = |link: &Link| {
            let [i, j] = link.stars;
            let distances = |k| [self.distance(k, i), self.distance(k, j)];
            let mut others = (0..self.masses.len()).filter(|k| !link.stars.contains(k));
            others.any(|k| dominates(self.masses[k], distances(k), link.mass, norm(&link.place.0)))
        };
        let links = links.iter().filter(|link| !is_dominated(link));
        let perturbations = links.map(|link| {
            let [from, to] = link.stars.map(|star| self.tides[star].0);
            perturbation(link.place, link.mass, &sub(&to, &from))
        });
        perturbations.fold(0.0, f64::max)
    }

    /// Longest step over which the tide is followed, with the accuracy parameter `eta` of the steps.
    pub fn longest_step(&self, eta: f64) -> f64 {
        self.use_parts(|parts| {
            let own = pairs(parts).filter(|(both, pair)| !is_dominated(parts, *both, pair));
            let steps = own.map(|(_, pair)| pair.longest_step(eta));
            steps.fold(self.longest_step_in_tides(), f64::min)
        })
    }

    /// Longest step for which little is integrated in vain if it ends earlier: a few periods of the tightest two that are
    /// followed along their orbit. Two that only pass each other do not count: their step would be as short as their passage.
    pub fn cheapest_step(&self) -> f64 {
        let links = self.members.links(&self.masses);
        let orbits = links.iter().map(|link| {
            let (x, v) = link.place;
            Orbit::of(&x, &v, link.mass)
        });
        let bound = orbits.filter(Orbit::is_bound);
        let periods = bound.map(|orbit| orbit.period());
        let most = if self.is_nested(1.0) {
            NESTED_PERIODS
        } else {
            PERIODS
        };
        most * periods.fold(f64::INFINITY, f64::min)
    }

    /// The two parts that remain if the longest link of the members' minimum spanning tree is cut, as places in the
    /// list of members.
    pub fn halves(&self) -> [Vec<usize>; 2] {
        let n = self.masses.len();
        let mut part: Vec<usize> = (0..n).collect();
        // The closest two parts become one until two are left.
        for _ in 2..n {
            let open = self.pairs().filter(|&(i, j)| part[i] != part[j]);
            let closest =
                open.min_by(|a, b| self.distance(a.0, a.1).total_cmp(&self.distance(b.0, b.1)));
            if let Some((i, j)) = closest {
                let (keep, gone) = (part[i], part[j]);
                part.iter_mut()
                    .filter(|p| **p == gone)
                    .for_each(|p| *p = keep);
            }
        }
        let of = |is_first: bool| {
            (0..n)
                .filter(|&k| (part[k] == part[0]) == is_first)
                .collect()
        };
        [of(true), of(false)]
    }

    /// The sum of m x x over the members about their centre, in the mean over the revolutions of orbits that are not much wider than
    /// the system is now.
    pub fn moment(&self) -> [Vec3; 3] {
        let (nodes, size) = (hierarchy::nodes(&self.stars()), self.size());
        let mut moment = [[0.0; 3]; 3];
        for node in &nodes {
            secular::add_product(&mut moment, node.mass, &node.x, &node.x);
            node.add_moment(size, &mut moment);
        }
        moment
    }

    /// Bound orbits among the members: those of binaries, and those of stars and binaries around binaries. Each comes
    /// with its members, as places in the list.
    pub fn orbits(&self) -> Vec<(Vec<usize>, Orbit)> {
        let nodes = hierarchy::nodes(&self.stars());
        nodes.iter().flat_map(hierarchy::Node::orbits).collect()
    }
}

/// Kicks the members along a chain at one end of a step: -1 for its beginning, 1 for its end.
fn kick(chain: &mut Chain, tides: &[Pull], dt: f64, end: f64) {
    let (half, twelfth) = (dt / 2.0, end * dt * dt / 12.0);
    for (k, both) in chain.order.windows(2).enumerate() {
        let (from, to) = (&tides[both[0]], &tides[both[1]]);
        let acc = sub(&to.0, &from.0);
        add_scaled(&mut chain.x[k], twelfth, &acc);
        add_scaled(&mut chain.v[k], half, &acc);
        add_scaled(&mut chain.v[k], -twelfth, &sub(&to.1, &from.1));
    }
}

/// What is left of the tide's effect `dt` after the beginning of a step of the length `step`, if the members have got the kick
/// at the beginning of that step: to the order of the tide's rate, all of the effect less the kick. At the end of the step it
/// is the kick there.
fn predict_kick(chain: &mut Chain, tides: &[Pull], dt: f64, step: f64) {
    let second = step * step / 12.0;
    let of_acc = [dt * (dt - step) / 2.0 + second, dt - step / 2.0];
    let of_jerk = [dt * (dt * dt / 6.0 - second), dt * dt / 2.0 - second];
    for (k, both) in chain.order.windows(2).enumerate() {
        let (from, to) = (&tides[both[0]], &tides[both[1]]);
        let (acc, jerk) = (sub(&to.0, &from.0), sub(&to.1, &from.1));
        add_scaled(&mut chain.x[k], of_acc[0], &acc);
        add_scaled(&mut chain.x[k], of_jerk[0], &jerk);
        add_scaled(&mut chain.v[k], of_acc[1], &acc);
        add_scaled(&mut chain.v[k], of_jerk[1], &jerk);
    }
}

/// The `tide` between two bodies in parts of their attraction, at the greatest distance on their orbit.
fn perturbation((x, v): Place, mass: f64, tide: &Vec3) -> f64 {
    let orbit = Orbit::of(&x, &v, mass);
    let further = match orbit.is_bound() {
        true => (orbit.apocentre() / norm(&x)).max(1.0),
        false => 1.0,
    };
    norm(tide) * dot(&x, &x) / mass * further.powi(3)
}

/// The mean of `pulls` by mass.
pub fn mean(masses: &[f64], pulls: &[Pull]) -> Pull {
    let whole: f64 = masses.iter().sum();
    let mut mean = pulls[0];
    for (mass, pull) in masses.iter().zip(pulls).skip(1) {
        add_scaled(&mut mean.0, mass / whole, &sub(&pull.0, &pulls[0].0));
        add_scaled(&mut mean.1, mass / whole, &sub(&pull.1, &pulls[0].1));
    }
    mean
}

#[cfg(test)]
#[path = "multiple_tests.rs"]
pub(super) mod tests;
