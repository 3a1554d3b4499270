//! The ring: active particles travel from rank to rank; each rank has a part of the j-particles.
//!
//! After as many hops as there are ranks every list of particles has visited all ranks and is back at its own. (With
//! several lists on the way this is the systolic algorithm of Gualandris, Portegies Zwart and Tirado-Ramos.) With
//! `Joining::Tree` each rank sends its partial sums directly to the list's own rank, which joins them along the tree.
//! So the bits are those of one rank. With `Joining::Mpi` the sums travel with the list, and each rank adds its own.

use kirin_kit::communicator::Communicator;

use crate::column::Column;
use crate::error::Error;
use crate::j_particles::{ACTIVE, FORCE};
use crate::machine::{Joining, Node};

/// The forces at `t` on `list`, of this rank's own particles, where `lengths` are those of all ranks.
///
/// # Errors
///
/// The library fails; a rank is lost.
pub fn forces<C: Communicator>(
    machine: &mut Node<'_, C>,
    column: &Column,
    (t, list): (f64, &[usize]),
    lengths: &[usize],
    forces: &mut Vec<f64>,
) -> Result<(), Error> {
    let (me, ranks) = (machine.place.1, machine.plan.grid.columns);
    let mut visitors: Vec<f64> = list.iter().flat_map(|&i| column.predicted(i, t)).collect();
    let (mut next, mut partial, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    let mut riding = vec![0.0; list.len() * FORCE];
    let mut home = vec![Vec::new(); ranks];
    let all = 0..list.len();
    for hop in 0..ranks {
        let owner = (me + ranks - hop) % ranks;
        let mut times = machine.times;
        times.of(5, || {
            machine.sources.partial_forces(t, &visitors, &mut partial)
        })?;
        machine.times = times;
        times.of(6, || -> Result<(), Error> {
            match machine.plan.sums {
                Joining::Tree => {
                    let from = (me + hop) % ranks;
                    let count = machine.parts(from, list.len(), &all) * FORCE;
                    let back = ranks - hop;
                    machine.row.shift(back, &partial, count, &mut home[from])?;
                }
                Joining::Mpi => {
                    machine.own_sums(&partial, lengths[owner], &mut sums);
                    for (force, sum) in riding.iter_mut().zip(&sums) {
                        *force += sum;
                    }
                    let before = (owner + ranks - 1) % ranks;
                    let count = lengths[before] * FORCE;
                    machine.row.shift(1, &riding, count, &mut sums)?;
                    std::mem::swap(&mut riding, &mut sums);
                }
            }
            Ok(())
        })?;
        if hop + 1 < ranks {
            let count = lengths[(owner + ranks - 1) % ranks] * ACTIVE;
            times.of(4, || machine.row.shift(1, &visitors, count, &mut next))?;
            std::mem::swap(&mut visitors, &mut next);
        }
        machine.times = times;
    }
    match machine.plan.sums {
        Joining::Tree => {
            let parts: Vec<&[f64]> = home.iter().map(Vec::as_slice).collect();
            machine.join(&parts, list.len(), &all, forces);
        }
        Joining::Mpi => *forces = riding,
    }
    Ok(())
}
