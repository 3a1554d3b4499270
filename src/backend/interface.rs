//! What every backend does: the trait, the block that it is given and the results it leaves.

use crate::error::Result;
use crate::grape::jmemory::JMemory;
use crate::grape::neighbours::{self, ListRules, NeighbourLists};
use crate::grape::particle::{Force, IParticle, Nearest};
use crate::observe::statistics::Phases;
use crate::process::allocation;
use crate::process::settings::Precision;

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

/// What a backend computes for a block, one entry for each i-particle.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Accelerations, jerks, potentials.
    pub forces: Vec<Force>,
    /// Nearest neighbours, where they were asked for.
    pub nearest: Vec<Option<Nearest>>,
}

impl Results {
    /// Makes them those of `ni` i-particles on which nothing acts, with nearest neighbours if they are
    /// wanted.
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
}

/// One implementation of the pipelines.
///
/// Between `start` and `finish` (or `cancel`) neither the memory nor the block changes.
pub trait Backend: Send {
    /// What it is, in a few words without line breaks.
    fn name(&self) -> String;

    /// Its arithmetic.
    fn precision(&self) -> Precision;

    /// Whether a GPU computes, for which each call is a launch and a way there and back.
    fn on_gpu(&self) -> bool {
        false
    }

    /// Begins with a block; the work may go on after the return. The only call at which a backend
    /// may take note of what has changed in the memory.
    ///
    /// # Errors
    ///
    /// The block cannot be computed here.
    fn start(&mut self, memory: &mut JMemory, block: &ForceRequest) -> Result<()> {
        let _ = (memory, block);
        Ok(())
    }

    /// Gives up the block that was started.
    fn cancel(&mut self) {}

    /// Computes the forces on the block, with nearest neighbours if `nearest` is set.
    ///
    /// # Errors
    ///
    /// The block cannot be computed here; `results` is then meaningless, and what the backend keeps from
    /// block to block was given back where there was no memory.
    fn finish(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        nearest: bool,
        results: &mut Results,
    ) -> Result<()>;

    /// Has the next block timed, from `start` to `finish`.
    fn measure(&mut self) {}

    /// Parts of the time of the block that was timed last.
    fn phases(&self) -> Phases {
        Phases::default()
    }

    /// How often a device failed and its work was done elsewhere.
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
    /// The lists do not fit into memory.
    fn neighbour_lists(
        &mut self,
        memory: &JMemory,
        block: &ForceRequest,
        rules: ListRules,
    ) -> Result<NeighbourLists> {
        neighbours::lists(memory, block.nj, block.ti, &block.particles, rules)
    }
}
