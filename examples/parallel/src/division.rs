//! How a grid divides the particles, and how long a block takes on its slowest rank.
//!
//! All ranks wait for each other in each block, so a block takes as long as the slowest rank and the largest part of a
//! message. Each row takes whole particles: if 400 rows share 404 particles, some rows take two, and all others wait
//! for them.

use kirin_kit::communicator::counted::Collective;
use kirin_kit::communicator::network::{Network, Parts};

use crate::columns::{Columns, Piece};
use crate::cost::{Costs, NUMBER, Prediction};
use crate::grid::Grid;
use crate::integrator::COPY;
use crate::j_particles::{ACTIVE, FORCE};
use crate::machine::{Algorithm, Arrangement, Joining};

/// Numbers that a rank tells of its active list: length and time.
const LENGTH_AND_TIME: usize = 2;

/// The particles as they are divided over a grid.
pub struct Division {
    plan: Arrangement,
    /// Particles of each column.
    own: Vec<usize>,
    /// The most particles of other columns that a column has, and the columns from which it may get them.
    copies: (usize, usize),
    /// The pieces of each column.
    pieces: Vec<Vec<Piece>>,
    /// Partial forces of each column on an active particle, in the mean.
    partial: Vec<f64>,
}

/// Partial forces that a column with these pieces computes on an active particle, in the mean.
pub(crate) fn partial_forces(pieces: &[Piece]) -> f64 {
    let part = |piece: &Piece| piece.own.len() as f64 / piece.addresses.len() as f64;
    pieces.iter().map(part).sum()
}

fn most(counts: &[usize]) -> usize {
    counts.iter().copied().max().unwrap_or(0)
}

fn greatest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, f64::max)
}

fn least(counts: &[usize]) -> usize {
    counts.iter().copied().min().unwrap_or(0)
}

fn bytes(count: usize, numbers: usize) -> f64 {
    (count * numbers) as f64 * NUMBER
}

/// Parts of these bytes, one for each rank.
fn parts(each: &[f64]) -> Parts {
    Parts {
        ranks: each.len(),
        largest: greatest(each.iter().copied()),
        least: each.iter().copied().fold(f64::INFINITY, f64::min),
        total: each.iter().sum(),
    }
}

impl Division {
    /// `n` particles divided as `plan` says.
    pub fn new(n: usize, plan: Arrangement) -> Self {
        let columns = Columns::new(n, plan.grid.columns);
        let all = 0..plan.grid.columns;
        let pieces: Vec<Vec<Piece>> = all.clone().map(|c| columns.pieces(c)).collect();
        Self {
            plan,
            own: all.clone().map(|c| columns.addresses(c).len()).collect(),
            copies: (
                all.map(|c| columns.copies(c)).max().unwrap_or(0),
                columns.sharers().len(),
            ),
            partial: pieces.iter().map(|pieces| partial_forces(pieces)).collect(),
            pieces,
        }
    }

    /// The lengths of the columns' lists where `active` particles are spread evenly.
    pub fn evenly(&self, active: usize) -> Vec<usize> {
        let n: usize = self.own.iter().sum();
        let (mut sources, mut listed) = (0, 0);
        let length = |own: &usize| {
            sources += own;
            let until = active as u128 * sources as u128 / n.max(1) as u128;
            let length = until as usize - listed;
            listed += length;
            length
        };
        self.own.iter().map(length).collect()
    }

    /// How long a block takes in which the columns have active lists of these `lengths`.
    pub fn block(&self, lengths: &[usize], costs: &Costs) -> Prediction {
        match self.plan.algorithm {
            Algorithm::Ring => self.around_the_ring(lengths, costs),
            _ => Prediction {
                calculation: self.calculation(lengths, costs),
                communication: self.communication(lengths, &costs.network),
            },
        }
    }

    fn calculation(&self, lengths: &[usize], costs: &Costs) -> f64 {
        let active: usize = lengths.iter().sum();
        let targets = active.div_ceil(self.plan.grid.rows);
        let columns = 0..self.plan.grid.columns;
        let of =
            |c: usize| costs.forces(targets, &self.pieces[c]) + lengths[c] as f64 * costs.particle;
        columns.map(of).fold(0.0, f64::max)
    }

    fn communication(&self, lengths: &[usize], network: &Network) -> f64 {
        let Grid { rows, columns } = self.plan.grid;
        let (longest, shortest) = (most(lengths), least(lengths));
        let active: usize = lengths.iter().sum();
        // Of the row that has most, by what one rank brings.
        let along_row = |numbers| Parts {
            ranks: columns,
            largest: bytes(longest.div_ceil(rows), numbers),
            least: bytes(shortest / rows, numbers),
            total: bytes(active.div_ceil(rows), numbers),
        };
        let along_column = Parts {
            ranks: rows,
            largest: bytes(longest.div_ceil(rows), FORCE),
            least: bytes(longest / rows, FORCE),
            total: bytes(longest, FORCE),
        };
        // The rank with most particles, by what each column sends it.
        let mine = longest.div_ceil(rows);
        let of_column = |partial: &f64| bytes(mine, FORCE) * partial;
        let partial: Vec<f64> = self.partial.iter().map(of_column).collect();
        let sums = match self.plan.sums {
            Joining::Tree => network.seconds(Collective::AllToAllV, parts(&partial)),
            Joining::Mpi => network.seconds(Collective::ReduceScatter, along_row(FORCE)),
        };
        self.agreement(lengths, network)
            + network.seconds(Collective::AllGatherV, along_row(ACTIVE))
            + sums
            + network.seconds(Collective::AllGatherV, along_column)
    }

    /// Lengths and times along the row, and the copies of particles on shared pages.
    fn agreement(&self, lengths: &[usize], network: &Network) -> f64 {
        let columns = self.plan.grid.columns;
        let told = |numbers| {
            let told = Parts::equal(columns, bytes(1, numbers));
            network.seconds(Collective::AllGather, told)
        };
        let (copies, sharers) = self.copies;
        if copies == 0 {
            return told(LENGTH_AND_TIME);
        }
        let active: usize = lengths.iter().sum();
        let n: usize = self.own.iter().sum();
        let copies = bytes(copies, COPY) * active as f64 / n.max(1) as f64;
        let part = Parts::equal(columns, copies / sharers as f64);
        told(LENGTH_AND_TIME + 2) + sharers as f64 * network.seconds(Collective::Shift, part)
    }

    /// Each list visits all ranks; after each hop all ranks wait for the slowest.
    fn around_the_ring(&self, lengths: &[usize], costs: &Costs) -> Prediction {
        let ranks = self.plan.grid.columns;
        let longest = most(lengths);
        let of_hop = |hop: usize| {
            let of = |rank: usize| {
                let visitors = lengths[(rank + ranks - hop) % ranks];
                costs.forces(visitors, &self.pieces[rank])
            };
            (0..ranks).map(of).fold(0.0, f64::max)
        };
        let network = &costs.network;
        let hop = |count, numbers| {
            let part = Parts::equal(ranks, bytes(count, numbers));
            network.seconds(Collective::Shift, part)
        };
        let others = (ranks - 1) as f64;
        let forces = match self.plan.sums {
            Joining::Tree => others * hop(longest, FORCE) * greatest(self.partial.iter().copied()),
            // The last hop brings them home.
            Joining::Mpi => ranks as f64 * hop(longest, FORCE),
        };
        Prediction {
            calculation: (0..ranks).map(of_hop).sum::<f64>() + longest as f64 * costs.particle,
            communication: self.agreement(lengths, network)
                + others * hop(longest, ACTIVE)
                + forces,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::tests::COSTS;

    fn division(n: usize, grid: &str, algorithm: Algorithm, sums: Joining) -> Division {
        let grid = grid.parse().unwrap();
        Division::new(
            n,
            Arrangement {
                grid,
                algorithm,
                sums,
            },
        )
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    /// Two rows and two columns of 1024; a row takes 4 of the 7 particles, the first column has 5 of them.
    #[test]
    fn the_slowest_rank_by_hand() {
        let division = division(2048, "2x2", Algorithm::TwoD, Joining::Mpi);
        let found = division.block(&[5, 2], &COSTS);
        let expected = 4.0 * 1024.0 / 1e9 + 1024.0 * 2e-9 + 1e-6 + 5.0 * 2e-7;
        assert_near(found.calculation, expected);
        // Lengths; 4 particles of which 1 is there; forces on as many; forces of 5 of which 2 are there.
        let bytes = 16.0 + 3.0 * 56.0 + 3.0 * 48.0 + 3.0 * 48.0;
        assert_near(found.communication, 4.0 * 2e-6 + bytes / 1e9);
    }

    /// Seven pages in two columns. The first column has the pages 0 to 2 as two subtrees, and half of page 3; the second one has
    /// the other half, and the pages 4 to 6 as one subtree.
    #[test]
    fn pieces_are_sent_by_themselves() {
        let division = division(3584, "1x2", Algorithm::TwoD, Joining::Tree);
        assert_eq!(division.partial, [2.5, 1.5]);
        assert_eq!(
            (&division.own[..], division.copies),
            (&[1792; 2][..], (256, 1))
        );
        let found = division.block(&[3, 3], &COSTS);
        // Six active particles: the pages of the column act on all, the shared page on three.
        let pairs = 6.0 * 1536.0 + 3.0 * 512.0;
        let expected = pairs / 1e9 + 2048.0 * 2e-9 + 3.0 * 1e-6 + 3.0 * 2e-7;
        assert_near(found.calculation, expected);
        // Four numbers, copies of a fourteenth of the particles, the active ones, and the partial forces.
        let bytes = 32.0 + 6.0 / 14.0 * 136.0 + 3.0 * 56.0 + 2.5 * 3.0 * 48.0;
        assert_near(found.communication, 4.0 * 2e-6 + bytes / 1e9);
    }

    /// A hop waits for the longest list at the longest column.
    #[test]
    fn the_ring_by_hand() {
        let division = division(3072, "1x3", Algorithm::Ring, Joining::Mpi);
        assert_eq!(
            (&division.own[..], division.copies),
            (&[1024; 3][..], (0, 0))
        );
        let found = division.block(&[6, 1, 2], &COSTS);
        // Each list is once at each column of one subtree, and all wait for the longest list.
        let forces = 6.0 * 1024.0 / 1e9 + 1024.0 * 2e-9 + 1e-6;
        let expected = 3.0 * forces + 6.0 * 2e-7;
        assert_near(found.calculation, expected);
        let bytes = 2.0 * 16.0 + 2.0 * 6.0 * 56.0 + 3.0 * 6.0 * 48.0;
        // Two rounds for lengths, two hops of the lists, and three of the forces.
        assert_near(found.communication, 7.0 * 2e-6 + bytes / 1e9);
    }
}
