//! The exchange of particles between processes, which the solvers with message passing share.

use kirin_kit::communicator::{Communicator, Result};

use crate::distribution::Distribution;
use crate::particles::Particles;
use crate::physics::Vect;

/// Numbers in a vector.
const DIM: usize = 2;

/// "Get input data": process 0 has the particles; then all know their number and masses.
///
/// # Errors
///
/// A process is lost.
pub fn broadcast_masses<C: Communicator>(world: &C, particles: &Particles) -> Result<Vec<f64>> {
    let mut n = [particles.len() as u64];
    world.broadcast(0, &mut n)?;
    let mut masses = match world.rank() {
        0 => particles.masses.clone(),
        _ => vec![0.0; usize::try_from(n[0]).expect("it is the number of process 0")],
    };
    world.broadcast(0, &mut masses)?;
    Ok(masses)
}

/// `MPI_Scatter`: process 0 has `n` vectors, and each process gets those of its own particles. (The communicator
/// has no such call, so an all-to-all exchange is used, in which only process 0 sends.)
///
/// # Errors
///
/// A process is lost.
pub fn scatter<C: Communicator>(
    world: &C,
    distribution: Distribution,
    n: usize,
    all: &[Vect],
) -> Result<Vec<Vect>> {
    let (me, size) = (world.rank(), world.size());
    let counts = numbers(distribution, size, n);
    let mut sent: Vec<Vect> = Vec::new();
    if me == 0 {
        sent.extend(
            (0..size)
                .flat_map(|r| distribution.of(r, size, n))
                .map(|q| all[q]),
        );
    }
    let to = if me == 0 {
        counts.clone()
    } else {
        vec![0; size]
    };
    let mut from = vec![0; size];
    from[0] = counts[me];
    let mut received = Vec::new();
    world.all_to_all_v(sent.as_flattened(), &to, &mut received, &from)?;
    Ok(received.as_chunks::<DIM>().0.to_vec())
}

/// `MPI_Gather`: all `n` vectors on process 0, in the order of the particles; elsewhere `all` may be empty, and stays as it is.
///
/// # Errors
///
/// A process is lost.
pub fn gather<C: Communicator>(
    world: &C,
    distribution: Distribution,
    n: usize,
    mine: &[Vect],
    all: &mut [Vect],
) -> Result<()> {
    let counts = numbers(distribution, world.size(), n);
    let mut received = Vec::new();
    world.gather_v(0, mine.as_flattened(), &counts, &mut received)?;
    let owners = (0..world.size()).flat_map(|r| distribution.of(r, world.size(), n));
    for (q, vector) in owners.zip(received.as_chunks::<DIM>().0) {
        all[q] = *vector;
    }
    Ok(())
}

/// How many numbers the vectors of each process are.
pub fn numbers(distribution: Distribution, size: usize, n: usize) -> Vec<usize> {
    let counts = distribution.counts(size, n);
    counts.into_iter().map(|count| DIM * count).collect()
}
