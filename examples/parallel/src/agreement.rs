//! What the ranks agree on between blocks.

use std::time::{Duration, Instant};

use kirin_kit::command::tell;
use kirin_kit::communicator::agreement::Watch;
use kirin_kit::communicator::{Communicator, Operation};
use kirin_kit::run::Decision;

use crate::error::Error;
use crate::j_particles::JParticles;

/// Most blocks between two agreements of the ranks whether to stop: seldom enough to cost nothing.
const OCCASIONS: u64 = 16;

/// How long the blocks between two such agreements may take, unless a single one takes longer: a batch system waits some
/// seconds before it kills.
const PATIENCE: Duration = Duration::from_secs(1);

/// The agreements of a run: one for several blocks.
pub struct Agreement {
    /// What computes the forces.
    backend: Watch,
    /// What this rank wants to do, on which the ranks have not agreed yet.
    wanted: Decision,
    /// When they agreed last.
    since: Instant,
    /// After how many blocks they do so again.
    blocks: u64,
    /// How many of these are over.
    over: u64,
}

impl Agreement {
    /// The first one comes before the next block.
    pub fn new(sources: &JParticles<'_>) -> Self {
        Self {
            backend: Watch::new(sources.described().0),
            wanted: Decision::default(),
            since: Instant::now(),
            blocks: 1,
            over: 0,
        }
    }

    /// Collects from all ranks whether to stop or to write a checkpoint. Also reports a rank whose forces now come
    /// from another backend, such as the CPU after its GPU was lost.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    pub fn reach<C: Communicator>(
        &mut self,
        world: &C,
        sources: &JParticles<'_>,
        wanted: Decision,
    ) -> Result<Decision, Error> {
        self.wanted.stop |= wanted.stop;
        self.wanted.checkpoint |= wanted.checkpoint;
        self.wanted.time_limit |= wanted.time_limit;
        self.over += 1;
        if self.over < self.blocks {
            return Ok(Decision::default());
        }
        let each = self.since.elapsed().as_secs_f64() / self.over as f64;
        let next = (PATIENCE.as_secs_f64() / each).clamp(1.0, OCCASIONS as f64);
        for (rank, now) in self.backend.changed(world, sources.described().0)? {
            if world.rank() == 0 {
                tell(&format!(
                    "parallel: the forces of rank {rank} come from `{now}` now"
                ));
            }
        }
        let Decision {
            stop,
            checkpoint,
            time_limit,
        } = std::mem::take(&mut self.wanted);
        let [stop, checkpoint, time_limit] =
            [stop, checkpoint, time_limit].map(|flag| f64::from(u8::from(flag)));
        // The slowest rank decides on the blocks up to the next agreement.
        let mut flags = [stop, checkpoint, time_limit, -next];
        world.all_reduce(Operation::Max, &mut flags)?;
        (self.since, self.blocks, self.over) = (Instant::now(), (-flags[3]) as u64, 0);
        Ok(Decision {
            stop: flags[0] > 0.0,
            checkpoint: flags[1] > 0.0,
            time_limit: flags[2] > 0.0,
        })
    }
}

/// The `value` of rank 0, on all ranks.
///
/// # Errors
///
/// A rank is lost.
pub fn share<C: Communicator>(world: &C, value: f64) -> Result<f64, Error> {
    let mut shared = [value];
    world.broadcast(0, &mut shared)?;
    Ok(shared[0])
}
