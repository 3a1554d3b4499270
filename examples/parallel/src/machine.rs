//! The data with which one rank computes: its place in the grid, its row, its column, its j-particles.

use std::time::Instant;

use kirin::client::Grape;
use kirin_core::sources::sum_tree::Joiner;
use kirin_kit::communicator::{Communicator, Counted};

use crate::columns::Columns;
use crate::error::Error;
use crate::grid::Grid;
use crate::j_particles::{FORCE, JParticles};

/// How partial forces become forces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Joining {
    /// Partial sums are exchanged and joined along the library's tree: the same bits on any grid
    #[default]
    Tree,
    /// MPI adds, in an order of its own
    Mpi,
}

/// Which parallel algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Algorithm {
    /// Active particles over rows, j-particles over columns (Nitadori, Makino and Abe, section 3.3)
    #[default]
    TwoD,
    /// Every rank has all particles and takes a part of the active ones
    Copy,
    /// Active particles travel around a ring of ranks, each of which has a part of the j-particles
    Ring,
    /// Every rank has a part of the j-particles and takes all active ones
    JParallel,
}

impl Algorithm {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::TwoD => "two-d",
            Self::Copy => "copy",
            Self::Ring => "ring",
            Self::JParallel => "j-parallel",
        }
    }

    /// The grid of so many ranks that this algorithm is, where it leaves no choice.
    pub fn grid(self, ranks: usize) -> Option<Grid> {
        let (rows, columns) = match self {
            Self::TwoD => return None,
            Self::Copy => (ranks, 1),
            Self::Ring | Self::JParallel => (1, ranks),
        };
        Some(Grid { rows, columns })
    }
}

/// How the ranks work together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrangement {
    /// The grid.
    pub grid: Grid,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// How partial forces become forces.
    pub sums: Joining,
}

/// Wall time of the eight steps of section 3.3, and of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times(pub [f64; 8]);

impl Times {
    /// Runs one of the steps, counted from 1, on the clock.
    pub fn of<R>(&mut self, step: usize, work: impl FnOnce() -> R) -> R {
        let began = Instant::now();
        let result = work();
        self.0[step - 1] += began.elapsed().as_secs_f64();
        result
    }

    /// Prediction, forces, correction: steps 1, 3, 5 and 8.
    pub fn calculation(&self) -> f64 {
        self.0[0] + self.0[2] + self.0[4] + self.0[7]
    }

    /// Steps 2, 4, 6 and 7, with the wait for others.
    pub fn communication(&self) -> f64 {
        self.0[1] + self.0[3] + self.0[5] + self.0[6]
    }
}

/// What one rank computes with.
pub struct Node<'g, C> {
    /// All ranks.
    pub world: Counted<C>,
    /// The ranks of this row, by column.
    pub row: Counted<C>,
    /// The ranks of this column, by row.
    pub column: Counted<C>,
    /// How they work together.
    pub plan: Arrangement,
    /// Row and column of this rank.
    pub place: (usize, usize),
    /// The division of the particles.
    pub columns: Columns,
    /// The j-particles of this rank.
    pub sources: JParticles<'g>,
    /// For each column the first page of each of its subtrees.
    pub subtrees: Vec<Vec<u32>>,
    /// Time spent in each step.
    pub times: Times,
}

impl<'g, C: Communicator> Node<'g, C> {
    /// The machine of this rank of `world`, for `n` particles with softening `eps`.
    ///
    /// # Errors
    ///
    /// The grid is not that of the ranks; the library fails; a rank is lost.
    pub fn new(
        world: Counted<C>,
        grape: &'g Grape,
        plan: Arrangement,
        n: usize,
        eps: f64,
    ) -> Result<Self, Error> {
        let grid = plan.grid;
        if grid.ranks() != world.size() {
            return Err(Error::Refused(format!(
                "a grid of {grid} has {} ranks, and there are {}",
                grid.ranks(),
                world.size()
            )));
        }
        if let Some(only) = plan.algorithm.grid(world.size())
            && only != grid
        {
            let name = plan.algorithm.name();
            return Err(Error::Refused(format!(
                "the algorithm {name} is the grid {only}, not {grid}"
            )));
        }
        let place = grid.place(world.rank());
        let row = world.split(place.0, place.1)?;
        let column = world.split(place.1, place.0)?;
        let columns = Columns::new(n, grid.columns);
        let pages = |c: usize| columns.subtrees(c);
        let first = |p: &std::ops::Range<usize>| u32::try_from(p.start).expect("31-bit addresses");
        let subtrees = (0..grid.columns)
            .map(|c| pages(c).iter().map(first).collect())
            .collect();
        let addresses = pages(place.1)
            .iter()
            .map(|p| columns.addresses_of(p))
            .collect();
        let sources = JParticles::open(grape, world.rank(), addresses, n, eps)?;
        Ok(Self {
            world,
            row,
            column,
            plan,
            place,
            columns,
            sources,
            subtrees,
            times: Times::default(),
        })
    }

    /// Partial forces on each particle from all columns together.
    pub fn parts(&self, column: usize) -> usize {
        self.subtrees[column].len()
    }

    /// Joins the partial forces on `count` particles along the tree. `parts[c]` has those of column c: first the forces
    /// of its first subtree on all particles, then those of the next.
    pub fn join(&self, parts: &[&[f64]], count: usize, forces: &mut Vec<f64>) {
        let mut joiner = Joiner::<[f64; FORCE]>::new(0);
        forces.clear();
        for k in 0..count {
            joiner.restart(0);
            for (part, subtrees) in parts.iter().zip(&self.subtrees) {
                for (s, &first) in subtrees.iter().enumerate() {
                    let at = (s * count + k) * FORCE;
                    let force = part[at..at + FORCE].try_into().expect("exact");
                    joiner.push(first, force);
                }
            }
            forces.extend(joiner.total().unwrap_or_default());
        }
    }

    /// The sum of this rank's own partial forces, where MPI is to add up the rest.
    pub fn own_sums(&self, partial: &[f64], count: usize, sums: &mut Vec<f64>) {
        sums.clear();
        sums.resize(count * FORCE, 0.0);
        for part in partial.chunks_exact((count * FORCE).max(1)) {
            for (sum, value) in sums.iter_mut().zip(part) {
                *sum += value;
            }
        }
    }
}
