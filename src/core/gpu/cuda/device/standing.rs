//! The work list for predicting all pages. It stays on the device.
//!
//! At a new time every page is predicted, but the work of a page ([`PageWork`]) changes only with the page's summary.
//! So the host neither looks at pages that nobody has written to, nor sends anything for them.

use super::plans::RunKey;
use super::{DeviceJob, Store};
use crate::gpu::cuda::driver::memory::{DeviceBuffer, PinnedBuffer};
use crate::gpu::cuda::driver::{Current, Result, Stream};
use crate::gpu::layout::{PageWork, Pointer};

/// The list.
#[derive(Default)]
pub struct Standing {
    /// For which run of pages, and for which places of these pages.
    of: Option<(RunKey, u64)>,
    /// How many pages it has; 0 if there are none, or some of the run are at rest, which need no prediction.
    pages: usize,
    list: DeviceBuffer,
    /// The list on its way.
    staging: PinnedBuffer,
}

impl Standing {
    /// Has the list made anew before it is used again, as the summary of one of its pages has changed.
    pub fn forget(&mut self) {
        self.of = None;
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.of = None;
        self.list.free(current);
        self.staging.free(current);
    }
}

impl Store {
    /// Returns the address of the list of the job's pages with addresses below `nj`, and their number; makes the list
    /// if there is none. Returns `None` if some of these pages are at rest. All pages of the run must be on the device,
    /// and nothing that was queued may still be under way.
    ///
    /// # Errors
    ///
    /// Those of the driver.
    pub(super) fn standing(
        &mut self,
        (current, stream): (&Current<'_>, &Stream),
        job: &DeviceJob<'_>,
    ) -> Result<Option<(Pointer, usize)>> {
        let of = Some((job.run_key(), self.generation()));
        if self.standing.of != of {
            let pages = &job.run[..job.pages];
            let moves = |&p: &usize| !job.memory.header(p).is_at_rest();
            self.standing.pages = match !pages.is_empty() && pages.iter().all(moves) {
                true => self.send_list((current, stream), pages)?,
                false => 0,
            };
            // A page at rest may begin to move without a change of its summary, so that there is none is not kept.
            self.standing.of = of.filter(|_| self.standing.pages > 0);
        }
        let Standing { pages, list, .. } = &self.standing;
        Ok((*pages > 0).then(|| (list.address(), *pages)))
    }

    fn send_list(
        &mut self,
        (current, stream): (&Current<'_>, &Stream),
        pages: &[usize],
    ) -> Result<usize> {
        let bytes = pages.len() * size_of::<PageWork>();
        self.standing.list.reserve(current, bytes)?;
        self.standing.staging.reserve(current, bytes)?;
        let (to, from) = (self.standing.list.address(), self.standing.staging.start());
        for (n, &position) in pages.iter().enumerate() {
            let work = self.prediction(position);
            // SAFETY: there is room for this many, aligned for any number.
            unsafe { from.cast::<PageWork>().add(n).write(work) };
        }
        // SAFETY: both buffers have this room. The staging is written to again only when nothing is under way.
        unsafe { stream.upload(to, from, bytes)? };
        Ok(pages.len())
    }
}
