//! Writes to the j-particle memory. While a block still needs the memory unchanged, writes are staged.

use std::collections::HashMap;

use super::{Cluster, Phase};
use crate::error::{Error, Result};
use crate::process::{self, allocation};
use crate::sources::jmemory::{self, AtRest};
use crate::sources::particle::JParticle;

/// How many writes are staged at most. At the next one everything that may still be asked about the
/// block is computed, so that the writes can take effect.
pub(super) const STAGED_AT_MOST: usize = 8192;

impl Cluster {
    /// Sets the time to which the next block predicts the j-particles.
    pub fn set_ti(&mut self, ti: f64) {
        self.ti = ti;
    }

    /// Stores a j-particle for the next block.
    ///
    /// # Errors
    ///
    /// The address is negative, or there is no memory. Nothing changes then.
    #[inline]
    pub fn set_j_particle(&mut self, address: i32, particle: &JParticle) -> Result<()> {
        self.moving = true;
        let without;
        let particle = if self.settings.snap {
            particle
        } else {
            without = JParticle {
                a2by18: [0.0; 3],
                ..*particle
            };
            &without
        };
        if self.phase == Phase::Free {
            self.memory.write(address, particle)
        } else {
            self.stage(address, particle)
        }
    }

    /// Notes the step to come of the particle that was just stored at `address`, for [`crate::observe::noise`].
    #[inline(always)]
    pub fn note_step(&mut self, address: i32, dt: f64) {
        if self.noise.wants(address) {
            self.note_sampled(address, dt);
        }
    }

    /// Reads back what was stored: the other writes need not keep it for this.
    #[cold]
    #[inline(never)]
    fn note_sampled(&mut self, address: i32, dt: f64) {
        let stored = match self.staged.last() {
            Some((_, particle)) => Some(*particle),
            None => self.memory.read(address),
        };
        if let Some(particle) = stored {
            self.noise.note(address, dt, &particle);
        }
    }

    /// Stores a j-particle at rest, with this mass and position, for the next block.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::set_j_particle`].
    #[inline(always)]
    pub fn set_mass_position(
        &mut self,
        address: i32,
        index: i32,
        mass: f64,
        x: &[f64; 3],
    ) -> Result<()> {
        if self.phase == Phase::Free {
            return self.memory.write_at_rest(address, index, mass, x);
        }
        self.stage_at_rest(address, index, mass, x)
    }

    /// [`JMemory::fill`], for GRAPE-5, which has no block at that time.
    ///
    /// # Errors
    ///
    /// Those of [`JMemory::fill`].
    #[inline]
    pub fn fill(
        &mut self,
        address: i32,
        count: usize,
        make: impl FnMut(usize, AtRest) -> AtRest,
    ) -> Result<()> {
        // GRAPE-5 begins a block and fetches its results in one call. One is left behind only in the child of a fork,
        // where a thread of the parent computed it: nobody will ask for it.
        if self.phase != Phase::Free {
            self.drop_block();
        }
        self.memory.fill(address, count, make)
    }

    #[cold]
    fn stage_at_rest(&mut self, address: i32, index: i32, mass: f64, x: &[f64; 3]) -> Result<()> {
        let particle = JParticle {
            index,
            mass,
            x: *x,
            ..JParticle::default()
        };
        self.stage(address, &particle)
    }

    /// Stages a write for the next block.
    #[inline(never)]
    fn stage(&mut self, address: i32, particle: &JParticle) -> Result<()> {
        // If there is no memory for its page, the write is refused now and not at the next block.
        self.memory.reserve(address)?;
        if self.staged.len() == STAGED_AT_MOST {
            process::protected(|| self.settle());
            return self.memory.write(address, particle);
        }
        allocation::push(&mut self.staged, (address, *particle), jmemory::PURPOSE)
    }

    /// Lets the staged writes into the memory.
    pub(super) fn release(&mut self) {
        self.phase = Phase::Free;
        for (address, particle) in self.staged.drain(..) {
            // The page was reserved when the write was staged.
            let written = self.memory.write(address, &particle);
            debug_assert!(written.is_ok());
        }
    }

    /// The positions and velocities at the addresses `0..nj` as the next block will predict them;
    /// `None` where no particle was ever stored.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn predicted(
        &self,
        nj: usize,
    ) -> Result<impl ExactSizeIterator<Item = Option<([f64; 3], [f64; 3])>>> {
        let mut staged = HashMap::new();
        let room = staged.try_reserve(self.staged.len());
        room.map_err(|_| Error::OutOfMemory {
            purpose: jmemory::PURPOSE,
        })?;
        staged.extend(self.staged.iter().map(|(a, p)| (*a, p)));
        Ok(
            (0..i32::try_from(nj).unwrap_or(i32::MAX)).map(move |address| {
                let p = match staged.get(&address) {
                    Some(&p) => *p,
                    None => self.memory.read(address)?,
                };
                Some(p.predicted(self.ti))
            }),
        )
    }
}
