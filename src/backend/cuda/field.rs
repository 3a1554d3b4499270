//! The j-particles of a block as the devices see them: in which units, and who has which.

use crate::backend::ForceRequest;
use crate::backend::cuda::device::Job;
use crate::backend::cuda::device::units::DeviceUnits;
use crate::grape::jmemory::JMemory;
use crate::grape::particle::IParticle;
use crate::grape::sum_tree::share;
use crate::process::settings::{Place, Precision, Settings};

/// The j-particles of a block as the devices see them.
pub struct Field {
    predictor: Place,
    join: Place,
    /// Units of the devices.
    pub scale: DeviceUnits,
    /// Positions of all pages, in address order.
    pub pages: Vec<usize>,
    /// How many of them, at the front, have addresses below the block's `nj`.
    pub below: usize,
    /// Whether anything moves.
    moving: bool,
}

impl Field {
    /// Nothing yet.
    pub fn new(settings: &Settings) -> Self {
        Self {
            predictor: settings.predictor,
            join: settings.join,
            scale: DeviceUnits::default(),
            pages: Vec::new(),
            below: 0,
            moving: false,
        }
    }

    /// Takes note of the memory and a block.
    pub fn look_at(&mut self, memory: &JMemory, block: &ForceRequest, precision: Precision) {
        if precision != Precision::Double {
            self.scale.update(memory, block.ti);
        }
        self.pages.clear();
        self.pages.extend(memory.positions(usize::MAX));
        self.below = memory.positions(block.nj).count();
        let below = &self.pages[..self.below];
        self.moving = below.iter().any(|&p| memory.page(p).has_motion())
            || block.particles.iter().any(|i| i.v != [0.0; 3]);
    }

    /// What the device number `queue` of `queues` is to do for some i-particles.
    pub fn job<'a>(
        &'a self,
        (queue, queues): (usize, usize),
        memory: &'a JMemory,
        block: &ForceRequest,
        particles: &'a [IParticle],
        nearest: bool,
    ) -> Job<'a> {
        let run = share(self.pages.len(), queues, queue);
        let number = |n: usize| memory.page(self.pages[n]).number();
        Job {
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
