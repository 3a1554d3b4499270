//! Addresses of a block at which no j-particle was ever stored. They exert no force, and a client that counts addresses from
//! 1 would not notice.

use super::Cluster;

/// What a block lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// All j-particles.
    Everything,
    /// The one at this address, and perhaps others.
    At(usize),
}

impl Cluster {
    /// What the block that has just begun lacks among its addresses `0..nj`; tells it once. Particles never vanish, so
    /// every address is looked at once.
    #[inline(always)]
    pub fn gap(&mut self, nj: usize) -> Option<Gap> {
        match nj <= self.complete {
            true => None,
            false => self.look_for_gap(nj),
        }
    }

    #[cold]
    fn look_for_gap(&mut self, nj: usize) -> Option<Gap> {
        let Some(address) = self.memory.first_gap(self.complete..nj) else {
            self.complete = nj;
            return None;
        };
        self.complete = usize::MAX;
        Some(match self.memory.page_count() {
            0 => Gap::Everything,
            _ => Gap::At(address),
        })
    }
}
