//! The launches of one block: forces, joining, nearest neighbours, and the copy of the results.

use super::{Current, Job, Module, NEIGHBOUR_THREADS, Queued, Result, Unit, bytes_of, i_record};
use crate::backend::cuda::layout::{
    AdvanceArgs, ForceArgs, IRecord, JoinArgs, NearestArgs, Pointer, SUMS,
};
use crate::backend::cuda::plan::Plan;
use crate::backend::cuda::tree::Tree;
use crate::config::{Place, Precision};

/// Bytes of partial sums up to which the host joins them, where it may choose: the copy costs less
/// than another launch.
const JOINED_BY_HOST: usize = 16 << 10;

/// Threads of the kernel that joins, as in the sources.
const JOIN_THREADS: u32 = 256;

impl Unit {
    /// Bytes to send for a block, without the changes.
    pub(super) fn block_bytes(&self, job: &Job<'_>, plan: &Plan) -> usize {
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
        plan: &Plan,
        advance: Option<(AdvanceArgs, u32)>,
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
        let on_host = match job.join {
            Place::Host => true,
            Place::Device => false,
            Place::Auto => every_sum <= JOINED_BY_HOST,
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
        let join = JoinArgs {
            steps,
            rounds,
            kept,
            count: tree.rounds.len() as u32,
            keep: tree.kept.len() as u32,
            ni: ni as u32,
            ..JoinArgs::default()
        };

        let rows = plan.parts * plan.rows;
        let answer = queued.sums + if job.nearest { ni * (8 + 4) } else { 0 };
        self.answer.reserve(current, answer)?;
        self.pinned.reserve(current, answer)?;
        if !on_host {
            self.sums.reserve(current, every_sum)?;
        }
        if job.nearest {
            self.candidates.reserve(current, rows * ni * (8 + 8 + 4))?;
        }
        let results = self.answer.address();
        let sums = if on_host {
            results
        } else {
            self.sums.address()
        };
        let least = self.candidates.address();
        let second = least + (rows * ni * 8) as Pointer;
        let leaf = second + (rows * ni * 8) as Pointer;

        self.upload.send(&self.stream)?;
        self.launch_advance(current, advance)?;
        let kernel = self.kernel(
            current,
            Module::Forces(self.precision),
            format!(
                "force_{}_{}{}_{}",
                self.precision,
                if job.jerk { "jerk" } else { "still" },
                if job.nearest { "_nearest" } else { "" },
                plan.tile
            ),
        )?;
        let args = ForceArgs {
            j,
            particles,
            order,
            joins,
            first_sum,
            sums,
            least,
            second,
            leaf,
            nj: job.nj as u64,
            ni: ni as u32,
            pages: job.pages as u32,
            parts: plan.parts as u32,
            unused: 0,
        };
        let grid = (plan.blocks as u32, plan.parts as u32);
        // SAFETY: what the kernel takes. Sources, uploads and buffers have the sizes that the plan
        // and the tree ask for, and stay until the queue was waited for.
        unsafe {
            self.stream
                .launch(kernel, grid, (plan.columns as u32, plan.rows as u32), &args)?
        };
        if !on_host {
            let kernel = self.kernel(current, Module::Common, "join_sums".to_owned())?;
            let columns = (ni as u32).next_power_of_two().min(32);
            let block = (columns, JOIN_THREADS / columns);
            let args = JoinArgs {
                sums,
                results,
                ..join
            };
            // SAFETY: as above.
            unsafe {
                self.stream
                    .launch(kernel, ((ni as u32).div_ceil(columns), 1), block, &args)?
            };
        }
        if job.nearest {
            let kernel = self.kernel(current, Module::Common, "nearest_neighbours".to_owned())?;
            let r2 = results + queued.sums as Pointer;
            let args = NearestArgs {
                j,
                particles,
                order,
                least,
                second,
                leaf,
                r2,
                label: r2 + (ni * 8) as Pointer,
                nj: job.nj as u64,
                precision: self.coordinate_error(),
                ni: ni as u32,
                pages: job.pages as u32,
                candidates: rows as u32,
                unused: 0,
            };
            // SAFETY: as above.
            unsafe {
                self.stream
                    .launch(kernel, (ni as u32, 1), (NEIGHBOUR_THREADS, 1), &args)?
            };
        }
        // SAFETY: both buffers have the size; the pinned one is not touched before the next wait.
        unsafe { self.stream.download(self.pinned.start(), results, answer)? };
        Ok(queued)
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
