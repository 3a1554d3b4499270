//! The tree of all particles on several ranks.
//!
//! Each rank has a part of the Morton curve, its domain, and the particles on it. Domains begin and end between groups,
//! so each group and each leaf belongs to one rank. Every rank knows the cells above the domains. It also knows those
//! cells of other ranks that its groups open or accept: its locally essential tree (Warren and Salmon 1993). Its walks
//! find the same cells as walks through the tree of a single rank, in the same order and with the same masses and
//! centres. So the forces have the same bits on any number of ranks.
//!
//! * [`domains`]: the parts of the curve, and the exchange of particles
//! * [`top`]: the cells above the domains
//! * [`essential`]: what a rank needs of the cells of others

pub mod domains;
pub mod essential;
pub mod top;

use kirin_kit::communicator::sample_sort::SampleSort;
use kirin_kit::communicator::{Communicator, Counted, Operation};

use crate::error::Error;
use crate::morton::{self, Cube, Extent, Sorter};
use crate::particle::Particle;
use crate::settings::Settings;
use crate::tree::{self, Tree};
use crate::walk::Group;
use domains::Profile;

/// What a rank holds for its walks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Holdings {
    /// Its particles.
    pub particles: usize,
    /// Particles of others.
    pub foreign: usize,
    /// Cells, also those of others.
    pub cells: usize,
}

/// The ranks that share the particles.
pub struct Ranks<C> {
    /// All of them.
    pub world: Counted<C>,
    sort: SampleSort,
    sorter: Sorter,
    profile: Profile,
    /// What this rank holds since the last tree.
    pub holdings: Holdings,
}

impl<C: Communicator> Ranks<C> {
    /// The ranks of `world`.
    pub fn new(world: C) -> Self {
        Self {
            world: Counted::new(world),
            sort: SampleSort::default(),
            sorter: Sorter::default(),
            profile: Profile::default(),
            holdings: Holdings::default(),
        }
    }

    /// Wall time of the exchanges so far.
    pub fn seconds(&self) -> f64 {
        self.world.tally().total().seconds
    }

    /// The cube around the particles of all ranks; `None` where a position is not finite.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn cube(&self, particles: &[Particle]) -> Result<Option<Cube>, Error> {
        let mut extent = morton::extent(particles);
        if self.world.size() > 1 {
            // A NaN among the extremes could get lost on the way: the flag tells of it.
            let mut all = [0.0; 7];
            for k in 0..3 {
                (all[k], all[3 + k]) = (extent.most[k], -extent.least[k]);
            }
            all[6] = f64::from(u8::from(!extent.is_finite));
            self.world.all_reduce(Operation::Max, &mut all)?;
            extent = Extent {
                least: [-all[3], -all[4], -all[5]],
                most: [all[0], all[1], all[2]],
                is_finite: all[6] == 0.0,
            };
        }
        Ok(Cube::of(extent))
    }

    /// Sorts the particles of all ranks and builds the tree that the walks of this rank need.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn build(
        &mut self,
        tree: &mut Tree,
        cube: &Cube,
        particles: &mut Vec<Particle>,
        settings: &Settings,
    ) -> Result<(), Error> {
        let accuracy = (cube.size / settings.theta, settings.quadrupoles);
        self.sorter.sort(cube, particles, &mut tree.keys);
        if self.world.size() == 1 {
            let whole = [(0, particles.len() as u32)];
            let branches = if particles.is_empty() {
                &[][..]
            } else {
                &whole
            };
            tree::grow(tree, particles, (0, branches), accuracy)?;
            self.hold(tree, particles.len());
            return Ok(());
        }
        let world = &self.world;
        let targets = self.profile.begins(world, particles.len())?;
        let begins = domains::divide(world, &mut self.sort, tree, particles, &targets, settings)?;
        domains::exchange(world, &mut self.sort, &tree.keys, particles, &begins)?;
        self.sorter.sort(cube, particles, &mut tree.keys);
        let me = world.rank();
        let branches = domains::branches(&tree.keys, begins[me]..begins[me + 1]);
        let first = domains::first(world, particles.len())?;
        tree::grow(tree, particles, (first, &branches), accuracy)?;
        let nodes = top::join(world, tree)?;
        essential::exchange(world, tree, &nodes, settings.n_crit)?;
        self.hold(tree, particles.len());
        Ok(())
    }

    fn hold(&mut self, tree: &Tree, particles: usize) {
        self.holdings = Holdings {
            particles,
            foreign: tree.points.len() - particles,
            cells: tree.cells.len(),
        };
    }

    /// Notes the work of this rank's groups, each as the length of its list, by which the next domains are divided.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn note(&mut self, groups: &[Group], lists: &[u32]) -> Result<(), Error> {
        self.profile.note(&self.world, groups, lists)
    }

    /// Makes all ranks return the same error if a position, a force or a status of the library is bad on any of them. A
    /// bad position has precedence, because the other errors may follow from it. Among ranks with the same kind of
    /// error the lowest one decides. Other errors are returned as they are.
    ///
    /// # Errors
    ///
    /// That one; or a rank is lost.
    pub fn agree(&self, result: Result<(), Error>) -> Result<(), Error> {
        if self.world.size() == 1 {
            return result;
        }
        let own = match result {
            Ok(()) => [0, 0],
            Err(Error::Position { index }) => [1, i64::from(index)],
            Err(Error::TooFarApart) => [2, 0],
            Err(Error::Library(status)) => [3, i64::from(status)],
            Err(Error::Force { index }) => [4, i64::from(index)],
            // Everybody finds a refusal by itself, and nobody can be told that a rank is lost or lacks memory.
            Err(other) => return Err(other),
        };
        let mut all = Vec::new();
        self.world.all_gather(&own, &mut all)?;
        let told = all.as_chunks::<2>().0.iter();
        let Some([kind, value]) = told.filter(|t| t[0] > 0).min_by_key(|t| t[0]) else {
            return Ok(());
        };
        let value = *value as i32;
        Err(match kind {
            1 => Error::Position { index: value },
            2 => Error::TooFarApart,
            3 => Error::Library(value),
            _ => Error::Force { index: value },
        })
    }
}
