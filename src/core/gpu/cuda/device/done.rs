//! How the host learns that the results of a block are in its memory, without asking the driver: each thread block of the
//! block's last kernel writes the block's number to a word of pinned memory, behind its results.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::gpu::cuda::driver::memory::PinnedBuffer;
use crate::gpu::cuda::driver::{Current, Result};
use crate::gpu::layout::Pointer;

/// Most thread blocks that tell. If there are more, the host asks the driver.
const MOST: usize = 512;

/// The words.
#[derive(Default)]
pub struct Done {
    words: PinnedBuffer,
    /// The number of the present block; the words have had smaller numbers only.
    number: u32,
    /// The thread blocks that will tell; 0 if none do.
    blocks: usize,
    /// How many of them, counted from the first, were seen to have told.
    seen: Cell<usize>,
}

impl Done {
    /// Begins a block whose last kernel has so many thread blocks. Returns where they write which number; `None` if they
    /// are too many, or kernels cannot write to memory of the host. Nothing that was queued before may still be under
    /// way.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub fn begin(
        &mut self,
        current: &Current<'_>,
        blocks: usize,
    ) -> Result<Option<(Pointer, u32)>> {
        self.blocks = 0;
        self.seen.set(0);
        if blocks > MOST {
            return Ok(None);
        }
        self.words.reserve(current, MOST * size_of::<u32>())?;
        let Some(address) = self.words.mapped() else {
            return Ok(None);
        };
        if self.number == u32::MAX {
            self.number = 0;
            (0..MOST).for_each(|n| self.word(n).store(0, Ordering::Relaxed));
        }
        self.number += 1;
        self.blocks = blocks;
        Ok(Some((address, self.number)))
    }

    /// Has the host ask the driver for the end of what is queued.
    pub fn forget(&mut self) {
        self.blocks = 0;
    }

    /// Whether thread blocks will tell that their results are there, or have told.
    pub fn tells(&self) -> bool {
        self.blocks > 0
    }

    /// Whether all of them have told.
    pub fn is_told(&self) -> bool {
        let told = |&n: &usize| self.word(n).load(Ordering::Acquire) == self.number;
        let seen = self.seen.get();
        let seen = seen + (seen..self.blocks).take_while(told).count();
        self.seen.set(seen);
        self.blocks > 0 && seen == self.blocks
    }

    fn word(&self, n: usize) -> &AtomicU32 {
        debug_assert!(n < MOST, "a word for each thread block");
        // SAFETY: the buffer has `MOST` words, which are aligned and initialized, and which kernels and host write as a whole.
        unsafe { AtomicU32::from_ptr(self.words.start().cast::<u32>().add(n)) }
    }

    /// Gives the memory back.
    pub fn free(&mut self, current: &Current<'_>) {
        self.blocks = 0;
        self.words.free(current);
    }
}
