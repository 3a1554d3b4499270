//! Neighbour lists on a device: neighbours are counted first, then listed.

use super::{Current, DeviceJob, DeviceQueue, Module, Result, bytes_of, i_record};
use crate::error;
use crate::gpu::cuda::driver::Kernel;
use crate::gpu::layout::{IRecord, ListArgs, Pod, Pointer};
use crate::gpu::plan::block::NEIGHBOUR_THREADS;
use crate::process::allocation;
use crate::sources::neighbours::{ListRules, PURPOSE};
use crate::sources::particle::IParticle;

/// Most labels that are fetched together.
const LABELS: usize = 1 << 24;

impl DeviceQueue {
    /// Adds to `found` the labels of each i-particle's neighbours, in address order, and their number to `listed`.
    /// The device's memory must be as the last job left it.
    ///
    /// # Errors
    ///
    /// The outer error is one of the driver; the queue is unusable afterwards. The inner error says that the lists
    /// are too long, or that the host has no memory for them.
    pub fn add_lists(
        &mut self,
        job: &DeviceJob<'_>,
        rules: ListRules,
        listed: &mut usize,
        found: &mut [Vec<i32>],
    ) -> Result<error::Result<()>> {
        if job.pages == 0 || job.particles.is_empty() {
            return Ok(Ok(()));
        }
        let current = self.context.enter()?;
        self.settle(&current)?;
        let count = self.kernel(&current, Module::Common, "count_neighbours".to_owned())?;
        let fill = self.kernel(&current, Module::Common, "fill_neighbours".to_owned())?;
        let ni = job.particles.len();
        let (particles, order) = self.put(&current, job, job.particles)?;
        self.candidates.reserve(&current, ni * 4)?;
        let mut args = ListArgs {
            j: self.store.sources(job.units),
            particles,
            order,
            counts: self.candidates.address(),
            nj: job.nj as u64,
            ni: ni as u32,
            pages: job.pages as u32,
            include_self: u32::from(rules.include_self),
            ..ListArgs::default()
        };
        // SAFETY: the kernel writes a number for each i-particle.
        let counts =
            unsafe { self.fetch::<u32>(&current, count, &args, args.counts, ni) }?.to_vec();
        *listed += counts.iter().map(|&count| count as usize).sum::<usize>();
        if let Err(error) = rules.allow(*listed) {
            return Ok(Err(error));
        }

        let mut begin = 0;
        while begin < ni {
            let (begins, total) = fitting(&counts[begin..]);
            let chosen = begin..begin + begins.len();
            begin = chosen.end;
            if total == 0 {
                continue;
            }
            (args.particles, args.order) =
                self.put(&current, job, &job.particles[chosen.clone()])?;
            args.begins = self.upload.put(&begins);
            args.ni = begins.len() as u32;
            self.sums.reserve(&current, total * 4)?;
            args.labels = self.sums.address();
            // SAFETY: the kernel writes as many labels as it has counted.
            let mut labels =
                unsafe { self.fetch::<i32>(&current, fill, &args, args.labels, total) }?;
            for (list, &count) in found[chosen.clone()].iter_mut().zip(&counts[chosen]) {
                let (mine, others) = labels.split_at(count as usize);
                if let Err(error) = allocation::reserve(list, mine.len(), PURPOSE) {
                    return Ok(Err(error));
                }
                list.extend_from_slice(mine);
                labels = others;
            }
        }
        Ok(Ok(()))
    }

    /// Begins an upload with `particles` and the places of the job's pages, and leaves room in it for where each
    /// list begins.
    fn put(
        &mut self,
        current: &Current<'_>,
        job: &DeviceJob<'_>,
        particles: &[IParticle],
    ) -> Result<(Pointer, Pointer)> {
        let ni = job.particles.len();
        let room = bytes_of::<IRecord>(ni) + bytes_of::<u32>(job.pages) + bytes_of::<u64>(ni);
        self.upload.begin(current, room, false)?;
        let Self { store, upload, .. } = self;
        let records = upload.put_each(particles.len(), particles.iter().map(i_record));
        let order = upload.put_each(job.pages, job.run.iter().map(|&p| store.place(p)));
        Ok((records, order))
    }

    /// Sends what was put, launches a kernel, and fetches `length` numbers that it leaves at `from`.
    ///
    /// # Safety
    ///
    /// The kernel writes these numbers, of four bytes each, and `args` is what it takes.
    unsafe fn fetch<T: Pod>(
        &mut self,
        current: &Current<'_>,
        kernel: Kernel,
        args: &ListArgs,
        from: Pointer,
        length: usize,
    ) -> Result<&[T]> {
        const { assert!(size_of::<T>() == 4) };
        self.pinned.reserve(current, length * 4)?;
        self.upload.send(&self.stream)?;
        self.expect(
            self.conditions()
                .list_clocks(args.ni as usize, args.pages as usize),
        );
        // SAFETY: passed on; the upload and the buffers are kept until the wait ends.
        unsafe {
            self.stream
                .launch(kernel, (args.ni, 1), (NEIGHBOUR_THREADS, 1), args)?;
            self.stream
                .download(self.pinned.start(), from, length * 4)?;
        }
        self.wait(current)?;
        // SAFETY: written by the copy that was waited for.
        Ok(unsafe { std::slice::from_raw_parts(self.pinned.start().cast::<T>(), length) })
    }
}

/// Returns where each list begins, and how many labels these lists have together. `counts` are the lengths of the
/// lists. Treats the first lists only: as many as one fetch has room for, but at least one.
fn fitting(counts: &[u32]) -> (Vec<u64>, usize) {
    let mut begins = Vec::new();
    let mut total = 0;
    for &count in counts {
        let count = count as usize;
        if !begins.is_empty() && total + count > LABELS {
            break;
        }
        begins.push(total as u64);
        total += count;
    }
    (begins, total)
}
