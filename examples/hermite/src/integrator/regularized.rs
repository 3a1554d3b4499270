//! Regularized systems: which stars are one particle of the cluster.
//!
//! In the list of particles the centre of mass of a system has the place of its first star. The places of the other stars
//! have ghosts, which are particles without mass. The library has all others first, in their order, and sums forces over these
//! alone; ghosts are behind them. The order of the sums, and with it every bit, follows from the present state alone.

use std::collections::BTreeMap;

use kirin_kit::Body;
use kirin_kit::few_body::pair::{Limits, Pull};
use kirin_kit::few_body::subsystem::{Subsystem, Surroundings};
use kirin_kit::snapshot::State;
use kirin_kit::snapshot::line::words;
use kirin_kit::vector::{norm, sub};
use kirin_report::text::grouped;

use super::Integrator;
use super::forces::time_scale;
use super::reaches::Reaches;
use crate::error::Error;
use crate::settings::Settings;
use crate::sources::Sources;
use crate::step;

/// A system, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The system.
    pub system: Subsystem,
    /// Addresses of all stars but the first.
    pub others: Vec<usize>,
    /// [`Subsystem::size`].
    pub size: f64,
    /// [`Subsystem::is_crowded`].
    pub is_crowded: bool,
    /// [`Subsystem::surroundings`].
    pub surroundings: Surroundings,
}

kirin_kit::record! {
    /// What a run records of its systems.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Systems {
        /// Number of systems of two stars.
        pairs: usize = Plain ["pairs"],
        /// Energy within all systems.
        energy: f64 = Plain ["pair_energy"],
        /// Number of systems of more than two stars.
        multiples: usize = Plain ["multiples"],
    }
}

/// The systems of an integration.
#[derive(Clone, Debug, Default)]
pub struct Regularized {
    /// What makes a pair; `None` where there are none.
    pub limits: Option<Limits>,
    /// Systems by the addresses of their centres.
    pub at: BTreeMap<usize, Held>,
    /// The address of the centre, for each star of a system.
    pub of: Vec<Option<usize>>,
    /// Systems that were formed so far.
    pub formed: u64,
    /// Steps of systems so far.
    pub steps: u64,
    /// Seconds of the blocks of which every particle was a system.
    pub seconds: f64,
    /// The systems at the time for which the bodies were asked last.
    pub seen: Vec<Subsystem>,
    pub(super) addresses: Addresses,
    /// How far the systems are felt.
    pub(super) reaches: Reaches,
    /// The greatest mass of a star.
    pub(super) heaviest: f64,
    /// The greatest mass of a system so far.
    pub(super) heaviest_system: f64,
    /// The cluster's scale (`scale.rs`) at the start of the run.
    pub scale: f64,
}

impl Regularized {
    /// None yet, among `bodies` in standard units, that may become pairs at `factor` times the mean mass; 0 for none at
    /// all.
    pub fn among(bodies: &[Body], factor: f64) -> Self {
        let n = bodies.len();
        let mean = bodies.iter().map(|b| b.mass).sum::<f64>() / n.max(1) as f64;
        let addresses = bodies.iter().enumerate().map(|(i, b)| (b.index, i));
        Self {
            limits: (factor > 0.0).then_some(Limits {
                radius: factor * mean,
                mean,
            }),
            of: vec![None; n],
            addresses: Addresses::of(addresses.collect()),
            heaviest: bodies.iter().map(|b| b.mass).fold(0.0, f64::max),
            scale: 1.0,
            ..Self::default()
        }
    }

    /// Takes over the scale (`scale.rs`) of the cluster at the start of the run.
    pub(super) fn set_scale(&mut self, scale: f64) {
        if let Some(limits) = &mut self.limits {
            limits.radius *= scale / self.scale;
            self.scale = scale;
        }
    }

    /// Whether address `i` holds a particle without mass: a star of a system other than its first.
    pub fn is_ghost(&self, i: usize) -> bool {
        self.of[i].is_some_and(|first| first != i)
    }

    /// Whether particle `i` is the centre of a system whose tide limits its steps.
    pub fn is_followed(&self, i: usize) -> bool {
        self.of[i] == Some(i) && self.at[&i].system.is_followed()
    }

    /// Addresses of the stars and systems with these labels, other than `own`.
    pub fn near(&self, own: i32, labels: &[i32]) -> Vec<usize> {
        let others = labels.iter().filter(|label| **label != own);
        let found = others.filter_map(|label| self.addresses.get(*label));
        found.filter(|&i| !self.is_ghost(i)).collect()
    }

    /// The systems by the addresses of their centres.
    pub fn systems(&self) -> BTreeMap<usize, Subsystem> {
        let system = |(first, held): (&usize, &Held)| (*first, held.system.clone());
        self.at.iter().map(system).collect()
    }

    /// Puts the stars of `systems` into `bodies`, which have their centres.
    pub fn place_stars(&self, bodies: &mut [Body], systems: &BTreeMap<usize, Subsystem>) {
        for (first, system) in systems {
            let stars = system.stars(&bodies[*first]);
            let addresses = [&[*first], &self.at[first].others[..]].concat();
            for (i, star) in addresses.into_iter().zip(stars) {
                bodies[i] = star;
            }
        }
    }

    /// What a run records of the systems, at the time for which the bodies were asked last.
    pub fn record(&self) -> Systems {
        let is_pair = |system: &&Subsystem| matches!(system, Subsystem::Pair(_));
        let pairs = self.seen.iter().filter(is_pair).count();
        Systems {
            pairs,
            energy: self.energy(),
            multiples: self.seen.len() - pairs,
        }
    }

    /// Figures for people, of a run whose steps took so many `seconds`; none where there are no systems.
    pub fn rows(&self, seconds: f64) -> Vec<(&'static str, String)> {
        if self.limits.is_none() {
            return Vec::new();
        }
        let (formed, steps) = (grouped(self.formed), grouped(self.steps));
        let Systems {
            pairs,
            energy,
            multiples,
        } = self.record();
        let own = self.seconds;
        let share = if seconds > 0.0 {
            100.0 * own / seconds
        } else {
            0.0
        };
        vec![
            (
                "regularized pairs",
                format!(
                    "{pairs} and {multiples} larger systems, energy {energy:.3e}, {formed} formed"
                ),
            ),
            (
                "steps of systems",
                format!("{steps}, {own:.3} s in blocks of systems alone ({share:.0} %)"),
            ),
        ]
    }

    /// Kinetic and potential energy within the systems, at the time for which the bodies were asked last.
    pub fn within(&self) -> [f64; 2] {
        let potential = self.seen.iter().map(Subsystem::potential).sum::<f64>();
        [self.energy() - potential, potential]
    }

    /// Addresses of the stars of each system, at the time for which the bodies were asked last.
    pub fn members(&self) -> Vec<Vec<usize>> {
        let address = |label: &i32| self.addresses.of_star(*label);
        let members = |system: &Subsystem| system.labels().iter().map(address).collect();
        self.seen.iter().map(members).collect()
    }

    /// The potential energy of the pairs within systems, less what it is by the positions of these `bodies`.
    pub fn lost_digits(&self, bodies: &[Body]) -> f64 {
        let mut lost = 0.0;
        for system in &self.seen {
            let star = |k: usize| &bodies[self.addresses.of_star(system.labels()[k])];
            for (i, j, energy) in system.pairs() {
                let (a, b) = (star(i), star(j));
                let distance = norm(&sub(&b.x, &a.x));
                // Stars at one place add nothing to the sum over all pairs.
                let summed = match distance > 0.0 {
                    true => -a.mass * b.mass / distance,
                    false => 0.0,
                };
                lost += energy - summed;
            }
        }
        lost
    }

    /// Energy within the systems, at the time for which the bodies were asked last.
    pub fn energy(&self) -> f64 {
        let energies = self.seen.iter().map(Subsystem::energy);
        energies.fold(0.0, |a, b| a + b)
    }

    /// The lines `hermite.binary` and `hermite.orbit` of a snapshot of bodies, one for each bound orbit: labels,
    /// semi-major axis, eccentricity and energy. `hermite.orbit`, for an orbit of more than two stars, begins with the
    /// number of labels.
    pub fn notes(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        for (labels, orbit, energy) in self.seen.iter().flat_map(Subsystem::orbits) {
            let numbers = (orbit.axis, orbit.eccentricity, energy);
            let (key, line) = match labels.len() {
                2 => ("hermite.binary", words(&(labels, numbers))),
                count => ("hermite.orbit", words(&(count, labels, numbers))),
            };
            lines.push((key.to_owned(), line));
        }
        lines
    }
}

/// The system, as it goes on after a step to `state`, whose next step becomes as short as the system needs it.
pub(super) fn planned(mut system: Subsystem, state: &mut State, eta: f64) -> Subsystem {
    system.plan(time_scale(&state.acc, &state.jerk), state.dt, eta);
    let longest = system.longest_step(eta);
    if longest < state.dt {
        state.dt = step::power_of_two_below(longest.max(f64::MIN_POSITIVE));
    }
    system
}

impl<S: Sources> Integrator<S> {
    /// The system whose centre is particle `i`, if it is one, at `t`, where it was found to feel these `pulls`.
    pub(super) fn system_at(
        &self,
        i: usize,
        t: f64,
        pulls: &[Pull],
    ) -> Result<Option<Subsystem>, Error> {
        let Some(held) = self.regularized.at.get(&i) else {
            return Ok(None);
        };
        let mut system = held.system.clone();
        system.advance(t - self.states[i].t, pulls)?;
        Ok(Some(system))
    }

    /// The stars and their states: those of a system are at the time of its centre, and have its state.
    pub fn stars(&self) -> (Vec<Body>, Vec<State>) {
        let (mut bodies, mut states) = (self.bodies.clone(), self.states.clone());
        self.regularized
            .place_stars(&mut bodies, &self.regularized.systems());
        for (first, held) in &self.regularized.at {
            for &other in &held.others {
                states[other] = states[*first];
            }
        }
        (bodies, states)
    }

    /// Restores the systems of a continued run. Each comes with its centre, as [`checkpoint`](crate::checkpoint) reads
    /// it; the masses, which a checkpoint does not have for systems, are taken from the bodies. `past` has three
    /// numbers of the run so far: the systems that were formed, the steps of systems, and the seconds of the blocks
    /// that had no particles but systems. `scale` is that of the cluster at the start of the run.
    ///
    /// # Errors
    ///
    /// They are not among the bodies; in words.
    pub fn resume_systems(
        &mut self,
        systems: Vec<(Body, Subsystem)>,
        past: (u64, u64, f64),
        scale: f64,
    ) -> Result<(), Error> {
        self.regularized.set_scale(scale);
        for (centre, system) in systems {
            let address = |label: &i32| self.regularized.addresses.get(*label);
            let found: Option<Vec<usize>> = system.labels().iter().map(address).collect();
            let is_free = |i: &usize| self.regularized.of[*i].is_none();
            let addresses = match found {
                Some(found) if found.is_sorted_by(|a, b| a < b) && found.iter().all(is_free) => {
                    found
                }
                _ => {
                    let labels = system.labels();
                    return Err(Error::Refused(format!(
                        "the stars {labels:?} of a system are not in the snapshot, or in another system, too"
                    )));
                }
            };
            let masses: Vec<f64> = addresses.iter().map(|&i| self.bodies[i].mass).collect();
            for &i in &addresses[1..] {
                self.schedule.remove(i, self.states[i].dt);
            }
            let first = addresses[0];
            self.bodies[first] = Body {
                mass: masses.iter().sum(),
                ..centre
            };
            let system = match system {
                Subsystem::Pair(mut pair) => {
                    pair.masses = [masses[0], masses[1]];
                    // Only a bound orbit has a mean.
                    pair.is_perturbed |= !pair.orbit().is_bound();
                    pair.linear = pair.linear.filter(|_| pair.orbit().is_bound());
                    Subsystem::Pair(pair)
                }
                Subsystem::Multiple(multiple) => Subsystem::Multiple(multiple.with_masses(masses)),
            };
            self.hold(first, system);
            self.place_ghosts(first);
            self.send(first);
        }
        self.readdress();
        let all = &mut self.regularized;
        (all.formed, all.steps, all.seconds) = past;
        Ok(())
    }

    /// Notes the `system` whose centre is at the address `first`.
    pub(super) fn hold(&mut self, first: usize, system: Subsystem) {
        let all = &mut self.regularized;
        all.steps += 1;
        all.heaviest_system = all.heaviest_system.max(self.bodies[first].mass);
        let size = system.size();
        let (is_crowded, surroundings) = (system.is_crowded(), system.surroundings(size));
        let others = match all.at.remove(&first) {
            Some(held) if held.system.labels() == system.labels() => held.others,
            _ => {
                let others = system.labels()[1..].iter();
                let others: Vec<usize> = others.map(|&l| all.addresses.of_star(l)).collect();
                all.of[first] = Some(first);
                for &other in &others {
                    all.of[other] = Some(first);
                }
                others
            }
        };
        let held = Held {
            system,
            others,
            size,
            is_crowded,
            surroundings,
        };
        all.reaches.hold(first, surroundings.reach());
        all.at.insert(first, held);
    }

    /// Moves ghosts behind the other particles in the library.
    pub(super) fn readdress(&mut self) {
        let (ghosts, others): (Vec<usize>, Vec<usize>) =
            (0..self.bodies.len()).partition(|&i| self.regularized.is_ghost(i));
        self.nj = others.len();
        for (address, i) in others.into_iter().chain(ghosts).enumerate() {
            if self.in_library[i] != address {
                self.in_library[i] = address;
                self.send(i);
            }
        }
    }

    /// Puts particles without mass to the addresses of the other stars of the system at `first`, if it is one.
    pub(super) fn place_ghosts(&mut self, first: usize) {
        let Some(held) = self.regularized.at.get(&first) else {
            return;
        };
        for i in held.others.clone() {
            (self.bodies[i], self.states[i]) = ghost(self.bodies[i].index, &self.settings);
            self.send(i);
        }
    }
}

/// The addresses of the stars by their labels.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses {
    /// Labels and addresses, in ascending order of the labels.
    all: Vec<(i32, usize)>,
    /// Where the labels are those from the first one on without gaps, they are found without a search.
    is_dense: bool,
}

impl Addresses {
    fn of(mut all: Vec<(i32, usize)>) -> Self {
        all.sort_unstable();
        let is_dense = all
            .windows(2)
            .all(|two| two[0].0.checked_add(1) == Some(two[1].0));
        Self { all, is_dense }
    }

    /// The address of the star with this label; `None` if there is none.
    fn get(&self, label: i32) -> Option<usize> {
        let place = match self.is_dense {
            true => usize::try_from(i64::from(label) - i64::from(self.all.first()?.0)).ok()?,
            false => self
                .all
                .binary_search_by_key(&label, |entry| entry.0)
                .ok()?,
        };
        self.all.get(place).map(|entry| entry.1)
    }

    /// The same of a label that is known to be that of a star.
    fn of_star(&self, label: i32) -> usize {
        self.get(label).expect("members are stars of the cluster")
    }
}

/// A particle without mass that rests at the origin.
fn ghost(index: i32, settings: &Settings) -> (Body, State) {
    let ghost = Body {
        index,
        ..Body::default()
    };
    let state = State {
        dt: settings.dt_max,
        ..State::default()
    };
    (ghost, state)
}
