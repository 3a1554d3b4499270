//! One cluster of a GRAPE-6 library: closed when it is dropped, with errors in place of status codes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Block, ClientError, Grape, JParticle};
use kirin_core::error::Code;

/// An open cluster of a [`Grape`]. Dropping it closes the cluster, and its j-particles are forgotten.
///
/// Lengths, masses and times are in any units with G = 1. Addresses of j-particles begin at 0.
pub struct Cluster<'a> {
    grape: &'a Grape,
    id: i32,
    /// Number of i-particles of the last block.
    ni: AtomicUsize,
    /// Whether the last block was computed in several parts.
    divided: AtomicBool,
}

impl Grape {
    /// Opens cluster `id`, any integer: a memory of j-particles of its own.
    ///
    /// # Errors
    ///
    /// The library refuses, for want of memory.
    pub fn cluster(&self, id: i32) -> Result<Cluster<'_>, ClientError> {
        let cluster = Cluster {
            grape: self,
            id,
            ni: AtomicUsize::new(0),
            divided: AtomicBool::new(false),
        };
        cluster.checked("g6_open", self.open(id))?;
        Ok(cluster)
    }
}

impl Cluster<'_> {
    /// Stores a j-particle with its step `dtj` at `address`; it acts from the next block on.
    ///
    /// # Errors
    ///
    /// The address is negative, or there is no memory for it. Nothing changes then.
    pub fn set_j_particle(
        &self,
        address: i32,
        dtj: f64,
        particle: &JParticle,
    ) -> Result<(), ClientError> {
        let status = self.grape.set_j_particle(self.id, address, dtj, particle);
        self.checked("g6_set_j_particle", status)
    }

    /// Stores a j-particle at rest, by mass and position.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::set_j_particle`].
    pub fn set_mass_position(
        &self,
        address: i32,
        index: i32,
        mass: f64,
        x: &[f64; 3],
    ) -> Result<(), ClientError> {
        let status = self
            .grape
            .set_mass_position(self.id, address, index, mass, x);
        self.checked("g6_set_j_particle_multisend_mxfast", status)
    }

    /// Sets the time to which the next block predicts the j-particles.
    pub fn set_time(&self, t: f64) {
        self.grape.set_ti(self.id, t);
    }

    /// Starts a block: the forces of the j-particles at addresses `0..nj` on the i-particles of `block`, with the
    /// squared softening length `eps2`. The work may go on after the return.
    pub fn start(&self, nj: usize, block: &mut Block, eps2: f64) {
        self.ni.store(block.len(), Ordering::Relaxed);
        self.divided.store(false, Ordering::Relaxed);
        self.grape.firsthalf(self.id, nj, block, eps2);
    }

    /// Waits for the block that was started, and writes its `acc`, `jerk` and `pot`. The arguments are those of
    /// [`Cluster::start`].
    ///
    /// # Errors
    ///
    /// An argument of the block was refused, or memory is lacking.
    pub fn finish(&self, nj: usize, block: &mut Block, eps2: f64) -> Result<(), ClientError> {
        let status = self.grape.lasthalf(self.id, nj, block, eps2);
        self.checked("g6calc_lasthalf", status)
    }

    /// As [`Cluster::finish`]; also writes the label of each i-particle's nearest neighbour.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::finish`], or the library has no such call.
    pub fn finish_with_nearest(
        &self,
        nj: usize,
        block: &mut Block,
        eps2: f64,
    ) -> Result<(), ClientError> {
        let status = self.grape.lasthalf2(self.id, nj, block, eps2);
        self.optional("g6calc_lasthalf2", status)
    }

    /// Computes the forces on any number of i-particles. It calls [`Cluster::start`] and [`Cluster::finish`] for parts
    /// of [`Grape::most_at_once`] particles. There are no neighbour lists of a block in several parts.
    ///
    /// # Errors
    ///
    /// Those of [`Cluster::finish`].
    pub fn forces(&self, nj: usize, block: &mut Block, eps2: f64) -> Result<(), ClientError> {
        self.forces_in_parts(nj, block, eps2, self.grape.most_at_once())
    }

    /// The same for parts of at most so many particles.
    fn forces_in_parts(
        &self,
        nj: usize,
        block: &mut Block,
        eps2: f64,
        most: usize,
    ) -> Result<(), ClientError> {
        if block.len() <= most {
            self.start(nj, block, eps2);
            return self.finish(nj, block, eps2);
        }
        let mut part = Block::default();
        for from in (0..block.len()).step_by(most) {
            let range = from..block.len().min(from + most);
            part.resize(range.len());
            part.index.copy_from_slice(&block.index[range.clone()]);
            part.x.copy_from_slice(&block.x[range.clone()]);
            part.v.copy_from_slice(&block.v[range.clone()]);
            part.h2.copy_from_slice(&block.h2[range.clone()]);
            self.start(nj, &mut part, eps2);
            self.divided.store(true, Ordering::Relaxed);
            self.finish(nj, &mut part, eps2)?;
            block.acc[range.clone()].copy_from_slice(&part.acc);
            block.jerk[range.clone()].copy_from_slice(&part.jerk);
            block.pot[range].copy_from_slice(&part.pot);
        }
        Ok(())
    }

    /// Refuses lists of a block that was divided.
    fn check_whole(&self) -> Result<(), ClientError> {
        match self.divided.load(Ordering::Relaxed) {
            true => Err(ClientError(format!(
                "forces divided this block: lists need start and finish with at most {} i-particles",
                self.grape.most_at_once()
            ))),
            false => Ok(()),
        }
    }

    /// Makes the neighbour lists of the last block, for [`Cluster::neighbours`].
    ///
    /// # Errors
    ///
    /// The lists are too long, there is no memory for them, or the library has no such call; [`Cluster::forces`] has divided the block, so
    /// that lists would be those of its last part.
    pub fn make_neighbour_lists(&self) -> Result<(), ClientError> {
        self.check_whole()?;
        let status = self.grape.read_neighbour_list(self.id);
        self.optional("g6_read_neighbour_list", status)
    }

    /// The labels of the j-particles within the radius of i-particle `i` of the block. Returns `None` if there are more
    /// than `most`: take a smaller radius, and compute the block again.
    ///
    /// # Errors
    ///
    /// The block has no such i-particle, or [`Cluster::forces`] has divided it; the library has no such call.
    pub fn neighbours(&self, i: usize, most: usize) -> Result<Option<Vec<i32>>, ClientError> {
        const CALL: &str = "g6_get_neighbour_list";
        self.check_whole()?;
        let ni = self.ni.load(Ordering::Relaxed);
        if i >= ni {
            return Err(ClientError(format!(
                "{CALL}: i = {i}, but the last block has {ni} i-particles"
            )));
        }
        let mut list = vec![0; most];
        let found = self.grape.get_neighbour_list(self.id, i, &mut list);
        let (status, length) = found.ok_or_else(|| self.lacks(CALL))?;
        if status > 0 {
            return Ok(None);
        }
        self.checked(CALL, status)?;
        list.truncate(length);
        Ok(Some(list))
    }

    fn optional(&self, call: &str, status: Option<i32>) -> Result<(), ClientError> {
        self.checked(call, status.ok_or_else(|| self.lacks(call))?)
    }

    fn lacks(&self, call: &str) -> ClientError {
        ClientError(format!("{} has no {call}", self.grape.name()))
    }

    fn checked(&self, call: &str, status: i32) -> Result<(), ClientError> {
        if status == 0 {
            return Ok(());
        }
        let known = Code::ALL.into_iter().find(|&code| code as i32 == status);
        let meaning = known.map_or("the library refused the call", Code::meaning);
        Err(ClientError(format!("{call} returned {status}: {meaning}")))
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        self.grape.close(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids that no other test uses.
    const FIRST: i32 = 7_100;

    fn pair(cluster: &Cluster<'_>) {
        for (address, x) in [(0, -0.5), (1, 0.5)] {
            let stored = cluster.set_mass_position(address, 10 + address, 1.0, &[x, 0.0, 0.0]);
            stored.expect("there is memory");
        }
        cluster.set_time(0.0);
    }

    fn block() -> Block {
        let mut block = Block::default();
        block.resize(2);
        block.index = vec![10, 11];
        block.x = vec![[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]];
        block.h2 = vec![4.0; 2];
        block
    }

    #[test]
    fn forces_and_neighbours() {
        let grape = Grape::linked();
        let cluster = grape.cluster(FIRST).unwrap();
        pair(&cluster);
        let mut block = block();
        cluster.forces(2, &mut block, 0.0).unwrap();
        assert!((block.acc[0][0] - 1.0).abs() < 1e-6 && (block.pot[1] + 1.0).abs() < 1e-6);
        cluster.start(2, &mut block, 0.0);
        cluster.finish_with_nearest(2, &mut block, 0.0).unwrap();
        assert_eq!(block.nearest, [11, 10]);
        cluster.make_neighbour_lists().unwrap();
        assert_eq!(cluster.neighbours(0, 8).unwrap(), Some(vec![11]));
        assert_eq!(cluster.neighbours(0, 0).unwrap(), None);
        let beyond = cluster.neighbours(2, 8).unwrap_err().to_string();
        assert!(beyond.contains("has 2 i-particles"), "{beyond}");
    }

    /// The lists would be those of the last part.
    #[test]
    fn a_divided_block_has_no_lists() {
        let grape = Grape::linked();
        let cluster = grape.cluster(FIRST + 3).unwrap();
        pair(&cluster);
        let mut block = block();
        cluster.forces_in_parts(2, &mut block, 0.0, 1).unwrap();
        assert!((block.acc[1][0] + 1.0).abs() < 1e-6);
        let refusal = cluster.make_neighbour_lists().unwrap_err().to_string();
        assert!(refusal.contains("divided"), "{refusal}");
        assert!(cluster.neighbours(0, 8).is_err());
        cluster.forces(2, &mut block, 0.0).unwrap();
        cluster.make_neighbour_lists().unwrap();
        assert_eq!(cluster.neighbours(1, 8).unwrap(), Some(vec![10]));
    }

    #[test]
    fn dropping_forgets_the_particles_and_errors_have_words() {
        let grape = Grape::linked();
        let id = FIRST + 1;
        pair(&grape.cluster(id).unwrap());
        let cluster = grape.cluster(id).unwrap();
        let mut block = block();
        cluster.forces(2, &mut block, 0.0).unwrap();
        assert_eq!(block.pot, [0.0; 2]);
        let refused = cluster.set_j_particle(-1, 0.0, &JParticle::default());
        let text = refused.expect_err("no address is negative").to_string();
        assert!(
            text.starts_with("g6_set_j_particle returned -1: an argument"),
            "{text}"
        );
    }
}
