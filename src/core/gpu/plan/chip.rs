//! The numbers from which plans are computed: the resources of a multiprocessor, and the resources that the kernels
//! use.
//!
//! `kernels/sass.py` counts the resources of the kernels in their machine code (`benches/results/kernels-sass.md`).
//! The numbers of the multiprocessors are from the tables of compute capabilities in NVIDIA's CUDA C++ programming
//! guide.

use crate::choice::Rule;
use crate::process::settings::Precision;
use crate::sources::jmemory::PAGE;

/// Issue slots of a warp for a page besides its pairs, roughly: 370 to 780 were counted in kernels with jerks. They go
/// to loading the page into shared memory, and to storing and joining the sums of its leaves.
pub const PAGE_SLOTS: f64 = 600.0;

/// Double-precision instructions for predicting one particle, counted in the PTX, and most bytes moved for it.
const PREDICTION: (f64, f64) = (100.0, 256.0);

/// The same for one distance of a neighbour list.
const DISTANCE: (f64, f64) = (9.0, 24.0);

/// Issue slots, and double-precision instructions, of a pair that is summed again in double precision.
const AGAIN: (f64, f64) = (270.0, 60.0);

/// Bytes that a multiprocessor reads from the second-level cache in a clock.
const CACHE_BYTES: f64 = 32.0;

/// Fraction of its issue slots (or of the narrowest pipe) that a multiprocessor with enough warps uses. Measured on an
/// H100 with 16384 i-particles and 65536 j-particles: 0.76 in mixed, 0.74 in single and 0.70 in double precision
/// (`benches/results/gpu-h100`).
const FILLED: f64 = 0.75;

/// Lanes of the widest multiprocessors.
const LANES: f64 = 128.0;

/// The device and the arithmetic that a plan is made for.
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

/// What a multiprocessor has.
struct Chip {
    /// Threads for which an instruction is issued in a clock.
    issue: f64,
    /// Lanes of single precision.
    single: f64,
    /// Lanes of double precision.
    double: f64,
    /// Bytes of shared memory.
    shared: usize,
    /// Bytes of them that the system takes for itself with each thread block.
    reserved: usize,
    /// Most threads.
    threads: usize,
}

/// The multiprocessor of a compute capability. Unknown, later ones are taken to be like the last one known.
fn chip(capability: (i32, i32)) -> Chip {
    let (issue, single, double, kib, threads) = match capability {
        (6, 0) => (64.0, 64.0, 32.0, 64, 2048),
        (6, 1) => (128.0, 128.0, 4.0, 96, 2048),
        (6, _) => (128.0, 128.0, 4.0, 64, 2048),
        (7, 0..=4) => (128.0, 64.0, 32.0, 96, 2048),
        (7, _) => (128.0, 64.0, 2.0, 64, 1024),
        (8, 0) => (128.0, 64.0, 32.0, 164, 2048),
        (8, _) => (128.0, 128.0, 2.0, 100, 1536),
        (9, _) | (10, 0) => (128.0, 128.0, 64.0, 228, 2048),
        // B300 and Thor.
        (10 | 11, _) => (128.0, 128.0, 2.0, 228, 2048),
        _ => (128.0, 128.0, 2.0, 100, 1536),
    };
    Chip {
        issue,
        single,
        double,
        shared: kib << 10,
        reserved: if capability.0 >= 8 { 1 << 10 } else { 0 },
        threads,
    }
}

/// [`Rule::on_cpu_up_to`]: with so few moving j-particles, the wait for a GPU takes longer than the pairs of a usual block take
/// on a CPU. A unit of time of a star cluster takes one core of a Xeon 0.023 s with 256 stars, 0.071 with 512 and 0.286
/// with 1024, and an H100 0.07, 0.10 and 0.23 (modelled; `benches/results/cluster-time-gpu.md`).
const ON_CPU_UP_TO: usize = 512;

/// The rule of `auto` on a GPU of this capability. There are two kinds of GPU.
///
/// * On GPUs with at least a quarter as many double-precision lanes as single-precision lanes, blocks with up to 4096
///   j-particles that have velocities are computed in double precision. With half as many lanes this takes twice as
///   long as `mixed`, apart from the 10 microseconds that any block takes.
/// * On GPUs with fewer (a sixty-fourth on an RTX 3090), blocks with up to 1024 such j-particles are computed in
///   `double-single`. A pair takes 3.6 times the issue slots of `mixed`. For 1024 i-particles and 1024 j-particles the
///   planned time is 1.6 times that of `mixed`, the 10 microseconds included; in double precision it would be 13 times.
pub fn rule(capability: (i32, i32)) -> Rule {
    let chip = chip(capability);
    let (up_to, better) = match chip.double * 4.0 >= chip.single {
        true => (4096, Precision::Double),
        false => (1024, Precision::DoubleSingle),
    };
    Rule {
        up_to,
        better,
        on_gpu: true,
        on_cpu_up_to: ON_CPU_UP_TO,
    }
}

/// What a force kernel needs, with jerk and without nearest neighbour. An array of three has the numbers for one, two
/// and four i-particles a thread.
struct Need {
    /// Issue slots a pair.
    slots: [f64; 3],
    /// Instructions a pair in the pipes of the kernel's precision.
    arithmetic: f64,
    /// Double-precision instructions a pair, which join the sums of leaves and pages.
    doubles: [f64; 3],
    /// The fraction of a multiprocessor's issue slots that one thread block fills if it has the multiprocessor to
    /// itself. The first array is for multiprocessors with the widest pipes of the kernel's precision, the second for
    /// those with narrower pipes.
    alone: [[f64; 3]; 2],
    /// Thread blocks for which a multiprocessor has enough registers, at least.
    blocks: [usize; 3],
    /// Bytes of shared memory of a thread block.
    shared: usize,
}

/// Bytes of stack of a thread, at most.
const STACK: usize = 968;

fn need(precision: Precision) -> Need {
    match precision {
        Precision::Mixed => Need {
            slots: [39.3, 37.3, 36.1],
            arithmetic: 33.0,
            doubles: [0.31, 0.25, 0.25],
            alone: [[0.75, 0.78, 0.82], [0.50, 0.47, 0.49]],
            blocks: [4, 4, 2],
            shared: 25 << 10,
        },
        Precision::Single | Precision::Reduced => Need {
            slots: [31.7, 30.3, 29.5],
            arithmetic: 27.0,
            doubles: [0.31, 0.25, 0.25],
            alone: [[0.65, 0.67, 0.75], [0.49, 0.46, 0.47]],
            blocks: [4, 4, 2],
            shared: 17 << 10,
        },
        Precision::DoubleSingle => Need {
            slots: [135.0, 133.1, 132.0],
            arithmetic: 129.0,
            doubles: [0.44, 0.38, 0.38],
            alone: [[0.89, 0.92, 0.93], [0.49, 0.49, 0.50]],
            blocks: [4, 3, 2],
            shared: 25 << 10,
        },
        Precision::Double => Need {
            slots: [46.8, 44.4, 43.0],
            arithmetic: 32.0,
            doubles: [0.20, 0.14, 0.14],
            alone: [[0.33, 0.35, 0.37], [0.22, 0.23, 0.25]],
            blocks: [3, 3, 2],
            shared: 33 << 10,
        },
    }
}

impl Conditions {
    /// Clocks of a pair in a warp where only the widths of issue and pipes limit the speed. Reads of shared memory take less: see the
    /// test `reads_of_shared_memory_limit_no_kernel`.
    pub fn slots(&self, tile: usize) -> f64 {
        let (chip, need) = (chip(self.capability), need(self.precision));
        let pipe = match self.precision {
            Precision::Double => chip.double,
            _ => chip.single,
        };
        let n = tile.ilog2() as usize;
        let issue = need.slots[n] * self.issue();
        issue.max(need.arithmetic * LANES / pipe) / FILLED
    }

    /// Clocks a pair in which the pipe of double precision joins sums.
    pub fn joins(&self, tile: usize) -> f64 {
        need(self.precision).doubles[tile.ilog2() as usize] * LANES / chip(self.capability).double
    }

    /// Clocks for one pair in a warp that is alone on its scheduler and has to wait for its own results. The more
    /// independent pairs a thread has, the more of the wait they hide.
    pub fn alone(&self, tile: usize) -> f64 {
        let (chip, need) = (chip(self.capability), need(self.precision));
        let is_narrow = match self.precision {
            Precision::Double => chip.double < 64.0,
            _ => chip.single < LANES,
        };
        let n = tile.ilog2() as usize;
        let waiting = need.slots[n] / need.alone[usize::from(is_narrow)][n];
        waiting.max(self.slots(tile)) + self.joins(tile)
    }

    /// Bytes that the driver keeps on the device for stacks: as many as it can run threads at a time.
    pub fn stacks(&self) -> usize {
        STACK * chip(self.capability).threads * self.multiprocessors
    }

    /// How many times as long as planned forces take, about, in the worst case: if every leaf is summed again in double precision.
    pub fn worst_case(&self, tile: usize) -> f64 {
        if self.precision == Precision::Double {
            return 1.0;
        }
        let (slots, doubles) = AGAIN;
        let again = (slots * self.issue()).max(doubles * LANES / chip(self.capability).double);
        1.0 + again / FILLED / self.slots(tile)
    }

    /// Clocks that an issue slot takes.
    pub fn issue(&self) -> f64 {
        LANES / chip(self.capability).issue
    }

    /// Clocks that predicting some pages takes.
    pub fn prediction_clocks(&self, pages: usize) -> f64 {
        self.double_clocks(pages.div_ceil(self.multiprocessors), PREDICTION)
    }

    /// Clocks for the distances of `ni` i-particles to all particles of the pages, one thread block for each i-particle.
    pub fn list_clocks(&self, ni: usize, pages: usize) -> f64 {
        self.double_clocks(ni.div_ceil(self.multiprocessors) * pages, DISTANCE)
    }

    /// Clocks that one multiprocessor needs for `pages` pages. For every slot of a page it executes `instructions`
    /// double-precision instructions and moves `bytes` bytes.
    fn double_clocks(&self, pages: usize, (instructions, bytes): (f64, f64)) -> f64 {
        let each = (instructions / chip(self.capability).double).max(bytes / CACHE_BYTES);
        (pages * PAGE) as f64 * each
    }

    /// Thread blocks that a multiprocessor runs at a time.
    pub fn resident(&self, tile: usize) -> usize {
        let (chip, need) = (chip(self.capability), need(self.precision));
        let by_registers = need.blocks[tile.ilog2() as usize];
        by_registers
            .min(chip.shared / (need.shared + chip.reserved))
            .max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::plan::LaunchPlan;

    /// The cells of a kernel's row in the tables of an architecture; the first row that `fits`.
    fn row(architecture: &str, kernel: &str, fits: impl Fn(&[&str]) -> bool) -> Vec<f64> {
        let text = include_str!("../../../../benches/results/kernels-sass.md");
        let heading = format!("## {architecture}\n");
        let chapter = text.split(&heading).nth(1).expect("a chapter");
        let cells =
            |line: &'static str| -> Vec<&'static str> { line.split('|').map(str::trim).collect() };
        let mut rows = chapter.lines().map(cells);
        let row = rows.find(|c| c.get(1) == Some(&kernel) && fits(c));
        let row = row.expect("a row");
        row.iter().map(|c| c.parse().unwrap_or(f64::NAN)).collect()
    }

    /// The column of the reads of shared memory, 16 bytes each, a pair.
    fn read_column() -> usize {
        let text = include_str!("../../../../benches/results/kernels-sass.md");
        let chapter = text.split("## sm_90\n").nth(1).expect("a chapter");
        let mut heads = chapter.lines().filter(|line| line.contains("| LDS "));
        let head = heads.next().expect("a table of pair loops");
        let mut names = head.split('|').map(str::trim);
        names.position(|name| name == "LDS").expect("a column")
    }

    #[test]
    fn the_numbers_are_those_that_were_counted() {
        for precision in [
            Precision::Mixed,
            Precision::Single,
            Precision::DoubleSingle,
            Precision::Double,
        ] {
            let need = need(precision);
            for (n, tile) in [1, 2, 4].into_iter().enumerate() {
                let kernel = format!("force_{}_jerk_{tile}", precision.in_kernels());
                let pairs = row("sm_90", &kernel, |c| c.get(2) == Some(&"no"));
                let with_leaf = pairs[5];
                let error = need.slots[n] / with_leaf - 1.0;
                assert!(error.abs() < 0.02, "{kernel}: {with_leaf}");
                let page = (pairs[6] - with_leaf) * 512.0 * f64::from(tile);
                assert!(
                    (0.5..1.35).contains(&(page / PAGE_SLOTS)),
                    "{kernel}: {page}"
                );
                let resources = row("sm_90", &kernel, |c| c.len() > 9 && c[6] == "128");
                assert!(resources[4] as usize <= STACK, "{kernel}: {}", resources[4]);
                let narrow = row("sm_80", &kernel, |c| c.get(2) == Some(&"no"));
                for (row, alone) in [(&pairs, need.alone[0][n]), (&narrow, need.alone[1][n])] {
                    let [doubles, counted] = [row[row.len() - 3], row[row.len() - 2]];
                    assert!(
                        (need.doubles[n] - doubles).abs() < 0.01,
                        "{kernel}: {doubles}"
                    );
                    assert!((alone - counted).abs() < 0.015, "{kernel}: {counted}");
                }
                let (shared, warps) = (resources[5] as usize, resources[7] as usize);
                assert!(shared <= need.shared && need.shared - shared < 1024);
                assert!(warps / 4 >= need.blocks[n], "{kernel}: {warps}");
            }
        }
    }

    /// Even where a read takes as long as it can: a clock of the multiprocessor for each quarter of a warp.
    #[test]
    fn reads_of_shared_memory_limit_no_kernel() {
        const READ_CLOCKS: f64 = 4.0;
        // Warps that a multiprocessor executes side by side, which share its shared memory.
        const WARPS: f64 = 4.0;
        for precision in [
            Precision::Mixed,
            Precision::Single,
            Precision::DoubleSingle,
            Precision::Double,
        ] {
            // One with the widest pipes.
            let conditions = Conditions {
                multiprocessors: 132,
                capability: (9, 0),
                precision,
                split: true,
            };
            for tile in [1, 2, 4] {
                let kernel = format!("force_{}_jerk_{tile}", precision.in_kernels());
                let reads = row("sm_90", &kernel, |c| c.get(2) == Some(&"no"))[read_column()];
                let (clocks, slots) = (reads * READ_CLOCKS * WARPS, conditions.slots(tile));
                assert!(
                    clocks > 0.0 && clocks < slots,
                    "{kernel}: {clocks}, {slots}"
                );
            }
        }
    }

    /// With several kinds of devices `crate::gpu::cuda` takes the least.
    #[test]
    fn few_particles_take_pairs_of_singles_where_double_precision_is_slow() {
        for (capability, expected) in [
            ((6, 0), (4096, Precision::Double)),
            ((6, 1), (1024, Precision::DoubleSingle)),
            ((8, 0), (4096, Precision::Double)),
            ((8, 9), (1024, Precision::DoubleSingle)),
            ((9, 0), (4096, Precision::Double)),
            ((12, 0), (1024, Precision::DoubleSingle)),
        ] {
            let Rule { up_to, better, .. } = rule(capability);
            assert_eq!((up_to, better), expected, "{capability:?}");
            let clocks = |precision| {
                let conditions = Conditions {
                    multiprocessors: 82,
                    capability,
                    precision,
                    split: true,
                };
                LaunchPlan::new(1024, 2, &conditions).clocks
            };
            // By the counted instructions it is the faster of the two.
            let is_faster = clocks(Precision::DoubleSingle) < clocks(Precision::Double);
            assert_eq!(
                is_faster,
                better == Precision::DoubleSingle,
                "{capability:?}"
            );
        }
    }

    /// On the small chips of Ampere and Ada the kilobyte that the system reserves makes the difference.
    #[test]
    fn thread_blocks_that_are_resident() {
        let resident = |capability, precision| {
            let conditions = Conditions {
                multiprocessors: 1,
                capability,
                precision,
                split: true,
            };
            [1, 2, 4].map(|tile| conditions.resident(tile))
        };
        assert_eq!(resident((6, 1), Precision::Mixed), [3, 3, 2]);
        assert_eq!(resident((7, 5), Precision::Mixed), [2, 2, 2]);
        assert_eq!(resident((8, 0), Precision::Mixed), [4, 4, 2]);
        assert_eq!(resident((8, 6), Precision::Mixed), [3, 3, 2]);
        assert_eq!(resident((8, 6), Precision::Double), [2, 2, 2]);
        assert_eq!(resident((9, 0), Precision::Double), [3, 3, 2]);
    }
}
