//! How the j-particles of a block are distributed over the devices, and in which units.

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
        }
    }

    /// Takes in what a new block finds in the j-memory.
    pub fn look_at(&mut self, memory: &JMemory, block: &ForceRequest, precision: Precision) {
        if precision != Precision::Double {
            self.scale.update(memory);
        }
        self.pages.clear();
        self.pages.extend(memory.positions(usize::MAX));
        self.below = memory.positions(block.nj).count();
        let below = &self.pages[..self.below];
        self.moving = below.iter().any(|&p| memory.header(p).has_motion())
            || block.particles.iter().any(|i| i.v != [0.0; 3]);
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
