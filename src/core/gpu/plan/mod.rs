//! The division of a block over a device: the number of thread blocks, the number of i-particles of a thread, and, if
//! the i-particles alone do not fill the device, the number of parts of the j-particles.
//!
//! The plan predicts the time of every possible layout, from the counted instructions of the kernels
//! ([`crate::gpu::plan::chip`]) and from times measured on an H100 (`benches/results/gpu-h100`). It takes the fastest
//! layout.
//!
//! A thread block takes whole pages, and a thread sums whole leaves. A thread block of 16 x 8 threads has 16 columns,
//! one for each i-particle, and 8 rows, which share the eight leaves of a page. More i-particles need more thread
//! blocks of this shape, and these fill the device as well as a division of the pages would. The price is that each
//! thread block reads the page, 24 kB, from the second-level cache. Example with 16384 j-particles, 128 i-particles and
//! 132 multiprocessors:
//!
//! * 8 x 32 blocks of 16 x 8 threads have 64 pairs a thread.
//! * 1 x 32 blocks of 128 x 1 threads would have 512 pairs a thread.

use std::fmt;

pub mod block;
pub mod chip;
pub mod chunks;
pub mod joins;
pub mod limit;
mod module;

use self::block::JOINED_BY_HOST;
use self::chip::{Conditions, PAGE_SLOTS};
pub use self::module::Module;
use crate::gpu::layout::SUMS;

/// Threads of one thread block of the force kernels.
pub const THREADS: usize = 128;

/// Leaves of a page, and j-particles of a leaf, as in the sources.
const LEAVES: usize = 8;
const LEAF: usize = 64;

/// Fewest columns of a thread block, each with its own i-particles. The rest of its threads form rows, which share
/// the leaves of a page.
pub const LEAST_COLUMNS: usize = 16;

/// Most thread blocks a multiprocessor, and most parts of the j-particles, among which the best is looked for.
const MOST: usize = 8;

/// Clocks from the request of a page until it is in the multiprocessor, where no other work fills the wait.
const FETCH: f64 = 800.0;

/// Clocks of the kernel that joins sums: for its launch behind another kernel, and for each round of joins in shared
/// memory.
const JOIN: f64 = 6000.0;
const ROUND: f64 = 150.0;

/// Bytes of sums that the host fetches and joins in one clock of the device.
const HOST_BYTES: f64 = 8.0;

/// Bytes of sums that a multiprocessor moves in a clock.
const SUM_BYTES: f64 = 32.0;

/// The launch of the force kernel for one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchPlan {
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
    /// Predicted clocks of the device.
    pub clocks: f64,
    /// The clocks among them that joining the sums of the parts takes.
    pub join: f64,
    /// What takes most of the clocks.
    pub limit: Limit,
}

/// What a planned launch spends most of its time on. Where a measured time differs from the plan, this is the first
/// assumption to doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The instructions of the pairs fill the pipes.
    Pairs,
    /// There are too few warps, so that each waits for its own results.
    Waits,
    /// The pipe of double precision, which joins the sums of the leaves.
    Doubles,
    /// Waiting for pages.
    Pages,
    /// Joining the sums of the parts.
    Joins,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pairs => "pairs",
            Self::Waits => "waits",
            Self::Doubles => "doubles",
            Self::Pages => "pages",
            Self::Joins => "joins",
        })
    }
}

impl LaunchPlan {
    /// The plan for `ni` i-particles and the j-particles of `pages` pages, both at least 1.
    pub fn new(ni: usize, pages: usize, conditions: &Conditions) -> Self {
        let widest = ni.next_power_of_two().clamp(LEAST_COLUMNS, THREADS);
        let narrow = [16, 32, 64, 128].into_iter().filter(|&c| c <= widest);
        let shapes = narrow
            .map(|columns| (1, columns))
            .chain([(2, THREADS), (4, THREADS)]);
        let mut best: Option<Self> = None;
        for (tile, columns) in shapes {
            let blocks = ni.div_ceil(columns * tile);
            // So many thread blocks a multiprocessor, or so many parts.
            let to_fill = (1..=MOST).map(|each| each * conditions.multiprocessors / blocks);
            for parts in to_fill.chain(1..=MOST) {
                let parts = parts.clamp(1, if conditions.split { pages } else { 1 });
                // The fewest parts whose longest has as many pages.
                let parts = pages.div_ceil(pages.div_ceil(parts));
                let mut plan = Self {
                    tile,
                    columns,
                    rows: THREADS / columns,
                    blocks,
                    parts,
                    clocks: 0.0,
                    join: 0.0,
                    limit: Limit::Pairs,
                };
                plan.count_clocks(ni, pages, conditions);
                if best.is_none_or(|best| plan.clocks < best.clocks) {
                    best = Some(plan);
                }
            }
        }
        best.unwrap_or_else(|| unreachable!("there are shapes"))
    }

    /// The same division for a chunk of at most as many i-particles.
    pub fn for_chunk(self, ni: usize) -> Self {
        let blocks = ni.div_ceil(self.columns * self.tile);
        debug_assert!(blocks <= self.blocks, "no chunk is larger than the first");
        Self { blocks, ..self }
    }

    fn count_clocks(&mut self, ni: usize, pages: usize, conditions: &Conditions) {
        // Thread blocks of the busiest multiprocessor, and how many of them run at a time.
        let each = (self.blocks * self.parts).div_ceil(conditions.multiprocessors);
        let together = each.min(conditions.resident(self.tile));
        let turns = each.div_ceil(together) as f64;
        let longest = pages.div_ceil(self.parts) as f64;
        let pairs = (LEAVES / self.rows * LEAF * self.tile) as f64;
        let page = PAGE_SLOTS * conditions.issue();
        // Clocks a page of thread blocks that run together: their issue slots add up, and so do their joins. It is
        // not less than what one of them takes alone.
        let clocks = |together: usize| {
            let all = together as f64;
            let alone = pairs * conditions.alone(self.tile) + page;
            let slots = pairs * conditions.slots(self.tile) + page;
            let joins = pairs * conditions.joins(self.tile);
            if together == 0 {
                0.0
            } else {
                alone.max(all * slots).max(all * joins)
            }
        };
        let full = (each / together) as f64 * clocks(together);
        let fetch = turns * FETCH;
        let force = longest * (full + clocks(each % together) + fetch);
        let sums = self.parts * ni * SUMS * 8;
        // A part of several pages reads sums that it has written, so its sums stay on the device.
        self.join = if longest == 1.0 && sums <= JOINED_BY_HOST {
            match self.parts {
                1 => 0.0,
                _ => sums as f64 / HOST_BYTES,
            }
        } else {
            JOIN + (self.parts as f64).log2().ceil() * ROUND
                + 2.0 * sums as f64 / (SUM_BYTES * conditions.multiprocessors as f64)
        };
        self.clocks = force + self.join;
        let all = together as f64;
        let slots = all * (pairs * conditions.slots(self.tile) + page);
        let joins = all * pairs * conditions.joins(self.tile);
        self.limit = if self.join > 0.5 * self.clocks {
            Limit::Joins
        } else if fetch > 0.5 * (full + fetch) {
            Limit::Pages
        } else if slots.max(joins) < clocks(together) {
            Limit::Waits
        } else if slots < joins {
            Limit::Doubles
        } else {
            Limit::Pairs
        };
    }

    /// The speed of this plan relative to the best possible one, in which these pairs fill the device in tiles of four
    /// i-particles.
    pub fn efficiency(&self, ni: usize, pages: usize, conditions: &Conditions) -> f64 {
        let pairs = (ni * pages * LEAVES * LEAF) as f64;
        let least = pairs / (THREADS * conditions.multiprocessors) as f64 * conditions.slots(4);
        least / self.clocks
    }
}

impl fmt::Display for LaunchPlan {
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
    use crate::process::settings::Precision;

    fn all_conditions() -> impl Iterator<Item = Conditions> {
        let chips = [
            ((6, 1), 6),
            ((6, 0), 56),
            ((7, 5), 20),
            ((8, 6), 46),
            ((8, 9), 76),
            ((7, 0), 80),
            ((8, 0), 108),
            ((9, 0), 132),
            ((10, 0), 148),
            ((10, 3), 148),
            ((12, 0), 84),
        ];
        chips.into_iter().flat_map(|(capability, multiprocessors)| {
            [
                Precision::Mixed,
                Precision::Double,
                Precision::Single,
                Precision::DoubleSingle,
            ]
            .map(|precision| Conditions {
                multiprocessors,
                capability,
                precision,
                split: true,
            })
        })
    }

    const SIZES: [usize; 24] = [
        1, 2, 7, 8, 16, 17, 31, 32, 48, 64, 100, 128, 129, 192, 256, 333, 512, 700, 1024, 2048,
        4097, 16384, 33000, 65536,
    ];
    const PAGES: [usize; 8] = [1, 2, 31, 32, 100, 256, 257, 2048];

    #[test]
    fn every_plan_fits_the_kernels() {
        for conditions in all_conditions() {
            for ni in SIZES {
                for pages in PAGES {
                    let plan = LaunchPlan::new(ni, pages, &conditions);
                    assert!(plan.columns * plan.tile * plan.blocks >= ni, "{plan}");
                    assert_eq!(plan.columns * plan.rows, THREADS);
                    assert!([1, 2, 4, 8].contains(&plan.rows), "{plan}");
                    assert!(plan.tile == 1 || plan.rows == 1, "{plan}");
                    assert!((1..=pages).contains(&plan.parts), "{plan}");
                    let split = false;
                    let whole = LaunchPlan::new(
                        ni,
                        pages,
                        &Conditions {
                            split,
                            ..conditions
                        },
                    );
                    assert_eq!(whole.parts, 1, "{whole}");
                    assert!(whole.clocks >= plan.clocks, "{whole}, {plan}");
                }
            }
        }
    }

    /// Where there is work for all multiprocessors, no size loses much speed by an unsuitable layout.
    #[test]
    fn large_blocks_lose_little_to_the_division() {
        for conditions in all_conditions() {
            // Pascal and Turing have shared memory for one or two thread blocks.
            let busy = conditions.slots(1) / conditions.alone(1);
            let full = (busy * conditions.resident(1) as f64).min(1.0);
            for ni in SIZES {
                for pages in PAGES {
                    let plan = LaunchPlan::new(ni, pages, &conditions);
                    // Threads stand side by side in sixteens, wanted or not.
                    let whole = ni.next_multiple_of(LEAST_COLUMNS);
                    let efficiency = plan.efficiency(whole, pages, &conditions);
                    // Pages for every multiprocessor, if each had 16 i-particles.
                    let work =
                        whole as f64 / 16.0 * pages as f64 / conditions.multiprocessors as f64;
                    let least = match work {
                        500.0.. if ni >= 512 => 0.8,
                        500.0.. => 0.65,
                        100.0.. => 0.5,
                        20.0.. => 0.3,
                        _ => 0.0,
                    };
                    assert!(
                        (least * full..=1.0).contains(&efficiency),
                        "{efficiency:.3}: {ni} i, {pages} pages, {conditions:?}: {plan}"
                    );
                }
            }
        }
    }

    #[test]
    fn more_work_never_takes_less_time() {
        for conditions in all_conditions() {
            for pages in PAGES {
                let clocks = SIZES.map(|ni| LaunchPlan::new(ni, pages, &conditions).clocks);
                for (pair, ni) in clocks.windows(2).zip(SIZES) {
                    let is_later = pair[0] <= pair[1] * 1.02;
                    assert!(is_later, "{ni} i, {pages} pages, {conditions:?}: {pair:?}");
                }
            }
        }
    }

    #[test]
    fn a_small_block_uses_the_whole_device_and_a_large_one_is_hardly_split() {
        let h200 = Conditions {
            multiprocessors: 132,
            capability: (9, 0),
            precision: Precision::Mixed,
            split: true,
        };
        let small = LaunchPlan::new(256, 32, &h200);
        // 128 thread blocks leave four multiprocessors idle; twice as many, half as large, would take as long.
        assert!(small.blocks * small.parts >= 128, "{small}");
        let large = LaunchPlan::new(65536, 256, &h200);
        assert!(large.tile == 4 && large.parts <= 33, "{large}");
        // 128 thread blocks on 20 multiprocessors would leave a tenth of their time unused.
        let turing = Conditions {
            multiprocessors: 20,
            capability: (7, 5),
            ..h200
        };
        let whole = LaunchPlan::new(65536, 2048, &turing);
        assert!(whole.efficiency(65536, 2048, &turing) > 0.98, "{whole}");
    }
}
