//! The j-particles of a column, and the subtrees over which the column sums.
//!
//! kirin adds forces on a binary tree over the addresses, aligned at address 0; absent addresses are skipped. A
//! column begins at a multiple of [`PAGE`] addresses, so it is the union of a few whole subtrees. The sum over a
//! subtree is the sum at one node of the tree of a run on one rank. Joined along the tree, these sums give the bits
//! of that run.

use std::ops::Range;

/// Addresses in the smallest piece, which is kirin's page of j-particles. A page is a whole number of leaves of the
/// tree, with every instruction set and on GPUs.
pub const PAGE: usize = 512;

/// The division of the addresses `0..n` over columns.
#[derive(Clone, Debug)]
pub struct Columns {
    n: usize,
    /// For each column its pages.
    pages: Vec<Range<usize>>,
}

impl Columns {
    /// `n` addresses over so many columns, as evenly as whole pages allow. Columns may be empty.
    pub fn new(n: usize, columns: usize) -> Self {
        let pages = n.div_ceil(PAGE);
        let bound = |column: usize| pages * column / columns;
        Self {
            n,
            pages: (0..columns).map(|c| bound(c)..bound(c + 1)).collect(),
        }
    }

    /// The addresses of a column.
    pub fn addresses(&self, column: usize) -> Range<usize> {
        self.addresses_of(&self.pages[column])
    }

    /// The pages of a column.
    pub fn pages(&self, column: usize) -> Range<usize> {
        self.pages[column].clone()
    }

    /// The column that has a page.
    pub fn column_of(&self, page: usize) -> usize {
        self.pages.partition_point(|pages| pages.end <= page)
    }

    /// The addresses of some pages.
    pub fn addresses_of(&self, pages: &Range<usize>) -> Range<usize> {
        (pages.start * PAGE).min(self.n)..(pages.end * PAGE).min(self.n)
    }

    /// Pages of the largest subtrees that lie within a column, in address order. Nothing comes after the last page. So
    /// the last subtree of the last column may be one that extends beyond this page.
    pub fn subtrees(&self, column: usize) -> Vec<Range<usize>> {
        let Range { start, end } = self.pages[column].clone();
        let last = self.n.div_ceil(PAGE);
        let room = if end == last { usize::MAX } else { end };
        let mut subtrees = Vec::new();
        let mut first = start;
        while first < end {
            let mut size = match first {
                0 => last.next_power_of_two(),
                _ => 1 << first.trailing_zeros(),
            };
            while size > room - first {
                size /= 2;
            }
            subtrees.push(first..(first + size).min(last));
            first += size;
        }
        subtrees
    }
}

#[cfg(test)]
mod tests {
    use kirin_core::sources::sum_tree::Joiner;

    use super::*;

    #[test]
    fn a_piece_is_a_page_of_kirin() {
        assert_eq!(PAGE, kirin_core::sources::jmemory::PAGE);
    }

    #[test]
    fn columns_cover_every_address_once() {
        for n in [1, 511, 512, 513, 1000, 5000, 16384] {
            for count in 1..9 {
                let columns = Columns::new(n, count);
                let mut next = 0;
                for column in 0..count {
                    let range = columns.addresses(column);
                    let mut pages = columns.pages(column);
                    assert!(pages.all(|page| columns.column_of(page) == column));
                    assert_eq!(range.start, next.min(n));
                    next = range.end;
                    let subtrees = columns.subtrees(column);
                    let covered: usize = subtrees
                        .iter()
                        .map(|pages| columns.addresses_of(pages).len())
                        .sum();
                    assert_eq!(covered, range.len(), "{n} {count} {column}");
                }
                assert_eq!(next, n);
            }
        }
    }

    #[test]
    fn a_power_of_two_is_one_piece() {
        for columns in [1, 2, 4, 8] {
            let divided = Columns::new(16384, columns);
            assert!((0..columns).all(|c| divided.subtrees(c).len() == 1));
        }
        // 32 pages in three: 0..10, 10..21, 21..32.
        let three = Columns::new(16384, 3);
        assert_eq!(three.subtrees(0), [0..8, 8..10]);
        assert_eq!(three.subtrees(1), [10..12, 12..16, 16..20, 20..21]);
        assert_eq!(three.subtrees(2), [21..22, 22..24, 24..32]);
    }

    /// Numbers whose sum depends on the order of the additions.
    #[test]
    fn pieces_join_to_the_bits_of_the_whole() {
        let value =
            |page: usize| [1.0 / (3.0 + (page * 7 % 11) as f64) * 1.7_f64.powi(page as i32 % 40)];
        let sum = |pages: Range<usize>| {
            let mut joiner = Joiner::new(0);
            pages.for_each(|page| joiner.push(page as u32, value(page)));
            joiner.total().unwrap()
        };
        for pages in [1, 2, 3, 7, 8, 21, 32, 61] {
            let n = pages * PAGE - 5;
            for count in 1..9 {
                let columns = Columns::new(n, count);
                let mut joiner = Joiner::new(0);
                for subtree in (0..count).flat_map(|c| columns.subtrees(c)) {
                    joiner.push(subtree.start as u32, sum(subtree));
                }
                assert_eq!(joiner.total(), Some(sum(0..pages)), "{pages} {count}");
            }
        }
    }
}
