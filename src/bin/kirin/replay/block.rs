//! Cuts a recorded block into calls with at most as many i-particles as a library has pipelines.

use std::ops::Range;

use kirin::client::Block;
use kirin_core::trace::{Event, HintedParticle};

/// The last block of a cluster, to which results and lists refer.
#[derive(Default)]
pub struct Pending {
    /// Number of leading addresses.
    pub nj: usize,
    particles: Vec<HintedParticle>,
    parts: Vec<Range<usize>>,
    /// The block, if the library has it and its results are not fetched.
    pub begun: Option<Block>,
    /// Whether the client has not asked for the results yet.
    pub is_owed: bool,
    /// The part of a split block of which the library has the lists.
    pub listed: Option<Range<usize>>,
    /// Writes and times that the client sent after this block, if it is split. They wait for the next block, because
    /// parts of this one may still have to be computed.
    pub later: Vec<Event>,
}

impl Pending {
    /// A block for a library that takes at most `limit` i-particles in a call.
    pub fn new(nj: usize, particles: Vec<HintedParticle>, limit: usize) -> Self {
        Self {
            nj,
            parts: parts(&particles, limit),
            particles,
            ..Self::default()
        }
    }

    /// Number of i-particles.
    pub fn len(&self) -> usize {
        self.particles.len()
    }

    /// Ranges of i-particles, one for each call.
    pub fn parts(&self) -> &[Range<usize>] {
        &self.parts
    }

    /// Whether it takes several calls.
    pub fn is_split(&self) -> bool {
        self.parts.len() > 1
    }

    /// The label of an i-particle.
    pub fn label(&self, ipipe: usize) -> Option<i32> {
        self.particles.get(ipipe).map(|t| t.particle.index)
    }

    /// The arrays of a part, and its softening.
    pub fn arrays(&self, part: &Range<usize>) -> (Block, f64) {
        let particles = &self.particles[part.clone()];
        let mut block = Block::default();
        block.resize(particles.len());
        for (k, t) in particles.iter().enumerate() {
            let p = &t.particle;
            (block.index[k], block.x[k], block.v[k], block.h2[k]) = (p.index, p.x, p.v, p.h2);
            (block.acc[k], block.jerk[k], block.pot[k]) = (t.hint.acc, t.hint.jerk, t.hint.pot);
        }
        (block, self.eps2(part))
    }

    /// The softening of a part.
    pub fn eps2(&self, part: &Range<usize>) -> f64 {
        self.particles
            .get(part.start)
            .map_or(0.0, |t| t.particle.eps2)
    }
}

/// Divides the i-particles of a block into ranges, one for each call. A range has at most `limit` particles and one
/// softening length: a block of the low-level calls may have several.
fn parts(particles: &[HintedParticle], limit: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for run in particles.chunk_by(|a, b| a.particle.eps2.to_bits() == b.particle.eps2.to_bits()) {
        for some in run.chunks(limit) {
            parts.push(begin..begin + some.len());
            begin += some.len();
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_one_softening_and_at_most_so_many_particles() {
        let particle = |eps2| {
            let mut particle = HintedParticle::default();
            particle.particle.eps2 = eps2;
            particle
        };
        let particles = [0.0, 0.0, 0.0, 0.25, 0.25].map(particle);
        assert!(parts(&[], 48).is_empty());
        assert_eq!(parts(&particles, usize::MAX), [0..3, 3..5]);
        assert_eq!(parts(&particles, 2), [0..2, 2..3, 3..5]);
        let block = |limit| Pending::new(9, particles[..3].to_vec(), limit);
        assert!(block(2).is_split() && !block(3).is_split());
        let pending = Pending::new(9, particles.to_vec(), 48);
        assert_eq!((pending.eps2(&(3..5)), pending.eps2(&(0..2))), (0.25, 0.0));
    }
}
