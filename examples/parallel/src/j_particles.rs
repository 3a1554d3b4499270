//! The j-particles of one rank in the library, and the partial forces they exert.
//!
//! Every [`Piece`] of the column, a subtree of the tree, is a cluster id of its own. Its j-particles have the addresses
//! that they would have on one rank. Its forces are then the sums over that subtree, to the bit. Any GRAPE-6 library can
//! compute them.

use hermite::error::Error;
use hermite::particle::j_particle;
use hermite::sources::{list, make_lists, succeeded, wants_neighbours};
use kirin::client::{Block, Grape};
use kirin_kit::Body;
use kirin_kit::snapshot::State;

use crate::columns::Piece;

/// Numbers that a rank sends of an active particle: label, predicted position and velocity.
pub const ACTIVE: usize = 7;
/// Numbers of a force: acceleration and jerk.
pub const FORCE: usize = 6;

/// Ids of clusters that one rank may use: more than pieces in any column.
const IDS: usize = 64;

/// The neighbours of active particles.
#[derive(Default)]
pub struct Neighbours {
    /// The squares of the neighbour radii, 0 for none; empty if no particle has one.
    pub h2: Vec<f64>,
    /// Of each neighbour that was found: the place of the active particle in their list, and the neighbour's label.
    pub found: Vec<[i32; 2]>,
}

/// The j-particles of one rank.
pub struct JParticles<'g> {
    grape: &'g Grape,
    /// The pieces of the column, and their clusters.
    clusters: Vec<(i32, Piece)>,
    eps2: f64,
    /// Number of j-particles on all ranks, which decides on the precision.
    n: usize,
    /// A cluster without particles, which tells the precision for other numbers; the others repeat the one that they were given.
    asked: Option<i32>,
    /// i-particles that one call takes.
    pipes: usize,
    blocks: Vec<Block>,
    /// The neighbours of the active particles.
    pub neighbours: Neighbours,
    /// Room for the longest neighbour list.
    room: Vec<i32>,
}

impl<'g> JParticles<'g> {
    /// Opens the clusters of rank `rank`, one for each of the `pieces` of its column. `n` is the number of particles on all
    /// ranks. Each cluster takes the precision that one cluster with all `n` particles would take.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn open(
        grape: &'g Grape,
        rank: usize,
        pieces: Vec<Piece>,
        n: usize,
        eps: f64,
    ) -> Result<Self, Error> {
        assert!(pieces.len() < IDS, "a tree has fewer levels");
        let mut new = Self {
            grape,
            clusters: Vec::with_capacity(pieces.len()),
            eps2: eps * eps,
            n,
            asked: None,
            pipes: grape.most_at_once(),
            blocks: vec![Block::default(); pieces.len()],
            neighbours: Neighbours::default(),
            room: Vec::new(),
        };
        for (k, piece) in pieces.into_iter().enumerate() {
            let id = i32::try_from(rank * IDS + k).map_err(|_| {
                Error::Refused("cluster ids are 32-bit integers: too many ranks".to_owned())
            })?;
            succeeded(grape.open(id))?;
            new.clusters.push((id, piece));
            succeeded(grape.set_precision_for(id, n))?;
        }
        Ok(new)
    }

    /// The softening of the forces from now on, and the number of j-particles on all ranks by which their precision is chosen. All ranks give the
    /// same.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn set_rule(&mut self, n: usize, eps2: f64) -> Result<(), Error> {
        self.eps2 = eps2;
        if n == self.n {
            return Ok(());
        }
        self.n = n;
        let Some((first, _)) = self.clusters.first() else {
            return Ok(());
        };
        let id = match self.asked {
            Some(id) => id,
            None => {
                // The last of this rank's ids.
                let id = first + IDS as i32 - 1;
                succeeded(self.grape.open(id))?;
                *self.asked.insert(id)
            }
        };
        match self.grape.precision_for(id, n) {
            Some(precision @ 0..) => self
                .clusters
                .iter()
                .try_for_each(|(id, _)| succeeded(self.grape.set_precision(*id, precision))),
            Some(status) => succeeded(status),
            None => Ok(()),
        }
    }

    /// How many i-particles one call takes.
    pub fn most_at_once(&self) -> usize {
        self.pipes
    }

    /// Name and precision of what would compute the forces of `n` particles on this rank.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn expected(grape: &'g Grape, rank: usize, n: usize) -> Result<(String, String), Error> {
        let nobody = Piece::whole(0..0);
        Ok(Self::open(grape, rank, vec![nobody], n, 0.0)?.described())
    }

    /// The pieces of the column.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.clusters.iter().map(|(_, piece)| piece)
    }

    /// Writes the particle at `address`, if it is on a page of the column.
    pub fn write(&self, address: usize, body: &Body, state: &State) {
        let mut clusters = self.clusters.iter();
        let Some((id, _)) = clusters.find(|(_, piece)| piece.addresses.contains(&address)) else {
            return;
        };
        let address = i32::try_from(address).expect("checked when the particles were loaded");
        let j = j_particle(body, state);
        self.grape.set_j_particle(*id, address, state.dt, &j);
    }

    /// The partial forces at `t` on the particles in `active`, each of which is [`ACTIVE`] numbers. A force is
    /// [`FORCE`] numbers. First come the forces of the first piece on its [`targets`](Piece::targets), then those of the next.
    /// Where [`neighbours`](Self::neighbours) has radii, they are found, too.
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
        let Neighbours { h2, found } = &mut self.neighbours;
        found.clear();
        let ni = active.len() / ACTIVE;
        forces.clear();
        let pieces = self.clusters.iter().map(|(_, piece)| piece);
        let targets: usize = pieces.map(|piece| piece.targets(ni).len()).sum();
        forces.resize(targets * FORCE, 0.0);
        if ni == 0 {
            return Ok(());
        }
        for (id, _) in &self.clusters {
            self.grape.set_ti(*id, t);
        }
        let most = self.pipes.min(ni);
        for begin in (0..ni).step_by(most) {
            let chunk = begin..ni.min(begin + most);
            // All pieces begin before the first is waited for: a device works on them at once.
            for ((id, piece), block) in self.clusters.iter().zip(&mut self.blocks) {
                let targets = piece.targets_among(ni, &chunk);
                fill(block, &active[targets.start * ACTIVE..targets.end * ACTIVE]);
                match h2.get(targets) {
                    Some(radii) => block.h2.copy_from_slice(radii),
                    None => block.h2.fill(0.0),
                }
                if !block.is_empty() {
                    self.grape
                        .firsthalf(*id, piece.addresses.end, block, self.eps2);
                }
            }
            let mut place = 0;
            for ((id, piece), block) in self.clusters.iter().zip(&mut self.blocks) {
                let targets = piece.targets(ni);
                let among = piece.targets_among(ni, &chunk);
                let first = place + among.start - targets.start;
                place += targets.len();
                if block.is_empty() {
                    continue;
                }
                let status = self
                    .grape
                    .lasthalf(*id, piece.addresses.end, block, self.eps2);
                succeeded(status)?;
                if wants_neighbours(block) {
                    make_lists(self.grape, *id)?;
                    self.room.resize(piece.addresses.end + 1, 0);
                    for (k, target) in among.enumerate().filter(|(k, _)| block.h2[*k] > 0.0) {
                        let labels = list(self.grape, *id, k, &mut self.room)?;
                        found.extend(labels.iter().map(|label| [target as i32, *label]));
                    }
                }
                let part = &mut forces[first * FORCE..][..block.len() * FORCE];
                let found = block.acc.iter().zip(&block.jerk);
                for (force, (acc, jerk)) in part.chunks_exact_mut(FORCE).zip(found) {
                    force[..3].copy_from_slice(acc);
                    force[3..].copy_from_slice(jerk);
                }
            }
        }
        Ok(())
    }

    /// Name and precision of what computes the forces.
    pub fn described(&self) -> (String, String) {
        let id = self.clusters.first().map_or(0, |c| c.0);
        (self.grape.backend(id), self.grape.precision(id))
    }
}

/// Puts these particles, each of [`ACTIVE`] numbers, into a block.
fn fill(block: &mut Block, active: &[f64]) {
    block.resize(active.len() / ACTIVE);
    for (k, particle) in active.chunks_exact(ACTIVE).enumerate() {
        let [index, x @ .., vx, vy, vz] = particle else {
            unreachable!("chunks are exact")
        };
        block.index[k] = *index as i32;
        block.x[k].copy_from_slice(x);
        block.v[k] = [*vx, *vy, *vz];
    }
}

impl Drop for JParticles<'_> {
    fn drop(&mut self) {
        let clusters = self.clusters.iter().map(|(id, _)| *id);
        for id in clusters.chain(self.asked) {
            self.grape.close(id);
        }
    }
}
