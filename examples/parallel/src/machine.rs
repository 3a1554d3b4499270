//! The data with which one rank computes: its place in the grid, its row, its column, its j-particles.

use std::ops::Range;
use std::time::Instant;

use kirin::client::Grape;
use kirin_core::sources::sum_tree::Joiner;
use kirin_kit::communicator::{Communicator, Counted};

use crate::columns::{Columns, Piece};
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

    /// All steps.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
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
    /// The pages that each column shares with others; empty if no column shares any.
    pub shared: Vec<Vec<Piece>>,
    /// How many columns further the columns are that share pages with one.
    pub sharers: Vec<usize>,
    /// The pieces of each column.
    pub pieces: Vec<Vec<Piece>>,
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
        let pieces: Vec<Vec<Piece>> = (0..grid.columns).map(|c| columns.pieces(c)).collect();
        let shared: Vec<Vec<Piece>> = (0..grid.columns).map(|c| columns.shared(c)).collect();
        let is_shared = shared.iter().any(|pieces| !pieces.is_empty());
        let shared = if is_shared { shared } else { Vec::new() };
        let sharers = columns.sharers();
        let own = pieces[place.1].clone();
        let sources = JParticles::open(grape, world.rank(), own, n, eps)?;
        Ok(Self {
            world,
            row,
            column,
            plan,
            place,
            columns,
            sources,
            shared,
            sharers,
            pieces,
            times: Times::default(),
        })
    }

    /// Number of partial forces that `column` computes on the particles `mine`, a part of so many active ones.
    pub fn parts(&self, column: usize, active: usize, mine: &Range<usize>) -> usize {
        let pieces = self.pieces[column].iter();
        pieces
            .map(|piece| piece.targets_among(active, mine).len())
            .sum()
    }

    /// Joins the partial forces on the particles `mine`, a part of so many active ones, along the tree. `parts[c]` has those of
    /// column c: first the forces of its first piece on all of the particles that are its targets, then those of the next.
    pub fn join(
        &self,
        parts: &[&[f64]],
        active: usize,
        mine: &Range<usize>,
        forces: &mut Vec<f64>,
    ) {
        let mut terms = Vec::new();
        for (mut part, pieces) in parts.iter().copied().zip(&self.pieces) {
            for piece in pieces {
                let targets = piece.targets_among(active, mine);
                let (own, rest) = part.split_at(targets.len() * FORCE);
                part = rest;
                let page = u32::try_from(piece.page).expect("31-bit addresses");
                terms.push((page, targets, own.as_chunks::<FORCE>().0));
            }
        }
        let mut joiner = Joiner::<[f64; FORCE]>::new(0);
        forces.clear();
        for k in mine.clone() {
            joiner.restart(0);
            for (page, targets, own) in &terms {
                if targets.contains(&k) {
                    joiner.push(*page, own[k - targets.start]);
                }
            }
            forces.extend(joiner.total().unwrap_or_default());
        }
    }

    /// The sums of this rank's own partial forces on so many particles, where MPI is to add up the rest.
    pub fn own_sums(&self, mut partial: &[f64], count: usize, sums: &mut Vec<f64>) {
        sums.clear();
        sums.resize(count * FORCE, 0.0);
        for piece in self.sources.pieces() {
            let targets = piece.targets(count);
            let (part, rest) = partial.split_at(targets.len() * FORCE);
            partial = rest;
            for (sum, value) in sums[targets.start * FORCE..].iter_mut().zip(part) {
                *sum += value;
            }
        }
    }
}
