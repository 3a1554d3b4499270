//! The distribution of a block's j-particles over the devices, and the units in which they are computed.

use crate::force::ForceRequest;
use crate::gpu::cuda::device::DeviceJob;
use crate::gpu::cuda::device::scaling::DeviceScaling;
use crate::process::settings::{HostOrDevice, Precision, Settings};
use crate::sources::jmemory::JMemory;
use crate::sources::particle::IParticle;
use crate::sources::sum_tree::share;

/// After so many blocks in a row that left pages out, the devices divide only what these blocks had. The pages that change
/// devices are sent again, so this must not happen often.
const PATIENCE: u32 = 64;

/// The distribution of the j-particles.
pub struct Distribution {
    predictor: HostOrDevice,
    join: HostOrDevice,
    /// Units of the devices.
    pub scale: DeviceScaling,
    /// Positions of all pages, in address order.
    pub pages: Vec<usize>,
    /// How many of them, counted from the first, have addresses below the block's `nj`.
    pub below: usize,
    /// How many pages several devices divide, counted from the first: at least `below`.
    shared: usize,
    /// Blocks in a row for which fewer would do, and how many the greatest of them had.
    smaller: (u32, usize),
    /// Whether any particle moves.
    moving: bool,
    /// The number of leading addresses for which `below` and `pages_move` hold.
    nj: Option<usize>,
    /// Whether any particle of the pages below moves.
    pages_move: bool,
}

impl Distribution {
    /// Without particles.
    pub fn new(settings: &Settings) -> Self {
        Self {
            predictor: settings.predictor,
            join: settings.join,
            scale: DeviceScaling::default(),
            pages: Vec::new(),
            below: 0,
            shared: 0,
            smaller: (0, 0),
            moving: false,
            nj: None,
            pages_move: false,
        }
    }

    /// Takes in what a new block finds in the j-memory. If no source moves, [`Distribution::look_at_targets`] is to follow.
    pub fn look_at(&mut self, memory: &mut JMemory, block: &ForceRequest, precision: Precision) {
        if precision != Precision::Double {
            self.scale.update(memory);
        }
        let is_below = |p: usize| memory.header(p).first_address() < block.nj;
        let moves = |p: usize| memory.header(p).has_motion();
        // Pages are added, but neither removed nor renumbered.
        if self.pages.len() != memory.page_count() || self.nj != Some(block.nj) {
            self.pages.clear();
            self.pages.extend(memory.positions(usize::MAX));
            self.below = self.pages.partition_point(|&p| is_below(p));
            self.pages_move = self.pages[..self.below].iter().any(|&p| moves(p));
            self.nj = Some(block.nj);
        } else if !self.pages_move {
            let mut changed = memory.changed().iter().map(|&p| p as usize);
            self.pages_move = changed.any(|p| is_below(p) && moves(p));
        }
        self.moving = self.pages_move;
        self.share();
    }

    /// Decides how many pages the devices divide for this block. Pages beyond `nj` may never be used again, as after the
    /// largest of several loads; devices that have nothing else would be idle.
    fn share(&mut self) {
        let (blocks, most) = self.smaller;
        self.smaller = (blocks + 1, most.max(self.below));
        if self.below >= self.shared {
            (self.shared, self.smaller) = (self.below, (0, 0));
        } else if blocks + 1 == PATIENCE {
            (self.shared, self.smaller) = (self.smaller.1, (0, 0));
        }
    }

    /// Whether there are jerks, whatever the i-particles do.
    pub fn is_moving(&self) -> bool {
        self.moving
    }

    /// Takes in whether i-particles move.
    pub fn look_at_targets(&mut self, particles: &[IParticle]) {
        self.moving |= particles.iter().any(|i| i.v != [0.0; 3]);
    }

    /// The work of device `queue` of `queues` for some i-particles.
    pub fn job<'a>(
        &'a self,
        (queue, queues): (usize, usize),
        memory: &'a JMemory,
        block: &ForceRequest,
        particles: &'a [IParticle],
        nearest: bool,
    ) -> DeviceJob<'a> {
        // One device keeps all pages that it has.
        let shared = match queues {
            1 => self.pages.len(),
            _ => self.shared,
        };
        let run = share(shared, queues, queue);
        let number = |n: usize| memory.header(self.pages[n]).number();
        DeviceJob {
            memory,
            first: if run.start == 0 { 0 } else { number(run.start) },
            next: (run.end < self.below).then(|| number(run.end)),
            pages: self.below.clamp(run.start, run.end) - run.start,
            run: &self.pages[run],
            particles,
            expected: particles.len(),
            nj: block.nj,
            ti: block.ti,
            units: self.scale.units,
            jerk: self.moving,
            nearest,
            predictor: self.predictor,
            join: self.join,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::jmemory::PAGE;
    use crate::sources::particle::JParticle;

    #[test]
    fn pages_that_no_block_uses_leave_no_device_idle() {
        let mut memory = JMemory::default();
        for page in 0..10 {
            let address = (page * PAGE) as i32;
            memory.write(address, &JParticle::default()).unwrap();
        }
        let mut distribution = Distribution::new(&Settings::default());
        let mut pages = |nj| {
            let block = ForceRequest {
                nj,
                ..ForceRequest::default()
            };
            distribution.look_at(&mut memory, &block, Precision::Double);
            let job = |queue| distribution.job((queue, 2), &memory, &block, &[], false);
            [0, 1].map(|queue| job(queue).pages)
        };
        assert_eq!(pages(10 * PAGE), [5, 5]);
        for _ in 1..PATIENCE {
            assert_eq!(pages(4 * PAGE), [4, 0]);
        }
        assert_eq!(pages(3 * PAGE), [2, 1]);
        assert_eq!(pages(4 * PAGE), [2, 2]);
        assert_eq!(pages(10 * PAGE), [5, 5]);
    }
}
