//! Missing j-particles. Holes among the addresses are legal, but a client that counts addresses from 1 loses its last particle
//! unnoticed.

use super::Cluster;

/// What a block lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// All j-particles.
    Everything,
    /// The one at address 0, while those from 1 to nj are there.
    First,
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
        if self.memory.page_count() == 0 {
            return Some(Gap::Everything);
        }
        let counts_from_one = address == 0 && self.memory.first_gap(1..nj + 1).is_none();
        counts_from_one.then_some(Gap::First)
    }
}
