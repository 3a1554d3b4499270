//! What stays on the device from block to block: the order of the pages and the join schedules of one run of pages.

use std::collections::HashMap;

use super::plans::RunKey;
use super::{DeviceJob, Store, bytes_of};
use crate::gpu::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};
use crate::gpu::cuda::driver::{Current, Result, Stream};
use crate::gpu::layout::{Pod, Pointer};
use crate::gpu::plan::block::Sent;
use crate::gpu::plan::joins::JoinSchedule;

/// Most buffers that are kept.
const MOST: usize = 64;

/// Alignment of every array, bytes.
const ALIGNMENT: usize = 16;

/// The schedules on the device.
#[derive(Default)]
pub struct Resident {
    /// For which run of pages, and for which places of these pages.
    of: Option<(RunKey, u64)>,
    /// The schedules of these pages, by the number of parts.
    schedules: HashMap<usize, Sent>,
    /// Where they lie, by the number of parts. The next run of pages uses the memory again.
    buffers: HashMap<usize, DeviceBuffer>,
    /// A schedule on its way.
    staging: PinnedBuffer,
}

impl Resident {
    /// Returns the addresses on the device of the order of the job's pages and of their join schedule. Sends both first
    /// if the device does not have them. Nothing that was queued before may still be under way.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub fn schedule(
        &mut self,
        (current, stream): (&Current<'_>, &Stream),
        job: &DeviceJob<'_>,
        store: &Store,
        (parts, tree): (usize, &JoinSchedule),
    ) -> Result<Sent> {
        let of = Some((job.run_key(), store.generation()));
        if self.of != of {
            self.schedules.clear();
            self.of = of;
        }
        if let Some(sent) = self.schedules.get(&parts) {
            return Ok(*sent);
        }
        if self.buffers.len() >= MOST && !self.buffers.contains_key(&parts) {
            self.forget(current);
        }
        let order: Vec<u32> = (job.run[..job.pages].iter().map(|&p| store.place(p))).collect();
        let kept: Vec<u32> = tree.kept.iter().map(|&(_, sum)| sum).collect();
        let bytes = bytes_of::<u32>(order.len())
            + bytes_of::<u8>(tree.joins.len())
            + bytes_of::<u32>(tree.first_sum.len())
            + bytes_of::<[u32; 2]>(tree.steps.len())
            + bytes_of::<u32>(tree.rounds.len())
            + bytes_of::<u32>(kept.len());
        self.staging.reserve(current, bytes)?;
        let buffer = self.buffers.entry(parts).or_default();
        buffer.reserve(current, bytes)?;
        let mut used = 0;
        let (to, base) = (self.staging.start(), buffer.address());
        let sent = Sent {
            particles: 0,
            order: put(to, base, &mut used, &order),
            joins: put(to, base, &mut used, &tree.joins),
            first_sum: put(to, base, &mut used, &tree.first_sum),
            steps: put(to, base, &mut used, &tree.steps),
            rounds: put(to, base, &mut used, &tree.rounds),
            kept: put(to, base, &mut used, &kept),
        };
        assert!(used <= bytes, "the room was counted before");
        self.schedules.insert(parts, sent);
        // SAFETY: both buffers have this room. The staging is written to again only when nothing is under way.
        unsafe { stream.upload(base, to, used)? };
        Ok(sent)
    }

    fn forget(&mut self, current: &Current<'_>) {
        self.schedules.clear();
        for (_, mut buffer) in self.buffers.drain() {
            buffer.free(current);
        }
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.forget(current);
        self.staging.free(current);
    }
}

/// Adds an array behind what is used already; returns its address on the device.
fn put<T: Pod>(to: *mut u8, base: Pointer, used: &mut usize, items: &[T]) -> Pointer {
    let at = used.next_multiple_of(ALIGNMENT);
    *used = at + size_of_val(items);
    // SAFETY: the caller has counted the room, alignment included; `T` has no padding.
    unsafe {
        let to = to.add(at).cast::<T>();
        std::ptr::copy_nonoverlapping(items.as_ptr(), to, items.len());
    }
    base + at as Pointer
}
