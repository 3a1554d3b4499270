//! The interface of every backend: the trait, the force request and the results.

use std::time::Duration;

use crate::error::Result;
use crate::process::allocation;
use crate::process::settings::Precision;
use crate::sources::jmemory::JMemory;
use crate::sources::neighbours::{self, ListRules, NeighbourLists};
use crate::sources::particle::{Force, IParticle, Nearest};

/// One force request: the j-particles at addresses `0..nj`, predicted to `ti`,
/// act on `particles`.
#[derive(Clone, Debug, Default)]
pub struct ForceRequest {
    /// Number of leading addresses.
    pub nj: usize,
    /// Time of the prediction.
    pub ti: f64,
    /// Where the force is wanted.
    pub particles: Vec<IParticle>,
}

/// The i-particles of a block that the client's arrays still have, in their order.
pub trait Arriving {
    /// How many there are.
    fn left(&self) -> usize;

    /// Appends the next `count` of them to `particles`, which has room for them; all if fewer are left.
    fn fetch(&mut self, count: usize, particles: &mut Vec<IParticle>);
}

impl<I: ExactSizeIterator<Item = IParticle>> Arriving for I {
    fn left(&self) -> usize {
        self.len()
    }

    fn fetch(&mut self, count: usize, particles: &mut Vec<IParticle>) {
        particles.extend(self.take(count));
    }
}

/// Takes the results of a range of the block's i-particles as soon as they are there. A range may come again if a
/// device was lost.
pub type Deliver<'a> = dyn FnMut(&ForceRequest, std::ops::Range<usize>, &Results) + 'a;

/// What a backend computes for a block, one entry for each i-particle.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Accelerations, jerks, potentials.
    pub forces: Vec<Force>,
    /// Nearest neighbours, where they were asked for.
    pub nearest: Vec<Option<Nearest>>,
}

impl Results {
    /// Sets the results of `ni` i-particles to zero forces, and to no nearest neighbours if `nearest` is set.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn restart(&mut self, ni: usize, nearest: bool) -> Result<()> {
        const PURPOSE: &str = "the results of a block";
        self.forces.clear();
        self.nearest.clear();
        allocation::lengthen(&mut self.forces, ni, PURPOSE, Force::default)?;
        let wanted = if nearest { ni } else { 0 };
        allocation::lengthen(&mut self.nearest, wanted, PURPOSE, || None)
    }

    /// Makes room for the results of `ni` i-particles. Forces may be those of earlier blocks, nearest neighbours are none.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn make_room(&mut self, ni: usize, nearest: bool) -> Result<()> {
        match self.forces.len() == ni && !nearest && self.nearest.is_empty() {
            true => Ok(()),
            false => self.restart(ni, nearest),
        }
    }
}

/// The parts of a block's time that a backend measures. The rest is the force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Copies between the host and a device.
    pub transfer: Duration,
    /// Prediction of the j-particles, where it is not part of the force calculation.
    pub prediction: Duration,
    /// Joining of partial sums, and what follows it.
    pub joining: Duration,
    /// Time for leaves that were summed again in double precision, added up over all threads (on a GPU over all
    /// thread blocks). It is part of the time of the force.
    pub again: Duration,
}

/// One implementation of the pipelines.
///
/// Between `start` and `finish` (or `cancel`) neither the memory nor the block changes.
pub trait Backend: Send {
    /// The backend's name, in a few words on one line.
    fn name(&self) -> String;

    /// Its precision.
    fn precision(&self) -> Precision;

    /// Whether a GPU computes, so that every call costs a launch and two transfers.
    fn on_gpu(&self) -> bool {
        false
    }

    /// Begins a block; the work may go on after the return. A backend that keeps a copy of the memory marks the
    /// memory's changes as seen ([`JMemory::forget_changes`]) here or in [`Backend::start_arriving`], and nowhere else,
    /// because [`Backend::finish`] cannot change the memory.
    ///
    /// # Errors
    ///
    /// The block cannot be computed here.
    fn start(&mut self, memory: &mut JMemory, block: &ForceRequest) -> Result<()> {
        let _ = (memory, block);
        Ok(())
    }

    /// As [`Backend::start`], for a block whose i-particles, or the last of them, are still to come. After the return `block` has all of
    /// them, also with an error.
    ///
    /// # Errors
    ///
    /// Those of [`Backend::start`].
    fn start_arriving(
        &mut self,
        memory: &mut JMemory,
        block: &mut ForceRequest,
        rest: &mut dyn Arriving,
    ) -> Result<()> {
        rest.fetch(usize::MAX, &mut block.particles);
        self.start(memory, block)
    }

    /// Gives up the block that was started.
    fn cancel(&mut self) {}

    /// Computes the forces on the block, with nearest neighbours if `nearest` is set.
    ///
    /// # Errors
    ///
    /// The block cannot be computed here, and `results` is meaningless. If memory was lacking, the backend has
    /// freed what it keeps from block to block.
    fn finish(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()>;

    /// As [`Backend::finish`], and passes the results on. If it fails, some may have been passed on.
    ///
    /// # Errors
    ///
    /// Those of [`Backend::finish`].
    fn finish_delivering(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
        deliver: &mut Deliver<'_>,
    ) -> Result<()> {
        self.finish(memory, block, nearest, results)?;
        deliver(block, 0..block.particles.len(), results);
        Ok(())
    }

    /// Times the next block, from `start` to `finish`.
    fn measure(&mut self) {}

    /// The parts of the time of the last timed block.
    fn phases(&self) -> Phases {
        Phases::default()
    }

    /// How often another device or the CPU took over from a device that failed.
    fn recoveries(&self) -> u64 {
        0
    }

    /// How many leaves of the sum tree were summed again in double precision.
    fn leaves_again(&self) -> u64 {
        0
    }

    /// The neighbour lists of the block.
    ///
    /// # Errors
    ///
    /// The lists have too many labels, or there is no memory for them.
    fn neighbour_lists(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        rules: ListRules,
    ) -> Result<NeighbourLists> {
        neighbours::lists(memory, block.nj, block.ti, &block.particles, rules)
    }
}
