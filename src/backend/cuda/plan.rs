//! How a block is laid over a device: thread blocks, the i-particles of a thread, and the parts
//! into which the j-particles are divided where the i-particles alone do not fill the device.

use std::fmt;

/// Threads of one thread block of the force kernels.
pub const THREADS: usize = 128;

/// Thread blocks for each multiprocessor that keep it busy.
const BLOCKS: usize = 8;

/// Fewest i-particles that lie side by side in a thread block: the rest of its threads are rows.
const LEAST_COLUMNS: usize = 16;

/// i-particles for each multiprocessor from which on a thread has two of them, and four: fewer
/// instructions a pair, but fewer threads. By the count of instructions; no GPU was asked yet.
const ENOUGH_FOR_TWO: usize = 128;
const ENOUGH_FOR_FOUR: usize = 256;

/// The launch of the force kernel for one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// i-particles of one thread.
    pub tile: usize,
    /// Threads side by side, each with its own i-particles.
    pub columns: usize,
    /// Threads that share the leaves of a page for the same i-particles.
    pub rows: usize,
    /// Thread blocks along the i-particles.
    pub blocks: usize,
    /// Thread blocks along the j-particles.
    pub parts: usize,
}

impl Plan {
    /// The plan for `ni` i-particles and the j-particles of `pages` pages, both at least 1, on a
    /// device with so many multiprocessors. With `split`, thread blocks may divide the j-particles.
    pub fn new(ni: usize, pages: usize, multiprocessors: usize, split: bool) -> Self {
        let columns = ni.next_power_of_two().clamp(LEAST_COLUMNS, THREADS);
        let tile = match ni / multiprocessors {
            ENOUGH_FOR_FOUR.. => 4,
            ENOUGH_FOR_TWO.. => 2,
            _ => 1,
        };
        let blocks = ni.div_ceil(columns * tile);
        let most = if split { pages } else { 1 };
        Self {
            tile,
            columns,
            rows: THREADS / columns,
            blocks,
            parts: (BLOCKS * multiprocessors).div_ceil(blocks).clamp(1, most),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} x {} blocks of {} x {} threads, {} i a thread",
            self.blocks, self.parts, self.columns, self.rows, self.tile
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_fits_the_kernels() {
        for ni in (1..300).chain([1000, 16384, 65536]) {
            for pages in [1, 2, 31, 32, 2048] {
                for multiprocessors in [1, 6, 20, 132] {
                    let plan = Plan::new(ni, pages, multiprocessors, true);
                    assert!(plan.columns * plan.tile * plan.blocks >= ni, "{plan}");
                    assert_eq!(plan.columns * plan.rows, THREADS);
                    assert!([1, 2, 4, 8].contains(&plan.rows), "{plan}");
                    assert!(plan.tile == 1 || plan.rows == 1, "{plan}");
                    assert!((1..=pages).contains(&plan.parts), "{plan}");
                    let whole = Plan::new(ni, pages, multiprocessors, false);
                    assert_eq!(whole, Plan { parts: 1, ..plan });
                }
            }
        }
    }

    #[test]
    fn a_small_block_uses_the_whole_device_and_a_large_one_is_hardly_split() {
        assert_eq!(Plan::new(1, 2048, 132, true).parts, 1056);
        let large = Plan::new(65536, 256, 132, true);
        assert_eq!((large.tile, large.rows, large.parts), (4, 1, 9));
    }
}
