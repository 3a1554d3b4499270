//! Makes the trace events of blocks from the results of a cluster.

use std::time::Instant;

use super::{Event, HintedParticle, PURPOSE, try_record};
use crate::cluster::BlockResults;
use crate::process::allocation;
use crate::sources::particle::Force;

/// Nanoseconds since `begin`.
pub fn since(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The block of a call that begins and ends it.
pub fn record_block(id: i32, answer: &BlockResults<'_>) {
    try_record(|| {
        let particles = answer.particles.iter().map(|&particle| HintedParticle {
            particle,
            hint: Force::default(),
        });
        Ok(Event::FirstHalf {
            id,
            nj: answer.nj as i32,
            particles: allocation::collect(particles, PURPOSE)?,
            nanoseconds: 0,
        })
    });
}

/// Records the results of a block. `nearest` has the labels of the nearest neighbours, if these were asked for. The
/// call came at `begin`.
pub fn record_results(
    id: i32,
    forces: &[Force],
    nearest: Option<&mut dyn ExactSizeIterator<Item = i32>>,
    begin: Instant,
) {
    let nanoseconds = since(begin);
    try_record(|| {
        let nearest = nearest.map(|labels| allocation::collect(labels, PURPOSE));
        Ok(Event::LastHalf {
            id,
            forces: allocation::collect(forces.iter().copied(), PURPOSE)?,
            nearest: nearest.transpose()?,
            nanoseconds,
        })
    });
}
