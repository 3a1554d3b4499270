//! The j-particles of a column, and the subtrees over which the column sums.
//!
//! kirin adds forces on a binary tree over the addresses, aligned at address 0; absent addresses are skipped. A column
//! sums over whole pages of [`PAGE`] addresses, so over a few whole subtrees. The sum over a subtree is the sum at one node
//! of the tree of a run on one rank. Joined along the tree, these sums give the bits of that run.
//!
//! Each particle belongs to one column, which integrates it. The columns are equally long, so the end of a column may lie
//! inside a page. Then both columns have the page in the library, but each computes its forces on a share of the active
//! particles only: the share of the page's particles that it owns. So the columns have equal work, and no page is divided.
//! (A page cannot be: its particles have common units, and with AVX-512 it is one leaf of the tree.)

use std::ops::Range;

/// Addresses in the smallest subtree, which is kirin's page of j-particles. A page is a whole number of leaves of the
/// tree, with every instruction set and on GPUs.
pub const PAGE: usize = 512;

/// A column ends at the end of a page if it becomes longer or shorter by at most this part: nobody shares a page then.
const TOLERANCE: usize = 16;

/// The division of the addresses `0..n` over columns.
#[derive(Clone, Debug)]
pub struct Columns {
    n: usize,
    /// The addresses of each column.
    own: Vec<Range<usize>>,
}

/// Pages that a column has in the library, one subtree of the tree, and its share in their work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first page.
    pub page: usize,
    /// The addresses of the pages.
    pub addresses: Range<usize>,
    /// Those that belong to the column.
    pub own: Range<usize>,
}

impl Piece {
    /// Pages at these addresses that no other column has.
    pub fn whole(addresses: Range<usize>) -> Self {
        Self {
            page: addresses.start / PAGE,
            own: addresses.clone(),
            addresses,
        }
    }

    /// Its pages.
    pub fn pages(&self) -> Range<usize> {
        self.page..self.addresses.end.div_ceil(PAGE)
    }

    /// Whether other columns have the page, too.
    pub fn is_shared(&self) -> bool {
        self.own != self.addresses
    }

    /// On which of so many active particles the column computes the forces of these pages.
    pub fn targets(&self, active: usize) -> Range<usize> {
        let until = |address: usize| {
            let part = (address - self.addresses.start) as u128;
            (active as u128 * part / self.addresses.len().max(1) as u128) as usize
        };
        until(self.own.start)..until(self.own.end)
    }

    /// Those of the [`targets`](Self::targets) that are among the active particles of the range `some`.
    pub fn targets_among(&self, active: usize, some: &Range<usize>) -> Range<usize> {
        let Range { start, end } = self.targets(active);
        let start = some.start.clamp(start, end);
        start..some.end.clamp(start, end)
    }
}

impl Columns {
    /// `n` addresses over so many columns, evenly. Columns may be empty.
    pub fn new(n: usize, columns: usize) -> Self {
        let bound = |column: usize| {
            let exact = n * column / columns;
            let page = ((exact + PAGE / 2) / PAGE * PAGE).min(n);
            match column < columns && page.abs_diff(exact) <= n / columns / TOLERANCE {
                true => page,
                false => exact,
            }
        };
        Self {
            n,
            own: (0..columns).map(|c| bound(c)..bound(c + 1)).collect(),
        }
    }

    /// The addresses of the particles of a column.
    pub fn addresses(&self, column: usize) -> Range<usize> {
        self.own[column].clone()
    }

    /// The pages that have particles of a column.
    pub fn pages(&self, column: usize) -> Range<usize> {
        let own = &self.own[column];
        match own.is_empty() {
            true => self.n.div_ceil(PAGE)..self.n.div_ceil(PAGE),
            false => own.start / PAGE..own.end.div_ceil(PAGE),
        }
    }

    /// The pages that a column shares: two at most, its first and its last one.
    pub fn shared(&self, column: usize) -> Vec<Piece> {
        let pieces = self.pieces(column).into_iter();
        pieces.filter(Piece::is_shared).collect()
    }

    /// By how many columns, counted around the ring of columns, those that share pages with a column follow it.
    pub fn sharers(&self) -> Vec<usize> {
        let count = self.own.len();
        let shared: Vec<Vec<Piece>> = (0..count).map(|c| self.shared(c)).collect();
        let mut distances = Vec::new();
        for (c, pieces) in shared.iter().enumerate() {
            for piece in pieces {
                let others =
                    (c + 1..count).take_while(|&d| self.own[d].start < piece.addresses.end);
                distances.extend(others.map(|d| d - c));
            }
        }
        distances.extend(distances.clone().iter().map(|by| count - by));
        distances.sort_unstable();
        distances.dedup();
        distances
    }

    /// The particles of other columns on the pages of a column.
    pub fn copies(&self, column: usize) -> usize {
        let copies = |piece: &Piece| piece.addresses.len() - piece.own.len();
        self.pieces(column).iter().map(copies).sum()
    }

    /// The pages of a column, in address order: as few subtrees as possible, and pages that it shares.
    ///
    /// Nothing comes after the last page. So the last subtree of the last column may be one that extends beyond this page.
    pub fn pieces(&self, column: usize) -> Vec<Piece> {
        let own = self.addresses(column);
        if own.is_empty() {
            return Vec::new();
        }
        let last = self.n.div_ceil(PAGE);
        let begin = own.start.div_ceil(PAGE);
        let end = if own.end == self.n {
            last
        } else {
            own.end / PAGE
        };
        let shared = |page: usize| {
            let addresses = self.addresses_of(&(page..page + 1));
            let own = own.start.max(addresses.start)..own.end.min(addresses.end);
            Piece {
                page,
                addresses,
                own,
            }
        };
        let mut pieces = Vec::new();
        if !own.start.is_multiple_of(PAGE) {
            pieces.push(shared(own.start / PAGE));
        }
        let subtrees = subtrees(begin..end, last);
        pieces.extend(subtrees.map(|pages| Piece::whole(self.addresses_of(&pages))));
        if own.end < self.n && !own.end.is_multiple_of(PAGE) && own.end / PAGE >= begin {
            pieces.push(shared(own.end / PAGE));
        }
        pieces
    }

    /// The addresses of some pages.
    fn addresses_of(&self, pages: &Range<usize>) -> Range<usize> {
        (pages.start * PAGE).min(self.n)..(pages.end * PAGE).min(self.n)
    }
}

/// The largest subtrees within some of the pages `0..last`, in address order.
fn subtrees(pages: Range<usize>, last: usize) -> impl Iterator<Item = Range<usize>> {
    let Range { mut start, end } = pages;
    let room = if end == last { usize::MAX } else { end };
    std::iter::from_fn(move || {
        let first = start;
        let mut size = match first {
            0 => last.next_power_of_two(),
            _ => 1 << first.trailing_zeros(),
        };
        while size > room.saturating_sub(first).max(1) {
            size /= 2;
        }
        start += size;
        (first < end).then(|| first..start.min(last))
    })
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
            for count in [1, 2, 3, 4, 5, 6, 7, 8, 25, 100] {
                let columns = Columns::new(n, count);
                let mut next = 0;
                for column in 0..count {
                    let range = columns.addresses(column);
                    assert_eq!(range.start, next);
                    next = range.end;
                    let pieces = columns.pieces(column);
                    let own: Vec<usize> = pieces.iter().flat_map(|p| p.own.clone()).collect();
                    assert!(own.iter().copied().eq(range), "{n} {count} {column}");
                    assert!(pieces.iter().all(|p| p.addresses.start == p.page * PAGE));
                }
                assert_eq!(next, n);
            }
        }
    }

    /// A page's forces on an active particle are computed once, whoever shares the page.
    #[test]
    fn every_page_acts_once_on_every_active_particle() {
        for (n, count) in [(16384, 25), (1000, 4), (1000, 9), (5000, 7), (400, 3)] {
            let columns = Columns::new(n, count);
            for active in [0, 1, 2, 7, 404] {
                let mut times = vec![vec![0; active]; n.div_ceil(PAGE)];
                for piece in (0..count).flat_map(|c| columns.pieces(c)) {
                    for page in piece.pages() {
                        piece.targets(active).for_each(|i| times[page][i] += 1);
                    }
                }
                assert!(
                    times.iter().flatten().all(|times| *times == 1),
                    "{n} {count}"
                );
            }
        }
    }

    /// Pairs of the column with most, in parts of the mean. 25 columns of whole pages would have two of 32 pages at most: 1.56.
    #[test]
    fn columns_have_equal_work() {
        for (n, count) in [(16384, 25), (16384, 32), (65536, 48), (1000, 4), (3000, 7)] {
            let columns = Columns::new(n, count);
            let active = 1_000_000;
            let work = |c: usize| -> usize {
                let pieces = columns.pieces(c);
                let pairs = pieces
                    .iter()
                    .map(|p| p.targets(active).len() * p.addresses.len());
                pairs.sum()
            };
            let most = (0..count).map(work).max().unwrap();
            let mean = n as f64 * active as f64 / count as f64;
            assert!(
                (most as f64) < 1.13 * mean,
                "{n} {count}: {}",
                most as f64 / mean
            );
        }
    }

    #[test]
    fn a_power_of_two_is_one_piece() {
        for columns in [1, 2, 4, 8, 32] {
            let divided = Columns::new(16384, columns);
            assert!((0..columns).all(|c| divided.pieces(c).len() == 1));
            assert!((0..columns).all(|c| divided.copies(c) == 0));
        }
        // 32 pages in three: 10.67 each.
        let three = Columns::new(16384, 3);
        let pages =
            |c: usize| -> Vec<Range<usize>> { three.pieces(c).iter().map(Piece::pages).collect() };
        assert_eq!(pages(0), [0..8, 8..10, 10..11]);
        assert_eq!(pages(1), [11..12, 12..16, 16..20, 20..21]);
        assert_eq!(pages(2), [21..22, 22..24, 24..32]);
    }

    #[test]
    fn columns_share_pages_with_their_neighbours() {
        assert!(Columns::new(16384, 32).sharers().is_empty());
        assert_eq!(Columns::new(16384, 25).sharers(), [1, 24]);
        assert_eq!(Columns::new(16384, 25).copies(1), 143 + 226);
        assert_eq!(Columns::new(400, 2).sharers(), [1]);
        assert_eq!(Columns::new(400, 4).sharers(), [1, 2, 3]);
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
            for count in [1, 2, 3, 4, 5, 6, 7, 8, 25, 50] {
                let columns = Columns::new(n, count);
                for target in 0..3 {
                    let mut joiner = Joiner::new(0);
                    for piece in (0..count).flat_map(|c| columns.pieces(c)) {
                        if piece.targets(3).contains(&target) {
                            joiner.push(piece.page as u32, sum(piece.pages()));
                        }
                    }
                    assert_eq!(joiner.total(), Some(sum(0..pages)), "{pages} {count}");
                }
            }
        }
    }
}
