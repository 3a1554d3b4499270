//! The j-particles of one rank in the library, and the partial forces they exert.
//!
//! Every subtree of the column (see [`columns`](crate::columns)) is a cluster id of its own. Its j-particles have the
//! addresses that they would have on one rank. Its forces are then the sums over that subtree, to the bit. Any
//! GRAPE-6 library can compute them.

use std::ops::Range;

use hermite::error::Error;
use hermite::particle::j_particle;
use kirin::client::{Block, Grape};
use kirin_kit::Body;
use kirin_kit::snapshot::State;

/// Numbers that a rank sends of an active particle: label, predicted position and velocity.
pub const ACTIVE: usize = 7;
/// Numbers of a force: acceleration and jerk.
pub const FORCE: usize = 6;

/// Ids of clusters that one rank may use: more than subtrees in any column.
const IDS: usize = 64;

/// The j-particles of one rank.
pub struct JParticles<'g> {
    grape: &'g Grape,
    /// For each subtree its cluster and addresses.
    clusters: Vec<(i32, Range<usize>)>,
    eps2: f64,
    /// i-particles that one call takes.
    pipes: usize,
    blocks: Vec<Block>,
}

impl<'g> JParticles<'g> {
    /// Opens the clusters of rank `rank`, one for each subtree. `addresses` are the subtrees' addresses, and `n` is the
    /// number of particles on all ranks. Each cluster takes the precision that one cluster with all `n` particles would
    /// take.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn open(
        grape: &'g Grape,
        rank: usize,
        addresses: Vec<Range<usize>>,
        n: usize,
        eps: f64,
    ) -> Result<Self, Error> {
        assert!(addresses.len() <= IDS, "a tree has fewer levels");
        let mut new = Self {
            grape,
            clusters: Vec::with_capacity(addresses.len()),
            eps2: eps * eps,
            pipes: grape.most_at_once(),
            blocks: vec![Block::default(); addresses.len()],
        };
        for (k, addresses) in addresses.into_iter().enumerate() {
            let id = i32::try_from(rank * IDS + k).map_err(|_| {
                Error::Refused("cluster ids are 32-bit integers: too many ranks".to_owned())
            })?;
            match grape.open(id) {
                0 => new.clusters.push((id, addresses)),
                status => return Err(Error::Library(status)),
            }
            match grape.set_precision_for(id, n) {
                0 => {}
                status => return Err(Error::Library(status)),
            }
        }
        Ok(new)
    }

    /// Name and precision of what would compute the forces of `n` particles on this rank.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn expected(grape: &'g Grape, rank: usize, n: usize) -> Result<(String, String), Error> {
        let nobody = std::iter::once(0..0).collect();
        Ok(Self::open(grape, rank, nobody, n, 0.0)?.described())
    }

    /// Number of partial forces on each particle.
    pub fn parts(&self) -> usize {
        self.clusters.len()
    }

    /// Writes the particle at `address`, one of the column's.
    pub fn write(&self, address: usize, body: &Body, state: &State) {
        let cluster = self.clusters.iter().find(|(_, r)| r.contains(&address));
        let (id, _) = cluster.expect("the subtrees cover the column");
        let address = i32::try_from(address).expect("checked when the particles were loaded");
        let j = j_particle(body, state);
        self.grape.set_j_particle(*id, address, state.dt, &j);
    }

    /// The partial forces at `t` on the particles in `active`, each of which is [`ACTIVE`] numbers. A force is
    /// [`FORCE`] numbers. First come the forces of the first subtree on all particles, then those of the next.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn partial_forces(
        &mut self,
        t: f64,
        active: &[f64],
        forces: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let ni = active.len() / ACTIVE;
        forces.clear();
        forces.resize(self.parts() * ni * FORCE, 0.0);
        if ni == 0 {
            return Ok(());
        }
        for (id, _) in &self.clusters {
            self.grape.set_ti(*id, t);
        }
        let mut begin = 0;
        for chunk in active.chunks(self.pipes.min(ni) * ACTIVE) {
            let end = begin + chunk.len() / ACTIVE;
            // All subtrees begin before the first is waited for: a device works on them at once.
            for ((id, addresses), block) in self.clusters.iter().zip(&mut self.blocks) {
                block.resize(end - begin);
                for (k, particle) in chunk.chunks_exact(ACTIVE).enumerate() {
                    let [index, x @ .., vx, vy, vz] = particle else {
                        unreachable!("chunks are exact")
                    };
                    block.index[k] = *index as i32;
                    block.x[k].copy_from_slice(x);
                    block.v[k] = [*vx, *vy, *vz];
                }
                self.grape.firsthalf(*id, addresses.end, block, self.eps2);
            }
            for (s, ((id, addresses), block)) in
                self.clusters.iter().zip(&mut self.blocks).enumerate()
            {
                let status = self.grape.lasthalf(*id, addresses.end, block, self.eps2);
                if status != 0 {
                    return Err(Error::Library(status));
                }
                let part = &mut forces[(s * ni + begin) * FORCE..(s * ni + end) * FORCE];
                let found = block.acc.iter().zip(&block.jerk);
                for (force, (acc, jerk)) in part.chunks_exact_mut(FORCE).zip(found) {
                    force[..3].copy_from_slice(acc);
                    force[3..].copy_from_slice(jerk);
                }
            }
            begin = end;
        }
        Ok(())
    }

    /// Name and precision of what computes the forces.
    pub fn described(&self) -> (String, String) {
        let id = self.clusters.first().map_or(0, |c| c.0);
        (self.grape.backend(id), self.grape.precision(id))
    }
}

impl Drop for JParticles<'_> {
    fn drop(&mut self) {
        for (id, _) in &self.clusters {
            self.grape.close(*id);
        }
    }
}
