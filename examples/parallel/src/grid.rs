//! The grid of ranks: its shape, the place of each rank, and the part of an active list that each row takes.

use std::fmt;
use std::str::FromStr;

/// `rows` x `columns` ranks, numbered along the rows: the a x b of the paper.
///
/// The j-particles are divided over the columns, the active particles of a column over the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Number of rows, a.
    pub rows: usize,
    /// Number of columns, b.
    pub columns: usize,
}

impl Grid {
    /// Every grid of so many ranks.
    pub fn all(ranks: usize) -> impl Iterator<Item = Self> {
        (1..=ranks)
            .filter(move |rows| ranks.is_multiple_of(*rows))
            .map(move |rows| Self {
                rows,
                columns: ranks / rows,
            })
    }

    /// Number of ranks.
    pub fn ranks(self) -> usize {
        self.rows * self.columns
    }

    /// Row and column of a rank.
    pub fn place(self, rank: usize) -> (usize, usize) {
        (rank / self.columns, rank % self.columns)
    }

    /// The number of active particles of each column that the ranks of `row` take. `lengths` are the lengths of the
    /// columns' lists.
    ///
    /// Each list is divided among the rows as evenly as whole particles allow. The rows take the remainders in turn:
    /// each column continues at the row where the column before stopped. So the work of two rows differs by one
    /// particle at most.
    pub fn shares(self, lengths: &[usize], row: usize) -> Vec<usize> {
        let mut first = 0;
        let share = |&length: &usize| {
            let after_first = (row + self.rows - first) % self.rows;
            first = (first + length) % self.rows;
            length / self.rows + usize::from(after_first < length % self.rows)
        };
        lengths.iter().map(share).collect()
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |t: &str| t.trim().parse::<usize>().ok().filter(|n| *n > 0);
        text.split_once(['x', 'X'])
            .and_then(|(rows, columns)| {
                let (rows, columns) = (number(rows)?, number(columns)?);
                rows.checked_mul(columns)?;
                Some(Self { rows, columns })
            })
            .ok_or_else(|| "not a grid such as 2x3: rows x columns".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 1 of the paper: 7, 3 and 9 active particles in three columns of four rows.
    #[test]
    fn the_paper_s_example_is_shared_out_evenly() {
        let grid = Grid {
            rows: 4,
            columns: 3,
        };
        let lengths = [7, 3, 9];
        let rows: Vec<Vec<usize>> = (0..4).map(|row| grid.shares(&lengths, row)).collect();
        assert_eq!(rows, [[2, 1, 2], [2, 1, 2], [2, 0, 3], [1, 1, 2]]);
        let work: Vec<usize> = rows.iter().map(|row| row.iter().sum()).collect();
        assert_eq!(work, [5, 5, 5, 4]);
    }

    #[test]
    fn every_list_is_shared_out_once_and_evenly() {
        for rows in 1..7 {
            for lengths in [[0, 0, 0], [1, 0, 1], [5, 5, 5], [17, 1, 3], [2, 100, 7]] {
                let grid = Grid { rows, columns: 3 };
                let shares: Vec<_> = (0..rows).map(|row| grid.shares(&lengths, row)).collect();
                for column in 0..3 {
                    let parts = || shares.iter().map(|row| row[column]);
                    assert_eq!(parts().sum::<usize>(), lengths[column]);
                    assert!(parts().max().unwrap() - parts().min().unwrap() <= 1);
                }
                let work = || shares.iter().map(|row| row.iter().sum::<usize>());
                assert!(work().max().unwrap() - work().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn grids_by_name() {
        let grid: Grid = "3x2".parse().unwrap();
        assert_eq!((grid.rows, grid.columns, grid.ranks()), (3, 2, 6));
        assert_eq!(grid.to_string(), "3x2");
        assert_eq!(grid.place(5), (2, 1));
        for bad in [
            "3",
            "0x2",
            "2x",
            "axb",
            "-1x2",
            "99999999999999x99999999999999",
        ] {
            assert!(bad.parse::<Grid>().is_err(), "{bad}");
        }
        let all: Vec<String> = Grid::all(6).map(|g| g.to_string()).collect();
        assert_eq!(all, ["1x6", "2x3", "3x2", "6x1"]);
    }
}
