//! The forces on all particles: builds a tree, groups and their lists, which a library or this program sums.

use std::time::{Duration, Instant};

use kirin::client::Grape;
use rayon::prelude::*;

use crate::error::Error;
use crate::host::Host;
use crate::library::Library;
use crate::particle::Particle;
use crate::settings::Settings;
use crate::tree::Tree;
use crate::walk::{self, Group};

/// Wall time by what it was spent on. The tasks of several threads at once share the time among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Sorting, building the tree, grouping.
    pub tree: Duration,
    /// Finding the interaction lists.
    pub walk: Duration,
    /// Loading the lists into the library.
    pub transfer: Duration,
    /// Summing the pairs.
    pub force: Duration,
}

impl Times {
    /// Each part with its name.
    pub fn parts(&self) -> [(&'static str, f64); 4] {
        [
            ("tree", self.tree),
            ("walk", self.walk),
            ("transfer", self.transfer),
            ("force", self.force),
        ]
        .map(|(name, time)| (name, time.as_secs_f64()))
    }
}

/// How much has been done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    pub times: Times,
}

/// What sums the forces.
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
pub struct Forces<'g> {
    sums: Sums<'g>,
    tree: Tree,
    groups: Vec<Group>,
    stack: Vec<u32>,
    work: Counts,
}

impl<'g> Forces<'g> {
    /// Forces by `engine`, after so much `work`. A library's cluster 0 is opened, and closed when this
    /// is dropped.
    ///
    /// # Errors
    ///
    /// The library refuses.
    pub fn new(engine: Engine<'g>, work: Counts) -> Result<Self, Error> {
        Ok(Self {
            sums: match engine {
                Engine::Library(grape) => Sums::Library(Library::open(grape)?),
                Engine::Host => Sums::Host(Host::default()),
            },
            tree: Tree::default(),
            groups: Vec::new(),
            stack: Vec::new(),
            work,
        })
    }

    /// Sorts `particles` in Morton order and finds the force on each of them.
    ///
    /// # Errors
    ///
    /// A position or a force is not finite, or the library fails.
    pub fn find(
        &mut self,
        particles: &mut Vec<Particle>,
        settings: &Settings,
    ) -> Result<(), Error> {
        let began = Instant::now();
        self.tree
            .build(particles, settings.theta, settings.quadrupoles)?;
        walk::groups(
            &self.tree,
            settings.n_crit,
            &mut self.groups,
            &mut self.stack,
        );
        self.work.times.tree += began.elapsed();
        self.work.evaluations += 1;
        self.work.groups += self.groups.len() as u64;

        let eps2 = settings.eps * settings.eps;
        let (tree, groups, work) = (&self.tree, &self.groups, &mut self.work);
        match &mut self.sums {
            Sums::Library(library) => library.find(tree, groups, eps2, particles, work)?,
            Sums::Host(host) => host.find(tree, groups, eps2, particles, work),
        }
        let bad = |p: &&Particle| !(p.pot.is_finite() && p.acc.iter().all(|c| c.is_finite()));
        match particles.par_iter().with_min_len(4096).find_any(bad) {
            Some(p) => Err(Error::Force { index: p.index }),
            None => Ok(()),
        }
    }

    /// What has been done so far.
    pub fn work(&self) -> &Counts {
        &self.work
    }

    /// Name of what sums, and its precision.
    pub fn description(&self) -> (String, String) {
        match &self.sums {
            Sums::Library(library) => library.description(),
            Sums::Host(host) => (host.description(), "double".to_owned()),
        }
    }
}
