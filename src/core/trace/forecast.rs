//! A forecast of the numbers of the next call. Writer and reader make the same one from the calls before, so
//! that only the difference has to be stored.
//!
//! A client predicts its i-particles from the particles it sent last, stores results that it received, and passes
//! earlier results on as hints. The forecast keeps these data for each label, in a table of bounded size. If several
//! labels share an entry, the file is longer but not wrong.

use super::PURPOSE;
use super::code::{Coder, Malformed, label};
use super::nbody6;
use crate::process::allocation;
use crate::sources::particle::{Force, IParticle, JParticle};

/// The most entries of the table: 264 bytes each, 66 MiB in all.
const ENTRIES_AT_MOST: usize = 1 << 18;

/// What is known of one label.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Whether `particle` was ever sent.
    stored: bool,
    particle: JParticle,
    dt: f64,
    /// The last results.
    force: Force,
    /// Where it was seen last as an i-particle.
    x: [f64; 3],
    v: [f64; 3],
}

/// What is known of one cluster.
#[derive(Default)]
struct Cluster {
    id: i32,
    ti: f64,
    block: LastBlock,
}

/// The last block: the entry of each i-particle, and the forecast of its results.
#[derive(Default)]
pub struct LastBlock(Vec<(usize, Force)>);

impl LastBlock {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn push(&mut self, slot: usize, force: Force) -> Result<(), Malformed> {
        allocation::push(&mut self.0, (slot, force), PURPOSE).map_err(|_| Malformed)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, Force)> + '_ {
        self.0.iter().copied()
    }
}

/// The forecast of a written particle.
pub struct NearWrite {
    particle: JParticle,
    stored: bool,
    pub mass: f64,
    pub x: [f64; 3],
    pub t: f64,
    pub dt: f64,
    pub force: Force,
    pub a2by18: [f64; 3],
}

impl NearWrite {
    /// Position and velocity at a time.
    pub fn at(&self, t: f64) -> ([f64; 3], [f64; 3]) {
        match self.stored {
            true => self.particle.predicted(t),
            false => ([0.0; 3], [0.0; 3]),
        }
    }
}

/// The forecast of an i-particle and its results.
pub struct NearParticle {
    pub slot: usize,
    pub x: [f64; 3],
    pub v: [f64; 3],
    /// The results before.
    pub last: Force,
    /// The results to come.
    pub force: Force,
}

/// What a writer or a reader remembers.
#[derive(Default)]
pub struct Forecast {
    table: Vec<Known>,
    clusters: Vec<Cluster>,
    address: i32,
    /// Label minus address.
    offset: i32,
    mass: f64,
    /// That of the calls of NBODY6's library.
    pub nbody6: nbody6::Forecast,
}

impl Forecast {
    fn cluster(&mut self, id: i32) -> &mut Cluster {
        let known = self.clusters.iter().position(|c| c.id == id);
        let at = known.unwrap_or_else(|| {
            self.clusters.push(Cluster {
                id,
                ..Cluster::default()
            });
            self.clusters.len() - 1
        });
        &mut self.clusters[at]
    }

    /// The time that was last set.
    pub fn ti(&mut self, id: i32) -> f64 {
        self.cluster(id).ti
    }

    /// Notes a time.
    pub fn set_ti(&mut self, id: i32, ti: f64) {
        self.cluster(id).ti = ti;
    }

    /// Address and label of a write.
    ///
    /// # Errors
    ///
    /// There is nothing to read.
    pub fn code_address<C: Coder>(
        &mut self,
        c: &mut C,
        address: &mut i32,
        index: &mut i32,
    ) -> Result<(), Malformed> {
        label(c, address, self.address)?;
        label(c, index, address.wrapping_add(self.offset))?;
        self.address = *address;
        self.offset = index.wrapping_sub(*address);
        Ok(())
    }

    fn slot(id: i32, index: i32) -> usize {
        // Clusters overlap where one of them has more than 8192 labels.
        let begin = (id as u32 % 32) * 8192;
        (index as u32).wrapping_add(begin) as usize % ENTRIES_AT_MOST
    }

    /// The forecast of a written particle.
    pub fn near_write(&mut self, id: i32, index: i32) -> NearWrite {
        let known = self.table.get(Self::slot(id, index)).copied();
        let known = known.unwrap_or_default();
        let p = known.particle;
        NearWrite {
            particle: p,
            stored: known.stored,
            mass: if known.stored { p.mass } else { self.mass },
            x: p.x,
            t: self.ti(id),
            dt: known.dt,
            force: known.force,
            a2by18: p.a2by18,
        }
    }

    /// Notes a written particle.
    ///
    /// # Errors
    ///
    /// There is no memory for the table.
    pub fn learn_write(&mut self, id: i32, dt: f64, p: &JParticle) -> Result<(), Malformed> {
        let slot = Self::slot(id, p.index);
        if slot >= self.table.len() {
            let length = (slot + 1).next_power_of_two().max(64);
            allocation::lengthen(&mut self.table, length, PURPOSE, Known::default)
                .map_err(|_| Malformed)?;
        }
        let known = &mut self.table[slot];
        known.stored = true;
        known.particle = *p;
        known.dt = dt;
        self.mass = p.mass;
        Ok(())
    }

    /// The forecast of an i-particle and its results.
    pub fn near_particle(&mut self, id: i32, index: i32) -> NearParticle {
        let ti = self.ti(id);
        let slot = Self::slot(id, index);
        let Some(known) = self.table.get(slot) else {
            return NearParticle {
                slot,
                x: [0.0; 3],
                v: [0.0; 3],
                last: Force::default(),
                force: Force::default(),
            };
        };
        let mut near = NearParticle {
            slot,
            x: known.x,
            v: known.v,
            last: known.force,
            force: known.force,
        };
        if known.stored {
            let p = &known.particle;
            let s = ti - p.t;
            (near.x, near.v) = p.predicted(ti);
            for k in 0..3 {
                let snap_by_18 = s * p.a2by18[k];
                near.force.acc[k] = 2.0 * p.aby2[k] + s * (6.0 * p.a1by6[k] + 9.0 * snap_by_18);
                near.force.jerk[k] = 6.0 * p.a1by6[k] + 18.0 * snap_by_18;
            }
        }
        near
    }

    /// Notes an i-particle.
    pub fn learn_particle(&mut self, slot: usize, p: &IParticle) {
        if let Some(known) = self.table.get_mut(slot) {
            (known.x, known.v) = (p.x, p.v);
        }
    }

    /// Notes a result.
    pub fn learn_force(&mut self, slot: usize, force: &Force) {
        if let Some(known) = self.table.get_mut(slot) {
            known.force = *force;
        }
    }

    /// The cluster's last block.
    pub fn take_block(&mut self, id: i32) -> LastBlock {
        std::mem::take(&mut self.cluster(id).block)
    }

    /// Keeps a block.
    pub fn give_block(&mut self, id: i32, block: LastBlock) {
        self.cluster(id).block = block;
    }
}
