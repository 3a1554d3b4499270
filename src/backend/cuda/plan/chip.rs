//! What a multiprocessor has, and what the kernels ask of it: the numbers from which a plan is made.
//!
//! The kernels' numbers are counted from their machine code by `kernels/sass.py`
//! (`benches/results/kernels-sass.md`), those of the multiprocessors stand in the tables of compute
//! capabilities of NVIDIA's CUDA C++ programming guide.

use crate::process::settings::Precision;

/// Slots that a page takes besides its pairs, at most, of each warp: it is brought to shared memory, and the sums
/// of its leaves go on.
pub const PAGE_SLOTS: f64 = 490.0;

/// Lanes of a multiprocessor whose pipes are all as wide as the newest ones' are.
const LANES: f64 = 128.0;

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Arithmetic.
    pub precision: Precision,
    /// Whether the j-particles may be divided over thread blocks.
    pub split: bool,
}

/// What a multiprocessor has: lanes of issue, of single and of double precision; bytes of shared memory.
struct Chip {
    issue: f64,
    single: f64,
    double: f64,
    shared: usize,
}

/// The multiprocessor of a compute capability; later ones are taken for the last that is known.
fn chip(capability: (i32, i32)) -> Chip {
    let (issue, single, double, kib) = match capability {
        (6, 0) => (64.0, 64.0, 32.0, 64),
        (6, 1) => (128.0, 128.0, 4.0, 96),
        (6, _) => (128.0, 128.0, 4.0, 64),
        (7, 0..=4) => (128.0, 64.0, 32.0, 96),
        (7, _) => (128.0, 64.0, 2.0, 64),
        (8, 0) => (128.0, 64.0, 32.0, 164),
        (8, _) => (128.0, 128.0, 2.0, 100),
        (9 | 10, _) => (128.0, 128.0, 64.0, 228),
        _ => (128.0, 128.0, 2.0, 100),
    };
    Chip {
        issue,
        single,
        double,
        shared: kib << 10,
    }
}

/// What a force kernel (with jerk, without nearest neighbour) asks for.
struct Need {
    /// Issue slots a pair, for one, two and four i-particles a thread.
    slots: [f64; 3],
    /// Instructions of a pair in the pipes of its precision.
    arithmetic: f64,
    /// Thread blocks that find registers on a multiprocessor, at least.
    blocks: [usize; 3],
    /// Bytes of shared memory of a thread block.
    shared: usize,
}

fn need(precision: Precision) -> Need {
    match precision {
        Precision::Mixed => Need {
            slots: [38.7, 36.6, 35.8],
            arithmetic: 33.0,
            blocks: [4, 4, 2],
            shared: 25 << 10,
        },
        Precision::Single => Need {
            slots: [31.6, 30.1, 29.5],
            arithmetic: 27.0,
            blocks: [4, 4, 2],
            shared: 17 << 10,
        },
        Precision::Double => Need {
            slots: [47.0, 44.2, 43.0],
            arithmetic: 32.0,
            blocks: [3, 3, 2],
            shared: 33 << 10,
        },
    }
}

impl Conditions {
    /// Clocks of a pair in a warp, if nothing but the widths of issue and pipes limits it.
    pub fn slots(&self, tile: usize) -> f64 {
        let (chip, need) = (chip(self.capability), need(self.precision));
        let pipe = match self.precision {
            Precision::Double => chip.double,
            _ => chip.single,
        };
        let issue = need.slots[tile.ilog2() as usize] * self.issue();
        issue.max(need.arithmetic * LANES / pipe)
    }

    /// Clocks of an issue slot.
    pub fn issue(&self) -> f64 {
        LANES / chip(self.capability).issue
    }

    /// Thread blocks that a multiprocessor runs at a time.
    pub fn resident(&self, tile: usize) -> usize {
        let (chip, need) = (chip(self.capability), need(self.precision));
        let by_registers = need.blocks[tile.ilog2() as usize];
        by_registers.min(chip.shared / need.shared).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of a row of the table of a kernel, in the chapter on sm_90.
    fn row(kernel: &str, fits: impl Fn(&[&str]) -> bool) -> Vec<f64> {
        let text = include_str!("../../../../benches/results/kernels-sass.md");
        let chapter = text.split("## sm_90").nth(1).expect("a chapter");
        let cells =
            |line: &'static str| -> Vec<&'static str> { line.split('|').map(str::trim).collect() };
        let mut rows = chapter.lines().map(cells);
        let row = rows.find(|c| c.get(1) == Some(&kernel) && fits(c));
        let row = row.expect("a row");
        row.iter().map(|c| c.parse().unwrap_or(f64::NAN)).collect()
    }

    #[test]
    fn the_numbers_are_those_that_were_counted() {
        for precision in [Precision::Mixed, Precision::Single, Precision::Double] {
            let need = need(precision);
            for (n, tile) in [1, 2, 4].into_iter().enumerate() {
                let kernel = format!("force_{precision}_jerk_{tile}");
                let pairs = row(&kernel, |c| c.get(2) == Some(&"no"));
                let with_leaf = pairs[5];
                let error = need.slots[n] / with_leaf - 1.0;
                assert!(error.abs() < 0.02, "{kernel}: {with_leaf}");
                let page = (pairs[6] - with_leaf) * 512.0 * f64::from(tile);
                assert!(
                    (0.5..1.2).contains(&(page / PAGE_SLOTS)),
                    "{kernel}: {page}"
                );
                let resources = row(&kernel, |c| c.len() > 9 && c[6] == "128");
                let (shared, warps) = (resources[5] as usize, resources[7] as usize);
                assert!(shared <= need.shared && need.shared - shared < 1024);
                assert!(warps / 4 >= need.blocks[n], "{kernel}: {warps}");
            }
        }
    }
}
