//! The distribution of a block's j-particles over the devices, and the units in which they are computed.

use crate::force::ForceRequest;
use crate::gpu::cuda::device::DeviceJob;
use crate::gpu::cuda::device::scaling::DeviceScaling;
use crate::process::settings::{HostOrDevice, Precision, Settings};
use crate::sources::jmemory::JMemory;
use crate::sources::particle::IParticle;
use crate::sources::sum_tree::share;

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
            moving: false,
            nj: None,
            pages_move: false,
        }
    }

    /// Takes in what a new block finds in the j-memory. If no source moves, [`Distribution::look_at_targets`] is to follow.
    pub fn look_at(&mut self, memory: &JMemory, block: &ForceRequest, precision: Precision) {
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
        let run = share(self.pages.len(), queues, queue);
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
