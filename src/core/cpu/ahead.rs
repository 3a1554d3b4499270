//! The sums of a block that workers have begun while the client does other things: between `firsthalf` and `lasthalf`.

use std::ptr::NonNull;

use super::job::Job;
use super::pool::{Pool, SharedJob};
use super::simd::Simd;
use super::sums::Sums;
use crate::error::Result;

/// Sums that workers may be at. Raw pointers, since a `Box` must not be moved while others use what is in it.
pub struct SumsAhead<S: Simd, const SPLIT: bool> {
    shared: Option<SharedJob>,
    job: NonNull<Job<'static>>,
    sums: NonNull<Sums<'static, S, SPLIT>>,
}

// SAFETY: the sums are for several threads at a time, and their owner is one of them.
unsafe impl<S: Simd, const SPLIT: bool> Send for SumsAhead<S, SPLIT> {}

impl<S: Simd, const SPLIT: bool> SumsAhead<S, SPLIT> {
    /// Lets workers begin, and returns.
    pub fn begin(sums: Sums<'static, S, SPLIT>) -> Self {
        let tasks = sums.division.tasks();
        let sums = NonNull::from(Box::leak(Box::new(sums)));
        // SAFETY: `drop` frees the sums after the job.
        let job = Job::new(tasks, unsafe { sums.as_ref() });
        let job = NonNull::from(Box::leak(Box::new(job)));
        let mut ahead = Self {
            shared: None,
            job,
            sums,
        };
        ahead.share();
        ahead
    }

    /// What is summed.
    pub fn sums(&self) -> &Sums<'static, S, SPLIT> {
        // SAFETY: `drop` frees it.
        unsafe { self.sums.as_ref() }
    }

    fn job(&self) -> &Job<'static> {
        // SAFETY: `drop` frees it.
        unsafe { self.job.as_ref() }
    }

    fn share(&mut self) {
        let division = &self.sums().division;
        let (threads, effort) = (division.threads(), division.effort());
        // Without memory for threads the client's thread does everything.
        if let Ok(pool) = Pool::get() {
            // SAFETY: `interrupt` takes the job back before `drop` frees it.
            self.shared = unsafe { pool.share(self.job(), threads, effort) };
        }
    }

    /// Waits until no worker uses the sums any more. Tasks that nobody has begun are left.
    ///
    /// # Errors
    ///
    /// The workers are lost: this is the child of a fork.
    pub fn interrupt(&mut self) -> Result<()> {
        self.shared.take().map_or(Ok(()), SharedJob::take_back)
    }

    /// Does what is left, together with the workers.
    ///
    /// # Errors
    ///
    /// Those of [`Self::interrupt`].
    pub fn complete(&mut self) -> Result<()> {
        if self.shared.is_none() {
            self.share();
        }
        self.job().work();
        self.interrupt()?;
        self.job().resume_panic();
        Ok(())
    }
}

impl<S: Simd, const SPLIT: bool> Drop for SumsAhead<S, SPLIT> {
    fn drop(&mut self) {
        // Workers that are lost do not use them, either.
        let _ = self.interrupt();
        // SAFETY: made by `begin`, freed once, and no worker uses them.
        unsafe {
            drop(Box::from_raw(self.job.as_ptr()));
            drop(Box::from_raw(self.sums.as_ptr()));
        }
    }
}
