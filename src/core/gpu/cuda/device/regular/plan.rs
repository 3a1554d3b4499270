//! How a batch of targets is divided over thread blocks, each of which takes one page of sources.

use crate::gpu::plan::chip::Conditions;
use crate::sources::jmemory::PAGE;

/// Threads of a thread block.
const THREADS: usize = 128;

/// Issue slots of a pair, relative to those of the force kernels (`kernels/sass.py`).
const MORE_SLOTS: f64 = 1.2;

/// Fraction of the issue slots that a thread block fills when it is alone on a multiprocessor.
const ALONE: f64 = 0.8;

/// The shape of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Targets of a thread.
    pub tile: usize,
    /// Threads side by side.
    pub columns: usize,
    /// Threads that share the leaves of the page.
    pub rows: usize,
}

impl Shape {
    /// The fastest shape for so many targets and pages.
    pub fn new(ni: usize, pages: usize, conditions: &Conditions) -> Self {
        let shapes = [(4, THREADS), (1, THREADS), (1, 64), (1, 32)].map(|(tile, columns)| Self {
            tile,
            columns,
            rows: THREADS / columns,
        });
        let clocks = |shape: &Self| shape.clocks(ni, pages, conditions);
        let [first, others @ ..] = shapes;
        others
            .into_iter()
            .fold(first, |best, shape| match clocks(&shape) < clocks(&best) {
                true => shape,
                false => best,
            })
    }

    /// Targets of a thread block.
    pub fn targets(&self) -> usize {
        self.tile * self.columns
    }

    /// Bytes of words and sums that a target needs for a page.
    pub fn bytes_of_page(&self) -> usize {
        PAGE / 8 + self.rows * 7 * 8
    }

    /// Clocks of the pair loop.
    pub fn clocks(&self, ni: usize, pages: usize, conditions: &Conditions) -> f64 {
        let blocks = ni.div_ceil(self.targets()) * pages;
        let each = blocks.div_ceil(conditions.multiprocessors) as f64;
        let waves = if each > 1.0 { each } else { each / ALONE };
        let pairs = (self.targets() * PAGE) as f64;
        // A multiprocessor has four schedulers, each with a quarter of its lanes.
        waves * pairs * conditions.slots(self.tile) * MORE_SLOTS / 128.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::settings::Precision;

    #[test]
    fn few_targets_are_spread_and_many_share_a_thread() {
        let conditions = Conditions {
            multiprocessors: 132,
            capability: (9, 0),
            precision: Precision::Mixed,
            split: true,
        };
        let shape = |ni, pages| {
            let Shape {
                tile,
                columns,
                rows,
            } = Shape::new(ni, pages, &conditions);
            assert_eq!(columns * rows, THREADS);
            (tile, rows)
        };
        assert_eq!(shape(1, 196), (1, 4));
        assert_eq!(shape(64, 196), (1, 4));
        assert_eq!(shape(1024, 32), (1, 1));
        assert_eq!(shape(1024, 196), (4, 1));
        assert_eq!(shape(1024, 1954), (4, 1));
    }
}
