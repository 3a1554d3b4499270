//! The plan of one block on one device, made before anything is queued: which kernels are launched, how large each
//! buffer is, where the results go, and whether the host or the device joins the sums of the parts.

use super::LaunchPlan;
use super::joins::JoinSchedule;
use crate::force::scaling::FARTHEST;
use crate::gpu::layout::{Deciding, ForceArgs, Joining, Pointer, SUMS};
use crate::gpu::plan::Module;
use crate::process::settings::{HostOrDevice, Precision};

/// Up to this many bytes of partial sums are joined on the host, unless a setting decides. This takes a longer download
/// but saves a kernel. On an H100 both ways took the same time at 57 kB.
pub(super) const JOINED_BY_HOST: usize = 48 << 10;

/// Up to so many bytes of results are written by the kernels directly to the host's memory. On an H100 writing 64 kB
/// took 1 microsecond where copying took 4.5; writing 256 kB took 5.
const WRITTEN_BY_KERNEL: usize = 256 << 10;

/// Threads and i-particles of a thread block of the kernel that joins sums, as in the kernels' sources.
const JOIN_THREADS: u32 = 256;
const JOIN_COLUMNS: u32 = 32;

/// Threads of a thread block of the kernels that look for neighbours, as in the kernels' sources.
pub const NEIGHBOUR_THREADS: u32 = 128;

/// What a device is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Number of i-particles, at least one.
    pub ni: usize,
    /// Precision of the pair loop.
    pub precision: Precision,
    /// Whether any particle moves, so that there are jerks.
    pub jerk: bool,
    /// Whether nearest neighbours are wanted.
    pub nearest: bool,
    /// Where sums are joined.
    pub join: HostOrDevice,
    /// Whether the force kernel is one of the kernels `step_*`, which bring the pages up to date before they sum.
    pub step: bool,
}

/// A kernel to launch.
#[derive(Debug, PartialEq)]
pub struct Launch {
    /// The module that has it.
    pub module: Module,
    /// Its name.
    pub kernel: String,
    /// Thread blocks.
    pub grid: (u32, u32),
    /// Threads of a thread block.
    pub block: (u32, u32),
}

/// The results of a block as they lie in memory: the sums, then the nearest neighbours' squared distances,
/// then their labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultLayout {
    /// Numbers in the sums.
    pub sums: usize,
    /// Nearest neighbours.
    pub nearest: usize,
}

impl ResultLayout {
    /// Bytes before the squared distances.
    pub fn r2(&self) -> usize {
        self.sums * 8
    }

    /// Bytes before the labels.
    pub fn labels(&self) -> usize {
        self.r2() + self.nearest * 8
    }

    /// Bytes in all.
    pub fn bytes(&self) -> usize {
        self.labels() + self.nearest * 4
    }
}

/// Where the arrays that were sent for a block lie.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// i-particles.
    pub particles: Pointer,
    /// Places of the pages on the device, in address order.
    pub order: Pointer,
    /// [`JoinSchedule::joins`].
    pub joins: Pointer,
    /// [`JoinSchedule::first_sum`].
    pub first_sum: Pointer,
    /// [`JoinSchedule::steps`].
    pub steps: Pointer,
    /// [`JoinSchedule::rounds`].
    pub rounds: Pointer,
    /// The sums of [`JoinSchedule::kept`].
    pub kept: Pointer,
}

/// Where the buffers lie that the kernels write to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buffers {
    /// [`ResultLayout::bytes`].
    pub results: Pointer,
    /// [`BlockPlan::sum_bytes`].
    pub sums: Pointer,
    /// [`BlockPlan::candidate_bytes`].
    pub candidates: Pointer,
}

/// The plan of one block on one device.
#[derive(Debug)]
pub struct BlockPlan {
    wanted: Wanted,
    division: LaunchPlan,
    /// Whether the host joins the sums of the parts.
    pub host_joins: bool,
    /// Whether kernels may write the results to memory of the host.
    pub may_write_to_host: bool,
    /// How the results lie in memory.
    pub results: ResultLayout,
    /// Sums that all parts leave.
    sums: u32,
    /// Rounds in which they are joined.
    rounds: u32,
    /// Sums that remain after the last round.
    kept: u32,
    /// Bytes of all partial sums.
    every_sum: usize,
}

impl BlockPlan {
    /// The plan for a block with this division, and the join schedule of its parts.
    pub fn new(wanted: Wanted, division: &LaunchPlan, tree: &JoinSchedule) -> Self {
        let Wanted { ni, nearest, .. } = wanted;
        let every_sum = tree.sums as usize * SUMS * ni * 8;
        // Whether a thread block reads sums again that it has written.
        let rereads = tree.joins.iter().any(|&n| n > 0);
        let host_joins = match wanted.join {
            HostOrDevice::Host => true,
            HostOrDevice::Device => false,
            HostOrDevice::Auto => every_sum <= JOINED_BY_HOST && !rereads,
        };
        let sums = match host_joins {
            true => tree.sums as usize,
            false => tree.kept.len(),
        };
        let results = ResultLayout {
            sums: sums * SUMS * ni,
            nearest: if nearest { ni } else { 0 },
        };
        Self {
            wanted,
            division: *division,
            host_joins,
            may_write_to_host: results.bytes() <= WRITTEN_BY_KERNEL && !(host_joins && rereads),
            results,
            sums: tree.sums,
            rounds: tree.rounds.len() as u32,
            kept: tree.kept.len() as u32,
            every_sum,
        }
    }

    /// Whether it is for so many i-particles.
    pub fn is_for(&self, ni: usize) -> bool {
        self.wanted.ni == ni
    }

    /// Bytes of partial sums that stay on the device.
    pub fn sum_bytes(&self) -> usize {
        if self.host_joins { 0 } else { self.every_sum }
    }

    /// Bytes of the candidates for the nearest neighbour. For each i-particle, each part leaves the smallest and the
    /// second smallest squared distance, and the leaf with the smallest.
    pub fn candidate_bytes(&self) -> usize {
        self.division.parts * self.results.nearest * (8 + 8 + 4)
    }

    /// The kernels, in the order of their launches.
    pub fn launches(&self) -> Vec<Launch> {
        let Wanted { ni, precision, .. } = self.wanted;
        let (ni, division) = (ni as u32, &self.division);
        let name = precision.in_kernels();
        let nearest = if self.wanted.nearest { "_nearest" } else { "" };
        let jerk = if self.wanted.jerk { "jerk" } else { "still" };
        let mut launches = vec![Launch {
            module: Module::Forces(precision),
            kernel: match self.wanted.step {
                true => format!("step_{name}{nearest}"),
                false => format!("force_{name}_{jerk}{nearest}_{}", division.tile),
            },
            grid: (division.blocks as u32, division.parts as u32),
            block: (division.columns as u32, division.rows as u32),
        }];
        let mut also = |kernel: &str, grid, threads| {
            launches.push(Launch {
                module: Module::Common,
                kernel: kernel.to_owned(),
                grid,
                block: (threads, 1),
            });
        };
        if !self.host_joins {
            let grid = (ni.div_ceil(JOIN_COLUMNS), SUMS as u32);
            also("join_sums", grid, JOIN_THREADS);
        }
        if self.wanted.nearest {
            also("nearest_neighbours", (ni, 1), NEIGHBOUR_THREADS);
        }
        launches
    }

    /// The kernels' arguments that the plan knows; the others are zero.
    pub fn arguments(&self, sent: &Sent, buffers: &Buffers) -> ForceArgs {
        // Null where nobody asks for neighbours: the address of a buffer that was not reserved may be another's.
        let if_nearest = |address: Pointer| if self.wanted.nearest { address } else { 0 };
        let Wanted { ni, precision, .. } = self.wanted;
        let Buffers { results, .. } = *buffers;
        let of_parts = (self.division.parts * ni * 8) as Pointer;
        let least = buffers.candidates;
        let (count, keep) = match self.host_joins {
            true => (0, 0),
            false => (self.rounds, self.kept),
        };
        ForceArgs {
            particles: sent.particles,
            order: sent.order,
            joins: sent.joins,
            first_sum: sent.first_sum,
            sums: match self.host_joins {
                true => results,
                false => buffers.sums,
            },
            least: if_nearest(least),
            second: if_nearest(least + of_parts),
            leaf: if_nearest(least + 2 * of_parts),
            joining: Joining {
                steps: sent.steps,
                rounds: sent.rounds,
                kept: sent.kept,
                results,
                count,
                keep,
                sums: self.sums,
                unused: 0,
            },
            deciding: Deciding {
                r2: if_nearest(results + self.results.r2() as Pointer),
                label: if_nearest(results + self.results.labels() as Pointer),
                precision: coordinate_error(precision),
                farthest: farthest(precision),
            },
            ni: ni as u32,
            parts: self.division.parts as u32,
            ..ForceArgs::default()
        }
    }
}

/// Up to this distance, and up to these coordinates, an empty slot cannot be taken for a particle.
fn farthest(precision: Precision) -> f64 {
    match precision {
        Precision::Double => 1e140,
        Precision::Mixed | Precision::Single | Precision::Reduced | Precision::DoubleSingle => {
            FARTHEST
        }
    }
}

/// Relative error of a coordinate in the pair loop.
fn coordinate_error(precision: Precision) -> f64 {
    2.0_f64.powi(match precision {
        Precision::Double => -51,
        Precision::Mixed | Precision::DoubleSingle => -46,
        Precision::Single | Precision::Reduced => -22,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::plan::chip::Conditions;

    fn plan(wanted: Wanted, pages: u32, split: bool) -> (BlockPlan, JoinSchedule) {
        let h100 = Conditions {
            multiprocessors: 132,
            capability: (9, 0),
            precision: wanted.precision,
            split,
        };
        let division = LaunchPlan::new(wanted.ni, pages as usize, &h100);
        let numbers: Vec<u32> = (0..pages).collect();
        let tree = JoinSchedule::new(&numbers, division.parts, 0, None);
        (BlockPlan::new(wanted, &division, &tree), tree)
    }

    const FORCES: Wanted = Wanted {
        ni: 16,
        precision: Precision::Mixed,
        jerk: true,
        nearest: false,
        step: false,
        join: HostOrDevice::Auto,
    };

    fn names(plan: &BlockPlan) -> Vec<String> {
        let names = plan.launches().into_iter().map(|launch| launch.kernel);
        names.collect()
    }

    fn every_block() -> impl Iterator<Item = (Wanted, u32, bool)> {
        let sizes = [1, 16, 100, 128, 1000, 65536];
        let shapes = sizes.into_iter().flat_map(|ni| {
            [1, 2, 33, 256].into_iter().flat_map(move |pages| {
                [HostOrDevice::Auto, HostOrDevice::Host, HostOrDevice::Device]
                    .map(|join| (ni, pages, join))
            })
        });
        shapes.flat_map(|(ni, pages, join)| {
            [(true, true), (true, false), (false, true), (false, false)].map(|(nearest, split)| {
                let wanted = Wanted {
                    ni,
                    nearest,
                    join,
                    ..FORCES
                };
                (wanted, pages, split)
            })
        })
    }

    #[test]
    fn few_sums_are_joined_by_the_host_and_many_by_the_device() {
        let (few, tree) = plan(Wanted { ni: 1, ..FORCES }, 32, true);
        assert!(tree.sums > 1 && few.host_joins, "{few:?}");
        assert_eq!(few.results.sums, tree.sums as usize * SUMS);
        assert_eq!(names(&few), ["force_mixed_jerk_1"]);
        assert_eq!(few.sum_bytes(), 0);

        let (many, tree) = plan(Wanted { ni: 100, ..FORCES }, 256, true);
        assert!(!many.host_joins, "{many:?}");
        assert_eq!(many.results.sums, tree.kept.len() * SUMS * 100);
        assert_eq!(many.sum_bytes(), tree.sums as usize * SUMS * 100 * 8);

        // As many parts as pages, so that no thread block reads what it has written; but too much to send.
        let (wide, tree) = plan(Wanted { ni: 128, ..FORCES }, 32, true);
        assert!(tree.joins.iter().all(|&n| n == 0), "{tree:?}");
        assert!(!wide.host_joins && wide.sum_bytes() > JOINED_BY_HOST);

        // A part of many pages joins by itself, and so reads what it has written: not across the bus.
        let (alone, tree) = plan(Wanted { ni: 1, ..FORCES }, 32, false);
        assert!(tree.joins.iter().any(|&n| n > 0) && !alone.host_joins);
    }

    #[test]
    fn the_setting_says_who_joins() {
        for (wanted, pages, split) in every_block() {
            let (plan, _) = plan(wanted, pages, split);
            let expected = match wanted.join {
                HostOrDevice::Host => true,
                HostOrDevice::Device => false,
                HostOrDevice::Auto => continue,
            };
            assert_eq!(plan.host_joins, expected, "{plan:?}");
        }
    }

    #[test]
    fn kernels_cover_the_block() {
        for (wanted, pages, split) in every_block() {
            let (plan, _) = plan(wanted, pages, split);
            let launches = plan.launches();
            let mut expected = Vec::new();
            if !plan.host_joins {
                expected.push("join_sums");
            }
            if wanted.nearest {
                expected.push("nearest_neighbours");
            }
            let behind: Vec<_> = launches[1..].iter().map(|l| l.kernel.as_str()).collect();
            assert_eq!(behind, expected, "{plan:?}");
            for launch in &launches {
                let threads = launch.block.0 * launch.block.1;
                let covered = match launch.kernel.as_str() {
                    "join_sums" => {
                        assert_eq!((threads, launch.grid.1), (JOIN_THREADS, SUMS as u32));
                        launch.grid.0 * JOIN_COLUMNS
                    }
                    "nearest_neighbours" => launch.grid.0,
                    _ => launch.grid.0 * launch.block.0 * plan.division.tile as u32,
                };
                assert!(covered as usize >= wanted.ni, "{launch:?}");
                let is_there = launch.module.kernel(&launch.kernel).is_some();
                assert!(is_there, "{launch:?}");
            }
        }
    }

    /// Every array that a kernel writes lies within the buffer that was reserved for it, and overlaps no other.
    #[test]
    fn arrays_fill_the_buffers() {
        for (wanted, pages, split) in every_block() {
            let (plan, tree) = plan(wanted, pages, split);
            let buffers = Buffers {
                results: 1 << 40,
                sums: 2 << 40,
                candidates: 3 << 40,
            };
            let args = plan.arguments(&Sent::default(), &buffers);
            let ni = wanted.ni;
            let mut arrays = Vec::new();
            let sums = |count: usize| count * SUMS * ni * 8;
            arrays.push((args.sums, sums(tree.sums as usize)));
            assert_eq!(args.joining.sums, tree.sums);
            let Joining { count, keep, .. } = args.joining;
            let on_device = (tree.rounds.len() as u32, tree.kept.len() as u32);
            let expected = if plan.host_joins { (0, 0) } else { on_device };
            assert_eq!((count, keep), expected, "{plan:?}");
            if !plan.host_joins {
                arrays.push((args.joining.results, sums(args.joining.keep as usize)));
            }
            let of_parts = plan.division.parts * ni;
            if wanted.nearest {
                arrays.extend([
                    (args.least, of_parts * 8),
                    (args.second, of_parts * 8),
                    (args.leaf, of_parts * 4),
                    (args.deciding.r2, ni * 8),
                    (args.deciding.label, ni * 4),
                ]);
            } else {
                let absent = [args.least, args.second, args.leaf];
                assert_eq!(absent, [0; 3]);
                assert_eq!((args.deciding.r2, args.deciding.label), (0, 0));
            }
            arrays.sort_unstable();
            for (buffer, bytes) in [
                (buffers.results, plan.results.bytes()),
                (buffers.sums, plan.sum_bytes()),
                (buffers.candidates, plan.candidate_bytes()),
            ] {
                let mut end = buffer;
                for &(begin, bytes) in &arrays {
                    if begin >> 40 == buffer >> 40 {
                        assert_eq!(begin, end, "{plan:?}");
                        end += bytes as Pointer;
                    }
                }
                assert_eq!(end, buffer + bytes as Pointer, "{plan:?}");
            }
        }
    }

    #[test]
    fn results_are_written_to_the_host_while_they_are_few_and_not_read_again() {
        let (few, _) = plan(FORCES, 1, true);
        assert!(few.may_write_to_host, "{few:?}");
        let many = Wanted {
            ni: 65536,
            ..FORCES
        };
        let (many, _) = plan(many, 1, true);
        assert!(!many.may_write_to_host, "{many:?}");
        let read_again = Wanted {
            ni: 1,
            join: HostOrDevice::Host,
            ..FORCES
        };
        let (read_again, _) = plan(read_again, 32, false);
        assert!(!read_again.may_write_to_host, "{read_again:?}");
    }
}
