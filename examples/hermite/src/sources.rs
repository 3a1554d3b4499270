//! What computes the forces of an integration: a library, or one library on each of many ranks.

use std::ops::Range;

use kirin::client::{Block, Grape};
use kirin_kit::Body;
use kirin_kit::snapshot::State;

use crate::error::Error;
use crate::particle::j_particle;

/// The cluster of the library that is used: GRAPE-6 clients call their first one 0.
const ID: i32 = 0;

/// All particles of an integration as sources of forces.
pub trait Sources {
    /// How many i-particles one call takes.
    fn most_at_once(&self) -> usize;

    /// Writes the particle at `address`.
    fn write(&mut self, address: usize, body: &Body, state: &State);

    /// The time of the next forces.
    fn set_time(&mut self, t: f64);

    /// The forces of the first `nj` particles on the i-particles of `block`, at most as many as one call takes. If one of
    /// these has a neighbour radius, neighbour lists are made, too. Returns the i-particles whose forces are known: all of
    /// them, or the share of this rank.
    ///
    /// # Errors
    ///
    /// The library fails, or has no neighbour lists.
    fn forces(&mut self, nj: usize, block: &mut Block, eps2: f64) -> Result<Range<usize>, Error>;

    /// Completes a block, of which this rank has the forces on `mine` as they shall be: brings the forces of the other ranks.
    ///
    /// # Errors
    ///
    /// A rank is lost.
    fn complete(&mut self, _block: &mut Block, _mine: Range<usize>) -> Result<(), Error> {
        Ok(())
    }

    /// The labels of the particles within the neighbour radius of i-particle `k` of the last block, in any order. It may be
    /// among them itself.
    ///
    /// # Errors
    ///
    /// The library fails.
    fn neighbours(&mut self, k: usize) -> Result<&[i32], Error>;
}

/// Cluster 0 of a library: one integration at a time for each library.
pub struct Library<'g> {
    grape: &'g Grape,
    /// Room for the longest neighbour list.
    room: Vec<i32>,
}

impl<'g> Library<'g> {
    /// Opens the cluster. It is closed when this is dropped.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn open(grape: &'g Grape) -> Result<Self, Error> {
        succeeded(grape.open(ID))?;
        let room = Vec::new();
        Ok(Self { grape, room })
    }

    /// Name of what computes the forces.
    pub fn backend(&self) -> String {
        self.grape.backend(ID)
    }

    /// Their precision.
    pub fn precision(&self) -> String {
        self.grape.precision(ID)
    }
}

impl Sources for Library<'_> {
    fn most_at_once(&self) -> usize {
        self.grape.most_at_once()
    }

    fn write(&mut self, address: usize, body: &Body, state: &State) {
        let address = i32::try_from(address).expect("checked when the particles were loaded");
        self.grape
            .set_j_particle(ID, address, state.dt, &j_particle(body, state));
    }

    fn set_time(&mut self, t: f64) {
        self.grape.set_ti(ID, t);
    }

    fn forces(&mut self, nj: usize, block: &mut Block, eps2: f64) -> Result<Range<usize>, Error> {
        self.grape.firsthalf(ID, nj, block, eps2);
        succeeded(self.grape.lasthalf(ID, nj, block, eps2))?;
        if wants_neighbours(block) {
            self.room.resize(nj + 1, 0);
            make_lists(self.grape, ID)?;
        }
        Ok(0..block.len())
    }

    fn neighbours(&mut self, k: usize) -> Result<&[i32], Error> {
        list(self.grape, ID, k, &mut self.room)
    }
}

impl Drop for Library<'_> {
    fn drop(&mut self) {
        self.grape.close(ID);
    }
}

/// Whether an i-particle of the block looks for neighbours.
pub fn wants_neighbours(block: &Block) -> bool {
    block.h2.iter().any(|h2| *h2 > 0.0)
}

/// Has the cluster `id` make the neighbour lists of its last block.
///
/// # Errors
///
/// The library fails, or has no neighbour lists.
pub fn make_lists(grape: &Grape, id: i32) -> Result<(), Error> {
    let status = grape.read_neighbour_list(id);
    succeeded(status.ok_or_else(no_lists)?)
}

/// The neighbour list of i-particle `k` of the last block of the cluster `id`, in `room` for the longest one.
///
/// # Errors
///
/// The library fails, or has no neighbour lists.
pub fn list<'r>(grape: &Grape, id: i32, k: usize, room: &'r mut [i32]) -> Result<&'r [i32], Error> {
    let found = grape.get_neighbour_list(id, k, room);
    let (status, length) = found.ok_or_else(no_lists)?;
    succeeded(status)?;
    Ok(&room[..length])
}

fn no_lists() -> Error {
    Error::Refused("--regularize: this library has no neighbour lists".to_owned())
}

/// Whether a call of the library succeeded.
///
/// # Errors
///
/// Its status is not 0.
pub fn succeeded(status: i32) -> Result<(), Error> {
    match status {
        0 => Ok(()),
        status => Err(Error::Library(status)),
    }
}
