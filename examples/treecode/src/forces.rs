//! The forces on all particles. This module builds the tree, the groups and their interaction lists. A library or this
//! program sums the lists.

use std::time::{Duration, Instant};

use kirin::client::Grape;
use kirin_kit::communicator::threads::Threads;
use kirin_kit::communicator::{Communicator, Operation};
use kirin_kit::snapshot::line::seconds;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::division::Part;
use crate::error::Error;
use crate::host::Host;
use crate::library::Library;
use crate::particle::{self, Particle};
use crate::ranks::Ranks;
use crate::settings::Settings;
use crate::tree::Tree;
use crate::walk::{self, Group, List};

/// Wall time by what it was spent on. The tasks of several threads at once share the time among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Sorting, building the tree, grouping.
    #[serde(with = "seconds")]
    pub tree: Duration,
    /// Finding the interaction lists.
    #[serde(with = "seconds")]
    pub walk: Duration,
    /// Loading the lists into the library.
    #[serde(with = "seconds")]
    pub transfer: Duration,
    /// Summing the pairs.
    #[serde(with = "seconds")]
    pub force: Duration,
    /// On several ranks: the exchange of particles and cells, and the wait for others.
    #[serde(skip)]
    pub exchange: Duration,
}

impl Times {
    /// Each part with its name; the exchange only where there was one.
    pub fn parts(&self) -> Vec<(&'static str, f64)> {
        let mut parts = vec![
            ("tree", self.tree),
            ("walk", self.walk),
            ("transfer", self.transfer),
            ("force", self.force),
        ];
        if self.exchange > Duration::ZERO {
            parts.push(("exchange", self.exchange));
        }
        let seconds = |(name, time): (_, Duration)| (name, time.as_secs_f64());
        parts.into_iter().map(seconds).collect()
    }
}

/// How much has been done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Forces on everybody.
    pub evaluations: u64,
    /// Groups, each with a list.
    pub groups: u64,
    /// Entries of all lists.
    pub entries: u64,
    /// Pairs of a particle and an entry of its group's list.
    pub pairs: u64,
    /// Wall time.
    #[serde(skip)]
    pub times: Times,
}

impl Counts {
    /// Counts the `list` of a `group`, and returns its length.
    pub fn count(&mut self, group: &Group, list: &List) -> u32 {
        let entries = list.points.len() as u64;
        self.entries += entries;
        self.pairs += entries * u64::from(group.count);
        entries as u32
    }

    /// Adds the entries, the pairs and the times of summing of `other`.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.pairs += other.pairs;
        self.times.walk += other.times.walk;
        self.times.transfer += other.times.transfer;
        self.times.force += other.times.force;
    }

    /// The same, if all threads together took the time `wall`, of which each part has its share.
    pub fn lasting(mut self, wall: Duration) -> Self {
        let Times {
            walk,
            transfer,
            force,
            ..
        } = self.times;
        let all = (walk + transfer + force).as_secs_f64();
        let share = |part: Duration| match all > 0.0 {
            true => wall.mul_f64(part.as_secs_f64() / all),
            false => Duration::ZERO,
        };
        self.times.walk = share(walk);
        self.times.transfer = share(transfer);
        self.times.force = share(force);
        self
    }

    /// What one of several ranks has of the work before: the first one has the counts, everybody has the mean times.
    pub fn of_rank(&self, is_first: bool) -> Self {
        match is_first {
            true => *self,
            false => Self {
                evaluations: self.evaluations,
                times: self.times,
                ..Self::default()
            },
        }
    }

    /// The work of all ranks, this one's being `self`; times are means.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn of_all<C: Communicator>(&self, world: &C) -> Result<Self, Error> {
        let ranks = world.size();
        if ranks == 1 {
            return Ok(*self);
        }
        let times = &self.times;
        let seconds = [
            times.tree,
            times.walk,
            times.transfer,
            times.force,
            times.exchange,
        ];
        let mut sums = [self.groups, self.entries, self.pairs]
            .map(|count| count as f64)
            .to_vec();
        sums.extend(seconds.map(|time| time.as_secs_f64()));
        world.all_reduce(Operation::Sum, &mut sums)?;
        let mean = |k: usize| Duration::from_secs_f64(sums[k] / ranks as f64);
        Ok(Self {
            evaluations: self.evaluations,
            groups: sums[0] as u64,
            entries: sums[1] as u64,
            pairs: sums[2] as u64,
            times: Times {
                tree: mean(3),
                walk: mean(4),
                transfer: mean(5),
                force: mean(6),
                exchange: mean(7),
            },
        })
    }
}

/// What sums the forces.
#[derive(Clone, Copy)]
pub enum Engine<'g> {
    /// A GRAPE-6 library.
    Library(&'g Grape),
    /// This program, in double precision.
    Host,
}

enum Sums<'g> {
    Library(Library<'g>),
    Host(Host),
}

/// Forces on everybody, and the memory that is kept from step to step.
pub struct Forces<'g, C = Threads> {
    ranks: Ranks<C>,
    sums: Sums<'g>,
    tree: Tree,
    groups: Vec<Group>,
    /// Lengths of the groups' lists.
    lists: Vec<u32>,
    stack: Vec<u32>,
    work: Counts,
    /// The work before.
    past: Counts,
}

impl<'g> Forces<'g> {
    /// Forces by `engine` on one rank. `work` are the counts of the run so far. With a library this opens cluster
    /// 0, which is closed when the value is dropped.
    ///
    /// # Errors
    ///
    /// The library refuses.
    pub fn new(engine: Engine<'g>, work: Counts) -> Result<Self, Error> {
        Self::of_ranks(Threads::alone(), engine, work)
    }
}

impl<'g, C: Communicator> Forces<'g, C> {
    /// Forces on the particles of all ranks of `world`. Each rank brings its own `engine`. `work` are the counts of the
    /// run so far on this rank. If the engine is a library, each rank opens clusters
    /// of its own.
    ///
    /// # Errors
    ///
    /// The library refuses; a rank is lost.
    pub fn of_ranks(world: C, engine: Engine<'g>, work: Counts) -> Result<Self, Error> {
        let ranks = Ranks::new(world);
        let sums = match engine {
            Engine::Library(grape) => Library::open(grape, ranks.world.rank()).map(Sums::Library),
            Engine::Host => Ok(Sums::Host(Host::default())),
        };
        let (sums, opened) = match sums {
            Ok(sums) => (Some(sums), Ok(())),
            Err(e) => (None, Err(e)),
        };
        ranks.agree(opened)?;
        Ok(Self {
            sums: sums.expect("no rank was refused"),
            ranks,
            tree: Tree::default(),
            groups: Vec::new(),
            lists: Vec::new(),
            stack: Vec::new(),
            work,
            past: work,
        })
    }

    /// Sorts the `particles` of all ranks in Morton order, gives each rank a part of them, and finds the force on each of them.
    ///
    /// # Errors
    ///
    /// A position or a force is not finite, the library fails, or a rank is lost.
    pub fn find(
        &mut self,
        particles: &mut Vec<Particle>,
        settings: &Settings,
    ) -> Result<(), Error> {
        let began = Instant::now();
        let before = self.ranks.seconds();
        let Some(cube) = self.ranks.cube(particles)? else {
            return self.ranks.agree(Err(particle::not_finite(particles)));
        };
        self.ranks
            .build(&mut self.tree, &cube, particles, settings)?;
        walk::groups(
            &self.tree,
            settings.n_crit,
            &mut self.groups,
            &mut self.stack,
        );
        let exchange = Duration::from_secs_f64(self.ranks.seconds() - before);
        self.work.times.exchange += exchange;
        self.work.times.tree += began.elapsed().saturating_sub(exchange);
        self.work.evaluations += 1;
        self.work.groups += self.groups.len() as u64;
        self.lists.resize(self.groups.len(), 0);

        let summed = self.sum(particles, settings.eps * settings.eps);
        if self.ranks.world.size() == 1 {
            return summed;
        }
        let began = Instant::now();
        self.ranks.agree(summed)?;
        self.ranks.note(&self.groups, &self.lists)?;
        self.work.times.exchange += began.elapsed();
        Ok(())
    }

    /// The forces by this rank's groups.
    fn sum(&mut self, particles: &mut [Particle], eps2: f64) -> Result<(), Error> {
        let all = Part {
            groups: &self.groups,
            lengths: &mut self.lists,
            particles,
        };
        let done = match &mut self.sums {
            Sums::Library(library) => library.find(&self.tree, eps2, all)?,
            Sums::Host(host) => host.find(&self.tree, eps2, all)?,
        };
        self.work.add(&done);
        let bad = |p: &&Particle| !(p.pot.is_finite() && p.acc.iter().all(|c| c.is_finite()));
        match particles.par_iter().with_min_len(4096).find_any(bad) {
            Some(p) => Err(Error::Force { index: p.index }),
            None => Ok(()),
        }
    }

    /// What this rank has done so far.
    pub fn work(&self) -> &Counts {
        &self.work
    }

    /// What this rank has done since it began.
    pub fn work_here(&self) -> Counts {
        let (work, past) = (&self.work, &self.past);
        Counts {
            evaluations: work.evaluations - past.evaluations,
            groups: work.groups - past.groups,
            entries: work.entries - past.entries,
            pairs: work.pairs - past.pairs,
            times: work.times,
        }
    }

    /// The ranks.
    pub fn ranks(&self) -> &Ranks<C> {
        &self.ranks
    }

    /// Name of what sums, and its precision.
    pub fn description(&self) -> (String, String) {
        match &self.sums {
            Sums::Library(library) => library.description(),
            Sums::Host(host) => (host.description(), "double".to_owned()),
        }
    }
}
