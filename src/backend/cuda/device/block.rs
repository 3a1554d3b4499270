//! The launches of one block: forces, joining, nearest neighbours, and the copy of the results.

use super::{
    Current, DeviceQueue, Job, Module, NEIGHBOUR_THREADS, Queued, Result, bytes_of, i_record,
};
use crate::backend::cuda::layout::{
    AdvanceArgs, Deciding, ForceArgs, IRecord, Joining, Pointer, SUMS,
};
use crate::backend::cuda::plan::LaunchPlan;
use crate::backend::cuda::plan::tree::Tree;
use crate::backend::scaling::FARTHEST;
use crate::process::settings::{Place, Precision};

/// Bytes of partial sums up to which the host joins them, where it may choose: what is more to
/// send costs less than the rounds of the tree on the device, each of which waits for its memory twice.
const JOINED_BY_HOST: usize = 16 << 10;

/// Bytes of partial sums for the i-particles of one thread block up to which the last of the blocks
/// that share them makes the results. One multiprocessor reads so much in about the time of the
/// launches that this saves (64 bytes a clock, 2 to 3 microseconds a launch); no GPU was asked yet.
const JOINED_BY_LAST: usize = 256 << 10;

/// Bytes of results up to which the kernels write them to the memory of the host: more slowly than a
/// copy would, but that begins some microseconds after the last kernel; no GPU was asked yet.
const WRITTEN_BY_KERNEL: usize = 64 << 10;

/// Threads and i-particles of a thread block of the kernel that joins, as in the sources.
const JOIN_THREADS: u32 = 256;
const JOIN_COLUMNS: u32 = 32;

impl DeviceQueue {
    /// Bytes to send for a block, without the changes.
    pub(super) fn block_bytes(&self, job: &Job<'_>, plan: &LaunchPlan) -> usize {
        let tree = &self.trees.by_parts[&plan.parts];
        bytes_of::<IRecord>(job.particles.len())
            + bytes_of::<u32>(job.pages)
            + bytes_of::<u8>(tree.joins.len())
            + bytes_of::<u32>(tree.first_sum.len())
            + bytes_of::<[u32; 2]>(tree.steps.len())
            + bytes_of::<u32>(tree.rounds.len())
            + bytes_of::<u32>(tree.kept.len())
    }

    /// Queues the forces on the i-particles, and the copy of the results.
    pub(super) fn block(
        &mut self,
        current: &Current<'_>,
        job: &Job<'_>,
        plan: &LaunchPlan,
        advance: Option<AdvanceArgs>,
    ) -> Result<Queued> {
        let ni = job.particles.len();
        let Self {
            store,
            upload,
            trees,
            ..
        } = self;
        let tree = &trees.by_parts[&plan.parts];
        let particles = upload.put_each(ni, job.particles.iter().map(i_record));
        let order = upload.put_each(job.pages, job.run.iter().map(|&p| store.place(p)));
        let joins = upload.put(&tree.joins);
        let first_sum = upload.put(&tree.first_sum);
        let steps = upload.put(&tree.steps);
        let rounds = upload.put(&tree.rounds);
        let kept = upload.put_each(tree.kept.len(), tree.kept.iter().map(|&(_, sum)| sum));
        let j = store.sources(job.units);

        let every_sum = tree.sums as usize * SUMS * ni * 8;
        // Whether a thread block reads sums that it has left before.
        let rereads = tree.joins.iter().any(|&n| n > 0);
        let on_host = match job.join {
            Place::Host => true,
            Place::Device => false,
            Place::Auto => every_sum <= JOINED_BY_HOST && !rereads,
        };
        let count = if on_host {
            tree.sums as usize
        } else {
            tree.kept.len()
        };
        let queued = Queued {
            ni,
            unjoined: on_host.then_some(plan.parts),
            kept: tree.kept.clone(),
            sums: count * SUMS * ni * 8,
            nearest: job.nearest,
        };
        let of_a_block = tree.sums as usize * SUMS * ni.min(plan.columns) * 8;
        let is_wanted = job.nearest || !on_host;
        let last = is_wanted && plan.tile == 1 && of_a_block <= JOINED_BY_LAST;

        let answer = queued.sums + if job.nearest { ni * (8 + 4) } else { 0 };
        self.pinned.reserve(current, answer)?;
        let direct =
            (self.pinned.mapped()).filter(|_| answer <= WRITTEN_BY_KERNEL && !(on_host && rereads));
        if direct.is_none() {
            self.answer.reserve(current, answer)?;
        }
        if !on_host {
            self.sums.reserve(current, every_sum)?;
        }
        if job.nearest {
            self.candidates
                .reserve(current, plan.parts * ni * (8 + 8 + 4))?;
        }
        self.redone.reserve(current, &self.stream)?;
        if last {
            self.done.reserve(current, &self.stream, plan.blocks * 4)?;
        }
        let results = direct.unwrap_or(self.answer.address());
        // Behind what was reserved lies what another device may own.
        let if_nearest = |address: Pointer| if job.nearest { address } else { 0 };
        let of_parts = (plan.parts * ni * 8) as Pointer;
        let least = self.candidates.address();
        let r2 = results + queued.sums as Pointer;
        let mut joining = Joining {
            steps,
            rounds,
            kept,
            results,
            ..Joining::default()
        };
        if !on_host {
            joining.count = tree.rounds.len() as u32;
            joining.keep = tree.kept.len() as u32;
        }
        let args = ForceArgs {
            j,
            particles,
            order,
            joins,
            first_sum,
            sums: if on_host {
                results
            } else {
                self.sums.address()
            },
            least: if_nearest(least),
            second: if_nearest(least + of_parts),
            leaf: if_nearest(least + 2 * of_parts),
            joining,
            deciding: Deciding {
                r2: if_nearest(r2),
                label: if_nearest(r2 + (ni * 8) as Pointer),
                precision: self.coordinate_error(),
                farthest: self.farthest(),
            },
            redone: self.redone.address(),
            root: self.root,
            inverse_root: 1.0 / self.root,
            done: if last { self.done.address() } else { 0 },
            nj: job.nj as u64,
            ti: job.ti,
            ni: ni as u32,
            pages: job.pages as u32,
            parts: plan.parts as u32,
            minus_three: (-3.0 / (self.root * self.root)) as f32,
        };

        self.upload.send(&self.stream)?;
        self.launch_advance(current, advance)?;
        self.expect(plan.clocks);
        let force = format!(
            "force_{}_{}{}_{}",
            self.precision,
            if job.jerk { "jerk" } else { "still" },
            if job.nearest { "_nearest" } else { "" },
            plan.tile
        );
        let grid = (plan.blocks as u32, plan.parts as u32);
        let block = (plan.columns as u32, plan.rows as u32);
        let of_precision = Module::Forces(self.precision);
        let mut launches = vec![(of_precision, force, grid, block)];
        if !last && !on_host {
            let grid = ((ni as u32).div_ceil(JOIN_COLUMNS), SUMS as u32);
            let name = "join_sums".to_owned();
            launches.push((Module::Common, name, grid, (JOIN_THREADS, 1)));
        }
        if !last && job.nearest {
            let name = "nearest_neighbours".to_owned();
            launches.push((Module::Common, name, (ni as u32, 1), (NEIGHBOUR_THREADS, 1)));
        }
        for (module, name, grid, block) in launches {
            let kernel = self.kernel(current, module, name)?;
            // SAFETY: what these kernels take. Sources, uploads and buffers have the sizes that the plan
            // and the tree ask for, and stay until the queue was waited for.
            unsafe { self.stream.launch(kernel, grid, block, &args)? };
        }
        if direct.is_none() {
            // SAFETY: both buffers have the size; the pinned one is not touched before the next wait.
            unsafe { self.stream.download(self.pinned.start(), results, answer)? };
        }
        self.redone.fetch(&self.stream)?;
        Ok(queued)
    }

    /// Distances and coordinates up to which no absent particle is taken for a present one.
    fn farthest(&self) -> f64 {
        match self.precision {
            Precision::Double => 1e140,
            Precision::Mixed | Precision::Single => FARTHEST,
        }
    }

    /// Relative error of a coordinate as the pair loop sees it.
    fn coordinate_error(&self) -> f64 {
        2.0_f64.powi(match self.precision {
            Precision::Double => -51,
            Precision::Mixed => -46,
            Precision::Single => -22,
        })
    }
}

/// Does with the partial sums what the kernel `join_sums` does: those kept come first.
pub(super) fn join_on_host(tree: &Tree, sums: &mut [f64], ni: usize) {
    let width = SUMS * ni;
    for &[to, from] in &tree.steps {
        let (to, from) = (to as usize * width, from as usize * width);
        for n in 0..width {
            sums[to + n] += sums[from + n];
        }
    }
    for (n, &(_, sum)) in tree.kept.iter().enumerate() {
        sums.copy_within(sum as usize * width..(sum as usize + 1) * width, n * width);
    }
}
