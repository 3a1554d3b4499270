//! Neighbour lists on a device: neighbours are counted first, then listed.

use super::{DeviceQueue, Job, Module, Result, bytes_of, i_record};
use crate::backend::cuda::layout::{IRecord, ListArgs};
use crate::backend::cuda::plan::block::NEIGHBOUR_THREADS;
use crate::error;
use crate::grape::neighbours::{ListRules, PURPOSE};
use crate::process::allocation;

/// Most labels that are fetched together.
const LABELS: usize = 1 << 24;

impl DeviceQueue {
    /// The labels of the neighbours of each i-particle, in address order, added to `found`, and their
    /// number to `listed`. The memory is as the last job left it.
    ///
    /// # Errors
    ///
    /// Those of the driver; the queue is of no use then. Inside: the lists are too long, or the host has no
    /// memory for them.
    pub fn add_lists(
        &mut self,
        job: &Job<'_>,
        rules: ListRules,
        listed: &mut usize,
        found: &mut [Vec<i32>],
    ) -> Result<error::Result<()>> {
        if job.pages == 0 || job.particles.is_empty() {
            return Ok(Ok(()));
        }
        let current = self.lease.enter()?;
        self.settle(&current)?;
        let count = self.kernel(&current, Module::Common, "count_neighbours".to_owned())?;
        let fill = self.kernel(&current, Module::Common, "fill_neighbours".to_owned())?;
        let conditions = self.conditions();
        let ni = job.particles.len();
        let room = bytes_of::<IRecord>(ni) + bytes_of::<u32>(job.pages) + bytes_of::<u64>(ni);
        self.upload.begin(&current, room, false)?;
        let Self { store, upload, .. } = self;
        let particles = upload.put_each(ni, job.particles.iter().map(i_record));
        let order = upload.put_each(job.pages, job.run.iter().map(|&p| store.place(p)));
        self.candidates.reserve(&current, ni * 4)?;
        self.pinned.reserve(&current, ni * 4)?;
        self.upload.send(&self.stream)?;
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
        let block = (NEIGHBOUR_THREADS, 1);
        let clocks = |ni| conditions.list_clocks(ni, job.pages);
        self.expect(clocks(ni));
        // SAFETY: as in `block`.
        unsafe {
            self.stream.launch(count, (ni as u32, 1), block, &args)?;
            self.stream
                .download(self.pinned.start(), args.counts, ni * 4)?;
        }
        self.wait(&current)?;
        // SAFETY: written by the copy that was waited for.
        let counts =
            unsafe { std::slice::from_raw_parts(self.pinned.start().cast::<u32>(), ni) }.to_vec();
        *listed += counts.iter().map(|&count| count as usize).sum::<usize>();
        if let Err(error) = rules.allow(*listed) {
            return Ok(Err(error));
        }

        let mut begin = 0;
        while begin < ni {
            // As many lists as fit, at least one.
            let mut total = 0;
            let mut end = begin;
            let mut begins = Vec::new();
            while end < ni && (end == begin || total + counts[end] as usize <= LABELS) {
                begins.push(total as u64);
                total += counts[end] as usize;
                end += 1;
            }
            if total > 0 {
                self.upload.begin(&current, room, false)?;
                let chosen = &job.particles[begin..end];
                args.particles = self
                    .upload
                    .put_each(chosen.len(), chosen.iter().map(i_record));
                let store = &self.store;
                let places = job.run.iter().map(|&p| store.place(p));
                args.order = self.upload.put_each(job.pages, places);
                args.begins = self.upload.put(&begins);
                args.ni = chosen.len() as u32;
                self.sums.reserve(&current, total * 4)?;
                self.pinned.reserve(&current, total * 4)?;
                args.labels = self.sums.address();
                self.upload.send(&self.stream)?;
                self.expect(clocks(chosen.len()));
                // SAFETY: as above.
                unsafe {
                    self.stream.launch(fill, (args.ni, 1), block, &args)?;
                    self.stream
                        .download(self.pinned.start(), args.labels, total * 4)?;
                }
                self.wait(&current)?;
                // SAFETY: written by the copy that was waited for.
                let mut labels =
                    unsafe { std::slice::from_raw_parts(self.pinned.start().cast::<i32>(), total) };
                for (list, &count) in found[begin..end].iter_mut().zip(&counts[begin..end]) {
                    let (mine, others) = labels.split_at(count as usize);
                    if let Err(error) = allocation::reserve(list, mine.len(), PURPOSE) {
                        return Ok(Err(error));
                    }
                    list.extend_from_slice(mine);
                    labels = others;
                }
            }
            begin = end;
        }
        Ok(Ok(()))
    }
}
